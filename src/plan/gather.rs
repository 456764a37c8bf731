//! Queries that can't be split: the rows of each table that they name are collected on one server,
//! into a temporary table each, and the client's statement runs there over those, so that its meaning
//! is the server's own. What is planned is which rows and columns are worth collecting, and how each
//! column's values are brought over unchanged.

use std::collections::BTreeSet;

use super::again::Commons;
use super::survey::{Filter, Found, FoundKind, Origin, Survey, quoted};
use super::{Cut, Item, Template};
use crate::catalog::{ColumnDef, TableDef};
use crate::error::{Error, Result};
use crate::sql::Kind;
use crate::sql::ast::{Body, ExprKind, Query, TableRefKind};
use crate::sql::visit::{Node, Visitor, walk_query};

/// A statement that is run over collected rows.
#[derive(Debug)]
pub struct Gather {
    /// The client's statement; a collected reference gets its temporary table's name.
    pub template: Template,
    /// The same as the client wrote it, where the server wants it otherwise.
    pub plain: Option<Template>,
    /// By reference: how its rows are collected.
    pub tables: Vec<Collected>,
    /// A filter depends on the clock: all that is sent gets one instant.
    pub clock: bool,
}

impl Gather {
    /// Mends the beginning of the text.
    pub(super) fn put_first(&mut self, cut: Cut) {
        self.plain.iter_mut().for_each(|plain| plain.cuts.insert(0, cut.clone()));
        self.template.cuts.insert(0, cut);
    }
}

/// How the rows of a reference are collected.
#[derive(Clone, Debug)]
pub struct Collected {
    /// What the statement calls the table, in backticks.
    pub alias: Box<str>,
    /// In the table's order; those that are generated are not among them.
    pub columns: Vec<Column>,
    /// The rows that are needed meet all of these.
    pub filters: Vec<(Item, Item)>,
}

/// A column whose values are brought over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: Box<str>,
    pub form: Form,
    /// The statement may look at it, or a key has it.
    pub needed: bool,
}

/// How a column's values are read and written again, so that neither the settings of the session
/// nor the display of a type changes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Read and written as its text: exact numbers, dates and times, years, JSON.
    Text,
    /// As its text, of a type whose bytes are others.
    Shown,
    /// As a number of double precision, which its text need not show whole.
    Double,
    /// The same of one of single precision.
    Float,
    /// Strings, by their bytes in the column's own character set.
    Characters,
    /// Bytes as they are.
    Bytes,
    /// By number: what is shown of a bit field or of a label need not be what is stored.
    Number,
    /// Seconds of Unix time: what is shown depends on the time zone, and is twice the same when clocks
    /// go back.
    Timestamp,
}

/// A gather in the making.
pub(super) struct Draft {
    tables: Vec<Collected>,
    clock: bool,
    commons: Commons,
}

/// Says how the rows of a query's tables are collected, or why they can't be.
pub(super) fn draft(survey: &Survey<'_>, query: &Query) -> Result<Draft> {
    if let Some(what) = marked(survey) {
        return Err(refusal(what));
    }
    let mut inside = Inside::default();
    walk_query(query, &mut inside);
    if let Some(what) = inside.refused {
        return Err(refusal(what));
    }
    let named = (!inside.all_columns).then(|| words(survey));
    // What the statement sets for itself, the collecting statements would not have.
    let filters: &[Filter] = match survey.marks.assigns.is_empty() && !sets_variables(survey) {
        true => &survey.filters,
        false => &[],
    };
    let mut tables = Vec::new();
    for (no, found) in (0..).map(super::RefNo).zip(&survey.refs) {
        let (source, origin) =
            survey.source_of(no).ok_or_else(|| refusal("a statement with names that are no tables"))?;
        let (name, bare) = match origin {
            Origin::Table { name, bare, .. } => (name, *bare),
            Origin::Derived { .. } => return Err(refusal("a statement with names that are no tables")),
        };
        let columns = columns(found, named.as_ref().filter(|_| !bare))?;
        let own = filters.iter().filter(|filter| filter.source == source).map(|filter| {
            let (from, last) = (survey.item(filter.span.start), survey.item(filter.span.end - 1));
            (from, Item(last.0 + 1))
        });
        tables.push(Collected { alias: quoted(name).into(), columns, filters: own.collect() });
    }
    let clock = filters.iter().any(|filter| filter.clock);
    Ok(Draft { tables, clock, commons: Commons::of(survey) })
}

impl Draft {
    /// `plain`: the statement, with a name put in for each reference.
    pub fn finish(self, plain: &Template) -> Result<Gather> {
        let Draft { mut tables, clock, commons } = self;
        Ok(match commons.write_again(plain, &mut tables)? {
            None => Gather { template: plain.clone(), plain: None, tables, clock },
            Some(template) => Gather { template, plain: Some(plain.clone()), tables, clock },
        })
    }
}

fn refusal(what: &str) -> Error {
    Error::refused(format!(
        "Bifold: {what} over tables whose rows are in several places is not supported yet. Give the sharding keys, so \
         that it stays in one place."
    ))
}

/// What the walk came by that another connection, or rows brought elsewhere, would make another thing.
fn marked(survey: &Survey<'_>) -> Option<&'static str> {
    let marks = &survey.marks;
    let kinds = [
        (marks.locks_rows, "a locking read"),
        (marks.named_lock, "a function of named locks"),
        (marks.routine, "a stored function"),
        (marks.writes, "a sequence"),
    ];
    kinds.into_iter().find_map(|(there, what)| there.then_some(what))
}

/// SET STATEMENT, the hint SET_VAR.
fn sets_variables(survey: &Survey<'_>) -> bool {
    let (source, span) = (&survey.source, survey.fingerprint.span());
    source.keyword(span.start) == crate::sql::Keyword::Set
        || span.tokens().any(|token| source.kind(token) == Kind::Hint)
}

/// What a statement holds besides its tables.
#[derive(Default)]
struct Inside {
    refused: Option<&'static str>,
    /// It may name columns without writing their names.
    all_columns: bool,
}

impl<'a> Visitor<'a> for Inside {
    fn enter(&mut self, node: Node<'a>) -> bool {
        match node {
            Node::Wildcard(_) => self.all_columns = true,
            Node::Query(query) => {
                self.all_columns |= matches!(query.body, Body::Table(..));
                if query.limit.as_ref().is_some_and(|limit| limit.rows_examined.is_some()) {
                    self.refused = Some("LIMIT ROWS EXAMINED");
                }
            }
            Node::TableRef(table) => match &table.kind {
                TableRefKind::Join(join) => self.all_columns |= join.natural,
                TableRefKind::Table(factor) if factor.partition.is_some() => self.refused = Some("PARTITION"),
                TableRefKind::Table(factor) if factor.system_time.is_some() => self.refused = Some("FOR SYSTEM_TIME"),
                TableRefKind::Table(_)
                | TableRefKind::Derived { .. }
                | TableRefKind::JsonTable { .. }
                | TableRefKind::Parens(_) => {}
            },
            // How well a row matches depends on all the others; and temporary tables have no such index.
            Node::Expr(expr) if matches!(expr.kind, ExprKind::Match { .. }) => self.refused = Some("MATCH"),
            Node::Expr(_)
            | Node::Select(_)
            | Node::With(_)
            | Node::CommonTable(_)
            | Node::Table(_)
            | Node::Column(_)
            | Node::Mention(_) => {}
        }
        true
    }
}

/// Every word and name of the statement, in lower case: a column that is not among them is not looked at.
fn words(survey: &Survey<'_>) -> BTreeSet<String> {
    let source = &survey.source;
    let is_name = |token: &u32| matches!(source.kind(*token), Kind::Word | Kind::QuotedName);
    let tokens = survey.fingerprint.span().tokens().filter(is_name);
    tokens.map(|token| survey.name(crate::sql::ast::Name(token)).to_lowercase()).collect()
}

/// `named`: what columns the statement can mean; `None`: all.
fn columns(found: &Found, named: Option<&BTreeSet<String>>) -> Result<Vec<Column>> {
    let def = found.def.as_deref().ok_or_else(|| refusal("a statement with tables that are not known"))?;
    // What a generated column is made of is not known here.
    let named = named.filter(|_| !def.columns.iter().any(|column| column.generated));
    let mut columns = Vec::new();
    for column in def.columns.iter().filter(|column| !column.generated) {
        let form = form(column).ok_or_else(|| {
            let (table, name, of) = (&found.table, &column.name, &column.data_type);
            refusal(&format!("column {name} of table {table}, whose type {of} Bifold does not know how to copy,"))
        })?;
        let needed = named.is_none_or(|named| {
            !column.name.is_ascii() || named.contains(&column.name.to_lowercase()) || has_key(def, &column.name)
        });
        columns.push(Column { name: column.name.as_str().into(), form, needed });
    }
    if !columns.iter().any(|column| column.needed)
        && let Some(first) = columns.first_mut()
    {
        first.needed = true;
    }
    Ok(columns)
}

/// Left out, its rows would be equal under a unique key.
fn has_key(def: &TableDef, column: &str) -> bool {
    def.unique.iter().any(|(_, columns)| columns.iter().any(|own| own.eq_ignore_ascii_case(column)))
}

fn form(column: &ColumnDef) -> Option<Form> {
    Some(match column.data_type.as_str() {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" => Form::Text,
        "double" => Form::Double,
        "float" => Form::Float,
        "bit" | "enum" | "set" => Form::Number,
        "date" | "datetime" | "time" | "year" | "json" => Form::Text,
        "uuid" | "inet4" | "inet6" => Form::Shown,
        "timestamp" => Form::Timestamp,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => Form::Characters,
        "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" | "vector" => Form::Bytes,
        "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon"
        | "geomcollection" | "geometrycollection" => Form::Bytes,
        _ => return None,
    })
}

/// Is there a table whose rows are not all in one place?
pub(super) fn is_spread(survey: &Survey<'_>) -> bool {
    let homes = survey.refs.iter().filter(|found| !matches!(found.kind, FoundKind::Reference));
    let mut homes = homes.map(|found| found.schema.home().server);
    survey.has_sharded() || homes.next().is_some_and(|first| homes.any(|other| other != first))
}
