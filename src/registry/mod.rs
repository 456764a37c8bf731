//! Live sessions: who they are, how to ask one what it is doing, and how to end that. Nothing is
//! noted here for each statement: a session is woken and answers for itself, from its own task.

mod listed;
mod signal;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dashmap::DashMap;

pub use listed::{Doing, Listed, Seen, Use, Who, interrupted};
pub use signal::Signal;

/// The number that a client sees as its connection id: above the worker's number of the proxy,
/// below a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u32);

/// Bits of an id that count; above them stands the proxy's worker number.
const COUNTED: u32 = 22;

#[derive(Debug)]
pub struct Registry {
    worker: u32,
    servers: usize,
    last: AtomicU32,
    sessions: DashMap<ClientId, Arc<Listed>>,
}

/// A session's place in the registry, given up when dropped.
#[derive(Debug)]
pub struct Entry {
    registry: Arc<Registry>,
    listed: Arc<Listed>,
}

impl Registry {
    /// `worker`: the number that the proxy starts with. `servers`: how many a session may hold a
    /// connection to; room is kept for two doublings of them.
    pub fn new(worker: u32, servers: usize) -> Self {
        Registry {
            worker: worker & ((1 << (32 - COUNTED)) - 1),
            servers: 4 * servers,
            last: AtomicU32::new(0),
            sessions: DashMap::new(),
        }
    }

    /// An id that no live session has.
    pub fn next_id(&self) -> ClientId {
        const MASK: u32 = (1 << COUNTED) - 1;
        loop {
            let count = self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1) & MASK;
            let id = ClientId((self.worker << COUNTED) | count);
            if count != 0 && !self.sessions.contains_key(&id) {
                return id;
            }
        }
    }

    /// After a login.
    pub fn enter(self: &Arc<Self>, id: ClientId, who: Who) -> Entry {
        let listed = Arc::new(Listed::new(id, who, self.servers));
        self.sessions.insert(id, listed.clone());
        Entry { registry: self.clone(), listed }
    }

    pub fn find(&self, id: ClientId) -> Option<Arc<Listed>> {
        self.sessions.get(&id).map(|listed| listed.clone())
    }

    /// All of them, by id.
    pub fn all(&self) -> Vec<Arc<Listed>> {
        let mut all: Vec<Arc<Listed>> = self.sessions.iter().map(|listed| listed.clone()).collect();
        all.sort_by_key(|listed| listed.id);
        all
    }

    pub fn count(&self) -> usize {
        self.sessions.len()
    }
}

impl Entry {
    pub fn listed(&self) -> &Arc<Listed> {
        &self.listed
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.registry.sessions.remove(&self.listed.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_hold_the_workers_number_and_are_not_given_twice() {
        let registry = Arc::new(Registry::new(5, 1));
        let who = || Who { user: "app".into(), host: "h:1".into(), schema: None };
        let entered = registry.enter(registry.next_id(), who());
        assert_eq!(entered.listed().id, ClientId((5 << COUNTED) | 1));
        // The count goes round: what is taken is passed over, and so is 0.
        registry.last.store(u32::MAX - 1, Ordering::Relaxed);
        assert_eq!(registry.next_id(), ClientId((5 << COUNTED) | ((1 << COUNTED) - 1)));
        assert_eq!(registry.next_id(), ClientId((5 << COUNTED) | 2));
        drop(entered);
        assert!(registry.all().is_empty());
    }
}
