//! The rule of one table.

use super::Teller;
use super::id::{Host, id};
use super::schema::wrong_name;
use crate::config::written::{Node, Written};
use crate::config::{Hash, NamePattern, ShardedTable, Table, TableKind, UniquePerPlace};

/// Keys that only a sharded table has.
const SHARDED_ONLY: [&str; 6] = ["key", "hash", "tables", "id", "unique_per_place", "hot_limit"];

pub(super) fn table(name: &str, node: &Node, shards: usize, teller: &mut Teller<'_>) -> Option<Table> {
    if node.is_wrong() {
        return None;
    }
    if let Some(what) = wrong_name(name) {
        teller.mistake(node, what, "name a table that MySQL takes");
    }
    let kind = match node.at("kind").text()? {
        "reference" => whole(node, "reference", TableKind::Reference, teller),
        "unsharded" => whole(node, "unsharded", TableKind::Unsharded, teller),
        _ => TableKind::Sharded(sharded(name, node, shards, teller)?),
    };
    Some(Table { name: name.to_owned(), kind })
}

/// A table that is not split: what splits one is a mistake.
fn whole(node: &Node, kind: &str, meant: TableKind, teller: &mut Teller<'_>) -> TableKind {
    for name in SHARDED_ONLY {
        let key = node.at(name);
        if key.given {
            teller.mistake(key, format!("means nothing for kind = \"{kind}\""), "leave it out, or the kind");
        }
    }
    meant
}

fn sharded(name: &str, node: &Node, shards: usize, teller: &mut Teller<'_>) -> Option<ShardedTable> {
    let key = node.at("key");
    if key.is_absent() {
        teller.mistake(
            node,
            "has no key",
            "add key = \"…\", the column whose value decides the place, or kind = \"reference\" or \"unsharded\"",
        );
    }
    let pattern = pattern(name, node.at("tables"), teller);
    let hash = match node.at("hash").text()? {
        "identity" => Hash::Identity,
        _ => Hash::Crc32,
    };
    let subtables = pattern.as_ref().map_or(1, NamePattern::count);
    if hash == Hash::Identity && pattern.is_some() {
        uneven(node.at("hash"), shards, subtables, teller);
    }
    let host = Host { key: key.text(), shards: u32::try_from(shards).unwrap_or(u32::MAX), subtables: subtables.into() };
    let id = if node.at("id").is_absent() { Some(None) } else { id(node.at("id"), &host, teller).map(Some) };
    let unique_per_place = unique_per_place(node.at("unique_per_place"))?;
    let hot_limit = u32::try_from(node.at("hot_limit").number()?).ok()?;
    Some(ShardedTable { key: key.text()?.to_owned(), hash, pattern: pattern?, id: id?, unique_per_place, hot_limit })
}

fn pattern(table: &str, node: &Node, teller: &mut Teller<'_>) -> Option<NamePattern> {
    let (count, text, first, at) = match &node.value {
        Written::Number(count) => (*count, NamePattern::default_text(table), 0, node),
        Written::Section(_) => {
            let name = node.at("name");
            let text = if name.is_absent() { NamePattern::default_text(table) } else { name.text()?.to_owned() };
            (node.at("count").number()?, text, node.at("first").number()?, if name.is_absent() { node } else { name })
        }
        _ => return None,
    };
    let (count, first) = (u16::try_from(count).ok()?, u32::try_from(first).ok()?);
    // A table's own name can hold a brace; the default pattern of such a table is no pattern.
    match NamePattern::parse(&text, count, first) {
        Ok(pattern) => Some(pattern),
        Err(what) => {
            teller.mistake(
                at,
                format!("the subtables' name {what}"),
                "write tables = { count = …, name = \"…_{n:04}\" }",
            );
            None
        }
    }
}

/// `identity` takes shard and subtable from the same low bits: with a common divisor of N and T,
/// a shard uses only a part of its subtables.
fn uneven(node: &Node, shards: usize, subtables: u16, teller: &mut Teller<'_>) {
    let common = divisor(shards, subtables.into());
    if common > 1 {
        let used = usize::from(subtables) / common;
        teller.warning(
            node,
            format!("with {shards} shards of {subtables} subtables, each shard uses {used} of its subtables only"),
            "use hash = \"crc32\", or a number of subtables that has no divisor in common with the number of shards",
        );
    }
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn unique_per_place(node: &Node) -> Option<UniquePerPlace> {
    match node.flag() {
        Some(true) => Some(UniquePerPlace::All),
        Some(false) => Some(UniquePerPlace::Listed(Vec::new())),
        None if node.is_wrong() => None,
        None => Some(UniquePerPlace::Listed(node.list().iter().filter_map(Node::text).map(str::to_owned).collect())),
    }
}
