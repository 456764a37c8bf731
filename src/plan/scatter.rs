//! Reads over many places: what a query must be so that the rows of its places, merged by a
//! recipe, are the rows of one server. One table is sharded, the others are reference tables that
//! can't give rows of their own; whatever else the parts could disagree on is refused by name.

use super::function::is_aggregate;
use super::order;
use super::star;
use super::survey::{Env, FoundKind, Survey};
use super::{Cut, Item, Patch, Recipe, Template, Wide, Window};
use crate::error::{Error, Result};
use crate::sql::ast::{
    Body, Expr, ExprKind, Join, JoinKind, Limit, Literal, Query, Select, SelectItemKind, TableRef, TableRefKind,
};
use crate::sql::visit::{Node, Visitor, walk_query};
use crate::sql::{Keyword, Kind};

/// A plan for many places in the making: what the template of one place gets besides.
pub(super) struct Draft {
    recipe: Recipe,
    cuts: Vec<Cut>,
    window: Option<Window>,
    clock: bool,
}

/// Says how the query is answered by many places, or why it can't be.
pub(super) fn draft(survey: &Survey<'_>, query: &Query) -> Result<Draft> {
    let refused = |what: &str| Err(refusal(survey, what));
    let Body::Select(select) = &query.body else { return refused("UNION, TABLE and the like") };
    if query.with.is_some() {
        return refused("WITH");
    }
    if survey.refs.iter().any(|found| found.schema.dirty) && survey.marks.hinted {
        return refused("while the doubled databases are not cleaned, an index hint or PARTITION");
    }
    if let Some(what) = around(survey).or_else(|| clause(query, select)).or_else(|| marked(survey)) {
        return refused(what);
    }
    let mut inside = Inside::default();
    walk_query(query, &mut inside);
    if let Some(what) = inside.refused {
        return refused(what);
    }
    one_sharded_table(survey, select)?;
    let recipe = match survey.marks.aggregate {
        true => Recipe::Fold(order::folds(survey, query, select)?),
        false if query.order_by.is_empty() => Recipe::Chain,
        false => Recipe::Sort(order::keys(survey, query, select)?),
    };
    let mut cuts = star::cuts(survey, select);
    if let Recipe::Sort(keys) = &recipe {
        // Behind the client's own columns, and taken away again by the merge.
        let hidden: String = keys.iter().map(|key| format!(", {}", key.expr)).collect();
        let at = survey.item(select.items_span.end);
        cuts.push(Cut { from: at, to: at, with: Patch::Text(hidden.into_bytes().into()) });
    }
    let window = query.limit.as_ref().map(|limit| window(survey, limit, &mut cuts)).transpose()?;
    Ok(Draft { recipe, cuts, window, clock: survey.marks.clock })
}

impl Draft {
    /// `plain`: the statement for one place.
    pub fn finish(self, plain: &Template) -> Wide {
        let mut template = plain.clone();
        for cut in self.cuts {
            let at = template.cuts.partition_point(|other| other.from <= cut.from);
            template.cuts.insert(at, cut);
        }
        Wide { template, recipe: self.recipe, window: self.window, clock: self.clock }
    }
}

/// A sentence of its own for what can't be read over many places.
pub(super) fn refusal(survey: &Survey<'_>, what: &str) -> Error {
    let sharded = survey.refs.iter().find_map(|found| match &found.kind {
        FoundKind::Sharded(rule) if found.keys.is_empty() => Some((found, rule.sharded()?)),
        FoundKind::Sharded(_) | FoundKind::Reference | FoundKind::Unsharded => None,
    });
    match sharded {
        Some((found, sharded)) => {
            let (table, key) = (&found.table, &sharded.key);
            Error::refused(format!(
                "Bifold: table {table} is spread over many places by {key}, and the statement does not say which: \
                 {what} over all of them is not supported yet. Add a condition such as {key} = … for it."
            ))
        }
        None => Error::refused(format!("Bifold: {what} over several places is not supported yet.")),
    }
}

/// Words before or beside the query that set variables for it, which each part would obey.
fn around(survey: &Survey<'_>) -> Option<&'static str> {
    let (source, span) = (&survey.source, survey.fingerprint.span());
    let sets = |token: u32| {
        source.kind(token) == Kind::Hint
            && source.bytes(token).to_ascii_uppercase().windows(7).any(|word| word == b"SET_VAR")
    };
    match source.keyword(span.start) {
        Keyword::Set => Some("SET STATEMENT"),
        _ => span.tokens().any(sets).then_some("the hint SET_VAR"),
    }
}

/// Clauses that a place can't answer by itself.
fn clause(query: &Query, select: &Select) -> Option<&'static str> {
    let limit = query.limit.as_ref();
    let clauses = [
        (select.options.distinct, "DISTINCT"),
        (select.options.calc_found_rows, "SQL_CALC_FOUND_ROWS"),
        (select.group_by.is_some(), "GROUP BY"),
        (select.having.is_some(), "HAVING"),
        (!select.windows.is_empty() || select.qualify.is_some(), "a window function"),
        (query.into.is_some() || select.into.is_some(), "SELECT … INTO"),
        (!query.locks.is_empty(), "a locking read"),
        (limit.is_some_and(|limit| limit.with_ties), "FETCH … WITH TIES"),
        (limit.is_some_and(|limit| limit.rows_examined.is_some()), "LIMIT ROWS EXAMINED"),
        (limit.is_some_and(|limit| limit.count.is_none()), "OFFSET without LIMIT"),
    ];
    clauses.into_iter().find_map(|(there, what)| there.then_some(what))
}

/// What the walk came by that would be another thing in each part.
fn marked(survey: &Survey<'_>) -> Option<&'static str> {
    let marks = &survey.marks;
    let kinds = [
        (marks.variables || !marks.assigns.is_empty(), "a statement with variables"),
        (marks.chance, "a function whose value differs from call to call"),
        (marks.named_lock, "a function of named locks"),
        (marks.routine, "a stored function"),
        (marks.writes, "a sequence"),
    ];
    kinds.into_iter().find_map(|(there, what)| there.then_some(what))
}

/// What expressions and FROM hold.
#[derive(Default)]
struct Inside {
    refused: Option<&'static str>,
    nested: bool,
}

impl<'a> Visitor<'a> for Inside {
    fn enter(&mut self, node: Node<'a>) -> bool {
        match node {
            // The first is the statement's own.
            Node::Query(_) => {
                if std::mem::replace(&mut self.nested, true) {
                    self.refused = Some("a subquery");
                }
            }
            Node::TableRef(table) => match &table.kind {
                TableRefKind::JsonTable { .. } => self.refused = Some("JSON_TABLE"),
                TableRefKind::Table(factor) if factor.system_time.is_some() => self.refused = Some("FOR SYSTEM_TIME"),
                TableRefKind::Table(_)
                | TableRefKind::Derived { .. }
                | TableRefKind::Join(_)
                | TableRefKind::Parens(_) => {}
            },
            Node::Expr(expr) => self.expr(expr),
            Node::Select(_)
            | Node::With(_)
            | Node::CommonTable(_)
            | Node::Table(_)
            | Node::Wildcard(_)
            | Node::Column(_)
            | Node::Mention(_) => {}
        }
        true
    }
}

impl Inside {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Exists(_) | ExprKind::Subquery(_) | ExprKind::InQuery { .. } | ExprKind::Quantified { .. } => {
                self.refused = Some("a subquery");
            }
            // How well a row matches depends on all the others.
            ExprKind::Match { .. } => self.refused = Some("MATCH"),
            ExprKind::Function(function) if function.over.is_some() => self.refused = Some("a window function"),
            _ => {}
        }
    }
}

/// One reference is sharded and nothing adds rows of its own beside it; all others are the same
/// on every shard.
fn one_sharded_table(survey: &Survey<'_>, select: &Select) -> Result<()> {
    let is_sharded = |kind: &FoundKind| matches!(kind, FoundKind::Sharded(_));
    let mut sharded = survey.refs.iter().filter(|found| is_sharded(&found.kind));
    let Some(first) = sharded.next() else { return Err(refusal(survey, "a query without a sharded table")) };
    if sharded.next().is_some() {
        return Err(refusal(survey, "a join of sharded tables"));
    }
    for found in survey.refs.iter().filter(|found| !is_sharded(&found.kind)) {
        let alike = matches!(found.kind, FoundKind::Reference) && std::sync::Arc::ptr_eq(&found.schema, &first.schema);
        if !alike {
            return Err(refusal(survey, "a join with a table that is not a reference table of the same schema"));
        }
    }
    match select.from.iter().all(|table| sides(survey, table).is_some()) {
        true => Ok(()),
        false => Err(refusal(survey, "an outer join that keeps rows of another table")),
    }
}

/// Is the sharded table in here? `None`: it is on the side of an outer join that gives way to
/// NULLs, or what is there is not a table.
fn sides(survey: &Survey<'_>, table: &TableRef) -> Option<bool> {
    match &table.kind {
        TableRefKind::Table(factor) => {
            let name = survey.name(factor.table.name);
            let of =
                |found: &&super::survey::Found| *found.table == *name && matches!(found.kind, FoundKind::Sharded(_));
            Some(survey.refs.iter().any(|found| of(&found)))
        }
        TableRefKind::Derived { .. } | TableRefKind::JsonTable { .. } => None,
        TableRefKind::Parens(tables) => tables.iter().try_fold(false, |any, table| Some(any | sides(survey, table)?)),
        TableRefKind::Join(join) => {
            let Join { kind, left, right, .. } = &**join;
            match (kind, sides(survey, left)?, sides(survey, right)?) {
                (JoinKind::Left, _, true) | (JoinKind::Right, true, _) => None,
                (JoinKind::Inner | JoinKind::Straight | JoinKind::Left | JoinKind::Right, left, right) => {
                    Some(left || right)
                }
            }
        }
    }
}

/// LIMIT as the merge applies it. The parts give as many rows as it skips and takes together.
fn window(survey: &Survey<'_>, limit: &Limit, cuts: &mut Vec<Cut>) -> Result<Window> {
    let value = |expr: &Expr| match &expr.kind {
        ExprKind::Param | ExprKind::Literal(Literal::Int) => {
            survey.constant(expr).ok_or_else(|| refusal(survey, "a LIMIT that is no number"))
        }
        _ => Err(refusal(survey, "a LIMIT that is no number")),
    };
    let offset = limit.offset.as_ref().map(value).transpose()?;
    let count = limit.count.as_ref().map(value).transpose()?;
    let (from, to) = (survey.item(limit.span.start), Item(survey.item(limit.span.end - 1).0 + 1));
    cuts.push(Cut { from, to, with: Patch::Limit });
    let count = count.ok_or_else(|| refusal(survey, "OFFSET without LIMIT"))?;
    Ok(Window { offset, count })
}

/// The aggregates of a select list that is nothing else.
pub(super) fn aggregates<'q>(survey: &Survey<'_>, select: &'q Select) -> Option<Vec<&'q crate::sql::ast::Function>> {
    let function = |item: &'q crate::sql::ast::SelectItem| match &item.kind {
        SelectItemKind::Expr { expr, .. } => match &expr.kind {
            ExprKind::Function(function) if is_aggregate(survey.source.bytes(function.name.0)) => Some(&**function),
            _ => None,
        },
        SelectItemKind::Wildcard { .. } => None,
    };
    select.items.iter().map(function).collect()
}

/// The scope that the query's own clauses see.
pub(super) fn own_scope(survey: &Survey<'_>) -> Env<'static> {
    Env { sources: survey.outermost.sources.clone(), right_joins: survey.outermost.right_joins, ..Env::default() }
}
