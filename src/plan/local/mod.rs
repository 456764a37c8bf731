//! Statements that the proxy answers itself or that change the session, as data: transactions,
//! SET, USE, SHOW and what else names logical things. Where a text goes to a server all the
//! same, it is a [`Template`] or a plan of its own.

mod describe;
mod desk;
mod explain;
mod maintain;
mod operand;
mod prepared;
mod session;
mod set;
mod show;
mod transaction;

use std::sync::Arc;

use super::allow::{Asker, denied};
use super::catalogue::Catalogue;
use super::survey::Scene;
use super::{Effect, Item, Kind, Outcome, Planned, Template, select};
use crate::context::Setting;
use crate::error::Result;
use crate::sql::ast::{Statement, StatementKind};
use crate::sql::fingerprint::Fingerprint;
use crate::sql::{Flavour, Source};
use crate::topology::{Schema, ServerNo};
use desk::Desk;
pub use maintain::{Maintain, Maintained};

/// The plan of a statement of this floor; `None` for those of other floors.
pub(super) fn plan(
    source: Source<'_>,
    fingerprint: &Fingerprint,
    scene: &Scene<'_>,
    statement: &Statement,
) -> Result<Option<Outcome>> {
    let desk = Desk { asker: Asker { scene, flavour: source.dialect.flavour }, source: &source, fingerprint };
    let outcome = match &statement.kind {
        StatementKind::Transaction(what) => desk.planned(transaction::plan(&source, what), Kind::Other),
        StatementKind::Set(assignments) => set::plan(&desk, assignments)?,
        StatementKind::SetStatement { body, .. } => explain::inner(&desk, body)?,
        StatementKind::Use(name) => {
            let name = desk.name(*name);
            if desk::is_information_schema(&name) {
                return Err(desk::no_information_schema());
            }
            let schema = desk.asker.usable(&name).ok_or_else(|| denied::schema(&desk.asker, &name))?;
            desk.planned(Local::Use(Arc::clone(schema)), Kind::Other)
        }
        StatementKind::Show(what) => match show::plan(&desk, what)? {
            Some(local) => desk.planned(local, Kind::Rows),
            None => select::single(desk.survey(), Effect::Read, Kind::Rows)?,
        },
        StatementKind::Describe { table, .. } => desk.planned(describe::columns(&desk, table)?, Kind::Rows),
        StatementKind::Maintain(what) => desk.planned(maintain::plan(&desk, what)?, Kind::Rows),
        StatementKind::Explain(what) => explain::plan(&desk, what)?,
        StatementKind::LockTables(tables) => session::lock(&desk, tables)?,
        StatementKind::UnlockTables => desk.planned(Local::Unlock, Kind::Other),
        StatementKind::Call { routine, args } => session::call(&desk, routine, args)?,
        StatementKind::Do(exprs) => session::evaluate(&desk, exprs)?,
        StatementKind::Prepare { name, from } => desk.planned(prepared::prepare(&desk, *name, *from)?, Kind::Other),
        StatementKind::Execute { name, using } => desk.planned(prepared::execute(&desk, *name, using)?, Kind::Other),
        StatementKind::ExecuteImmediate { text, using } => {
            desk.planned(prepared::immediate(&desk, text, using)?, Kind::Other)
        }
        StatementKind::Deallocate(name) => {
            desk.planned(Local::Deallocate { name: desk.name(*name).into() }, Kind::Other)
        }
        StatementKind::Kill(kill) => desk.planned(session::kill(&desk, kill)?, Kind::Other),
        StatementKind::Query(_)
        | StatementKind::Insert(_)
        | StatementKind::Update(_)
        | StatementKind::Delete(_)
        | StatementKind::LoadData(_)
        | StatementKind::CreateTable(_)
        | StatementKind::AlterTable(_)
        | StatementKind::DropTable(_)
        | StatementKind::Truncate(_)
        | StatementKind::RenameTable(_)
        | StatementKind::CreateIndex(_)
        | StatementKind::DropIndex(_)
        | StatementKind::Database(_)
        | StatementKind::Object(_)
        | StatementKind::Xa(_)
        | StatementKind::Flush(_)
        | StatementKind::Handler { .. }
        | StatementKind::Other(_) => return Ok(None),
    };
    Ok(Some(outcome))
}

/// What to do, with everything that doing it needs.
#[derive(Debug)]
pub enum Local {
    Transaction(Transaction),
    Set(Vec<Step>),
    /// SET of session variables to values that stand in the text: its outcome depends on the
    /// settings before and on nothing else, and is remembered.
    Follow(Arc<Planned>),
    /// The default schema from now on; the user may use it.
    Use(Arc<Schema>),
    Show(Show),
    Describe(Describe),
    Maintain(Maintain),
    /// EXPLAIN and its kin: the plan is that of the statement explained, whose text begins with
    /// EXPLAIN; names in the rows are made logical.
    Explain(Arc<Planned>),
    /// EXPLAIN ROUTE: nothing is run; the plan, places and texts are the rows.
    Route(Arc<Planned>),
    /// LOCK TABLES: ends the transaction, binds the connection.
    Lock(Arc<Planned>),
    /// UNLOCK TABLES: ends the transaction if tables were locked.
    Unlock,
    /// PREPARE … FROM
    Prepare {
        name: Box<str>,
        text: Prepared,
    },
    /// EXECUTE … USING user variables, by their names in lower case.
    Execute {
        name: Box<str>,
        using: Vec<Box<str>>,
    },
    ExecuteImmediate {
        text: Prepared,
        using: Vec<Box<str>>,
    },
    /// DEALLOCATE PREPARE
    Deallocate {
        name: Box<str>,
    },
    /// Over information_schema.
    Catalogue(Arc<Catalogue>),
    /// KILL of a session of this proxy, or of its statement only.
    Kill {
        query_only: bool,
        thread: Operand,
    },
}

impl Local {
    /// Like a plan's. What ends a transaction is never held.
    pub fn needs_pass(&self, transacts: bool) -> bool {
        match self {
            Local::Transaction(Transaction::Begin { snapshot, .. }) => *snapshot,
            Local::Transaction(_)
            | Local::Use(_)
            | Local::Unlock
            | Local::Route(_)
            | Local::Kill { .. }
            | Local::Maintain(_)
            | Local::Catalogue(_) => false,
            Local::Prepare { .. } | Local::Deallocate { .. } => false,
            // What they run may write.
            Local::Lock(_) | Local::Execute { .. } | Local::ExecuteImmediate { .. } => true,
            Local::Set(_) | Local::Follow(_) | Local::Show(_) | Local::Describe(_) | Local::Explain(_) => transacts,
        }
    }

    /// Whether a server of this flavour prepares it (COM_STMT_PREPARE).
    pub fn is_preparable(&self, flavour: Flavour) -> bool {
        let prepares = matches!(
            self,
            Local::Prepare { .. } | Local::Execute { .. } | Local::ExecuteImmediate { .. } | Local::Deallocate { .. }
        );
        if prepares || flavour == Flavour::MariaDb {
            return !prepares;
        }
        match self {
            Local::Transaction(Transaction::Commit(_) | Transaction::Rollback(_)) => true,
            Local::Transaction(_) | Local::Use(_) | Local::Lock(_) | Local::Unlock => false,
            Local::Show(Show::Diagnostics { .. } | Show::DiagnosticsCount(_)) => false,
            Local::Describe(describe) => !describe.is_check,
            Local::Maintain(maintain) => !maintain.is_check,
            Local::Set(_)
            | Local::Follow(_)
            | Local::Show(_)
            | Local::Explain(_)
            | Local::Route(_)
            | Local::Catalogue(_)
            | Local::Prepare { .. }
            | Local::Execute { .. }
            | Local::ExecuteImmediate { .. }
            | Local::Deallocate { .. }
            | Local::Kill { .. } => true,
        }
    }
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

/// A part of a SET statement; all of them in the order of the text, but checks first.
#[derive(Debug)]
pub enum Step {
    /// The value must be one of these words or numbers.
    Check {
        variable: Box<str>,
        value: Operand,
        allowed: &'static [&'static str],
        why: &'static str,
    },
    /// A server checks and sets; the plan's `assigns` are then read back and kept.
    Server(Arc<Planned>),
    /// The session's setting is what a server's connection begins with.
    Default(Setting),
    /// Likewise, where the value is 0.
    DefaultIfZero {
        setting: Setting,
        value: Operand,
    },
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
    /// The items of a literal with its signs.
    Literal { from: Item, to: Item },
    /// DEFAULT
    Default,
    /// Anything else: a SELECT of one column gives it.
    Ask(Arc<Planned>),
}

#[derive(Debug)]
pub enum Characteristic {
    /// The value of `transaction_isolation`: `READ-COMMITTED`.
    Isolation(Operand),
    /// The value of `transaction_read_only`.
    ReadOnly(Operand),
}

/// A text to prepare.
#[derive(Debug)]
pub enum Prepared {
    /// The items of its literal.
    Literal { from: Item, to: Item },
    /// The value of a user variable, by its name in lower case.
    Variable(Box<str>),
}

/// What the proxy answers from what it knows or gathers.
#[derive(Debug)]
pub enum Show {
    Databases(Filter),
    Tables { schema: Arc<Schema>, full: bool, filter: Filter },
    TableStatus { schema: Arc<Schema>, filter: Filter },
    Grants,
    Processlist { full: bool },
    Diagnostics { level: Level, limit: Option<Limit> },
    DiagnosticsCount(Level),
}

/// Which rows of a SHOW; texts are the client's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    All,
    /// LIKE: the pattern's literal.
    Like(Box<[u8]>),
    /// WHERE: the condition; it has no subquery.
    Where(Box<[u8]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Notes, warnings and errors.
    Warnings,
    Errors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub offset: u64,
    pub count: u64,
}

/// A statement about tables or about a schema as a whole (SHOW CREATE TABLE, DESCRIBE, CHECK
/// TABLE …) that one server answers; for a sharded table its first subtable stands for all.
#[derive(Debug)]
pub struct Describe {
    /// Its cuts hold the physical names already.
    pub text: Template,
    pub server: ServerNo,
    /// Cells of the rows that name one of its tables or databases are made logical.
    pub schema: Arc<Schema>,
    /// Physical and logical names of the tables in the text.
    pub tables: Vec<(String, String)>,
    /// CHECK TABLE, which MySQL does not prepare.
    pub is_check: bool,
    /// The server ends the transaction with it.
    pub commits: bool,
    /// The connection has to be in the home shard's database.
    pub within: bool,
}
