//! The hash of a key column as SQL: what a DBA checks a row by, and what dirty rows are found by.

use super::KeyType;
use crate::topology::collation::Order;
use crate::topology::place::Hash;

impl KeyType {
    /// h of `crc32`: an unsigned number of 32 bits. `column` is a column or an expression of its type and collation.
    pub fn sql_hash(&self, column: &str) -> String {
        match self {
            // ZEROFILL would hash the zeros too.
            KeyType::Integer(integer) if integer.zerofill => format!("CRC32({column}+0)"),
            KeyType::Integer(_) | KeyType::Date | KeyType::Bytes { .. } => format!("CRC32({column})"),
            KeyType::Characters(characters) => match characters.collation.order() {
                Order::Binary { pads } => format!("CRC32({})", text(column, pads || characters.fixed)),
                Order::Weights { space, .. } => format!("CRC32({})", weights(column, space, characters.fixed)),
            },
        }
    }

    /// The number of the shard among `shards`.
    pub fn sql_shard(&self, column: &str, shards: u16, hash: Hash) -> String {
        match hash {
            Hash::Crc32 => format!("{} % {shards}", self.sql_hash(column)),
            Hash::Identity => rest(column, shards),
        }
    }

    /// The number of the subtable among `subtables`, which does not depend on the number of shards.
    pub fn sql_subtable(&self, column: &str, subtables: u16, hash: Hash) -> String {
        match hash {
            Hash::Crc32 => format!("({} >> 16) % {subtables}", self.sql_hash(column)),
            Hash::Identity => rest(column, subtables),
        }
    }
}

/// SQL's `%` is negative for negative numbers.
fn rest(column: &str, modulus: u16) -> String {
    format!("(({column} % {modulus}) + {modulus}) % {modulus}")
}

/// CHAR gives no spaces at its end, but does under PAD_CHAR_TO_FULL_LENGTH.
fn text(column: &str, cut: bool) -> String {
    match cut {
        true => format!("TRIM(TRAILING ' ' FROM CONVERT({column} USING utf8mb4))"),
        false => format!("CONVERT({column} USING utf8mb4)"),
    }
}

fn weights(column: &str, space: Option<&[u8]>, fixed: bool) -> String {
    match space {
        Some(space) => {
            let space: String = space.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("TRIM(TRAILING X'{space}' FROM WEIGHT_STRING({column}))")
        }
        None if fixed => format!("WEIGHT_STRING(TRIM(TRAILING ' ' FROM {column}))"),
        None => format!("WEIGHT_STRING({column})"),
    }
}
