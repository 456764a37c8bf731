//! Transactions over several servers: all or nothing, whatever breaks.

#[path = "../common/mod.rs"]
mod common;

mod spanning;
mod ward;
