//! Rows held until all have come, then given in order. Of a result with LIMIT no more than twice
//! the rows wanted are held; of one without, as many as the budget takes.

use super::key;
use super::row::Layout;
use crate::error::{Error, Result};
use crate::plan::SortKey;

#[derive(Debug)]
pub struct Sorter {
    keys: Vec<SortKey>,
    /// How many of the first rows are wanted.
    wanted: usize,
    held: Vec<Held>,
    bytes: usize,
    budget: usize,
}

/// Compared in this order: rows with equal keys keep the order of places.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    key: Box<[u8]>,
    part: usize,
    number: usize,
    row: Box<[u8]>,
}

impl Sorter {
    /// `budget`: the bytes that may be held.
    pub fn new(keys: &[SortKey], wanted: Option<u64>, budget: usize) -> Self {
        let wanted = wanted.map_or(usize::MAX, |wanted| usize::try_from(wanted).unwrap_or(usize::MAX));
        Sorter { keys: keys.to_vec(), wanted, held: Vec::new(), bytes: 0, budget }
    }

    /// Takes a row of a part; its last columns are the sort keys.
    pub fn push(&mut self, layout: &Layout, part: usize, row: &[u8]) -> Result<()> {
        let cells = layout.cells(row)?;
        let columns = cells.len() - self.keys.len();
        let mut key = Vec::new();
        for (cell, order) in cells[columns..].iter().zip(&self.keys) {
            key::put(&cell.value, order, &mut key);
        }
        let row = layout.cut(row, &cells, columns).into_boxed_slice();
        self.bytes += key.len() + row.len() + size_of::<Held>();
        self.held.push(Held { key: key.into_boxed_slice(), part, number: self.held.len(), row });
        let full = self.held.len() / 2 >= self.wanted.max(SOME);
        if full || self.bytes > self.budget {
            self.prune();
        }
        if self.bytes > self.budget {
            return Err(Error::refused(format!(
                "Bifold: sorting the rows of several places would hold more than {} MiB: add a LIMIT, or a condition that \
                 lets fewer rows through.",
                self.budget >> 20
            )));
        }
        Ok(())
    }

    /// The rows of another one are this one's too.
    pub fn join(&mut self, other: Sorter) {
        self.held.extend(other.held);
    }

    /// All rows wanted, in order.
    pub fn finish(mut self) -> impl Iterator<Item = Box<[u8]>> {
        self.prune();
        self.held.into_iter().map(|held| held.row)
    }

    fn prune(&mut self) {
        self.held.sort_unstable();
        self.held.truncate(self.wanted);
        self.bytes = self.held.iter().map(|held| held.key.len() + held.row.len() + size_of::<Held>()).sum();
        // Numbers are given by count: those of rows yet to come must be above.
        self.held.iter_mut().enumerate().for_each(|(number, held)| held.number = number);
    }
}

/// Fewer rows are not worth sorting in between.
const SOME: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::binary::ValueType;
    use crate::protocol::column::ColumnType;
    use crate::protocol::result_set::Format;

    fn rows(wanted: Option<u64>, descending: bool) -> Vec<Vec<u8>> {
        let of = ValueType { kind: ColumnType::Long, unsigned: false };
        let layout = Layout::new(Format::Text, vec![of, of]);
        let key = SortKey { expr: "k".into(), descending, pads: None };
        let mut sorters = [0, 1].map(|_| Sorter::new(std::slice::from_ref(&key), wanted, 1 << 20));
        for number in 0..2000_usize {
            let part = number % 4;
            let row = format!("\x04{number:04}\x01{}", number * 7 % 5);
            sorters[part % 2].push(&layout, part, row.as_bytes()).expect("taken");
        }
        let [mut all, other] = sorters;
        all.join(other);
        all.finish().map(Vec::from).collect()
    }

    #[test]
    fn rows_come_in_order_and_equal_ones_in_the_order_of_parts() {
        for descending in [false, true] {
            let sorted = rows(None, descending);
            let number = |row: &Vec<u8>| String::from_utf8_lossy(&row[1..]).parse::<usize>().expect("a number");
            let seen: Vec<(usize, usize, usize)> = sorted
                .iter()
                .map(|row| {
                    let key = number(row) * 7 % 5;
                    (if descending { 4 - key } else { key }, number(row) % 4, number(row))
                })
                .collect();
            assert_eq!(seen.len(), 2000);
            assert!(seen.is_sorted());
            for wanted in [0, 1, 300, 1999, 5000] {
                assert_eq!(rows(Some(wanted), descending), sorted[..sorted.len().min(wanted as usize)]);
            }
        }
    }

    #[test]
    fn what_would_hold_too_much_is_refused() {
        let layout = Layout::new(Format::Text, vec![ValueType { kind: ColumnType::Long, unsigned: false }]);
        let mut sorter = Sorter::new(&[SortKey { expr: "k".into(), descending: false, pads: None }], None, 1000);
        let outcome = (0..100).try_for_each(|_| sorter.push(&layout, 0, b"\x011"));
        assert_eq!(outcome.expect_err("refused").code(), 1235);
    }
}
