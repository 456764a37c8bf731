//! Statements that write rows.

use super::{ColumnRef, Expr, Limit, Name, OrderItem, Query, Row, SelectItem, TableName, TableRef, With};
use crate::sql::Span;

/// INSERT and REPLACE.
#[derive(Clone, Debug)]
pub struct Insert {
    pub replace: bool,
    /// LOW_PRIORITY, DELAYED or HIGH_PRIORITY.
    pub priority: Option<Name>,
    pub ignore: bool,
    pub table: TableName,
    pub partition: Option<Span>,
    /// `(a, b)` with its parentheses, `()` too; `None` when left out.
    pub columns_span: Option<Span>,
    pub columns: Vec<ColumnRef>,
    pub source: InsertSource,
    pub row_alias: Option<RowAlias>,
    pub on_duplicate: Option<OnDuplicate>,
    /// MariaDB.
    pub returning: Option<Returning>,
}

#[derive(Clone, Debug)]
pub enum InsertSource {
    /// `keyword` is VALUES or VALUE; `span` the rows with their commas.
    Values { keyword: Name, span: Span, rows: Vec<Row> },
    /// `span` from the first assignment on.
    Set { span: Span, assignments: Vec<ColumnAssignment> },
    /// SELECT, TABLE, VALUES ROW(…).
    Query(Box<Query>),
}

/// `AS new`, `AS new(a, b)`.
#[derive(Clone, Debug)]
pub struct RowAlias {
    pub span: Span,
    pub name: Name,
    pub columns: Vec<Name>,
}

#[derive(Clone, Debug)]
pub struct OnDuplicate {
    /// From ON on.
    pub span: Span,
    pub assignments: Vec<ColumnAssignment>,
}

/// `c = e`; the value may be `ExprKind::Default`.
#[derive(Clone, Debug)]
pub struct ColumnAssignment {
    pub span: Span,
    pub column: ColumnRef,
    pub value: Expr,
}

#[derive(Clone, Debug)]
pub struct Returning {
    /// From RETURNING on.
    pub span: Span,
    pub items: Vec<SelectItem>,
}

#[derive(Clone, Debug)]
pub struct Update {
    pub with: Option<With>,
    pub low_priority: bool,
    pub ignore: bool,
    /// One table, or tables joined; which of them are written is for the planner to see from the
    /// assignments.
    pub tables: Vec<TableRef>,
    pub assignments: Vec<ColumnAssignment>,
    pub filter: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
}

#[derive(Clone, Debug)]
pub struct Delete {
    pub with: Option<With>,
    pub low_priority: bool,
    pub quick: bool,
    pub ignore: bool,
    pub form: DeleteForm,
    pub filter: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    /// MariaDB.
    pub returning: Option<Returning>,
}

#[derive(Clone, Debug)]
pub enum DeleteForm {
    /// `DELETE FROM t [AS a] [PARTITION (…)]`.
    Single { table: TableName, alias: Option<Name>, partition: Option<Span> },
    /// `DELETE a, b FROM …`, `DELETE FROM a, b USING …`; targets name tables or aliases of `from`.
    Multi { targets: Vec<DeleteTarget>, from: Vec<TableRef> },
}

/// `t`, `db.t`, `t.*`.
#[derive(Clone, Copy, Debug)]
pub struct DeleteTarget {
    pub span: Span,
    pub table: TableName,
}

#[derive(Clone, Debug)]
pub struct LoadData {
    /// LOAD XML.
    pub xml: bool,
    pub local: bool,
    /// The file's string.
    pub file: Name,
    pub replace: bool,
    pub ignore: bool,
    pub table: TableName,
    pub partition: Option<Span>,
    /// CHARACTER SET, FIELDS, LINES, IGNORE n LINES.
    pub options: Span,
    pub format: FileFormat,
    /// `ROWS IDENTIFIED BY`.
    pub tagged: bool,
    /// `IGNORE n LINES`: all of it, and the number.
    pub skip: Option<(Span, Span)>,
    /// `(a, @v)` with its parentheses.
    pub columns_span: Option<Span>,
    /// Columns and `@v`.
    pub columns: Vec<Expr>,
    pub assignments: Vec<ColumnAssignment>,
}

/// How the lines of a file are written; each a string or a hex literal, as said last.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileFormat {
    pub charset: Option<Name>,
    pub fields_terminated: Option<Name>,
    pub enclosed: Option<Name>,
    pub escaped: Option<Name>,
    pub lines_starting: Option<Name>,
    pub lines_terminated: Option<Name>,
}
