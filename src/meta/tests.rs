//! Leases over a store in memory: numbers are never shared, limits never go back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use super::{Entry, Store, WorkerKeeper};
use crate::config::Workers;
use crate::error::Result;
use crate::snowflake::WorkerLease;

#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<String, (u64, Instant, String)>>);

impl Memory {
    /// As if nobody had renewed anything for so long.
    fn age(&self, by: Duration) {
        for (_, at, _) in self.0.lock().values_mut() {
            *at -= by;
        }
    }
}

fn entry((revision, at, value): &(u64, Instant, String)) -> Entry {
    Entry { revision: *revision, age: at.elapsed(), value: value.clone() }
}

impl Store for Memory {
    fn get<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move { Ok(self.0.lock().get(name).map(entry)) })
    }

    fn list<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<(String, Entry)>>> {
        let all = move || {
            let entries = self.0.lock();
            let found = entries.iter().filter(|(name, _)| name.starts_with(prefix));
            found.map(|(name, value)| (name.clone(), entry(value))).collect()
        };
        Box::pin(async move { Ok(all()) })
    }

    fn put<'a>(&'a self, name: &'a str, value: &'a str, expected: u64) -> BoxFuture<'a, Result<Option<u64>>> {
        Box::pin(async move {
            let mut entries = self.0.lock();
            if entries.get(name).map_or(0, |(revision, ..)| *revision) != expected {
                return Ok(None);
            }
            entries.insert(name.to_owned(), (expected + 1, Instant::now(), value.to_owned()));
            Ok(Some(expected + 1))
        })
    }

    fn remove<'a>(&'a self, name: &'a str, expected: u64) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let mut entries = self.0.lock();
            let is_it = entries.get(name).is_some_and(|(revision, ..)| *revision == expected);
            Ok(is_it && entries.remove(name).is_some())
        })
    }
}

const SIXTEEN: Workers = Workers { first: 0, last: 15 };

async fn keeper(store: &Arc<Memory>, wanted: Option<u32>) -> WorkerKeeper {
    WorkerKeeper::start(store.clone(), SIXTEEN, wanted).await.expect("the store answers")
}

#[tokio::test]
async fn no_two_proxies_have_one_number_and_the_seventeenth_issues_none() {
    let store = Arc::new(Memory::default());
    let mut keepers = Vec::new();
    for _ in 0..16 {
        keepers.push(keeper(&store, Some(3)).await);
    }
    let mut numbers: Vec<u32> = keepers.iter().map(|keeper| keeper.lease().hold().expect("held").worker).collect();
    assert_eq!(numbers[0], 3, "the one asked for, if it is free");
    numbers.sort_unstable();
    assert_eq!(numbers, (0..16).collect::<Vec<_>>());
    let late = keeper(&store, None).await;
    assert!(late.lease().hold().is_err_and(|error| error.is_retryable()));
    // One that was given back is the next one's, whose ids are later.
    let first = keepers.remove(0);
    let until = first.lease().hold().expect("held").until_ms;
    first.release().await;
    let next = keeper(&store, None).await;
    let hold = next.lease().hold().expect("held");
    assert_eq!(hold.worker, 3);
    assert!(hold.after_ms > 0 && hold.after_ms <= until);
}

#[tokio::test]
async fn a_frozen_holders_times_are_not_used_again() {
    let store = Arc::new(Memory::default());
    let frozen = keeper(&store, Some(7)).await;
    let held = frozen.lease().hold().expect("held");
    let other = keeper(&store, Some(7)).await;
    assert_ne!(other.lease().hold().expect("held").worker, 7);
    store.age(Duration::from_secs(11));
    let work = super::lease::taking(store.clone(), SIXTEEN, Some(7)).await;
    assert_eq!((work.worker, work.after_ms), (7, held.until_ms));
    assert!(work.until_ms > held.until_ms);
}
