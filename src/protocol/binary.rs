//! Values in the binary protocol: those of bound parameters and of binary rows.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html>

use crate::error::Result;
use crate::protocol::column::{Column, ColumnFlags, ColumnType};
use crate::protocol::payload::{Reader, malformed, put_lenenc_bytes};
use crate::protocol::result_set::Format;
use crate::value::Value;

/// All that says how a value's bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueType {
    pub kind: ColumnType,
    pub unsigned: bool,
}

impl ValueType {
    pub fn of(column: &Column<'_>) -> Self {
        ValueType { kind: column.kind, unsigned: column.flags.has(ColumnFlags::UNSIGNED) }
    }

    /// The same bytes stand for the same value in a column of the other type.
    pub fn is_sent_as(self, other: Self, format: Format) -> bool {
        use ColumnType::{DateTime, Null, Timestamp};
        let is_moment = |of: Self| matches!(of.kind, DateTime | Timestamp);
        let is_integer = |of: Self| integer_width(of.kind).is_some();
        self.kind == other.kind
            || self.kind == Null
            || other.kind == Null
            || (self.is_string() && other.is_string())
            || (is_moment(self) && is_moment(other))
            || (format == Format::Text && is_integer(self) && is_integer(other))
    }

    /// Sent as a string, and none of the kinds that hold something else.
    pub fn is_string(self) -> bool {
        use ColumnType::{Blob, Enum, LongBlob, MediumBlob, Set, String, TinyBlob, VarChar, VarString};
        matches!(self.kind, VarChar | VarString | String | Enum | Set | TinyBlob | Blob | MediumBlob | LongBlob)
    }
}

/// The bytes of a binary integer; `None`: it is none.
pub fn integer_width(kind: ColumnType) -> Option<usize> {
    use ColumnType::*;
    match kind {
        Tiny | Bool => Some(1),
        Short | Year => Some(2),
        Long | Int24 => Some(4),
        LongLong => Some(8),
        Null | Decimal | NewDecimal | Float | Double | Date | NewDate | DateTime | Timestamp | Time | VarChar
        | VarString | String | Enum | Set | Json | TinyBlob | MediumBlob | LongBlob | Blob | Bit | Geometry
        | Vector | Timestamp2 | DateTime2 | Time2 | TypedArray | Invalid => None,
    }
}

/// A binary row: the zero, the NULL bits (which begin at bit 2), the values.
pub fn read_row<'a>(payload: &'a [u8], types: &[ValueType], charset: &'a str, out: &mut Vec<Value<'a>>) -> Result<()> {
    let mut reader = Reader::new(payload);
    if reader.u8()? != 0 {
        return Err(malformed());
    }
    let nulls = reader.take((types.len() + 2).div_ceil(8))?;
    for (column, &kind) in types.iter().enumerate() {
        let bit = column + 2;
        out.push(match nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            true => Value::Null,
            false => read(&mut reader, kind, charset)?,
        });
    }
    Ok(())
}

/// One value. Strings are said to be in `charset`, blobs are bytes.
pub fn read<'a>(reader: &mut Reader<'a>, of: ValueType, charset: &'a str) -> Result<Value<'a>> {
    use ColumnType::*;
    Ok(match of.kind {
        Null => Value::Null,
        Tiny | Bool => int(of, i64::from(i8::from_le_bytes(reader.array()?)), 0xFF),
        Short | Year => int(of, i64::from(i16::from_le_bytes(reader.array()?)), 0xFFFF),
        Long | Int24 => int(of, i64::from(i32::from_le_bytes(reader.array()?)), 0xFFFF_FFFF),
        LongLong => int(of, i64::from_le_bytes(reader.array()?), u64::MAX),
        Float => Value::Float(f32::from_le_bytes(reader.array()?)),
        Double => Value::Double(f64::from_le_bytes(reader.array()?)),
        Date | NewDate => date(reader)?,
        DateTime | Timestamp => date_time(reader)?,
        Time => time(reader)?,
        Decimal | NewDecimal | VarChar | VarString | String | Enum | Set | Json | TinyBlob | MediumBlob | LongBlob
        | Blob | Bit | Geometry | Vector => string(of.kind, reader.lenenc_bytes()?, charset),
        Timestamp2 | DateTime2 | Time2 | TypedArray | Invalid => return Err(malformed()),
    })
}

/// The value of a string's bytes under a type that is sent as a string.
pub fn string<'a>(kind: ColumnType, bytes: &'a [u8], charset: &'a str) -> Value<'a> {
    use ColumnType::*;
    match kind {
        TinyBlob | MediumBlob | LongBlob | Blob | Bit | Geometry | Vector => Value::Binary(bytes),
        Decimal | NewDecimal => match std::str::from_utf8(bytes) {
            Ok(text) if is_number(text) => Value::Decimal(text),
            Ok(_) | Err(_) => Value::Text { bytes, charset },
        },
        Tiny | Short | Long | Float | Double | Null | Timestamp | LongLong | Int24 | Date | Time | DateTime | Year
        | NewDate | VarChar | Timestamp2 | DateTime2 | Time2 | TypedArray | Invalid | Bool | Json | Enum | Set
        | VarString | String => Value::Text { bytes, charset },
    }
}

/// Digits, with a sign, a point or an exponent where MySQL takes one.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    whole.len() + fraction.len() > 0 && !exponent.is_empty() && [whole, fraction, exponent].into_iter().all(digits)
}

fn int(of: ValueType, signed: i64, mask: u64) -> Value<'static> {
    match of.unsigned {
        true => Value::UInt(signed.cast_unsigned() & mask),
        false => Value::Int(signed),
    }
}

/// A DATE that comes with a time of day loses it, as on the servers.
fn date(reader: &mut Reader<'_>) -> Result<Value<'static>> {
    let ((year, month, day), _, _) = calendar(reader)?;
    Ok(Value::Date { year, month, day })
}

fn date_time(reader: &mut Reader<'_>) -> Result<Value<'static>> {
    let ((year, month, day), [hour, minute, second], micro) = calendar(reader)?;
    Ok(Value::DateTime { year, month, day, hour, minute, second, micro })
}

type Day = (u16, u8, u8);

fn calendar(reader: &mut Reader<'_>) -> Result<(Day, [u8; 3], u32)> {
    let len = reader.u8()?;
    if !matches!(len, 0 | 4 | 7 | 11) {
        return Err(malformed());
    }
    let day = if len > 0 { (reader.u16()?, reader.u8()?, reader.u8()?) } else { (0, 0, 0) };
    let clock = if len > 4 { reader.array()? } else { [0; 3] };
    let micro = if len > 7 { reader.u32()? } else { 0 };
    Ok((day, clock, micro))
}

fn time(reader: &mut Reader<'_>) -> Result<Value<'static>> {
    let len = reader.u8()?;
    if !matches!(len, 0 | 8 | 12) {
        return Err(malformed());
    }
    if len == 0 {
        return Ok(Value::Time { negative: false, hours: 0, minute: 0, second: 0, micro: 0 });
    }
    let negative = reader.u8()? != 0;
    let days = reader.u32()?;
    let [hour, minute, second] = reader.array()?;
    let micro = if len > 8 { reader.u32()? } else { 0 };
    let hours = days.checked_mul(24).and_then(|hours| hours.checked_add(u32::from(hour))).ok_or_else(malformed)?;
    Ok(Value::Time { negative, hours, minute, second, micro })
}

/// The type under which `put` writes a value.
pub fn type_of(value: &Value<'_>) -> ValueType {
    let (kind, unsigned) = match value {
        Value::Null => (ColumnType::Null, false),
        Value::Int(_) => (ColumnType::LongLong, false),
        Value::UInt(_) => (ColumnType::LongLong, true),
        Value::Decimal(_) => (ColumnType::NewDecimal, false),
        Value::Double(_) => (ColumnType::Double, false),
        Value::Float(_) => (ColumnType::Float, false),
        Value::Text { .. } => (ColumnType::VarString, false),
        Value::Binary(_) | Value::Hex { .. } => (ColumnType::Blob, false),
        Value::Date { .. } => (ColumnType::Date, false),
        Value::DateTime { .. } => (ColumnType::DateTime, false),
        Value::Time { .. } => (ColumnType::Time, false),
    };
    ValueType { kind, unsigned }
}

/// Appends a value in the form of its own type (`type_of`). NULL has no bytes.
pub fn put(out: &mut Vec<u8>, value: &Value<'_>) {
    match *value {
        Value::Null => {}
        Value::Int(int) => out.extend_from_slice(&int.to_le_bytes()),
        Value::UInt(int) => out.extend_from_slice(&int.to_le_bytes()),
        Value::Double(double) => out.extend_from_slice(&double.to_le_bytes()),
        Value::Float(float) => out.extend_from_slice(&float.to_le_bytes()),
        Value::Decimal(text) => put_lenenc_bytes(out, text.as_bytes()),
        Value::Text { bytes, .. } | Value::Binary(bytes) | Value::Hex { bytes, .. } => put_lenenc_bytes(out, bytes),
        Value::Date { year, month, day } => put_date_time(out, (year, month, day), [0; 3], 0),
        Value::DateTime { year, month, day, hour, minute, second, micro } => {
            put_date_time(out, (year, month, day), [hour, minute, second], micro);
        }
        Value::Time { negative, hours, minute, second, micro } => {
            let clock = [u8::try_from(hours % 24).expect("below 24"), minute, second];
            let len = match (hours, clock, micro) {
                (0, [0, 0, 0], 0) => 0,
                (_, _, 0) => 8,
                (_, _, _) => 12,
            };
            out.push(len);
            if len > 0 {
                out.push(u8::from(negative));
                out.extend_from_slice(&(hours / 24).to_le_bytes());
                out.extend_from_slice(&clock);
            }
            if len > 8 {
                out.extend_from_slice(&micro.to_le_bytes());
            }
        }
    }
}

fn put_date_time(out: &mut Vec<u8>, (year, month, day): Day, clock: [u8; 3], micro: u32) {
    let len = match (year, month, day, clock, micro) {
        (0, 0, 0, [0, 0, 0], 0) => 0,
        (_, _, _, [0, 0, 0], 0) => 4,
        (_, _, _, _, 0) => 7,
        (_, _, _, _, _) => 11,
    };
    out.push(len);
    if len > 0 {
        out.extend_from_slice(&year.to_le_bytes());
        out.extend_from_slice(&[month, day]);
    }
    if len > 4 {
        out.extend_from_slice(&clock);
    }
    if len > 7 {
        out.extend_from_slice(&micro.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_whole(kind: ColumnType, bytes: &[u8]) -> Result<Value<'_>> {
        let mut reader = Reader::new(bytes);
        let value = read(&mut reader, ValueType { kind, unsigned: false }, "utf8mb4")?;
        assert!(reader.is_empty(), "{kind:?} {bytes:?}");
        Ok(value)
    }

    #[test]
    fn integers_have_the_sign_that_the_type_says() {
        for (kind, bytes, signed, unsigned) in [
            (ColumnType::Tiny, &b"\xFF"[..], -1, 0xFF),
            (ColumnType::Short, b"\xFE\xFF", -2, 0xFFFE),
            (ColumnType::Long, b"\xFF\xFF\xFF\xFF", -1, 0xFFFF_FFFF),
            (ColumnType::LongLong, &[0xFF; 8], -1, u64::MAX),
        ] {
            let of = |unsigned| ValueType { kind, unsigned };
            assert_eq!(read(&mut Reader::new(bytes), of(false), "").expect("signed"), Value::Int(signed));
            assert_eq!(read(&mut Reader::new(bytes), of(true), "").expect("unsigned"), Value::UInt(unsigned));
        }
    }

    #[test]
    fn temporal_values_are_read_in_all_lengths_and_written_in_the_shortest() {
        let at = |hour, micro| Value::DateTime { year: 2024, month: 2, day: 29, hour, minute: 0, second: 0, micro };
        let span = |hours, micro| Value::Time { negative: true, hours, minute: 1, second: 2, micro };
        for (kind, bytes, value) in [
            (ColumnType::DateTime, &b"\x04\xE8\x07\x02\x1D"[..], at(0, 0)),
            (ColumnType::DateTime, b"\x07\xE8\x07\x02\x1D\x05\x00\x00", at(5, 0)),
            (ColumnType::Timestamp, b"\x0B\xE8\x07\x02\x1D\x05\x00\x00\x01\x00\x00\x00", at(5, 1)),
            (ColumnType::Date, b"\x04\xE8\x07\x02\x1D", Value::Date { year: 2024, month: 2, day: 29 }),
            (ColumnType::Date, b"\x00", Value::Date { year: 0, month: 0, day: 0 }),
            (ColumnType::Time, b"\x08\x01\x02\x00\x00\x00\x03\x01\x02", span(51, 0)),
            (ColumnType::Time, b"\x0C\x01\x00\x00\x00\x00\x03\x01\x02\x40\x42\x0F\x00", span(3, 1_000_000)),
        ] {
            assert_eq!(read_whole(kind, bytes).expect("whole"), value);
            let mut out = Vec::new();
            put(&mut out, &value);
            assert_eq!(out, bytes, "{value:?}");
            for cut in 0..bytes.len() {
                let of = ValueType { kind, unsigned: false };
                assert!(read(&mut Reader::new(&bytes[..cut]), of, "").is_err());
            }
        }
        assert!(read_whole(ColumnType::Time, b"\x08\x00\xFF\xFF\xFF\xFF\x00\x00\x00").is_err());
        assert!(read_whole(ColumnType::DateTime, b"\x05\xE8\x07\x02\x1D\x05").is_err());
    }

    #[test]
    fn only_numbers_are_decimals() {
        for text in ["0", "-1.50", "+.5", "5.", "1e-3", "12345678901234567890123"] {
            assert_eq!(string(ColumnType::NewDecimal, text.as_bytes(), "utf8mb4"), Value::Decimal(text));
        }
        for text in ["", "-", ".", "1e", "0x1", "1;2", " 1", "é"] {
            let value = string(ColumnType::NewDecimal, text.as_bytes(), "utf8mb4");
            assert!(matches!(value, Value::Text { .. }), "{text}");
        }
    }
}
