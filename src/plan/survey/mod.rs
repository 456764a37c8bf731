//! One walk over a statement's tree: which tables it names, what pins each of them, where the text
//! must be cut, and what else decides how it may run. The walk knows MySQL's scopes; what it can't
//! resolve it leaves unpinned, which is refused or sent wide, never misrouted.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::{Catalog, ColumnDef, TableDef, TableName};
use crate::context::Setting;
use crate::error::{Error, Result};
use crate::plan::catalogue::View;
use crate::plan::predicate::{Column, SourceNo};
use crate::plan::{Cut, Item, KeyMatch, Located, Patch, RefKind, RefNo, RowCuts, TableRef, Template, ValueSource};
use crate::sql::ast::Name;
use crate::sql::fingerprint::Fingerprint;
use crate::sql::{Source, Span, literal};
use crate::topology::key::{Definition, KeyType};
use crate::topology::{Schema, TableRule, Topology};

mod expression;
mod facts;
mod filter;
mod query;
mod scope;
mod tables;

pub(crate) use filter::Filter;
pub(crate) use scope::Env;
pub(crate) use tables::{Spot, quoted};

/// Everything around a statement that its plan depends on.
pub struct Scene<'a> {
    pub topology: &'a Topology,
    pub catalog: &'a Catalog,
    pub user: &'a str,
    pub host: &'a str,
    /// The schemas that the user may use.
    pub allowed: &'a [String],
    /// The session's schema.
    pub schema: Option<&'a str>,
}

impl Scene<'_> {
    /// A schema of the topology that the user may use.
    pub(crate) fn may_use(&self, schema: &str) -> bool {
        self.topology.schema(schema).is_some() && self.allowed.iter().any(|allowed| allowed == schema)
    }
}

/// What the walk gathers.
pub(crate) struct Survey<'a> {
    pub scene: &'a Scene<'a>,
    pub source: Source<'a>,
    pub fingerprint: &'a Fingerprint,
    /// For the words of a denial.
    pub verb: &'static str,
    pub refs: Vec<Found>,
    origins: Vec<Origin>,
    cuts: Vec<TokenCut>,
    pub rows: Option<RowCuts>,
    /// Conditions that one table alone can answer.
    pub filters: Vec<Filter>,
    /// Common tables, and where they are named.
    pub commons: Vec<Defined>,
    pub uses: Vec<Use>,
    pub marks: Marks,
    /// What the SELECT sees that was walked last: at the end, the statement's own.
    pub outermost: Outermost,
    /// Views of information_schema, in the order in which they were met.
    pub views: Vec<&'static View>,
    /// Definitions that the catalog does not hold yet.
    pub lacks: BTreeSet<TableName>,
    /// The reference whose rows drive a query over many places: its key counts as known.
    pub driver: Option<RefNo>,
}

/// A table that the statement names.
pub(crate) struct Found {
    pub schema: Arc<Schema>,
    pub table: Arc<str>,
    pub kind: FoundKind,
    pub def: Option<Arc<TableDef>>,
    pub keys: Vec<KeyMatch>,
}

/// A common table of a WITH.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    pub span: Span,
    /// The references in it.
    pub refs: Range<usize>,
}

/// Where a common table is named as a source.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// Its number among all.
    pub common: usize,
    pub name: Name,
    pub span: Span,
    /// An alias may stand behind it, and there is none.
    pub alias: bool,
}

#[derive(Clone)]
pub(crate) enum FoundKind {
    Unsharded,
    Reference,
    Sharded(Arc<TableRule>),
}

/// What rows come from, by `SourceNo`.
pub(crate) enum Origin {
    Table {
        found: RefNo,
        /// As qualifiers call it.
        name: Box<str>,
        /// The server's text has no alias here: qualifiers need the physical name.
        bare: bool,
    },
    Derived {
        name: Box<str>,
        columns: Option<Arc<[Export]>>,
    },
}

/// A column of a derived table, and what is known of its values.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    pub name: Box<str>,
    /// The column below, where the value is one row's unchanged.
    pub column: Option<Column>,
    /// It is the same literal or parameter in every row.
    pub constant: bool,
    /// Lists that its value is in, in every row; or it is NULL.
    pub values: Vec<Vec<ValueSource>>,
}

/// What else a plan must know.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub locks_rows: bool,
    pub calc_found_rows: bool,
    pub writes: bool,
    pub named_lock: bool,
    /// A DELETE names its targets apart from FROM.
    pub targets: bool,
    /// A function that is not built in.
    pub routine: bool,
    pub clock: bool,
    /// An index hint or PARTITION stands behind a table's name.
    pub hinted: bool,
    pub chance: bool,
    /// Reads a variable, user's or system's.
    pub variables: bool,
    /// An aggregate function: without GROUP BY there is a row where none is found.
    pub aggregate: bool,
    pub assigns: BTreeSet<Setting>,
}

/// The scope of a SELECT, for those who come back to it.
#[derive(Debug, Default)]
pub(crate) struct Outermost {
    pub sources: Vec<SourceNo>,
    pub right_joins: bool,
}

/// A cut by tokens, before it becomes one by items.
struct TokenCut {
    span: Span,
    with: Patch,
}

impl<'a> Survey<'a> {
    pub fn new(scene: &'a Scene<'a>, source: Source<'a>, fingerprint: &'a Fingerprint, verb: &'static str) -> Self {
        Survey {
            scene,
            source,
            fingerprint,
            verb,
            refs: Vec::new(),
            origins: Vec::new(),
            cuts: Vec::new(),
            rows: None,
            filters: Vec::new(),
            commons: Vec::new(),
            uses: Vec::new(),
            marks: Marks::default(),
            outermost: Outermost::default(),
            views: Vec::new(),
            lacks: BTreeSet::new(),
            driver: None,
        }
    }

    /// The statement names a table that must be found by its key.
    pub fn has_sharded(&self) -> bool {
        self.refs.iter().any(|found| matches!(found.kind, FoundKind::Sharded(_)))
    }

    /// The source that a reference is, and what it is called; `None` for what gives no rows.
    pub fn source_of(&self, no: RefNo) -> Option<(SourceNo, &Origin)> {
        let sources = (0u32..).map(SourceNo).zip(&self.origins);
        sources.into_iter().find(|(_, origin)| matches!(origin, Origin::Table { found, .. } if *found == no))
    }

    /// An identifier as it is meant.
    pub fn name(&self, name: Name) -> String {
        literal::name(&self.source, name).into_owned()
    }

    pub fn item(&self, token: u32) -> Item {
        Item(self.fingerprint.item_of(token))
    }

    pub fn cut(&mut self, span: Span, with: Patch) {
        self.cuts.push(TokenCut { span, with });
    }

    /// Takes the cuts within these tokens back.
    pub fn take_cuts(&mut self, span: Span) -> impl Iterator<Item = (Span, Patch)> {
        let (inside, outside) = std::mem::take(&mut self.cuts)
            .into_iter()
            .partition(|cut: &TokenCut| span.start <= cut.span.start && cut.span.end <= span.end);
        self.cuts = outside;
        let mut inside: Vec<TokenCut> = inside;
        inside.sort_by_key(|cut| (cut.span.start, cut.span.end));
        inside.into_iter().map(|cut| (cut.span, cut.with))
    }

    /// Are there cuts within these tokens?
    pub fn is_cut(&self, span: Span) -> bool {
        self.cuts.iter().any(|cut| span.start <= cut.span.start && cut.span.end <= span.end)
    }

    /// The template of the whole statement.
    pub fn template(&mut self) -> Result<Template> {
        let mut cuts = std::mem::take(&mut self.cuts);
        cuts.sort_by_key(|cut| (cut.span.start, cut.span.end));
        let is_inside = |span: Span| {
            self.fingerprint.lists().iter().any(|list| list.span.start < span.start && span.start < list.span.end)
        };
        if cuts.iter().any(|cut| is_inside(cut.span)) {
            return Err(Error::proxy("Bifold: a list of values holds more than values."));
        }
        let cuts = cuts
            .into_iter()
            .map(|cut| Cut {
                from: self.item(cut.span.start),
                to: if cut.span.is_empty() {
                    self.item(cut.span.start)
                } else {
                    Item(self.item(cut.span.end - 1).0 + 1)
                },
                with: cut.with,
            })
            .collect();
        let refs = std::mem::take(&mut self.refs).into_iter().map(Found::into_ref).collect::<Result<_>>()?;
        Ok(Template { refs, cuts, rows: self.rows.take() })
    }
}

impl Found {
    fn into_ref(self) -> Result<TableRef> {
        let kind = match self.kind {
            FoundKind::Unsharded => RefKind::Unsharded,
            FoundKind::Reference => RefKind::Reference,
            FoundKind::Sharded(rule) => {
                let sharded = rule.sharded().expect("the kind says so");
                let key_type = key_type_of(self.def.as_deref(), &self.table, &sharded.key)?;
                let carrying = sharded.id.as_ref().filter(|id| id.layout.carries.is_some());
                let id_type =
                    carrying.map(|id| key_type_of(self.def.as_deref(), &self.table, &id.column)).transpose()?;
                RefKind::Sharded(Located { key_type, id_type, keys: self.keys, rule: Arc::clone(&rule) })
            }
        };
        Ok(TableRef { schema: self.schema, table: self.table, kind })
    }
}

/// The type of a key column, as the catalog has it.
pub(crate) fn key_type_of(def: Option<&TableDef>, table: &str, column: &str) -> Result<KeyType> {
    let def = def.and_then(|def| def.column(column)).ok_or_else(|| {
        Error::operator(format!("Bifold: table {table} has no column {column}, which the topology file calls its key."))
    })?;
    key_type(def).map_err(|why| Error::operator(format!("Bifold: column {column} of table {table}: {why}.")))
}

pub(crate) fn key_type(column: &ColumnDef) -> std::result::Result<KeyType, String> {
    KeyType::from_column(&Definition {
        data_type: &column.data_type,
        column_type: &column.column_type,
        length: column.length,
        charset: column.charset.as_deref(),
        collation: column.collation.as_deref(),
    })
}
