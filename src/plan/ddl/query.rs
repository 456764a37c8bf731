//! CREATE TABLE … SELECT of unsharded tables: the home shard's server runs it as one statement.

use super::Reach;
use super::planner::{Named, Planner, undeclared};
use crate::error::{Error, Result};
use crate::plan::survey::{Env, Survey};
use crate::plan::{Bind, Effect, Kind, Outcome, Patch, Plan, Planned, Single};
use crate::sql::ast::{ColumnAttributeKind, CreateTable, KeyKind, Query, TableElement};

pub(crate) fn create(mut survey: Survey<'_>, create: &CreateTable, query: &Query) -> Result<Outcome> {
    let source = survey.source;
    let planner = Planner { source: &source, scene: survey.scene };
    let Named { schema, target } = planner.new_name(&create.table)?;
    if !matches!(target.reach, Reach::Home) {
        return Err(Error::refused(format!(
            "Bifold: CREATE TABLE … SELECT into `{}`, which lives in many places, is not supported. CREATE TABLE first, then INSERT the rows.",
            target.table
        )));
    }
    if create.elements.iter().any(points_elsewhere) {
        return Err(Error::refused(
            "Bifold: CREATE TABLE … SELECT with a foreign key is not supported. Add it with ALTER TABLE.",
        ));
    }
    if !create.temporary {
        undeclared(&schema, &target)?;
    }
    let made = survey.named(&create.table)?;
    survey.cut(create.table.span, Patch::Table { table: made, alias: None });
    survey.query(query, &Env::default())?;
    if survey.has_sharded() {
        return Err(Error::refused(
            "Bifold: CREATE TABLE … SELECT from a sharded table is not supported. CREATE TABLE first, then INSERT the rows.",
        ));
    }
    let template = survey.template()?;
    let bind = create.temporary.then_some(Bind::TemporaryTable);
    // The home shard's server: what the query reads has to be there too.
    let plan =
        Plan::Single(Single { template, effect: Effect::Write, bind, wide: None, gather: None, needs_schema: true });
    let assigns = survey.marks.assigns.into_iter().collect();
    Ok(Outcome::Planned(Planned { plan, assigns, kind: Kind::Write }))
}

fn points_elsewhere(element: &TableElement) -> bool {
    match element {
        TableElement::Key(key) => key.kind == KeyKind::Foreign,
        TableElement::Column(column) => {
            column.attributes.iter().any(|attribute| matches!(attribute.kind, ColumnAttributeKind::References(_)))
        }
        TableElement::Check(_) | TableElement::Period(_) => false,
    }
}
