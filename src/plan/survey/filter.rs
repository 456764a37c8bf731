//! Conditions that one table alone can answer: a row that such a condition does not let through
//! has no part in the statement's result, so where the rows of that table are read for the
//! statement to be run elsewhere, the row need not be read.

use super::query::Tree;
use super::{Env, Origin, Survey};
use crate::plan::function::{Nature, is_aggregate, nature};
use crate::plan::predicate::SourceNo;
use crate::sql::Span;
use crate::sql::ast::{Expr, ExprKind, Function, FunctionForm, JoinCondition, JoinKind};
use crate::sql::visit::{Node, Visitor, walk_expr};

/// A condition on the columns of one source, and nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub source: SourceNo,
    pub span: Span,
    /// It asks what time it is.
    pub clock: bool,
}

impl Survey<'_> {
    /// Notes what WHERE and ON let through of each table of a FROM. WHERE says nothing of a side that an
    /// outer join fills with NULLs, and ON nothing of the side that it keeps.
    pub(super) fn note_filters(&mut self, tree: &Tree<'_>, filter: Option<&Expr>, scope: &Env<'_>) {
        let mut conditions = Vec::new();
        filter.iter().for_each(|filter| conjuncts(filter, &mut conditions));
        self.filters(tree, &conditions, scope);
    }

    fn filters(&mut self, tree: &Tree<'_>, conditions: &[&Expr], scope: &Env<'_>) {
        match tree {
            Tree::Leaf(source) => {
                let found: Vec<Filter> =
                    conditions.iter().filter_map(|condition| self.filter(*source, condition, scope)).collect();
                self.filters.extend(found);
            }
            Tree::Cross(left, right) => {
                self.filters(left, conditions, scope);
                self.filters(right, conditions, scope);
            }
            Tree::Join(join, left, right) => {
                let mut on = Vec::new();
                if let JoinCondition::On(condition) = &join.condition {
                    conjuncts(condition, &mut on);
                }
                match join.kind {
                    JoinKind::Inner | JoinKind::Straight => {
                        let all = [conditions, &on].concat();
                        self.filters(left, &all, scope);
                        self.filters(right, &all, scope);
                    }
                    JoinKind::Left => {
                        self.filters(left, conditions, scope);
                        self.filters(right, &on, scope);
                    }
                    JoinKind::Right => {
                        self.filters(left, &on, scope);
                        self.filters(right, conditions, scope);
                    }
                }
            }
        }
    }

    fn filter(&self, source: SourceNo, condition: &Expr, scope: &Env<'_>) -> Option<Filter> {
        let mut look = Look { survey: self, scope, source, columns: 0, fits: true, clock: false };
        walk_expr(condition, &mut look);
        (look.fits && look.columns > 0).then_some(Filter { source, span: condition.span, clock: look.clock })
    }
}

/// The conditions that must all hold.
fn conjuncts<'e>(condition: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &condition.kind {
        ExprKind::And(parts) => parts.iter().for_each(|part| conjuncts(part, out)),
        ExprKind::Parens(inner) if matches!(inner.kind, ExprKind::And(_) | ExprKind::Parens(_)) => {
            conjuncts(inner, out);
        }
        _ => out.push(condition),
    }
}

/// Looks whether an expression's value depends on a row of the source alone.
struct Look<'s, 'a> {
    survey: &'s Survey<'a>,
    scope: &'s Env<'s>,
    source: SourceNo,
    columns: usize,
    fits: bool,
    clock: bool,
}

impl<'e> Visitor<'e> for Look<'_, '_> {
    fn enter(&mut self, node: Node<'e>) -> bool {
        self.fits &= match node {
            Node::Expr(expr) => self.expr(expr),
            Node::Column(column) => {
                self.columns += 1;
                let found = self.survey.resolve(&column, self.scope);
                found.is_some_and(|found| found.source == self.source && self.has(&found.name))
            }
            Node::Query(_)
            | Node::Select(_)
            | Node::With(_)
            | Node::CommonTable(_)
            | Node::TableRef(_)
            | Node::Table(_)
            | Node::Wildcard(_)
            | Node::Mention(_) => false,
        };
        self.fits
    }
}

impl Look<'_, '_> {
    /// A column that isn't there is the statement's own error.
    fn has(&self, column: &str) -> bool {
        match self.survey.origin(self.source) {
            Origin::Table { found, .. } => {
                let def = &self.survey.refs[usize::from(found.0)].def;
                def.as_ref().is_some_and(|def| def.column(column).is_some())
            }
            Origin::Derived { .. } => false,
        }
    }

    fn expr(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Literal(_)
            | ExprKind::Param
            | ExprKind::Column(_)
            | ExprKind::UserVar
            | ExprKind::SysVar(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Is { .. }
            | ExprKind::Between { .. }
            | ExprKind::In { .. }
            | ExprKind::Like { .. }
            | ExprKind::Regexp { .. }
            | ExprKind::Row(_)
            | ExprKind::Parens(_)
            | ExprKind::Case { .. }
            | ExprKind::Collate(..)
            | ExprKind::DateArith { .. }
            | ExprKind::Interval { .. }
            | ExprKind::Odbc(..) => true,
            ExprKind::Function(function) => self.function(function),
            ExprKind::Default
            | ExprKind::DefaultOf(_)
            | ExprKind::ValuesOf(_)
            | ExprKind::Assign(_)
            | ExprKind::InQuery { .. }
            | ExprKind::Quantified { .. }
            | ExprKind::Exists(_)
            | ExprKind::Subquery(_)
            | ExprKind::Match { .. } => false,
        }
    }

    fn function(&mut self, function: &Function) -> bool {
        let name = self.survey.source.bytes(function.name.0);
        let is_plain = function.db.is_none()
            && function.over.is_none()
            && !is_aggregate(name)
            && !matches!(function.form, FunctionForm::Star | FunctionForm::Sequence(_));
        match nature(name) {
            Ok(Nature::Fixed) => is_plain,
            Ok(Nature::Clock) => {
                self.clock = true;
                is_plain
            }
            Ok(Nature::Chance | Nature::Session | Nature::Lock | Nature::Stored) | Err(_) => false,
        }
    }
}
