//! Values as a text result spells them.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_row.html>

use std::io::Write;

use crate::protocol::payload::{NULL, put_lenenc_bytes};
use crate::value::Value;

/// Appends a value as a cell of a text row.
pub fn put_cell(out: &mut Vec<u8>, value: &Value<'_>) {
    match *value {
        Value::Null => out.push(NULL),
        Value::Text { bytes, .. } | Value::Binary(bytes) | Value::Hex { bytes, .. } => put_lenenc_bytes(out, bytes),
        Value::Decimal(text) => put_lenenc_bytes(out, text.as_bytes()),
        Value::Int(_)
        | Value::UInt(_)
        | Value::Double(_)
        | Value::Float(_)
        | Value::Date { .. }
        | Value::DateTime { .. }
        | Value::Time { .. } => {
            // All of these have fewer than 251 characters: one byte holds the length.
            let at = out.len();
            out.push(0);
            spell(out, value);
            out[at] = u8::try_from(out.len() - at - 1).expect("short spelling");
        }
    }
}

/// Appends the bytes of a value that is not NULL.
pub fn spell(out: &mut Vec<u8>, value: &Value<'_>) {
    let written = match *value {
        Value::Null => Ok(()),
        Value::Int(int) => write!(out, "{int}"),
        Value::UInt(int) => write!(out, "{int}"),
        Value::Decimal(text) => out.write_all(text.as_bytes()),
        Value::Double(double) => out.write_all(double_text(double).as_bytes()),
        Value::Float(float) => out.write_all(float_text(float).as_bytes()),
        Value::Text { bytes, .. } | Value::Binary(bytes) | Value::Hex { bytes, .. } => out.write_all(bytes),
        Value::Date { year, month, day } => write!(out, "{year:04}-{month:02}-{day:02}"),
        Value::DateTime { year, month, day, hour, minute, second, micro } => {
            write!(out, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
                .and_then(|()| fraction(out, micro))
        }
        Value::Time { negative, hours, minute, second, micro } => {
            let sign = if negative { "-" } else { "" };
            write!(out, "{sign}{hours:02}:{minute:02}:{second:02}").and_then(|()| fraction(out, micro))
        }
    };
    written.expect("a vector takes every write");
}

fn fraction(out: &mut Vec<u8>, micro: u32) -> std::io::Result<()> {
    if micro == 0 { Ok(()) } else { write!(out, ".{micro:06}") }
}

/// The fewest digits that give the number back; an exponent where the point would stand far off.
pub fn double_text(double: f64) -> String {
    spread(&format!("{double:e}"), 15)
}

/// Six digits, as MySQL shows a FLOAT.
pub fn float_text(float: f32) -> String {
    spread(&format!("{float:.5e}"), 6)
}

/// `1.5e2` as MySQL writes it. `digits`: how far the point may be moved before the exponent stays.
fn spread(scientific: &str, digits: i32) -> String {
    let (sign, scientific) = match scientific.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", scientific),
    };
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific.to_owned() };
    let exponent: i32 = exponent.parse().expect("the exponent of a formatted number");
    let all: String = mantissa.chars().filter(|c| *c != '.').collect();
    let all = all.trim_end_matches('0');
    if all.is_empty() {
        return format!("{sign}0");
    }
    // Where the point stands, counted from the first digit.
    let point = exponent + 1;
    let len = i32::try_from(all.len()).expect("some 17 digits");
    if point < 1 - digits || point > digits {
        let (first, rest) = all.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{dot}{rest}e{exponent}");
    }
    if point <= 0 {
        return format!("{sign}0.{}{all}", "0".repeat(point.unsigned_abs() as usize));
    }
    if point >= len {
        return format!("{sign}{all}{}", "0".repeat((point - len) as usize));
    }
    let (whole, fraction) = all.split_at(point as usize);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_spelled_as_the_servers_spell_them() {
        for (double, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1.5, "1.5"),
            (-123.456, "-123.456"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1.5e20, "1.5e20"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (f64::MAX, "1.7976931348623157e308"),
            (123456789012345680.0, "1.2345678901234568e17"),
        ] {
            assert_eq!(double_text(double), text);
        }
        assert_eq!(float_text(1.1), "1.1");
        assert_eq!(float_text(16_777_216.0), "1.67772e7");
    }

    #[test]
    fn cells_carry_their_length() {
        let mut out = Vec::new();
        put_cell(&mut out, &Value::Int(-5));
        put_cell(&mut out, &Value::Null);
        put_cell(&mut out, &Value::Time { negative: true, hours: 100, minute: 2, second: 3, micro: 40 });
        put_cell(&mut out, &Value::Text { bytes: b"ab", charset: "utf8mb4" });
        assert_eq!(out, b"\x02-5\xFB\x11-100:02:03.000040\x02ab");
    }
}
