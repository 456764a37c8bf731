//! The key that a statement of one place changes or locks rows of, as hot keys are told apart.

use std::sync::Arc;

use super::Work;
use super::value::{Said, sharded};
use crate::admission::HotKey;
use crate::plan::{KeyColumn, Located, ValueSource};
use crate::topology::KeyHash;
use crate::topology::key::Purpose;

impl Work<'_> {
    /// `None`: not one value of the sharding key is named.
    pub fn hot(&self, located: &Located) -> Option<HotKey> {
        let table = sharded(located);
        let mut scratch = Vec::new();
        let hash = located.keys.iter().find_map(|key| {
            let [ValueSource::One { from, to }] = key.values.as_slice() else { return None };
            if key.column != KeyColumn::Key {
                return None;
            }
            match self.key(&located.key_type, table, self.span(*from, *to), Purpose::Compare, &mut scratch) {
                Ok(Said::Hash(hash)) => Some(hash),
                Ok(Said::Null | Said::Unclear) | Err(_) => None,
            }
        })?;
        let hash = match hash {
            KeyHash::Crc32(crc) => u64::from(crc),
            // Integers of 64 bits, signed or not: both ends are wanted.
            KeyHash::Identity(key) => u64::try_from(key.rem_euclid(1 << 64)).unwrap_or(0),
        };
        // A table's rule is one and the same as long as the layout is in force.
        let table_id = Arc::as_ptr(&located.rule).addr() as u64;
        Some(HotKey { id: hash.wrapping_add(table_id.rotate_left(32)), limit: table.hot_limit })
    }
}
