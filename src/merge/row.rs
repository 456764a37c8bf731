//! Rows as they are on the wire: where each cell is, what it holds, and how columns at the end
//! are taken away.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::protocol::binary::{self, ValueType};
use crate::protocol::column::ColumnType;
use crate::protocol::payload::Reader;
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
        let nulls = match self.format {
            Format::Text => &[][..],
            Format::Binary => {
                reader.u8()?;
                reader.take(bitmap_len(self.types.len()))?
            }
        };
        let mut cells = Vec::with_capacity(self.types.len());
        for (column, of) in self.types.iter().enumerate() {
            let start = row.len() - reader.len();
            let value = match self.format {
                Format::Text => match reader.text_value()? {
                    None => Value::Null,
                    Some(bytes) => text_value(bytes, *of)?,
                },
                Format::Binary if is_null(nulls, column) => Value::Null,
                Format::Binary => binary::read(&mut reader, *of, "binary")?,
            };
            let end = if value == Value::Null { start } else { row.len() - reader.len() };
            cells.push(Cell { bytes: start..end, value });
        }
        Ok(cells)
    }

    /// The row without its columns from `columns` on, which its cells say where they begin.
    pub(super) fn cut(&self, row: &[u8], cells: &[Cell<'_>], columns: usize) -> Vec<u8> {
        let end = cells.get(columns).map_or(row.len(), |cell| cell.bytes.start);
        match self.format {
            Format::Text => row[..end].to_vec(),
            Format::Binary => {
                let values = 1 + bitmap_len(self.types.len());
                let nulls: Vec<bool> = cells[..columns].iter().map(|cell| cell.value == Value::Null).collect();
                let mut cut = binary_head(&nulls);
                cut.extend_from_slice(&row[values..end]);
                cut
            }
        }
    }
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
