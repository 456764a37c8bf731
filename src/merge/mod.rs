//! One result made of the results of several places. Rows go in as the servers sent them, in text
//! or in binary, and come out as the client is to get them: sorted by keys that stand behind the
//! client's own columns, or groups of places made groups of all. Pure: no sockets, and what is held
//! is bounded.

mod budget;
mod decimal;
mod group;
mod key;
mod row;
mod sort;
mod state;
mod stream;

pub use budget::{Budget, Holdings};
pub use group::Grouper;
pub use row::Layout;
pub use sort::Sorter;
pub use stream::Streams;
