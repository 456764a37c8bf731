//! The statements prepared on one connection: by text, the least recently used given up first,
//! so that subtables × connections stay below the server's `max_prepared_stmt_count`.

use std::num::NonZeroUsize;

use lru::LruCache;

/// A statement as the server knows it.
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    pub id: u32,
    pub params: u16,
}

#[derive(Debug)]
pub struct Statements {
    by_text: LruCache<Box<[u8]>, Prepared>,
}

impl Statements {
    pub fn new(bound: NonZeroUsize) -> Self {
        Statements { by_text: LruCache::new(bound) }
    }

    pub fn get(&mut self, text: &[u8]) -> Option<Prepared> {
        self.by_text.get(text).copied()
    }

    /// Keeps a statement; gives the one that has to be closed for it.
    pub fn keep(&mut self, text: &[u8], prepared: Prepared) -> Option<u32> {
        let given_up = if self.by_text.len() == self.by_text.cap().get() { self.by_text.pop_lru() } else { None };
        self.by_text.put(text.into(), prepared);
        given_up.map(|(_, prepared)| prepared.id)
    }

    /// Forgets all; gives the ids to close.
    pub fn clear(&mut self) -> Vec<u32> {
        let ids = self.by_text.iter().map(|(_, prepared)| prepared.id).collect();
        self.by_text.clear();
        ids
    }
}
