//! After a doubling, rows that a subtable no longer owns could meet a statement through a unique key
//! that lacks the sharding key: a false duplicate, or an upsert of a row that is not there. Before such
//! a statement they are deleted from its subtable, once; they are nobody's since the doubling.

use std::collections::HashSet;

use parking_lot::Mutex;

use super::statement::Running;
use crate::catalog::TableName;
use crate::definition::identifier;
use crate::error::Result;
use crate::plan::load::Load;
use crate::plan::{Effect, InsertId, Plan, RefKind, TableRef, WriteScatter};
use crate::route::{Name, Part};
use crate::shard::Conn;
use crate::sql::Keyword;
use crate::topology::{ServerNo, Sharded};

/// Subtables that are known to hold no such row.
#[derive(Debug, Default)]
pub struct Swept(Mutex<HashSet<(String, String)>>);

/// Rows deleted by one statement.
const BATCH: u64 = 1000;

/// Before a part's text is sent over this connection.
pub(super) async fn before(running: &Running<'_>, conn: &mut Conn, part: &Part) -> Result<()> {
    at(running, conn, part.server, &part.names).await
}

/// The same for a text of these names.
pub(super) async fn at(running: &Running<'_>, conn: &mut Conn, server: ServerNo, names: &[Name]) -> Result<()> {
    if !running.engine.topology.dirty() {
        return Ok(());
    }
    let Some(target) = target(running) else { return Ok(()) };
    let Some(name) = names.first() else { return Ok(()) };
    let place = (name.database.clone(), name.table.clone());
    let Some(shard) = target.schema.shard_of(server, name.database.as_bytes()) else { return Ok(()) };
    let RefKind::Sharded(located) = &target.kind else { return Ok(()) };
    let Some(sharded) = located.rule.sharded() else { return Ok(()) };
    // By server too: databases of different servers may have one name.
    let key = (format!("{}/{}", server.0, place.0), place.1);
    if running.engine.swept.0.lock().contains(&key) {
        return Ok(());
    }
    let of = located.key_type.sql_shard(&identifier(&sharded.key), target.schema.shard_count(), sharded.hash);
    let delete = format!(
        "DELETE FROM {}.{} WHERE {of} <> {} LIMIT {BATCH}",
        identifier(&name.database),
        identifier(&name.table),
        shard.no.0
    );
    let stands = conn.in_transaction();
    loop {
        if !stands {
            // Rows that stay are not kept locked.
            conn.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED").await?;
        }
        if conn.run(&delete).await?.affected < BATCH {
            break;
        }
    }
    // A transaction may be rolled back, and they are there again.
    if !stands && !conn.in_transaction() {
        running.engine.swept.0.lock().insert(key);
    }
    Ok(())
}

/// The table whose unique keys a statement may meet rows through.
fn target<'r>(running: &Running<'r>) -> Option<&'r TableRef> {
    let (table, id_is_made) = match &running.planned.plan {
        Plan::Insert(insert) => (insert.template.refs.first()?, makes_id(insert.id.as_ref())),
        Plan::Single(single) if single.effect == Effect::Write => {
            let source = &running.statement.source;
            let verb = source.keyword(running.statement.fingerprint.span().start);
            // An UPDATE of the id itself is refused in the meantime.
            (single.template.refs.first()?, matches!(verb, Keyword::Update | Keyword::Delete))
        }
        Plan::WriteScatter(WriteScatter { template, .. }) => (template.refs.first()?, true),
        Plan::Load(load) => match &**load {
            Load::Whole(_) => return None,
            Load::ByLine(lines) => (lines.template.refs.first()?, makes_id(lines.id.as_ref())),
        },
        Plan::Single(_)
        | Plan::Scatter(_)
        | Plan::Gather(_)
        | Plan::InsertSelect(_)
        | Plan::Local(_)
        | Plan::Ddl(_)
        | Plan::Refusal(_) => {
            return None;
        }
    };
    let RefKind::Sharded(located) = &table.kind else { return None };
    let sharded = located.rule.sharded()?;
    let name = TableName::new(&table.schema.name, &table.table);
    let Some(def) = running.engine.catalog.get(&name) else { return Some(table) };
    let is_loose = |columns: &[String]| {
        let is_id = |column: &str| sharded.id.as_ref().is_some_and(|id| id.column.eq_ignore_ascii_case(column));
        let is_made = id_is_made && matches!(columns, [column] if is_id(column));
        !(is_made || has_key(columns, sharded))
    };
    def.unique.iter().any(|(_, columns)| is_loose(columns)).then_some(table)
}

/// Equal values are of one place then, where a row that another one owns can't be.
fn has_key(columns: &[String], sharded: &Sharded) -> bool {
    columns.iter().any(|column| column.eq_ignore_ascii_case(&sharded.key))
}

/// The statement does not name the id column.
fn makes_id(id: Option<&InsertId>) -> bool {
    id.is_some_and(|id| id.position.is_none())
}
