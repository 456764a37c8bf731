//! GROUP BY, aggregates and DISTINCT over many places: which hidden columns say what is one group,
//! how each aggregate of the places' groups becomes one of all, and by what the groups are ordered.

use super::number::{Digits, Number, number};
use super::order::{Clauses, Key, Target, Use, is_descending};
use super::predicate::Column;
use super::scatter::refusal;
use super::{Cell, Fold, GroupOrder, Grouping, Hidden};
use crate::error::{Error, Result};
use crate::sql::ast::{Expr, Function, FunctionForm, GroupBy, Query, SelectItemKind};

/// AVG has four digits more than its argument, and never more than 30: up to here the number of digits
/// that servers compute with follows from the result's.
const LONGEST_SCALE: u8 = 20;

/// Aggregates, with GROUP BY or of all rows.
pub(super) fn grouped(clauses: &Clauses<'_>, query: &Query) -> Result<Grouping> {
    let select = clauses.select;
    if select.having.is_some() {
        return Err(refused(clauses, "HAVING"));
    }
    let mut groups = Grouping { always: select.group_by.is_none(), ..Grouping::default() };
    for item in select.group_by.iter().flat_map(|group: &GroupBy| &group.items) {
        let key = clauses.grouped(&item.expr).and_then(|target| clauses.key(&target, Use::Group));
        let key = key.ok_or_else(|| refused(clauses, "GROUP BY of such an expression"))?;
        groups.hidden.push(hidden(key));
    }
    groups.keys = groups.hidden.len();
    for (number, item) in (0_u16..).zip(&select.items) {
        let SelectItemKind::Expr { expr, .. } = &item.kind else {
            return Err(refused(clauses, "an aggregate beside *"));
        };
        let holds = clauses.holds(expr);
        match clauses.aggregate(expr) {
            Some(function) => {
                let fold = groups.fold(clauses, function)?;
                groups.folds.push((Cell::Visible(number), fold));
            }
            None if holds.aggregate => return Err(refused(clauses, "an aggregate within other expressions")),
            None if groups.always && (holds.columns || holds.query) => {
                return Err(refused(clauses, "an aggregate beside a column, without GROUP BY"));
            }
            None => {}
        }
    }
    for item in &query.order_by {
        let target = clauses.ordered(&item.expr).ok_or_else(|| refused(clauses, "ORDER BY of such a name"))?;
        let by = groups.ordered_by(clauses, &target)?;
        groups.order.push(GroupOrder { by, descending: is_descending(item) });
    }
    Ok(groups)
}

/// SELECT DISTINCT without aggregates.
pub(super) fn distinct(clauses: &Clauses<'_>, query: &Query) -> Result<Grouping> {
    let mut groups = Grouping { distinct: true, ..Grouping::default() };
    let of_such = || refused(clauses, "DISTINCT of such a value");
    for item in &clauses.select.items {
        match &item.kind {
            SelectItemKind::Wildcard { table, .. } => {
                let columns = all_columns(clauses, table.map(|table| clauses.survey.name(table)));
                for column in columns.ok_or_else(of_such)? {
                    let key = clauses.key(&Target::Column(column), Use::Group).ok_or_else(of_such)?;
                    groups.hidden.push(hidden(key));
                }
            }
            SelectItemKind::Expr { expr, .. } if is_constant(clauses, expr) => {}
            SelectItemKind::Expr { expr, .. } => {
                let key = clauses.key(&clauses.target(expr), Use::Group).ok_or_else(of_such)?;
                groups.hidden.push(hidden(key));
            }
        }
    }
    groups.keys = groups.hidden.len();
    for item in &query.order_by {
        let target = clauses.ordered(&item.expr);
        let key = target.as_ref().and_then(|target| clauses.key(target, Use::Order));
        let key = key.ok_or_else(|| refused(clauses, "ORDER BY of such an expression"))?;
        let known = groups.hidden.iter().position(|known| *known.expr == *key.expr);
        // What is not among the columns selected can't be said of a row that stands for several.
        let at = known.ok_or_else(|| refused(clauses, "DISTINCT with ORDER BY of another column"))?;
        groups.order.push(GroupOrder { by: Cell::Hidden(short(at)?), descending: is_descending(item) });
    }
    Ok(groups)
}

fn is_constant(clauses: &Clauses<'_>, expr: &Expr) -> bool {
    clauses.survey.constant(expr).is_some()
}

/// The columns of `*` or `t.*`.
fn all_columns(clauses: &Clauses<'_>, table: Option<String>) -> Option<Vec<Column>> {
    let mut columns = Vec::new();
    for source in &clauses.scope.sources {
        if table.as_ref().is_none_or(|table| clauses.survey.is_named(*source, table)) {
            let names = clauses.survey.column_names(*source)?;
            columns.extend(names.into_iter().map(|name| Column { source: *source, name }));
        }
    }
    Some(columns)
}

impl Grouping {
    fn hide(&mut self, key: Hidden) -> Result<u16> {
        let at = self.hidden.iter().position(|known| *known == key).unwrap_or(self.hidden.len());
        if at == self.hidden.len() {
            self.hidden.push(key);
        }
        short(at)
    }

    /// How an aggregate of the places' groups becomes one of all.
    fn fold(&mut self, clauses: &Clauses<'_>, function: &Function) -> Result<Fold> {
        let name = String::from_utf8_lossy(clauses.survey.source.bytes(function.name.0)).to_ascii_uppercase();
        let such = || refused(clauses, &format!("{name} of such a value"));
        if function.distinct || !function.order_by.is_empty() || function.has_limit {
            return Err(such());
        }
        let arg = match (function.form, function.args.as_slice()) {
            (FunctionForm::Star, _) if name == "COUNT" => return Ok(Fold::Count),
            (_, [arg]) => arg,
            (_, _) => return Err(such()),
        };
        match name.as_str() {
            "COUNT" => Ok(Fold::Count),
            "SUM" => exact(clauses, arg).filter(|digits| digits.can_be_summed()).map(|_| Fold::Sum).ok_or_else(such),
            "AVG" => {
                let digits =
                    exact(clauses, arg).filter(|digits| digits.can_be_summed() && digits.scale <= LONGEST_SCALE);
                let text = digits.and_then(|_| clauses.text(arg)).ok_or_else(such)?;
                let sum = self.hide(plain(format!("SUM({text})")))?;
                let count = self.hide(plain(format!("COUNT({text})")))?;
                Ok(Fold::Average { sum, count })
            }
            "MIN" | "MAX" => {
                let key = extreme(clauses, &name, arg).ok_or_else(such)?;
                let key = self.hide(hidden(key))?;
                Ok(if name == "MIN" { Fold::Least(key) } else { Fold::Greatest(key) })
            }
            _ => Err(such()),
        }
    }

    fn ordered_by<'a>(&mut self, clauses: &Clauses<'a>, target: &Target<'a>) -> Result<Cell> {
        let folded = |groups: &Grouping, cell: Cell| groups.folds.iter().any(|(known, _)| *known == cell);
        if let Some(item) = clauses.item_of(target) {
            let cell = Cell::Visible(short(item)?);
            if folded(self, cell) {
                return Ok(cell);
            }
        }
        if let Target::Expr(expr) = target {
            if let Some(function) = clauses.aggregate(expr) {
                let text = clauses.text(expr).ok_or_else(|| refused(clauses, "ORDER BY of such an aggregate"))?;
                let fold = self.fold(clauses, function)?;
                let cell = Cell::Hidden(self.hide(plain(text))?);
                if !folded(self, cell) {
                    self.folds.push((cell, fold));
                }
                return Ok(cell);
            }
            if clauses.holds(expr).aggregate {
                return Err(refused(clauses, "ORDER BY of an expression with aggregates"));
            }
        }
        let key = clauses.key(target, Use::Order);
        let key = key.ok_or_else(|| refused(clauses, "ORDER BY of such an expression"))?;
        self.hide(hidden(key)).map(Cell::Hidden)
    }
}

/// The digits of a number that is exact.
fn exact(clauses: &Clauses<'_>, arg: &Expr) -> Option<Digits> {
    match number(clauses.survey, arg, &clauses.scope) {
        Some(Number::Exact(digits)) if !clauses.holds(arg).query => Some(digits),
        Some(Number::Exact(_) | Number::Other) | None => None,
    }
}

/// What MIN or MAX gives, as a key.
fn extreme(clauses: &Clauses<'_>, name: &str, arg: &Expr) -> Option<Key> {
    match clauses.target(arg) {
        Target::Column(column) => {
            let def = super::number::definition(clauses.survey, &column)?;
            // By label there, not by number; a zero TIMESTAMP is no moment.
            let labelled = matches!(def.data_type.as_str(), "enum" | "set" | "timestamp");
            // Whether it is filled up depends on how a server goes about it.
            let filled = def.column_type.contains("zerofill");
            let key = clauses.column_key(&column, Use::Group, |column| format!("{name}({column})"));
            key.filter(|_| !labelled && !filled)
        }
        Target::Expr(arg) => {
            exact(clauses, arg)?;
            let expr = format!("{name}({})", clauses.text(arg)?);
            Some(Key { expr, pads: None, raw: None })
        }
    }
}

fn hidden(key: Key) -> Hidden {
    Hidden { expr: key.expr.into(), pads: key.pads }
}

fn plain(expr: String) -> Hidden {
    Hidden { expr: expr.into(), pads: None }
}

fn short(number: usize) -> Result<u16> {
    u16::try_from(number).map_err(|_| Error::refused("Bifold: a query with so many columns is not supported."))
}

fn refused(clauses: &Clauses<'_>, what: &str) -> Error {
    refusal(clauses.survey, what)
}
