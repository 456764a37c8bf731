//! BINARY(n) and VARBINARY(n) keys: the bytes as stored, in no character set.

use std::borrow::Cow;

use super::{Key, Purpose, Reading};
use crate::topology::charset::Charset;
use crate::value::Value;

pub(super) fn canonical<'v>(fixed: bool, length: u32, value: &Value<'v>, reading: &Reading<'_>) -> Option<Key<'v>> {
    let bytes = match value {
        Value::Binary(bytes) | Value::Hex { bytes, .. } => Cow::Borrowed(*bytes),
        Value::Text { bytes, charset } => connected(bytes, charset, reading.connection)?,
        Value::Int(k) => Cow::Owned(digits(k, reading.purpose)?),
        Value::UInt(k) => Cow::Owned(digits(k, reading.purpose)?),
        Value::Null | Value::Decimal(_) | Value::Double(_) | Value::Float(_) => return None,
        Value::Date { .. } | Value::DateTime { .. } | Value::Time { .. } => return None,
    };
    let length = usize::try_from(length).expect("a column's length");
    if bytes.len() > length {
        return None;
    }
    Some(Key::Bytes(if fixed && bytes.len() < length { Cow::Owned(padded(&bytes, length)) } else { bytes }))
}

/// The bytes of a string as they reach the column. A literal arrives in the connection's character set, one with an
/// introducer in its own; where the two differ only ASCII is the same in both.
fn connected<'v>(bytes: &'v [u8], charset: &str, connection: &str) -> Option<Cow<'v, [u8]>> {
    let as_written = charset.eq_ignore_ascii_case(connection) || charset.eq_ignore_ascii_case("binary");
    let as_ascii = || Charset::named(charset).and(Charset::named(connection)).is_some() && bytes.is_ascii();
    (as_written || as_ascii()).then_some(Cow::Borrowed(bytes))
}

/// A number beside a byte string is compared as a number: `'5'`, `'5.0'` and `'05'` are all equal to it.
fn digits(k: impl ToString, purpose: Purpose) -> Option<Vec<u8>> {
    match purpose {
        Purpose::Store => Some(k.to_string().into_bytes()),
        Purpose::Compare => None,
    }
}

fn padded(bytes: &[u8], length: usize) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(length, 0);
    padded
}
