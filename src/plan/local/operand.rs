//! A value within a statement that the proxy itself needs: written there, or asked of a server.

use std::sync::Arc;

use super::Operand;
use super::desk::Desk;
use crate::error::{Error, Result};
use crate::plan::survey::{Env, Survey};
use crate::plan::{Effect, Item, Kind, Outcome, Patch, Planned, select};
use crate::sql::Span;
use crate::sql::ast::{Expr, ExprKind, Literal, UnaryOp};

pub(super) fn operand(desk: &Desk<'_>, value: &Expr) -> Result<Operand> {
    let literal =
        || Operand::Literal { from: desk.item(value.span.start), to: Item(desk.item(value.span.end - 1).0 + 1) };
    Ok(match &value.kind {
        ExprKind::Default => Operand::Default,
        ExprKind::Column(column) if column.table.is_none() => Operand::Word(desk.name(column.column).into()),
        ExprKind::Literal(Literal::True) => Operand::Word("true".into()),
        ExprKind::Literal(Literal::False) => Operand::Word("false".into()),
        ExprKind::Literal(_) => literal(),
        ExprKind::Unary(UnaryOp::Neg | UnaryOp::Plus, inner) if matches!(inner.kind, ExprKind::Literal(_)) => literal(),
        _ => Operand::Ask(Arc::new(asked(desk, value)?)),
    })
}

/// `SELECT value`, in place of the statement around it.
fn asked(desk: &Desk<'_>, value: &Expr) -> Result<Planned> {
    let whole = desk.fingerprint.span();
    let mut survey = desk.survey();
    survey.cut(Span::new(whole.start, value.span.start), Patch::Text((*b"SELECT ").into()));
    survey.expr(value, &Env::default())?;
    if value.span.end < whole.end {
        survey.cut(Span::new(value.span.end, whole.end), Patch::Text([].into()));
    }
    match on_one_server(survey)? {
        Outcome::Planned(planned) => Ok(planned),
        Outcome::Lacks(_) => Err(Error::refused(
            "Bifold: a subquery on a sharded table can't give this statement its value; SELECT it INTO a user variable first.",
        )),
    }
}

pub(super) fn on_one_server(survey: Survey<'_>) -> Result<Outcome> {
    if let Some(lacks) = survey.lacking() {
        return Ok(lacks);
    }
    survey.all_pinned()?;
    select::single(survey, Effect::Read, Kind::Other)
}
