//! LOAD DATA LOCAL. An unsharded table's server reads the file as the client sends it. Lines for a
//! sharded table are parted by key and sent on as they were written, those for a reference table go
//! to every shard: the plan says how lines are written, and where in them key and id stand.

use super::survey::{Env, FoundKind, Spot, Survey, key_type_of, quoted};
use super::{Effect, InsertId, Kind, Outcome, Over, Patch, Plan, Planned, RefKind, Single, Template, write};
use crate::catalog::TableDef;
use crate::context::Setting;
use crate::error::{Error, Result};
use crate::plan::predicate::SourceNo;
use crate::sql::ast::{Expr, ExprKind, FileFormat, LoadData, Name};
use crate::sql::{self, Source, Span, literal};
use crate::topology::key::KeyType;
use crate::topology::{Sharded, TableRule};
use crate::value::Value;

#[derive(Debug)]
pub enum Load {
    /// The home shard's server reads it all.
    Whole(Single),
    ByLine(Box<ByLine>),
}

/// How the lines of a file reach the places of a table.
#[derive(Debug)]
pub struct ByLine {
    /// `refs[0]` is the target. Without the lines to be passed over, which no server sees.
    pub template: Template,
    pub over: Over,
    /// What the client calls its file.
    pub file: Box<[u8]>,
    pub format: Format,
    /// `None`: the default one of the schema's databases.
    pub charset: Option<Box<str>>,
    /// Lines at the file's beginning that are passed over.
    pub skip: u64,
    /// The number of fields that a line is read into.
    pub width: u16,
    /// Number of the key's field; `None`: the key is the id, and is added, or there is none.
    pub key: Option<u16>,
    pub id: Option<InsertId>,
    /// The AUTO_INCREMENT column of a reference table: each line must give it a value.
    pub counted: Option<Counted>,
}

#[derive(Debug)]
pub struct Counted {
    pub column: Box<str>,
    pub field: u16,
    pub column_type: KeyType,
}

/// What stands between fields and lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    pub field_end: Box<[u8]>,
    pub enclosed: Option<u8>,
    pub escape: Option<u8>,
    pub line_start: Box<[u8]>,
    pub line_end: Box<[u8]>,
}

pub(super) fn plan(mut survey: Survey<'_>, load: &LoadData) -> Result<Outcome> {
    let target = survey.table(&load.table, Spot::Bare)?;
    match survey.refs[0].kind.clone() {
        FoundKind::Unsharded => whole(survey, load, target),
        FoundKind::Reference => by_line(survey, load, target, None),
        FoundKind::Sharded(rule) => by_line(survey, load, target, Some(&rule)),
    }
}

fn whole(mut survey: Survey<'_>, load: &LoadData, target: SourceNo) -> Result<Outcome> {
    in_own_schema(&survey, load)?;
    walk(&mut survey, load, target)?;
    let beside = |found: &super::survey::Found| matches!(found.kind, FoundKind::Unsharded | FoundKind::Reference);
    if !survey.refs.iter().all(beside) {
        return Err(Error::refused(
            "Bifold: LOAD DATA with a subquery on a sharded table is not supported; load the lines, then UPDATE them.",
        ));
    }
    let needs_schema = load.format.charset.is_none();
    let template = survey.template()?;
    let assigns = survey.marks.assigns.into_iter().collect();
    let single = Single { template, effect: Effect::Write, bind: None, wide: None, gather: None, needs_schema };
    Ok(Outcome::Planned(Planned { plan: Plan::Load(Box::new(Load::Whole(single))), assigns, kind: Kind::Write }))
}

/// Without CHARACTER SET a file is in the default schema's character set, which servers know of the
/// database that they are in.
fn in_own_schema(survey: &Survey<'_>, load: &LoadData) -> Result<()> {
    let own = &survey.refs[0].schema.name;
    if load.format.charset.is_some() || survey.scene.schema == Some(own.as_str()) {
        return Ok(());
    }
    Err(Error::refused(format!(
        "Bifold: LOAD DATA into schema {own}, which is not the default one, must say which CHARACTER SET the file is in; \
         or USE {own} before."
    )))
}

/// The column list and SET, as the server will read them.
fn walk(survey: &mut Survey<'_>, load: &LoadData, target: SourceNo) -> Result<()> {
    let outside = Env::default();
    let scope = Env { sources: vec![target], ..Env::below(&outside) };
    for column in &load.columns {
        match &column.kind {
            ExprKind::Column(column) => survey.column_ref(column, &scope),
            _ => survey.assigned(Name(column.span.start)),
        }
    }
    survey.assignments(&load.assignments, &scope)
}

fn by_line(mut survey: Survey<'_>, load: &LoadData, target: SourceNo, rule: Option<&TableRule>) -> Result<Outcome> {
    let Some(def) = survey.refs[0].def.clone() else { return Ok(survey.lacking_all()) };
    let table = survey.refs[0].table.clone();
    // 1. What can't be parted
    in_own_schema(&survey, load)?;
    if load.xml || load.tagged {
        return Err(not_parted(&table, "LOAD XML", "turn the file into one for LOAD DATA"));
    }
    let format = Format::new(&survey.source, &load.format)?;
    format.can_be_parted(&table)?;
    check_assignments(&mut survey, load, target)?;
    // 2. The fields of a line
    let sharded = rule.and_then(|rule| rule.sharded());
    let fields = fields(&survey, load, &def)?;
    let mut found = Fields { def: &def, table: &table, names: &fields };
    let id = sharded.map(|sharded| found.id(sharded)).transpose()?.flatten();
    let key = sharded.map(|sharded| found.key(sharded, id.as_ref())).transpose()?.flatten();
    let counted = if sharded.is_none() { found.counted()? } else { None };
    if let Some(sharded) = sharded {
        assigns_no_place(&survey, load, sharded)?;
        if id.is_some() && format.has_digits() {
            return Err(not_parted(&table, "LOAD DATA with a digit among its delimiters", "take others"));
        }
    }
    // 3. The text: without lines to pass over, with all columns named
    if let Some((span, _)) = load.skip {
        survey.cut(span, Patch::Text([].into()));
    }
    list(&mut survey, load, &fields, id.as_ref().filter(|id| id.position.is_none()));
    let width = u16::try_from(fields.len()).map_err(|_| Error::refused("Bifold: too many columns."))?;
    let charset = load.format.charset.map(|name| survey.name(name).to_ascii_lowercase().into());
    let file = literal::string(&survey.source, Span::new(load.file.0, load.file.0 + 1)).into_owned().into();
    let skip = skipped(&survey.source, load);
    let over = if sharded.is_some() { Over::Places } else { Over::Shards };
    let template = survey.template()?;
    debug_assert!(matches!(template.refs[0].kind, RefKind::Sharded(_) | RefKind::Reference));
    let assigns = survey.marks.assigns.into_iter().collect();
    let lines = ByLine { template, over, file, format, charset, skip, width, key, id, counted };
    Ok(Outcome::Planned(Planned {
        plan: Plan::Load(Box::new(Load::ByLine(Box::new(lines)))),
        assigns,
        kind: Kind::Write,
    }))
}

fn not_parted(table: &str, what: &str, instead: &str) -> Error {
    Error::refused(format!("Bifold: {what} into {table}, which lives in many places, is not supported; {instead}."))
}

/// SET may compute of a line's own fields, which is the same wherever the line goes.
fn check_assignments(survey: &mut Survey<'_>, load: &LoadData, target: SourceNo) -> Result<()> {
    let table = survey.refs[0].table.clone();
    let refused = |what: &str| Err(not_parted(&table, what, "load the lines, then UPDATE them"));
    let listed = |survey: &Survey<'_>, token: u32| {
        let name = survey.name(Name(token)).to_lowercase();
        let is_it = |column: &Expr| {
            matches!(column.kind, ExprKind::UserVar) && survey.name(Name(column.span.start)).to_lowercase() == name
        };
        load.columns.iter().any(is_it)
    };
    for assignment in &load.assignments {
        let variables = assignment.value.span.tokens().filter(|token| survey.source.kind(*token) == sql::Kind::UserVar);
        for token in variables {
            if !listed(survey, token) {
                return refused("LOAD DATA with a variable that is not of the same line");
            }
        }
    }
    walk(survey, load, target)?;
    let is_assignment = |token| survey.source.kind(token) == sql::Kind::Assign;
    let spans = load.assignments.iter().map(|assignment| assignment.value.span);
    if spans.flat_map(Span::tokens).any(is_assignment) || survey.marks.assigns.iter().any(is_system) {
        return refused("LOAD DATA with an assignment in an expression");
    }
    if survey.refs.len() > 1 || survey.marks.routine || survey.marks.named_lock {
        return refused("LOAD DATA with other tables or functions of one's own");
    }
    if survey.marks.chance && matches!(survey.refs[0].kind, FoundKind::Reference) {
        return refused("LOAD DATA with values of chance");
    }
    Ok(())
}

/// LAST_INSERT_ID(expr).
fn is_system(setting: &Setting) -> bool {
    matches!(setting, Setting::System(_))
}

fn assigns_no_place(survey: &Survey<'_>, load: &LoadData, sharded: &Sharded) -> Result<()> {
    let table = &survey.refs[0].table;
    for assignment in &load.assignments {
        let name = survey.name(assignment.column.column).to_lowercase();
        let is_id = sharded.id.as_ref().is_some_and(|id| name == id.column.to_lowercase());
        if is_id || name == sharded.key.to_lowercase() {
            return Err(Error::refused(format!(
                "Bifold: LOAD DATA can't compute {name} of table {table} by SET, since it says where the row belongs: \
                 write it into the file."
            )));
        }
        write::check_assigned(survey, &assignment.column, sharded, table)?;
    }
    Ok(())
}

/// What each field of a line is for: a column's name in lower case, or a variable.
fn fields(survey: &Survey<'_>, load: &LoadData, def: &TableDef) -> Result<Vec<Option<String>>> {
    if !load.columns.is_empty() {
        let name = |column: &Expr| match &column.kind {
            ExprKind::Column(column) => Some(survey.name(column.column).to_lowercase()),
            _ => None,
        };
        return Ok(load.columns.iter().map(name).collect());
    }
    // Whether a file has fields for these is a matter of the server's version.
    if def.columns.iter().any(|column| column.generated || column.invisible) {
        return Err(Error::refused(format!(
            "Bifold: LOAD DATA into table {}, which has generated or invisible columns, must name the columns of the file.",
            survey.refs[0].table
        )));
    }
    Ok(def.columns.iter().map(|column| Some(column.name.to_lowercase())).collect())
}

struct Fields<'f> {
    def: &'f TableDef,
    table: &'f str,
    names: &'f [Option<String>],
}

impl Fields<'_> {
    /// A column's field; where it has two, the later one would count.
    fn position(&self, column: &str) -> Result<Option<u16>> {
        let column = column.to_lowercase();
        let mut places = (0u16..).zip(self.names).filter(|(_, name)| name.as_deref() == Some(column.as_str()));
        let first = places.next();
        match places.next() {
            Some(_) => Err(Error::refused(format!("Bifold: LOAD DATA names column {column} of {} twice.", self.table))),
            None => Ok(first.map(|(number, _)| number)),
        }
    }

    fn id(&mut self, sharded: &Sharded) -> Result<Option<InsertId>> {
        let Some(rule) = &sharded.id else { return Ok(None) };
        let id_type = key_type_of(Some(self.def), self.table, &rule.column)?;
        Ok(Some(InsertId { column: quoted(&rule.column).into(), position: self.position(&rule.column)?, id_type }))
    }

    fn key(&self, sharded: &Sharded, id: Option<&InsertId>) -> Result<Option<u16>> {
        let is_id = sharded.id.as_ref().is_some_and(|id| id.column.eq_ignore_ascii_case(&sharded.key));
        match (self.position(&sharded.key)?, id) {
            (Some(position), _) => Ok(Some(position)),
            (None, Some(_)) if is_id => Ok(None),
            (None, _) => Err(Error::refused(format!(
                "Bifold: lines for table {} need a field for {}, their sharding key: name it in the column list.",
                self.table, sharded.key
            ))),
        }
    }

    fn counted(&self) -> Result<Option<Counted>> {
        let Some(column) = self.def.columns.iter().find(|column| column.auto_increment) else { return Ok(None) };
        let Some(field) = self.position(&column.name)? else {
            return Err(Error::refused(format!(
                "Bifold: {} of reference table {} would be counted up on each shard by itself: write it into the file.",
                column.name, self.table
            )));
        };
        let column_type = key_type_of(Some(self.def), self.table, &column.name)?;
        Ok(Some(Counted { column: column.name.as_str().into(), field, column_type }))
    }
}

/// The column list: made where there is none, and with the id's column before the others.
fn list(survey: &mut Survey<'_>, load: &LoadData, fields: &[Option<String>], added: Option<&InsertId>) {
    if !load.columns.is_empty() {
        let (Some(span), Some(added)) = (load.columns_span, added) else { return };
        let at = span.start + 1;
        return survey.cut(Span::new(at, at), Patch::Text(format!("{}, ", added.column).into_bytes().into()));
    }
    let names = fields.iter().flatten().map(|name| quoted(name));
    let all: Vec<String> = added.map(|id| id.column.to_string()).into_iter().chain(names).collect();
    let text = format!(" ({})", all.join(", "));
    let span = load.columns_span.unwrap_or(Span::new(load.options.end, load.options.end));
    survey.cut(span, Patch::Text(text.into_bytes().into()));
}

fn skipped(source: &Source<'_>, load: &LoadData) -> u64 {
    let mut scratch = Vec::new();
    let value = load.skip.and_then(|(_, number)| literal::value(source, number, "utf8mb4", &mut scratch));
    match value {
        Some(Value::Int(number)) => u64::try_from(number).unwrap_or(0),
        Some(Value::UInt(number)) => number,
        _ => 0,
    }
}

impl Format {
    fn new(source: &Source<'_>, written: &FileFormat) -> Result<Self> {
        let bytes = |said: Option<Name>, usual: &[u8]| -> Box<[u8]> {
            let Some(name) = said else { return usual.into() };
            let mut scratch = Vec::new();
            match literal::value(source, Span::new(name.0, name.0 + 1), "utf8mb4", &mut scratch) {
                Some(Value::Text { bytes, .. } | Value::Hex { bytes, .. } | Value::Binary(bytes)) => bytes.into(),
                _ => usual.into(),
            }
        };
        let usual_escape: &[u8] = if source.dialect.mode.no_backslash_escapes { b"" } else { b"\\" };
        let (enclosed, escape) = (bytes(written.enclosed, b""), bytes(written.escaped, usual_escape));
        if enclosed.len() > 1 || escape.len() > 1 {
            let text = "Field separator argument is not what is expected; check the manual";
            return Err(Error::client(WRONG_FIELD_TERMINATORS, text));
        }
        Ok(Format {
            field_end: bytes(written.fields_terminated, b"\t"),
            enclosed: enclosed.first().copied(),
            escape: escape.first().copied(),
            line_start: bytes(written.lines_starting, b""),
            line_end: bytes(written.lines_terminated, b"\n"),
        })
    }

    /// Fields and lines end where a delimiter says so.
    fn can_be_parted(&self, table: &str) -> Result<()> {
        if self.field_end.is_empty() || self.line_end.is_empty() || self.field_end == self.line_end {
            let what = "LOAD DATA without delimiters of its own for fields and for lines";
            return Err(not_parted(table, what, "write the file with both"));
        }
        let all = [&self.field_end, &self.line_end, &self.line_start].into_iter().flat_map(|bytes| bytes.iter());
        if !all.chain(&self.enclosed).chain(&self.escape).all(u8::is_ascii) {
            return Err(not_parted(table, "LOAD DATA with delimiters beyond ASCII", "take others"));
        }
        Ok(())
    }

    fn has_digits(&self) -> bool {
        let mut all = self.field_end.iter().chain(&*self.line_end).chain(&self.enclosed).chain(&self.escape);
        all.any(u8::is_ascii_digit)
    }
}

const WRONG_FIELD_TERMINATORS: (u16, &[u8; 5]) = (1083, b"42000");
