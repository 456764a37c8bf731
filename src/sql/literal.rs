//! What tokens say: names without their quotes, strings without their escapes, literals as values;
//! and the way back, names and strings quoted for a server.

use std::borrow::Cow;

use super::ast::Name;
use super::{Charset, Dialect, Flavour, Keyword, Kind, Mode, Source, Span};
use crate::value::Value;

/// The name that a token is, without quotes. The parser takes names of other character sets only
/// where they are ASCII, so nothing is lost in what it let through.
pub fn name<'a>(source: &Source<'a>, name: Name) -> Cow<'a, str> {
    match unquoted(source, name.0) {
        Cow::Borrowed(bytes) => decode_name(bytes, source.dialect.charset),
        Cow::Owned(bytes) => Cow::Owned(decode_name(&bytes, source.dialect.charset).into_owned()),
    }
}

/// Whether `name` can give the token's name without a loss.
pub(crate) fn is_readable_name(source: &Source, token: u32) -> bool {
    let bytes = source.bytes(token);
    match source.dialect.charset {
        Charset::Utf8 => std::str::from_utf8(bytes).is_ok(),
        Charset::Latin1 => bytes.iter().all(|b| !matches!(b, 0x80..=0x9f)),
        _ => bytes.is_ascii(),
    }
}

fn decode_name(bytes: &[u8], charset: Charset) -> Cow<'_, str> {
    match charset {
        Charset::Latin1 if !bytes.is_ascii() => Cow::Owned(bytes.iter().map(|&b| char::from(b)).collect()),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// The bytes of a name or string token without quotes, doubled quotes and escapes undone.
fn unquoted<'a>(source: &Source<'a>, token: u32) -> Cow<'a, [u8]> {
    let mut bytes = source.bytes(token);
    match source.kind(token) {
        Kind::UserVar => bytes = &bytes[1..],
        Kind::SysVar => bytes = &bytes[2..],
        Kind::NString => bytes = &bytes[1..],
        _ => {}
    }
    let quote = match bytes.first() {
        Some(&quote @ (b'`' | b'"' | b'\'')) if bytes.len() >= 2 => quote,
        _ => return Cow::Borrowed(bytes),
    };
    let inner = &bytes[1..bytes.len() - 1];
    let is_string = quote == b'\'' || (quote == b'"' && !source.dialect.mode.ansi_quotes);
    let escapes = is_string && !source.dialect.mode.no_backslash_escapes;
    if memchr::memchr2(quote, if escapes { b'\\' } else { quote }, inner).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = Vec::with_capacity(inner.len());
    unescape(inner, quote, escapes, source.dialect.charset, &mut out);
    Cow::Owned(out)
}

/// <https://dev.mysql.com/doc/refman/9.1/en/string-literals.html>, Table 11.1.
fn unescape(inner: &[u8], quote: u8, escapes: bool, charset: Charset, out: &mut Vec<u8>) {
    let mut at = 0;
    while at < inner.len() {
        let b = inner[at];
        let length = if b < 0x80 { 1 } else { charset.step(&inner[at..]) };
        if length > 1 {
            out.extend_from_slice(&inner[at..at + length]);
        } else if b == quote {
            out.push(b);
            at += 1; // the second of the pair
        } else if b == b'\\' && escapes && at + 1 < inner.len() {
            at += 1;
            match inner[at] {
                b'0' => out.push(0),
                b'b' => out.push(8),
                b'n' => out.push(b'\n'),
                b'r' => out.push(b'\r'),
                b't' => out.push(b'\t'),
                b'Z' => out.push(26),
                // these keep the backslash: LIKE needs it
                like @ (b'%' | b'_') => out.extend_from_slice(&[b'\\', like]),
                // one byte, be it half a character: so the servers read it
                other => out.push(other),
            }
        } else {
            out.push(b);
        }
        at += length;
    }
}

/// The bytes of a string: one token, or several side by side, joined.
pub fn string<'a>(source: &Source<'a>, span: Span) -> Cow<'a, [u8]> {
    if span.end - span.start == 1 {
        return unquoted(source, span.start);
    }
    let mut joined = Vec::new();
    for token in span.tokens() {
        joined.extend_from_slice(&unquoted(source, token));
    }
    Cow::Owned(joined)
}

/// The value that a span of tokens is, if it is nothing but a literal: any type, signed or not,
/// with an introducer or a temporal word, NULL, TRUE or FALSE. `scratch` holds what the value
/// borrows; `charset` names the client's character set, which strings without introducer are in.
pub fn value<'b>(source: &Source<'b>, span: Span, charset: &'b str, scratch: &'b mut Vec<u8>) -> Option<Value<'b>> {
    scratch.clear();
    let length = span.end.checked_sub(span.start)?;
    let first = span.start;
    match source.kind(first) {
        Kind::Plus | Kind::Minus if length == 2 => {
            number(source, first + 1, source.kind(first) == Kind::Minus, scratch)
        }
        Kind::Int | Kind::Decimal | Kind::Float if length == 1 => number(source, first, false, scratch),
        Kind::Hex | Kind::Bit if length == 1 => {
            digits(source, first, scratch)?;
            let quoted = matches!(source.bytes(first).first(), Some(b'x' | b'X'));
            Some(Value::Hex { bytes: scratch, quoted })
        }
        Kind::String if are_strings(source, first, span.end) => {
            strings(source, span, scratch);
            Some(Value::Text { bytes: scratch, charset })
        }
        Kind::NString if are_strings(source, first + 1, span.end) => {
            strings(source, span, scratch);
            Some(Value::Text { bytes: scratch, charset: "utf8mb3" })
        }
        Kind::Introducer if length >= 2 => introduced(source, span, scratch),
        Kind::Word if length == 1 => match source.keyword(first) {
            Keyword::Null => Some(Value::Null),
            Keyword::True => Some(Value::Int(1)),
            Keyword::False => Some(Value::Int(0)),
            _ => None,
        },
        Kind::Word if length == 2 && source.kind(first + 1) == Kind::String => {
            temporal(source.keyword(first), &unquoted(source, first + 1))
        }
        _ => None,
    }
}

fn are_strings(source: &Source, from: u32, end: u32) -> bool {
    (from..end).all(|t| source.kind(t) == Kind::String)
}

fn strings(source: &Source, span: Span, out: &mut Vec<u8>) {
    for token in span.tokens() {
        out.extend_from_slice(&unquoted(source, token));
    }
}

fn number<'b>(source: &Source<'b>, token: u32, negative: bool, scratch: &'b mut Vec<u8>) -> Option<Value<'b>> {
    let digits = std::str::from_utf8(source.bytes(token)).ok()?;
    match source.kind(token) {
        Kind::Int => match digits.parse::<u64>() {
            Ok(n) if !negative => Some(i64::try_from(n).map_or(Value::UInt(n), Value::Int)),
            Ok(n) if n <= i64::MIN.unsigned_abs() => Some(Value::Int(0i64.wrapping_sub_unsigned(n))),
            _ => signed_text(digits, negative, scratch).map(Value::Decimal),
        },
        Kind::Decimal => signed_text(digits, negative, scratch).map(Value::Decimal),
        Kind::Float => {
            let n: f64 = digits.parse().ok()?;
            n.is_finite().then_some(Value::Double(if negative { -n } else { n }))
        }
        _ => None,
    }
}

fn signed_text<'b>(digits: &str, negative: bool, scratch: &'b mut Vec<u8>) -> Option<&'b str> {
    if negative {
        scratch.push(b'-');
    }
    scratch.extend_from_slice(digits.as_bytes());
    std::str::from_utf8(scratch).ok()
}

/// The bytes of `0x4D`, `X'4D'`, `0b01`, `b'01'`; an odd first digit stands alone, as in MySQL.
fn digits(source: &Source, token: u32, out: &mut Vec<u8>) -> Option<()> {
    let written = source.bytes(token);
    let digits = match written.strip_prefix(b"0") {
        Some(rest) => &rest[1..],
        None => &written[2..written.len() - 1],
    };
    let (radix, per_byte) = if source.kind(token) == Kind::Hex { (16, 2) } else { (2, 8) };
    let head = digits.len() % per_byte;
    let (head, rest) = digits.split_at(head);
    for group in [head].into_iter().filter(|g| !g.is_empty()).chain(rest.chunks(per_byte)) {
        out.push(u8::from_str_radix(std::str::from_utf8(group).ok()?, radix).ok()?);
    }
    Some(())
}

fn introduced<'b>(source: &Source<'b>, span: Span, scratch: &'b mut Vec<u8>) -> Option<Value<'b>> {
    let charset = std::str::from_utf8(&source.bytes(span.start)[1..]).ok()?;
    match source.kind(span.start + 1) {
        Kind::String if are_strings(source, span.start + 1, span.end) => {
            strings(source, Span::new(span.start + 1, span.end), scratch);
        }
        Kind::Hex | Kind::Bit if span.end == span.start + 2 => digits(source, span.start + 1, scratch)?,
        _ => return None,
    }
    if charset.eq_ignore_ascii_case("binary") {
        return Some(Value::Binary(scratch));
    }
    // a name in capitals would not be the one that `Value` promises
    (!charset.bytes().any(|b| b.is_ascii_uppercase())).then_some(Value::Text { bytes: scratch, charset })
}

/// `DATE '2024-01-02'` and the like, in their full form; other spellings are no plain value.
fn temporal<'b>(word: Keyword, text: &[u8]) -> Option<Value<'b>> {
    let text = std::str::from_utf8(text).ok()?;
    match word {
        Keyword::Date => {
            let (year, month, day) = date(text)?;
            Some(Value::Date { year, month, day })
        }
        Keyword::Timestamp => {
            let (day_text, time_text) = text.split_once(' ')?;
            let (year, month, day) = date(day_text)?;
            let (hour, minute, second, micro) = time(time_text)?;
            Some(Value::DateTime { year, month, day, hour, minute, second, micro })
        }
        Keyword::Time => {
            let (hour, minute, second, micro) = time(text)?;
            Some(Value::Time { negative: false, hours: u32::from(hour), minute, second, micro })
        }
        _ => None,
    }
}

/// Exactly `width` digits.
fn field(text: &str, width: usize) -> Option<u16> {
    (text.len() == width && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn small_field(text: &str, most: u16) -> Option<u8> {
    field(text, 2).filter(|&n| n <= most).and_then(|n| u8::try_from(n).ok())
}

fn date(text: &str) -> Option<(u16, u8, u8)> {
    let mut parts = text.split('-');
    let date = (field(parts.next()?, 4)?, small_field(parts.next()?, 12)?, small_field(parts.next()?, 31)?);
    parts.next().is_none().then_some(date)
}

fn time(text: &str) -> Option<(u8, u8, u8, u32)> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = clock.split(':');
    let time = (small_field(parts.next()?, 23)?, small_field(parts.next()?, 59)?, small_field(parts.next()?, 59)?);
    if parts.next().is_some() || fraction.is_empty() || fraction.len() > 6 {
        return None;
    }
    let micro = fraction.bytes().all(|b| b.is_ascii_digit()).then(|| format!("{fraction:0<6}").parse().ok())??;
    Some((time.0, time.1, time.2, micro))
}

/// Appends a name in backticks.
pub fn quote_name(name: &str, out: &mut Vec<u8>) {
    out.push(b'`');
    for b in name.bytes() {
        if b == b'`' {
            out.push(b);
        }
        out.push(b);
    }
    out.push(b'`');
}

/// Appends bytes of the client's character set as a string in single quotes. Quotes are doubled,
/// never escaped: behind half a character of gbk a `\` would be swallowed.
pub fn quote_string(bytes: &[u8], mode: Mode, charset: Charset, out: &mut Vec<u8>) {
    out.push(b'\'');
    let mut at = 0;
    while at < bytes.len() {
        let length = if bytes[at] < 0x80 { 1 } else { charset.step(&bytes[at..]) };
        match bytes[at] {
            b'\'' => out.extend_from_slice(b"''"),
            b'\\' if !mode.no_backslash_escapes => out.extend_from_slice(b"\\\\"),
            _ => out.extend_from_slice(&bytes[at..at + length]),
        }
        at += length;
    }
    out.push(b'\'');
}

/// Appends a value as the literal that a server reads alike. `charset`: the client's.
pub fn put_value(value: &Value<'_>, dialect: &Dialect, charset: &str, out: &mut Vec<u8>) {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    // A minus beside another one would be a comment.
    let text = match value {
        Value::Null => "NULL".into(),
        Value::Int(int) if *int < 0 => format!(" {int}"),
        Value::Int(int) => int.to_string(),
        Value::UInt(int) => int.to_string(),
        Value::Decimal(digits) if digits.starts_with('-') => format!(" {digits}"),
        Value::Decimal(digits) => (*digits).into(),
        Value::Double(double) => format!(" {double:e}"),
        Value::Float(single) => format!(" {:e}", f64::from(*single)),
        Value::Text { bytes, charset: own } if *own == charset => {
            return quote_string(bytes, dialect.mode, dialect.charset, out);
        }
        Value::Text { bytes, charset } => format!("_{charset} X'{}'", hex(bytes)),
        Value::Binary(bytes) => format!("_binary X'{}'", hex(bytes)),
        Value::Hex { bytes, quoted: true } => format!("X'{}'", hex(bytes)),
        Value::Hex { bytes: [], quoted: false } => "X''".into(),
        Value::Hex { bytes, quoted: false } => format!("0x{}", hex(bytes)),
        Value::Date { year, month, day } => dated("DATE", *month, *day, &format!("{year:04}-{month:02}-{day:02}")),
        Value::DateTime { year, month, day, hour, minute, second, micro } => {
            let text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micro:06}");
            dated("TIMESTAMP", *month, *day, &text)
        }
        Value::Time { negative, hours, minute, second, micro } => {
            let sign = if *negative { "-" } else { "" };
            format!("TIME'{sign}{hours:02}:{minute:02}:{second:02}.{micro:06}'")
        }
    };
    out.extend_from_slice(text.as_bytes());
}

/// No temporal literal is a day that the calendar lacks.
fn dated(word: &str, month: u8, day: u8, text: &str) -> String {
    if month == 0 || day == 0 { format!("'{text}'") } else { format!("{word}'{text}'") }
}

/// Whether a server takes the word as a name without quotes.
pub fn is_plain_name(name: &str, flavour: Flavour) -> bool {
    let bytes = name.as_bytes();
    bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
        && bytes.first().is_some_and(|b| !b.is_ascii_digit())
        && !Keyword::find(bytes).is_reserved(flavour)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::lexer;

    fn with<T>(text: &[u8], dialect: Dialect, test: impl FnOnce(&Source) -> T) -> T {
        let mut tokens = Vec::new();
        lexer::lex(text, &dialect, &mut tokens);
        test(&Source::new(text, &tokens, dialect))
    }

    fn mysql() -> Dialect {
        Dialect::new(Flavour::MySql, 90704)
    }

    fn read(text: &str) -> String {
        with(text.as_bytes(), mysql(), |source| {
            let span = Span::new(0, source.tokens.len() as u32);
            format!("{:?}", value(source, span, "utf8mb4", &mut Vec::new()))
        })
    }

    #[test]
    fn values_become_literals_that_are_read_alike() {
        let values = [
            Value::Null,
            Value::Int(-5),
            Value::UInt(u64::MAX),
            Value::Decimal("-2.50"),
            Value::Double(-1.5e-300),
            Value::Text { bytes: b"it's\\", charset: "utf8mb4" },
            Value::Text { bytes: b"\xE4", charset: "latin1" },
            Value::Binary(b"\0\xFF"),
            Value::Date { year: 2024, month: 2, day: 29 },
            Value::DateTime { year: 2024, month: 2, day: 29, hour: 1, minute: 2, second: 3, micro: 4 },
        ];
        for expected in values {
            let mut text = Vec::new();
            put_value(&expected, &mysql(), "utf8mb4", &mut text);
            with(&text, mysql(), |source| {
                let span = Span::new(0, source.tokens.len() as u32);
                assert_eq!(value(source, span, "utf8mb4", &mut Vec::new()), Some(expected.clone()), "{text:?}");
            });
        }
    }

    #[test]
    fn literals_become_values() {
        for (text, expected) in [
            ("5", "Some(Int(5))"),
            ("- 5", "Some(Int(-5))"),
            ("-9223372036854775808", "Some(Int(-9223372036854775808))"),
            ("9223372036854775808", "Some(UInt(9223372036854775808))"),
            ("-9223372036854775809", "Some(Decimal(\"-9223372036854775809\"))"),
            ("18446744073709551616", "Some(Decimal(\"18446744073709551616\"))"),
            ("2.50", "Some(Decimal(\"2.50\"))"),
            ("-.5", "Some(Decimal(\"-.5\"))"),
            ("1e3", "Some(Double(1000.0))"),
            ("0x4D7", "Some(Hex { bytes: [4, 215], quoted: false })"),
            ("x'4D'", "Some(Hex { bytes: [77], quoted: true })"),
            ("b'101000001'", "Some(Hex { bytes: [1, 65], quoted: false })"),
            ("'a' \"b\"", "Some(Text { bytes: [97, 98], charset: \"utf8mb4\" })"),
            ("_latin1'a'", "Some(Text { bytes: [97], charset: \"latin1\" })"),
            ("_binary'a'", "Some(Binary([97]))"),
            ("N'a'", "Some(Text { bytes: [97], charset: \"utf8mb3\" })"),
            ("null", "Some(Null)"),
            ("True", "Some(Int(1))"),
            ("DATE '2024-02-03'", "Some(Date { year: 2024, month: 2, day: 3 })"),
            ("DATE '2024-2-3'", "None"),
            (
                "TIMESTAMP '2024-02-03 04:05:06.5'",
                "Some(DateTime { year: 2024, month: 2, day: 3, hour: 4, minute: 5, second: 6, micro: 500000 })",
            ),
            ("5 + 5", "None"),
            ("uid", "None"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn strings_lose_their_escapes_as_the_mode_says() {
        let text = |text: &[u8], dialect| with(text, dialect, |s| string(s, Span::new(0, 1)).into_owned());
        assert_eq!(text(br"'it''s \'\\\%\_\n\x\Z'", mysql()), b"it's '\\\\%\\_\nx\x1a");
        assert_eq!(text(br#""say ""hi"" it''s""#, mysql()), b"say \"hi\" it''s");
        let mut plain = mysql();
        plain.mode.no_backslash_escapes = true;
        assert_eq!(text(br"'a\n'", plain), b"a\\n");
        let mut gbk = mysql();
        gbk.charset = Charset::Gbk;
        assert_eq!(text(b"'\xbf\\'", gbk), b"\xbf\\");
        assert_eq!(text(b"'\\\xbf\\x'", gbk), b"\xbfx");
    }

    #[test]
    fn what_is_quoted_reads_back() {
        let mut gbk = mysql();
        gbk.charset = Charset::Gbk;
        let mut plain = mysql();
        plain.mode.no_backslash_escapes = true;
        for dialect in [mysql(), gbk, plain] {
            for bytes in [&b"it's \\ \0\n\x1a"[..], b"\xbf'; DROP", b"\xbf\\", b"\\", b""] {
                let mut quoted = Vec::new();
                quote_string(bytes, dialect.mode, dialect.charset, &mut quoted);
                with(&quoted, dialect, |s| {
                    assert_eq!(s.tokens.len(), 1, "{bytes:?}");
                    assert_eq!(string(s, Span::new(0, 1)), bytes);
                });
            }
        }
        let mut quoted = Vec::new();
        quote_name("we`ird", &mut quoted);
        with(&quoted, mysql(), |s| assert_eq!(name(s, Name(0)), "we`ird"));
    }
}
