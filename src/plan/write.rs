//! UPDATE and DELETE. With a provable place they run there; without one they go to every place,
//! unless other tables make the parts depend on one another; the rows that LIMIT means are chosen
//! first. Rows whose key is changed go to its place. Writes to reference tables go to every shard.

use std::sync::Arc;

use super::choice::{self, Clauses};
use super::select::single;
use super::survey::{Env, FoundKind, Origin, Spot, Survey, quoted};
use super::{Effect, FromHome, Given, Kind, Move, Outcome, Over, Patch, Plan, Planned, WriteScatter, image};
use crate::catalog::TableDef;
use crate::error::{Error, Result};
use crate::sql::ast::{ColumnAssignment, ColumnRef, Delete, DeleteForm, TableRefKind, Update};
use crate::sql::{Charset, Keyword, Span};
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
    let is_single = matches!(update.tables.as_slice(), [table] if matches!(table.kind, TableRefKind::Table(_)));
    if !is_single {
        for column in update.assignments.iter().map(|assignment| &assignment.column) {
            check_update(&survey, column, &scope)?;
            check_joined(&survey, column, &scope)?;
        }
        survey.all_pinned()?;
        return single(survey, Effect::Write, Kind::Write);
    }
    let moves = moves(&survey, update)?;
    let set = update.assignments.first().zip(update.assignments.last());
    let clauses = Clauses {
        verb: Keyword::Update,
        table: update.tables[0].span,
        set: set.map(|(first, last)| Span::new(first.span.start - 1, last.span.end)),
        filter: update.filter.as_ref(),
        order_by: &update.order_by,
        limit: update.limit.as_ref(),
    };
    survey.own(&clauses);
    one_table(survey, Changes { kind: Kind::Write, clauses, returning: false, moves }, &scope)
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
            let clauses = Clauses {
                verb: Keyword::Delete,
                table: table.span,
                set: None,
                filter: delete.filter.as_ref(),
                order_by: &delete.order_by,
                limit: delete.limit.as_ref(),
            };
            survey.own(&clauses);
            one_table(survey, Changes { kind, clauses, returning: delete.returning.is_some(), moves: None }, &scope)
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

/// What a statement does to its one table.
struct Changes<'q> {
    kind: Kind,
    clauses: Clauses<'q>,
    returning: bool,
    moves: Option<Move>,
}

/// A statement that writes `refs[0]` and may read others.
fn one_table(survey: Survey<'_>, changes: Changes<'_>, scope: &Env<'_>) -> Result<Outcome> {
    let Changes { kind, clauses, returning, moves } = changes;
    match survey.refs.first().map(|found| found.kind.clone()) {
        None | Some(FoundKind::Unsharded) => {
            survey.all_pinned()?;
            single(survey, Effect::Write, kind)
        }
        Some(FoundKind::Reference) => {
            let ordered = clauses.limit.is_some() || !clauses.order_by.is_empty();
            reference(survey, ToReference { kind, returning, given: Ok(None), ordered, counted: None })
        }
        Some(FoundKind::Sharded(_)) => {
            let others_read = survey.refs.iter().skip(1).any(|found| !matches!(found.kind, FoundKind::Reference));
            let alone = returning || others_read || survey.marks.named_lock || survey.marks.variables;
            if alone {
                survey.all_pinned().map_err(|_| together(&survey))?;
                if moves.is_some() {
                    return Err(together(&survey));
                }
                return single(survey, Effect::Write, kind);
            }
            let choice = clauses.limit.map(|limit| clauses.draft(&survey, limit, scope));
            let choice = match choice {
                Some(Err(error)) if survey.all_pinned().is_err() || moves.is_some() => return Err(error),
                // Where the values turn out to name one place, all is well.
                Some(Err(_)) => return single(survey, Effect::Write, kind),
                Some(Ok(draft)) => Some(draft),
                None => None,
            };
            let clock = clauses.set.is_some() || survey.marks.clock;
            scatter(survey, kind, Scattered { clock, choice, moves, ..Scattered::over(Over::Places) })
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
        "Bifold: a change to table {} with RETURNING, variables or other tables must be in one place: \
         add a condition such as {key} = … for each sharded table.",
        found.table
    ))
}

/// How a write goes to several places.
struct Scattered {
    over: Over,
    clock: bool,
    given: Option<Given>,
    choice: Option<choice::Draft>,
    moves: Option<Move>,
    from_home: Option<FromHome>,
}

impl Scattered {
    fn over(over: Over) -> Self {
        Scattered { over, clock: true, given: None, choice: None, moves: None, from_home: None }
    }
}

fn scatter(mut survey: Survey<'_>, kind: Kind, how: Scattered) -> Result<Outcome> {
    let Scattered { over, clock, given, choice, moves, from_home } = how;
    let template = survey.template()?;
    let choice = choice.map(|draft| Box::new(draft.finish(&template)));
    let assigns = survey.marks.assigns.into_iter().collect();
    let (moves, from_home) = (moves.map(Box::new), from_home.map(Box::new));
    let write = WriteScatter { template, over, clock, given, choice, moves, from_home };
    Ok(Outcome::Planned(Planned { plan: Plan::WriteScatter(write), assigns, kind }))
}

/// What is written to a reference table.
pub(super) struct ToReference {
    pub kind: Kind,
    pub returning: bool,
    /// The column that rows must fill themselves; or why they don't.
    pub given: Result<Option<Given>>,
    /// ORDER BY or LIMIT decides which rows are meant.
    pub ordered: bool,
    /// The column that is counted up for each new row, where nothing but new rows comes of it.
    pub counted: Option<Box<str>>,
}

/// A write to the reference table `refs[0]`: the same on every shard; where it would not be that,
/// on the home shard, from which the rows are copied.
pub(super) fn reference(survey: Survey<'_>, what: ToReference) -> Result<Outcome> {
    let ToReference { kind, returning, given, ordered, counted } = what;
    let alike = is_alike_everywhere(&survey, returning);
    if survey.refs[0].schema.shard_count() == 1 {
        alike?;
        return single(survey, Effect::Write, kind);
    }
    let table = &survey.refs[0].table;
    let alike = match ordered {
        true => alike.and(Err(Error::refused(format!(
            "Bifold: which rows LIMIT and ORDER BY mean may differ from shard to shard, and the rows of reference table \
             {table} can't be copied from one to the others: say which with WHERE."
        )))),
        false => alike,
    };
    let (always, given) = match (alike, given) {
        (Err(error), _) | (Ok(()), Err(error)) => (Some(error), None),
        (Ok(()), Ok(given)) => (None, given),
    };
    let marks = &survey.marks;
    let may_copy = !returning
        && !marks.named_lock
        && !marks.routine
        && marks.assigns.is_empty()
        && survey.only_references(1, "a reference table's write").is_ok();
    let mut copy = None;
    if may_copy && (always.is_some() || given.is_some()) {
        let Some(def) = survey.refs[0].def.as_deref() else { return Ok(survey.lacking_all()) };
        copy = copied(&survey, def, counted, always.is_some());
    }
    match always {
        Some(error) if copy.is_none() => Err(error),
        Some(_) | None => scatter(survey, kind, Scattered { given, from_home: copy, ..Scattered::over(Over::Shards) }),
    }
}

fn copied(survey: &Survey<'_>, def: &TableDef, counted: Option<Box<str>>, always: bool) -> Option<FromHome> {
    let columns = image::columns(def).ok()?;
    let is_written = |column: &image::Column| column.name.is_ascii() || survey.source.dialect.charset == Charset::Utf8;
    let place = |own: &image::Column| columns.iter().position(|column| column.name == own.name);
    let key = image::row_key(def)?.iter().map(place).collect::<Option<Vec<usize>>>()?;
    let counted = counted.filter(|_| always).map(|name| quoted(&name).into());
    columns.iter().all(is_written).then_some(FromHome { columns, key, counted, always })
}

/// A write to the reference table `refs[0]` gives every shard the same rows.
pub(super) fn is_alike_everywhere(survey: &Survey<'_>, returning: bool) -> Result<()> {
    let found = &survey.refs[0];
    if found.schema.shard_count() == 1 {
        return survey.all_pinned();
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
    } else if survey.refs.len() > 1 {
        return survey.only_references(1, &format!("a write to reference table {table}"));
    } else {
        return Ok(());
    };
    Err(Error::refused(format!(
        "Bifold: a write to reference table {table} with {what} could give each shard other rows: give values instead."
    )))
}

/// How an UPDATE of one table that changes its sharding key moves rows.
fn moves(survey: &Survey<'_>, update: &Update) -> Result<Option<Move>> {
    let Some(FoundKind::Sharded(rule)) = survey.refs.first().map(|found| found.kind.clone()) else { return Ok(None) };
    let Some(sharded) = rule.sharded() else { return Ok(None) };
    let table = &survey.refs[0].table;
    let is_key = |assignment: &&ColumnAssignment| {
        survey.name(assignment.column.column).to_lowercase() == sharded.key.to_lowercase()
    };
    // The last one counts.
    let Some(assignment) = update.assignments.iter().rfind(is_key) else {
        check_others(survey, update.assignments.iter(), sharded)?;
        return Ok(None);
    };
    let refused = |why: String| Err(Error::refused(format!("Bifold: {why}")));
    let key = &sharded.key;
    if survey.refs[0].schema.dirty {
        // A row that is moved could not be told from one that its shard no longer owns.
        return refused(format!(
            "{key}, the sharding key of table {table}, can't be changed until the doubled databases are cleaned: try \
             again when `bifold expand status` says that it is done."
        ));
    }
    check_others(survey, update.assignments.iter().filter(|other| !is_key(other)), sharded)?;
    if update.ignore {
        return refused(format!(
            "UPDATE IGNORE of {key}, the sharding key of table {table}, is not supported: a row that can't go to its \
             new place would have to stay unchanged. Leave IGNORE out."
        ));
    }
    let def = survey.refs[0].def.as_deref().ok_or_else(|| Error::proxy("Bifold: a table without its definition."))?;
    if def.bound.iter().any(|column| column.to_lowercase() == key.to_lowercase()) {
        return refused(format!(
            "{key} is the sharding key of table {table} and held by a foreign key, so its rows can't be moved: insert the \
             row anew and delete the old one."
        ));
    }
    let columns = match image::columns(def) {
        Ok(columns) => columns,
        Err(column) => {
            return refused(format!(
                "{key} is the sharding key of table {table}, whose rows can't be moved since the type of {column} is \
                 not supported there: insert the row anew and delete the old one."
            ));
        }
    };
    let is_ascii = columns.iter().all(|column| column.name.is_ascii());
    if !is_ascii && survey.source.dialect.charset != Charset::Utf8 {
        return refused(format!(
            "changing {key}, the sharding key of table {table}, needs a session in utf8mb4, since not all of its \
             columns' names are ASCII: SET NAMES utf8mb4 before."
        ));
    }
    let own = quoted(key).to_lowercase();
    let key_column = columns.iter().position(|column| column.name.to_lowercase() == own);
    let key_column = key_column.ok_or_else(|| Error::operator(format!("Bifold: table {table} stores no {key}.")))?;
    let carries = sharded.id.as_ref().filter(|id| id.layout.carries.is_some()).map(|id| id.column.as_str().into());
    Ok(Some(Move { key: survey.constant(&assignment.value), columns, key_column, carries }))
}

/// Columns other than the sharding key.
fn check_others<'q>(
    survey: &Survey<'_>,
    mut others: impl Iterator<Item = &'q ColumnAssignment>,
    sharded: &Sharded,
) -> Result<()> {
    let found = &survey.refs[0];
    others.try_for_each(|other| {
        check_assigned(survey, &other.column, sharded, &found.table)?;
        check_unique(survey, &other.column, sharded, found)
    })
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
    fn own(&mut self, clauses: &Clauses<'_>) {
        if !self.refs.first().is_some_and(|found| found.schema.dirty) {
            return;
        }
        match clauses.filter {
            Some(filter) => {
                let (start, end) = (filter.span.start, filter.span.end);
                self.cut(Span::new(start, start), Patch::OwnBefore);
                self.cut(Span::new(end, end), Patch::OwnBehind { joined: true });
            }
            None => {
                let end = clauses.tail().unwrap_or(self.fingerprint.span().end);
                self.cut(Span::new(end, end), Patch::OwnBehind { joined: false });
            }
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
