//! How a table's ids are made: the column, the fields of the 63 bits with their widths, the
//! epoch, and for ids that carry the place the modulus M. Only the numbers; making ids of them
//! is the snowflake module's.

/// `id = …` of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdRule {
    pub column: String,
    pub layout: IdLayout,
    pub generated_batch: GeneratedBatch,
}

/// May one INSERT generate several ids that are not consecutive (`carries_key` only)?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratedBatch {
    Allow,
    Refuse,
}

/// The fields of an id from the highest bit down: time, worker, tag, place, sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdLayout {
    pub bits: IdBits,
    /// Milliseconds of Unix time at which the time field is 0.
    pub epoch_ms: u64,
    /// The fixed value of the tag field; below 2^tag.
    pub tag: u32,
    /// M of `carries_key`: N·2^k, with M·T ≤ 2^place. `None`: plain ids.
    pub carries: Option<u32>,
}

/// Widths in bits; they add up to 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdBits {
    pub time: u8,
    pub worker: u8,
    pub tag: u8,
    pub place: u8,
    pub sequence: u8,
}

/// 2024-01-01T00:00:00Z
pub const DEFAULT_EPOCH_MS: u64 = 1_704_067_200_000;

impl IdBits {
    pub const PLAIN: IdBits = IdBits { time: 41, worker: 10, tag: 0, place: 0, sequence: 12 };
    pub const CARRIES_KEY: IdBits = IdBits { time: 41, worker: 4, tag: 0, place: 16, sequence: 2 };

    pub fn sum(self) -> u32 {
        [self.time, self.worker, self.tag, self.place, self.sequence].into_iter().map(u32::from).sum()
    }
}

/// The largest N·2^k whose residues fit beside the subtable numbers in the place field; `None`
/// where not even N fits.
pub fn largest_modulus(shards: u32, subtables: u32, place_bits: u8) -> Option<u32> {
    let room = 1u64.checked_shl(place_bits.into())? / u64::from(subtables.max(1));
    let mut modulus = u64::from(shards.max(1));
    if modulus > room {
        return None;
    }
    while modulus * 2 <= room {
        modulus *= 2;
    }
    u32::try_from(modulus).ok()
}
