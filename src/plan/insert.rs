//! INSERT and REPLACE. Rows of a sharded table are split by place when values are known: the plan
//! says where in a row the key and the id stand. A catalog's column list is put in where the text
//! has none, so that a stale catalog is an error of the server and not a misplaced row.

use std::sync::Arc;

use super::select::single;
use super::survey::{Env, Export, FoundKind, Spot, Survey, key_type_of, quoted};
use super::write::ToReference;
use super::{
    Effect, Given, Insert, InsertId, InsertSelect, Item, Kind, Outcome, Patch, Plan, Planned, RefNo, RowCut, RowCuts,
    Rows, write,
};
use crate::catalog::TableDef;
use crate::error::{Error, Result, code};
use crate::plan::predicate::SourceNo;
use crate::plan::{KeyColumn, KeyMatch};
use crate::sql::Span;
use crate::sql::ast::{self, ColumnAssignment, ColumnRef, Expr, ExprKind, InsertSource, Query};
use crate::sql::visit::{Node, Visitor, walk_expr};
use crate::topology::Sharded;

pub(super) fn plan(mut survey: Survey<'_>, insert: &ast::Insert) -> Result<Outcome> {
    let target = survey.table(&insert.table, Spot::Bare)?;
    let kind = if insert.returning.is_some() { Kind::Rows } else { Kind::Write };
    match survey.refs[0].kind.clone() {
        FoundKind::Unsharded => {
            walk(&mut survey, insert, target)?;
            if let Some(lacks) = survey.lacking() {
                return Ok(lacks);
            }
            let InsertSource::Query(query) = &insert.source else {
                survey.all_pinned()?;
                return single(survey, Effect::Write, kind);
            };
            if !survey.has_sharded() {
                return single(survey, Effect::Write, kind);
            }
            let pinned = survey.all_pinned();
            from_query(survey, insert, query, kind, pinned)
        }
        FoundKind::Reference => {
            let Some(def) = survey.refs[0].def.clone() else { return Ok(survey.lacking_all()) };
            walk(&mut survey, insert, target)?;
            if let InsertSource::Query(query) = &insert.source
                && let Err(error) = write::is_alike_everywhere(&survey, insert.returning.is_some())
            {
                if let Some(lacks) = survey.lacking() {
                    return Ok(lacks);
                }
                return from_query(survey, insert, query, kind, Err(error));
            }
            let given = match (given(&survey, insert, &def), &insert.source) {
                (Err(error), InsertSource::Query(query)) => return from_query(survey, insert, query, kind, Err(error)),
                (given, _) => given,
            };
            let returning = insert.returning.is_some();
            let counted = counted(&survey, insert, &def);
            write::reference(survey, ToReference { kind, returning, given, ordered: false, counted })
        }
        FoundKind::Sharded(rule) => {
            let Some(def) = survey.refs[0].def.clone() else { return Ok(survey.lacking_all()) };
            let sharded = rule.sharded().ok_or_else(|| Error::proxy("Bifold: a rule without a key."))?;
            let into = Into { target, sharded, def: &def, columns: columns(&survey, insert, &def) };
            into.check_update(&survey, insert)?;
            match &insert.source {
                InsertSource::Query(query) => into.with_query(survey, insert, query, kind),
                InsertSource::Values { .. } | InsertSource::Set { .. } => into.rows(survey, insert, kind),
            }
        }
    }
}

/// A reference table's rows must be the same everywhere: what a server would count up is given.
fn given(survey: &Survey<'_>, insert: &ast::Insert, def: &TableDef) -> Result<Option<Given>> {
    let Some(counted) = def.columns.iter().find(|column| column.auto_increment) else { return Ok(None) };
    let names = columns(survey, insert, def);
    let position = names.iter().position(|name| *name == counted.name.to_lowercase());
    let refused = |instead: &str| {
        Err(Error::refused(format!(
            "Bifold: {} of reference table {} would be counted up on each shard by itself: {instead}.",
            counted.name, survey.refs[0].table
        )))
    };
    let Some(value) = position.and_then(|at| u16::try_from(at).ok()) else { return refused("name it in the INSERT") };
    let item = |span: Span| (survey.item(span.start), Item(survey.item(span.end - 1).0 + 1));
    let rows = match &insert.source {
        InsertSource::Values { span, .. } => {
            let (from, to) = item(*span);
            Rows::Values { from, to }
        }
        InsertSource::Set { assignments, .. } => {
            let values: Vec<_> = assignments.iter().map(|assignment| item(assignment.value.span)).collect();
            let end = values.last().map_or(Item(0), |(_, to)| *to);
            Rows::Set { values, end }
        }
        InsertSource::Query(_) => return refused("read the rows, then insert them with VALUES"),
    };
    let column_type = key_type_of(Some(def), &survey.refs[0].table, &counted.name)?;
    Ok(Some(Given { column: counted.name.as_str().into(), rows, value, column_type }))
}

/// The column that is counted up for each row, where nothing but new rows can come of the statement.
fn counted(survey: &Survey<'_>, insert: &ast::Insert, def: &TableDef) -> Option<Box<str>> {
    let column = def.columns.iter().find(|column| column.auto_increment)?;
    let is_named = columns(survey, insert, def).contains(&column.name.to_lowercase());
    let only_adds = !insert.replace && !insert.ignore && insert.on_duplicate.is_none();
    (only_adds && !is_named).then(|| column.name.as_str().into())
}

/// The columns that a row's values are for, in lower case.
fn columns(survey: &Survey<'_>, insert: &ast::Insert, def: &TableDef) -> Vec<String> {
    let named =
        |columns: &[ColumnRef]| columns.iter().map(|column| survey.name(column.column).to_lowercase()).collect();
    match &insert.source {
        InsertSource::Set { assignments, .. } => {
            named(&assignments.iter().map(|assignment| assignment.column).collect::<Vec<_>>())
        }
        // `VALUES ()` without a list: every column by default.
        InsertSource::Values { rows, .. }
            if insert.columns_span.is_none() && rows.iter().all(|row| row.values.is_empty()) =>
        {
            Vec::new()
        }
        InsertSource::Values { .. } | InsertSource::Query(_) if insert.columns_span.is_none() => {
            def.visible().map(|column| column.name.to_lowercase()).collect()
        }
        InsertSource::Values { .. } | InsertSource::Query(_) => named(&insert.columns),
    }
}

/// Walks everything of an INSERT, for a target that takes the whole statement.
fn walk(survey: &mut Survey<'_>, insert: &ast::Insert, target: SourceNo) -> Result<()> {
    let outside = Env::default();
    let scope = Env { sources: vec![target], ..Env::below(&outside) };
    insert.columns.iter().for_each(|column| survey.column_ref(column, &scope));
    match &insert.source {
        InsertSource::Values { rows, span, .. } => drop(values(survey, rows, *span, &scope)?),
        InsertSource::Set { assignments, .. } => survey.assignments(assignments, &scope)?,
        InsertSource::Query(query) => drop(survey.query(query, &outside)?),
    }
    tail(survey, insert, &scope)
}

/// ON DUPLICATE KEY UPDATE and RETURNING.
fn tail(survey: &mut Survey<'_>, insert: &ast::Insert, scope: &Env<'_>) -> Result<()> {
    if let Some(update) = &insert.on_duplicate {
        survey.assignments(&update.assignments, scope)?;
    }
    if let Some(returning) = &insert.returning {
        survey.items(&returning.items, scope)?;
    }
    Ok(())
}

/// A sharded table that rows go into.
struct Into<'t> {
    target: SourceNo,
    sharded: &'t Sharded,
    def: &'t TableDef,
    columns: Vec<String>,
}

impl Into<'_> {
    fn position(&self, column: &str) -> Result<Option<u16>> {
        let found = self.columns.iter().position(|own| *own == column.to_lowercase());
        found.map(|at| u16::try_from(at).map_err(|_| Error::refused("Bifold: too many columns."))).transpose()
    }

    /// An upsert must not move a row.
    fn check_update(&self, survey: &Survey<'_>, insert: &ast::Insert) -> Result<()> {
        let assignments = insert.on_duplicate.iter().flat_map(|update| &update.assignments);
        for assignment in assignments {
            write::check_assigned(survey, &assignment.column, self.sharded, &survey.refs[0].table)?;
        }
        Ok(())
    }

    /// VALUES and SET.
    fn rows(self, mut survey: Survey<'_>, insert: &ast::Insert, kind: Kind) -> Result<Outcome> {
        let outside = Env::default();
        let scope = Env { sources: vec![self.target], ..Env::below(&outside) };
        insert.columns.iter().for_each(|column| survey.column_ref(column, &scope));
        let id = self.id(&survey)?;
        let key = self.key(&survey, id.as_ref())?;
        let added = id.as_ref().filter(|id| id.position.is_none()).map(|id| id.column.clone());
        let rows = match &insert.source {
            InsertSource::Values { rows, span, .. } => {
                self.list(&mut survey, insert, added.as_deref());
                values(&mut survey, rows, *span, &scope)?
            }
            InsertSource::Set { assignments, .. } => assigned(&mut survey, assignments, &scope)?,
            InsertSource::Query(_) => return Err(Error::proxy("Bifold: a query taken for rows.")),
        };
        if let (Some(alias), Some(_)) = (&insert.row_alias, &added)
            && !alias.columns.is_empty()
        {
            // The alias names all columns of a row: the added one too.
            let at = alias.span.end - 1;
            survey.cut(Span::new(at, at), Patch::Text(b", `bifold id`".as_slice().into()));
        }
        tail(&mut survey, insert, &scope)?;
        self.tell_touched(&mut survey, insert);
        if survey.refs.len() > 1 {
            if let Some(lacks) = survey.lacking() {
                return Ok(lacks);
            }
            survey.only_references(1, "the rows of an INSERT into a sharded table")?;
        }
        let width = u16::try_from(self.columns.len()).map_err(|_| Error::refused("Bifold: too many columns."))?;
        let assigns = survey.marks.assigns.iter().cloned().collect();
        let template = survey.template()?;
        let returning = insert.returning.is_some();
        let plan = Plan::Insert(Box::new(Insert { template, rows, key, id, width, returning, ignore: insert.ignore }));
        Ok(Outcome::Planned(Planned { plan, assigns, kind }))
    }

    fn id(&self, survey: &Survey<'_>) -> Result<Option<InsertId>> {
        let Some(rule) = &self.sharded.id else { return Ok(None) };
        let id_type = key_type_of(Some(self.def), &survey.refs[0].table, &rule.column)?;
        let position = self.position(&rule.column)?;
        Ok(Some(InsertId { column: quoted(&rule.column).into(), position, id_type }))
    }

    /// Where the key stands; `None` where it is the id that is added.
    fn key(&self, survey: &Survey<'_>, id: Option<&InsertId>) -> Result<Option<u16>> {
        let is_id = self.sharded.id.as_ref().is_some_and(|id| id.column.eq_ignore_ascii_case(&self.sharded.key));
        match (self.position(&self.sharded.key)?, id) {
            (Some(position), _) => Ok(Some(position)),
            (None, Some(_)) if is_id => Ok(None),
            (None, _) => Err(Error::refused(format!(
                "Bifold: rows of table {} need a value for {}, their sharding key: name the column in the INSERT.",
                survey.refs[0].table, self.sharded.key
            ))),
        }
    }

    /// The column list: made where there is none, and with the id's column behind.
    fn list(&self, survey: &mut Survey<'_>, insert: &ast::Insert, added: Option<&str>) {
        match insert.columns_span {
            Some(span) => {
                let Some(added) = added else { return };
                let comma = if insert.columns.is_empty() { "" } else { ", " };
                let at = span.end - 1;
                survey.cut(Span::new(at, at), Patch::Text(format!("{comma}{added}").into_bytes().into()));
            }
            None => {
                let own = self.def.visible().filter(|_| !self.columns.is_empty()).map(|column| quoted(&column.name));
                let all: Vec<String> = own.chain(added.map(str::to_owned)).collect();
                let at = insert.partition.unwrap_or(insert.table.span).end;
                let text = format!(" ({})", all.join(", "));
                survey.cut(Span::new(at, at), Patch::Text(text.into_bytes().into()));
            }
        }
    }

    /// An upsert that changes a row tells that row's id: said by LAST_INSERT_ID(id), which changes
    /// nothing else.
    fn tell_touched(&self, survey: &mut Survey<'_>, insert: &ast::Insert) {
        let (Some(update), Some(rule)) = (&insert.on_duplicate, &self.sharded.id) else { return };
        let is_id = |assignment: &ColumnAssignment| {
            survey.name(assignment.column.column).to_lowercase() == rule.column.to_lowercase()
        };
        if update.assignments.iter().any(is_id) {
            return;
        }
        let (at, column) = (Span::new(update.span.end, update.span.end), quoted(&rule.column));
        let text = |text: String| Patch::Text(text.into_bytes().into());
        survey.cut(at, text(format!(", {column} = LAST_INSERT_ID(")));
        survey.cut(at, Patch::Table { table: RefNo(0), alias: None });
        survey.cut(at, text(format!(".{column})")));
    }

    /// INSERT … SELECT: where every row provably has one key.
    fn with_query(self, mut survey: Survey<'_>, insert: &ast::Insert, query: &Query, kind: Kind) -> Result<Outcome> {
        let outside = Env::default();
        let scope = Env { sources: vec![self.target], ..Env::below(&outside) };
        insert.columns.iter().for_each(|column| survey.column_ref(column, &scope));
        let exports = survey.query(query, &outside)?;
        tail(&mut survey, insert, &scope)?;
        if let Some(lacks) = survey.lacking() {
            return Ok(lacks);
        }
        let (table, key) = (survey.refs[0].table.clone(), &self.sharded.key);
        if let Some(id) = &self.sharded.id
            && (id.layout.carries.is_some() || self.position(&id.column)?.is_none())
        {
            let error = Error::refused(format!(
                "Bifold: INSERT … SELECT can't make the ids of table {table}: read the rows, then insert them with VALUES."
            ));
            return from_query(survey, insert, query, kind, Err(error));
        }
        let position = self.position(key)?;
        let export = exports.zip(position).and_then(|(exports, at)| exports.get(usize::from(at)).cloned());
        let export = export.filter(|export| export.constant || self.is_stored_alike(&survey, export, insert));
        let values = export.map(|export| export.values).unwrap_or_default();
        if values.is_empty() {
            let error = Error::refused(format!(
                "Bifold: INSERT … SELECT into table {table} must give all rows one {key}: \
                 select with a condition such as {key} = …, or read the rows and insert them with VALUES."
            ));
            return from_query(survey, insert, query, kind, Err(error));
        }
        if insert.columns_span.is_none() {
            self.list(&mut survey, insert, None);
        }
        survey.refs[0].keys =
            values.into_iter().map(|values| KeyMatch { column: KeyColumn::Stored, values, null_safe: true }).collect();
        let pinned = survey.all_pinned();
        from_query(survey, insert, query, kind, pinned)
    }
}

/// INSERT … SELECT: on one server where `pinned`, and where all that it names turns out to be there;
/// else its rows are read first. Where that can't be, `pinned` says why.
fn from_query(
    survey: Survey<'_>,
    insert: &ast::Insert,
    query: &Query,
    kind: Kind,
    pinned: Result<()>,
) -> Result<Outcome> {
    let can_be_read = tail_is_of_target(&survey, insert) && insert.returning.is_none() && insert.row_alias.is_none();
    if !can_be_read {
        pinned?;
        return single(survey, Effect::Write, kind);
    }
    let numbers = match survey.refs[0].def.clone() {
        Some(def) => {
            let is_number = |name: &String| def.column(name).is_none_or(|column| is_number(&column.data_type));
            columns(&survey, insert, &def).iter().map(is_number).collect()
        }
        None => Box::default(),
    };
    let (from, to) = (survey.item(query.span.start), Item(survey.item(query.span.end - 1).0 + 1));
    let direct = match pinned.map(|()| single(survey, Effect::Write, kind)) {
        Ok(Ok(Outcome::Planned(planned))) => Some(Arc::new(planned)),
        Ok(other) => return other,
        Err(_) => None,
    };
    let plan = InsertSelect { direct, query: (from, to), numbers, ignore: insert.ignore };
    Ok(Outcome::Planned(Planned { plan: Plan::InsertSelect(Box::new(plan)), assigns: Vec::new(), kind }))
}

/// What stands behind the query means the same behind VALUES: it names no column of the query's.
fn tail_is_of_target(survey: &Survey<'_>, insert: &ast::Insert) -> bool {
    let mut of_target = OfTarget { survey, target: &survey.refs[0].table, only: true };
    let assignments = insert.on_duplicate.iter().flat_map(|update| &update.assignments);
    assignments.for_each(|assignment| walk_expr(&assignment.value, &mut of_target));
    of_target.only
}

struct OfTarget<'s> {
    survey: &'s Survey<'s>,
    target: &'s str,
    only: bool,
}

impl<'a> Visitor<'a> for OfTarget<'_> {
    fn enter(&mut self, node: Node<'a>) -> bool {
        match node {
            Node::Expr(Expr { kind: ExprKind::ValuesOf(_), .. }) => return false,
            Node::Query(_) => self.only = false,
            Node::Column(column) => {
                // Where the query reads the target too, the name may mean either.
                let is_read = self.survey.refs[1..].iter().any(|found| *found.table == *self.target);
                self.only &= !is_read && column.table.is_some_and(|table| self.survey.name(table) == self.target);
            }
            _ => {}
        }
        true
    }
}

fn is_number(data_type: &str) -> bool {
    matches!(
        data_type,
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "float" | "double" | "year" | "bit"
    )
}

impl Into<'_> {
    /// Is what the query reads from this column what the key will hold: of the same type, never NULL?
    fn is_stored_alike(&self, survey: &Survey<'_>, export: &Export, insert: &ast::Insert) -> bool {
        // An aggregate makes a row of NULLs where none is found; IGNORE stores a 0 for a NULL.
        if survey.marks.aggregate || insert.ignore {
            return false;
        }
        let read = export.column.as_ref().and_then(|column| survey.type_of(column));
        read.is_some() && read == key_type_of(Some(self.def), &survey.refs[0].table, &self.sharded.key).ok()
    }
}

/// The rows' place in the text, and their cuts.
fn values(survey: &mut Survey<'_>, rows: &[ast::Row], span: Span, scope: &Env<'_>) -> Result<Rows> {
    let (from, to) = (survey.item(span.start), Item(survey.item(span.end - 1).0 + 1));
    let is_list = survey.fingerprint.lists().iter().any(|list| list.span == span);
    if !is_list {
        rows.iter().try_for_each(|row| survey.exprs(&row.values, scope))?;
        return Ok(Rows::Values { from, to });
    }
    // The rows are alike in all but their plain values: what is cut in the first is cut in each.
    let mut cuts = Vec::new();
    for (number, value) in (0u16..).zip(rows.first().iter().flat_map(|row| &row.values)) {
        survey.expr(value, scope)?;
        cuts.extend(survey.take_cuts(value.span).map(|(span, with)| RowCut {
            value: number,
            from: span.start - value.span.start,
            to: span.end - value.span.start,
            with,
        }));
    }
    survey.rows = (!cuts.is_empty()).then_some(RowCuts { item: from, cuts });
    Ok(Rows::Values { from, to })
}

fn assigned(survey: &mut Survey<'_>, assignments: &[ColumnAssignment], scope: &Env<'_>) -> Result<Rows> {
    survey.assignments(assignments, scope)?;
    let span = |value: &Expr| (survey.item(value.span.start), Item(survey.item(value.span.end - 1).0 + 1));
    let values: Vec<(Item, Item)> = assignments.iter().map(|assignment| span(&assignment.value)).collect();
    let end = values.last().map(|(_, to)| *to).ok_or_else(|| Error::client(code::PARSE, "SET without a column"))?;
    Ok(Rows::Set { values, end })
}
