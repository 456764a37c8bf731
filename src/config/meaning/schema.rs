//! The schemas: their names, their shards, and what their tables must keep clear of.

use std::collections::HashMap;

use super::Teller;
use super::servers::Servers;
use super::table::table;
use crate::config::written::{Node, nearest};
use crate::config::{NamePattern, Schema, Shard, Table, TableKind, Undeclared};

/// Databases of the servers themselves, and Bifold's own.
const RESERVED: [&str; 5] = ["mysql", "information_schema", "performance_schema", "sys", "bifold"];

pub(super) fn schemas(node: &Node, servers: &Servers, teller: &mut Teller<'_>) -> Vec<Schema> {
    if !node.is_wrong() && node.entries().is_empty() {
        teller.mistake(node, "no schema", "add a section [schema.NAME]");
    }
    let mut taken = Taken::default();
    let schemas: Vec<Schema> =
        node.entries().iter().filter_map(|(name, node)| schema(name, node, servers, &mut taken, teller)).collect();
    for (position, name) in servers.names.iter().enumerate() {
        if !servers.unknown && !taken.servers.contains(&position) {
            teller.warning(node, format!("no shard lies on server \"{name}\""), "");
        }
    }
    schemas
}

/// Physical databases that are shards already, with the line of each; servers that hold shards.
#[derive(Default)]
struct Taken {
    databases: HashMap<(String, String), u32>,
    servers: Vec<usize>,
}

fn schema(name: &str, node: &Node, servers: &Servers, taken: &mut Taken, teller: &mut Teller<'_>) -> Option<Schema> {
    if node.is_wrong() {
        return None;
    }
    if let Some(what) = wrong_database(name) {
        teller.mistake(node, what, "give the schema another name");
    }
    let shards = shards(node.at("shards"), servers, taken, teller);
    let tables = tables(node.at("table"), shards.len(), teller);
    let undeclared = match node.at("undeclared").text()? {
        "refuse" => Undeclared::Refuse,
        _ => Undeclared::Unsharded,
    };
    Some(Schema { name: name.to_owned(), shards, undeclared, tables })
}

fn shards(node: &Node, servers: &Servers, taken: &mut Taken, teller: &mut Teller<'_>) -> Vec<Shard> {
    let list = node.list();
    if !node.is_wrong() && list.is_empty() {
        teller.mistake(node, "is empty", "name one database at least, as \"server/database\"");
    }
    if list.len() > 1024 {
        teller.mistake(node, format!("has {} shards", list.len()), "at most 1024 are taken");
    }
    // A shard that was wrong keeps its position, so that N is what was meant.
    list.iter()
        .map(|node| shard(node, servers, taken, teller).unwrap_or(Shard { server: 0, database: String::new() }))
        .collect()
}

fn shard(node: &Node, servers: &Servers, taken: &mut Taken, teller: &mut Teller<'_>) -> Option<Shard> {
    let text = node.text()?;
    let Some((server, database)) =
        text.split_once('/').filter(|(server, database)| !server.is_empty() && !database.is_empty())
    else {
        teller.mistake(node, format!("\"{text}\" is no shard"), "write \"server/database\", as \"s0/mall_0\"");
        return None;
    };
    if let Some(what) = wrong_database(database) {
        teller.mistake(node, format!("\"{text}\": the database {what}"), "give a database of its own");
        return None;
    }
    if let Some(line) = taken.databases.insert((server.to_owned(), database.to_owned()), node.line) {
        teller.mistake(
            node,
            format!("\"{text}\" is a shard already, at line {line}"),
            "every shard needs a database of its own",
        );
    }
    let Some(position) = servers.names.iter().position(|name| name == server) else {
        if !servers.unknown {
            let known = || servers.names.iter().map(String::as_str);
            let remedy = match nearest(server, known()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => {
                    format!("add a [[server]] of that name, or use one of: {}", known().collect::<Vec<_>>().join(", "))
                }
            };
            teller.mistake(node, format!("\"{text}\": the file has no server \"{server}\""), remedy);
        }
        return None;
    };
    taken.servers.push(position);
    Some(Shard { server: position, database: database.to_owned() })
}

fn wrong_database(name: &str) -> Option<String> {
    if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
        return Some(format!("\"{name}\" is a system database"));
    }
    wrong_name(name)
}

/// What MySQL has against a name of a database or table.
pub(super) fn wrong_name(name: &str) -> Option<String> {
    let length = name.chars().count();
    match () {
        () if name.is_empty() => Some("has an empty name".to_owned()),
        () if length > 64 => Some(format!("has a name of {length} characters, 64 are allowed")),
        () if name.ends_with(' ') => Some(format!("\"{name}\" ends in a space")),
        () if name.contains('\0') => Some("has a name with a zero byte".to_owned()),
        () => None,
    }
}

fn tables(node: &Node, shards: usize, teller: &mut Teller<'_>) -> Vec<Table> {
    let named = || node.entries().iter();
    let tables: Vec<(&Node, Table)> =
        named().filter_map(|(name, node)| Some((node, table(name, node, shards, teller)?))).collect();
    let mut lower: HashMap<String, &str> = HashMap::new();
    for (name, node) in named() {
        if let Some(other) = lower.insert(name.to_lowercase(), name) {
            teller.warning(
                node,
                format!("differs from \"{other}\" in letter case only"),
                "servers with lower_case_table_names take them for one table",
            );
        }
    }
    collisions(&tables, teller);
    tables.into_iter().map(|(_, table)| table).collect()
}

/// Physical names that two tables would share in one database.
fn collisions(tables: &[(&Node, Table)], teller: &mut Teller<'_>) {
    for (at, (node, table)) in tables.iter().enumerate() {
        for (_, other) in &tables[..at] {
            let meeting = match (pattern(table), pattern(other)) {
                (Some(one), Some(two)) => one.collision(two),
                (Some(one), None) => one.position(other.name.as_bytes()).map(|_| other.name.clone()),
                (None, Some(two)) => two.position(table.name.as_bytes()).map(|_| table.name.clone()),
                (None, None) => None,
            };
            if let Some(name) = meeting {
                teller.mistake(
                    node,
                    format!("would share the physical table \"{name}\" with \"{}\"", other.name),
                    "give one of them another tables.name",
                );
            }
        }
    }
}

fn pattern(table: &Table) -> Option<&NamePattern> {
    match &table.kind {
        TableKind::Sharded(sharded) => Some(&sharded.pattern),
        TableKind::Reference | TableKind::Unsharded => None,
    }
}
