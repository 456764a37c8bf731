//! Sequences of one millisecond after the other, out of one atomic word.
//!
//! Each millisecond starts at a number that looks random, goes up to the field's end and on from 0 to where it
//! started: low rates stay even under any modulus, and no number of a millisecond is lost to the start. A run
//! never crosses the field's end.

use std::sync::atomic::{AtomicU64, Ordering};

/// The word holds: millisecond since the epoch | "this millisecond starts at 0" | numbers used, in that order
/// from the highest bit; so it only grows, and a comparison and swap hands each number out once.
#[derive(Debug)]
pub(super) struct Counter(AtomicU64);

/// Fixed for all counters of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub sequence_bits: u8,
    /// Differs from table to table and from start to start.
    pub seed: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The run's first sequence and its length.
    Run { first: u32, count: u32 },
    /// Nothing that long is left in this millisecond.
    Spent,
    /// The clock is this many milliseconds behind the last run's.
    Behind(u64),
}

/// How much of what is wanted a run must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// All of it (at most the whole field), so that it is consecutive.
    Whole,
    /// What there is.
    Some,
}

#[derive(Clone, Copy)]
struct State {
    ms: u64,
    from_zero: bool,
    used: u64,
}

impl Counter {
    /// A counter that hands nothing out for millisecond `after` or an earlier one.
    pub fn new(after: u64, shape: Shape) -> Self {
        Counter(AtomicU64::new(State { ms: after, from_zero: true, used: shape.capacity() }.pack(shape)))
    }

    /// A run in millisecond `now`.
    pub fn take(&self, now: u64, want: u32, fit: Fit, shape: Shape) -> Step {
        let want = u64::from(want).clamp(1, shape.capacity());
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            let state = State::unpack(word, shape);
            if now < state.ms {
                return Step::Behind(state.ms - now);
            }
            let Some((first, count, next)) = state.advanced(now, want, fit, shape) else {
                return Step::Spent;
            };
            match self.0.compare_exchange_weak(word, next.pack(shape), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    let narrow = |n| u32::try_from(n).expect("a sequence has at most 32 bits");
                    return Step::Run { first: narrow(first), count: narrow(count) };
                }
                Err(newer) => word = newer,
            }
        }
    }
}

impl State {
    /// The state once a run is taken, with the run's first number and length.
    fn advanced(self, now: u64, want: u64, fit: Fit, shape: Shape) -> Option<(u64, u64, State)> {
        let capacity = shape.capacity();
        let mut state = if now > self.ms {
            let fits = shape.start(now) + want <= capacity;
            State { ms: now, from_zero: fit == Fit::Whole && !fits, used: 0 }
        } else {
            self
        };
        let start = if state.from_zero { 0 } else { shape.start(now) };
        let to_end = capacity - start;
        let left = if state.used < to_end { to_end - state.used } else { capacity - state.used };
        let count = match fit {
            Fit::Some => want.min(left),
            Fit::Whole if want <= left => want,
            Fit::Whole if state.used < to_end && want <= start => {
                state.used = to_end;
                want
            }
            Fit::Whole => return None,
        };
        if count == 0 {
            return None;
        }
        let first = (start + state.used) % capacity;
        state.used += count;
        Some((first, count, state))
    }

    fn pack(self, shape: Shape) -> u64 {
        let used_bits = u32::from(shape.sequence_bits) + 1;
        (self.ms << (used_bits + 1)) | (u64::from(self.from_zero) << used_bits) | self.used
    }

    fn unpack(word: u64, shape: Shape) -> Self {
        let used_bits = u32::from(shape.sequence_bits) + 1;
        State {
            ms: word >> (used_bits + 1),
            from_zero: (word >> used_bits) & 1 == 1,
            used: word & ((1 << used_bits) - 1),
        }
    }
}

impl Shape {
    pub fn capacity(self) -> u64 {
        1 << self.sequence_bits
    }

    /// Where a millisecond starts: a function of it, so that it need not be kept. (splitmix64's finish.)
    fn start(self, ms: u64) -> u64 {
        let mut z = ms.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) & (self.capacity() - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_millisecond_gives_every_number_once_and_then_is_spent() {
        for bits in [1u8, 2, 5, 12] {
            for seed in 0..50 {
                let shape = Shape { sequence_bits: bits, seed };
                let counter = Counter::new(0, shape);
                let mut seen = HashSet::new();
                while let Step::Run { first, count: 1 } = counter.take(7, 1, Fit::Whole, shape) {
                    assert!(seen.insert(first));
                }
                assert_eq!(seen.len() as u64, shape.capacity());
            }
        }
    }

    #[test]
    fn a_run_of_the_whole_field_fits_every_fresh_millisecond() {
        let shape = Shape { sequence_bits: 12, seed: 3 };
        let counter = Counter::new(0, shape);
        for ms in 1..500 {
            assert_eq!(counter.take(ms, 9999, Fit::Whole, shape), Step::Run { first: 0, count: 4096 });
            assert_eq!(counter.take(ms, 1, Fit::Whole, shape), Step::Spent);
        }
    }

    #[test]
    fn low_rates_are_even_under_a_modulus() {
        let shape = Shape { sequence_bits: 12, seed: 11 };
        let counter = Counter::new(0, shape);
        let mut hits = [0u32; 256];
        for ms in (1..=256_000).step_by(5) {
            let Step::Run { first, .. } = counter.take(ms, 1, Fit::Whole, shape) else { panic!("spent") };
            hits[(first % 256) as usize] += 1;
        }
        assert!(hits.iter().all(|&n| (120..=290).contains(&n)), "{hits:?}");
    }

    #[test]
    fn an_earlier_millisecond_is_refused_by_how_much() {
        let shape = Shape { sequence_bits: 3, seed: 0 };
        let counter = Counter::new(100, shape);
        assert_eq!(counter.take(100, 1, Fit::Whole, shape), Step::Spent);
        assert_eq!(counter.take(97, 1, Fit::Whole, shape), Step::Behind(3));
    }

    proptest! {
        #[test]
        fn runs_never_overlap_nor_cross_the_field(
            seed: u64,
            bits in 1u8..13,
            wants in proptest::collection::vec((0u64..3, 1u32..6000, any::<bool>()), 1..60),
        ) {
            let shape = Shape { sequence_bits: bits, seed };
            let counter = Counter::new(0, shape);
            let (mut now, mut seen) = (1, HashSet::new());
            for (step, want, whole) in wants {
                now += step;
                let fit = if whole { Fit::Whole } else { Fit::Some };
                if let Step::Run { first, count } = counter.take(now, want, fit, shape) {
                    prop_assert!(u64::from(first) + u64::from(count) <= shape.capacity());
                    prop_assert!(!whole || u64::from(count) == u64::from(want).min(shape.capacity()));
                    for n in first..first + count {
                        prop_assert!(seen.insert((now, n)));
                    }
                }
            }
        }
    }
}
