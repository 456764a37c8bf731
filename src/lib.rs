//! Bifold, a MySQL-wire sharding proxy.
//!
//! The modules stand in floors, a paragraph each, from the lowest up: a module imports only
//! modules of paragraphs above its own, and modules of one paragraph do not import each other
//! (`tests/floors.rs`). rustfmt keeps the paragraphs and sorts the names within one.

// One error; an SQL value.
pub mod error;
pub mod value;

// Log and metrics; TOML as written → as meant, every refusal with file and line.
pub mod config;
pub mod telemetry;

// Ids; bytes ⇄ messages of the MySQL protocol, no sockets.
pub mod protocol;
pub mod snowflake;

// Framed sockets with TLS, for both sides.
pub mod wire;

// Servers, shards, table rules, the place of a key: pure.
pub mod topology;

// What several proxies share: worker numbers, who is there, the version of the layout, jobs.
pub mod meta;

// The text of a statement: tokens, fingerprint, tree.
pub mod sql;

// A session's settings as data, and their difference.
pub mod context;

// Live sessions: who they are, what each does, how to end it.
pub mod registry;

// One server's connections: login, pool, what is prepared.
pub mod shard;

// Who may hold connections while waiting for more.
pub mod admission;

// Logical definitions.
pub mod catalog;

// Physical tables compared and judged: definition texts, laws.
pub mod definition;

// Statement → plan.
pub mod plan;

// Plan and values → texts by place: pure.
pub mod route;

// Results of several places made one: pure.
pub mod merge;

// A session's hold on servers.
pub mod transaction;

// Plans carried out.
pub mod execute;

// Every row where it belongs.
pub mod verify;

// Doubling the databases.
pub mod expansion;

// One client, command by command.
pub mod session;

// Everything put together.
pub mod server;

// Starts real servers and the proxy: for demo, tests and bench.
pub mod lab;

// The live half of `bifold check`.
pub mod check;

// The command line.
pub mod cli;
