//! A table's name becomes a reference: the schema and the rule behind it, or the error that a
//! server gives one who may not see it. The cut that puts the physical name in is made here.

use std::sync::Arc;

use super::{Found, FoundKind, Origin, Survey};
use crate::catalog::TableName as CatalogName;
use crate::error::{Error, Result, code};
use crate::plan::catalogue;
use crate::plan::predicate::SourceNo;
use crate::plan::{Patch, RefNo};
use crate::sql::ast::{Name, TableName};
use crate::sql::{Charset, Flavour, Span};
use crate::topology::{Schema, TableKind};

/// How a table stands in the text.
#[derive(Clone, Copy)]
pub(crate) enum Spot {
    /// Where an alias may stand; before this token, which follows the name and its PARTITION.
    Aliased { alias: Option<Name>, before: u32 },
    /// Where none may: INSERT, REPLACE, the single-table DELETE.
    Bare,
}

impl Survey<'_> {
    /// A table of FROM, UPDATE, INSERT or DELETE as a source of rows.
    pub fn table(&mut self, table: &TableName, spot: Spot) -> Result<SourceNo> {
        if table.db.is_some_and(|db| self.name(db).eq_ignore_ascii_case("information_schema")) {
            return self.view(table, spot);
        }
        let found = self.reference(table)?;
        let logical = self.refs[usize::from(found.0)].table.to_string();
        let (name, bare) = match spot {
            Spot::Aliased { alias: Some(alias), .. } => (self.name(alias), false),
            Spot::Aliased { alias: None, .. } => (logical.clone(), false),
            Spot::Bare => (logical.clone(), true),
        };
        let mut patch_alias = None;
        if let Spot::Aliased { alias: None, before } = spot {
            let alias = quoted(&logical);
            if before == table.span.end {
                patch_alias = Some(alias.into_bytes().into());
            } else {
                let text = format!(" AS {alias}");
                self.cut(Span::new(before, before), Patch::Text(text.into_bytes().into()));
            }
        }
        self.cut(table.span, Patch::Table { table: found, alias: patch_alias });
        Ok(self.add(Origin::Table { found, name: name.into(), bare }))
    }

    /// A view of information_schema: a temporary table stands for it where its rows are made.
    fn view(&mut self, table: &TableName, spot: Spot) -> Result<SourceNo> {
        let (written, table_span) = (self.name(table.name), table.span);
        let Spot::Aliased { alias, .. } = spot else {
            let text = format!("Access denied for user '{}'@'%' to database 'information_schema'", self.scene.user);
            return Err(Error::client(code::DB_ACCESS_DENIED, text));
        };
        let name = alias.map_or_else(|| written.clone(), |alias| self.name(alias));
        if let catalogue::Named::Made(view) = catalogue::named(&written)? {
            let database = quoted(&catalogue::seat(self.scene)?.home().database);
            let temporary = quoted(&catalogue::temporary(self.views.len()));
            let alias = if alias.is_some() { String::new() } else { format!(" AS {}", quoted(&written)) };
            let table = match self.source.dialect.flavour {
                // Titles are those of the view there, whatever the letters of the statement.
                Flavour::MySql => format!("(SELECT * FROM {database}.{temporary}){alias}"),
                Flavour::MariaDb => format!("{database}.{temporary}{alias}"),
            };
            self.cut(table_span, Patch::Text(table.into_bytes().into()));
            self.views.push(view);
        }
        Ok(self.add(Origin::Derived { name: name.into(), columns: None }))
    }

    /// A name that stands for a table without being a source: a sequence, a table to lock.
    pub fn reference(&mut self, table: &TableName) -> Result<RefNo> {
        let no = self.named(table)?;
        let Found { schema, table, def, .. } = &self.refs[usize::from(no.0)];
        if def.is_none() {
            self.lacks.insert(CatalogName::new(&schema.name, table));
        }
        Ok(no)
    }

    /// The same for what has no definition that the catalog could read: a stored function.
    pub fn named(&mut self, table: &TableName) -> Result<RefNo> {
        let schema = self.schema_of(table)?;
        let name = self.name(table.name);
        // Names are put into the text as they are in the topology, in UTF-8.
        if !name.is_ascii() && self.source.dialect.charset != Charset::Utf8 {
            return Err(Error::refused(
                "Bifold: a table whose name is not ASCII is reached in utf8mb4 only: SET NAMES utf8mb4 before.",
            ));
        }
        let kind = match schema.rule(&name) {
            Some(rule) => match rule.kind {
                TableKind::Sharded(_) => FoundKind::Sharded(Arc::clone(rule)),
                TableKind::Reference => FoundKind::Reference,
                TableKind::Unsharded => FoundKind::Unsharded,
            },
            // Subtables are there, but nobody is told.
            None if schema.logical_of(name.as_bytes()).is_some() => {
                let text = format!("Table '{}.{name}' doesn't exist", schema.name);
                return Err(Error::client(code::NO_SUCH_TABLE, text));
            }
            None => FoundKind::Unsharded,
        };
        let def = self.scene.catalog.get(&CatalogName::new(&schema.name, &name));
        let no = RefNo(
            u16::try_from(self.refs.len()).map_err(|_| Error::refused("Bifold: too many tables in a statement."))?,
        );
        self.refs.push(Found { schema, table: name.into(), kind, def, keys: Vec::new() });
        Ok(no)
    }

    pub(super) fn add(&mut self, origin: Origin) -> SourceNo {
        let no = SourceNo(u32::try_from(self.origins.len()).expect("a statement has fewer tokens"));
        self.origins.push(origin);
        no
    }

    fn schema_of(&self, table: &TableName) -> Result<Arc<Schema>> {
        let name = match (table.db, self.scene.schema) {
            (Some(db), _) => self.name(db),
            (None, Some(schema)) => schema.to_owned(),
            (None, None) => return Err(Error::client(code::NO_DB, "No database selected")),
        };
        if name.eq_ignore_ascii_case("information_schema") {
            return Err(Error::refused(
                "Bifold: reading information_schema through the proxy is not supported yet; use SHOW and DESCRIBE.",
            ));
        }
        match self.scene.topology.schema(&name) {
            Some(schema) if self.scene.allowed.contains(&name) => Ok(Arc::clone(schema)),
            Some(_) | None => Err(self.denied(&name, &self.name(table.name))),
        }
    }

    /// As a server says it to a user without rights there, whether the table exists or not.
    fn denied(&self, schema: &str, table: &str) -> Error {
        let (verb, user, host) = (self.verb, self.scene.user, self.scene.host);
        let object = match self.source.dialect.flavour {
            Flavour::MySql => format!("'{table}'"),
            Flavour::MariaDb => format!("`{schema}`.`{table}`"),
        };
        Error::client(code::TABLE_DENIED, format!("{verb} command denied to user '{user}'@'{host}' for table {object}"))
    }
}

/// A name in backticks, which every sql_mode reads alike.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
