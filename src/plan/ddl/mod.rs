//! Statements that change definitions: CREATE, ALTER, DROP and TRUNCATE TABLE, CREATE and DROP
//! INDEX, RENAME TABLE; sequences, routines and triggers. A plan of this family owns its text (cut into pieces, with the names that
//! differ from place to place left open), so it serves one text and is not cached.

mod columns;
mod edits;
mod planner;
mod query;
mod routine;
mod text;
mod view;

use std::fmt;
use std::sync::Arc;

pub use planner::plan;
pub(super) use query::create as create_select;
pub use text::{Piece, Text};

use crate::definition::Naming;
use crate::topology::{Place, Schema, ShardNo, Sharded, SubtableNo, TableKind, TableRule};

/// What to do, with everything that doing it needs.
#[derive(Debug)]
pub struct Ddl {
    pub schema: Arc<Schema>,
    pub action: Action,
    /// What Bifold tells the client beside what the servers say.
    pub notes: Vec<String>,
}

#[derive(Debug)]
pub enum Action {
    /// CREATE TABLE in every place that lacks it.
    Create {
        target: Target,
        text: Text,
        if_not_exists: bool,
        /// The table whose definition it takes.
        like: Option<Target>,
    },
    /// ALTER TABLE, CREATE INDEX, DROP INDEX: in every place that is not altered yet.
    Alter {
        target: Target,
        text: Text,
    },
    /// In every place, again if asked again.
    Truncate {
        target: Target,
        text: Text,
    },
    /// In every place that still has the old name; `[from, to]`.
    Rename {
        targets: [Target; 2],
    },
    Drop {
        targets: Vec<Target>,
        if_exists: bool,
    },
    /// Of unsharded tables only, of one schema or of several whose home shards are on one server:
    /// that runs it as it is.
    Home {
        targets: Vec<Target>,
        text: Text,
        effect: HomeEffect,
    },
}

/// What a statement of the home shard does to the session beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeEffect {
    /// It commits the open transaction first.
    Commits,
    /// The same, and it has to be in the home shard's database.
    CommitsWithin,
    /// CREATE TEMPORARY TABLE: the connection stays with the session.
    Binds,
    /// DROP TEMPORARY TABLE.
    None,
}

/// A logical table and where its physical ones stand.
#[derive(Clone, Debug)]
pub struct Target {
    pub schema: Arc<Schema>,
    /// The logical name.
    pub table: Arc<str>,
    pub reach: Reach,
}

#[derive(Clone, Debug)]
pub enum Reach {
    /// The home shard: an unsharded table.
    Home,
    /// Every shard of the schema, under its own name: a reference table.
    Shards(Arc<TableRule>),
    /// Every subtable of every shard.
    Places(Arc<TableRule>),
}

impl Ddl {
    /// The tables whose definitions change.
    pub fn targets(&self) -> &[Target] {
        match &self.action {
            Action::Create { target, .. } | Action::Alter { target, .. } | Action::Truncate { target, .. } => {
                std::slice::from_ref(target)
            }
            Action::Rename { targets } => targets,
            Action::Drop { targets, .. } | Action::Home { targets, .. } => targets,
        }
    }
}

impl Target {
    /// As the topology has it; a table that no rule names is unsharded.
    pub fn of(schema: &Arc<Schema>, table: &str) -> Self {
        let reach = match schema.rule(table) {
            None => Reach::Home,
            Some(rule) => match rule.kind {
                TableKind::Unsharded => Reach::Home,
                TableKind::Reference => Reach::Shards(rule.clone()),
                TableKind::Sharded(_) => Reach::Places(rule.clone()),
            },
        };
        Target { schema: schema.clone(), table: table.into(), reach }
    }

    pub fn rule(&self) -> Option<&Arc<TableRule>> {
        match &self.reach {
            Reach::Home => None,
            Reach::Shards(rule) | Reach::Places(rule) => Some(rule),
        }
    }

    /// May rows of this table go by the other's name and still be found?
    pub fn is_shaped_like(&self, other: &Target) -> bool {
        match (&self.reach, &other.reach) {
            (Reach::Shards(_), Reach::Shards(_)) => true,
            (Reach::Places(one), Reach::Places(other)) => {
                one.sharded().zip(other.sharded()).is_some_and(|(one, other)| {
                    let id = |sharded: &Sharded| sharded.id.as_ref().map(|id| (id.column.to_lowercase(), id.layout));
                    one.key.to_lowercase() == other.key.to_lowercase()
                        && (one.hash, one.subtables) == (other.hash, other.subtables)
                        && id(one) == id(other)
                })
            }
            (Reach::Home | Reach::Shards(_) | Reach::Places(_), _) => false,
        }
    }

    /// All places, by shard and then subtable; a whole table is subtable 0 of its shard.
    pub fn places(&self, schema: &Schema) -> Vec<Place> {
        let subtables = self.subtables();
        let shards = match &self.reach {
            Reach::Home => 1,
            Reach::Shards(_) | Reach::Places(_) => schema.shard_count(),
        };
        let in_shard = |shard| (0..subtables).map(move |n| Place { shard: ShardNo(shard), subtable: SubtableNo(n) });
        (0..shards).flat_map(in_shard).collect()
    }

    /// How many physical tables each shard holds.
    pub fn subtables(&self) -> u16 {
        self.rule().and_then(|rule| rule.sharded()).map_or(1, |sharded| sharded.subtables)
    }

    pub fn naming(&self, subtable: SubtableNo) -> Naming {
        match self.rule().and_then(|rule| Some((rule, rule.sharded()?))) {
            Some((rule, sharded)) => Naming::subtable(&self.table, &sharded.pattern, subtable).among(&rule.beside),
            None => Naming::whole(&self.table),
        }
    }

    /// The subtable that a server calls so.
    pub fn subtable_of(&self, physical: &[u8]) -> Option<SubtableNo> {
        match self.rule().and_then(|rule| rule.sharded()) {
            Some(sharded) => sharded.pattern.logical_of(physical),
            None => (physical == self.table.as_bytes()).then_some(SubtableNo(0)),
        }
    }
}

/// What is done, where, and the text for the first place.
impl fmt::Display for Ddl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, text) = match &self.action {
            Action::Create { text, .. } => ("create", Some(text)),
            Action::Alter { text, .. } => ("alter", Some(text)),
            Action::Truncate { text, .. } => ("truncate", Some(text)),
            Action::Rename { .. } => ("rename", None),
            Action::Drop { .. } => ("drop", None),
            Action::Home { text, .. } => ("run", Some(text)),
        };
        write!(f, "ddl: {verb}")?;
        for target in self.targets() {
            let count = target.places(&self.schema).len();
            match &target.reach {
                Reach::Home if target.schema.name != self.schema.name => {
                    write!(f, " `{}`.`{}` on the home shard", target.schema.name, target.table)?
                }
                Reach::Home => write!(f, " `{}` on the home shard", target.table)?,
                Reach::Shards(_) => write!(f, " `{}` on {count} shards", target.table)?,
                Reach::Places(_) => write!(f, " `{}` in {count} places", target.table)?,
            }
        }
        if let (Some(text), Some(target)) = (text, self.targets().first()) {
            let text = text.at(&target.naming(SubtableNo(0)), &self.schema.home().database, None);
            write!(f, "\n  {}", String::from_utf8_lossy(&text))?;
        }
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        Ok(())
    }
}
