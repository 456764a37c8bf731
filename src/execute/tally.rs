//! The numbers that the parts of one statement were answered with, added up to what one server
//! would have said.

use super::client::Diagnostic;
use super::names;
use crate::plan::{Kind, Over, Plan, Planned};
use crate::route::Part;
use crate::shard::Answer;

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub affected: u64,
    /// What the first part that had one said.
    pub insert_id: u64,
    /// With the number of the row that each is about, as far as is known.
    diagnostics: Vec<(u32, Diagnostic)>,
    /// Rows inserted, or matched by an UPDATE.
    first: u64,
    /// Duplicates met, or rows changed.
    second: u64,
    /// A part gave numbers.
    informed: bool,
    /// What the one part said that speaks for all.
    spoken: Option<Vec<u8>>,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.affected += other.affected;
        self.insert_id = if self.insert_id == 0 { other.insert_id } else { self.insert_id };
        self.first += other.first;
        self.second += other.second;
        self.informed |= other.informed;
        self.spoken = self.spoken.take().or(other.spoken);
        other.diagnostics.into_iter().for_each(|(row, one)| self.notice(row, one));
    }

    /// An UPDATE says how many rows it met even where no text was sent.
    pub fn informs(&mut self, update: bool) {
        self.informed |= update;
    }

    pub fn count(&mut self, part: &Part, answer: &Answer, planned: &Planned) {
        if part.copies {
            return;
        }
        if is_write_to_copies(&planned.plan) {
            self.spoken = Some(answer.info.clone());
        }
        self.affected += answer.affected;
        self.insert_id = if self.insert_id == 0 { answer.insert_id } else { self.insert_id };
        if let Some((first, second)) = numbers(&answer.info) {
            self.informed = true;
            self.first += first;
            self.second += second;
        } else if let Plan::Insert(insert) = &planned.plan {
            // A server says nothing of a single row; what it would have counted follows from
            // the rows affected.
            let rows = u64::from(part.rows);
            self.first += rows;
            self.second +=
                if insert.ignore { rows.saturating_sub(answer.affected) } else { answer.affected.saturating_sub(rows) };
        }
    }

    /// Warnings of a part, in the order in which its server came upon them.
    pub fn diagnose(&mut self, part: &Part, more: Vec<Diagnostic>) {
        let mut row = part.numbers.first().copied().unwrap_or(0);
        for mut one in more {
            let (at, text) = names::renumbered(&part.numbers, &one.text);
            row = at.unwrap_or(row);
            one.text = text.unwrap_or(one.text);
            self.notice(row, one);
        }
    }

    /// What each part's reading of the text says, one server says once.
    fn notice(&mut self, row: u32, one: Diagnostic) {
        // Said before any row is looked at.
        let row = if is_of_text(one.code) { 0 } else { row };
        if !is_of_text(one.code) || !self.diagnostics.iter().any(|(_, other)| *other == one) {
            self.diagnostics.push((row, one));
        }
    }

    /// Row by row, and then these.
    pub fn take_diagnostics(&mut self, last: Option<Diagnostic>) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|(row, _)| *row);
        self.diagnostics.drain(..).map(|(_, one)| one).chain(last).collect()
    }

    /// The info text of the OK packet.
    pub fn info(&self, planned: &Planned, warnings: usize) -> String {
        if let Some(spoken) = &self.spoken {
            return String::from_utf8_lossy(spoken).into_owned();
        }
        match (&planned.plan, planned.kind) {
            (Plan::Insert(_), _) => {
                format!("Records: {}  Duplicates: {}  Warnings: {warnings}", self.first, self.second)
            }
            (_, Kind::Write) if self.informed => {
                format!("Rows matched: {}  Changed: {}  Warnings: {warnings}", self.first, self.second)
            }
            _ => String::new(),
        }
    }
}

/// A warning of how the statement is written, whatever its rows are: something in it is deprecated.
pub(super) fn is_of_text(code: u16) -> bool {
    DEPRECATED.contains(&code)
}

/// Syntax with and without a successor, `utf8` for a character set, a collation.
const DEPRECATED: [u16; 5] = [1287, 1681, 3719, 3720, 3778];

/// All parts do the same to copies of one table.
fn is_write_to_copies(plan: &Plan) -> bool {
    matches!(plan, Plan::WriteScatter(write) if write.over == Over::Shards)
}

/// The first two numbers of `Records: 3  Duplicates: 0  Warnings: 0` and `Rows matched: …`.
pub(super) fn numbers(info: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(info).ok()?;
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_texts_are_read() {
        assert_eq!(numbers(b"Rows matched: 3  Changed: 2  Warnings: 0"), Some((3, 2)));
        assert_eq!(numbers(b""), None);
    }
}
