//! What several proxies share, in a small store that outlives them: leases of worker numbers, who
//! is there, the layout in force, the expansion under way. The store knows names, values and
//! revisions only; what they mean is said by the other files here.

mod fence;
mod job;
mod layout;
mod lease;
mod member;
mod sql;

use std::time::Duration;

use futures_util::future::BoxFuture;

pub use fence::set_fence;
pub use job::{Gate, Job, Replica, Step};
pub use layout::{Layout, ServerEntry};
pub use lease::{Leased, WorkerKeeper};
pub use member::{Member, Members};
pub use sql::SqlStore;

use crate::error::Result;

/// A value and what the store knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Goes up with each writing; never 0.
    pub revision: u64,
    /// Since it was last written, by the store's clock.
    pub age: Duration,
    pub value: String,
}

/// Values by name. Every writing says what it expects to replace, so of two that meet one is told.
pub trait Store: Send + Sync + std::fmt::Debug {
    fn get<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Entry>>>;

    /// All whose names begin so, sorted by name.
    fn list<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<(String, Entry)>>>;

    /// Writes where the entry has this revision (0: where there is none). Gives the new one;
    /// `None`: another was there first. After an error it may be written or not.
    fn put<'a>(&'a self, name: &'a str, value: &'a str, expected: u64) -> BoxFuture<'a, Result<Option<u64>>>;

    /// False: another was there first.
    fn remove<'a>(&'a self, name: &'a str, expected: u64) -> BoxFuture<'a, Result<bool>>;
}

/// Milliseconds of Unix time.
pub fn now_ms() -> u64 {
    crate::snowflake::Clock::unix_ms(&crate::snowflake::SystemClock)
}

/// A name that nobody else has.
pub fn token() -> String {
    format!("{:032x}", rand::random::<u128>())
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data becomes JSON")
}

fn from_json<T: serde::de::DeserializeOwned>(name: &str, entry: &Entry) -> Result<T> {
    serde_json::from_str(&entry.value).map_err(|cause| {
        crate::error::Error::operator(format!(
            "Bifold: the entry {name} of bifold.meta can't be read; a newer Bifold may have written it"
        ))
        .because(cause)
    })
}

#[cfg(test)]
mod tests;
