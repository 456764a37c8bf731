//! Whether all rows are where they belong: tables as the servers define them, and what is asked of each
//! of their places.

mod tables;

pub use tables::{Table, tables};
