//! A text for one place: the client's bytes with the cuts of its template mended.

use std::io::Write;
use std::ops::Range;

use super::{Facts, Name, Statement};
use crate::plan::{Cut, Item, Patch, RefNo, SessionValue, Template};
use crate::sql::{Flavour, Span, fingerprint, literal};

/// Where a text differs from place to place: the name of a table, or (`None`) the share of a list.
pub(super) type Mark = (Range<usize>, Option<RefNo>);

/// The physical tables of one text, by reference.
pub(super) type Names = [Name];

/// Copies a statement's bytes from left to right, mending what is cut on the way.
pub(super) struct Copier<'a> {
    pub statement: &'a Statement<'a>,
    pub facts: &'a Facts<'a>,
    pub template: &'a Template,
    pub names: &'a Names,
    /// What LIMIT says in a part of a query.
    pub limit: u64,
    /// Tables whose shard may hold rows of others are read through their ownership test.
    pub filters: bool,
    /// What stands where the template says so.
    pub inserted: &'a [u8],
    /// The tokens of `?` that become literals; none: all stay.
    pub inlined: &'a [u32],
    /// The values of the driver's list that are for this place; `None`: all.
    pub share: Option<&'a [Span]>,
    /// What would be another for another place, where it is asked for.
    pub marks: Option<Vec<Mark>>,
    /// Where in the text.
    at: usize,
    /// The next cut.
    cut: usize,
}

impl<'a> Copier<'a> {
    pub fn new(statement: &'a Statement<'a>, facts: &'a Facts<'a>, template: &'a Template, names: &'a Names) -> Self {
        Copier {
            statement,
            facts,
            template,
            names,
            limit: 0,
            filters: false,
            inserted: &[],
            inlined: &[],
            share: None,
            marks: None,
            at: 0,
            cut: 0,
        }
    }

    /// Copies up to this byte.
    pub fn copy_to(&mut self, end: usize, out: &mut Vec<u8>) {
        while let Some(cut) = self.template.cuts.get(self.cut) {
            let (from, to) = bytes(self.statement, cut);
            if from > end || (from == end && to > end) {
                break;
            }
            self.cut += 1;
            if from < self.at {
                continue;
            }
            self.raw(self.at, from, out);
            self.patch(&cut.with, out);
            self.at = to;
        }
        self.raw(self.at.min(end), end, out);
        self.at = end;
    }

    /// The client's own bytes, values in place of `?` where they are wanted.
    fn raw(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        match self.inlined.is_empty() {
            true => out.extend_from_slice(&self.statement.source.text[from..to]),
            false => out.extend(inlined(self.statement, self.facts.charset, self.inlined, from..to)),
        }
    }

    /// What stands before this byte, if nothing was copied yet, is no part of the statement.
    pub fn begin(&mut self, at: usize) {
        self.at = self.at.max(at);
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

    fn mark(&mut self, range: Range<usize>, table: Option<RefNo>) {
        if let Some(marks) = &mut self.marks {
            marks.push((range, table));
        }
    }

    pub fn patch(&mut self, patch: &Patch, out: &mut Vec<u8>) {
        match patch {
            Patch::Table { table, alias } => {
                let (start, name) = (out.len(), &self.names[usize::from(table.0)]);
                if self.filters {
                    name.put_read(out)
                } else {
                    name.put(out)
                }
                self.mark(start..out.len(), Some(*table));
                if let Some(alias) = alias {
                    out.extend_from_slice(b" AS ");
                    out.extend_from_slice(alias);
                }
            }
            Patch::Text(text) => out.extend_from_slice(text),
            Patch::OwnBefore => {
                if self.names.first().is_some_and(|name| name.own.is_some()) {
                    out.push(b'(');
                }
            }
            Patch::OwnBehind { joined } => {
                if let Some(own) = self.names.first().and_then(|name| name.own.as_ref()) {
                    let words = if *joined { ") AND" } else { " WHERE" };
                    let _ = write!(out, "{words} {own}");
                }
            }
            Patch::Share(item) => {
                let start = out.len();
                match (self.share, self.statement.fingerprint.list(item.0)) {
                    (Some(share), _) => put_share(self.statement, share, out),
                    (None, Some(list)) => out.extend_from_slice(self.statement.source.span_bytes(list.span)),
                    (None, None) => {}
                }
                self.mark(start..out.len(), None);
            }
            Patch::Limit => {
                // Writing to a Vec can't fail.
                let _ = write!(out, "LIMIT {}", self.limit);
            }
            Patch::Again(copy) => {
                let template = Template { cuts: copy.cuts.clone(), ..Template::default() };
                let range = self.statement.source.byte_range(self.statement.fingerprint.tokens(copy.from.0, copy.to.0));
                let mut copier = Copier::new(self.statement, self.facts, &template, self.names);
                copier.skip_to(range.start);
                out.extend_from_slice(b", ");
                copier.copy_to(range.end, out);
            }
            Patch::Inserted => out.extend_from_slice(self.inserted),
            Patch::Session(value) => session(*value, self.facts, self.statement.source.dialect.flavour, out),
        }
    }
}

/// The text of these bytes, with values in place of the `?` of these tokens.
pub(super) fn inlined(statement: &Statement<'_>, charset: &str, params: &[u32], bytes: Range<usize>) -> Vec<u8> {
    let source = &statement.source;
    let (mut out, mut at) = (Vec::new(), bytes.start);
    for (number, token) in params.iter().enumerate() {
        let Some(token) = source.tokens.get(*token as usize) else { continue };
        let start = token.start as usize;
        if start < at || start >= bytes.end {
            continue;
        }
        out.extend_from_slice(&source.text[at..start]);
        match statement.params.and_then(|values| values.get(number)) {
            Some(value) => literal::put_value(value, &source.dialect, charset, &mut out),
            None => out.push(b'?'),
        }
        at = token.end();
    }
    out.extend_from_slice(&source.text[at..bytes.end]);
    out
}

/// A list of some values.
pub(super) fn put_share(statement: &Statement<'_>, share: &[Span], out: &mut Vec<u8>) {
    for (at, span) in share.iter().enumerate() {
        out.extend_from_slice(if at > 0 { b", " } else { b"(" });
        out.extend_from_slice(statement.source.span_bytes(*span));
    }
    out.push(b')');
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

/// A session's value as SQL whose column metadata is that of the server's own function.
fn session(value: SessionValue, facts: &Facts<'_>, flavour: Flavour, out: &mut Vec<u8>) {
    // Writing to a Vec can't fail.
    let _ = match value {
        SessionValue::Schema => return text(facts.schema, 64, 64, flavour, out),
        SessionValue::User => {
            return text(Some(&format!("{}@{}", facts.user, facts.host)), 288, 384, flavour, out);
        }
        SessionValue::Account => return text(Some(&format!("{}@%", facts.user)), 288, 384, flavour, out),
        SessionValue::ConnectionId => match flavour {
            Flavour::MySql => write!(out, "CAST({} AS UNSIGNED)", facts.connection_id),
            Flavour::MariaDb => write!(out, "IFNULL(CAST({} AS UNSIGNED), CRC32(''))", facts.connection_id),
        },
        SessionValue::LastInsertId => match flavour {
            Flavour::MySql => write!(out, "CAST({} AS UNSIGNED)", facts.last_insert_id),
            Flavour::MariaDb => write!(out, "({}|0)", facts.last_insert_id),
        },
        SessionValue::Identity => match flavour {
            Flavour::MySql => write!(out, "NULLIF(CAST({} AS UNSIGNED), NULL)", facts.last_insert_id),
            Flavour::MariaDb => write!(out, "NULLIF({}|0, NULL)", facts.last_insert_id),
        },
        // The function lends its type only, what stands before it is never NULL; and the warning
        // that it is deprecated.
        SessionValue::RowCount => match flavour {
            Flavour::MySql => write!(out, "CAST({} AS SIGNED)", facts.row_count),
            Flavour::MariaDb => write!(out, "IFNULL(CAST({} AS SIGNED), ROW_COUNT())", facts.row_count),
        },
        SessionValue::FoundRows => write!(out, "IFNULL(CAST({} AS SIGNED), FOUND_ROWS())", facts.found_rows),
    };
}

/// A name, in digits that mean the same in every client character set; the lengths are those that
/// MySQL and MariaDB give such a column, in characters.
fn text(text: Option<&str>, mysql: u16, mariadb: u16, flavour: Flavour, out: &mut Vec<u8>) {
    let mut literal = String::from("NULL");
    if let Some(text) = text {
        let digits: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
        literal = format!("_utf8mb4 X'{digits}'");
    }
    let _ = match flavour {
        Flavour::MySql => write!(out, "CAST({literal} AS CHAR({mysql}))"),
        Flavour::MariaDb => write!(out, "CONVERT(CAST({literal} AS CHAR({mariadb})) USING utf8mb3)"),
    };
}
