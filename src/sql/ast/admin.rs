//! Statements about the session, transactions and the server.

use super::{Expr, Name, Scope, Statement, TableName};
use crate::sql::Span;

/// One of SET's list.
#[derive(Clone, Debug)]
pub struct Assignment {
    pub span: Span,
    pub kind: AssignmentKind,
}

#[derive(Clone, Debug)]
pub enum AssignmentKind {
    /// `@v = e`.
    UserVar { name: Name, value: Expr },
    /// `x = e`, `SESSION x = e`, `@@global.x = e`; DEFAULT is `ExprKind::Default`, a bare word
    /// (`ON`, `utf8mb4`) a column or a literal.
    SysVar { scope: Option<Scope>, qualifier: Option<Name>, name: Name, value: Expr },
    /// `NAMES cs [COLLATE c]`; `None` for DEFAULT.
    Names { charset: Option<Name>, collation: Option<Name> },
    /// `CHARACTER SET cs`; `None` for DEFAULT.
    CharacterSet(Option<Name>),
    /// `[SESSION | GLOBAL] TRANSACTION …`; without a scope it is the next transaction's.
    Transaction { scope: Option<Scope>, isolation: Option<Isolation>, access: Option<Access> },
    /// `PASSWORD [FOR account] = …`.
    Password,
    /// ROLE, DEFAULT ROLE.
    Role,
    /// RESOURCE GROUP.
    ResourceGroup,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}

#[derive(Clone, Debug)]
pub struct Show {
    pub kind: ShowKind,
    /// SHOW FULL, SHOW EXTENDED.
    pub full: bool,
    pub scope: Option<Scope>,
    pub table: Option<TableName>,
    /// `FROM db`, `IN db`.
    pub db: Option<Name>,
    pub filter: Option<ShowFilter>,
    pub limit: Option<super::Limit>,
}

#[derive(Clone, Debug)]
pub enum ShowFilter {
    /// The pattern's string.
    Like(Expr),
    Where(Expr),
}

/// What SHOW shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowKind {
    Databases,
    Tables,
    OpenTables,
    TableStatus,
    Columns,
    Index,
    CreateTable,
    CreateView,
    CreateDatabase,
    /// SHOW CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT, SEQUENCE, PACKAGE.
    CreateRoutine,
    CreateUser,
    Triggers,
    Events,
    /// SHOW PROCEDURE STATUS, FUNCTION STATUS, PACKAGE STATUS.
    RoutineStatus,
    /// SHOW PROCEDURE CODE, FUNCTION CODE.
    RoutineCode,
    Variables,
    Status,
    Warnings,
    Errors,
    CountWarnings,
    CountErrors,
    Processlist,
    Engines,
    /// SHOW ENGINE x STATUS | MUTEX | LOGS.
    Engine,
    Collation,
    CharacterSet,
    Grants,
    Plugins,
    Privileges,
    Profile,
    Profiles,
    /// Logs and replicas: BINARY LOGS, MASTER STATUS, BINLOG EVENTS, REPLICA STATUS, RELAYLOG EVENTS.
    Replication,
    /// EXPLAIN, ANALYZE FOR a thread; CONTRIBUTORS, AUTHORS, LOCALES, USER_STATISTICS and their like.
    Other,
}

#[derive(Clone, Debug)]
pub struct Explain {
    /// EXPLAIN ROUTE: Bifold's own, the statement is not sent.
    pub route: bool,
    /// MySQL's EXPLAIN ANALYZE, MariaDB's ANALYZE: the statement runs.
    pub analyze: bool,
    /// `FORMAT=JSON`: the format's token.
    pub format: Option<Name>,
    /// MySQL's `INTO @v`.
    pub into: Option<Name>,
    pub target: ExplainTarget,
}

#[derive(Clone, Debug)]
pub enum ExplainTarget {
    Statement(Statement),
    /// FOR CONNECTION n.
    Connection(Expr),
}

#[derive(Clone, Debug)]
pub enum Transaction {
    /// BEGIN, START TRANSACTION.
    Start {
        consistent_snapshot: bool,
        access: Option<Access>,
    },
    Commit(Completion),
    Rollback(Completion),
    RollbackTo(Name),
    Savepoint(Name),
    Release(Name),
}

/// `AND [NO] CHAIN`, `[NO] RELEASE`; `None` when left out, since `completion_type` decides then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub chain: Option<bool>,
    pub release: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
pub struct Xa {
    pub verb: XaVerb,
    /// Empty for RECOVER.
    pub xid: Span,
    pub rest: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XaVerb {
    Start,
    End,
    Prepare,
    Commit,
    Rollback,
    Recover,
}

#[derive(Clone, Copy, Debug)]
pub struct LockTable {
    pub span: Span,
    pub table: TableName,
    pub alias: Option<Name>,
    pub write: bool,
}

#[derive(Clone, Debug)]
pub struct Flush {
    pub kind: FlushKind,
    pub tables: Vec<TableName>,
    /// WITH READ LOCK, FOR EXPORT.
    pub locks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushKind {
    Tables,
    Privileges,
    Other,
}

#[derive(Clone, Debug)]
pub struct Kill {
    /// KILL QUERY; else the connection.
    pub query_only: bool,
    /// MariaDB's `KILL USER u` and `KILL QUERY ID n` have none.
    pub thread: Option<Expr>,
}

#[derive(Clone, Copy, Debug)]
pub enum PrepareFrom {
    /// The text's string.
    Text(Span),
    /// `@v`.
    Variable(Name),
}

/// ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE.
#[derive(Clone, Debug)]
pub struct Maintain {
    pub verb: MaintainVerb,
    pub tables: Vec<TableName>,
    pub rest: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintainVerb {
    Analyze,
    Check,
    Checksum,
    Optimize,
    Repair,
}

/// A statement known by its first words only.
#[derive(Clone, Copy, Debug)]
pub struct Other {
    pub kind: OtherKind,
    pub rest: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherKind {
    Grant,
    Revoke,
    /// RENAME USER.
    RenameUser,
    /// RESET …
    Reset,
    /// PURGE LOGS, CHANGE MASTER, START and STOP REPLICA, BINLOG, CLONE …
    Replication,
    /// SHUTDOWN, RESTART, INSTALL, UNINSTALL, CACHE INDEX, LOAD INDEX, IMPORT TABLE, BACKUP …
    Server,
    /// HELP.
    Help,
    /// SIGNAL, RESIGNAL, GET DIAGNOSTICS.
    Diagnostics,
    /// MariaDB's BEGIN NOT ATOMIC and other compound statements.
    Compound,
}
