//! Several proxies that share a store: worker numbers, layouts, and the doubling of the databases.

#[path = "../common/mod.rs"]
mod common;

mod dirty;
mod doubling;
mod leases;
mod verify;
