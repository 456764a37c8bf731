//! Statements that the proxy answers itself or that change the session, as data: transactions,
//! SET, USE, SHOW and what else names logical things. Where a text goes to a server all the
//! same, it is a [`Template`]; the values of literals are read at execution, by item.

use std::sync::Arc;

use super::{Item, Planned, Single, Template};
use crate::context::Setting;
use crate::topology::{Schema, ServerNo};

/// What to do, with everything that doing it needs.
#[derive(Debug)]
pub enum Local {
    Transaction(Transaction),
    Set(Vec<Step>),
    /// The default schema from now on; the user may use it.
    Use(Arc<Schema>),
    Show(Show),
    Describe(Describe),
    /// EXPLAIN and its kin: the plan is that of the statement explained, whose text begins with
    /// EXPLAIN; names in the rows are made logical.
    Explain(Box<Planned>),
    /// EXPLAIN ROUTE: nothing is run; the plan, places and texts are the rows.
    Route(Box<Planned>),
    /// LOCK TABLES: ends the transaction, binds the connection.
    Lock(Single),
    /// UNLOCK TABLES: ends the transaction if tables were locked.
    Unlock,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transaction {
    Begin { snapshot: bool, access: Option<Access> },
    Commit(Completion),
    Rollback(Completion),
    Savepoint(Savepoint),
    RollbackTo(Savepoint),
    Release(Savepoint),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}

/// How COMMIT or ROLLBACK goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// AND CHAIN: a new transaction of the same kind begins at once.
    pub chain: bool,
    /// RELEASE: the client is disconnected.
    pub release: bool,
}

/// The name as the client knows it, without quotes; savepoints match in any letter case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Savepoint(pub Box<str>);

/// A part of a SET statement; all of them in the order of the text.
#[derive(Debug)]
pub enum Step {
    /// A server checks and sets; the settings are then read back and kept.
    Server {
        text: Template,
        assigns: Vec<Setting>,
    },
    /// The session's setting is what a server's connection begins with.
    Default(Setting),
    Autocommit(Operand),
    /// For the next transaction only.
    NextTransaction(Characteristic),
    /// LAST_INSERT_ID(), @@identity: kept by the proxy.
    LastInsertId(Operand),
}

/// The right side of an assignment that the proxy itself needs.
#[derive(Debug)]
pub enum Operand {
    /// A word: ON, OFF, TRUE, FALSE, an isolation level; without quotes.
    Word(Box<str>),
    /// A literal or `?`, with a minus sign before it or not.
    Literal { item: Item, negative: bool },
    /// DEFAULT
    Default,
    /// Anything else: this text is a SELECT that gives it.
    Ask(Template),
}

#[derive(Debug)]
pub enum Characteristic {
    /// The value of `transaction_isolation`: `READ-COMMITTED`.
    Isolation(Operand),
    /// The value of `transaction_read_only`.
    ReadOnly(Operand),
}

/// What the proxy answers from what it knows or gathers.
#[derive(Debug)]
pub enum Show {
    Databases(Filter),
    Tables { schema: Arc<Schema>, full: bool, filter: Filter },
    TableStatus { schema: Arc<Schema>, filter: Filter },
    CreateDatabase { schema: Arc<Schema>, text: Template },
    Grants,
    Diagnostics { level: Level, limit: Option<Limit> },
    DiagnosticsCount(Level),
}

/// Which rows of a SHOW.
#[derive(Debug)]
pub enum Filter {
    All,
    /// LIKE: the pattern's string.
    Like(Item),
    /// WHERE: the items of the condition, `from..to`; it has no subquery.
    Where {
        from: Item,
        to: Item,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Notes, warnings and errors.
    Warnings,
    Errors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub offset: Option<Item>,
    pub count: Item,
}

/// A statement about one logical table (SHOW CREATE TABLE, DESCRIBE, CHECK TABLE …) that one
/// physical table of it answers.
#[derive(Debug)]
pub struct Describe {
    /// Its cuts hold the physical name already.
    pub text: Template,
    pub server: ServerNo,
    pub names: Vec<Renamed>,
}

/// A physical table and its logical name; cells of the rows that name it are made logical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    pub database: String,
    pub table: String,
    pub schema: String,
    pub logical: String,
}
