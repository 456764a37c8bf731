//! The clock that ids are stamped by, passed in so that tests can turn it.

use std::time::{SystemTime, UNIX_EPOCH};

pub trait Clock: Send + Sync {
    /// Milliseconds of Unix time. May step back; generators deal with it.
    fn unix_ms(&self) -> u64;
}

/// The machine's clock. Not a coarse one: those tick every 4 ms, and a sequence holds for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
