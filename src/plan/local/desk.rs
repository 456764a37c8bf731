//! What planning a statement of this floor needs: names resolved against the topology, and cuts
//! made by token.

use std::sync::Arc;

use super::Local;
use crate::error::{Error, Result, code};
use crate::plan::allow::{Asker, denied};
use crate::plan::survey::Survey;
use crate::plan::{Cut, Item, Kind, Outcome, Patch, Plan, Planned, Template};
use crate::sql::ast::{Name, TableName};
use crate::sql::fingerprint::Fingerprint;
use crate::sql::{Source, Span, literal};
use crate::topology::{Schema, SubtableNo, TableKind};

pub(super) struct Desk<'a> {
    pub asker: Asker<'a>,
    pub source: &'a Source<'a>,
    pub fingerprint: &'a Fingerprint,
}

/// A table of the user's, and the physical one that stands for it on the home shard.
pub(super) struct Table {
    pub schema: Arc<Schema>,
    pub logical: String,
    pub physical: String,
    pub is_sharded: bool,
}

impl Desk<'_> {
    pub fn name(&self, name: Name) -> String {
        literal::name(self.source, name).into_owned()
    }

    /// A schema named in `FROM db`, or the default one.
    pub fn schema(&self, named: Option<Name>) -> Result<Arc<Schema>> {
        let name = match (named, self.asker.scene.schema) {
            (Some(name), _) => self.name(name),
            (None, Some(schema)) => schema.to_owned(),
            (None, None) => return Err(denied::no_schema()),
        };
        if is_information_schema(&name) {
            return Err(no_information_schema());
        }
        self.asker.usable(&name).cloned().ok_or_else(|| denied::schema(&self.asker, &name))
    }

    /// A table, its schema named before it or behind it (`FROM db`); `verb` is the right asked for.
    pub fn table(&self, table: &TableName, db: Option<Name>, verb: &str) -> Result<Table> {
        let logical = self.name(table.name);
        let schema = match (db.or(table.db), self.asker.scene.schema) {
            (Some(name), _) => self.name(name),
            (None, Some(schema)) => schema.to_owned(),
            (None, None) => return Err(denied::no_schema()),
        };
        if is_information_schema(&schema) {
            return Err(no_information_schema());
        }
        let Some(schema) = self.asker.usable(&schema).cloned() else {
            return Err(denied::table(&self.asker, verb, &schema, &logical));
        };
        let (physical, is_sharded) = match schema.rule(&logical).map(|rule| &rule.kind) {
            Some(TableKind::Sharded(sharded)) => (sharded.pattern.physical_name(SubtableNo(0)), true),
            Some(TableKind::Reference | TableKind::Unsharded) => (logical.clone(), false),
            // Subtables are there, but nobody is told.
            None if schema.logical_of(logical.as_bytes()).is_some() => {
                return Err(denied::no_such_table(&schema.name, &logical));
            }
            None => (logical.clone(), false),
        };
        Ok(Table { schema, logical, physical, is_sharded })
    }

    /// A walk over expressions of the statement.
    pub fn survey(&self) -> Survey<'_> {
        Survey::new(self.asker.scene, *self.source, self.fingerprint, "SELECT")
    }

    pub fn item(&self, token: u32) -> Item {
        Item(self.fingerprint.item_of(token))
    }

    /// The plan of a statement that the proxy answers, with rows or without.
    pub fn planned(&self, local: Local, kind: Kind) -> Outcome {
        Outcome::Planned(Planned { plan: Plan::Local(Box::new(local)), assigns: Vec::new(), kind })
    }

    /// Cuts given by token, in the order of the text.
    pub fn template(&self, cuts: impl IntoIterator<Item = (Span, Vec<u8>)>) -> Template {
        let cuts = cuts.into_iter().map(|(span, text)| Cut {
            from: self.item(span.start),
            to: if span.is_empty() { self.item(span.start) } else { Item(self.item(span.end - 1).0 + 1) },
            with: Patch::Text(text.into()),
        });
        Template { cuts: cuts.collect(), ..Template::default() }
    }
}

impl Table {
    /// `` `mall_0`.`orders_0000` ``
    pub fn physical_name(&self) -> Vec<u8> {
        let mut out = Vec::new();
        literal::quote_name(&self.schema.home().database, &mut out);
        out.push(b'.');
        literal::quote_name(&self.physical, &mut out);
        out
    }
}

pub(super) fn is_information_schema(name: &str) -> bool {
    name.eq_ignore_ascii_case("information_schema")
}

pub(super) fn no_information_schema() -> Error {
    Error::client(
        code::NOT_SUPPORTED,
        "Bifold: reading information_schema through the proxy is not supported yet; use SHOW and DESCRIBE.",
    )
}
