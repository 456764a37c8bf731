//! Statements about tables or about a schema as a whole, which one server answers: SHOW CREATE
//! TABLE, SHOW COLUMNS, DESCRIBE and their like.

use std::sync::Arc;

use super::desk::{Desk, Table};
use super::{Describe, Local};
use crate::error::Result;
use crate::plan::Template;
use crate::sql::Span;
use crate::sql::ast::{Name, Show, TableName};
use crate::sql::literal::quote_name;
use crate::topology::Schema;

/// `SHOW … FROM t [FROM db]`.
pub(super) fn show(desk: &Desk<'_>, show: &Show, table: &TableName, verb: &str) -> Result<Local> {
    let found = desk.table(table, show.db, verb)?;
    let mut cuts = vec![(table.span, found.physical_name())];
    // `FROM db`: its schema stands before the table now.
    cuts.extend(show.db.map(|db| (Span::new(db.0 - 1, db.0 + 1), Vec::new())));
    Ok(of(vec![found], desk.template(cuts)))
}

/// `SHOW CREATE VIEW v`: names of its own schema are shown without a qualifier where that is the
/// default one.
pub(super) fn view(desk: &Desk<'_>, show: &Show, table: &TableName) -> Result<Local> {
    let mut local = self::show(desk, show, table, "SHOW VIEW")?;
    if let Local::Describe(describe) = &mut local {
        describe.within = desk.asker.scene.schema == Some(describe.schema.name.as_str());
    }
    Ok(local)
}

/// `DESCRIBE t [column]`.
pub(super) fn columns(desk: &Desk<'_>, table: &TableName) -> Result<Local> {
    let found = desk.table(table, None, "SELECT")?;
    let text = desk.template([(table.span, found.physical_name())]);
    Ok(of(vec![found], text))
}

/// `SHOW CREATE DATABASE db`; `SHOW TRIGGERS [FROM db]`, where `behind` is the token after which
/// the schema goes if none is named.
pub(super) fn schema(desk: &Desk<'_>, named: Option<Name>, behind: u32) -> Result<Local> {
    let schema = desk.schema(named)?;
    let mut database = Vec::new();
    let span = match named {
        Some(name) => Span::new(name.0, name.0 + 1),
        None => {
            database.extend_from_slice(desk.source.bytes(behind));
            database.extend_from_slice(b" FROM ");
            Span::new(behind, behind + 1)
        }
    };
    quote_name(&schema.home().database, &mut database);
    Ok(on_home(schema, Vec::new(), desk.template([(span, database)])))
}

/// All tables are of one schema; there is at least one.
pub(super) fn of(found: Vec<Table>, text: Template) -> Local {
    let schema = Arc::clone(&found[0].schema);
    on_home(schema, found.into_iter().map(|table| (table.physical, table.logical)).collect(), text)
}

fn on_home(schema: Arc<Schema>, tables: Vec<(String, String)>, text: Template) -> Local {
    Local::Describe(Describe {
        text,
        server: schema.home().server,
        schema,
        tables,
        is_check: false,
        commits: false,
        within: false,
    })
}
