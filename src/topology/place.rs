//! Where a row lives: the numbers of shard and subtable, and the hash that gives them.
//!
//! `topology::key` brings a key to its canonical form and hashes it; here the hash becomes a place. The
//! subtable never depends on the number of shards, so a doubling moves a row from shard i only to shard i
//! or i + N, under the same subtable number.

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
    /// CRC-32 of the canonical form: the shard from its low bits, the subtable from its high ones.
    Crc32,
    /// The integer itself; integer keys only.
    Identity,
}

/// The hash of one key value, under the rule that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyHash {
    Crc32(u32),
    /// Any signed or unsigned 64-bit integer.
    Identity(i128),
}

impl KeyHash {
    /// The place among `shards` shards (N) of `subtables` subtables each (T). Neither may be 0.
    pub fn place(self, shards: u16, subtables: u16) -> Place {
        Place { shard: self.shard(shards), subtable: self.subtable(subtables) }
    }

    pub fn shard(self, shards: u16) -> ShardNo {
        ShardNo(match self {
            KeyHash::Crc32(h) => rest(i128::from(h), shards),
            KeyHash::Identity(k) => rest(k, shards),
        })
    }

    pub fn subtable(self, subtables: u16) -> SubtableNo {
        SubtableNo(match self {
            KeyHash::Crc32(h) => rest(i128::from(h >> 16), subtables),
            KeyHash::Identity(k) => rest(k, subtables),
        })
    }

    /// h mod M: what an id that carries its place holds, and what gives the shard for every N that divides M.
    pub fn residue(self, modulus: u32) -> u32 {
        match self {
            KeyHash::Crc32(h) => rest(i128::from(h), modulus),
            KeyHash::Identity(k) => rest(k, modulus),
        }
    }
}

/// The mathematical mod: never negative, unlike SQL's `%`.
fn rest<M: Copy + Into<i128> + TryFrom<i128>>(k: i128, modulus: M) -> M {
    match M::try_from(k.rem_euclid(modulus.into())) {
        Ok(rest) => rest,
        Err(_) => unreachable!("a rest is below its modulus"),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.shard.0, self.subtable.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_takes_the_shard_from_low_bits_and_the_subtable_from_high_ones() {
        let h = KeyHash::Crc32(0x0403_0007);
        assert_eq!(h.place(4, 1024), Place { shard: ShardNo(3), subtable: SubtableNo(3) });
        let last = KeyHash::Crc32(u32::MAX).place(1024, 4096);
        assert_eq!(last, Place { shard: ShardNo(1023), subtable: SubtableNo(4095) });
    }

    #[test]
    fn identity_is_never_negative() {
        let place = Place { shard: ShardNo(3), subtable: SubtableNo(5) };
        assert_eq!(KeyHash::Identity(-5).place(4, 10), place);
        assert_eq!(KeyHash::Identity(i128::from(u64::MAX)).place(4, 10), place);
    }

    #[test]
    fn a_doubling_moves_a_row_to_i_or_i_plus_n_only() {
        for k in -1000i128..1000 {
            for h in [KeyHash::Identity(k), KeyHash::Crc32(crc32fast::hash(k.to_string().as_bytes()))] {
                let (before, after) = (h.place(3, 100), h.place(6, 100));
                assert_eq!(before.subtable, after.subtable);
                assert_eq!(after.shard.0 % 3, before.shard.0);
            }
        }
    }

    #[test]
    fn the_residue_gives_the_shard_for_every_number_that_divides_the_modulus() {
        for k in 0u32..5000 {
            let h = KeyHash::Crc32(crc32fast::hash(&k.to_le_bytes()));
            for n in [3u16, 6, 12, 24, 48] {
                assert_eq!(h.residue(48) % u32::from(n), u32::from(h.shard(n).0));
            }
        }
    }
}
