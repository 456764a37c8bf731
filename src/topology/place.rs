//! Where a row lives: the numbers of shard and subtable, and the hash that gives them.

use std::fmt;

/// A physical database, by its position in the schema's `shards`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardNo(pub u16);

/// A physical table of a sharded table within a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubtableNo(pub u16);

/// Shard and subtable: the physical table that holds a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub shard: ShardNo,
    pub subtable: SubtableNo,
}

/// How a key becomes a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hash {
    Crc32,
    Identity,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.shard.0, self.subtable.0)
    }
}
