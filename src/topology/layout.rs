//! The layout as `bifold check` prints it: what lies on which server, how tables are split and
//! called, how long their ids last. For a human; what is computed here decides nothing.

use std::fmt::Write;

use crate::config::{Config, IdRule, Schema, ShardedTable, TableKind, Undeclared, utc};
use crate::snowflake::Format;

const YEAR_MS: u64 = 31_556_952_000;

/// The whole layout, in the order of the file.
pub fn layout(config: &Config) -> String {
    let mut out = String::new();
    servers(config, &mut out);
    for schema in &config.schemas {
        let _ = writeln!(out);
        shards(config, schema, &mut out);
        tables(schema, &mut out);
        ids(schema, &mut out);
    }
    let workers = config.workers;
    let _ = writeln!(
        out,
        "\nworker numbers {} to {}: at most {} proxies",
        workers.first,
        workers.last,
        workers.last - workers.first + 1
    );
    out
}

fn servers(config: &Config, out: &mut String) {
    let _ =
        writeln!(out, "cluster {}, at most {} connections to each server", config.cluster, config.backend.connections);
    let rows = config.servers.iter().enumerate().map(|(position, server)| {
        let on_it = |schema: &Schema| schema.shards.iter().filter(|shard| shard.server == position).count();
        let shards: usize = config.schemas.iter().map(on_it).sum();
        let subtables: usize = config.schemas.iter().map(|schema| on_it(schema) * subtables(schema)).sum();
        vec![server.name.clone(), server.to_string(), format!("{shards} shards"), format!("{subtables} subtables")]
    });
    columns(&["server", "address", "shards", "subtables"], rows.collect(), out);
}

/// Of all tables of the schema, in one shard.
fn subtables(schema: &Schema) -> usize {
    sharded(schema).map(|(_, table)| usize::from(table.pattern.count())).sum()
}

fn shards(config: &Config, schema: &Schema, out: &mut String) {
    let undeclared = match schema.undeclared {
        Undeclared::Unsharded => "stay whole on shard 0",
        Undeclared::Refuse => "are refused",
    };
    let _ = writeln!(out, "schema {}: {} shards; tables without a rule {undeclared}", schema.name, schema.shards.len());
    let rows = config.servers.iter().enumerate().map(|(position, server)| {
        let here = schema.shards.iter().enumerate().filter(|(_, shard)| shard.server == position);
        let list: Vec<String> = here.map(|(no, shard)| format!("{no} {}", shard.database)).collect();
        vec![server.name.clone(), list.join(", ")]
    });
    columns(&["server", "shards"], rows.filter(|row| !row[1].is_empty()).collect(), out);
}

fn tables(schema: &Schema, out: &mut String) {
    let rows: Vec<Vec<String>> = schema
        .tables
        .iter()
        .map(|table| match &table.kind {
            TableKind::Sharded(sharded) => vec![
                table.name.clone(),
                "sharded".to_owned(),
                sharded.key.clone(),
                match sharded.hash {
                    crate::config::Hash::Crc32 => "crc32".to_owned(),
                    crate::config::Hash::Identity => "identity".to_owned(),
                },
                format!("{} × {}", schema.shards.len(), sharded.pattern.count()),
                sharded.pattern.to_string(),
            ],
            TableKind::Reference => whole(&table.name, "reference", "every shard"),
            TableKind::Unsharded => whole(&table.name, "unsharded", "shard 0"),
        })
        .collect();
    if !rows.is_empty() {
        columns(&["table", "kind", "key", "hash", "subtables", "physical names"], rows, out);
    }
}

fn whole(name: &str, kind: &str, place: &str) -> Vec<String> {
    [name, kind, "", "", "", &format!("{name} on {place}")].map(str::to_owned).into()
}

fn ids(schema: &Schema, out: &mut String) {
    let rows: Vec<Vec<String>> =
        sharded(schema).filter_map(|(name, table)| Some(id(name, table.id.as_ref()?, schema.shards.len()))).collect();
    if !rows.is_empty() {
        columns(&["ids", "per ms and worker", "workers", "last until", "carries"], rows, out);
    }
}

fn id(table: &str, rule: &IdRule, shards: usize) -> Vec<String> {
    let format = Format::new(rule.layout);
    let years = (format.last_ms() - rule.layout.epoch_ms) / YEAR_MS;
    let until = utc(format.last_ms());
    let until = until.split('T').next().unwrap_or(&until);
    let (per_ms, carries) = match rule.layout.carries {
        None => (format.longest_run().to_string(), "nothing".to_owned()),
        Some(modulus) => (
            format!("{} in each place", format.longest_run()),
            format!("the place, M = {modulus}: {} more doublings", doublings(shards, modulus)),
        ),
    };
    vec![
        format!("{table}.{}", rule.column),
        per_ms,
        format.workers().to_string(),
        format!("{until} ({years} years in all)"),
        carries,
    ]
}

/// How often N can be doubled until there are M shards.
fn doublings(shards: usize, modulus: u32) -> u32 {
    let shards = u32::try_from(shards).unwrap_or(u32::MAX).max(1);
    (modulus / shards).checked_ilog2().unwrap_or(0)
}

fn sharded(schema: &Schema) -> impl Iterator<Item = (&str, &ShardedTable)> {
    schema.tables.iter().filter_map(|table| match &table.kind {
        TableKind::Sharded(sharded) => Some((table.name.as_str(), sharded)),
        TableKind::Reference | TableKind::Unsharded => None,
    })
}

/// A table in columns, two spaces in and two between.
fn columns(head: &[&str], rows: Vec<Vec<String>>, out: &mut String) {
    let width =
        |at: usize| rows.iter().map(|row| row[at].chars().count()).chain([head[at].chars().count()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let head: Vec<String> = head.iter().map(|&word| word.to_owned()).collect();
    for row in std::iter::once(&head).chain(&rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "  {cell:width$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
