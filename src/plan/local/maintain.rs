//! ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE: of whole tables the home shard's server is
//! asked, of a sharded one all of its subtables.

use std::sync::Arc;

use super::desk::{Desk, Table};
use super::{Local, describe};
use crate::error::{Error, Result};
use crate::plan::Template;
use crate::sql::Span;
use crate::sql::ast::{self, MaintainVerb};
use crate::topology::{Schema, TableRule};

/// Such a statement with sharded tables in its list.
#[derive(Debug)]
pub struct Maintain {
    /// One cut: the list of tables.
    pub text: Template,
    /// In the order of the list.
    pub tables: Vec<Maintained>,
    /// CHECKSUM: the rows' sums are added up.
    pub sums: bool,
    pub is_check: bool,
    /// Histograms are made of one table in a statement.
    pub single: bool,
}

#[derive(Debug)]
pub struct Maintained {
    pub schema: Arc<Schema>,
    pub table: String,
    /// `None`: it is whole on the home shard.
    pub rule: Option<Arc<TableRule>>,
}

pub(super) fn plan(desk: &Desk<'_>, maintain: &ast::Maintain) -> Result<Local> {
    let verb = match maintain.verb {
        MaintainVerb::Analyze | MaintainVerb::Optimize | MaintainVerb::Repair => "SELECT, INSERT",
        MaintainVerb::Check | MaintainVerb::Checksum => "SELECT",
    };
    let found: Vec<Table> = maintain.tables.iter().map(|table| desk.table(table, None, verb)).collect::<Result<_>>()?;
    if let (true, Some(first), Some(last)) =
        (found.iter().any(|table| table.is_sharded), maintain.tables.first(), maintain.tables.last())
    {
        let list = Span::new(first.span.start, last.span.end);
        let tables = found.into_iter().map(|table| Maintained {
            rule: table.schema.rule(&table.logical).filter(|_| table.is_sharded).cloned(),
            schema: table.schema,
            table: table.logical,
        });
        return Ok(Local::Maintain(Maintain {
            text: desk.template([(list, Vec::new())]),
            tables: tables.collect(),
            sums: maintain.verb == MaintainVerb::Checksum,
            is_check: maintain.verb == MaintainVerb::Check,
            single: maintain.rest.tokens().any(|token| desk.source.bytes(token).eq_ignore_ascii_case(b"histogram")),
        }));
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
    let mut local = describe::of(found, text);
    if let Local::Describe(describe) = &mut local {
        describe.is_check = maintain.verb == MaintainVerb::Check;
        describe.commits = maintain.verb != MaintainVerb::Checksum;
    }
    Ok(local)
}
