//! A statement becomes a [`Planned`]: immutable, printable data that says how it runs, made once
//! per form of statement and kept in the cache. It addresses the text by item of the
//! fingerprint, so it serves every statement of the same form; `route` puts the values in.

use std::sync::Arc;

use crate::catalog::TableName;
use crate::context::Setting;
use crate::error::{Error, Result};
use crate::sql::ast::{Statement, StatementKind};
use crate::sql::fingerprint::Fingerprint;
use crate::sql::{self, Source, Span, parser};
use crate::topology::key::KeyType;
use crate::topology::{Schema, TableRule};
pub use again::Copy;
use gather::Gather;
use survey::Survey;

mod again;
pub mod allow;
pub mod cache;
pub mod catalogue;
mod choice;
pub mod ddl;
mod driver;
mod fits;
mod function;
pub mod gather;
mod group;
pub mod image;
mod insert;
pub mod load;
pub mod local;
mod number;
mod order;
mod predicate;
pub mod print;
mod scatter;
mod select;
mod star;
mod survey;
mod write;

pub use fits::{Fits, Question};
pub use survey::Scene;

/// What became of planning.
#[expect(clippy::large_enum_variant, reason = "one for each form of statement, and not kept")]
#[derive(Debug)]
pub enum Outcome {
    Planned(Planned),
    /// These definitions are needed first: load them into the catalog and plan again. Where one
    /// can't be loaded, that error is the answer to the statement.
    Lacks(Vec<TableName>),
}

/// Plans the one statement of a text. Pure: all that it knows comes with the scene.
pub fn plan(source: Source<'_>, fingerprint: &Fingerprint, scene: &Scene<'_>) -> Result<Outcome> {
    let (parsed, _) = parser::parse(&source, fingerprint.span().start)?;
    match statement(source, fingerprint, scene, &parsed) {
        Ok(outcome) => Ok(outcome),
        Err(error) => {
            Ok(Outcome::Planned(Planned { plan: Plan::Refusal(error), assigns: Vec::new(), kind: Kind::Other }))
        }
    }
}

/// Plans a statement, be it one within another (EXPLAIN).
fn statement(
    source: Source<'_>,
    fingerprint: &Fingerprint,
    scene: &Scene<'_>,
    statement: &Statement,
) -> Result<Outcome> {
    let asker = allow::Asker { scene, flavour: source.dialect.flavour };
    allow::check(&source, statement, &asker)?;
    if let Some(outcome) = local::plan(source, fingerprint, scene, statement)? {
        return Ok(outcome);
    }
    let survey = |verb| Survey::new(scene, source, fingerprint, verb);
    match &statement.kind {
        StatementKind::Query(query) => select::plan(survey("SELECT"), query),
        StatementKind::CreateTable(create) if let Some(query) = &create.query => {
            ddl::create_select(survey("SELECT"), create, query)
        }
        StatementKind::CreateTable(_)
        | StatementKind::AlterTable(_)
        | StatementKind::DropTable(_)
        | StatementKind::Truncate(_)
        | StatementKind::RenameTable(_)
        | StatementKind::CreateIndex(_)
        | StatementKind::DropIndex(_)
        // The allow-list lets sequences through.
        | StatementKind::Object(_) => ddl::plan(&source, statement, scene).map(|ddl| {
            let plan = Plan::Ddl(Box::new(ddl));
            Outcome::Planned(Planned { plan, assigns: Vec::new(), kind: Kind::Other })
        }),
        StatementKind::Insert(insert) => insert::plan(survey("INSERT"), insert),
        StatementKind::LoadData(load) => load::plan(survey("INSERT"), load),
        StatementKind::Update(update) => write::update(survey("UPDATE"), update),
        StatementKind::Delete(delete) => write::delete(survey("DELETE"), delete),
        _ => Err(Error::refused("Bifold: this statement is not supported yet.")),
    }
}

/// The number of `?` in the statement.
pub fn params(source: &Source<'_>, fingerprint: &Fingerprint) -> u16 {
    let count = fingerprint.span().tokens().filter(|token| source.kind(*token) == sql::Kind::Param).count();
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// A statement's plan and what is true of it whatever the plan.
#[derive(Debug)]
pub struct Planned {
    pub plan: Plan,
    /// Settings that running it changes (`SET @a`, `:=`, `INTO @v`): read back after it ran.
    pub assigns: Vec<Setting>,
    pub kind: Kind,
}

impl Planned {
    /// How it runs where one server has all of it, if it may.
    pub fn on_one_server(mut self) -> Self {
        let direct = match &mut self.plan {
            Plan::InsertSelect(insert) => insert.direct.take().and_then(Arc::into_inner),
            _ => None,
        };
        direct.unwrap_or(self)
    }

    /// It calls LAST_INSERT_ID(expr), which is among what it assigns.
    pub fn sets_last_id(&self) -> bool {
        self.assigns.iter().any(is_last_id)
    }

    /// What of the assigned is a setting that the session's state holds.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.assigns.iter().filter(|setting| !is_last_id(setting))
    }

    /// DDL owns its text, and LOAD DATA its delimiters: a form with other literals in it would run
    /// with these. A refusal may name the client's address.
    pub fn serves_its_form(&self) -> bool {
        !matches!(self.plan, Plan::Load(_) | Plan::Ddl(_) | Plan::Refusal(_))
    }
}

fn is_last_id(setting: &Setting) -> bool {
    matches!(setting, Setting::System(name) if &**name == "last_insert_id")
}

/// What the reply is, for ROW_COUNT() and FOUND_ROWS().
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A result set.
    Rows,
    /// A result set whose statement asks for SQL_CALC_FOUND_ROWS.
    CountedRows,
    /// An OK with a number of changed rows (a result set where it says RETURNING).
    Write,
    /// An OK without one.
    Other,
}

#[derive(Debug)]
pub enum Plan {
    /// The proxy answers, or the session changes.
    Local(Box<local::Local>),
    /// One server runs the whole statement.
    Single(Single),
    /// Several places answer a query; their rows are merged into one result.
    Scatter(Scatter),
    /// Rows are collected on one server, and the statement runs there.
    Gather(Box<Gather>),
    /// Rows of VALUES or SET, split by place.
    Insert(Box<Insert>),
    /// The rows of a query, wherever they are, into a table.
    InsertSelect(Box<InsertSelect>),
    /// One text for each of several places; the affected rows are summed.
    WriteScatter(WriteScatter),
    /// Lines of a file that the client sends.
    Load(Box<load::Load>),
    /// To every place of a table, resumable.
    Ddl(Box<ddl::Ddl>),
    /// What is not supported, in a sentence.
    Refusal(Error),
}

impl Plan {
    /// It is not the proxy's own affair.
    pub fn asks_servers(&self) -> bool {
        !matches!(self, Plan::Local(_) | Plan::Refusal(_))
    }

    /// Running it writes, locks or binds; or it opens a transaction on a server, be it by reading.
    /// `transacts`: it would stand in one.
    pub fn needs_pass(&self, transacts: bool) -> bool {
        match self {
            Plan::Local(local) => local.needs_pass(transacts),
            Plan::Single(single) => transacts || single.effect != Effect::Read || single.bind.is_some(),
            Plan::Scatter(_) | Plan::Gather(_) => transacts,
            Plan::Insert(_) | Plan::InsertSelect(_) | Plan::WriteScatter(_) | Plan::Load(_) | Plan::Ddl(_) => true,
            Plan::Refusal(_) => false,
        }
    }
}

/// The position of an item in the fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item(pub u32);

/// The position of a reference in its template's `refs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefNo(pub u16);

impl RowCut {
    /// The tokens that are cut of this value.
    pub fn span(&self, value: Span) -> Span {
        Span::new(value.start + self.from, value.start + self.to)
    }
}

/// A statement's text with the places where it is cut and mended.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub refs: Vec<TableRef>,
    /// Sorted, without overlap.
    pub cuts: Vec<Cut>,
    /// Cuts in the rows of VALUES, where these are one item.
    pub rows: Option<RowCuts>,
}

/// Cuts that are made in each row of VALUES alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCuts {
    pub item: Item,
    /// In the order of the values.
    pub cuts: Vec<RowCut>,
}

/// A cut within a value, by tokens from the value's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCut {
    pub value: u16,
    pub from: u32,
    pub to: u32,
    pub with: Patch,
}

/// The items `from..to` are replaced; an empty range inserts before `from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    pub from: Item,
    pub to: Item,
    pub with: Patch,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patch {
    /// `` `mall_1`.`orders_0007` ``, with an alias where given: its text, quotes and all.
    Table {
        table: RefNo,
        alias: Option<Box<[u8]>>,
    },
    Text(Box<[u8]>),
    /// Before the condition of a change: `(` where the ownership test of the first reference
    /// follows behind it.
    OwnBefore,
    /// That test: `) AND …` where a condition stands before it, else ` WHERE …`.
    OwnBehind {
        joined: bool,
    },
    /// A list of the driver's keys: for each place those of its values that can be there.
    Share(Item),
    /// LIMIT for a part: as many rows as the merge skips and takes together.
    Limit,
    /// What routing has to say there: the number of a part, the rows that were chosen.
    Inserted,
    /// Another common table, of the same words.
    Again(Arc<Copy>),
    Session(SessionValue),
}

/// What only the session knows; spliced so that type and metadata are the server's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionValue {
    /// DATABASE(), SCHEMA()
    Schema,
    /// USER(), SESSION_USER(), SYSTEM_USER()
    User,
    /// CURRENT_USER
    Account,
    ConnectionId,
    /// LAST_INSERT_ID() without an argument
    LastInsertId,
    /// @@last_insert_id, @@identity: the same number of another type
    Identity,
    RowCount,
    FoundRows,
}

/// A table as a statement names it, and how its place is found.
#[derive(Clone, Debug)]
pub struct TableRef {
    pub schema: Arc<Schema>,
    /// The logical name.
    pub table: Arc<str>,
    pub kind: RefKind,
}

#[derive(Clone, Debug)]
pub enum RefKind {
    Unsharded,
    Reference,
    Sharded(Located),
}

#[derive(Clone, Debug)]
pub struct Located {
    pub rule: Arc<TableRule>,
    /// The sharding key's type.
    pub key_type: KeyType,
    /// The id column's type, where ids carry the place.
    pub id_type: Option<KeyType>,
    /// Any one of them pins the reference; with none it spans all places.
    pub keys: Vec<KeyMatch>,
}

/// A predicate that only rows of these key values can meet.
#[derive(Clone, Debug)]
pub struct KeyMatch {
    pub column: KeyColumn,
    /// OR-ed; all must fall into one place.
    pub values: Vec<ValueSource>,
    /// `<=>`: a NULL among the values proves nothing.
    pub null_safe: bool,
}

impl KeyMatch {
    /// The one list of its values, of which each place needs only those that can be there.
    pub fn shared_list(&self) -> Option<Item> {
        match self.values.as_slice() {
            [ValueSource::List(item)] if !self.null_safe => Some(*item),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyColumn {
    /// The sharding key.
    Key,
    /// The id that carries the key's place.
    Id,
    /// What INSERT … SELECT will store as the sharding key.
    Stored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    /// The items `from..to`: a literal with its signs, or `?`.
    One { from: Item, to: Item },
    /// A list of such values that is one item.
    List(Item),
    /// A list of rows that is one item: their values of this number.
    Rows { item: Item, value: u16 },
    /// The session's LAST_INSERT_ID().
    LastInsertId,
    /// The key of the driving table's row, whatever it is: only while co-located tables are looked for.
    Driver,
}

/// A statement for one server.
#[derive(Debug)]
pub struct Single {
    /// No references: any server will do, best the one that the session already holds.
    pub template: Template,
    pub effect: Effect,
    pub bind: Option<Bind>,
    /// How it runs where its values turn out to be in several places; `None`: then it is refused.
    pub wide: Option<Box<Wide>>,
    /// How it runs then where that can't be, and where its tables turn out to be on several servers.
    pub gather: Option<Box<Gather>>,
    /// The connection must have a default database: that of the first reference; and without any
    /// reference the statement runs where named locks live.
    pub needs_schema: bool,
}

/// A query without a place.
#[derive(Debug)]
pub struct Scatter {
    pub wide: Wide,
}

/// How a query runs over several places.
#[derive(Debug)]
pub struct Wide {
    /// The statement for one place, with the hidden columns. Its sharded references are co-located,
    /// the others are reference tables.
    pub template: Template,
    /// The client's own, for one place: what columns look like may depend on every clause.
    pub plain: Template,
    /// The reference whose places are read: each row of the result has a row of it.
    pub driver: RefNo,
    pub recipe: Recipe,
    /// LIMIT.
    pub window: Option<Window>,
    /// All places get one instant.
    pub clock: bool,
    pub effect: Effect,
    /// Why each place gets a text of its own; `None`: places of a server share texts.
    pub alone: Option<&'static str>,
    pub fits: Fits,
}

/// How the rows of the places become one result. Hidden columns stand behind the client's own.
#[derive(Debug)]
pub enum Recipe {
    /// Place after place.
    Chain,
    /// Sorted by hidden columns; behind the keys stand what servers themselves sort by (`SortKey::raw`).
    Sort(Vec<SortKey>),
    /// The rows of each place that are one group are one row of all.
    Group(Grouping),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The hidden column.
    pub expr: Box<str>,
    pub descending: bool,
    /// Of weights that are compared as if the space's followed without end.
    pub pads: Option<&'static [u8]>,
    /// What a server sorts by where it sorts the rows of several places, if not by `expr`.
    pub raw: Option<Box<str>>,
}

/// Groups of all places made of groups of each place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    pub hidden: Vec<Hidden>,
    /// Rows with equal values in so many of the first hidden columns are one group.
    pub keys: usize,
    /// What is not folded is any row's.
    pub folds: Vec<(Cell, Fold)>,
    pub order: Vec<GroupOrder>,
    /// Aggregates without GROUP BY: one row, of nothing too.
    pub always: bool,
    /// SELECT DISTINCT.
    pub distinct: bool,
}

/// A hidden column, and how its values compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    pub expr: Box<str>,
    pub pads: Option<&'static [u8]>,
}

/// A column of a group's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The client's column of this number.
    Visible(u16),
    Hidden(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupOrder {
    pub by: Cell,
    pub descending: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Count,
    Sum,
    /// The value whose key, in this hidden column, is the least.
    Least(u16),
    Greatest(u16),
    /// Hidden columns with the sum and the count.
    Average {
        sum: u16,
        count: u16,
    },
}

impl Recipe {
    /// ORDER BY of a UNION, by its hidden columns.
    pub fn order(&self) -> String {
        let Recipe::Sort(keys) = self else { return String::new() };
        let mut raws = keys.len()..;
        let by = |(at, key): (usize, &SortKey)| {
            let at = if key.raw.is_some() { raws.next().unwrap_or(at) } else { at };
            format!("{}{}", scatter::hidden_name(at), if key.descending { " DESC" } else { "" })
        };
        format!(" ORDER BY {}", keys.iter().enumerate().map(by).collect::<Vec<_>>().join(", "))
    }

    /// How many columns are not the client's.
    pub fn hidden(&self) -> usize {
        match self {
            Recipe::Chain => 0,
            Recipe::Sort(keys) => keys.len() + keys.iter().filter(|key| key.raw.is_some()).count(),
            Recipe::Group(grouping) => grouping.hidden.len(),
        }
    }
}

/// LIMIT and OFFSET: literals or `?`.
#[derive(Debug)]
pub struct Window {
    pub offset: Option<ValueSource>,
    pub count: ValueSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Read,
    /// Reads and locks rows.
    Lock,
    Write,
}

/// Why the connection stays with the session after the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// GET_LOCK(): until RELEASE_ALL_LOCKS() or the session's end.
    NamedLock,
    TemporaryTable,
    LockTables,
    /// What the statement called may have left state behind.
    Routine,
}

/// UPDATE or DELETE that several places answer.
#[derive(Debug)]
pub struct WriteScatter {
    /// `refs[0]` is the target.
    pub template: Template,
    pub over: Over,
    /// The clock decides what is written: all places get one instant.
    pub clock: bool,
    /// The AUTO_INCREMENT column of a reference table: each row must give it a value.
    pub given: Option<Given>,
    /// LIMIT: where the rows may be in several places, they are chosen first.
    pub choice: Option<Box<Choice>>,
    /// The sharding key is changed: rows may have to go to another place.
    pub moves: Option<Box<Move>>,
    /// A reference table is written on the home shard, and its rows are copied from there.
    pub from_home: Option<Box<FromHome>>,
}

/// How the rows of a reference table that a statement wrote on the home shard go to the others.
#[derive(Debug)]
pub struct FromHome {
    /// All columns that are stored.
    pub columns: Vec<image::Column>,
    /// The numbers of those that tell a row from others.
    pub key: Vec<usize>,
    /// Only rows are added, and the home shard counts this column up for each.
    pub counted: Option<Box<str>>,
    /// Else only where `given` finds that rows lack what they must give.
    pub always: bool,
}

/// How the rows that LIMIT means are found and locked, and changed afterwards.
#[derive(Debug)]
pub struct Choice {
    /// The query for one place. Its columns: the part's number, the row's key, the sort keys.
    pub query: Template,
    /// The statement with the chosen rows in place of its conditions.
    pub change: Template,
    pub keys: Vec<SortKey>,
    pub window: Window,
    /// The columns that tell a row from all others of its place.
    pub columns: Vec<image::Column>,
    /// It is an UPDATE, which tells how many rows it met.
    pub update: bool,
}

/// How rows go to the place that their new key names: after they have been changed where they are.
#[derive(Debug)]
pub struct Move {
    /// The new key, where it is the same for all rows.
    pub key: Option<ValueSource>,
    /// All columns that are stored, the sharding key's among them.
    pub columns: Vec<image::Column>,
    /// The number of the sharding key's column among them.
    pub key_column: usize,
    /// The id that carries the place stays what it is: its row can't leave.
    pub carries: Option<Box<str>>,
}

/// A column that rows must fill themselves.
#[derive(Debug)]
pub struct Given {
    pub column: Box<str>,
    pub rows: Rows,
    /// Number of its value in a row.
    pub value: u16,
    pub column_type: KeyType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The places that the target's keys name; all of them where it has none.
    Places,
    /// Every shard: a write to a reference table.
    Shards,
}

/// INSERT or REPLACE of rows into a sharded table.
#[derive(Debug)]
pub struct Insert {
    /// `refs[0]` is the target. Its cuts lie before and behind the rows, or in rows that stand
    /// apart in the fingerprint.
    pub template: Template,
    pub rows: Rows,
    /// Number of the key's value in a row; `None`: the key is the id, and is added.
    pub key: Option<u16>,
    pub id: Option<InsertId>,
    /// The number of values that a row must have.
    pub width: u16,
    /// It answers with rows: of one place only.
    pub returning: bool,
    /// INSERT IGNORE: a row that can't be written is passed over.
    pub ignore: bool,
}

/// INSERT or REPLACE of a query's rows.
#[derive(Debug)]
pub struct InsertSelect {
    /// The whole statement for one server, where that may do.
    pub direct: Option<Arc<Planned>>,
    /// The items `from..to` of the query; what stands before and behind it goes with VALUES as well.
    pub query: (Item, Item),
    /// The columns that rows go to: is each one of numbers?
    pub numbers: Box<[bool]>,
    pub ignore: bool,
}

impl InsertSelect {
    /// Does the query's column of this number go into a column of numbers?
    pub fn is_number(&self, column: usize) -> bool {
        self.numbers.get(column).copied().unwrap_or(true)
    }
}

/// Where the rows of an INSERT are.
#[derive(Debug)]
pub enum Rows {
    /// The items `from..to`: rows in parentheses with commas between.
    Values { from: Item, to: Item },
    /// Assignments: the values by number, and the item behind the last.
    Set { values: Vec<(Item, Item)>, end: Item },
}

/// How rows get their ids.
#[derive(Debug)]
pub struct InsertId {
    /// The column, in backticks.
    pub column: Box<str>,
    /// Number of the id's value in a row; `None`: the column is not named, and is added at the end.
    pub position: Option<u16>,
    pub id_type: KeyType,
}
