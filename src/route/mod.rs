//! A plan and the values of one statement become the texts for servers. Pure: what it lacks (a
//! collation weight) is an error that says what to ask a server; the caller asks and routes again.

#[cfg(test)]
mod cases;
mod gather;
mod hot;
mod insert;
pub mod load;
mod locate;
mod moving;
mod read;
mod scatter;
mod single;
mod text;
mod value;

use std::ops::Range;

use crate::admission::HotKey;
use crate::definition::identifier;
use crate::error::Error;
use crate::plan::load::Load;
use crate::plan::{Item, Located, Plan, Planned, TableRef, Wide, WriteScatter};
use crate::sql::fingerprint::Fingerprint;
use crate::sql::{Kind, Source, Span, literal};
use crate::topology::weight::{Question, Weights};
use crate::topology::{Place, Schema, ServerNo, ShardNo, Sharded, TableRule};
use crate::value::Value;

/// What the session knows and a text may need.
pub struct Facts<'a> {
    pub user: &'a str,
    /// Where the client is, as USER() has it; the account that CURRENT_USER() names is at `%`.
    pub host: &'a str,
    pub schema: Option<&'a str>,
    pub connection_id: u64,
    pub last_insert_id: u64,
    pub row_count: i64,
    pub found_rows: u64,
    /// `character_set_client`: what literals are in.
    pub charset: &'a str,
    /// `character_set_connection`: what servers turn them into before all else.
    pub connection: &'a str,
    /// NO_AUTO_VALUE_ON_ZERO: a 0 in the id column is a 0.
    pub keeps_zero_ids: bool,
    /// The sql_mode is strict: what a column can't hold is an error and not a warning.
    pub strict: bool,
    /// The statement's instant, seconds and microseconds of Unix time, for texts that several
    /// places get; `None`: the session has SET timestamp itself.
    pub instant: Option<(u64, u32)>,
    /// The session has, or may have, a transaction that other connections can't see.
    pub in_transaction: bool,
    /// Places of a server may share texts.
    pub blocks: bool,
    pub weights: &'a Weights,
    pub ids: &'a dyn Ids,
}

/// Hands out ids.
pub trait Ids: Send + Sync {
    /// Appends `count` ids for new rows of a table; for ids that carry the key, all rows are of
    /// this residue (h mod M) and this place. False: not all can be had in this millisecond; what
    /// could is kept, and a later call goes on from there ([`RouteError::Wait`]).
    fn take(
        &self,
        schema: &Schema,
        table: &TableRule,
        at: Option<(u32, Place)>,
        count: u32,
        out: &mut Vec<u64>,
    ) -> Result<bool, Error>;
}

/// One statement: its text, read, and the values bound to its parameters.
#[derive(Clone, Copy)]
pub struct Statement<'a> {
    pub source: Source<'a>,
    pub fingerprint: &'a Fingerprint,
    /// `None`: it came as text.
    pub params: Option<&'a [Value<'a>]>,
}

/// The texts of one statement; reused from statement to statement.
#[derive(Debug, Default)]
pub struct Routed {
    pub buffer: Vec<u8>,
    pub parts: Vec<Part>,
    /// The first id generated, in the order of the rows: LAST_INSERT_ID().
    pub generated_id: Option<u64>,
    /// What the OK packet says: the first generated id, else the last one given in a row.
    pub insert_id: Option<u64>,
    /// The parts are those of a query over several places.
    pub wide: bool,
    /// The rows that the merge takes of what the parts give.
    pub window: Option<Window>,
    /// The parts collect the rows that another statement runs over.
    pub gathered: Option<Box<Gathered>>,
    /// The parts are queries that choose the rows to be changed.
    pub choosing: bool,
    /// Where rows with a changed key may have to leave, part by part.
    pub moving: Option<Moving>,
    /// The one key that the one part changes or locks rows of.
    pub hot: Option<HotKey>,
    /// The part writes on the home shard, from which rows are copied.
    pub copying: bool,
    /// The texts hold the values of parameters as literals.
    pub inlined: bool,
    /// Of an UPDATE or DELETE: the place of each part.
    pub places: Vec<Place>,
    pub way: Way,
    /// The first part is read for its column definitions alone.
    pub defined: bool,
    scratch: Vec<u8>,
    params: Vec<u32>,
}

/// Rows get another key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moving {
    /// The place of the new key and its literal, where it is the same for all rows.
    pub to: Option<(Place, Vec<u8>)>,
}

/// Rows chosen to be changed, by the part that gave them: their keys as a text of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub part: usize,
    pub key: String,
}

/// How the parts of a query over several places are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// One after the other on each server.
    #[default]
    Parts,
    /// One sorted stream of each server.
    Streams,
}

/// LIMIT in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub offset: u64,
    pub count: u64,
}

/// A statement that runs over collected rows.
#[derive(Debug)]
pub struct Gathered {
    pub server: ServerNo,
    /// Of the buffer.
    pub text: Range<usize>,
    /// As a part's.
    pub args: Option<Vec<Arg>>,
    /// What its tables are called in the text, by reference.
    pub names: Vec<Name>,
    pub tables: Vec<Temporary>,
}

/// A temporary table to be made.
#[derive(Debug)]
pub struct Temporary {
    /// The reference's number.
    pub table: usize,
    pub name: Name,
    /// A table with its definition, and where that is.
    pub like: Name,
    pub like_on: ServerNo,
    /// The parts that give its rows.
    pub parts: Range<usize>,
}

/// One text for one server.
#[derive(Debug)]
pub struct Part {
    pub server: ServerNo,
    /// Of the buffer.
    pub text: Range<usize>,
    /// What stands for each `?` of the text; `None`: the client's parameters as they are.
    pub args: Option<Vec<Arg>>,
    /// Physical names in the text and what the client calls them.
    pub names: Vec<Name>,
    /// How many rows an INSERT's text holds.
    pub rows: u32,
    /// Which rows of the client's text these are, from 1, where they are not all of them.
    pub numbers: Vec<u32>,
    /// It does to a copy what another part does to the original: its numbers do not count.
    pub copies: bool,
    /// The places whose statements are one UNION here; none: it is of one place.
    pub branches: Vec<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The client's parameter of this number, from 0.
    Client(u16),
    Id(u64),
}

/// A physical table of a text, for making its names logical again in the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub database: String,
    pub table: String,
    pub logical_schema: String,
    pub logical_table: String,
    /// What only rows that the shard owns meet, where it may hold others.
    pub own: Option<Box<str>>,
}

#[derive(Debug)]
pub enum RouteError {
    Refused(Error),
    /// Ids are short in this millisecond: route again in the next, with the same `Ids`.
    Wait,
    /// A key's weight is not known: ask any server, tell the weights, route again.
    Ask(Question),
}

impl From<Error> for RouteError {
    fn from(error: Error) -> Self {
        RouteError::Refused(error)
    }
}

/// The texts of a statement under a plan that has some: not for local plans, DDL and refusals.
pub fn route(
    planned: &Planned,
    statement: &Statement<'_>,
    facts: &Facts<'_>,
    out: &mut Routed,
) -> Result<(), RouteError> {
    Work { whole: false, sample: false, statement, facts, params: &[] }.go(planned, out)
}

/// The same where rows are collected: all of them, with all their columns.
pub fn route_whole(
    planned: &Planned,
    statement: &Statement<'_>,
    facts: &Facts<'_>,
    out: &mut Routed,
) -> Result<(), RouteError> {
    Work { whole: true, sample: false, statement, facts, params: &[] }.go(planned, out)
}

/// A text of the statement for some place, whatever its parameters: to be prepared for the sake of
/// its metadata, never run.
pub fn sample(
    planned: &Planned,
    statement: &Statement<'_>,
    facts: &Facts<'_>,
    out: &mut Routed,
) -> Result<(), RouteError> {
    Work { whole: false, sample: true, statement, facts, params: &[] }.go(planned, out)
}

/// The texts that change rows which the parts of `out` have chosen; those are replaced.
pub fn change(
    plan: &WriteScatter,
    statement: &Statement<'_>,
    facts: &Facts<'_>,
    rows: &[Chosen],
    out: &mut Routed,
) -> Result<(), RouteError> {
    let work = Work { whole: false, sample: false, statement, facts, params: &[] };
    work.with_params(out, |work, out| work.change(plan, rows, out))
}

/// Two texts of a query over several places, to be run for the sake of their metadata: the statement
/// for one place, and a UNION of such.
pub fn probe(plan: &Wide, statement: &Statement<'_>, facts: &Facts<'_>, out: &mut Routed) -> Result<(), RouteError> {
    out.clear();
    let work = Work { whole: false, sample: false, statement, facts, params: &[] };
    work.with_params(out, |work, out| work.probe(plan, out))
}

/// An INSERT … SELECT in pieces.
#[derive(Debug, Default)]
pub struct Pieces {
    pub head: Vec<u8>,
    pub query: Vec<u8>,
    pub tail: Vec<u8>,
}

/// The text before these items, theirs, and what follows, with values in place of `?`. `charset`: the
/// client's.
pub fn pieces(statement: &Statement<'_>, charset: &str, (from, to): (Item, Item)) -> Pieces {
    let (source, fingerprint) = (&statement.source, statement.fingerprint);
    let params: Vec<u32> = match statement.params {
        Some(_) => fingerprint.span().tokens().filter(|token| source.kind(*token) == Kind::Param).collect(),
        None => Vec::new(),
    };
    let whole = source.byte_range(fingerprint.span());
    let last = fingerprint.list(to.0 - 1).map_or(fingerprint.token_of(to.0 - 1) + 1, |list| list.span.end);
    let query = source.byte_range(Span::new(fingerprint.token_of(from.0), last));
    let text = |from, to| text::inlined(statement, charset, &params, from..to);
    Pieces {
        head: text(whole.start, query.start),
        query: text(query.start, query.end),
        tail: text(query.end, whole.end),
    }
}

/// A statement being routed.
#[derive(Clone, Copy)]
struct Work<'a> {
    statement: &'a Statement<'a>,
    facts: &'a Facts<'a>,
    /// The tokens of the statement's `?`, where values are bound to them.
    params: &'a [u32],
    /// Any place will do.
    sample: bool,
    /// Nothing is left out of what is collected.
    whole: bool,
}

impl Work<'_> {
    fn go(self, planned: &Planned, out: &mut Routed) -> Result<(), RouteError> {
        out.clear();
        self.with_params(out, |work, out| work.route(planned, out))
    }

    fn with_params(
        self,
        out: &mut Routed,
        route: impl FnOnce(&Work<'_>, &mut Routed) -> Result<(), RouteError>,
    ) -> Result<(), RouteError> {
        let statement = self.statement;
        let mut params = std::mem::take(&mut out.params);
        params.clear();
        if statement.params.is_some() {
            let tokens = statement.fingerprint.span().tokens();
            params.extend(tokens.filter(|token| statement.source.kind(*token) == Kind::Param));
        }
        let routed = route(&Work { params: &params, ..self }, out);
        out.params = params;
        routed
    }

    fn route(&self, planned: &Planned, out: &mut Routed) -> Result<(), RouteError> {
        match &planned.plan {
            Plan::Single(plan) => self.single(plan, out),
            Plan::Scatter(plan) if self.sample => self.sample_of(&plan.wide.plain, out),
            Plan::Scatter(plan) => self.read(&plan.wide, out),
            Plan::Gather(plan) if self.sample => self.sample_of_gather(plan, out),
            Plan::Gather(plan) => self.gather(plan, out),
            Plan::WriteScatter(plan) => self.scatter(plan, out),
            Plan::Insert(plan) => self.insert(plan, out),
            Plan::Refusal(error) => Err(error.clone().into()),
            Plan::Load(load) => match &**load {
                Load::Whole(single) => self.single(single, out),
                Load::ByLine(_) => Err(Error::proxy("Bifold: lines of a file were routed as a statement.").into()),
            },
            Plan::Local(_) | Plan::Ddl(_) | Plan::InsertSelect(_) => {
                Err(Error::proxy("Bifold: a plan without texts was routed.").into())
            }
        }
    }
}

impl Routed {
    fn clear(&mut self) {
        self.buffer.clear();
        self.parts.clear();
        self.generated_id = None;
        self.insert_id = None;
        self.wide = false;
        self.window = None;
        self.gathered = None;
        self.choosing = false;
        self.moving = None;
        self.hot = None;
        self.copying = false;
        self.inlined = false;
        self.places.clear();
        self.way = Way::Parts;
        self.defined = false;
    }
}

/// The ownership test of a shard's rows: `` CRC32(`uid`) % 8 = 3 ``
fn own(table: &TableRef, located: &Located, shard: ShardNo) -> Box<str> {
    let sharded = value::sharded(located);
    let of = located.key_type.sql_shard(&identifier(&sharded.key), table.schema.shard_count(), sharded.hash);
    format!("{of} = {}", shard.0).into()
}

impl Name {
    /// A table that a shard has whole.
    pub fn whole(table: &TableRef, shard: ShardNo) -> Self {
        Name::new(table, shard, table.table.to_string())
    }

    pub fn subtable(table: &TableRef, sharded: &Sharded, place: Place) -> Self {
        Name::new(table, place.shard, sharded.pattern.physical_name(place.subtable))
    }

    /// The same for a text that must see the shard's own rows only, whatever its conditions.
    fn owned(table: &TableRef, located: &Located, place: Place) -> Self {
        let name = Name::subtable(table, value::sharded(located), place);
        let own = table.schema.dirty.then(|| own(table, located, place.shard));
        Name { own, ..name }
    }

    fn new(table: &TableRef, shard: ShardNo, physical: String) -> Self {
        Name {
            database: table.schema.shard(shard).database.clone(),
            table: physical,
            logical_schema: table.schema.name.clone(),
            logical_table: table.table.to_string(),
            own: None,
        }
    }

    /// Where it is read: rows that the shard does not own are left out.
    fn put_read(&self, out: &mut Vec<u8>) {
        match &self.own {
            None => self.put(out),
            // Servers merge it into the statement: its indexes serve as before.
            Some(own) => {
                out.extend_from_slice(b"(SELECT * FROM ");
                self.put(out);
                out.extend_from_slice(format!(" WHERE {own})").as_bytes());
            }
        }
    }

    /// `` `mall_1`.`orders_0007` ``
    pub fn put(&self, out: &mut Vec<u8>) {
        literal::quote_name(&self.database, out);
        out.push(b'.');
        literal::quote_name(&self.table, out);
    }
}
