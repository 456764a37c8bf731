//! Results that the proxy makes itself: column definitions, rows and their end, as text or in
//! binary, with or without EOF packets, as the client asked.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset.html>

use crate::error::Error;
use crate::protocol::binary;
use crate::protocol::column::{Column, ColumnFlags, ColumnType};
use crate::protocol::eof::EofPacket;
use crate::protocol::err::ErrPacket;
use crate::protocol::ok::OkPacket;
use crate::protocol::packet::frame_with;
use crate::protocol::payload::put_lenenc;
use crate::protocol::text;
use crate::protocol::{Capabilities, Status};
use crate::value::Value;

/// Whether a row is for COM_QUERY or COM_STMT_EXECUTE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Binary,
}

/// Appends a result's packets to `out`, numbered from `sequence` on.
#[derive(Debug)]
pub struct ResultSet<'o> {
    out: &'o mut Vec<u8>,
    sequence: u8,
    capabilities: Capabilities,
    status: Status,
    format: Format,
    kinds: Vec<ColumnType>,
}

impl<'o> ResultSet<'o> {
    pub fn begin(
        out: &'o mut Vec<u8>,
        sequence: u8,
        capabilities: Capabilities,
        status: Status,
        format: Format,
        columns: &[Column<'_>],
    ) -> Self {
        let kinds = columns.iter().map(|column| column.kind).collect();
        let mut result = ResultSet { out, sequence, capabilities, status, format, kinds };
        result.packet(|out| put_lenenc(out, columns.len() as u64));
        for column in columns {
            result.packet(|out| column.write(out));
        }
        if !capabilities.has(Capabilities::DEPRECATE_EOF) {
            result.packet(|out| EofPacket { warnings: 0, status }.write(out));
        }
        result
    }

    pub fn row(&mut self, values: &[Value<'_>]) {
        debug_assert_eq!(values.len(), self.kinds.len(), "a value for each column");
        let kinds = std::mem::take(&mut self.kinds);
        match self.format {
            Format::Text => self.packet(|out| values.iter().for_each(|value| text::put_cell(out, value))),
            Format::Binary => self.packet(|out| put_binary_row(out, &kinds, values)),
        }
        self.kinds = kinds;
    }

    /// Ends the result; gives the number of the next packet.
    pub fn finish(mut self, warnings: u16) -> u8 {
        let (capabilities, status) = (self.capabilities, self.status);
        if capabilities.has(Capabilities::DEPRECATE_EOF) {
            let end = OkPacket { status, warnings, ..OkPacket::default() };
            self.packet(|out| end.write_end(capabilities, out));
        } else {
            self.packet(|out| EofPacket { warnings, status }.write(out));
        }
        self.sequence
    }

    /// Ends the result with an error in place of more rows.
    pub fn fail(mut self, error: &Error) -> u8 {
        self.packet(|out| ErrPacket::of(error).write(out));
        self.sequence
    }

    fn packet(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.sequence = frame_with(self.out, self.sequence, write);
    }
}

fn put_binary_row(out: &mut Vec<u8>, kinds: &[ColumnType], values: &[Value<'_>]) {
    out.push(0);
    let nulls = out.len();
    out.resize(nulls + (values.len() + 2).div_ceil(8), 0);
    for (column, (kind, value)) in kinds.iter().zip(values).enumerate() {
        if *value == Value::Null {
            let bit = column + 2;
            out[nulls + bit / 8] |= 1 << (bit % 8);
        } else {
            put_as(out, *kind, value);
        }
    }
}

/// A value in the form that its column's type has. What doesn't fit the type is the writer's
/// mistake, and is written as the nearest that has the right number of bytes.
fn put_as(out: &mut Vec<u8>, kind: ColumnType, value: &Value<'_>) {
    use ColumnType::*;
    match kind {
        Tiny | Bool => out.extend_from_slice(&integer(value).to_le_bytes()[..1]),
        Short | Year => out.extend_from_slice(&integer(value).to_le_bytes()[..2]),
        Long | Int24 => out.extend_from_slice(&integer(value).to_le_bytes()[..4]),
        LongLong => out.extend_from_slice(&integer(value).to_le_bytes()),
        Double => out.extend_from_slice(&double(value).to_le_bytes()),
        // A FLOAT column's value is exact in single precision.
        Float => out.extend_from_slice(&(double(value) as f32).to_le_bytes()),
        Date | NewDate | DateTime | Timestamp | Time => match value {
            Value::Date { .. } | Value::DateTime { .. } | Value::Time { .. } => binary::put(out, value),
            Value::Null
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Decimal(_)
            | Value::Double(_)
            | Value::Float(_)
            | Value::Text { .. }
            | Value::Binary(_)
            | Value::Hex { .. } => out.push(0),
        },
        Null => {}
        Decimal | NewDecimal | VarChar | VarString | String | Enum | Set | Json | TinyBlob | MediumBlob | LongBlob
        | Blob | Bit | Geometry | Vector | Timestamp2 | DateTime2 | Time2 | TypedArray | Invalid => {
            text::put_cell(out, value);
        }
    }
}

/// The 64 bits of an integer, signed or not.
fn integer(value: &Value<'_>) -> u64 {
    match *value {
        Value::Int(int) => int.cast_unsigned(),
        Value::UInt(int) => int,
        Value::Decimal(text) => text.parse().unwrap_or(0),
        Value::Double(_)
        | Value::Float(_)
        | Value::Null
        | Value::Text { .. }
        | Value::Binary(_)
        | Value::Hex { .. }
        | Value::Date { .. }
        | Value::DateTime { .. }
        | Value::Time { .. } => 0,
    }
}

fn double(value: &Value<'_>) -> f64 {
    match *value {
        Value::Double(double) => double,
        Value::Float(float) => f64::from(float),
        Value::Int(int) => int as f64,
        Value::UInt(int) => int as f64,
        Value::Decimal(text) => text.parse().unwrap_or(0.0),
        Value::Null
        | Value::Text { .. }
        | Value::Binary(_)
        | Value::Hex { .. }
        | Value::Date { .. }
        | Value::DateTime { .. }
        | Value::Time { .. } => 0.0,
    }
}

/// A column of text in `collation`.
pub fn text_column(name: &[u8], collation: u16, length: u32) -> Column<'_> {
    plain_column(name, collation, length, ColumnType::VarString, ColumnFlags::NONE, 31)
}

/// A column of 64-bit integers.
pub fn int_column(name: &[u8], unsigned: bool) -> Column<'_> {
    let flags = ColumnFlags::BINARY.with(ColumnFlags::NUM);
    let flags = if unsigned { flags.with(ColumnFlags::UNSIGNED) } else { flags };
    plain_column(name, 63, 21, ColumnType::LongLong, flags, 0)
}

fn plain_column(
    name: &[u8],
    collation: u16,
    length: u32,
    kind: ColumnType,
    flags: ColumnFlags,
    decimals: u8,
) -> Column<'_> {
    Column { schema: b"", table: b"", org_table: b"", name, org_name: b"", collation, length, kind, flags, decimals }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::binary::{ValueType, read_row};
    use crate::protocol::captured::reply;
    use crate::protocol::payload::Reader;
    use crate::protocol::reply::{Kind, Piece, Reply};

    #[test]
    fn a_result_made_here_is_the_one_that_a_server_makes() {
        for name in [
            "maria eof select",
            "maria ok select",
            "mysql eof select",
            "mysql ok select",
            "maria eof execute",
            "maria ok execute",
            "mysql eof execute",
            "mysql ok execute",
        ] {
            let captured = reply(name);
            let payloads = captured.payloads();
            let columns: Vec<Column<'_>> =
                payloads[1..4].iter().map(|payload| Column::parse(payload).expect(name)).collect();
            let types: Vec<ValueType> = columns.iter().map(ValueType::of).collect();
            let format = if name.ends_with("execute") { Format::Binary } else { Format::Text };
            let caps = if captured.deprecate_eof { Capabilities::DEPRECATE_EOF } else { Capabilities::NONE };
            let first_row = if captured.deprecate_eof { 4 } else { 5 };
            let mut out = Vec::new();
            let mut result = ResultSet::begin(&mut out, 1, caps, status_of(name), format, &columns);
            for row in &payloads[first_row..first_row + 2] {
                let mut values = Vec::new();
                match format {
                    Format::Binary => read_row(row, &types, "utf8mb4", &mut values).expect(name),
                    Format::Text => {
                        let mut reader = Reader::new(row);
                        while !reader.is_empty() {
                            let cell = reader.text_value().expect(name);
                            values.push(cell.map_or(Value::Null, |bytes| Value::Text { bytes, charset: "utf8mb4" }));
                        }
                    }
                }
                assert_eq!(values[2] == Value::Null, row == &payloads[first_row], "{name}");
                result.row(&values);
            }
            result.finish(0);
            assert_eq!(out, captured.bytes(), "{name}");
        }
    }

    fn status_of(name: &str) -> Status {
        let captured = reply(name);
        let bytes = captured.bytes();
        let mut scan = Reply::new(Kind::Results, captured.deprecate_eof, 1);
        let mut at = 0;
        loop {
            match scan.next(&bytes[at..]).expect(name) {
                Piece::ColumnCount { len, .. }
                | Piece::Column { len }
                | Piece::ColumnsEnd { len, .. }
                | Piece::Rows { len }
                | Piece::RowsEnd { len, .. } => at += len,
                Piece::Done => return scan.status(),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn binary_rows_have_the_width_of_their_columns() {
        use ColumnType::*;
        let kinds = [Tiny, Short, Long, LongLong, Double, Float, VarString];
        let values = [Value::Int(-1), Value::Int(2), Value::UInt(3), Value::Int(4), Value::Int(5), Value::Double(0.5)];
        let mut row = Vec::new();
        put_binary_row(&mut row, &kinds, &[&values[..], &[Value::Int(-12)]].concat());
        let types = kinds.map(|kind| ValueType { kind, unsigned: false });
        let mut back = Vec::new();
        read_row(&row, &types, "utf8mb4", &mut back).expect("whole");
        let text = Value::Text { bytes: b"-12", charset: "utf8mb4" };
        let expected =
            [Value::Int(-1), Value::Int(2), Value::Int(3), Value::Int(4), Value::Double(5.0), Value::Float(0.5), text];
        assert_eq!(back, expected);
    }
}
