//! Bifold, a MySQL-wire sharding proxy.
//!
//! The modules stand in floors, from the lowest up: a module imports only modules on lines
//! above its own, and modules on one line do not import each other (`tests/floors.rs`).

pub mod error;
pub mod value;
