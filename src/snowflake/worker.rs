//! The right to issue ids: which worker number, and until when. Leased in a cluster; a number given at start for
//! a single proxy.

use crate::error::Result;

/// What a generator asks before each run.
pub trait WorkerLease: Send + Sync {
    /// A retryable error where the right is not held at this moment.
    fn hold(&self) -> Result<Hold>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    pub worker: u32,
    /// Nor this one or an earlier one: the number's holder before may have issued ids up to it. 0: there was none.
    pub after_ms: u64,
    /// No id may carry a later time than this, in milliseconds of Unix time.
    pub until_ms: u64,
}

/// A number that was given at start and is held for good: whoever starts the proxy keeps it to one process.
#[derive(Clone, Copy, Debug)]
pub struct FixedWorker(pub u32);

impl WorkerLease for FixedWorker {
    fn hold(&self) -> Result<Hold> {
        Ok(Hold { worker: self.0, after_ms: 0, until_ms: u64::MAX })
    }
}
