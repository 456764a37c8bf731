//! Reads over many places: what a query must be so that the rows of its places, merged by a
//! recipe, are the rows of one server. Each place answers for the rows of the driving table that it
//! has ([`driver`]); what else the parts could disagree on is refused by name.

use super::driver::{self, Driver};
use super::group;
use super::order::{self, Clauses, Target};
use super::star;
use super::survey::{FoundKind, Survey};
use super::{Cut, Effect, Fits, Item, KeyMatch, Patch, Recipe, Template, Wide, Window};
use crate::error::{Error, Result};
use crate::sql::ast::{Body, Expr, ExprKind, Limit, Literal, Query, Select, SelectItemKind, TableRefKind};
use crate::sql::visit::{Node, Visitor, walk_query};
use crate::sql::{Keyword, Kind, Span};

/// A plan for many places in the making: what the template of one place gets besides.
pub(super) struct Draft {
    driver: Driver,
    recipe: Recipe,
    cuts: Vec<Cut>,
    window: Option<Window>,
    clock: bool,
    effect: Effect,
    alone: Option<&'static str>,
}

/// Says how the query is answered by many places, or why it can't be.
pub(super) fn draft(survey: &Survey<'_>, query: &Query) -> Result<Draft> {
    let refused = |what: &str| Err(refusal(survey, what));
    // 1. What no place can answer by itself
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
    // 2. Whose places, and how their rows are merged
    let driver = driver::find(survey, query, select)?;
    let clauses = Clauses::new(survey, select);
    let recipe = recipe(&clauses, query, &driver)?;
    let locks = !query.locks.is_empty();
    if locks && !matches!(recipe, Recipe::Chain | Recipe::Sort(_)) {
        return refused("a locking read with groups");
    }
    // 3. What the text of a place has besides
    let mut cuts = star::cuts(survey, select);
    hide(survey, select, &recipe, &mut cuts);
    if matches!(recipe, Recipe::Group(_))
        && let Some(span) = order::order_span(&query.order_by)
    {
        cuts.push(cut(survey, span, Patch::Text([].into())));
    }
    let keys = &survey.refs[usize::from(driver.no.0)].keys;
    if let Some(item) = keys.iter().find_map(KeyMatch::shared_list) {
        cuts.push(Cut { from: item, to: Item(item.0 + 1), with: Patch::Share(item) });
    }
    let window = query.limit.as_ref().map(|limit| window(survey, limit, &recipe, &mut cuts)).transpose()?;
    let effect = if locks { Effect::Lock } else { Effect::Read };
    Ok(Draft { driver, recipe, cuts, window, clock: survey.marks.clock, effect, alone: alone(survey, select, locks) })
}

impl Draft {
    /// `plain`: the statement for one place.
    pub fn finish(self, plain: &Template) -> Wide {
        let mut template = plain.clone();
        for cut in self.cuts {
            // What is taken out is not mended any more.
            if cut.from < cut.to {
                template.cuts.retain(|other| other.from < cut.from || cut.to <= other.from);
            }
            let at = template.cuts.partition_point(|other| other.from <= cut.from);
            template.cuts.insert(at, cut);
        }
        Wide {
            template,
            plain: plain.clone(),
            driver: self.driver.no,
            recipe: self.recipe,
            window: self.window,
            clock: self.clock,
            effect: self.effect,
            alone: self.alone,
            fits: Fits::default(),
        }
    }
}

fn cut(survey: &Survey<'_>, span: Span, with: Patch) -> Cut {
    Cut { from: survey.item(span.start), to: Item(survey.item(span.end - 1).0 + 1), with }
}

fn recipe(clauses: &Clauses<'_>, query: &Query, driver: &Driver) -> Result<Recipe> {
    let (survey, select) = (clauses.survey, clauses.select);
    let distinct = select.options.distinct;
    let is_key = |target: &Option<Target<'_>>| target.as_ref().is_some_and(|target| is_key(survey, target, driver));
    let exprs = select.items.iter().filter_map(|item| match &item.kind {
        SelectItemKind::Expr { expr, .. } => Some(expr),
        SelectItemKind::Wildcard { .. } => None,
    });
    let aggregates = exprs.clone().chain(query.order_by.iter().map(|item| &item.expr)).chain(&select.having);
    let aggregates = aggregates.map(|expr| clauses.holds(expr).aggregate).fold(false, |any, one| any | one);
    let key_selected = exprs.map(|expr| Some(clauses.target(expr))).any(|target| is_key(&target));
    if let Some(group) = &select.group_by {
        if group.rollup {
            return Err(refusal(survey, "WITH ROLLUP"));
        }
        // Then each group is in one place, and all that is said of it too.
        let whole = group.items.iter().any(|item| is_key(&clauses.grouped(&item.expr)));
        if whole && (!distinct || key_selected) {
            return plain(clauses, query);
        }
    }
    match (select.group_by.is_some() || aggregates, distinct) {
        (true, true) => Err(refusal(survey, "DISTINCT with aggregates")),
        (true, false) => group::grouped(clauses, query).map(Recipe::Group),
        (false, _) if select.having.is_some() => Err(refusal(survey, "HAVING")),
        (false, true) if key_selected => plain(clauses, query),
        (false, true) => group::distinct(clauses, query).map(Recipe::Group),
        (false, false) => plain(clauses, query),
    }
}

/// A column that is the driver's sharding key, or equal to it in every row.
fn is_key(survey: &Survey<'_>, target: &Target<'_>, driver: &Driver) -> bool {
    let Target::Column(column) = target else { return false };
    let key = survey.found(column.source).and_then(|found| match &found.kind {
        FoundKind::Sharded(rule) => rule.sharded().map(|sharded| sharded.key.to_lowercase()),
        FoundKind::Reference | FoundKind::Unsharded => None,
    });
    driver.equal.contains(&column.source) && key.is_some_and(|key| *key == *column.name)
}

/// Rows as the places give them.
fn plain(clauses: &Clauses<'_>, query: &Query) -> Result<Recipe> {
    if query.order_by.is_empty() {
        return Ok(Recipe::Chain);
    }
    let refused = || refusal(clauses.survey, "ORDER BY of such an expression");
    // A hidden column would be one more that has to differ.
    if clauses.select.options.distinct {
        return Err(refused());
    }
    let keys = query.order_by.iter().map(|item| clauses.sort_key(item).ok_or_else(refused));
    keys.collect::<Result<_>>().map(Recipe::Sort)
}

/// Hidden columns behind the client's own; the merge takes them away again.
fn hide(survey: &Survey<'_>, select: &Select, recipe: &Recipe, cuts: &mut Vec<Cut>) {
    let columns: Vec<&str> = match recipe {
        Recipe::Chain => return,
        Recipe::Sort(keys) => {
            let raws = keys.iter().filter_map(|key| key.raw.as_deref());
            keys.iter().map(|key| &*key.expr).chain(raws).collect()
        }
        Recipe::Group(groups) => groups.hidden.iter().map(|hidden| &*hidden.expr).collect(),
    };
    let hidden: String = (0..).zip(columns).map(|(at, expr)| format!(", {expr} AS {}", hidden_name(at))).collect();
    let at = survey.item(select.items_span.end);
    cuts.push(Cut { from: at, to: at, with: Patch::Text(hidden.into_bytes().into()) });
}

/// What the hidden column of this number is called.
pub fn hidden_name(at: usize) -> String {
    format!("`bifold {at}`")
}

/// Why a text can't stand beside others of its kind in one UNION.
fn alone(survey: &Survey<'_>, select: &Select, locks: bool) -> Option<&'static str> {
    let is_hint = |token: u32| survey.source.kind(token) == Kind::Hint;
    let allowed = |token: u32| {
        matches!(
            survey.source.keyword(token),
            Keyword::Distinct | Keyword::Distinctrow | Keyword::All | Keyword::StraightJoin
        )
    };
    match () {
        () if locks => Some("it locks rows"),
        () if survey.fingerprint.span().tokens().any(is_hint) => Some("its hints are for one SELECT"),
        () if !select.options.span.tokens().all(allowed) => Some("its options are for one SELECT"),
        () => None,
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
        (select.options.calc_found_rows, "SQL_CALC_FOUND_ROWS"),
        (!select.windows.is_empty() || select.qualify.is_some(), "a window function"),
        (query.into.is_some() || select.into.is_some(), "SELECT … INTO"),
        // It would lock rows that it doesn't return.
        (!query.locks.is_empty() && limit.is_some(), "a locking read with LIMIT"),
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
}

impl<'a> Visitor<'a> for Inside {
    fn enter(&mut self, node: Node<'a>) -> bool {
        match node {
            Node::TableRef(table) => match &table.kind {
                TableRefKind::JsonTable { .. } => self.refused = Some("JSON_TABLE"),
                TableRefKind::Table(factor) if factor.system_time.is_some() => self.refused = Some("FOR SYSTEM_TIME"),
                TableRefKind::Table(_)
                | TableRefKind::Derived { .. }
                | TableRefKind::Join(_)
                | TableRefKind::Parens(_) => {}
            },
            Node::Expr(expr) => self.expr(expr),
            Node::Query(_)
            | Node::Select(_)
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
            // How well a row matches depends on all the others.
            ExprKind::Match { .. } => self.refused = Some("MATCH"),
            ExprKind::Function(function) if function.over.is_some() => self.refused = Some("a window function"),
            _ => {}
        }
    }
}

/// LIMIT as the merge applies it. The parts give as many rows as it skips and takes together; groups
/// that are not whole yet, all.
fn window(survey: &Survey<'_>, limit: &Limit, recipe: &Recipe, cuts: &mut Vec<Cut>) -> Result<Window> {
    let value = |expr: &Expr| match &expr.kind {
        ExprKind::Param | ExprKind::Literal(Literal::Int) => {
            survey.constant(expr).ok_or_else(|| refusal(survey, "a LIMIT that is no number"))
        }
        _ => Err(refusal(survey, "a LIMIT that is no number")),
    };
    let offset = limit.offset.as_ref().map(value).transpose()?;
    let count = limit.count.as_ref().map(value).transpose()?;
    let patch = match recipe {
        Recipe::Chain | Recipe::Sort(_) => Patch::Limit,
        Recipe::Group(_) => Patch::Text([].into()),
    };
    cuts.push(cut(survey, limit.span, patch));
    let count = count.ok_or_else(|| refusal(survey, "OFFSET without LIMIT"))?;
    Ok(Window { offset, count })
}
