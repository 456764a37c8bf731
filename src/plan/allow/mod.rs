//! Confinement: all users share the servers' backend account, so what a user may not touch is
//! refused here, by lists that name what is allowed: kinds of statements, names of tables,
//! functions. A refusal has the number that a server gives to an account with all rights on its
//! own schemas and none besides; what is merely not supported yet is error 1235 with a sentence.

mod definition;
pub(super) mod denied;
pub mod functions;
pub(super) mod set;
mod show;

use std::sync::Arc;

use super::Scene;
use crate::error::{Error, Result, code};
use crate::sql::ast::{ExplainTarget, MaintainVerb, Name, Other, OtherKind, Statement, StatementKind};
use crate::sql::{Flavour, Keyword, Kind, Source, Span, literal};
use crate::topology::Schema;

/// Who asks for a statement, and in whose words a refusal is said.
#[derive(Clone, Copy)]
pub(super) struct Asker<'a> {
    pub scene: &'a Scene<'a>,
    pub flavour: Flavour,
}

impl<'a> Asker<'a> {
    /// A schema of the topology that the user may use.
    pub fn usable(&self, schema: &str) -> Option<&'a Arc<Schema>> {
        self.scene.topology.schema(schema).filter(|_| self.scene.may_use(schema))
    }
}

/// Whether a statement of this kind may be planned, or carried out by the proxy; else its refusal.
/// The tables and functions that it names are looked at where they are resolved.
pub(super) fn check(source: &Source<'_>, statement: &Statement, asker: &Asker<'_>) -> Result<()> {
    match &statement.kind {
        StatementKind::Query(_)
        | StatementKind::Insert(_)
        | StatementKind::Update(_)
        | StatementKind::Delete(_)
        | StatementKind::DropTable(_)
        | StatementKind::Truncate(_)
        | StatementKind::RenameTable(_)
        | StatementKind::CreateIndex(_)
        | StatementKind::DropIndex(_)
        | StatementKind::Describe { .. }
        | StatementKind::Use(_)
        | StatementKind::Transaction(_)
        | StatementKind::LockTables(_)
        | StatementKind::UnlockTables
        | StatementKind::Call { .. }
        | StatementKind::Kill(_)
        // What they run is planned, and so looked at, by itself.
        | StatementKind::Prepare { .. }
        | StatementKind::Execute { .. }
        | StatementKind::ExecuteImmediate { .. }
        | StatementKind::Deallocate(_)
        | StatementKind::Do(_) => Ok(()),
        StatementKind::LoadData(load) if load.local => Ok(()),
        StatementKind::LoadData(_) => Err(denied::account(asker)),
        StatementKind::CreateTable(create) => definition::create(source, create),
        StatementKind::AlterTable(alter) => definition::alter(source, alter),
        StatementKind::Database(ddl) => Err(definition::database(source, ddl, asker)),
        StatementKind::Object(ddl) => definition::object(source, ddl, asker),
        StatementKind::Set(assignments) => set::check(source, assignments, asker),
        StatementKind::SetStatement { assignments, body } => {
            set::check(source, assignments, asker)?;
            check(source, body, asker)
        }
        StatementKind::Show(show) => show::check(show, asker),
        StatementKind::Explain(explain) => match &explain.target {
            ExplainTarget::Statement(explained) => check(source, explained, asker),
            ExplainTarget::Connection(_) => Err(not_yet("EXPLAIN FOR CONNECTION", "EXPLAIN the statement itself")),
        },
        StatementKind::Xa(_) => Err(not_yet("a client's own XA transaction", "use BEGIN and COMMIT")),
        StatementKind::Flush(_) => Err(denied::privilege("RELOAD")),
        StatementKind::Handler { .. } => Err(not_yet("HANDLER", "use SELECT … WHERE … LIMIT")),
        StatementKind::Maintain(maintain) => maintenance(maintain.verb),
        StatementKind::Other(other) => Err(other_kind(source, other, asker)),
    }
}

fn maintenance(verb: MaintainVerb) -> Result<()> {
    match verb {
        MaintainVerb::Analyze
        | MaintainVerb::Check
        | MaintainVerb::Checksum
        | MaintainVerb::Optimize
        | MaintainVerb::Repair => Ok(()),
    }
}

fn other_kind(source: &Source<'_>, other: &Other, asker: &Asker<'_>) -> Error {
    match other.kind {
        OtherKind::Grant | OtherKind::Revoke => grant(source, other.rest, asker),
        OtherKind::RenameUser => denied::privilege("CREATE USER"),
        OtherKind::Reset => denied::privilege("RELOAD"),
        OtherKind::Replication => {
            denied::privilege_of(asker, "SUPER or REPLICATION_SLAVE_ADMIN", "SUPER, REPLICATION SLAVE ADMIN")
        }
        OtherKind::Server => denied::privilege("SUPER"),
        OtherKind::Help => not_yet("HELP", "ask the mysql client for `\\?`, or the manual"),
        OtherKind::Diagnostics => not_yet("SIGNAL, RESIGNAL and GET DIAGNOSTICS outside routines", "use SHOW WARNINGS"),
        OtherKind::Compound => not_yet("compound statements outside routines", "send the statements one by one"),
    }
}

/// GRANT … ON `*.*`, `db.*`, `*`, `db.t`, `t`.
fn grant(source: &Source<'_>, rest: Span, asker: &Asker<'_>) -> Error {
    let on = rest.tokens().find(|&token| source.keyword(token) == Keyword::On);
    let (Some(on), current) = (on, asker.scene.schema) else { return denied::account(asker) };
    let is_whole = |token| source.kind(token) == Kind::Star;
    let schema = match (is_whole(on + 1), source.kind(on + 2) == Kind::Dot) {
        (true, true) => return denied::account(asker),
        (false, true) => Some(literal::name(source, Name(on + 1)).into_owned()),
        (_, false) => current.map(str::to_owned),
    };
    schema.map_or_else(denied::no_schema, |schema| denied::schema(asker, &schema))
}

/// Error 1235: what is not supported, and what to do instead.
fn not_yet(what: &str, instead: &str) -> Error {
    Error::client(code::NOT_SUPPORTED, format!("Bifold: {what} is not supported; {instead}."))
}
