//! A text for one place: the client's bytes with the cuts of its template mended.

use std::io::Write;

use super::{Facts, Name, Statement};
use crate::plan::{Cut, Item, Patch, RefNo, SessionValue, Template};
use crate::sql::{Flavour, fingerprint};

/// The physical tables of one text, by reference.
pub(super) type Names = [Name];

/// Copies a statement's bytes from left to right, mending what is cut on the way.
pub(super) struct Copier<'a> {
    pub statement: &'a Statement<'a>,
    pub facts: &'a Facts<'a>,
    pub template: &'a Template,
    pub names: &'a Names,
    /// Where in the text.
    at: usize,
    /// The next cut.
    cut: usize,
}

impl<'a> Copier<'a> {
    pub fn new(statement: &'a Statement<'a>, facts: &'a Facts<'a>, template: &'a Template, names: &'a Names) -> Self {
        Copier { statement, facts, template, names, at: 0, cut: 0 }
    }

    /// Copies up to this byte.
    pub fn copy_to(&mut self, end: usize, out: &mut Vec<u8>) {
        let text = self.statement.source.text;
        while let Some(cut) = self.template.cuts.get(self.cut) {
            let (from, to) = bytes(self.statement, cut);
            if from > end || (from == end && to > end) {
                break;
            }
            self.cut += 1;
            if from < self.at {
                continue;
            }
            out.extend_from_slice(&text[self.at..from]);
            self.patch(&cut.with, out);
            self.at = to;
        }
        out.extend_from_slice(&text[self.at.min(end)..end]);
        self.at = end;
    }

    /// Goes on from this byte; what lies before it is left out.
    pub fn skip_to(&mut self, at: usize) {
        self.at = at;
        while let Some(cut) = self.template.cuts.get(self.cut)
            && bytes(self.statement, cut).0 < at
        {
            self.cut += 1;
        }
    }

    /// Copies to the end of the text.
    pub fn copy_rest(&mut self, out: &mut Vec<u8>) {
        if let Some(rows) = &self.template.rows
            && let Some(list) = self.statement.fingerprint.list(rows.item.0)
        {
            let source = self.statement.source;
            for row in fingerprint::rows(&source, list.span) {
                for (number, value) in (0u16..).zip(fingerprint::values(&source, row)) {
                    for cut in rows.cuts.iter().filter(|cut| cut.value == number) {
                        let range = source.byte_range(cut.span(value));
                        self.copy_to(range.start, out);
                        self.patch(&cut.with, out);
                        self.skip_to(range.end);
                    }
                }
            }
        }
        self.copy_to(self.statement.source.text.len(), out);
    }

    pub fn patch(&self, patch: &Patch, out: &mut Vec<u8>) {
        match patch {
            Patch::Table { table: RefNo(no), alias } => {
                let name = &self.names[usize::from(*no)];
                name.put(out);
                if let Some(alias) = alias {
                    out.extend_from_slice(b" AS ");
                    out.extend_from_slice(alias);
                }
            }
            Patch::Text(text) => out.extend_from_slice(text),
            Patch::Session(value) => session(*value, self.facts, self.statement.source.dialect.flavour, out),
        }
    }
}

/// The bytes that a cut replaces; an empty one stands behind the item before it.
fn bytes(statement: &Statement<'_>, cut: &Cut) -> (usize, usize) {
    let end_before = |item: Item| {
        let token = statement.fingerprint.token_of(item.0);
        token
            .checked_sub(1)
            .and_then(|token| statement.source.tokens.get(token as usize))
            .map_or(0, |token| token.end())
    };
    if cut.from == cut.to {
        let at = end_before(cut.from);
        return (at, at);
    }
    let first = statement.fingerprint.token_of(cut.from.0);
    let start = statement.source.tokens.get(first as usize).map_or(statement.source.text.len(), |t| t.start as usize);
    (start, end_before(cut.to))
}

/// A session's value as SQL of the type that the server's own function has.
fn session(value: SessionValue, facts: &Facts<'_>, flavour: Flavour, out: &mut Vec<u8>) {
    match value {
        SessionValue::Schema => match facts.schema {
            None => out.extend_from_slice(b"NULL"),
            Some(schema) => text(schema, flavour, out),
        },
        SessionValue::User => text(&format!("{}@{}", facts.user, facts.host), flavour, out),
        SessionValue::Account => text(&format!("{}@%", facts.user), flavour, out),
        SessionValue::ConnectionId => unsigned(facts.connection_id, out),
        SessionValue::LastInsertId => unsigned(facts.last_insert_id, out),
        SessionValue::RowCount => signed(facts.row_count, out),
        SessionValue::FoundRows => signed(i64::try_from(facts.found_rows).unwrap_or(i64::MAX), out),
    }
}

fn unsigned(n: u64, out: &mut Vec<u8>) {
    // Writing to a Vec can't fail.
    let _ = write!(out, "CAST({n} AS UNSIGNED)");
}

fn signed(n: i64, out: &mut Vec<u8>) {
    let _ = write!(out, "CAST({n} AS SIGNED)");
}

/// Digits mean the same in every client character set.
fn text(text: &str, flavour: Flavour, out: &mut Vec<u8>) {
    let charset = match flavour {
        Flavour::MySql | Flavour::MariaDb => "utf8mb3",
    };
    out.extend_from_slice(b"CONVERT(_utf8mb4 X'");
    for byte in text.bytes() {
        let _ = write!(out, "{byte:02X}");
    }
    let _ = write!(out, "' USING {charset})");
}
