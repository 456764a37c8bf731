//! Aggregates of places folded into those of all: counts and sums are added, of minima the
//! smallest is taken. A place without rows gives NULL, which counts for nothing.

use super::decimal::Sum;
use super::key;
use super::row::{Cell, Layout, binary_head, odd};
use crate::error::Result;
use crate::plan::{Fold, SortKey};
use crate::protocol::payload::{NULL, put_lenenc_bytes};
use crate::protocol::result_set::Format;
use crate::value::Value;

#[derive(Debug)]
pub struct Folder {
    cells: Vec<State>,
}

#[derive(Debug)]
enum State {
    Count(i64),
    Sum(Option<Sum>),
    /// The key of the value, and its bytes on the wire.
    Least(SortKey, Option<(Vec<u8>, Vec<u8>)>),
}

impl Folder {
    pub fn new(folds: &[Fold]) -> Self {
        let least = |descending| State::Least(SortKey { expr: "".into(), descending, pads: None }, None);
        let state = |fold: &Fold| match fold {
            Fold::Count => State::Count(0),
            Fold::Sum => State::Sum(None),
            Fold::Min => least(false),
            Fold::Max => least(true),
        };
        Folder { cells: folds.iter().map(state).collect() }
    }

    /// Takes the row of a place.
    pub fn push(&mut self, layout: &Layout, row: &[u8]) -> Result<()> {
        for (state, cell) in self.cells.iter_mut().zip(layout.cells(row)?) {
            state.take(&cell, row)?;
        }
        Ok(())
    }

    /// The row of all.
    pub fn finish(&self, layout: &Layout) -> Vec<u8> {
        let mut row = match layout.format() {
            Format::Text => Vec::new(),
            Format::Binary => binary_head(&self.cells.iter().map(State::is_null).collect::<Vec<_>>()),
        };
        for state in &self.cells {
            state.put(layout.format(), &mut row);
        }
        row
    }
}

impl State {
    fn take(&mut self, cell: &Cell<'_>, row: &[u8]) -> Result<()> {
        match (self, &cell.value) {
            (State::Count(count), Value::Int(more)) => *count = count.checked_add(*more).ok_or_else(odd)?,
            (State::Count(_), _) => return Err(odd()),
            (State::Sum(_) | State::Least(..), Value::Null) => {}
            (State::Sum(sum), Value::Decimal(text)) => {
                if !sum.get_or_insert_default().add(text) {
                    return Err(odd());
                }
            }
            (State::Sum(_), _) => return Err(odd()),
            (State::Least(order, least), value) => {
                let mut own = Vec::new();
                key::put(value, order, &mut own);
                if least.as_ref().is_none_or(|(key, _)| own < *key) {
                    *least = Some((own, row[cell.bytes.clone()].to_vec()));
                }
            }
        }
        Ok(())
    }

    fn is_null(&self) -> bool {
        match self {
            State::Count(_) => false,
            State::Sum(sum) => sum.is_none(),
            State::Least(_, least) => least.is_none(),
        }
    }

    fn put(&self, format: Format, out: &mut Vec<u8>) {
        match (self, format) {
            (State::Count(count), Format::Text) => put_lenenc_bytes(out, count.to_string().as_bytes()),
            (State::Count(count), Format::Binary) => out.extend_from_slice(&count.to_le_bytes()),
            (State::Sum(Some(sum)), _) => put_lenenc_bytes(out, sum.text().as_bytes()),
            (State::Least(_, Some((_, bytes))), _) => out.extend_from_slice(bytes),
            (State::Sum(None) | State::Least(_, None), Format::Text) => out.push(NULL),
            (State::Sum(None) | State::Least(_, None), Format::Binary) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::binary::ValueType;
    use crate::protocol::column::ColumnType;

    const FOLDS: [Fold; 4] = [Fold::Count, Fold::Sum, Fold::Min, Fold::Max];

    fn layout(format: Format) -> Layout {
        let kinds = [ColumnType::LongLong, ColumnType::NewDecimal, ColumnType::Long, ColumnType::Long];
        Layout::new(format, kinds.map(|kind| ValueType { kind, unsigned: false }).to_vec())
    }

    #[test]
    fn places_without_rows_count_for_nothing() {
        let layout = layout(Format::Text);
        let mut folder = Folder::new(&FOLDS);
        assert_eq!(folder.finish(&layout), b"\x010\xFB\xFB\xFB");
        for row in [&b"\x010\xFB\xFB\xFB"[..], b"\x012\x031.5\x02-3\x0212", b"\x011\x031.6\x015\x015"] {
            folder.push(&layout, row).expect("taken");
        }
        assert_eq!(folder.finish(&layout), b"\x013\x033.1\x02-3\x0212");
    }

    #[test]
    fn binary_rows_are_folded_alike() {
        let layout = layout(Format::Binary);
        let mut folder = Folder::new(&FOLDS);
        let row = b"\x00\x00\x02\0\0\0\0\0\0\0\x031.5\xFD\xFF\xFF\xFF\x0C\0\0\0";
        folder.push(&layout, b"\x00\x38\0\0\0\0\0\0\0\0").expect("taken");
        assert_eq!(folder.finish(&layout), b"\x00\x38\0\0\0\0\0\0\0\0");
        folder.push(&layout, row).expect("taken");
        assert_eq!(folder.finish(&layout), row);
    }
}
