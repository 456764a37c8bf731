//! Plans by the exact bytes of a statement's form: never by a hash alone, since two forms with one
//! plan would be rows in wrong places. Bounded in bytes; what was not used since the last sweep
//! goes first. A plan made under an older topology or catalog is not found.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::plan::Planned;
use crate::sql::Dialect;

const SHARDS: usize = 16;
/// What a plan takes besides its key; an estimate, to keep the bound honest.
const PLAN_BYTES: usize = 1024;

#[derive(Debug)]
pub struct PlanCache {
    shards: [RwLock<Shard>; SHARDS],
    shard_bytes: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug, Default)]
struct Shard {
    plans: HashMap<Box<[u8]>, Entry>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    versions: Versions,
    used: AtomicBool,
    planned: Arc<Planned>,
}

/// Under which pictures of the world a plan was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    pub topology: u64,
    pub catalog: u64,
}

/// Puts everything besides the form that plans differ by into a key, which then goes on with the
/// form.
pub fn put_prefix(key: &mut Vec<u8>, user: &str, schema: Option<&str>, charset: &str, dialect: &Dialect) {
    let mode = dialect.mode;
    let bits = [
        mode.ansi_quotes,
        mode.no_backslash_escapes,
        mode.pipes_as_concat,
        mode.ignore_space,
        mode.high_not_precedence,
        schema.is_some(),
    ];
    key.push(bits.into_iter().fold(0, |byte, bit| byte << 1 | u8::from(bit)));
    // NUL ends each part: none of these names holds one.
    for part in [user, schema.unwrap_or(""), charset] {
        key.extend_from_slice(part.as_bytes());
        key.push(0);
    }
}

impl Default for PlanCache {
    fn default() -> Self {
        PlanCache::new(8 << 20)
    }
}

impl PlanCache {
    /// Holds about so many bytes of keys and plans.
    pub fn new(bytes: usize) -> Self {
        PlanCache {
            shards: Default::default(),
            shard_bytes: bytes / SHARDS,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    pub fn get(&self, key: &[u8], versions: Versions) -> Option<Arc<Planned>> {
        let shard = self.shard(key).read();
        let found = shard.plans.get(key).filter(|entry| entry.versions == versions);
        match found {
            Some(entry) => {
                // Read before written, so that hot plans' cache lines stay shared between cores.
                if !entry.used.load(Ordering::Relaxed) {
                    entry.used.store(true, Ordering::Relaxed);
                }
                self.hits.fetch_add(1, Ordering::Relaxed);
                Some(Arc::clone(&entry.planned))
            }
            None => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// A form too long for its share of the cache is not kept.
    pub fn put(&self, key: &[u8], versions: Versions, planned: Arc<Planned>) {
        let size = key.len() + PLAN_BYTES;
        if size > self.shard_bytes {
            return;
        }
        let mut shard = self.shard(key).write();
        if shard.bytes + size > self.shard_bytes {
            shard.sweep(versions, self.shard_bytes - size);
        }
        let entry = Entry { versions, used: AtomicBool::new(false), planned };
        if shard.plans.insert(key.into(), entry).is_none() {
            shard.bytes += size;
        }
    }

    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().plans.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lookups that found a plan, and those that did not.
    pub fn counts(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    /// A cheap choice that spreads: the map inside hashes properly.
    fn shard(&self, key: &[u8]) -> &RwLock<Shard> {
        let tail = key.iter().rev().take(8).fold(key.len(), |sum, byte| sum * 31 + usize::from(*byte));
        &self.shards[tail % SHARDS]
    }
}

impl Shard {
    /// Drops stale and unused plans, then any, until a quarter is free.
    fn sweep(&mut self, versions: Versions, room: usize) {
        let target = room / 4 * 3;
        self.plans.retain(|_, entry| entry.versions == versions && entry.used.swap(false, Ordering::Relaxed));
        self.bytes = 0;
        let mut kept = 0;
        self.plans.retain(|key, _| {
            let size = key.len() + PLAN_BYTES;
            let keep = kept + size <= target;
            kept += if keep { size } else { 0 };
            keep
        });
        self.bytes = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::plan::{Kind, Plan};

    const NOW: Versions = Versions { topology: 1, catalog: 1 };

    fn planned() -> Arc<Planned> {
        let plan = Plan::Refusal(Error::refused("no"));
        Arc::new(Planned { plan, assigns: Vec::new(), kind: Kind::Other })
    }

    #[test]
    fn only_the_exact_form_under_the_same_versions_is_found() {
        let cache = PlanCache::new(1 << 20);
        cache.put(b"SELECT ?", NOW, planned());
        assert!(cache.get(b"SELECT ?", NOW).is_some());
        assert!(cache.get(b"SELECT  ?", NOW).is_none());
        assert!(cache.get(b"SELECT ?", Versions { catalog: 2, ..NOW }).is_none());
        assert!(cache.get(b"SELECT ?", Versions { topology: 2, ..NOW }).is_none());
        assert_eq!(cache.counts(), (1, 3));
    }

    #[test]
    fn it_stays_within_its_bound_and_keeps_what_is_used() {
        let cache = PlanCache::new(1 << 20);
        cache.put(b"hot", NOW, planned());
        for n in 0..10_000 {
            assert!(cache.get(b"hot", NOW).is_some(), "{n}");
            cache.put(format!("cold {n}").as_bytes(), NOW, planned());
        }
        assert!(cache.len() <= (1 << 20) / PLAN_BYTES, "{}", cache.len());
    }

    #[test]
    fn a_form_longer_than_the_bound_is_not_kept() {
        let cache = PlanCache::new(1 << 16);
        cache.put(&[b'x'; 1 << 16], NOW, planned());
        assert!(cache.is_empty());
    }

    #[test]
    fn the_prefix_tells_no_schema_from_an_empty_name() {
        let dialect = Dialect::new(crate::sql::Flavour::MySql, 90704);
        let prefix = |user, schema| {
            let mut key = Vec::new();
            put_prefix(&mut key, user, schema, "utf8mb4", &dialect);
            key
        };
        assert_ne!(prefix("a", None), prefix("a", Some("")));
        assert_ne!(prefix("a", Some("b")), prefix("ab", Some("")));
    }
}
