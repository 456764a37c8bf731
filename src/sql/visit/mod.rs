//! One walk over all of a statement's tree: every expression, table and column, wherever it stands.

mod walk;

pub use walk::{walk_expr, walk_query, walk_statement, walk_table_ref};

use super::ast::*;

/// What a walk comes by. `Query`, `Select`, `With`, `CommonTable`, `TableRef` and `Expr` have
/// insides; the others stand for themselves.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    Query(&'a Query),
    /// With ORDER BY and LIMIT of a query that is nothing but this SELECT: they see its tables.
    Select(&'a Select),
    With(&'a With),
    CommonTable(&'a CommonTable),
    /// Joins, derived tables, parentheses and tables; a table gives a `Table` besides.
    TableRef(&'a TableRef),
    Expr(&'a Expr),
    Table(TableUse<'a>),
    /// `*`, `t.*` in a select list or RETURNING.
    Wildcard(&'a SelectItem),
    /// A column in an expression, a column list, an assignment, a MATCH, DEFAULT(c), VALUES(c).
    Column(ColumnRef),
    /// A table or alias named again: a target of multi-table DELETE, FOR UPDATE OF.
    Mention(TableName),
}

/// A table where the statement names it to use it.
#[derive(Clone, Copy, Debug)]
pub struct TableUse<'a> {
    pub table: TableName,
    pub alias: Option<Name>,
    pub role: Role,
    /// In FROM and UPDATE.
    pub factor: Option<&'a TableFactor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read: in FROM, behind TABLE, also where multi-table DELETE finds its rows.
    From,
    /// In the table list of UPDATE; the assignments say whether it is written.
    Update,
    Insert,
    /// The one of a single-table DELETE.
    Delete,
    Load,
    /// LOCK TABLES.
    Lock,
    /// CREATE, ALTER, DROP, TRUNCATE, RENAME and the like.
    Define,
    /// The parent of a foreign key.
    Reference,
    /// Behind LIKE in CREATE TABLE.
    Like,
    /// SHOW, DESCRIBE.
    Show,
    /// ANALYZE, CHECK …, FLUSH, HANDLER.
    Maintain,
    /// A sequence in an expression.
    Sequence,
}

pub trait Visitor<'a> {
    /// Before a node's inside; `false` passes the inside over, and `leave` then isn't called.
    fn enter(&mut self, node: Node<'a>) -> bool;
    /// After a node's inside.
    fn leave(&mut self, _node: Node<'a>) {}
}
