//! One result made of the results of several places. Rows go in as the servers sent them, in text
//! or in binary, and come out as the client is to get them: sorted by keys that stand behind the
//! client's own columns, or folded into one row. Pure: no sockets, and what is held is bounded.

mod decimal;
mod fold;
mod key;
mod row;
mod sort;

pub use fold::Folder;
pub use row::Layout;
pub use sort::Sorter;
