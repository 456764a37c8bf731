//! The topology file: TOML as written goes in, the settings as meant come out, or every mistake
//! in it at once, each with its line, its key and what to do.
//!
//! Nothing behind this module checks a setting a second time. What only the servers can tell
//! (key columns, grants, missing subtables) is not asked here.

mod finding;
mod id;
mod instant;
mod load;
mod meaning;
mod pattern;
#[cfg(test)]
mod tests;
mod written;

pub mod keys;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use finding::{Finding, Findings, KeyLines, Severity};
pub use id::{DEFAULT_EPOCH_MS, GeneratedBatch, IdBits, IdLayout, IdRule, largest_modulus};
pub use instant::utc;
pub use load::{Surroundings, load, parse};
pub use pattern::NamePattern;

/// The settings as meant; valid as a whole.
#[derive(Clone, Debug)]
pub struct Config {
    pub cluster: String,
    pub transactions: Transactions,
    /// For a lock, where a deadlock may be one over several servers.
    pub lock_wait: Duration,
    pub listen: Listen,
    pub limits: Limits,
    pub gather: Gather,
    pub users: Vec<User>,
    pub backend: Backend,
    pub servers: Vec<Server>,
    pub schemas: Vec<Schema>,
    /// The worker numbers that this cluster may use, both ends included.
    pub workers: Workers,
    pub meta: Option<Meta>,
    /// Of the layout: not from the file, but from the store.
    pub version: u64,
    /// Shards may hold rows that they no longer own; likewise.
    pub dirty: bool,
    /// Warnings of the file: what is allowed and still worth a look.
    pub warnings: Findings,
    /// For findings at a key that only the servers can tell.
    pub lines: KeyLines,
}

/// What a transaction may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transactions {
    /// On any number of servers; it is kept or undone on all of them.
    Atomic,
    /// On one server.
    Single,
}

#[derive(Clone, Debug)]
pub struct Listen {
    /// `host:port` for applications; port 0 takes a free one.
    pub mysql: String,
    /// `host:port` for metrics and health; `None`: there is no such port.
    pub http: Option<String>,
    pub tls: Option<ListenTls>,
}

#[derive(Clone, Debug)]
pub struct ListenTls {
    pub cert: PathBuf,
    pub key: PathBuf,
    pub mode: ListenTlsMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenTlsMode {
    Optional,
    Required,
}

#[derive(Clone, Debug)]
pub struct Limits {
    pub max_clients: u32,
    /// A client that sends nothing for so long is disconnected.
    pub idle: Duration,
    /// From the connection's first byte until the login is decided.
    pub login: Duration,
    /// The longest command or row taken, in bytes.
    pub max_packet: usize,
}

/// What one statement may collect of several places.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    pub rows: u64,
    /// Of values.
    pub bytes: u64,
    pub timeout: Duration,
}

#[derive(Clone, Debug)]
pub struct User {
    pub name: String,
    pub password: Secret,
    /// Names of schemas of this file.
    pub schemas: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Backend {
    pub user: String,
    pub password: Secret,
    pub tls: BackendTls,
    /// The bound of connections to one server.
    pub connections: u32,
    /// How long a statement waits for a connection.
    pub wait: Duration,
    /// A pooled connection unused for so long is closed.
    pub idle: Duration,
    /// From the socket's opening until the login is answered.
    pub connect: Duration,
    /// Prepared statements kept open on one server.
    pub statements: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendTls {
    Off,
    /// TLS where the server offers it, its certificate not checked.
    Preferred,
    /// TLS or nothing, the certificate not checked.
    Required,
    /// TLS with the certificate checked against this CA file and the address's host name.
    Verify {
        ca: PathBuf,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub name: String,
    /// Host name or IP address, without brackets.
    pub host: String,
    pub port: u16,
}

#[derive(Clone, Debug)]
pub struct Schema {
    pub name: String,
    /// By shard number.
    pub shards: Vec<Shard>,
    pub undeclared: Undeclared,
    pub tables: Vec<Table>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Position in `Config::servers`.
    pub server: usize,
    pub database: String,
}

/// What CREATE makes of a table that no rule names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undeclared {
    Unsharded,
    Refuse,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub kind: TableKind,
}

#[derive(Clone, Debug)]
pub enum TableKind {
    Sharded(ShardedTable),
    Reference,
    Unsharded,
}

#[derive(Clone, Debug)]
pub struct ShardedTable {
    /// The sharding key's column.
    pub key: String,
    pub hash: Hash,
    /// How many subtables each shard holds, and how they are called.
    pub pattern: NamePattern,
    pub id: Option<IdRule>,
    pub unique_per_place: UniquePerPlace,
    /// Statements of one key value that may be under way.
    pub hot_limit: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    Crc32,
    Identity,
}

/// The unique keys without the sharding key that may be unique per place only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UniquePerPlace {
    Listed(Vec<String>),
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    pub first: u32,
    pub last: u32,
}

/// Where the proxies of a cluster keep what they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Position in `Config::servers`.
    pub server: usize,
}

impl Workers {
    pub fn contains(self, worker: u32) -> bool {
        (self.first..=self.last).contains(&worker)
    }
}

/// A password: never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}
