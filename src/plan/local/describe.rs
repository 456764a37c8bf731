//! Statements about tables or about a schema as a whole, which one server answers: SHOW CREATE
//! TABLE, SHOW COLUMNS, DESCRIBE, CHECK TABLE and their like.

use std::sync::Arc;

use super::desk::{Desk, Table};
use super::{Describe, Local};
use crate::error::{Error, Result};
use crate::plan::Template;
use crate::sql::Span;
use crate::sql::ast::{Maintain, MaintainVerb, Name, Show, TableName};
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

/// ANALYZE, CHECK … of tables that are whole on the home shard.
pub(super) fn maintain(desk: &Desk<'_>, maintain: &Maintain) -> Result<Local> {
    let verb = match maintain.verb {
        MaintainVerb::Analyze | MaintainVerb::Optimize | MaintainVerb::Repair => "SELECT, INSERT",
        MaintainVerb::Check | MaintainVerb::Checksum => "SELECT",
    };
    let found: Vec<Table> = maintain.tables.iter().map(|table| desk.table(table, None, verb)).collect::<Result<_>>()?;
    if let Some(sharded) = found.iter().find(|table| table.is_sharded) {
        return Err(Error::refused(format!(
            "Bifold: ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR of a sharded table ({}) are not supported yet; run them on the servers.",
            sharded.logical
        )));
    }
    let home = |table: &Table| (table.schema.home().server, table.schema.name.clone());
    if found.iter().any(|table| home(table) != home(&found[0])) {
        return Err(Error::refused(
            "Bifold: tables of several schemas in one such statement are not supported; name them one by one.",
        ));
    }
    let cuts: Vec<_> =
        maintain.tables.iter().zip(&found).map(|(table, found)| (table.span, found.physical_name())).collect();
    let text = desk.template(cuts);
    let mut local = of(found, text);
    if let Local::Describe(describe) = &mut local {
        describe.is_check = maintain.verb == MaintainVerb::Check;
        describe.commits = maintain.verb != MaintainVerb::Checksum;
    }
    Ok(local)
}

/// All tables are of one schema; there is at least one.
fn of(found: Vec<Table>, text: Template) -> Local {
    let schema = Arc::clone(&found[0].schema);
    on_home(schema, found.into_iter().map(|table| (table.physical, table.logical)).collect(), text)
}

fn on_home(schema: Arc<Schema>, tables: Vec<(String, String)>, text: Template) -> Local {
    Local::Describe(Describe { text, server: schema.home().server, schema, tables, is_check: false, commits: false })
}
