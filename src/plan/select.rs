//! Queries: the whole statement runs on one server, each of its tables in the place that pins it;
//! or, where no place is said, on all (`scatter`); or over rows brought together (`gather`).

use super::catalogue;
use super::gather;
use super::scatter::{self, Draft};
use super::survey::{Env, FoundKind, Survey};
use super::{Bind, Effect, Kind, Outcome, Plan, Planned, Scatter, Single};
use crate::error::{Error, Result};
use crate::sql::ast::Query;

pub(super) fn plan(mut survey: Survey<'_>, query: &Query) -> Result<Outcome> {
    survey.query(query, &Env::default())?;
    let is_spread = gather::is_spread(&survey);
    if is_spread && !survey.lacks.is_empty() {
        return Ok(survey.lacking_all());
    }
    let marks = &survey.marks;
    // What a stored function does is not known.
    let effect = match (marks.writes || marks.routine, marks.locks_rows) {
        (true, _) => Effect::Write,
        (false, true) => Effect::Lock,
        (false, false) => Effect::Read,
    };
    let kind = match (query_into(query), marks.calc_found_rows) {
        (true, _) => Kind::Other,
        (false, true) => Kind::CountedRows,
        (false, false) => Kind::Rows,
    };
    if !survey.views.is_empty() {
        return catalogue::plan(survey, kind);
    }
    // A place for every table; or each of them must do; or the rows are brought together.
    let draft = scatter::draft(&survey, query);
    let gathered = || if is_spread { gather::draft(&survey, query).map(Some) } else { Ok(None) };
    if survey.all_pinned().is_ok() {
        let gathered = gathered().ok().flatten();
        return single_or_wide(survey, effect, kind, draft.ok(), gathered);
    }
    if let Ok(draft) = draft {
        let plain = survey.template()?;
        let wide = draft.finish(&plain);
        let plan = Plan::Scatter(Scatter { wide });
        return Ok(Outcome::Planned(Planned { plan, assigns: Vec::new(), kind: Kind::Rows }));
    }
    let draft = gathered()?.ok_or_else(|| Error::proxy("Bifold: a table without a place is in one."))?;
    let gather = draft.finish(&survey.template()?)?;
    let plan = Plan::Gather(Box::new(gather));
    Ok(Outcome::Planned(Planned { plan, assigns: survey.marks.assigns.into_iter().collect(), kind }))
}

/// SELECT … INTO variables answers with an OK.
fn query_into(query: &Query) -> bool {
    let in_select = match &query.body {
        crate::sql::ast::Body::Select(select) => select.into.is_some(),
        _ => false,
    };
    query.into.is_some() || in_select
}

/// The plan for one server of a statement that has been walked.
pub(super) fn single(survey: Survey<'_>, effect: Effect, kind: Kind) -> Result<Outcome> {
    single_or_wide(survey, effect, kind, None, None)
}

fn single_or_wide(
    mut survey: Survey<'_>,
    effect: Effect,
    kind: Kind,
    draft: Option<Draft>,
    gathered: Option<gather::Draft>,
) -> Result<Outcome> {
    let template = survey.template()?;
    let wide = draft.map(|draft| Box::new(draft.finish(&template)));
    let gather = gathered.and_then(|draft| draft.finish(&template).ok()).map(Box::new);
    let marks = survey.marks;
    let bind = match (marks.named_lock, marks.routine) {
        (true, _) => Some(Bind::NamedLock),
        (false, true) => Some(Bind::Routine),
        (false, false) => None,
    };
    if marks.named_lock && !template.refs.is_empty() {
        return Err(Error::refused(
            "Bifold: named locks live on one server of the cluster: take and release them in statements without tables.",
        ));
    }
    // Targets by alias are looked for in the default database before all else.
    let needs_schema = marks.named_lock || marks.targets;
    let plan = Plan::Single(Single { template, effect, bind, wide, gather, needs_schema });
    Ok(Outcome::Planned(Planned { plan, assigns: marks.assigns.into_iter().collect(), kind }))
}

impl Survey<'_> {
    /// What must be known before anything about this statement can be proved.
    pub fn lacking(&self) -> Option<Outcome> {
        let needed = self.has_sharded() && !self.lacks.is_empty();
        needed.then(|| self.lacking_all())
    }

    pub fn lacking_all(&self) -> Outcome {
        Outcome::Lacks(self.lacks.iter().cloned().collect())
    }

    /// Every sharded table has a predicate that may pin it.
    pub fn all_pinned(&self) -> Result<()> {
        for found in &self.refs {
            let FoundKind::Sharded(rule) = &found.kind else { continue };
            let Some(sharded) = rule.sharded() else { continue };
            if found.keys.is_empty() {
                let (table, key) = (&found.table, &sharded.key);
                return Err(Error::refused(format!(
                    "Bifold: table {table} is spread over many places by {key}, and the statement does not say which: \
                     reading all of them is not supported yet. Add a condition such as {key} = … for it."
                )));
            }
        }
        Ok(())
    }
}
