//! Rows as they are on the wire: where each cell is, what it holds, and how columns at the end
//! are taken away.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::protocol::binary::{self, ValueType};
use crate::protocol::column::ColumnType;
use crate::protocol::payload::{NULL, Reader};
use crate::protocol::result_set::Format;
use crate::value::Value;

/// What the rows of a result look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    format: Format,
    types: Vec<ValueType>,
}

/// A cell: its bytes on the wire, and what they mean. No bytes where it is NULL.
#[derive(Debug)]
pub(super) struct Cell<'r> {
    pub bytes: Range<usize>,
    pub value: Value<'r>,
}

impl Layout {
    pub fn new(format: Format, types: Vec<ValueType>) -> Self {
        Layout { format, types }
    }

    pub fn columns(&self) -> usize {
        self.types.len()
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// All cells of a row.
    pub(super) fn cells<'r>(&self, row: &'r [u8]) -> Result<Vec<Cell<'r>>> {
        let mut reader = Reader::new(row);
        let nulls = self.nulls(&mut reader)?;
        let mut cells = Vec::with_capacity(self.types.len());
        for (column, of) in self.types.iter().enumerate() {
            let start = row.len() - reader.len();
            let value = self.value(&mut reader, nulls, column, *of)?;
            let end = if value == Value::Null { start } else { row.len() - reader.len() };
            cells.push(Cell { bytes: start..end, value });
        }
        Ok(cells)
    }

    /// Tells the cells from column `columns` on, numbered from 0; gives where they begin.
    pub(super) fn hidden<'r>(
        &self,
        row: &'r [u8],
        columns: usize,
        mut tell: impl FnMut(usize, Value<'r>),
    ) -> Result<usize> {
        let mut reader = Reader::new(row);
        let nulls = self.nulls(&mut reader)?;
        let mut end = row.len();
        for (column, of) in self.types.iter().enumerate() {
            if column == columns {
                end = row.len() - reader.len();
            }
            if column < columns && self.format == Format::Text {
                reader.text_value()?;
                continue;
            }
            let value = self.value(&mut reader, nulls, column, *of)?;
            if column >= columns {
                tell(column - columns, value);
            }
        }
        Ok(end)
    }

    /// The row without its columns from `columns` on, which begin at `end`.
    pub(super) fn cut_at(&self, row: &[u8], end: usize, columns: usize, out: &mut Vec<u8>) {
        match self.format {
            Format::Text => out.extend_from_slice(&row[..end]),
            Format::Binary => {
                let values = 1 + bitmap_len(self.types.len());
                out.extend_from_slice(&row[..1 + bitmap_len(columns)]);
                // Bits of columns that are no longer there.
                let used = (columns + 2) % 8;
                if let Some(last) = out.last_mut().filter(|_| used > 0) {
                    *last &= (1 << used) - 1;
                }
                out.extend_from_slice(&row[values..end]);
            }
        }
    }

    /// The row without its columns from `columns` on, which its cells say where they begin.
    pub(super) fn cut(&self, row: &[u8], cells: &[Cell<'_>], columns: usize) -> Vec<u8> {
        let end = cells.get(columns).map_or(row.len(), |cell| cell.bytes.start);
        let mut out = Vec::with_capacity(end);
        self.cut_at(row, end, columns, &mut out);
        out
    }

    /// A row as another layout has it.
    pub fn reshaped(&self, row: &[u8], other: &Layout) -> Result<Vec<u8>> {
        self.shown_as(other, row, &self.cells(row)?, self.types.len())
    }

    /// The first columns of a row as another layout has them.
    pub(super) fn shown_as(&self, shown: &Layout, row: &[u8], cells: &[Cell<'_>], columns: usize) -> Result<Vec<u8>> {
        if shown.types.len() != columns {
            return Err(odd());
        }
        if self.types[..columns] == shown.types[..] {
            return Ok(self.cut(row, cells, columns));
        }
        let cells = &cells[..columns];
        let mut out = match self.format {
            Format::Text => Vec::new(),
            Format::Binary => binary_head(&cells.iter().map(|cell| cell.value == Value::Null).collect::<Vec<_>>()),
        };
        for (column, cell) in cells.iter().enumerate() {
            match (&cell.value, self.format) {
                (Value::Null, Format::Text) => out.push(NULL),
                (Value::Null, Format::Binary) => {}
                _ => put_as(self.format, cell, row, [self.types[column], shown.types[column]], &mut out)?,
            }
        }
        Ok(out)
    }

    /// A column's type, if there is such a column.
    pub(super) fn of(&self, column: usize) -> ValueType {
        self.types.get(column).copied().unwrap_or(ValueType { kind: ColumnType::Null, unsigned: false })
    }

    fn nulls<'r>(&self, reader: &mut Reader<'r>) -> Result<&'r [u8]> {
        match self.format {
            Format::Text => Ok(&[]),
            Format::Binary => {
                reader.u8()?;
                reader.take(bitmap_len(self.types.len()))
            }
        }
    }

    fn value<'r>(&self, reader: &mut Reader<'r>, nulls: &[u8], column: usize, of: ValueType) -> Result<Value<'r>> {
        match self.format {
            Format::Text => match reader.text_value()? {
                None => Ok(Value::Null),
                Some(bytes) => text_value(bytes, of),
            },
            Format::Binary if is_null(nulls, column) => Ok(Value::Null),
            Format::Binary => binary::read(reader, of, "binary"),
        }
    }
}

/// Puts a value under another type that it may have had elsewhere.
pub(super) fn put_as(
    format: Format,
    cell: &Cell<'_>,
    row: &[u8],
    [from, to]: [ValueType; 2],
    out: &mut Vec<u8>,
) -> Result<()> {
    let width = |of: ValueType| binary::integer_width(of.kind);
    match (&cell.value, width(from), width(to)) {
        _ if from.is_sent_as(to, format) => out.extend_from_slice(&row[cell.bytes.clone()]),
        (Value::Int(int), Some(_), Some(width)) => out.extend_from_slice(&int.to_le_bytes()[..width]),
        (Value::UInt(int), Some(_), Some(width)) => out.extend_from_slice(&int.to_le_bytes()[..width]),
        _ => return Err(odd()),
    }
    Ok(())
}

/// What stands before the values of a binary row.
pub(super) fn binary_head(nulls: &[bool]) -> Vec<u8> {
    let mut head = vec![0; 1 + bitmap_len(nulls.len())];
    for (column, _) in nulls.iter().enumerate().filter(|(_, null)| **null) {
        let bit = column + 2;
        head[1 + bit / 8] |= 1 << (bit % 8);
    }
    head
}

/// The bitmap's first two bits stand for nothing.
fn bitmap_len(columns: usize) -> usize {
    (columns + 2).div_ceil(8)
}

fn is_null(nulls: &[u8], column: usize) -> bool {
    let bit = column + 2;
    nulls[bit / 8] & (1 << (bit % 8)) != 0
}

/// A cell of a text row. Numbers are read; all else stays the bytes that it is.
fn text_value(bytes: &[u8], of: ValueType) -> Result<Value<'_>> {
    use ColumnType::*;
    let text = || std::str::from_utf8(bytes).map_err(|_| odd());
    Ok(match of.kind {
        Tiny | Short | Long | LongLong | Int24 | Year | Bool => match text()?.parse::<i64>() {
            Ok(int) => Value::Int(int),
            Err(_) => Value::UInt(text()?.parse().map_err(|_| odd())?),
        },
        Decimal | NewDecimal => Value::Decimal(text()?),
        Float | Double => Value::Double(text()?.parse().map_err(|_| odd())?),
        Null | Timestamp | Date | Time | DateTime | NewDate | VarChar | Bit | Timestamp2 | DateTime2 | Time2
        | TypedArray | Vector | Invalid | Json | Enum | Set | TinyBlob | MediumBlob | LongBlob | Blob | VarString
        | String | Geometry => Value::Binary(bytes),
    })
}

pub(super) fn odd() -> Error {
    Error::proxy("Bifold: a server's row does not have the types that the server said.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: ColumnType) -> ValueType {
        ValueType { kind, unsigned: false }
    }

    #[test]
    fn text_rows_are_cut_behind_a_cell() {
        let layout =
            Layout::new(Format::Text, vec![of(ColumnType::Long), of(ColumnType::VarString), of(ColumnType::Long)]);
        let row = b"\x02-7\xFB\x0212";
        let cells = layout.cells(row).expect("cells");
        assert_eq!(
            (&cells[0].value, &cells[1].value, &cells[2].value),
            (&Value::Int(-7), &Value::Null, &Value::Int(12))
        );
        assert_eq!(layout.cut(row, &cells, 2), b"\x02-7\xFB");
        for end in 0..row.len() {
            assert!(layout.cells(&row[..end]).is_err());
        }
    }

    #[test]
    fn binary_rows_get_a_bitmap_of_their_new_width() {
        let kinds = [ColumnType::Tiny; 6].into_iter().map(of).chain([of(ColumnType::VarString)]).collect();
        let layout = Layout::new(Format::Binary, kinds);
        // The third and the seventh are NULL: bits 4 and 8.
        let row = b"\x00\x10\x01\x01\x02\x04\x05\x06";
        let cells = layout.cells(row).expect("cells");
        assert_eq!(cells[2].value, Value::Null);
        assert_eq!(cells[6].value, Value::Null);
        assert_eq!(layout.cut(row, &cells, 6), b"\x00\x10\x01\x02\x04\x05\x06");
        assert_eq!(layout.cut(row, &cells, 3), b"\x00\x10\x01\x02");
    }
}
