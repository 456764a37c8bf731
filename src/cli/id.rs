//! `bifold id`: what an id says of itself, and where its row lies if it carries its place.

use std::path::{Path, PathBuf};

use crate::config::{DEFAULT_EPOCH_MS, IdBits, IdLayout, load};
use crate::error::{Error, Result};
use crate::snowflake::Format;
use crate::topology::{Place, Schema, ShardNo, Sharded, SubtableNo, Topology};

/// Explain an id: when and by which worker it was made, and its place
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The id
    #[arg(allow_negative_numbers = true)]
    id: i64,

    /// The topology file; without it, the id is read in the default layout
    #[arg(long, env = "BIFOLD_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,

    /// Only this table, as mall.orders
    #[arg(long, requires = "config", value_name = "SCHEMA.TABLE")]
    table: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.config {
        None => println!("{}", default_layout(arguments.id)),
        Some(config) => print!("{}", by_tables(arguments.id, config, arguments.table.as_deref())?),
    }
    Ok(())
}

fn default_layout(id: i64) -> String {
    let plain = IdLayout { bits: IdBits::PLAIN, epoch_ms: DEFAULT_EPOCH_MS, tag: 0, carries: None };
    Format::new(plain).explain(id)
}

/// A line for each table with generated ids: an id does not say whose it is.
fn by_tables(id: i64, config: &Path, only: Option<&str>) -> Result<String> {
    let topology = Topology::new(&load(config)?, 1);
    let mut lines: Vec<String> = topology
        .schemas()
        .flat_map(|schema| schema.rules().filter_map(move |rule| Some((schema, rule, rule.sharded()?))))
        .map(|(schema, rule, table)| (format!("{}.{}", schema.name, rule.name), schema, table))
        .filter(|(name, ..)| only.is_none_or(|only| only == name))
        .filter_map(|(name, schema, table)| Some(format!("{name}: {}\n", explain(id, &topology, schema, table)?)))
        .collect();
    lines.sort();
    if lines.is_empty() {
        let whose = only.map_or_else(|| "no table".to_owned(), |only| format!("no table {only}"));
        return Err(Error::operator(format!("{}: {whose} with generated ids", config.display())));
    }
    Ok(lines.concat())
}

fn explain(id: i64, topology: &Topology, schema: &Schema, table: &Sharded) -> Option<String> {
    let format = Format::new(table.id.as_ref()?.layout);
    let explained = format.explain(id);
    let Some(carried) = format.carried(id) else { return Some(explained) };
    let place = Place { shard: ShardNo(carried.shard(schema.shard_count())), subtable: SubtableNo(carried.subtable) };
    if place.subtable.0 >= table.subtables {
        return Some(format!("{explained}; not an id of this table, which has {} subtables", table.subtables));
    }
    let shard = schema.shard(place.shard);
    let server = &topology.server(shard.server).name;
    Some(format!(
        "{explained}; place {place}: {server}/{} {}",
        shard.database,
        table.pattern.physical_name(place.subtable)
    ))
}
