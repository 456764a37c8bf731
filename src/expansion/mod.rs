//! Doubling the databases while traffic goes on: a replica of each server becomes a server of its own,
//! and each half's rows that it does not own are cleaned away. A state machine whose steps are kept in
//! the store, so that any machine can go on where another stopped.

mod clean;
mod drive;
mod file;
mod plan;
mod prove;
mod site;

pub use clean::clean;
pub use drive::{Driver, Order, Pace};
pub use file::rewrite;
pub use plan::{Account, describe, plan};
