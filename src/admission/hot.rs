//! Hot keys: statements that would change or lock the rows of one key wait here, in order, once a
//! few of them are under way, so that those who wait for one row don't hold all connections. Who holds
//! connections already passes, and other keys are not touched.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::{Blame, Error, Result};

/// A key that rows are changed by, and how many statements may be under way for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotKey {
    /// Of table and key, equal for equal ones.
    pub id: u64,
    pub limit: u32,
}

/// The keys that statements are under way for.
#[derive(Debug)]
pub struct HotKeys {
    /// By id; a lock is held for some nanoseconds.
    slots: Box<[Mutex<Vec<Entry>>]>,
    waited: AtomicU64,
    turned_away: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    key: HotKey,
    active: u32,
    waiting: VecDeque<oneshot::Sender<Passing>>,
}

/// A statement, or a transaction, is under way for a key, until this is dropped.
#[derive(Debug)]
pub struct Passing {
    keys: Arc<HotKeys>,
    key: HotKey,
}

const SLOTS: usize = 256;

impl Default for HotKeys {
    fn default() -> Self {
        let slots = (0..SLOTS).map(|_| Mutex::default()).collect();
        HotKeys { slots, waited: AtomicU64::new(0), turned_away: AtomicU64::new(0) }
    }
}

impl HotKeys {
    /// Waits for its turn, at most so long.
    pub async fn enter(self: &Arc<Self>, key: HotKey, wait: Duration) -> Result<Passing> {
        let turn = match self.try_enter(key) {
            Ok(passing) => return Ok(passing),
            Err(turn) => turn,
        };
        self.waited.fetch_add(1, Ordering::Relaxed);
        match timeout(wait, turn).await {
            Ok(passing) => passing.map_err(|_| Error::proxy("Bifold: a turn was lost.")),
            Err(_) => {
                self.turned_away.fetch_add(1, Ordering::Relaxed);
                Err(crowded(key, wait))
            }
        }
    }

    /// Without waiting: whoever holds a connection would keep others waiting.
    pub fn join(self: &Arc<Self>, key: HotKey) -> Passing {
        let mut slot = self.slot(key).lock();
        match slot.iter_mut().find(|entry| entry.key.id == key.id) {
            Some(entry) => entry.active += 1,
            None => slot.push(Entry { key, active: 1, waiting: VecDeque::new() }),
        }
        Passing { keys: self.clone(), key }
    }

    /// How many statements waited, and how many of them in vain.
    pub fn counts(&self) -> (u64, u64) {
        (self.waited.load(Ordering::Relaxed), self.turned_away.load(Ordering::Relaxed))
    }

    fn try_enter(self: &Arc<Self>, key: HotKey) -> std::result::Result<Passing, oneshot::Receiver<Passing>> {
        let mut slot = self.slot(key).lock();
        match slot.iter_mut().find(|entry| entry.key.id == key.id) {
            Some(entry) if entry.active >= key.limit || !entry.waiting.is_empty() => {
                let (turn, told) = oneshot::channel();
                // Those who gave up make room.
                entry.waiting.retain(|other| !other.is_closed());
                entry.waiting.push_back(turn);
                return Err(told);
            }
            Some(entry) => entry.active += 1,
            None => slot.push(Entry { key, active: 1, waiting: VecDeque::new() }),
        }
        Ok(Passing { keys: self.clone(), key })
    }

    /// One is done: the next ones are told.
    fn leave(self: &Arc<Self>, key: HotKey) {
        let mut turns = Vec::new();
        {
            let mut slot = self.slot(key).lock();
            let Some(at) = slot.iter().position(|entry| entry.key.id == key.id) else { return };
            let entry = &mut slot[at];
            entry.active -= 1;
            while entry.active < entry.key.limit
                && let Some(turn) = entry.waiting.pop_front()
            {
                entry.active += 1;
                turns.push(turn);
            }
            if entry.active == 0 {
                slot.swap_remove(at);
            }
        }
        // Who has given up since leaves at once, and that tells the next.
        turns.into_iter().for_each(|turn| drop(turn.send(Passing { keys: self.clone(), key })));
    }

    fn slot(&self, key: HotKey) -> &Mutex<Vec<Entry>> {
        // The low bits of a hash choose the shard, and those of an address are alike.
        let spread = key.id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        &self.slots[usize::try_from(spread).unwrap_or(0) % SLOTS]
    }
}

impl Passing {
    pub fn key(&self) -> HotKey {
        self.key
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.keys.leave(self.key);
    }
}

fn crowded(key: HotKey, wait: Duration) -> Error {
    let text = format!(
        "Bifold: {} statements that change or lock rows of the same key are under way, and this one's turn did not come \
         within {} ms. Try again, or raise the table's hot_limit.",
        key.limit,
        wait.as_millis()
    );
    Error::new(Blame::Proxy, LOCK_WAIT_TIMEOUT, text).retryable()
}

const LOCK_WAIT_TIMEOUT: (u16, &[u8; 5]) = (1205, b"HY000");

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: HotKey = HotKey { id: 7, limit: 2 };
    const SOON: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn beyond_the_limit_statements_wait_in_order() {
        let keys = Arc::new(HotKeys::default());
        let first = keys.enter(KEY, SOON).await.expect("the first");
        let second = keys.enter(KEY, SOON).await.expect("the second");
        assert_eq!(keys.enter(KEY, SOON).await.expect_err("two are under way").code(), 1205);
        let other = HotKey { id: 8, ..KEY };
        keys.enter(other, SOON).await.expect("another key");
        let waiting = [keys.try_enter(KEY), keys.try_enter(KEY)].map(|turn| turn.expect_err("they wait"));
        let [mut third, mut fourth] = waiting;
        drop(first);
        let third = third.try_recv().expect("the third's turn");
        assert!(fourth.try_recv().is_err(), "not the fourth's");
        drop((second, third));
        fourth.try_recv().expect("the fourth's turn");
        assert_eq!(keys.counts(), (1, 1));
        assert!(keys.slots.iter().all(|slot| slot.lock().is_empty()), "nothing is left");
    }

    #[tokio::test]
    async fn who_gives_up_keeps_nobody_waiting() {
        let keys = Arc::new(HotKeys::default());
        let holder = keys.join(KEY);
        let second = keys.join(KEY);
        // More than the limit, without waiting.
        let third = keys.join(KEY);
        drop(keys.try_enter(KEY).expect_err("it waits"));
        let waiting = keys.try_enter(KEY).expect_err("it waits");
        drop(holder);
        drop(third);
        let passing = timeout(LONG, waiting).await.expect("told").expect("its turn");
        drop((passing, second));
        assert!(keys.slots.iter().all(|slot| slot.lock().is_empty()), "nothing is left");
    }
}
