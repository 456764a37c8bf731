//! PREPARE, EXECUTE and DEALLOCATE PREPARE as SQL text: names resolved, values left to the session.

use super::desk::Desk;
use super::{Local, Prepared};
use crate::error::{Error, Result};
use crate::plan::Item;
use crate::sql::ast::{Expr, ExprKind, Name, PrepareFrom};
use crate::sql::{Flavour, Span, parser};

pub(super) fn prepare(desk: &Desk<'_>, name: Name, from: PrepareFrom) -> Result<Local> {
    let text = match from {
        PrepareFrom::Text(span) => literal(desk, span),
        PrepareFrom::Variable(variable) => Prepared::Variable(desk.name(variable).to_lowercase().into()),
    };
    Ok(Local::Prepare { name: desk.name(name).into(), text })
}

pub(super) fn execute(desk: &Desk<'_>, name: Name, using: &[Expr]) -> Result<Local> {
    Ok(Local::Execute { name: desk.name(name).into(), using: variables(desk, using)? })
}

/// MariaDB's EXECUTE IMMEDIATE.
pub(super) fn immediate(desk: &Desk<'_>, text: &Expr, using: &[Expr]) -> Result<Local> {
    let text = match &text.kind {
        ExprKind::Literal(_) => literal(desk, text.span),
        ExprKind::UserVar => Prepared::Variable(desk.name(Name(text.span.start)).to_lowercase().into()),
        _ => {
            return Err(Error::refused(
                "Bifold: EXECUTE IMMEDIATE of an expression is not supported; put the text in a user variable first.",
            ));
        }
    };
    Ok(Local::ExecuteImmediate { text, using: variables(desk, using)? })
}

fn literal(desk: &Desk<'_>, span: Span) -> Prepared {
    Prepared::Literal { from: desk.item(span.start), to: Item(desk.item(span.end - 1).0 + 1) }
}

fn variables(desk: &Desk<'_>, using: &[Expr]) -> Result<Vec<Box<str>>> {
    let variable = |expr: &Expr| match (&expr.kind, desk.source.dialect.flavour) {
        (ExprKind::UserVar, _) => Ok(desk.name(Name(expr.span.start)).to_lowercase().into()),
        (_, Flavour::MySql) => Err(parser::syntax_error(desk.source, expr.span.start)),
        (_, Flavour::MariaDb) => Err(Error::refused(
            "Bifold: EXECUTE … USING of anything but user variables is not supported; SET a user variable to the value first.",
        )),
    };
    using.iter().map(variable).collect()
}
