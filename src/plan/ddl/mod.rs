//! Statements that change definitions, in every place of a table.

/// What to do, with everything that doing it needs.
#[derive(Debug)]
pub enum Ddl {}
