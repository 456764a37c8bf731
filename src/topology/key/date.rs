//! DATE keys. Only forms that name one day without doubt: four digits of year, a real day of the calendar.

use std::borrow::Cow;

use super::Key;
use crate::value::Value;

pub(super) fn canonical<'v>(value: &Value<'_>) -> Option<Key<'v>> {
    let (year, month, day) = match *value {
        Value::Date { year, month, day } => (year.into(), month.into(), day.into()),
        Value::DateTime { year, month, day, hour: 0, minute: 0, second: 0, micro: 0 } => {
            (year.into(), month.into(), day.into())
        }
        Value::Text { bytes, .. } => written(bytes)?,
        Value::Int(n) => packed(u64::try_from(n).ok()?)?,
        Value::UInt(n) => packed(n)?,
        Value::Null | Value::Decimal(_) | Value::Double(_) | Value::Float(_) => return None,
        Value::Binary(_) | Value::Hex { .. } | Value::DateTime { .. } | Value::Time { .. } => return None,
    };
    real(year, month, day).then(|| Key::Bytes(Cow::Owned(format!("{year:04}-{month:02}-{day:02}").into_bytes())))
}

/// `2024-01-02`, `2024-1-2`, midnight after them, `20240102`. (`20240102 00:00:00` has another meaning.)
fn written(text: &[u8]) -> Option<(u64, u64, u64)> {
    if text.len() == 8 && text.iter().all(u8::is_ascii_digit) {
        return packed(number(text)?);
    }
    let day = text.strip_suffix(b" 00:00:00").unwrap_or(text);
    let mut parts = day.split(|&byte| byte == b'-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let short = |part: &[u8]| part.len() <= 2;
    if parts.next().is_some() || year.len() != 4 || !short(month) || !short(day) {
        return None;
    }
    Some((number(year)?, number(month)?, number(day)?))
}

/// 20240102. Below eight digits MySQL guesses the century.
fn packed(n: u64) -> Option<(u64, u64, u64)> {
    (10_000_101..=99_991_231).contains(&n).then_some((n / 10_000, n / 100 % 100, n % 100))
}

fn number(digits: &[u8]) -> Option<u64> {
    let all = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    all.then(|| digits.iter().fold(0, |n, &digit| n * 10 + u64::from(digit - b'0')))
}

/// Zero parts and 30 February depend on sql_mode.
fn real(year: u64, month: u64, day: u64) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1000..=9999).contains(&year) && (1..=days).contains(&day)
}
