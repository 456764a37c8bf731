//! information_schema: the views whose rows Bifold makes logical, and those that any server answers
//! as it is. A statement over made rows runs on one server, where a temporary table stands for each
//! reference; so any WHERE, join or ORDER BY is MySQL's own.

use std::sync::Arc;

use super::survey::{Scene, Survey};
use super::{Effect, Kind, Outcome, Plan, Planned, Single};
use crate::error::{Error, Result};
use crate::plan::local::Local;
use crate::topology::ServerNo;

/// A statement over views of information_schema.
#[derive(Debug)]
pub struct Catalogue {
    /// The statement for one server, with its temporary table's name for each reference.
    pub planned: Arc<Planned>,
    /// By reference.
    pub views: Vec<&'static View>,
    /// Where the temporary tables are made.
    pub server: ServerNo,
    pub database: Box<str>,
    /// It looks at what has to be added up over all subtables.
    pub counts: bool,
}

/// A view that tells of schemas and tables.
#[derive(Debug, PartialEq, Eq)]
pub struct View {
    pub name: &'static str,
    /// The column that says whose row it is.
    pub schema: &'static str,
    /// And of which table, if of any.
    pub table: Option<&'static str>,
}

const fn view(name: &'static str, schema: &'static str, table: Option<&'static str>) -> View {
    View { name, schema, table }
}

const MADE: [View; 13] = [
    view("SCHEMATA", "SCHEMA_NAME", None),
    view("TABLES", "TABLE_SCHEMA", Some("TABLE_NAME")),
    view("COLUMNS", "TABLE_SCHEMA", Some("TABLE_NAME")),
    view("STATISTICS", "TABLE_SCHEMA", Some("TABLE_NAME")),
    view("KEY_COLUMN_USAGE", "TABLE_SCHEMA", Some("TABLE_NAME")),
    view("TABLE_CONSTRAINTS", "TABLE_SCHEMA", Some("TABLE_NAME")),
    view("REFERENTIAL_CONSTRAINTS", "CONSTRAINT_SCHEMA", Some("TABLE_NAME")),
    view("CHECK_CONSTRAINTS", "CONSTRAINT_SCHEMA", Some("TABLE_NAME")),
    view("VIEWS", "TABLE_SCHEMA", Some("TABLE_NAME")),
    view("TRIGGERS", "EVENT_OBJECT_SCHEMA", Some("EVENT_OBJECT_TABLE")),
    view("ROUTINES", "ROUTINE_SCHEMA", None),
    view("PARAMETERS", "SPECIFIC_SCHEMA", None),
    view("EVENTS", "EVENT_SCHEMA", None),
];

/// These say the same on every server, and nothing of schemas.
const PLAIN: [&str; 7] = [
    "CHARACTER_SETS",
    "COLLATIONS",
    "COLLATION_CHARACTER_SET_APPLICABILITY",
    "ENGINES",
    "KEYWORDS",
    "SQL_FUNCTIONS",
    "ST_UNITS_OF_MEASURE",
];

/// Columns of TABLES that one subtable's row does not tell.
pub const COUNTS: [&str; 7] =
    ["TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "INDEX_LENGTH", "DATA_FREE", "AUTO_INCREMENT", "UPDATE_TIME"];

/// What becomes of a name in information_schema.
pub(super) enum Named {
    Made(&'static View),
    Plain,
}

pub(super) fn named(name: &str) -> Result<Named> {
    if let Some(view) = MADE.iter().find(|view| view.name.eq_ignore_ascii_case(name)) {
        return Ok(Named::Made(view));
    }
    if PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(name)) {
        return Ok(Named::Plain);
    }
    let name = name.to_ascii_uppercase();
    Err(Error::refused(format!("Bifold: information_schema.{name} is not supported; use SHOW, or ask the servers.")))
}

/// The temporary table that stands for a reference.
pub fn temporary(number: usize) -> String {
    format!("bifold_catalogue_{number}")
}

/// The schema in whose database the temporary tables are made: the user's first.
pub(super) fn seat<'a>(scene: &Scene<'a>) -> Result<&'a crate::topology::Schema> {
    let first = scene.allowed.first().and_then(|name| scene.topology.schema(name));
    first.map(|schema| &**schema).ok_or_else(|| Error::proxy("Bifold: a user without a schema."))
}

/// After the statement was walked and came by such views.
pub(super) fn plan(mut survey: Survey<'_>, kind: Kind) -> Result<Outcome> {
    if !survey.refs.is_empty() || survey.marks.routine || survey.marks.named_lock || survey.marks.locks_rows {
        return Err(Error::refused(
            "Bifold: information_schema together with other tables, stored functions or locks is not supported: read it in a statement of its own.",
        ));
    }
    let seat = seat(survey.scene)?;
    let views = std::mem::take(&mut survey.views);
    let tokens = survey.fingerprint.span().tokens();
    let counts = tokens.into_iter().any(|token| {
        survey.source.kind(token) == crate::sql::Kind::Star
            || COUNTS.iter().any(|name| survey.source.bytes(token).eq_ignore_ascii_case(name.as_bytes()))
    });
    let single = Single {
        template: survey.template()?,
        effect: Effect::Read,
        bind: None,
        wide: None,
        gather: None,
        needs_schema: false,
    };
    let assigns = survey.marks.assigns.into_iter().collect();
    let planned = Arc::new(Planned { plan: Plan::Single(single), assigns, kind });
    let catalogue = Catalogue {
        views,
        server: seat.home().server,
        database: seat.home().database.as_str().into(),
        counts,
        planned,
    };
    let plan = Plan::Local(Box::new(Local::Catalogue(Arc::new(catalogue))));
    Ok(Outcome::Planned(Planned { plan, assigns: Vec::new(), kind }))
}
