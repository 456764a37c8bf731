//! Rows held until all have come, then given in order. Of a result with LIMIT no more than twice
//! the rows wanted are held; of one without, as many as the budget takes.

use super::budget::Budget;
use super::key;
use super::row::{Layout, odd};
use crate::error::Result;
use crate::plan::SortKey;

#[derive(Debug)]
pub struct Sorter {
    keys: Vec<SortKey>,
    /// How many of the first rows are wanted.
    wanted: usize,
    held: Vec<Held>,
    bytes: usize,
    budget: Budget,
    /// How many of the last columns are not the client's.
    hidden: usize,
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
    pub fn new(keys: &[SortKey], hidden: usize, wanted: Option<u64>, budget: Budget) -> Self {
        let wanted = wanted.map_or(usize::MAX, |wanted| usize::try_from(wanted).unwrap_or(usize::MAX));
        Sorter { keys: keys.to_vec(), wanted, held: Vec::new(), bytes: 0, budget, hidden }
    }

    /// Takes a row of a part; behind the client's columns stand the sort keys.
    pub fn push(&mut self, layout: &Layout, part: usize, row: &[u8]) -> Result<()> {
        let cells = layout.cells(row)?;
        let columns = cells.len().checked_sub(self.hidden).ok_or_else(odd)?;
        let mut key = Vec::new();
        for (cell, order) in cells[columns..].iter().zip(&self.keys) {
            key::put(&cell.value, order.pads, order.descending, &mut key);
        }
        let row = layout.cut(row, &cells, columns).into_boxed_slice();
        self.bytes += key.len() + row.len() + size_of::<Held>();
        self.held.push(Held { key: key.into_boxed_slice(), part, number: self.held.len(), row });
        let full = self.held.len() / 2 >= self.wanted.max(SOME);
        if full || self.bytes > self.budget.limit() {
            self.prune();
        }
        self.budget.hold(self.bytes)
    }

    /// The rows of another one are this one's too.
    pub fn join(&mut self, other: Sorter) -> Result<()> {
        self.held.extend(other.held);
        self.bytes += other.bytes;
        self.budget.hold(self.bytes)
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
    use crate::merge::Holdings;
    use crate::protocol::binary::ValueType;
    use crate::protocol::column::ColumnType;
    use crate::protocol::result_set::Format;

    fn rows(wanted: Option<u64>, descending: bool) -> Vec<Vec<u8>> {
        let of = ValueType { kind: ColumnType::Long, unsigned: false };
        let layout = Layout::new(Format::Text, vec![of, of]);
        let key = SortKey { expr: "k".into(), descending, pads: None, raw: None };
        let holdings = Holdings::new(1 << 20);
        let budget = || Budget::new(1 << 20, &holdings);
        let mut sorters = [0, 1].map(|_| Sorter::new(std::slice::from_ref(&key), 1, wanted, budget()));
        for number in 0..2000_usize {
            let part = number % 4;
            let row = format!("\x04{number:04}\x01{}", number * 7 % 5);
            sorters[part % 2].push(&layout, part, row.as_bytes()).expect("taken");
        }
        let [mut all, other] = sorters;
        all.join(other).expect("joined");
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
        let key = SortKey { expr: "k".into(), descending: false, pads: None, raw: None };
        let mut sorter = Sorter::new(&[key], 1, None, Budget::new(1000, &Holdings::new(1 << 20)));
        let outcome = (0..100).try_for_each(|_| sorter.push(&layout, 0, b"\x011"));
        assert_eq!(outcome.expect_err("refused").code(), 1235);
    }
}
