//! EXPLAIN, EXPLAIN ROUTE and `SET STATEMENT … FOR`: words before a statement, whose own plan
//! decides; its text is the whole one.

use std::sync::Arc;

use super::Local;
use super::desk::Desk;
use crate::error::{Error, Result};
use crate::plan::{Cut, Effect, Item, Kind, Outcome, Patch, Plan, Planned, statement};
use crate::sql::ast::{Explain, ExplainTarget, Statement};

pub(super) fn plan(desk: &Desk<'_>, explain: &Explain) -> Result<Outcome> {
    let ExplainTarget::Statement(explained) = &explain.target else {
        // The allow-list lets it not through.
        return Err(Error::refused("Bifold: EXPLAIN FOR CONNECTION is not supported."));
    };
    if explain.into.is_some() {
        return Err(Error::refused("Bifold: EXPLAIN … INTO is not supported; read its rows."));
    }
    if explain.route {
        return route(desk, explained);
    }
    let planned = match inner(desk, explained)? {
        Outcome::Planned(planned) => planned.on_one_server(),
        lacks @ Outcome::Lacks(_) => return Ok(lacks),
    };
    match &planned.plan {
        Plan::Single(single) if explain.analyze && single.effect == Effect::Write => {
            Err(Error::refused("Bifold: EXPLAIN ANALYZE of a statement that writes is not supported; use EXPLAIN."))
        }
        Plan::Insert(_) | Plan::WriteScatter(_) if explain.analyze => {
            Err(Error::refused("Bifold: EXPLAIN ANALYZE of a statement that writes is not supported; use EXPLAIN."))
        }
        Plan::Single(_)
        | Plan::Scatter(_)
        | Plan::Gather(_)
        | Plan::Insert(_)
        | Plan::InsertSelect(_)
        | Plan::WriteScatter(_) => Ok(desk.planned(Local::Explain(Arc::new(planned)), Kind::Rows)),
        Plan::Refusal(_) => Ok(Outcome::Planned(planned)),
        Plan::Local(_) | Plan::Load(_) | Plan::Ddl(_) => {
            Err(Error::refused("Bifold: only queries and DML can be explained."))
        }
    }
}

/// What can't be planned is shown as the refusal that it is.
fn route(desk: &Desk<'_>, explained: &Statement) -> Result<Outcome> {
    let mut planned = match inner(desk, explained) {
        Ok(Outcome::Planned(planned)) => planned.on_one_server(),
        Ok(lacks @ Outcome::Lacks(_)) => return Ok(lacks),
        Err(error) => Planned { plan: Plan::Refusal(error), assigns: Vec::new(), kind: Kind::Other },
    };
    // The texts shown are those of the statement itself.
    let words = Cut { from: Item(0), to: desk.item(explained.span.start), with: Patch::Text([].into()) };
    match &mut planned.plan {
        Plan::Single(plan) => {
            if let Some(wide) = &mut plan.wide {
                wide.template.cuts.insert(0, words.clone());
                wide.plain.cuts.insert(0, words.clone());
            }
            if let Some(gather) = &mut plan.gather {
                gather.put_first(words.clone());
            }
            plan.template.cuts.insert(0, words);
        }
        Plan::Scatter(plan) => {
            plan.wide.plain.cuts.insert(0, words.clone());
            plan.wide.template.cuts.insert(0, words);
        }
        Plan::Gather(plan) => plan.put_first(words),
        Plan::Insert(plan) => plan.template.cuts.insert(0, words),
        Plan::WriteScatter(plan) => {
            if let Some(choice) = &mut plan.choice {
                choice.query.cuts.insert(0, words.clone());
                choice.change.cuts.insert(0, words.clone());
            }
            plan.template.cuts.insert(0, words);
        }
        Plan::Local(_) | Plan::InsertSelect(_) | Plan::Load(_) | Plan::Ddl(_) | Plan::Refusal(_) => {}
    }
    Ok(desk.planned(Local::Route(Arc::new(planned)), Kind::Rows))
}

/// The plan of a statement within the statement.
pub(super) fn inner(desk: &Desk<'_>, inner: &Statement) -> Result<Outcome> {
    statement(*desk.source, desk.fingerprint, desk.asker.scene, inner)
}
