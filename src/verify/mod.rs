//! Whether all rows are where they belong, ids are single and say the right place, copies and
//! definitions are equal; and the tables as the servers define them, for others who look at rows.

mod look;
mod report;
mod tables;

pub use look::verify;
pub use report::{Report, TableReport};
pub use tables::{Table, tables};
