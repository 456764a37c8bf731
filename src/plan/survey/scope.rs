//! Which source a column name means: the innermost scope that knows it, as MySQL resolves it.

use std::sync::Arc;

use super::{Export, Origin, Survey};
use crate::plan::RefNo;
use crate::plan::predicate::{Column, Fact, SourceNo};
use crate::sql::ast::ColumnRef;

/// A common table's name and its columns, if known.
#[derive(Clone)]
pub(crate) struct Common {
    pub name: Box<str>,
    pub columns: Option<Arc<[Export]>>,
    /// Its number among those of the statement.
    pub number: usize,
}

/// A scope, within those around it.
#[derive(Default)]
pub(crate) struct Env<'e> {
    pub up: Option<&'e Env<'e>>,
    /// The tables of FROM, in order.
    pub sources: Vec<SourceNo>,
    /// Common tables of a WITH.
    pub common: Vec<Common>,
    /// What holds for every row that a subquery here is evaluated for (or is rejected anyway).
    pub facts: Vec<Fact>,
    /// A RIGHT JOIN stands here: USING's column is not the leftmost one.
    pub right_joins: bool,
    /// USING or NATURAL stands here: `*` has its columns first, and once.
    pub merged: bool,
}

/// How the text calls the source that a qualifier means.
pub(crate) enum Qualified {
    /// By the alias that is put in, or its own: only a schema before it must go.
    Alias,
    /// By its physical name.
    Physical(RefNo),
    Unknown,
}

impl<'e> Env<'e> {
    pub fn below(up: &'e Env<'e>) -> Env<'e> {
        Env { up: Some(up), facts: up.facts.clone(), ..Env::default() }
    }

    fn chain(&self) -> impl Iterator<Item = &Env<'e>> {
        std::iter::successors(Some(self), |env| env.up)
    }

    /// The common table of this name, if one hides the real one.
    pub fn common(&self, name: &str) -> Option<&Common> {
        self.chain().find_map(|env| env.common.iter().rev().find(|common| &*common.name == name))
    }
}

enum Holds {
    Yes,
    No,
    /// Its columns are not known.
    Perhaps,
}

impl Survey<'_> {
    /// The source that a column belongs to; `None` where that can't be proved.
    pub fn resolve(&self, column: &ColumnRef, env: &Env<'_>) -> Option<Column> {
        let name = self.name(column.column).to_lowercase();
        if column.table.is_some() {
            return self.qualifier(column, env).map(|source| Column { source, name: name.into() });
        }
        for env in env.chain() {
            match self.unqualified(&name, env) {
                Found::One(source) => return Some(Column { source, name: name.into() }),
                Found::None => {}
                Found::Unclear => return None,
            }
        }
        None
    }

    /// The source that `t.` or `db.t.` means.
    pub fn qualified_source(&self, column: &ColumnRef, env: &Env<'_>) -> Option<SourceNo> {
        self.qualifier(column, env)
    }

    fn qualifier(&self, column: &ColumnRef, env: &Env<'_>) -> Option<SourceNo> {
        let table = self.name(column.table?);
        let db = column.db.map(|db| self.name(db));
        env.chain().find_map(|env| env.sources.iter().copied().find(|no| self.is_called(*no, db.as_deref(), &table)))
    }

    /// How the server's text must call the table of a qualified column.
    pub fn qualified(&self, column: &ColumnRef, env: &Env<'_>) -> Qualified {
        match self.qualifier(column, env).map(|source| self.origin(source)) {
            Some(Origin::Table { found, bare: true, .. }) => Qualified::Physical(*found),
            Some(Origin::Table { bare: false, .. } | Origin::Derived { .. }) => Qualified::Alias,
            None => Qualified::Unknown,
        }
    }

    fn is_called(&self, source: SourceNo, db: Option<&str>, table: &str) -> bool {
        match self.origin(source) {
            // An alias is in its table's schema.
            Origin::Table { found, name, .. } => {
                let schema = &self.refs[usize::from(found.0)].schema.name;
                &**name == table && db.is_none_or(|db| db == schema)
            }
            Origin::Derived { name, .. } => &**name == table && db.is_none(),
        }
    }

    pub fn is_named(&self, source: SourceNo, table: &str) -> bool {
        self.is_called(source, None, table)
    }

    fn unqualified(&self, name: &str, env: &Env<'_>) -> Found {
        let mut found = Vec::new();
        let mut perhaps = false;
        for &source in &env.sources {
            match self.holds(source, name) {
                Holds::Yes => found.push(source),
                Holds::No => {}
                Holds::Perhaps => perhaps = true,
            }
        }
        match found.as_slice() {
            [] if perhaps => Found::Unclear,
            [] => Found::None,
            [source] => Found::One(*source),
            // Only USING and NATURAL allow several: their column is the leftmost one's, unless a
            // RIGHT JOIN makes it the other.
            [first, ..] if !env.right_joins => Found::One(*first),
            [..] => Found::Unclear,
        }
    }

    /// Has the source a column of this name?
    fn holds(&self, source: SourceNo, name: &str) -> Holds {
        let known = match self.origin(source) {
            Origin::Table { found, .. } => {
                self.refs[usize::from(found.0)].def.as_ref().map(|def| def.column(name).is_some())
            }
            Origin::Derived { columns, .. } => {
                columns.as_ref().map(|columns| columns.iter().any(|column| &*column.name == name))
            }
        };
        match known {
            Some(true) => Holds::Yes,
            Some(false) => Holds::No,
            None => Holds::Perhaps,
        }
    }

    /// The names of a source's columns in lower case, if known; those that `*` leaves out are none.
    pub fn column_names(&self, source: SourceNo) -> Option<Vec<Box<str>>> {
        match self.origin(source) {
            Origin::Table { found, .. } => self.refs[usize::from(found.0)]
                .def
                .as_ref()
                .map(|def| def.visible().map(|column| column.name.to_lowercase().into()).collect()),
            Origin::Derived { columns, .. } => {
                columns.as_ref().map(|columns| columns.iter().map(|column| column.name.clone()).collect())
            }
        }
    }

    /// The one source of these that has the column.
    pub fn holder(&self, sources: &[SourceNo], name: &str) -> Option<Column> {
        let scope = Env { sources: sources.to_vec(), ..Env::default() };
        match self.unqualified(name, &scope) {
            Found::One(source) => Some(Column { source, name: name.into() }),
            Found::None | Found::Unclear => None,
        }
    }

    pub fn origin(&self, source: SourceNo) -> &Origin {
        &self.origins[source.0 as usize]
    }
}

enum Found {
    One(SourceNo),
    None,
    Unclear,
}
