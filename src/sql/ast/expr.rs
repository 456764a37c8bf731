//! Expressions, bound as MySQL binds them.

use super::{Name, OrderItem, Query, Window};
use crate::sql::Span;

#[derive(Clone, Debug)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Without sign; a string with its introducer and the strings that follow it.
    Literal(Literal),
    Param,
    Column(ColumnRef),
    /// `@v`.
    UserVar,
    /// `@@v`, `@@session.v`.
    SysVar(SysVar),
    /// `DEFAULT` as a value.
    Default,
    /// `DEFAULT(c)`.
    DefaultOf(ColumnRef),
    /// `VALUES(c)` of ON DUPLICATE KEY UPDATE; MariaDB's `VALUE(c)` too.
    ValuesOf(ColumnRef),
    /// `@v := e`; the variable is the first token.
    Assign(Box<Expr>),

    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<[Expr; 2]>),
    /// `a AND b AND c`: two or more, in order.
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Is {
        expr: Box<Expr>,
        not: bool,
        test: IsTest,
    },
    Between {
        expr: Box<Expr>,
        not: bool,
        low: Box<Expr>,
        high: Box<Expr>,
    },
    In {
        expr: Box<Expr>,
        not: bool,
        list: Vec<Expr>,
        list_span: Span,
    },
    InQuery {
        expr: Box<Expr>,
        not: bool,
        query: Box<Query>,
    },
    Like {
        expr: Box<Expr>,
        not: bool,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
    },
    Regexp {
        expr: Box<Expr>,
        not: bool,
        pattern: Box<Expr>,
    },
    /// `e = ANY (query)`; SOME is ANY.
    Quantified {
        op: BinaryOp,
        expr: Box<Expr>,
        all: bool,
        query: Box<Query>,
    },
    Exists(Box<Query>),
    Subquery(Box<Query>),
    /// `(a, b)`, `ROW(a, b)`.
    Row(Vec<Expr>),
    /// `(e)`.
    Parens(Box<Expr>),
    Case {
        operand: Option<Box<Expr>>,
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Collate(Box<Expr>, Name),
    /// `e + INTERVAL amount unit`, `e - INTERVAL …`, `INTERVAL … + e`.
    DateArith {
        date: Box<Expr>,
        minus: bool,
        amount: Box<Expr>,
        unit: Name,
    },
    /// `INTERVAL amount unit` as an argument (DATE_ADD).
    Interval {
        amount: Box<Expr>,
        unit: Name,
    },
    Function(Box<Function>),
    /// `MATCH (columns) AGAINST (e mode)`.
    Match {
        columns: Vec<ColumnRef>,
        against: Box<Expr>,
        mode: Span,
    },
    /// `{d '2024-01-01'}`.
    Odbc(Name, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal {
    Null,
    True,
    False,
    Int,
    Decimal,
    Float,
    String,
    Hex,
    Bit,
    /// `DATE '2024-01-01'`.
    Date,
    Time,
    Timestamp,
}

/// `c`, `t.c`, `db.t.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnRef {
    pub span: Span,
    pub db: Option<Name>,
    pub table: Option<Name>,
    pub column: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SysVar {
    pub scope: Option<Scope>,
    /// The last part of the name; the `@@x` token itself when there is no dot.
    pub name: Name,
    /// `hot_cache` of `@@hot_cache.key_buffer_size`.
    pub qualifier: Option<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Session,
    Global,
    Persist,
    PersistOnly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    Plus,
    BitNot,
    Not,
    /// `!`, and NOT under HIGH_NOT_PRECEDENCE.
    Bang,
    Binary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Xor,
    Eq,
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    SoundsLike,
    /// `e MEMBER OF (array)`.
    MemberOf,
    BitOr,
    BitAnd,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    /// `DIV`
    IntDiv,
    /// `%`, `MOD`
    Mod,
    BitXor,
    /// `||` under PIPES_AS_CONCAT.
    Concat,
    /// `->`
    JsonGet,
    /// `->>`
    JsonGetText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsTest {
    Null,
    True,
    False,
    Unknown,
    /// `IS JSON …`
    Json,
}

/// A call: all with a list of arguments, and those with words between them.
#[derive(Clone, Debug)]
pub struct Function {
    /// `db` of `db.f(…)`.
    pub db: Option<Name>,
    pub name: Name,
    pub form: FunctionForm,
    pub distinct: bool,
    /// `COUNT(*)` has none.
    pub args: Vec<Expr>,
    /// Of GROUP_CONCAT and JSON_ARRAYAGG.
    pub order_by: Vec<OrderItem>,
    /// The string of SEPARATOR.
    pub separator: Option<Name>,
    /// MariaDB's LIMIT in GROUP_CONCAT.
    pub has_limit: bool,
    pub over: Option<Over>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionForm {
    /// `f(a, b)`.
    Call,
    /// `COUNT(*)`.
    Star,
    /// CURRENT_USER, UTC_DATE … without parentheses.
    Bare,
    /// `CAST(e AS type)`, `CONVERT(e, type)`: the type's tokens.
    Cast(Span),
    /// `CONVERT(e USING charset)`, `CHAR(a, b USING charset)`.
    Using(Name),
    /// `EXTRACT(unit FROM e)`, `TIMESTAMPDIFF(unit, a, b)`, `GET_FORMAT(DATE, 'x')`: the first word.
    Unit(Name),
    /// Words between the arguments: TRIM, SUBSTRING FROM, POSITION IN, WEIGHT_STRING, JSON_VALUE …
    Worded,
    /// MariaDB's `NEXT VALUE FOR s`, `PREVIOUS VALUE FOR s`, `NEXTVAL(s)` …: the sequence is the
    /// last name in the call, as `db.s` or `s`.
    Sequence(super::TableName),
}

#[derive(Clone, Debug)]
pub enum Over {
    Name(Name),
    Window(Box<Window>),
}
