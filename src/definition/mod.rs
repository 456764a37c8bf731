//! What a physical table is, compared and judged: its definition with logical names, so that the
//! subtables of one table can be compared, and the laws that a table of a rule has to keep.
//!
//! Texts and rows go in and come out; who asks the servers is another matter.

mod facts;
mod laws;
mod naming;
mod reading;
mod text;

pub use facts::{Facts, UniqueKey, UniquePart};
pub use laws::{Breach, breaches, key_changes, key_type};
pub use naming::{Naming, SCRATCH_PREFIX, without_constraint_suffix};
pub use reading::reading_state;
pub use text::{Definition, identifier};

pub(crate) use crate::catalog::quoted;
