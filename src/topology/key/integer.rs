//! Integer keys. `1`, `'1'`, `' 1'`, `1.0`, `01`, `0x01` and TRUE are one key; `'42abc'` and 42.5 are none.

use super::Key;
use crate::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// 8, 16, 24, 32 or 64
    pub bits: u8,
    pub unsigned: bool,
    /// Implies unsigned.
    pub zerofill: bool,
}

/// Integers that a double holds, each and its neighbours: beyond, one double equals several stored values.
const DOUBLE: f64 = 9_007_199_254_740_991.0;
const SINGLE: f32 = 16_777_215.0;

impl Integer {
    pub(super) fn canonical<'v>(self, value: &Value<'_>) -> Option<Key<'v>> {
        let k = match *value {
            Value::Int(k) => i128::from(k),
            Value::UInt(k) => i128::from(k),
            Value::Decimal(text) => decimal(text.as_bytes())?.k,
            Value::Double(k) => whole(k)?,
            Value::Float(k) if k.abs() <= SINGLE => whole(f64::from(k))?,
            Value::Text { bytes, .. } | Value::Binary(bytes) => string(bytes)?,
            // MariaDB reads X'31' as the string '1', MySQL as the number 49.
            Value::Hex { quoted: true, .. } => return None,
            Value::Hex { bytes, quoted: false } => number(bytes)?,
            Value::Null | Value::Float(_) => return None,
            // Turned into numbers like 20240102, by rules that differ in their fractions.
            Value::Date { .. } | Value::DateTime { .. } | Value::Time { .. } => return None,
        };
        self.holds(k).then_some(Key::Integer(k))
    }

    /// The least and the greatest stored value.
    pub fn range(self) -> (i128, i128) {
        match self.unsigned {
            true => (0, (1 << self.bits) - 1),
            false => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
        }
    }

    fn holds(self, k: i128) -> bool {
        let (least, greatest) = self.range();
        (least..=greatest).contains(&k)
    }
}

struct Digits {
    k: i128,
    /// Nothing but a sign and digits.
    plain: bool,
}

/// `12`, `-12`, `+12.`, `12.00`: a sign, digits, a fraction of zeros.
fn decimal(text: &[u8]) -> Option<Digits> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let digits = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, fraction) = text.split_at(digits);
    let whole = match fraction {
        [] => true,
        [b'.', zeros @ ..] => zeros.iter().all(|&byte| byte == b'0'),
        _ => false,
    };
    // Thirty digits can't overflow, and no stored value has as many.
    if !whole || digits.is_empty() || digits.len() > 30 {
        return None;
    }
    let k = digits.iter().fold(0, |k, &digit| k * 10 + i128::from(digit - b'0'));
    // '-0' is a negative number for an unsigned column on some paths.
    if negative && k == 0 {
        return None;
    }
    Some(Digits { k: if negative { -k } else { k }, plain: fraction.is_empty() })
}

/// A string, spaces around it ignored. It is compared as a double, except where both servers make an integer of it
/// first: plain digits.
fn string(bytes: &[u8]) -> Option<i128> {
    let start = bytes.iter().position(|&byte| byte != b' ')?;
    let end = bytes.iter().rposition(|&byte| byte != b' ')?;
    let Digits { k, plain } = decimal(&bytes[start..=end])?;
    (plain || k.unsigned_abs() < 1 << 53).then_some(k)
}

/// A hex or bit literal beside a number: big-endian, unsigned.
fn number(bytes: &[u8]) -> Option<i128> {
    let start = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len());
    let digits = &bytes[start..];
    (digits.len() <= 8).then(|| digits.iter().fold(0, |k, &byte| k << 8 | i128::from(byte)))
}

/// A double that is an integer and the only one that compares equal to it.
#[allow(clippy::cast_possible_truncation)]
fn whole(k: f64) -> Option<i128> {
    // Within the bound the cast is exact. -0.0 is 0.
    (k.abs() <= DOUBLE && k.fract() == 0.0).then_some(k as i128)
}
