//! How many bytes of rows a statement may hold, and all statements of a process together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Blame, Error, Result, code};

/// What all statements hold.
#[derive(Debug)]
pub struct Holdings {
    held: AtomicUsize,
    limit: usize,
}

/// What one statement holds; given back when it is dropped.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    /// As told to `all`: rounded up, so that it is told seldom.
    held: usize,
    all: Arc<Holdings>,
}

/// Told to all in steps of so many bytes.
const STEP: usize = 64 * 1024;

impl Holdings {
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Holdings { held: AtomicUsize::new(0), limit })
    }

    /// The bytes held now.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

impl Budget {
    pub fn new(limit: usize, all: &Arc<Holdings>) -> Self {
        Budget { limit, held: 0, all: all.clone() }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    /// From now on the statement holds so many bytes.
    pub fn hold(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.limit {
            return Err(Error::refused(format!(
                "Bifold: merging the rows of several places would hold more than {} MiB: add a LIMIT, or a condition that \
                 lets fewer rows through.",
                self.limit >> 20
            )));
        }
        let told = bytes.next_multiple_of(STEP);
        if told > self.held {
            let more = told - self.held;
            if self.all.held.fetch_add(more, Ordering::Relaxed) + more > self.all.limit {
                self.all.held.fetch_sub(more, Ordering::Relaxed);
                let text = "Bifold: statements over many places hold all the memory that they may. Try again.";
                return Err(Error::new(Blame::Proxy, code::CON_COUNT, text).retryable());
            }
        } else {
            self.all.held.fetch_sub(self.held - told, Ordering::Relaxed);
        }
        self.held = told;
        Ok(())
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.all.held.fetch_sub(self.held, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_counts_for_all_until_it_is_dropped() {
        let all = Holdings::new(4 * STEP);
        let mut one = Budget::new(3 * STEP, &all);
        let mut other = Budget::new(3 * STEP, &all);
        one.hold(2 * STEP).expect("there is room");
        other.hold(STEP + 1).expect("there is room");
        assert_eq!(all.held(), 4 * STEP);
        assert_eq!(one.hold(2 * STEP + 1).expect_err("all is held").code(), code::CON_COUNT.0);
        assert_eq!(one.hold(3 * STEP + 1).expect_err("too much for one").code(), 1235);
        one.hold(1).expect("less");
        other.hold(3 * STEP).expect("there is room again");
        drop((one, other));
        assert_eq!(all.held(), 0);
    }
}
