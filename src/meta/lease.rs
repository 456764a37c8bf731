//! Leases of worker numbers. Two processes never issue the same id, whatever their clocks say: the
//! times that a number's ids may carry are reserved ahead in the store, up to a limit that goes up with
//! each renewal, and the number's next holder starts behind the limit that it finds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Entry, Store, from_json, now_ms, to_json, token};
use crate::config::Workers;
use crate::error::{Error, Result};
use crate::snowflake::{Hold, WorkerLease};

const PREFIX: &str = "worker/";
/// A lease that is not renewed for so long, by the store's clock, is anybody's.
const TERM: Duration = Duration::from_secs(10);
const RENEW: Duration = Duration::from_millis(3333);
const RELEASE: Duration = Duration::from_secs(2);

/// A worker number's entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// The holder; empty: it was given back.
    token: String,
    /// Ids of this number may carry times up to here.
    limit_ms: u64,
}

/// The right to issue ids, as it is at the moment.
#[derive(Debug, Default)]
pub struct Leased(ArcSwapOption<Granted>);

#[derive(Debug)]
struct Granted {
    hold: Hold,
    revision: u64,
    renewed_ms: u64,
}

impl WorkerLease for Leased {
    fn hold(&self) -> Result<Hold> {
        match &*self.0.load() {
            Some(granted) => Ok(granted.hold),
            None => Err(Error::proxy(
                "Bifold: this proxy has no worker number, since all are taken or the store can't be reached: it issues \
                 no ids. Try again, give ids, or run fewer proxies.",
            )
            .retryable()),
        }
    }
}

/// Takes a number, renews it, takes another where it was lost. Its task ends with it.
#[derive(Debug)]
pub struct WorkerKeeper {
    work: Work,
    task: Option<JoinHandle<()>>,
}

#[derive(Clone, Debug)]
struct Work {
    store: Arc<dyn Store>,
    allowed: Workers,
    /// The number to have if it is free.
    wanted: Option<u32>,
    token: String,
    leased: Arc<Leased>,
}

impl WorkerKeeper {
    /// Takes a number before it returns, if one is to be had, and waits out the last moments of its
    /// former holder.
    pub async fn start(store: Arc<dyn Store>, allowed: Workers, wanted: Option<u32>) -> Result<Self> {
        let work = Work { store, allowed, wanted, token: token(), leased: Arc::default() };
        match work.acquire().await? {
            Some(hold) => {
                tracing::info!(worker = hold.worker, "worker number leased");
                let rest = Duration::from_millis(hold.after_ms.saturating_sub(now_ms()));
                sleep(rest.min(TERM)).await;
            }
            None => tracing::warn!("no worker number is free: this proxy serves, but issues no ids until one is"),
        }
        let task = tokio::spawn(work.clone().keep());
        Ok(WorkerKeeper { work, task: Some(task) })
    }

    pub fn lease(&self) -> Arc<Leased> {
        self.work.leased.clone()
    }

    /// The number goes back, so that a next process need not wait for the term's end.
    pub async fn release(mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _ = task.await;
        }
        let _ = timeout(RELEASE, self.work.release()).await;
    }
}

impl Drop for WorkerKeeper {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Work {
    async fn keep(self) {
        loop {
            sleep(RENEW).await;
            if let Err(error) = self.round().await {
                tracing::warn!(%error, "the worker number's lease can't be renewed");
            }
        }
    }

    async fn round(&self) -> Result<()> {
        let granted = self.leased.0.load_full();
        match granted {
            Some(granted) => self.renew(&granted).await,
            None => self.acquire().await.map(|taken| {
                if let Some(hold) = taken {
                    tracing::info!(worker = hold.worker, "worker number leased");
                }
            }),
        }
    }

    /// One try at each number that may be free, until one is ours.
    async fn acquire(&self) -> Result<Option<Hold>> {
        let mut known: HashMap<u32, (Record, Entry)> = HashMap::new();
        for (name, entry) in self.store.list(PREFIX).await? {
            if let Ok(number) = name[PREFIX.len()..].parse() {
                known.insert(number, (from_json(&name, &entry)?, entry));
            }
        }
        for number in candidates(&known, self.allowed, self.wanted, now_ms()) {
            let (after_ms, expected) =
                known.get(&number).map_or((0, 0), |(record, entry)| (record.limit_ms, entry.revision));
            // Before the request: what the store counts from is later.
            let now = now_ms();
            let record = Record { token: self.token.clone(), limit_ms: limit(now, after_ms) };
            let name = format!("{PREFIX}{number}");
            if let Some(revision) = self.store.put(&name, &to_json(&record), expected).await? {
                let hold = Hold { worker: number, after_ms, until_ms: record.limit_ms };
                self.leased.0.store(Some(Arc::new(Granted { hold, revision, renewed_ms: now })));
                return Ok(Some(hold));
            }
        }
        Ok(None)
    }

    async fn renew(&self, granted: &Granted) -> Result<()> {
        let Hold { worker, after_ms, .. } = granted.hold;
        let now = now_ms();
        let record = Record { token: self.token.clone(), limit_ms: limit(now, 0).max(granted.hold.until_ms) };
        let name = format!("{PREFIX}{worker}");
        if let Some(revision) = self.store.put(&name, &to_json(&record), granted.revision).await? {
            let hold = Hold { worker, after_ms, until_ms: record.limit_ms };
            self.leased.0.store(Some(Arc::new(Granted { hold, revision, renewed_ms: now })));
            return Ok(());
        }
        // A writing of ours whose answer was lost, or another's.
        if let Some(entry) = self.store.get(&name).await? {
            let record: Record = from_json(&name, &entry)?;
            if record.token == self.token {
                let hold = Hold { worker, after_ms, until_ms: record.limit_ms };
                let granted = Granted { hold, revision: entry.revision, renewed_ms: granted.renewed_ms };
                self.leased.0.store(Some(Arc::new(granted)));
                return Ok(());
            }
        }
        tracing::warn!(worker, "the worker number was given to another process: taking another");
        self.leased.0.store(None);
        self.acquire().await.map(drop)
    }

    async fn release(&self) {
        let Some(granted) = self.leased.0.swap(None) else { return };
        let now = now_ms();
        // A clock that stepped back says nothing of the ids issued before.
        let limit_ms = if now >= granted.renewed_ms { now + 5 } else { granted.hold.until_ms };
        let record = Record { token: String::new(), limit_ms: limit_ms.min(granted.hold.until_ms) };
        let name = format!("{PREFIX}{}", granted.hold.worker);
        if let Err(error) = self.store.put(&name, &to_json(&record), granted.revision).await {
            tracing::debug!(%error, "the worker number was not given back: its lease will run out");
        }
    }
}

/// How far ahead a holder may go.
fn limit(now: u64, after_ms: u64) -> u64 {
    now.max(after_ms) + u64::try_from(TERM.as_millis()).unwrap_or(0)
}

/// Numbers that may be had, the best first: the one wanted, then one whose former holder's times
/// are over, the longest ago first, then one that nobody has had, then the rest.
fn candidates(known: &HashMap<u32, (Record, Entry)>, allowed: Workers, wanted: Option<u32>, now: u64) -> Vec<u32> {
    let rank = |number: u32| match known.get(&number) {
        _ if wanted == Some(number) => Some((0, 0, number)),
        Some((record, _)) if record.limit_ms < now => Some((1, record.limit_ms, number)),
        None => Some((2, 0, number)),
        Some((record, _)) => Some((3, record.limit_ms, number)),
    };
    let is_free =
        |number: &u32| known.get(number).is_none_or(|(record, entry)| record.token.is_empty() || entry.age > TERM);
    let mut free: Vec<_> = (allowed.first..=allowed.last).filter(is_free).filter_map(rank).collect();
    free.sort_unstable();
    free.into_iter().map(|(_, _, number)| number).take(TRIES).collect()
}

/// Others who take numbers at the same time are few.
const TRIES: usize = 64;

/// Takes a number without waiting for its former holder's times to be over.
#[cfg(test)]
pub(super) async fn taking(store: Arc<dyn Store>, allowed: Workers, wanted: Option<u32>) -> Hold {
    let work = Work { store, allowed, wanted, token: token(), leased: Arc::default() };
    work.acquire().await.expect("the store answers").expect("a number is free")
}
