//! Views of unsharded and reference tables: they live in the home shard's database, whose server runs
//! their queries. A query is looked at here as if the user had written it in a statement.

use std::sync::Arc;

use super::edits::Edits;
use super::planner::{Named, Planner, at_home_of, undeclared};
use super::routine::Reader;
use super::{Action, Ddl, HomeEffect, Reach, Target};
use crate::error::{Error, Result};
use crate::sql::Flavour;
use crate::sql::ast::{self, ObjectDdl, ObjectKind, TableName};
use crate::topology::Schema;

impl Planner<'_> {
    pub(super) fn view(&self, object: &ObjectDdl, start: u32) -> Result<Ddl> {
        let mut edits = Edits::new(self.source);
        let mut schema: Option<Arc<Schema>> = None;
        let mut targets = Vec::new();
        for name in &object.names {
            let named = self.view_name(object, name)?;
            let own = schema.get_or_insert_with(|| named.schema.clone());
            edits.table(name, at_home_of(own, &named)?);
            targets.push(named.target);
        }
        let schema = schema.ok_or_else(|| Error::proxy("Bifold: a view without a name."))?;
        if object.action != ast::Action::Drop {
            self.no_definer(start, &object.names[0])?;
            let view = object.view.as_ref().ok_or_else(|| Error::proxy("Bifold: a view without its query."))?;
            // Names without a qualifier are looked for in the database that the connection is in.
            if self.scene.schema != Some(schema.name.as_str()) {
                return Err(Error::refused(format!(
                    "Bifold: a view is made in the default schema only. USE `{}` first.",
                    schema.name
                )));
            }
            undeclared(&schema, &targets[0])?;
            Reader::new(self, &schema, &mut edits, ObjectKind::View).query(&view.query)?;
        }
        let action = Action::Home { targets, text: edits.text(), effect: HomeEffect::CommitsWithin };
        Ok(Ddl { schema, action, notes: Vec::new() })
    }

    /// A view is called as no declared table is.
    fn view_name(&self, object: &ObjectDdl, name: &TableName) -> Result<Named> {
        let named = self.new_name(name)?;
        let is_view = matches!(named.target.reach, Reach::Home);
        match (is_view, object.action) {
            (true, _) => Ok(named),
            (false, ast::Action::Create) => Err(taken(&named.target)),
            (false, ast::Action::Alter | ast::Action::Drop) => {
                let table = format!("'{}.{}'", named.schema.name, named.target.table);
                Err(match (self.source.dialect.flavour, object.action) {
                    (Flavour::MariaDb, ast::Action::Drop) => {
                        Error::client((4092, b"42S02"), format!("Unknown VIEW: {table}"))
                    }
                    (Flavour::MySql | Flavour::MariaDb, _) => {
                        Error::client((1347, b"HY000"), format!("{table} is not VIEW"))
                    }
                })
            }
        }
    }
}

fn taken(target: &Target) -> Error {
    Error::refused(format!(
        "Bifold: the topology says that `{}` is a table of many places, so no view can be called so. Choose another name.",
        target.table
    ))
}

/// What a view's query may not name.
pub(super) fn apart(table: &str) -> Error {
    Error::refused(format!(
        "Bifold: a view of `{table}`, which lives in many places, is not supported. Name the query's tables in the statement itself."
    ))
}
