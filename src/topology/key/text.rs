//! CHAR(n) and VARCHAR(n) keys: every spelling that the column's collation treats as equal has one canonical form.
//!
//! An explicit COLLATE, or a comparison with a column of another collation, is the caller's to see: here the
//! comparison is under the column's own.

use std::borrow::Cow;

use super::{Canonical, Key, KeyType, Purpose, Reading};
use crate::topology::charset::{self, Charset};
use crate::topology::collation::{Collation, Order};
use crate::topology::weight::{Question, Weighed};
use crate::value::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Characters {
    /// CHAR: spaces at the end are not stored.
    pub(super) fixed: bool,
    /// In characters.
    pub(super) length: u32,
    pub(super) charset: Charset,
    pub(super) collation: Collation,
}

/// Longer strings are not asked about: a question must stay small, and no index holds them.
const ASKED_BYTES: usize = 4096;

impl Characters {
    pub fn collation(&self) -> &Collation {
        &self.collation
    }

    /// A CHAR that does not pad has no spaces at its end, unless PAD_CHAR_TO_FULL_LENGTH gives it some; and what
    /// weighs as a space (U+00A0) it may have. So a space at the literal's end says nothing certain.
    fn compares(&self, text: &[u8]) -> bool {
        let pads = match self.collation.order() {
            Order::Binary { pads } => pads,
            Order::Weights { space, .. } => space.is_some(),
        };
        pads || !self.fixed || !text.ends_with(b" ")
    }

    /// Stored without an error or a Note on any server: spaces that are too many are cut with one or the other.
    fn fits(&self, text: &str) -> bool {
        text.len() <= self.length as usize || text.chars().count() <= self.length as usize
    }
}

/// A value as text, or why not.
enum Read<'v> {
    Text(Cow<'v, str>),
    /// Only a server can convert it.
    Foreign {
        bytes: &'v [u8],
        charset: &'v str,
    },
    NotExact,
}

impl KeyType {
    pub(super) fn canonical_text<'v>(
        &self,
        characters: &Characters,
        value: &Value<'v>,
        reading: &Reading<'_>,
    ) -> Canonical<'v> {
        let comparing = reading.purpose == Purpose::Compare;
        match read(characters, value, reading) {
            Read::Text(text) if comparing && characters.compares(text.as_bytes()) => {
                self.of_text(characters, text, reading)
            }
            Read::Text(text) if !comparing && characters.fits(&text) => self.of_text(characters, text, reading),
            Read::Text(_) | Read::NotExact => Canonical::NotExact,
            Read::Foreign { bytes, .. } if comparing && !characters.compares(bytes) => Canonical::NotExact,
            Read::Foreign { bytes, charset } if bytes.len() <= ASKED_BYTES => {
                asked(reading, foreign_question(self, characters, bytes, charset, reading.purpose))
            }
            Read::Foreign { .. } => Canonical::NotExact,
        }
    }

    fn of_text<'v>(&self, characters: &Characters, text: Cow<'v, str>, reading: &Reading<'_>) -> Canonical<'v> {
        match characters.collation.order() {
            Order::Binary { pads } => Canonical::Exact(Key::Bytes(spaces_cut(text, pads || characters.fixed))),
            Order::Weights { space, learned } => {
                let stored = if characters.fixed { text.trim_end_matches(' ') } else { &text };
                let name = characters.collation.name();
                match learned.map_or(Weighed::Unknown, |learned| reading.weights.weigh(learned, name, stored)) {
                    Weighed::Known(weights) => {
                        Canonical::Exact(Key::Bytes(Cow::Owned(space_weights_cut(weights, space))))
                    }
                    Weighed::Unlearned(question) => Canonical::Ask(question),
                    Weighed::Unknown if text.len() <= ASKED_BYTES => asked(reading, question(self, characters, &text)),
                    Weighed::Unknown => Canonical::NotExact,
                }
            }
        }
    }
}

fn read<'v>(characters: &Characters, value: &Value<'v>, reading: &Reading<'_>) -> Read<'v> {
    let storing = reading.purpose == Purpose::Store;
    match *value {
        Value::Text { bytes, charset } if charset.eq_ignore_ascii_case("binary") => own(characters, bytes),
        Value::Text { bytes, charset } => converted(characters, bytes, charset, reading.connection),
        // A byte string is taken as text of the column's character set, as it is.
        Value::Binary(bytes) | Value::Hex { bytes, .. } => own(characters, bytes),
        Value::Int(k) if storing => Read::Text(Cow::Owned(k.to_string())),
        Value::UInt(k) if storing => Read::Text(Cow::Owned(k.to_string())),
        // A number beside a string is compared as a double: '5', ' 5' and '5.0abc' are all equal to 5.
        Value::Int(_) | Value::UInt(_) => Read::NotExact,
        Value::Null | Value::Decimal(_) | Value::Double(_) | Value::Float(_) => Read::NotExact,
        Value::Date { .. } | Value::DateTime { .. } | Value::Time { .. } => Read::NotExact,
    }
}

fn own<'v>(characters: &Characters, bytes: &'v [u8]) -> Read<'v> {
    characters.charset.decode(bytes).map_or(Read::NotExact, Read::Text)
}

/// From the client's character set through the connection's into the column's.
fn converted<'v>(characters: &Characters, bytes: &'v [u8], charset: &'v str, connection: &str) -> Read<'v> {
    let text = match Charset::named(charset) {
        Some(known) => known.decode(bytes),
        None => charset::plainly_ascii(bytes, charset).map(Cow::Borrowed),
    };
    let holds = |text: &str| match Charset::named(connection) {
        Some(known) => known.holds(text),
        None => charset.eq_ignore_ascii_case(connection) || text.is_ascii(),
    };
    match text {
        Some(text) if holds(&text) && characters.charset.holds(&text) => Read::Text(text),
        Some(_) => Read::NotExact,
        None if Charset::named(charset).is_none()
            && charset.eq_ignore_ascii_case(connection)
            && named_plainly(charset) =>
        {
            Read::Foreign { bytes, charset }
        }
        None => Read::NotExact,
    }
}

/// Fit to stand in SQL as it is.
fn named_plainly(charset: &str) -> bool {
    !charset.is_empty() && charset.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn spaces_cut(text: Cow<'_, str>, cut: bool) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) if cut => Cow::Borrowed(text.trim_end_matches(' ').as_bytes()),
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(mut text) => {
            let end = if cut { text.trim_end_matches(' ').len() } else { text.len() };
            text.truncate(end);
            Cow::Owned(text.into_bytes())
        }
    }
}

fn space_weights_cut(mut weights: Vec<u8>, space: Option<&[u8]>) -> Vec<u8> {
    if let Some(space) = space {
        while weights.ends_with(space) {
            weights.truncate(weights.len() - space.len());
        }
    }
    weights
}

fn asked<'v>(reading: &Reading<'_>, (expression, key): (String, Vec<u8>)) -> Canonical<'v> {
    match reading.weights.answered(&key) {
        Some(Some(crc)) => Canonical::Exact(Key::Hashed(crc)),
        Some(None) => Canonical::NotExact,
        None => Canonical::Ask(Question::about_value(&expression, key)),
    }
}

/// The hash of a text that the column's character set can say, and the key of the answer.
fn question(key_type: &KeyType, characters: &Characters, text: &str) -> (String, Vec<u8>) {
    let collation = characters.collation.name();
    let literal = format!("({} COLLATE {collation})", characters.charset.literal(text));
    (key_type.sql_hash(&literal), question_key(characters, "", text.as_bytes()))
}

/// The hash of a string in a character set that only servers read: NULL where a conversion loses something.
fn foreign_question(
    key_type: &KeyType,
    characters: &Characters,
    bytes: &[u8],
    charset: &str,
    purpose: Purpose,
) -> (String, Vec<u8>) {
    let given = charset::introduced(charset, bytes);
    let converted = format!("CONVERT({given} USING {})", characters.charset.name());
    let hash = key_type.sql_hash(&format!("({converted} COLLATE {})", characters.collation.name()));
    let same = format!("CAST(CONVERT({converted} USING {charset}) AS BINARY) = CAST({given} AS BINARY)");
    let fits = match purpose {
        Purpose::Compare => String::new(),
        Purpose::Store => format!(" AND CHAR_LENGTH({converted}) <= {}", characters.length),
    };
    let key = match purpose {
        Purpose::Compare => question_key(characters, charset, bytes),
        Purpose::Store => question_key(characters, &format!("{charset}<={}", characters.length), bytes),
    };
    (format!("IF({same}{fits}, {hash}, NULL)"), key)
}

/// All that the answer depends on. A zero byte is in no name.
fn question_key(characters: &Characters, charset: &str, bytes: &[u8]) -> Vec<u8> {
    let kind = if characters.fixed { "char" } else { "varchar" };
    [kind.as_bytes(), characters.collation.name().as_bytes(), charset.as_bytes(), bytes].join(&0)
}
