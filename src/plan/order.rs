//! What of a query the merge must understand: the columns of its ORDER BY, each as an expression
//! whose values are ordered as the server orders the column, and the aggregates of its select list.

use super::scatter::{aggregates, own_scope, refusal};
use super::survey::{Env, Origin, Survey, quoted};
use super::{Fold, SortKey};
use crate::catalog::ColumnDef;
use crate::error::Result;
use crate::plan::predicate::Column;
use crate::sql::Charset;
use crate::sql::ast::{
    Direction, Expr, ExprKind, FunctionForm, Literal, OrderItem, Query, Select, SelectItem, SelectItemKind,
};
use crate::topology::collation::{Collation, Order};

/// Longer strings are sorted by servers by their first `max_sort_length` bytes only.
const LONGEST: u64 = 255;

/// The sort keys of ORDER BY.
pub(super) fn keys(survey: &Survey<'_>, query: &Query, select: &Select) -> Result<Vec<SortKey>> {
    let scope = own_scope(survey);
    let by = |item: &crate::sql::ast::OrderItem| {
        let column = ordered_column(survey, &item.expr, select, &scope)
            .ok_or_else(|| refusal(survey, "ORDER BY of anything but columns"))?;
        let key = sort_key(survey, &column, item.direction == Some(Direction::Desc));
        key.ok_or_else(|| refusal(survey, &format!("ORDER BY of a column such as {}", column.name)))
    };
    query.order_by.iter().map(by).collect()
}

/// The column that an item of ORDER BY means: by position, by the alias or name of a select item,
/// else one of the tables.
fn ordered_column(survey: &Survey<'_>, expr: &Expr, select: &Select, scope: &Env<'_>) -> Option<Column> {
    match &expr.kind {
        ExprKind::Literal(Literal::Int) => {
            let position: usize = std::str::from_utf8(survey.source.span_bytes(expr.span)).ok()?.parse().ok()?;
            let before = select.items.get(..position)?;
            let plain = before.iter().all(|item| matches!(item.kind, SelectItemKind::Expr { .. }));
            item_column(survey, before.last().filter(|_| plain)?, scope)
        }
        ExprKind::Column(column) if column.table.is_some() => survey.resolve(column, scope),
        ExprKind::Column(column) => {
            let name = survey.name(column.column).to_lowercase();
            let of_tables = survey.resolve(column, scope);
            let mut meant: Vec<Option<Column>> = Vec::new();
            for item in &select.items {
                match &item.kind {
                    SelectItemKind::Wildcard { .. } => meant.extend(of_tables.clone().map(Some)),
                    SelectItemKind::Expr { .. } if title(survey, item).is_some_and(|title| title == name) => {
                        meant.push(item_column(survey, item, scope));
                    }
                    SelectItemKind::Expr { .. } => {}
                }
            }
            let Some(first) = meant.first().cloned() else { return of_tables };
            // Two columns of one name: the server says what is ambiguous, if it is.
            meant.iter().all(|other| *other == first).then_some(first).flatten()
        }
        _ => None,
    }
}

/// The sort key of an item that is a column of the statement's tables, where there is no select list.
pub(super) fn plain_key(survey: &Survey<'_>, item: &OrderItem, scope: &Env<'_>) -> Option<SortKey> {
    let column = survey.column(&item.expr, scope)?;
    sort_key(survey, &column, item.direction == Some(Direction::Desc))
}

fn item_column(survey: &Survey<'_>, item: &SelectItem, scope: &Env<'_>) -> Option<Column> {
    match &item.kind {
        SelectItemKind::Expr { expr, .. } => survey.column(expr, scope),
        SelectItemKind::Wildcard { .. } => None,
    }
}

/// What the select item is called, in lower case.
fn title(survey: &Survey<'_>, item: &SelectItem) -> Option<String> {
    let SelectItemKind::Expr { expr, alias } = &item.kind else { return None };
    let name = match (alias, &expr.kind) {
        (Some(alias), _) => *alias,
        (None, ExprKind::Column(column)) => column.column,
        // Its title is its text, which no identifier of ORDER BY is but by quoting.
        (None, _) => return Some(String::from_utf8_lossy(survey.source.span_bytes(item.span)).to_lowercase()),
    };
    Some(survey.name(name).to_lowercase())
}

/// An expression whose values are in the order of the column's, and how they compare.
fn sort_key(survey: &Survey<'_>, column: &Column, descending: bool) -> Option<SortKey> {
    let def = definition(survey, column)?;
    let name = physical_column(survey, column)?;
    let (expr, pads) = match def.data_type.as_str() {
        // As numbers: ZEROFILL is a matter of spelling.
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "date" | "datetime" | "time" => {
            (format!("{name}+0"), None)
        }
        // In text a FLOAT has lost digits.
        "float" | "double" => (format!("{name}+0e0"), None),
        // By the moment, not by what a clock shows in the hour that a time zone sees twice.
        "timestamp" => (format!("UNIX_TIMESTAMP({name})"), None),
        "year" | "bit" => (format!("{name}+0"), None),
        "enum" | "set" => (format!("CAST({name} AS UNSIGNED)"), None),
        "binary" | "varbinary" if def.length? <= LONGEST => (name, None),
        "char" | "varchar" if def.length? <= LONGEST => text(&name, def.collation.as_deref()?)?,
        _ => return None,
    };
    Some(SortKey { expr: expr.into(), descending, pads })
}

/// Strings by their weights, which the server knows.
fn text(name: &str, collation: &str) -> Option<(String, Option<&'static [u8]>)> {
    match Collation::named(collation)?.order() {
        Order::Weights { space, learned: Some(_) } => Some((format!("WEIGHT_STRING({name})"), space)),
        // Code points, in whose order utf8mb4's bytes are.
        Order::Binary { pads } if collation.starts_with("utf8") => {
            let expr = format!("CAST(CONVERT({name} USING utf8mb4) AS BINARY)");
            Some((expr, pads.then_some(b" ".as_slice())))
        }
        Order::Weights { learned: None, .. } | Order::Binary { .. } => None,
    }
}

fn definition<'s>(survey: &'s Survey<'_>, column: &Column) -> Option<&'s ColumnDef> {
    survey.found(column.source)?.def.as_deref()?.column(&column.name)
}

/// The column with its table, as the servers' texts call both.
fn physical_column(survey: &Survey<'_>, column: &Column) -> Option<String> {
    let Origin::Table { name, bare, .. } = survey.origin(column.source) else { return None };
    let own = quoted(&column.name);
    // What takes no alias is alone in its statement.
    let full = if *bare { own } else { format!("{}.{own}", quoted(name)) };
    (full.is_ascii() || survey.source.dialect.charset == Charset::Utf8).then_some(full)
}

/// How each aggregate of the select list is folded.
pub(super) fn folds(survey: &Survey<'_>, query: &Query, select: &Select) -> Result<Vec<Fold>> {
    let refused = |what: &str| refusal(survey, what);
    if !query.order_by.is_empty() || query.limit.is_some() {
        return Err(refused("an aggregate with ORDER BY or LIMIT"));
    }
    let Some(functions) = aggregates(survey, select) else {
        return Err(refused("an aggregate beside or within other expressions"));
    };
    let scope = own_scope(survey);
    let one = |function: &&crate::sql::ast::Function| -> Result<Fold> {
        let name = String::from_utf8_lossy(survey.source.bytes(function.name.0)).to_ascii_uppercase();
        let plain = !function.distinct && function.order_by.is_empty();
        let data_type = function
            .args
            .first()
            .filter(|_| function.args.len() == 1)
            .and_then(|arg| survey.column(arg, &scope))
            .and_then(|column| definition(survey, &column).map(|def| def.data_type.clone()));
        match (name.as_str(), data_type.as_deref()) {
            ("COUNT", _) if plain && (function.form == FunctionForm::Star || function.args.len() == 1) => {
                Ok(Fold::Count)
            }
            ("SUM", Some(kind)) if plain && is_exact(kind) => Ok(Fold::Sum),
            ("MIN", Some(kind)) if plain && is_ordered(kind) => Ok(Fold::Min),
            ("MAX", Some(kind)) if plain && is_ordered(kind) => Ok(Fold::Max),
            _ => Err(refused(&format!("{name} of such a value"))),
        }
    };
    functions.iter().map(one).collect()
}

fn is_exact(data_type: &str) -> bool {
    matches!(data_type, "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal")
}

fn is_ordered(data_type: &str) -> bool {
    is_exact(data_type) || matches!(data_type, "date" | "datetime")
}
