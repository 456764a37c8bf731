//! The sharding key: a closed list of types, each with one canonical form of its stored values.
//!
//! `column` makes a `KeyType` of a column's definition; `sql` gives the hash as an SQL expression, for servers;
//! `canonical` brings a literal or a parameter to the same form here. The two must agree for every value:
//! `tests/keys.rs` compares them on real servers. Nothing is guessed: what is not provably one stored value is
//! `NotExact`.

mod bytes;
mod column;
mod date;
mod integer;
mod sql;
mod text;

use std::borrow::Cow;

pub use column::Definition;
pub use integer::Integer;
pub use text::Characters;

use super::place::{Hash, KeyHash};
use super::weight::{Question, Weights};
use crate::value::Value;

/// The type of a key column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// Integers of all sizes; canonical: decimal digits.
    Integer(Integer),
    /// Canonical: `YYYY-MM-DD`.
    Date,
    /// BINARY(n) (`fixed`: padded with zero bytes) and VARBINARY(n), n in bytes; canonical: the bytes as stored.
    Bytes { fixed: bool, length: u32 },
    /// CHAR(n) and VARCHAR(n); canonical: the text in utf8mb4, or its weights under the collation.
    Characters(Characters),
}

/// What the value is for, which decides how MySQL converts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `key = value`, or one of constants in `key IN (…)`: every stored value that may compare equal must have the
    /// canonical form. (With a column among the elements MySQL compares all of them as doubles: no place is certain.)
    Compare,
    /// INSERT, UPDATE: the canonical form of what the column will store.
    Store,
}

/// What is around the value.
#[derive(Clone, Copy)]
pub struct Reading<'w> {
    pub purpose: Purpose,
    /// The session's `character_set_connection`: literals and text parameters pass through it.
    pub connection: &'w str,
    pub weights: &'w Weights,
}

/// A key value brought to its canonical form, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Canonical<'v> {
    Exact(Key<'v>),
    /// Compares equal to nothing; refused where it would be stored.
    Null,
    /// Not provably one stored value: a comparison goes everywhere, a write is refused.
    NotExact,
    /// Ask any server, give `Weights` the answer, and try again.
    Ask(Question),
}

/// A canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key<'v> {
    Integer(i128),
    Bytes(Cow<'v, [u8]>),
    /// The CRC-32 that a server gave.
    Hashed(u32),
}

impl KeyType {
    /// The canonical form of a literal or parameter.
    pub fn canonical<'v>(&self, value: &Value<'v>, reading: &Reading<'_>) -> Canonical<'v> {
        if matches!(value, Value::Null) {
            return Canonical::Null;
        }
        match self {
            KeyType::Integer(integer) => integer.canonical(value).into(),
            KeyType::Date => date::canonical(value).into(),
            KeyType::Bytes { fixed, length } => bytes::canonical(*fixed, *length, value, reading).into(),
            KeyType::Characters(characters) => self.canonical_text(characters, value, reading),
        }
    }

    /// Do equal values of the two types always have equal canonical forms? Then tables of equal hash and T are
    /// co-located.
    pub fn meets(&self, other: &KeyType) -> bool {
        match (self, other) {
            (KeyType::Integer(_), KeyType::Integer(_)) | (KeyType::Date, KeyType::Date) => true,
            (KeyType::Bytes { .. }, KeyType::Bytes { .. }) => true,
            (KeyType::Characters(a), KeyType::Characters(b)) => a.collation() == b.collation(),
            (KeyType::Integer(_) | KeyType::Date | KeyType::Bytes { .. } | KeyType::Characters(_), _) => false,
        }
    }

    /// May a table with this key have this hash? An error is a sentence for the operator.
    pub fn allows(&self, hash: Hash) -> Result<(), String> {
        match (hash, self) {
            (Hash::Crc32, _) | (Hash::Identity, KeyType::Integer(_)) => Ok(()),
            (Hash::Identity, KeyType::Date | KeyType::Bytes { .. } | KeyType::Characters(_)) => {
                Err("hash = \"identity\" needs an integer key; leave `hash` out, or say \"crc32\"".into())
            }
        }
    }
}

impl Key<'_> {
    /// `KeyType::allows` has said that identity meets integers only.
    pub fn hash(&self, hash: Hash) -> KeyHash {
        match (self, hash) {
            (Key::Integer(k), Hash::Identity) => KeyHash::Identity(*k),
            (Key::Integer(k), Hash::Crc32) => KeyHash::Crc32(crc_of_digits(*k)),
            (Key::Bytes(bytes), Hash::Crc32 | Hash::Identity) => KeyHash::Crc32(crc32fast::hash(bytes)),
            (Key::Hashed(crc), Hash::Crc32 | Hash::Identity) => KeyHash::Crc32(*crc),
        }
    }
}

impl<'v> From<Option<Key<'v>>> for Canonical<'v> {
    fn from(key: Option<Key<'v>>) -> Self {
        key.map_or(Canonical::NotExact, Canonical::Exact)
    }
}

/// The CRC-32 of a number's decimal digits, without making a string: keys are hashed for every statement.
fn crc_of_digits(k: i128) -> u32 {
    let mut digits = [0u8; 40];
    let mut at = digits.len();
    let mut rest = k.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).expect("a decimal digit");
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if k < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    crc32fast::hash(&digits[at..])
}

#[cfg(test)]
mod tests;
