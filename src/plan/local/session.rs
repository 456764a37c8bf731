//! CALL, DO and LOCK TABLES: statements for one server that may leave something behind on its
//! connection; KILL, which concerns another session.

use std::sync::Arc;

use super::Local;
use super::desk::Desk;
use super::operand::operand;
use crate::error::{Error, Result};
use crate::plan::allow::denied;
use crate::plan::survey::{Env, FoundKind, Spot};
use crate::plan::{Effect, Kind, Outcome, Patch, select};
use crate::sql;
use crate::sql::ast::{Expr, ExprKind, Kill, LockTable, Name, TableName};

/// The routine lives on its schema's home shard, and may do anything there.
pub(super) fn call(desk: &Desk<'_>, routine: &TableName, args: &[Expr]) -> Result<Outcome> {
    let schema = routine.db.map(|db| desk.name(db));
    if let Some(schema) = schema.filter(|schema| desk.asker.usable(schema).is_none()) {
        return Err(denied::routine(&desk.asker, &schema, &desk.name(routine.name)));
    }
    let mut survey = desk.survey();
    let found = survey.reference(routine)?;
    survey.refs[usize::from(found.0)].kind = FoundKind::Unsharded;
    survey.cut(routine.span, Patch::Table { table: found, alias: None });
    survey.marks.routine = true;
    for arg in args {
        // It may be an OUT parameter.
        if matches!(arg.kind, ExprKind::UserVar) {
            survey.assigned(Name(arg.span.start));
        }
        survey.expr(arg, &Env::default())?;
    }
    select::single(survey, Effect::Write, Kind::Write)
}

pub(super) fn evaluate(desk: &Desk<'_>, exprs: &[Expr]) -> Result<Outcome> {
    let mut survey = desk.survey();
    survey.exprs(exprs, &Env::default())?;
    if let Some(lacks) = survey.lacking() {
        return Ok(lacks);
    }
    survey.all_pinned()?;
    select::single(survey, Effect::Read, Kind::Other)
}

pub(super) fn kill(desk: &Desk<'_>, kill: &Kill) -> Result<Local> {
    let Some(thread) = &kill.thread else {
        return Err(Error::refused(
            "Bifold: KILL USER and KILL QUERY ID are not supported; KILL the connections by their ids.",
        ));
    };
    if desk.fingerprint.span().tokens().any(|token| desk.source.kind(token) == sql::Kind::Param) {
        return Err(Error::refused("Bifold: a parameter in KILL is not supported; write the id in the text."));
    }
    Ok(Local::Kill { query_only: kill.query_only, thread: operand(desk, thread)? })
}

pub(super) fn lock(desk: &Desk<'_>, tables: &[LockTable]) -> Result<Outcome> {
    let mut survey = desk.survey();
    for lock in tables {
        if let Some(db) = lock.table.db.map(|db| desk.name(db)).filter(|db| desk.asker.usable(db).is_none()) {
            return Err(denied::schema(&desk.asker, &db));
        }
        survey.table(&lock.table, Spot::Aliased { alias: lock.alias, before: lock.table.span.end })?;
    }
    if let Some(sharded) = survey.refs.iter().find(|found| matches!(found.kind, FoundKind::Sharded(_))) {
        return Err(Error::refused(format!(
            "Bifold: LOCK TABLES of a sharded table ({}) is not supported; use SELECT … FOR UPDATE in a transaction.",
            sharded.table
        )));
    }
    // A reference table stands on every shard; locks on one of them would keep no writer out.
    let locked = tables.iter().zip(&survey.refs).find(|(lock, found)| {
        lock.write && matches!(found.kind, FoundKind::Reference) && found.schema.shard_count() > 1
    });
    if let Some((_, found)) = locked {
        return Err(Error::refused(format!(
            "Bifold: LOCK TABLES of a reference table ({}) for WRITE is not supported; write it in a transaction.",
            found.table
        )));
    }
    match select::single(survey, Effect::Lock, Kind::Other)? {
        Outcome::Planned(planned) => Ok(desk.planned(Local::Lock(Arc::new(planned)), Kind::Other)),
        lacks @ Outcome::Lacks(_) => Ok(lacks),
    }
}
