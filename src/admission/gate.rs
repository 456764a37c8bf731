//! The gate: while the layout changes, what writes is held before it, and what went in before is
//! waited for. A session goes in with its first statement that writes or stands in a transaction, and
//! is out when it holds no connection any more. Reads outside transactions never come here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::Notify;
use tokio::time::timeout;

#[derive(Debug)]
pub struct Gate {
    shut: AtomicBool,
    /// Those inside were given up: old connections end, so reads are better held too.
    forced: AtomicBool,
    /// Those who are in. Swapped for a new one when they are given up.
    inside: ArcSwap<Inside>,
    opened: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    count: AtomicU64,
    given_up: AtomicBool,
}

/// The right to write; out when dropped.
#[derive(Debug)]
pub struct Pass {
    inside: Arc<Inside>,
}

impl Default for Gate {
    fn default() -> Self {
        Gate {
            shut: AtomicBool::new(false),
            forced: AtomicBool::new(false),
            inside: ArcSwap::default(),
            opened: Notify::new(),
        }
    }
}

impl Gate {
    /// `None`: it is shut.
    pub fn enter(&self) -> Option<Pass> {
        let inside = self.inside.load_full();
        // In first, then a look: whoever shuts the gate looks the other way round.
        inside.count.fetch_add(1, Ordering::SeqCst);
        let pass = Pass { inside };
        (!self.shut.load(Ordering::SeqCst)).then_some(pass)
    }

    /// Waits until it is open, at most so long; false: it was not.
    pub async fn wait(&self, limit: Duration) -> bool {
        let open = async {
            loop {
                let opened = self.opened.notified();
                if !self.shut.load(Ordering::SeqCst) {
                    return;
                }
                opened.await;
            }
        };
        timeout(limit, open).await.is_ok()
    }

    pub fn shut(&self) {
        self.shut.store(true, Ordering::SeqCst);
    }

    pub fn open(&self) {
        self.forced.store(false, Ordering::SeqCst);
        self.shut.store(false, Ordering::SeqCst);
        self.opened.notify_waiters();
    }

    pub fn is_shut(&self) -> bool {
        self.shut.load(Ordering::SeqCst)
    }

    /// Reads are held as well.
    pub fn holds_reads(&self) -> bool {
        self.forced.load(Ordering::Relaxed)
    }

    /// How many are in.
    pub fn inside(&self) -> u64 {
        self.inside.load().count.load(Ordering::SeqCst)
    }

    /// Those who are in now are not waited for; each is told at its next statement.
    pub fn give_up(&self) {
        self.forced.store(true, Ordering::SeqCst);
        self.inside.swap(Arc::default()).given_up.store(true, Ordering::SeqCst);
    }
}

impl Pass {
    /// What it was taken for must not go on.
    pub fn is_given_up(&self) -> bool {
        self.inside.given_up.load(Ordering::SeqCst)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.inside.count.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_shut_gate_holds_the_new_and_counts_the_old() {
        let gate = Arc::new(Gate::default());
        let old = gate.enter().expect("open");
        gate.shut();
        assert!(gate.enter().is_none());
        assert_eq!(gate.inside(), 1);
        assert!(!gate.wait(Duration::from_millis(5)).await);
        drop(old);
        assert_eq!(gate.inside(), 0);
        let waiting = tokio::spawn({
            let gate = gate.clone();
            async move { gate.wait(Duration::from_secs(60)).await }
        });
        tokio::task::yield_now().await;
        gate.open();
        assert!(waiting.await.expect("no panic"));
        assert!(gate.enter().is_some());
    }

    #[test]
    fn those_given_up_are_not_counted_and_know_it() {
        let gate = Gate::default();
        let old = gate.enter().expect("open");
        gate.shut();
        gate.give_up();
        assert_eq!(gate.inside(), 0);
        assert!(old.is_given_up());
        gate.open();
        let new = gate.enter().expect("open");
        drop(old);
        assert!(!new.is_given_up());
        assert_eq!(gate.inside(), 1);
    }
}
