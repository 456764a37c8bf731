//! Definitions of tables: DDL over all places, the same DDL on one plain server beside it, and
//! what `bifold check` says of tables and servers.

#[path = "../common/mod.rs"]
mod common;

mod check;
mod parents;
mod places;
mod same;
mod views;
