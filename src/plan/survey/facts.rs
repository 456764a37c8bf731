//! A predicate's tree becomes facts: what each row that it lets through has in its columns. A part
//! that says nothing provable is passed over; nothing is taken from NOT, and from OR only what all
//! its branches say of one column.

use super::{Env, Origin, Survey, key_type};
use crate::plan::ValueSource;
use crate::plan::predicate::{Column, Fact};
use crate::plan::{Item, predicate};
use crate::sql::Span;
use crate::sql::ast::{BinaryOp, Expr, ExprKind, FunctionForm, IsTest, Literal, UnaryOp};
use crate::topology::key::KeyType;

impl Survey<'_> {
    /// The facts of a condition.
    pub fn facts(&self, condition: &Expr, env: &Env<'_>, out: &mut Vec<Fact>) {
        match &condition.kind {
            ExprKind::And(parts) => parts.iter().for_each(|part| self.facts(part, env, out)),
            ExprKind::Parens(inner) => self.facts(inner, env, out),
            ExprKind::Or(branches) => self.common_facts(branches, env, out),
            ExprKind::Binary(op, sides) => self.comparison(*op, &sides[0], &sides[1], env, out),
            ExprKind::In { expr, not: false, list, list_span } => self.in_list(expr, list, *list_span, env, out),
            ExprKind::InQuery { expr, not: false, .. }
            | ExprKind::Between { expr, not: false, .. }
            | ExprKind::Like { expr, not: false, .. }
            | ExprKind::Is { expr, not: true, test: IsTest::Null } => self.present(expr, env, out),
            _ => {}
        }
    }

    fn comparison(&self, op: BinaryOp, a: &Expr, b: &Expr, env: &Env<'_>, out: &mut Vec<Fact>) {
        match op {
            BinaryOp::Eq | BinaryOp::NullSafeEq => {}
            BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                self.present(a, env, out);
                return self.present(b, env, out);
            }
            _ => return,
        }
        let null_safe = op == BinaryOp::NullSafeEq;
        if let (ExprKind::Row(left), ExprKind::Row(right)) = (&bare(a).kind, &bare(b).kind) {
            if left.len() == right.len() {
                left.iter().zip(right).for_each(|(a, b)| self.comparison(op, a, b, env, out));
            }
            return;
        }
        match (self.column(a, env), self.column(b, env)) {
            (Some(a), Some(b)) if !null_safe => {
                self.equal(a, b, out);
            }
            (Some(column), None) => self.among(column, b, null_safe, out),
            (None, Some(column)) => self.among(column, a, null_safe, out),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    /// Two columns are equal: one's constants are the other's if they compare alike.
    pub fn equal(&self, a: Column, b: Column, out: &mut Vec<Fact>) {
        out.extend([Fact::Present(a.source), Fact::Present(b.source)]);
        if let (Some(one), Some(other)) = (self.type_of(&a), self.type_of(&b))
            && one.meets(&other)
        {
            out.push(Fact::Same(a, b));
        }
    }

    fn among(&self, column: Column, value: &Expr, null_safe: bool, out: &mut Vec<Fact>) {
        if let Some(value) = self.constant(value) {
            out.push(Fact::Among { column, values: vec![value], null_safe });
        } else if !null_safe {
            out.push(Fact::Present(column.source));
        }
    }

    fn in_list(&self, expr: &Expr, list: &[Expr], span: Span, env: &Env<'_>, out: &mut Vec<Fact>) {
        if let ExprKind::Row(columns) = &bare(expr).kind {
            for (at, column) in columns.iter().enumerate() {
                let Some(column) = self.column(column, env) else { continue };
                let value = |row: &Expr| match &bare(row).kind {
                    ExprKind::Row(row) => self.constant(row.get(at)?),
                    _ => None,
                };
                let values: Option<Vec<_>> = list.iter().map(value).collect();
                out.push(match (values, u16::try_from(at)) {
                    (Some(_), Ok(value)) if self.is_list(span) => {
                        let values = vec![ValueSource::Rows { item: self.item(span.start), value }];
                        Fact::Among { column, values, null_safe: false }
                    }
                    (Some(values), _) => Fact::Among { column, values, null_safe: false },
                    (None, _) => Fact::Present(column.source),
                });
            }
            return;
        }
        let Some(column) = self.column(expr, env) else { return };
        let values: Option<Vec<_>> = list.iter().map(|value| self.constant(value)).collect();
        out.push(match values {
            Some(_) if self.is_list(span) => {
                Fact::Among { column, values: vec![ValueSource::List(self.item(span.start))], null_safe: false }
            }
            Some(values) => Fact::Among { column, values, null_safe: false },
            None => Fact::Present(column.source),
        });
    }

    /// What every branch of an OR says: the values of one column, together.
    fn common_facts(&self, branches: &[Expr], env: &Env<'_>, out: &mut Vec<Fact>) {
        let mut all = Vec::new();
        for branch in branches {
            let mut facts = Vec::new();
            self.facts(branch, env, &mut facts);
            all.push(facts);
        }
        let Some((first, others)) = all.split_first() else { return };
        'column: for fact in first {
            let Fact::Among { column, values, null_safe } = fact else { continue };
            let (mut values, mut null_safe) = (values.clone(), *null_safe);
            for facts in others {
                let facts: Vec<&Fact> = facts.iter().collect();
                let Some((more, safe)) = predicate::values(column, &facts).into_iter().next() else { continue 'column };
                values.extend_from_slice(more);
                null_safe |= safe;
            }
            out.push(Fact::Among { column: column.clone(), values, null_safe });
        }
    }

    fn present(&self, expr: &Expr, env: &Env<'_>, out: &mut Vec<Fact>) {
        out.extend(self.column(expr, env).map(|column| Fact::Present(column.source)));
    }

    /// A column and nothing around it: no COLLATE, no function.
    pub fn column(&self, expr: &Expr, env: &Env<'_>) -> Option<Column> {
        match &bare(expr).kind {
            ExprKind::Column(column) => self.resolve(column, env),
            _ => None,
        }
    }

    /// A literal with its signs, `?`, or the session's last id.
    pub fn constant(&self, expr: &Expr) -> Option<ValueSource> {
        let expr = bare(expr);
        if self.is_last_insert_id(expr) {
            return Some(ValueSource::LastInsertId);
        }
        let plain = match &expr.kind {
            ExprKind::Param => true,
            ExprKind::Literal(literal) => is_plain(*literal),
            ExprKind::Unary(UnaryOp::Neg | UnaryOp::Plus, inner) => is_number(inner),
            _ => false,
        };
        plain.then(|| self.whole(expr.span))
    }

    fn is_last_insert_id(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Function(function) => {
                let is_it = self.source.bytes(function.name.0).eq_ignore_ascii_case(b"LAST_INSERT_ID");
                is_it && function.db.is_none() && function.args.is_empty() && function.form == FunctionForm::Call
            }
            _ => false,
        }
    }

    fn whole(&self, span: Span) -> ValueSource {
        ValueSource::One { from: self.item(span.start), to: Item(self.item(span.end - 1).0 + 1) }
    }

    fn is_list(&self, span: Span) -> bool {
        self.fingerprint.lists().iter().any(|list| list.span == span)
    }

    /// How a column's values compare; `None` where that is not on the list of key types.
    pub fn type_of(&self, column: &Column) -> Option<KeyType> {
        match self.origin(column.source) {
            Origin::Table { found, .. } => {
                key_type(self.refs[usize::from(found.0)].def.as_ref()?.column(&column.name)?).ok()
            }
            Origin::Derived { columns, .. } => {
                let export = columns.as_ref()?.iter().find(|export| export.name == column.name)?;
                self.type_of(export.column.as_ref()?)
            }
        }
    }
}

/// Without parentheses around it.
pub(super) fn bare(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Parens(inner) => bare(inner),
        _ => expr,
    }
}

fn is_plain(literal: Literal) -> bool {
    match literal {
        Literal::Null | Literal::True | Literal::False => true,
        Literal::Int | Literal::Decimal | Literal::Float | Literal::String | Literal::Hex | Literal::Bit => true,
        Literal::Date | Literal::Time | Literal::Timestamp => true,
    }
}

/// Signs change nothing but numbers that are written as such.
fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(Literal::Int | Literal::Decimal) => true,
        ExprKind::Unary(UnaryOp::Neg | UnaryOp::Plus, inner) => is_number(inner),
        _ => false,
    }
}
