//! Transactions over several servers: all or nothing, whatever breaks.

#[path = "../common/mod.rs"]
mod common;

mod bank;
mod faults;
mod relay;
mod spanning;
mod ward;
