//! Queries: SELECT and what can stand beside it in a set operation.

use super::{Expr, Name, TableName};
use crate::sql::Span;

/// A query expression with what may stand around it. In a chain of set operations ORDER BY and
/// LIMIT here are those of the whole; those of a branch stand in its parentheses.
#[derive(Clone, Debug)]
pub struct Query {
    pub span: Span,
    pub with: Option<With>,
    pub body: Body,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub locks: Vec<Lock>,
    /// At the end of the query; one before FROM stands in its `Select`.
    pub into: Option<Into>,
}

#[derive(Clone, Debug)]
pub struct With {
    pub span: Span,
    pub recursive: bool,
    pub tables: Vec<CommonTable>,
}

#[derive(Clone, Debug)]
pub struct CommonTable {
    pub span: Span,
    pub name: Name,
    pub columns: Vec<Name>,
    pub query: Box<Query>,
}

#[derive(Clone, Debug)]
pub enum Body {
    Select(Box<Select>),
    /// `(query)`; the span has the parentheses.
    Parens(Span, Box<Query>),
    SetOperation(Box<SetOperation>),
    /// `VALUES ROW(1, 2), ROW(3, 4)`; MariaDB's `VALUES (1, 2), (3, 4)`.
    Values(Span, Vec<Row>),
    /// `TABLE t`.
    Table(Span, TableName),
}

/// `first UNION a EXCEPT b …`, left to right; an INTERSECT, which binds tighter, is a body of its own.
#[derive(Clone, Debug)]
pub struct SetOperation {
    pub span: Span,
    pub first: Body,
    pub rest: Vec<SetArm>,
}

#[derive(Clone, Debug)]
pub struct SetArm {
    pub operator: SetOperator,
    /// UNION ALL keeps duplicates; without a word a set operation is DISTINCT.
    pub all: bool,
    pub body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    Union,
    Intersect,
    Except,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub span: Span,
    pub values: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub struct Select {
    pub span: Span,
    pub options: SelectOptions,
    pub items: Vec<SelectItem>,
    /// All items with their commas.
    pub items_span: Span,
    pub into: Option<Into>,
    /// The tables between commas; empty without FROM and with FROM DUAL.
    pub from: Vec<TableRef>,
    pub filter: Option<Expr>,
    pub group_by: Option<GroupBy>,
    pub having: Option<Expr>,
    pub windows: Vec<NamedWindow>,
    /// MySQL's QUALIFY.
    pub qualify: Option<Expr>,
}

/// The words between SELECT and the first item; `span` is theirs, and empty at the first item when
/// there are none.
#[derive(Clone, Debug)]
pub struct SelectOptions {
    pub span: Span,
    pub distinct: bool,
    pub straight_join: bool,
    pub calc_found_rows: bool,
    pub high_priority: bool,
}

#[derive(Clone, Debug)]
pub struct SelectItem {
    pub span: Span,
    pub kind: SelectItemKind,
}

#[derive(Clone, Debug)]
pub enum SelectItemKind {
    /// `*`, `t.*`, `db.t.*`.
    Wildcard {
        db: Option<Name>,
        table: Option<Name>,
    },
    Expr {
        expr: Expr,
        alias: Option<Name>,
    },
}

#[derive(Clone, Debug)]
pub struct TableRef {
    pub span: Span,
    pub kind: TableRefKind,
}

#[derive(Clone, Debug)]
pub enum TableRefKind {
    Table(TableFactor),
    Derived {
        query: Box<Query>,
        lateral: bool,
        alias: Option<Name>,
        columns: Vec<Name>,
    },
    /// `JSON_TABLE(document, path COLUMNS (…)) alias`; its columns are not read.
    JsonTable {
        document: Box<Expr>,
        alias: Option<Name>,
    },
    Join(Box<Join>),
    /// `(t1, t2)`, `(t1 JOIN t2 …)`, `{ OJ … }`: tables between commas are cross joined.
    Parens(Vec<TableRef>),
}

#[derive(Clone, Debug)]
pub struct TableFactor {
    pub table: TableName,
    /// `PARTITION (p0, p1)`.
    pub partition: Option<Span>,
    /// MariaDB's `FOR SYSTEM_TIME …`.
    pub system_time: Option<Span>,
    pub alias: Option<Name>,
    /// `USE INDEX (…) IGNORE INDEX (…)`.
    pub index_hints: Option<Span>,
}

#[derive(Clone, Debug)]
pub struct Join {
    pub kind: JoinKind,
    pub natural: bool,
    pub left: TableRef,
    pub right: TableRef,
    pub condition: JoinCondition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// JOIN, INNER JOIN, CROSS JOIN.
    Inner,
    Straight,
    Left,
    Right,
}

#[derive(Clone, Debug)]
pub enum JoinCondition {
    None,
    On(Expr),
    Using(Vec<Name>),
}

#[derive(Clone, Debug)]
pub struct GroupBy {
    /// From GROUP on.
    pub span: Span,
    pub items: Vec<OrderItem>,
    pub rollup: bool,
}

#[derive(Clone, Debug)]
pub struct OrderItem {
    pub span: Span,
    pub expr: Expr,
    pub direction: Option<Direction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Asc,
    Desc,
}

#[derive(Clone, Debug)]
pub struct NamedWindow {
    pub name: Name,
    pub window: Window,
}

/// What stands in the parentheses of OVER or WINDOW w AS.
#[derive(Clone, Debug)]
pub struct Window {
    pub span: Span,
    pub base: Option<Name>,
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<OrderItem>,
    /// `ROWS BETWEEN …`.
    pub frame: Option<Span>,
    /// The bounds' expressions.
    pub frame_bounds: Vec<Expr>,
}

/// All spellings of LIMIT; `span` from LIMIT (or OFFSET, FETCH) on.
#[derive(Clone, Debug)]
pub struct Limit {
    pub span: Span,
    pub offset: Option<Expr>,
    /// `None` for MariaDB's `OFFSET 5 ROWS` alone and `LIMIT ROWS EXAMINED 5` alone.
    pub count: Option<Expr>,
    /// `FETCH FIRST 5 ROWS WITH TIES`.
    pub with_ties: bool,
    /// MariaDB's `ROWS EXAMINED n`.
    pub rows_examined: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct Lock {
    pub span: Span,
    pub strength: LockStrength,
    pub of: Vec<TableName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStrength {
    Update,
    /// FOR SHARE and LOCK IN SHARE MODE.
    Share,
}

#[derive(Clone, Debug)]
pub struct Into {
    pub span: Span,
    pub target: IntoTarget,
}

#[derive(Clone, Debug)]
pub enum IntoTarget {
    /// Tokens of `@a`; a name is a routine's variable.
    Variables(Vec<Name>),
    /// OUTFILE and DUMPFILE.
    File,
}
