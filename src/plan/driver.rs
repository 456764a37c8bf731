//! The reference whose places a query over many places reads: each row of the result has exactly one
//! row of it. Every other sharded reference, also in subqueries, must have its rows for that row in
//! the same place, so that each place answers for its own rows by itself.

use super::predicate::SourceNo;
use super::scatter::refusal;
use super::survey::{Env, Found, FoundKind, Origin, Survey};
use super::{KeyColumn, RefNo, ValueSource};
use crate::error::Result;
use crate::sql::ast::{JoinKind, Query, Select, TableRef, TableRefKind};
use crate::topology::Sharded;

pub(super) struct Driver {
    pub no: RefNo,
    /// The sources of FROM whose key is the driver's in every row.
    pub equal: Vec<SourceNo>,
}

/// Finds it, or says why no reference can be it.
pub(super) fn find(survey: &Survey<'_>, query: &Query, select: &Select) -> Result<Driver> {
    let kept = kept(survey, select);
    let candidates: Vec<RefNo> = kept.iter().filter_map(|source| sharded_ref(survey, *source)).collect();
    let sharded = survey.refs.iter().filter(|found| sharded(found).is_some()).count();
    if sharded == 0 {
        return Err(refusal(survey, "a query without a sharded table"));
    }
    let Some(first) = candidates.first() else {
        return Err(refusal(survey, "an outer join that keeps rows of another table, or a table in a subquery,"));
    };
    others(survey, *first)?;
    if sharded == 1 {
        return Ok(Driver { no: *first, equal: kept_of(survey, &kept, &[*first]) });
    }
    for candidate in candidates {
        if let Some(together) = together(survey, query, candidate) {
            return Ok(Driver { no: candidate, equal: kept_of(survey, &kept, &together) });
        }
    }
    Err(refusal(survey, "a join or subquery of sharded tables that are not joined by their keys"))
}

fn sharded(found: &Found) -> Option<&Sharded> {
    match &found.kind {
        FoundKind::Sharded(rule) => rule.sharded(),
        FoundKind::Reference | FoundKind::Unsharded => None,
    }
}

fn sharded_ref(survey: &Survey<'_>, source: SourceNo) -> Option<RefNo> {
    match survey.origin(source) {
        Origin::Table { found, .. } => sharded(&survey.refs[usize::from(found.0)]).map(|_| *found),
        Origin::Derived { .. } => None,
    }
}

fn kept_of(survey: &Survey<'_>, kept: &[SourceNo], refs: &[RefNo]) -> Vec<SourceNo> {
    let is_of = |source: &&SourceNo| sharded_ref(survey, **source).is_some_and(|found| refs.contains(&found));
    kept.iter().filter(is_of).copied().collect()
}

/// All that is not sharded is the same on every shard.
fn others(survey: &Survey<'_>, driver: RefNo) -> Result<()> {
    let schema = &survey.refs[usize::from(driver.0)].schema;
    for found in survey.refs.iter().filter(|found| sharded(found).is_none()) {
        let alike = matches!(found.kind, FoundKind::Reference) && std::sync::Arc::ptr_eq(&found.schema, schema);
        if !alike {
            return Err(refusal(survey, "a join with a table that is not a reference table of the same schema"));
        }
    }
    Ok(())
}

/// All sharded references, if they are found in the driver's place. The statement is walked once
/// more, with the driver's key as a constant: what that pins is in the constant's place.
fn together(survey: &Survey<'_>, query: &Query, driver: RefNo) -> Option<Vec<RefNo>> {
    let mut again = Survey::new(survey.scene, survey.source, survey.fingerprint, survey.verb);
    again.driver = Some(driver);
    again.query(query, &Env::default()).ok()?;
    let own = survey.refs.get(usize::from(driver.0))?;
    let rule = sharded(own)?;
    let mut all = Vec::new();
    for (no, found) in (0_u16..).zip(&again.refs) {
        let Some(other) = sharded(found) else { continue };
        let same_layout = std::sync::Arc::ptr_eq(&found.schema, &own.schema)
            && (other.hash, other.subtables) == (rule.hash, rule.subtables);
        let by_key = found.keys.iter().any(|key| key.column == KeyColumn::Key && key.values == [ValueSource::Driver]);
        if !(same_layout && by_key) {
            return None;
        }
        all.push(RefNo(no));
    }
    Some(all)
}

/// The sources of FROM that no outer join fills with NULLs.
fn kept(survey: &Survey<'_>, select: &Select) -> Vec<SourceNo> {
    let mut flags = Vec::new();
    select.from.iter().for_each(|table| leaves(table, true, &mut flags));
    let sources = &survey.outermost.sources;
    if sources.len() != flags.len() {
        return Vec::new();
    }
    sources.iter().zip(flags).filter(|(_, kept)| *kept).map(|(source, _)| *source).collect()
}

/// For each table or derived table, in order: are its rows never filled with NULLs?
fn leaves(table: &TableRef, kept: bool, out: &mut Vec<bool>) {
    match &table.kind {
        TableRefKind::Table(_) => out.push(kept),
        // Its rows may be of several places.
        TableRefKind::Derived { .. } | TableRefKind::JsonTable { .. } => out.push(false),
        TableRefKind::Parens(tables) => tables.iter().for_each(|table| leaves(table, kept, out)),
        TableRefKind::Join(join) => {
            leaves(&join.left, kept && join.kind != JoinKind::Right, out);
            leaves(&join.right, kept && join.kind != JoinKind::Left, out);
        }
    }
}
