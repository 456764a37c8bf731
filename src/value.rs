//! An SQL value as a literal or a bound parameter gives it, before any column's type is put on it.

/// What a client wrote. Numbers that a `f64` would change stay text; character strings stay the
/// client's bytes with the character set that they are in.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    UInt(u64),
    /// An exact number as written: `2.50`, `12345678901234567890123`.
    Decimal(&'a str),
    Double(f64),
    /// A parameter of MySQL type FLOAT: single precision.
    Float(f32),
    /// A character string; the name of its character set in lower case (`utf8mb4`).
    Text {
        bytes: &'a [u8],
        charset: &'a str,
    },
    /// `_binary'…'` and BLOB parameters: a byte string, beside a number read as digits.
    Binary(&'a [u8]),
    /// A hex or bit literal: a byte string that is a big-endian number beside a number. `quoted` is `X'…'`,
    /// which MariaDB never reads as a number (`k = x'31'` is 1 there, 49 in MySQL); `0x…`, `b'…'` and `0b…`
    /// are not quoted.
    Hex {
        bytes: &'a [u8],
        quoted: bool,
    },
    Date {
        year: u16,
        month: u8,
        day: u8,
    },
    DateTime {
        year: u16,
        month: u8,
        day: u8,
        hour: u8,
        minute: u8,
        second: u8,
        micro: u32,
    },
    Time {
        negative: bool,
        hours: u32,
        minute: u8,
        second: u8,
        micro: u32,
    },
}
