//! The fields of an id: put together, taken apart, told to a human.

use std::fmt;

use crate::config::{IdLayout, utc};

/// An id's fields from the highest bit down: time, worker, tag, place, sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    layout: IdLayout,
}

/// What an id says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Milliseconds of Unix time.
    pub unix_ms: u64,
    pub worker: u32,
    pub tag: u32,
    /// Only where the table's ids carry their place.
    pub carried: Option<Carried>,
    pub sequence: u32,
}

/// The place within an id: it holds for every number of shards that divides M.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carried {
    pub subtable: u16,
    /// h mod M
    pub residue: u32,
}

impl Carried {
    /// The shard's number among `shards`, which divide M.
    pub fn shard(self, shards: u16) -> u16 {
        u16::try_from(self.residue % u32::from(shards)).expect("a rest is below its modulus")
    }
}

impl Format {
    pub fn new(layout: IdLayout) -> Self {
        Format { layout }
    }

    /// Above every worker number that an id can hold.
    pub fn workers(&self) -> u64 {
        1 << self.layout.bits.worker
    }

    /// The longest run of consecutive ids.
    pub fn longest_run(&self) -> u64 {
        1 << self.layout.bits.sequence
    }

    /// The last millisecond of Unix time that fits the time field.
    pub fn last_ms(&self) -> u64 {
        self.layout.epoch_ms.saturating_add(mask(self.layout.bits.time))
    }

    pub(super) fn layout(&self) -> &IdLayout {
        &self.layout
    }

    /// `None` where a field does not fit its bits: the caller has the sentence for each.
    pub fn compose(&self, parts: &Parts) -> Option<u64> {
        let bits = self.layout.bits;
        let place = match (self.layout.carries, parts.carried) {
            (Some(modulus), Some(carried)) if carried.residue < modulus => {
                u64::from(carried.subtable) * u64::from(modulus) + u64::from(carried.residue)
            }
            (None, None) => 0,
            (Some(_), Some(_) | None) | (None, Some(_)) => return None,
        };
        let since = parts.unix_ms.checked_sub(self.layout.epoch_ms)?;
        let fields = [
            (since, bits.time),
            (parts.worker.into(), bits.worker),
            (parts.tag.into(), bits.tag),
            (place, bits.place),
            (parts.sequence.into(), bits.sequence),
        ];
        fields.iter().try_fold(0u64, |id, &(field, width)| {
            (field <= mask(width)).then(|| id.checked_shl(width.into()).unwrap_or(0) | field)
        })
    }

    /// The fields of an id; any 64 bits can be read so, which does not say that they were issued. `None`: negative.
    pub fn split(&self, id: i64) -> Option<Parts> {
        let bits = self.layout.bits;
        let mut rest = u64::try_from(id).ok()?;
        let mut low = |width: u8| {
            let field = rest & mask(width);
            rest = rest.checked_shr(width.into()).unwrap_or(0);
            field
        };
        let sequence = low(bits.sequence);
        let place = low(bits.place);
        let (tag, worker, since) = (low(bits.tag), low(bits.worker), low(bits.time));
        Some(Parts {
            unix_ms: self.layout.epoch_ms.saturating_add(since),
            worker: u32::try_from(worker).ok()?,
            tag: u32::try_from(tag).ok()?,
            carried: match self.layout.carries {
                Some(modulus) => Some(Carried {
                    subtable: u16::try_from(place / u64::from(modulus)).ok()?,
                    residue: u32::try_from(place % u64::from(modulus)).expect("a rest is below its modulus"),
                }),
                None => None,
            },
            sequence: u32::try_from(sequence).ok()?,
        })
    }

    /// The place that an id carries; `None` where this table's ids carry none or the id is not one of them.
    pub fn carried(&self, id: i64) -> Option<Carried> {
        self.split(id)?.carried
    }

    /// Does an id that the application gives name another place than its row's key? Such a row could not be found
    /// by its id again.
    pub fn disagrees(&self, id: i64, key: Carried) -> bool {
        self.layout.carries.is_some() && self.carried(id) != Some(key)
    }

    /// A line for a human: `bifold id ID`.
    pub fn explain(&self, id: i64) -> String {
        match self.split(id) {
            None => format!("{id} is negative: not an id of this layout"),
            Some(parts) => format!("{id}: {}{}", parts, self.foreign(&parts)),
        }
    }

    fn foreign(&self, parts: &Parts) -> String {
        match parts.tag == self.layout.tag {
            true => String::new(),
            false => format!(" (this table's tag is {}: the id is not one of its own)", self.layout.tag),
        }
    }
}

fn mask(width: u8) -> u64 {
    1u64.checked_shl(width.into()).map_or(u64::MAX, |bit| bit - 1)
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "made {}, worker {}, sequence {}", utc(self.unix_ms), self.worker, self.sequence)?;
        if self.tag != 0 {
            write!(f, ", tag {}", self.tag)?;
        }
        match self.carried {
            Some(carried) => write!(f, ", subtable {}, h mod M {}", carried.subtable, carried.residue),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::{DEFAULT_EPOCH_MS, IdBits};

    fn format(bits: IdBits, tag: u32, carries: Option<u32>) -> Format {
        Format::new(IdLayout { bits, epoch_ms: DEFAULT_EPOCH_MS, tag, carries })
    }

    #[test]
    fn an_id_is_explained() {
        let format = format(IdBits::CARRIES_KEY, 0, Some(64));
        let id = format
            .compose(&Parts {
                unix_ms: 1_709_164_799_042,
                worker: 3,
                tag: 0,
                carried: Some(Carried { subtable: 1023, residue: 63 }),
                sequence: 2,
            })
            .unwrap();
        let id = i64::try_from(id).unwrap();
        let says = "made 2024-02-28T23:59:59.042Z, worker 3, sequence 2, subtable 1023, h mod M 63";
        assert_eq!(format.explain(id), format!("{id}: {says}"));
        assert_eq!(format.carried(id).unwrap().shard(4), 3);
        assert!(format.disagrees(id, Carried { subtable: 1023, residue: 62 }));
        assert!(!format.disagrees(id, Carried { subtable: 1023, residue: 63 }));
        assert!(format.explain(-1).contains("negative"));
    }

    #[test]
    fn what_does_not_fit_makes_no_id() {
        let format = format(IdBits::PLAIN, 0, None);
        let fits = Parts { unix_ms: DEFAULT_EPOCH_MS, worker: 1023, tag: 0, carried: None, sequence: 4095 };
        assert_eq!(format.compose(&fits), Some((1 << 22) - 1));
        assert_eq!(format.compose(&Parts { worker: 1024, ..fits }), None);
        assert_eq!(format.compose(&Parts { sequence: 4096, ..fits }), None);
        assert_eq!(format.compose(&Parts { unix_ms: DEFAULT_EPOCH_MS - 1, ..fits }), None);
        assert_eq!(format.compose(&Parts { unix_ms: format.last_ms() + 1, ..fits }), None);
        assert_eq!(format.compose(&Parts { carried: Some(Carried { subtable: 0, residue: 0 }), ..fits }), None);
    }

    proptest! {
        #[test]
        fn an_id_gives_back_its_fields(since in 0u64..1 << 41, worker in 0u32..16, subtable in 0u16..1365,
                                       residue in 0u32..48, sequence in 0u32..2, tag in 0u32..2) {
            let bits = IdBits { time: 41, worker: 4, tag: 1, place: 16, sequence: 1 };
            let format = format(bits, tag, Some(48));
            let carried = Some(Carried { subtable, residue });
            let parts = Parts { unix_ms: DEFAULT_EPOCH_MS + since, worker, tag, carried, sequence };
            let id = i64::try_from(format.compose(&parts).unwrap()).unwrap();
            prop_assert_eq!(format.split(id), Some(parts));
        }
    }
}
