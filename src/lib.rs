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

// Servers, shards, table rules, the place of a key: pure.
pub mod topology;

// A session's settings as data, and their difference.
pub mod context;
