//! What was found, as data: for people line by line, for programs as JSON.

use std::fmt;

use serde::Serialize;

#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Nothing is wrong.
    pub ok: bool,
    /// Of the layout that the rows were looked at by.
    pub version: u64,
    pub tables: Vec<TableReport>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TableReport {
    /// `mall.orders`
    pub table: String,
    /// `sharded`, or `reference`.
    pub kind: &'static str,
    /// That their shards own; of a reference table: of one shard.
    pub rows: u64,
    /// Rows that lie where nobody looks for them.
    pub misplaced: u64,
    /// Rows that a shard no longer owns since the doubling, to be cleaned: nothing is wrong with them.
    pub dirty: u64,
    /// Ids that say another place than their row's.
    pub wrong_ids: u64,
    /// Ids that more than one row has.
    pub double_ids: u64,
    /// Physical tables that are missing.
    pub missing: Vec<String>,
    /// Physical tables of another definition than most.
    pub other_definitions: Vec<String>,
    /// Shards whose copy of a reference table is another than shard 0's.
    pub other_copies: Vec<String>,
    /// Where to look: physical tables that hold what is wrong, ids.
    pub examples: Vec<String>,
}

/// So many of a kind are named.
pub(super) const NAMED: usize = 20;

impl TableReport {
    pub fn is_ok(&self) -> bool {
        self.misplaced == 0
            && self.wrong_ids == 0
            && self.double_ids == 0
            && self.missing.is_empty()
            && self.other_definitions.is_empty()
            && self.other_copies.is_empty()
    }

    pub(super) fn example(&mut self, text: String) {
        if self.examples.len() < NAMED {
            self.examples.push(text);
        }
    }
}

impl Report {
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data becomes JSON")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for table in &self.tables {
            write!(f, "{}: {}, {} rows", table.table, table.kind, table.rows)?;
            let counts = [
                (table.misplaced, "misplaced"),
                (table.dirty, "to be cleaned"),
                (table.wrong_ids, "ids of another place"),
                (table.double_ids, "ids twice"),
            ];
            for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
                write!(f, ", {count} {what}")?;
            }
            let lists = [
                (&table.missing, "missing"),
                (&table.other_definitions, "of another definition"),
                (&table.other_copies, "with other rows"),
                (&table.examples, "look at"),
            ];
            for (list, what) in lists.into_iter().filter(|(list, _)| !list.is_empty()) {
                let more = if list.len() > NAMED { format!(" and {} more", list.len() - NAMED) } else { String::new() };
                let named: Vec<&str> = list.iter().take(NAMED).map(String::as_str).collect();
                write!(f, "; {what}: {}{more}", named.join(", "))?;
            }
            writeln!(f, "{}", if table.is_ok() { "" } else { "  <- WRONG" })?;
        }
        writeln!(f, "layout {}: {}", self.version, if self.ok { "all is in its place" } else { "something is wrong" })
    }
}
