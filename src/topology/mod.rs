//! The versioned picture of servers, shards and table rules that routing reads: immutable, made
//! once from the settings, cheap to share. Names of subtables are computed, so its size does not
//! grow with T. No I/O here.

pub mod charset;
pub mod collation;
pub mod key;
pub mod layout;
pub mod names;
pub mod place;
pub mod weight;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

pub use crate::config::{GeneratedBatch, IdRule, Undeclared, UniquePerPlace};
pub use key::{Canonical, Key, KeyType, Purpose, Reading};
pub use names::NamePattern;
pub use place::{Hash, KeyHash, Place, ShardNo, SubtableNo};
pub use weight::{Question, Weights};

use crate::config::{self, Config};

/// A server, by its position in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerNo(pub u16);

/// A snapshot; swapped whole when anything changes.
#[derive(Debug)]
pub struct Topology {
    pub version: u64,
    dirty: bool,
    servers: Vec<Server>,
    schemas: HashMap<String, Arc<Schema>>,
}

#[derive(Clone, Debug)]
pub struct Server {
    pub no: ServerNo,
    pub name: String,
    /// Without brackets.
    pub host: String,
    pub port: u16,
}

/// The database that applications see.
#[derive(Debug)]
pub struct Schema {
    pub name: String,
    pub undeclared: Undeclared,
    /// Shards may hold rows that they no longer own: since a doubling, until they are cleaned.
    pub dirty: bool,
    shards: Vec<Shard>,
    rules: HashMap<String, Arc<TableRule>>,
}

/// A physical database on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    pub no: ShardNo,
    pub server: ServerNo,
    pub database: String,
}

#[derive(Debug)]
pub struct TableRule {
    pub name: String,
    pub kind: TableKind,
    /// The schema's sharded tables and how their subtables are called: a subtable's foreign keys may
    /// point to those of its own number.
    pub beside: Siblings,
}

/// Sharded tables of one schema by name.
pub type Siblings = Arc<[(String, NamePattern)]>;

#[derive(Debug)]
pub enum TableKind {
    Sharded(Sharded),
    /// Whole on every shard.
    Reference,
    /// Whole on the home shard.
    Unsharded,
}

#[derive(Debug)]
pub struct Sharded {
    /// The sharding key's column, as the file spells it; columns match in any letter case.
    pub key: String,
    pub hash: Hash,
    /// T
    pub subtables: u16,
    pub pattern: NamePattern,
    pub id: Option<IdRule>,
    pub unique_per_place: UniquePerPlace,
    /// Statements of one key value that may be under way.
    pub hot_limit: u32,
}

/// The shard of unsharded tables; its number never changes.
pub const HOME: ShardNo = ShardNo(0);

impl Topology {
    pub fn new(config: &Config, version: u64) -> Self {
        let servers = (0u16..).zip(&config.servers).map(|(no, server)| Server::new(ServerNo(no), server)).collect();
        let schemas = config
            .schemas
            .iter()
            .map(|schema| (schema.name.clone(), Arc::new(Schema::new(schema, config.dirty))))
            .collect();
        Topology { version, dirty: config.dirty, servers, schemas }
    }

    pub fn dirty(&self) -> bool {
        self.dirty
    }

    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    pub fn server(&self, no: ServerNo) -> &Server {
        &self.servers[usize::from(no.0)]
    }

    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(name)
    }

    /// In no order.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.schemas.values()
    }

    /// The schema whose unsharded tables are in this database.
    pub fn at_home(&self, server: ServerNo, database: &[u8]) -> Option<&Arc<Schema>> {
        let is_home = |shard: &Shard| shard.server == server && shard.database.as_bytes() == database;
        self.schemas().find(|schema| is_home(schema.home()))
    }
}

impl Server {
    fn new(no: ServerNo, server: &config::Server) -> Self {
        Server { no, name: server.name.clone(), host: server.host.clone(), port: server.port }
    }

    /// `host:port`, an IPv6 address in brackets.
    pub fn address(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl Schema {
    fn new(schema: &config::Schema, dirty: bool) -> Self {
        let shards = (0u16..).zip(&schema.shards).map(|(no, shard)| Shard::new(ShardNo(no), shard)).collect();
        let beside: Siblings = schema.tables.iter().filter_map(sibling).collect();
        let rule = |table: &config::Table| (table.name.clone(), Arc::new(TableRule::new(table, &beside)));
        let rules = schema.tables.iter().map(rule).collect();
        Schema { name: schema.name.clone(), undeclared: schema.undeclared, dirty, shards, rules }
    }

    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    pub fn shard(&self, no: ShardNo) -> &Shard {
        &self.shards[usize::from(no.0)]
    }

    pub fn home(&self) -> &Shard {
        self.shard(HOME)
    }

    /// N
    pub fn shard_count(&self) -> u16 {
        u16::try_from(self.shards.len()).expect("the settings allow 1024 shards")
    }

    pub fn shards_on(&self, server: ServerNo) -> impl Iterator<Item = &Shard> {
        self.shards.iter().filter(move |shard| shard.server == server)
    }

    /// The shard whose database a server calls so.
    pub fn shard_of(&self, server: ServerNo, database: &[u8]) -> Option<&Shard> {
        self.shards_on(server).find(|shard| shard.database.as_bytes() == database)
    }

    /// The rule of a declared table; tables are named in the letters of the file.
    pub fn rule(&self, table: &str) -> Option<&Arc<TableRule>> {
        self.rules.get(table)
    }

    /// In no order.
    pub fn rules(&self) -> impl Iterator<Item = &Arc<TableRule>> {
        self.rules.values()
    }

    /// The sharded table and subtable that a server calls so.
    pub fn logical_of(&self, physical: &[u8]) -> Option<(&Arc<TableRule>, SubtableNo)> {
        self.rules.values().find_map(|rule| Some((rule, rule.sharded()?.pattern.logical_of(physical)?)))
    }

    /// All places of a sharded table, by shard and then subtable.
    pub fn places(&self, table: &Sharded) -> impl Iterator<Item = Place> + use<> {
        let (shards, subtables) = (self.shard_count(), table.subtables);
        (0..shards).flat_map(move |shard| {
            (0..subtables).map(move |subtable| Place { shard: ShardNo(shard), subtable: SubtableNo(subtable) })
        })
    }
}

impl Shard {
    fn new(no: ShardNo, shard: &config::Shard) -> Self {
        let server = u16::try_from(shard.server).expect("the settings allow 1024 servers");
        Shard { no, server: ServerNo(server), database: shard.database.clone() }
    }
}

impl TableRule {
    fn new(table: &config::Table, beside: &Siblings) -> Self {
        let kind = match &table.kind {
            config::TableKind::Sharded(sharded) => TableKind::Sharded(Sharded::new(sharded)),
            config::TableKind::Reference => TableKind::Reference,
            config::TableKind::Unsharded => TableKind::Unsharded,
        };
        TableRule { name: table.name.clone(), kind, beside: beside.clone() }
    }

    pub fn sharded(&self) -> Option<&Sharded> {
        match &self.kind {
            TableKind::Sharded(sharded) => Some(sharded),
            TableKind::Reference | TableKind::Unsharded => None,
        }
    }
}

fn sibling(table: &config::Table) -> Option<(String, NamePattern)> {
    match &table.kind {
        config::TableKind::Sharded(sharded) => Some((table.name.clone(), NamePattern::new(sharded.pattern.clone()))),
        config::TableKind::Reference | config::TableKind::Unsharded => None,
    }
}

impl Sharded {
    fn new(table: &config::ShardedTable) -> Self {
        Sharded {
            key: table.key.clone(),
            hash: match table.hash {
                config::Hash::Crc32 => Hash::Crc32,
                config::Hash::Identity => Hash::Identity,
            },
            subtables: table.pattern.count(),
            pattern: NamePattern::new(table.pattern.clone()),
            id: table.id.clone(),
            unique_per_place: table.unique_per_place.clone(),
            hot_limit: table.hot_limit,
        }
    }
}
