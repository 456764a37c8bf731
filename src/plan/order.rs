//! What the merge must understand of a query: what an item of ORDER BY or GROUP BY means, and an
//! expression whose values are ordered as the server orders it.

use super::SortKey;
use super::function::is_aggregate;
use super::number::{definition, number};
use super::survey::{Env, Origin, Survey, quoted};
use crate::plan::predicate::Column;
use crate::sql::ast::{
    BinaryOp, Direction, Expr, ExprKind, Function, Literal, OrderItem, Select, SelectItem, SelectItemKind,
};
use crate::sql::visit::{Node, Visitor, walk_expr};
use crate::sql::{Charset, Kind, Span};
use crate::topology::collation::{Collation, Order};

/// Longer strings are sorted by servers by their first `max_sort_length` bytes only.
const LONGEST: u64 = 255;

/// A SELECT whose items are looked at.
pub(super) struct Clauses<'a> {
    pub survey: &'a Survey<'a>,
    pub select: &'a Select,
    /// What the query's own clauses see.
    pub scope: Env<'static>,
}

/// What an item of ORDER BY or GROUP BY means.
#[derive(Clone, Debug)]
pub(super) enum Target<'a> {
    Column(Column),
    Expr(&'a Expr),
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Order,
    /// Equal values only.
    Group,
}

/// An expression whose values stand for another's.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub expr: String,
    pub pads: Option<&'static [u8]>,
    pub raw: Option<String>,
}

/// What an expression holds.
#[derive(Debug, Default)]
pub(super) struct Holds {
    pub aggregate: bool,
    pub query: bool,
    pub columns: bool,
    /// A name that is no column of the tables.
    alias: bool,
    /// It may warn, and would do so once more where it is repeated.
    warns: bool,
}

impl<'a> Clauses<'a> {
    pub fn new(survey: &'a Survey<'a>, select: &'a Select) -> Self {
        let outermost = &survey.outermost;
        let scope = Env { sources: outermost.sources.clone(), right_joins: outermost.right_joins, ..Env::default() };
        Clauses { survey, select, scope }
    }

    /// The sort key of an item of ORDER BY.
    pub fn sort_key(&self, item: &'a OrderItem) -> Option<SortKey> {
        let key = self.key(&self.ordered(&item.expr)?, Use::Order)?;
        Some(SortKey {
            expr: key.expr.into(),
            descending: is_descending(item),
            pads: key.pads,
            raw: key.raw.map(Into::into),
        })
    }

    /// In ORDER BY: by position, by the alias or name of a select item, else of the tables.
    pub fn ordered(&self, expr: &'a Expr) -> Option<Target<'a>> {
        match &expr.kind {
            ExprKind::Literal(Literal::Int) => self.at_position(expr),
            ExprKind::Column(column) if column.table.is_some() => self.of_tables(expr),
            ExprKind::Column(column) => {
                let name = self.survey.name(column.column).to_lowercase();
                let mut meant: Vec<Target<'a>> = Vec::new();
                for item in &self.select.items {
                    match &item.kind {
                        SelectItemKind::Wildcard { .. } => meant.extend(self.of_tables(expr)),
                        SelectItemKind::Expr { expr, .. } if self.title(item).is_some_and(|title| title == name) => {
                            meant.push(self.target(expr));
                        }
                        SelectItemKind::Expr { .. } => {}
                    }
                }
                let Some(first) = meant.first().cloned() else { return self.of_tables(expr) };
                // Two columns of one name: the server says what is ambiguous, if it is.
                meant.iter().all(|other| other.is(&first)).then_some(first)
            }
            _ => Some(Target::Expr(expr)),
        }
    }

    /// In GROUP BY: by position, a column of the tables, else the alias of a select item.
    pub fn grouped(&self, expr: &'a Expr) -> Option<Target<'a>> {
        match &expr.kind {
            ExprKind::Literal(Literal::Int) => self.at_position(expr),
            ExprKind::Column(column) => self.of_tables(expr).or_else(|| {
                let name = self.survey.name(column.column).to_lowercase();
                let titled = |item: &&SelectItem| self.title(item).is_some_and(|title| title == name);
                let mut items = self.select.items.iter().filter(titled);
                let (first, second) = (items.next()?, items.next());
                match (&first.kind, second, column.table) {
                    (SelectItemKind::Expr { expr, .. }, None, None) => Some(self.target(expr)),
                    _ => None,
                }
            }),
            _ => Some(Target::Expr(expr)),
        }
    }

    fn of_tables(&self, expr: &Expr) -> Option<Target<'a>> {
        self.survey.column(expr, &self.scope).map(Target::Column)
    }

    fn at_position(&self, expr: &Expr) -> Option<Target<'a>> {
        let digits = std::str::from_utf8(self.survey.source.span_bytes(expr.span)).ok()?;
        let before = self.select.items.get(..digits.parse().ok()?)?;
        let plain = before.iter().all(|item| matches!(item.kind, SelectItemKind::Expr { .. }));
        match &before.last().filter(|_| plain)?.kind {
            SelectItemKind::Expr { expr, .. } => Some(self.target(expr)),
            SelectItemKind::Wildcard { .. } => None,
        }
    }

    pub fn target(&self, expr: &'a Expr) -> Target<'a> {
        self.survey.column(expr, &self.scope).map_or(Target::Expr(expr), Target::Column)
    }

    /// What the select item is called, in lower case.
    fn title(&self, item: &SelectItem) -> Option<String> {
        let SelectItemKind::Expr { expr, alias } = &item.kind else { return None };
        let name = match (alias, &expr.kind) {
            (Some(alias), _) => *alias,
            (None, ExprKind::Column(column)) => column.column,
            // Its title is its text, which no identifier of ORDER BY is but by quoting.
            (None, _) => {
                return Some(String::from_utf8_lossy(self.survey.source.span_bytes(item.span)).to_lowercase());
            }
        };
        Some(self.survey.name(name).to_lowercase())
    }

    /// The number of the select item that is this very expression.
    pub fn item_of(&self, target: &Target<'_>) -> Option<usize> {
        let Target::Expr(wanted) = target else { return None };
        self.select
            .items
            .iter()
            .position(|item| matches!(&item.kind, SelectItemKind::Expr { expr, .. } if std::ptr::eq(expr, *wanted)))
    }

    /// The aggregate that an expression is.
    pub fn aggregate(&self, expr: &'a Expr) -> Option<&'a Function> {
        match &expr.kind {
            ExprKind::Function(function)
                if function.over.is_none() && is_aggregate(self.survey.source.bytes(function.name.0)) =>
            {
                Some(function)
            }
            ExprKind::Parens(inner) => self.aggregate(inner),
            _ => None,
        }
    }

    /// An expression whose values are in the order of the target's, and how they compare.
    pub fn key(&self, target: &Target<'_>, of: Use) -> Option<Key> {
        match target {
            Target::Column(column) => self.column_key(column, of, |name| name),
            Target::Expr(expr) => self.expr_key(expr),
        }
    }

    /// The same of a function of the column that gives one of its values.
    pub fn column_key(&self, column: &Column, of: Use, wrap: impl Fn(String) -> String) -> Option<Key> {
        column_key(self.survey, column, of, wrap)
    }

    fn expr_key(&self, expr: &Expr) -> Option<Key> {
        let text = self.text(expr)?;
        let plain = |expr: String| Some(Key { expr, pads: None, raw: None });
        if number(self.survey, expr, &self.scope).is_some() {
            return plain(format!("({text})"));
        }
        let ExprKind::Function(function) = &expr.kind else { return None };
        let name = self.survey.source.bytes(function.name.0).to_ascii_uppercase();
        match (name.as_slice(), function.args.as_slice()) {
            _ if function.db.is_some() => None,
            (b"DATE" | b"LAST_DAY", [_]) => plain(text),
            // ONLY_FULL_GROUP_BY doesn't see that the weights follow from the text.
            (b"DATE_FORMAT", [_, format]) if self.ends_in_a_word(format) && self.select.group_by.is_some() => {
                plain(format!("WEIGHT_STRING(MIN({text}))"))
            }
            (b"DATE_FORMAT", [_, format]) if self.ends_in_a_word(format) => plain(format!("WEIGHT_STRING({text})")),
            _ => None,
        }
    }

    /// Texts made by this format never differ in trailing spaces alone.
    fn ends_in_a_word(&self, format: &Expr) -> bool {
        let text = self.survey.source.span_bytes(format.span);
        let is_text = matches!(format.kind, ExprKind::Literal(Literal::String)) && text.first() == Some(&b'\'');
        is_text && text.iter().rev().nth(1).is_some_and(u8::is_ascii_alphanumeric)
    }

    /// The text of an expression, if it means the same in a select list.
    pub fn text(&self, expr: &Expr) -> Option<String> {
        let holds = self.holds(expr);
        let whole = !self.survey.is_cut(expr.span) && !holds.query && !holds.alias && !holds.warns;
        let fixed = expr.span.tokens().all(|token| self.survey.source.kind(token) != Kind::Param);
        let bytes = self.survey.source.span_bytes(expr.span);
        let readable = bytes.is_ascii() || self.survey.source.dialect.charset == Charset::Utf8;
        (whole && fixed && readable).then(|| String::from_utf8(bytes.to_vec()).ok()).flatten()
    }

    pub fn holds(&self, expr: &Expr) -> Holds {
        let mut look = Look { clauses: self, holds: Holds::default() };
        walk_expr(expr, &mut look);
        look.holds
    }
}

/// The sort key of an item that is a column of the statement's tables, where there is no select list.
pub(super) fn plain_key(survey: &Survey<'_>, item: &OrderItem, scope: &Env<'_>) -> Option<SortKey> {
    let column = survey.column(&item.expr, scope)?;
    let key = column_key(survey, &column, Use::Order, |name| name)?;
    Some(SortKey { expr: key.expr.into(), descending: is_descending(item), pads: key.pads, raw: None })
}

struct Look<'c, 'a> {
    clauses: &'c Clauses<'a>,
    holds: Holds,
}

impl<'n> Visitor<'n> for Look<'_, '_> {
    fn enter(&mut self, node: Node<'n>) -> bool {
        let Clauses { survey, scope, .. } = self.clauses;
        match node {
            Node::Query(_) => {
                self.holds.query = true;
                return false;
            }
            Node::Column(column) => {
                self.holds.columns = true;
                self.holds.alias |= survey.resolve(&column, scope).is_none();
            }
            Node::Expr(expr) => {
                if let ExprKind::Function(function) = &expr.kind {
                    self.holds.aggregate |= is_aggregate(survey.source.bytes(function.name.0));
                }
                self.holds.warns |= self.warns(expr);
            }
            Node::Select(_)
            | Node::With(_)
            | Node::CommonTable(_)
            | Node::TableRef(_)
            | Node::Table(_)
            | Node::Wildcard(_)
            | Node::Mention(_) => {}
        }
        true
    }
}

impl Look<'_, '_> {
    /// Division by zero, a text that is no number.
    fn warns(&self, expr: &Expr) -> bool {
        let Clauses { survey, scope, .. } = self.clauses;
        let is_number = |expr: &Expr| number(survey, expr, scope).is_some();
        let is_null = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(Literal::Null));
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Div | BinaryOp::IntDiv | BinaryOp::Mod, sides) => {
                let written = matches!(sides[1].kind, ExprKind::Literal(Literal::Int | Literal::Decimal));
                let zero = survey.source.span_bytes(sides[1].span).iter().all(|byte| matches!(byte, b'0' | b'.'));
                !written || zero
            }
            ExprKind::Binary(_, sides) => {
                let [a, b] = &**sides;
                is_number(a) != is_number(b) && !is_null(a) && !is_null(b)
            }
            ExprKind::Between { expr, low, high, .. } => {
                let first = is_number(expr);
                [low, high].into_iter().any(|bound| is_number(bound) != first)
            }
            ExprKind::In { expr, list, .. } => {
                let first = is_number(expr);
                list.iter().any(|value| is_number(value) != first && !is_null(value))
            }
            ExprKind::And(parts) | ExprKind::Or(parts) => !parts.iter().all(is_number),
            ExprKind::Function(function) => {
                let name = survey.source.bytes(function.name.0).to_ascii_uppercase();
                matches!(name.as_slice(), b"CAST" | b"CONVERT" | b"MOD" | b"GREATEST" | b"LEAST")
            }
            _ => false,
        }
    }
}

pub(super) fn is_descending(item: &OrderItem) -> bool {
    item.direction == Some(Direction::Desc)
}

/// The tokens of ORDER BY with its items.
pub(super) fn order_span(items: &[OrderItem]) -> Option<Span> {
    let (first, last) = (items.first()?, items.last()?);
    Some(Span::new(first.span.start.checked_sub(2)?, last.span.end))
}

impl Target<'_> {
    pub fn is(&self, other: &Target<'_>) -> bool {
        match (self, other) {
            (Target::Column(a), Target::Column(b)) => a == b,
            (Target::Expr(a), Target::Expr(b)) => std::ptr::eq(*a, *b),
            (Target::Column(_), Target::Expr(_)) | (Target::Expr(_), Target::Column(_)) => false,
        }
    }
}

/// An expression whose values are in the order of the column's, or of a function of it that gives one of them.
fn column_key(survey: &Survey<'_>, column: &Column, of: Use, wrap: impl Fn(String) -> String) -> Option<Key> {
    let def = definition(survey, column)?;
    let name = wrap(physical_column(survey, column)?);
    let fits = of == Use::Group || def.length.is_some_and(|length| length <= LONGEST);
    let plain = |expr: String| Some(Key { expr, pads: None, raw: None });
    match def.data_type.as_str() {
        // As numbers: ZEROFILL is a matter of spelling.
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "date" | "datetime" | "time" | "year" => {
            plain(format!("{name}+0"))
        }
        // Within groups servers make an integer of it, or not.
        "bit" if of == Use::Order => plain(format!("{name}+0")),
        // In text a FLOAT has lost digits.
        "float" | "double" => plain(format!("{name}+0e0")),
        // By the moment, not by what a clock shows in the hour that a time zone sees twice.
        "timestamp" => plain(format!("UNIX_TIMESTAMP({name})")),
        "enum" | "set" => plain(format!("CAST({name} AS UNSIGNED)")),
        "binary" | "varbinary" if fits => plain(name),
        // Which of equal texts stands for a group is the server's choice, and shows.
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext"
            if of == Use::Group && !equals_only_itself(def.collation.as_deref()?) =>
        {
            None
        }
        "char" | "varchar" if fits => text_key(name, def.collation.as_deref()?),
        "tinytext" | "text" | "mediumtext" | "longtext" if of == Use::Group => {
            text_key(name, def.collation.as_deref()?)
        }
        _ => None,
    }
}

/// The column with its table, as the servers' texts call both.
fn physical_column(survey: &Survey<'_>, column: &Column) -> Option<String> {
    let Origin::Table { name, bare, .. } = survey.origin(column.source) else { return None };
    let own = quoted(&column.name);
    // What takes no alias is alone in its statement.
    let full = if *bare { own } else { format!("{}.{own}", quoted(name)) };
    (full.is_ascii() || survey.source.dialect.charset == Charset::Utf8).then_some(full)
}

/// Texts that are equal under the collation are written alike.
fn equals_only_itself(collation: &str) -> bool {
    Collation::named(collation).is_some_and(|collation| collation.order() == Order::Binary { pads: false })
}

/// Strings by their weights, which the server knows.
fn text_key(name: String, collation: &str) -> Option<Key> {
    let (expr, pads) = match Collation::named(collation)?.order() {
        Order::Weights { space, learned: Some(_) } => (format!("WEIGHT_STRING({name})"), space),
        // Code points, in whose order utf8mb4's bytes are.
        Order::Binary { pads } if collation.starts_with("utf8") => {
            let expr = format!("CAST(CONVERT({name} USING utf8mb4) AS BINARY)");
            (expr, pads.then_some(b" ".as_slice()))
        }
        Order::Weights { learned: None, .. } | Order::Binary { .. } => return None,
    };
    Some(Key { expr, pads, raw: Some(name) })
}
