//! Sort keys as bytes: a key is smaller than another exactly where its bytes are, so that rows are
//! sorted by comparing bytes alone. NULL comes first, as on MySQL; DESC turns all bits around.

use crate::value::Value;

/// Appends a value's key. What two keys of one result have in common is their type.
pub(super) fn put(value: &Value<'_>, pads: Option<&[u8]>, descending: bool, out: &mut Vec<u8>) {
    let start = out.len();
    match value {
        Value::Null => out.push(0),
        value => {
            out.push(1);
            present(value, pads, out);
        }
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

fn present(value: &Value<'_>, pads: Option<&[u8]>, out: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Int(int) => integer(i128::from(*int), out),
        Value::UInt(int) => integer(i128::from(*int), out),
        Value::Decimal(text) => decimal(text, out),
        Value::Double(double) => float(*double, out),
        Value::Float(single) => float(f64::from(*single), out),
        Value::Text { bytes, .. } | Value::Binary(bytes) | Value::Hex { bytes, .. } => match pads {
            Some(space) => padded(bytes, space, out),
            None => plain(bytes, out),
        },
        Value::Date { year, month, day } => calendar([*year, u16::from(*month), u16::from(*day)], [0; 3], 0, out),
        Value::DateTime { year, month, day, hour, minute, second, micro } => {
            calendar([*year, u16::from(*month), u16::from(*day)], [*hour, *minute, *second], *micro, out);
        }
        Value::Time { negative, hours, minute, second, micro } => {
            let seconds = (i128::from(*hours) * 60 + i128::from(*minute)) * 60 + i128::from(*second);
            let micros = seconds * 1_000_000 + i128::from(*micro);
            integer(if *negative { -micros } else { micros }, out);
        }
    }
}

fn integer(int: i128, out: &mut Vec<u8>) {
    let bits = int.cast_unsigned() ^ (1 << 127);
    out.extend_from_slice(&bits.to_be_bytes());
}

fn float(double: f64, out: &mut Vec<u8>) {
    // 0 and -0 are equal.
    let bits = if double == 0.0 { 0 } else { double.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

/// The sign, how many digits stand before the point, the digits; an end that is below every digit.
fn decimal(text: &str, out: &mut Vec<u8>) {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let negative = negative && !(whole.is_empty() && fraction.is_empty());
    out.push(u8::from(!negative));
    let start = out.len();
    // 65 digits at most.
    out.push(u8::try_from(whole.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(whole.as_bytes());
    out.extend_from_slice(fraction.as_bytes());
    out.push(0);
    if negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

fn calendar(day: [u16; 3], clock: [u8; 3], micro: u32, out: &mut Vec<u8>) {
    day.iter().for_each(|part| out.extend_from_slice(&part.to_be_bytes()));
    out.extend_from_slice(&clock);
    out.extend_from_slice(&micro.to_be_bytes());
}

/// Bytes of any length, with an end that is below everything that could follow.
fn plain(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// Weights under a collation that pads: as if spaces followed without end. Before each weight
/// stands whether what follows is above (2) or below (0) that; where it is nothing else, 1.
fn padded(weights: &[u8], space: &[u8], out: &mut Vec<u8>) {
    let units: Vec<&[u8]> = weights.chunks(space.len()).collect();
    let mut sides = vec![1; units.len() + 1];
    for at in (0..units.len()).rev() {
        sides[at] = match units[at].cmp(space) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => sides[at + 1],
            std::cmp::Ordering::Greater => 2,
        };
    }
    for (side, unit) in sides.iter().zip(&units).take_while(|(side, _)| **side != 1) {
        out.push(*side);
        out.extend_from_slice(unit);
    }
    out.push(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &Value<'_>, pads: Option<&'static [u8]>, descending: bool) -> Vec<u8> {
        let mut out = Vec::new();
        put(value, pads, descending, &mut out);
        out
    }

    /// Each is above the one before, and below it the other way around.
    fn ascend(values: &[Value<'_>], pads: Option<&'static [u8]>) {
        for (at, low) in values.iter().enumerate() {
            for high in &values[at + 1..] {
                assert!(key(low, pads, false) < key(high, pads, false), "{low:?} {high:?}");
                assert!(key(low, pads, true) > key(high, pads, true), "{low:?} {high:?}");
            }
        }
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        ascend(&[Value::Null, Value::Int(i64::MIN), Value::Int(-1), Value::Int(0), Value::UInt(u64::MAX)], None);
        let doubles = [f64::NEG_INFINITY, -1.5, -1e-300, 0.0, 1e-300, 2.0, 1e300].map(Value::Double);
        ascend(&doubles, None);
        assert_eq!(key(&Value::Double(0.0), None, false), key(&Value::Double(-0.0), None, false));
        let decimals = ["-100.5", "-99.99", "-0.10", "-0.01", "0.00", "0.01", "0.1", "9.99", "10", "100.50"];
        ascend(&decimals.map(Value::Decimal), None);
        assert_eq!(key(&Value::Decimal("-0.0"), None, false), key(&Value::Decimal("0"), None, false));
        assert_eq!(key(&Value::Decimal("007.50"), None, false), key(&Value::Decimal("7.5"), None, false));
    }

    #[test]
    fn bytes_are_ordered_as_bytes_are_whatever_follows() {
        let bytes: [&[u8]; 6] = [b"", b"\0", b"\0\0", b"\0\x01", b"a", b"a\0"];
        ascend(&bytes.map(Value::Binary), None);
    }

    #[test]
    fn where_a_collation_pads_trailing_spaces_weigh_nothing_and_less_is_below_them() {
        let bytes: [&[u8]; 6] = [b"\t", b"", b"a\t", b"a", b"a a", b"ab"];
        ascend(&bytes.map(Value::Binary), Some(b" "));
        for (a, b) in [(&b"a"[..], &b"a  "[..]), (b"", b"  "), (b"a b", b"a b ")] {
            assert_eq!(key(&Value::Binary(a), Some(b" "), false), key(&Value::Binary(b), Some(b" "), false));
        }
        assert_eq!(
            key(&Value::Binary(b"\0a\0 "), Some(b"\0 "), false),
            key(&Value::Binary(b"\0a"), Some(b"\0 "), false)
        );
    }
}
