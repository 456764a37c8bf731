//! UPDATE and DELETE. With a provable place they run there; without one they go to every place,
//! unless LIMIT, ORDER BY or other tables make the parts depend on one another. What would move a
//! row to another place is refused. Writes to reference tables go to every shard.

use std::sync::Arc;

use super::select::single;
use super::survey::{Env, FoundKind, Origin, Spot, Survey};
use super::{Effect, Given, Kind, Outcome, Over, Patch, Plan, Planned, WriteScatter};
use crate::error::{Error, Result};
use crate::sql::Span;
use crate::sql::ast::{ColumnAssignment, ColumnRef, Delete, DeleteForm, Expr, TableRefKind, Update};
use crate::topology::Sharded;

pub(super) fn update(mut survey: Survey<'_>, update: &Update) -> Result<Outcome> {
    let outside = Env::default();
    let common = survey.with(update.with.as_ref(), &outside)?;
    let scope = survey.scope(&update.tables, update.filter.as_ref(), &common)?;
    survey.assignments(&update.assignments, &scope)?;
    survey.order(&update.order_by, &scope)?;
    survey.limit(update.limit.as_ref(), &scope)?;
    if let Some(lacks) = survey.lacking() {
        return Ok(lacks);
    }
    for assignment in &update.assignments {
        check_update(&survey, &assignment.column, &scope)?;
    }
    let is_single = matches!(update.tables.as_slice(), [table] if matches!(table.kind, TableRefKind::Table(_)));
    let ordered = update.limit.is_some() || !update.order_by.is_empty();
    if !is_single {
        for column in update.assignments.iter().map(|assignment| &assignment.column) {
            check_joined(&survey, column, &scope)?;
        }
        survey.all_pinned()?;
        return single(survey, Effect::Write, Kind::Write);
    }
    survey.own(update.filter.as_ref());
    one_table(survey, Kind::Write, ordered, false, true)
}

pub(super) fn delete(mut survey: Survey<'_>, delete: &Delete) -> Result<Outcome> {
    let outside = Env::default();
    let common = survey.with(delete.with.as_ref(), &outside)?;
    let kind = if delete.returning.is_some() { Kind::Rows } else { Kind::Write };
    match &delete.form {
        DeleteForm::Single { table, alias, partition } => {
            let before = partition.unwrap_or(table.span).end;
            let spot = match alias {
                Some(_) => Spot::Aliased { alias: *alias, before },
                None => Spot::Bare,
            };
            let target = survey.table(table, spot)?;
            let scope = survey.bare_scope(target, delete.filter.as_ref(), &common)?;
            survey.order(&delete.order_by, &scope)?;
            survey.limit(delete.limit.as_ref(), &scope)?;
            if let Some(returning) = &delete.returning {
                survey.items(&returning.items, &scope)?;
            }
            if let Some(lacks) = survey.lacking() {
                return Ok(lacks);
            }
            let ordered = delete.limit.is_some() || !delete.order_by.is_empty();
            survey.own(delete.filter.as_ref());
            one_table(survey, kind, ordered, delete.returning.is_some(), false)
        }
        DeleteForm::Multi { targets, from } => {
            survey.marks.targets = true;
            let scope = survey.scope(from, delete.filter.as_ref(), &common)?;
            for target in targets {
                let named = ColumnRef {
                    span: target.span,
                    db: target.table.db,
                    table: Some(target.table.name),
                    column: target.table.name,
                };
                survey.column_ref(&named, &scope);
                check_joined(&survey, &named, &scope)?;
            }
            if let Some(lacks) = survey.lacking() {
                return Ok(lacks);
            }
            survey.all_pinned()?;
            single(survey, Effect::Write, kind)
        }
    }
}

/// A statement that writes `refs[0]` and may read others; `changes`: columns may take the instant.
fn one_table(survey: Survey<'_>, kind: Kind, ordered: bool, returning: bool, changes: bool) -> Result<Outcome> {
    match survey.refs.first().map(|found| found.kind.clone()) {
        None | Some(FoundKind::Unsharded) => {
            survey.all_pinned()?;
            single(survey, Effect::Write, kind)
        }
        Some(FoundKind::Reference) => {
            if ordered {
                return Err(Error::refused(
                    "Bifold: a reference table can't be changed with LIMIT or ORDER BY: which rows that means may \
                     differ from shard to shard. Say which with WHERE.",
                ));
            }
            reference(survey, kind, returning, None)
        }
        Some(FoundKind::Sharded(_)) => {
            let others_read = survey.refs.iter().skip(1).any(|found| !matches!(found.kind, FoundKind::Reference));
            let alone = ordered || returning || others_read || survey.marks.named_lock || survey.marks.variables;
            if alone {
                survey.all_pinned().map_err(|_| together(&survey))?;
                return single(survey, Effect::Write, kind);
            }
            let clock = changes || survey.marks.clock;
            scatter(survey, kind, Over::Places, clock, None)
        }
    }
}

fn together(survey: &Survey<'_>) -> Error {
    let found = &survey.refs[0];
    let key = match &found.kind {
        FoundKind::Sharded(rule) => rule.sharded().map_or("its key", |sharded| &sharded.key),
        FoundKind::Reference | FoundKind::Unsharded => "its key",
    };
    Error::refused(format!(
        "Bifold: a change to table {} with LIMIT, ORDER BY, RETURNING, variables or other tables must be in one place: \
         add a condition such as {key} = … for each sharded table.",
        found.table
    ))
}

fn scatter(mut survey: Survey<'_>, kind: Kind, over: Over, clock: bool, given: Option<Given>) -> Result<Outcome> {
    let template = survey.template()?;
    let assigns = survey.marks.assigns.into_iter().collect();
    Ok(Outcome::Planned(Planned {
        plan: Plan::WriteScatter(WriteScatter { template, over, clock, given }),
        assigns,
        kind,
    }))
}

/// A write to the reference table `refs[0]`: the same on every shard.
pub(super) fn reference(survey: Survey<'_>, kind: Kind, returning: bool, given: Option<Given>) -> Result<Outcome> {
    let found = &survey.refs[0];
    if found.schema.shard_count() == 1 {
        survey.all_pinned()?;
        return single(survey, Effect::Write, kind);
    }
    let table = &found.table;
    let what = if survey.marks.chance {
        "a function whose value differs from call to call"
    } else if survey.marks.variables || !survey.marks.assigns.is_empty() {
        "a variable"
    } else if survey.marks.named_lock || survey.marks.routine {
        "a lock or a stored function"
    } else if returning {
        "RETURNING"
    } else {
        if survey.refs.len() > 1 {
            survey.only_references(1, &format!("a write to reference table {table}"))?;
        }
        return scatter(survey, kind, Over::Shards, true, given);
    };
    Err(Error::refused(format!(
        "Bifold: a write to reference table {table} with {what} could give each shard other rows: give values instead."
    )))
}

/// The column that an assignment changes must not decide the place.
fn check_update(survey: &Survey<'_>, column: &ColumnRef, scope: &Env<'_>) -> Result<()> {
    let owner = survey.resolve(column, scope).and_then(|column| survey.found(column.source));
    for found in &survey.refs {
        let FoundKind::Sharded(rule) = &found.kind else { continue };
        let Some(sharded) = rule.sharded() else { continue };
        // What can't be resolved may be any table's.
        if owner.is_none_or(|owner| std::ptr::eq(owner, found)) {
            check_assigned(survey, column, sharded, &found.table)?;
            check_unique(survey, column, sharded, found)?;
        }
    }
    Ok(())
}

/// Refuses to change the sharding key, or an id that carries it.
pub(super) fn check_assigned(survey: &Survey<'_>, column: &ColumnRef, sharded: &Sharded, table: &str) -> Result<()> {
    let name = survey.name(column.column).to_lowercase();
    if name == sharded.key.to_lowercase() {
        return Err(Error::refused(format!(
            "Bifold: {name} is the sharding key of table {table}: to change it, insert the row anew and delete the old one."
        )));
    }
    let carries = sharded.id.as_ref().filter(|id| id.layout.carries.is_some());
    if carries.is_some_and(|id| name == id.column.to_lowercase()) {
        return Err(Error::refused(format!(
            "Bifold: {name} of table {table} carries the row's place and can't be changed."
        )));
    }
    Ok(())
}

/// After a doubling a new id could meet a row that its shard no longer owns.
fn check_unique(
    survey: &Survey<'_>,
    column: &ColumnRef,
    sharded: &Sharded,
    found: &super::survey::Found,
) -> Result<()> {
    let name = survey.name(column.column).to_lowercase();
    let is_id = sharded.id.as_ref().is_some_and(|id| name == id.column.to_lowercase());
    if found.schema.dirty && is_id {
        return Err(Error::refused(format!(
            "Bifold: {name} of table {} can't be changed until the doubled databases are cleaned: try again when `bifold expand status` says that it is done.",
            found.table
        )));
    }
    Ok(())
}

/// Joined changes happen on one server: not to a table that all shards have.
fn check_joined(survey: &Survey<'_>, column: &ColumnRef, scope: &Env<'_>) -> Result<()> {
    let found = match column.table {
        Some(_) => survey.qualified_source(column, scope),
        None => survey.resolve(column, scope).map(|column| column.source),
    };
    let found = found.and_then(|source| survey.found(source));
    let is_reference = |kind: &FoundKind| matches!(kind, FoundKind::Reference);
    let refused = match found {
        Some(found) => is_reference(&found.kind) && found.schema.shard_count() > 1,
        None => survey.refs.iter().any(|found| is_reference(&found.kind) && found.schema.shard_count() > 1),
    };
    if refused {
        return Err(Error::refused(
            "Bifold: a reference table can't be changed in a statement that joins it with others: change it by itself, \
             and name columns with their tables.",
        ));
    }
    Ok(())
}

impl Survey<'_> {
    /// The table behind a source.
    pub fn found(&self, source: crate::plan::predicate::SourceNo) -> Option<&super::survey::Found> {
        match self.origin(source) {
            Origin::Table { found, .. } => self.refs.get(usize::from(found.0)),
            Origin::Derived { .. } => None,
        }
    }

    /// While shards may hold rows that they no longer own, a change of the first table that goes to
    /// many places gets a test for those that they do.
    fn own(&mut self, filter: Option<&Expr>) {
        if !self.refs.first().is_some_and(|found| found.schema.dirty) {
            return;
        }
        let end = self.fingerprint.span().end;
        match filter {
            Some(filter) => {
                let (start, end) = (filter.span.start, filter.span.end);
                self.cut(Span::new(start, start), Patch::OwnBefore);
                self.cut(Span::new(end, end), Patch::OwnBehind { joined: true });
            }
            None => self.cut(Span::new(end, end), Patch::OwnBehind { joined: false }),
        }
    }

    pub fn assignments(&mut self, assignments: &[ColumnAssignment], scope: &Env<'_>) -> Result<()> {
        for assignment in assignments {
            self.column_ref(&assignment.column, scope);
            self.expr(&assignment.value, scope)?;
        }
        Ok(())
    }

    /// From this reference on, all are reference tables of the first one's schema, which are alike
    /// on every shard.
    pub fn only_references(&self, from: usize, what: &str) -> Result<()> {
        let alike = |found: &super::survey::Found| {
            matches!(found.kind, FoundKind::Reference) && Arc::ptr_eq(&found.schema, &self.refs[0].schema)
        };
        match self.refs[from..].iter().find(|found| !alike(found)) {
            None => Ok(()),
            Some(found) => Err(Error::refused(format!(
                "Bifold: {what} may read reference tables only, and {} is none: read its rows first and give values.",
                found.table
            ))),
        }
    }
}
