//! The expansion under way: what it is to do, which step it has reached, and what the proxies are
//! asked to do at their gates. One at a time in a cluster.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Layout, Store, from_json, to_json};
use crate::error::Result;

const NAME: &str = "job";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Of the command that works on it; another that takes it over writes its own.
    pub worker: String,
    pub step: Step,
    pub replicas: Vec<Replica>,
    pub before: Layout,
    pub after: Layout,
    pub gate: Gate,
    /// Goes up with each change of the gate.
    pub turn: u64,
    /// Why it went back, for people.
    pub note: String,
}

/// A server's copy that becomes a server of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replica {
    /// The server that it is a copy of.
    pub of: String,
    /// What it will be called.
    pub name: String,
    pub host: String,
    pub port: u16,
}

/// The last step that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Planned,
    /// All replicas replicate and are near.
    CaughtUp,
    /// The copies are equal.
    Proved,
    /// The gate is shut, and the way back is still open.
    Gated,
    /// The replicas are servers of their own.
    Promoted,
    /// The new layout is in force, or about to be: from here on it goes forward only.
    Switched,
    /// `expand clean` was ordered.
    Cleaning,
    Done,
    /// Everything is as before.
    Aborted,
}

/// What the proxies are asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Open,
    /// Hold what writes, let what is under way end.
    Shut,
    /// And end what has not ended by itself.
    Forced,
}

impl Step {
    pub fn is_over(self) -> bool {
        matches!(self, Step::Done | Step::Aborted)
    }

    /// Definitions of tables stay as they are.
    pub fn bars_definitions(self) -> bool {
        self < Step::Switched || self == Step::Cleaning
    }
}

impl Job {
    /// Proxies look many times a second.
    pub fn hurries(&self) -> bool {
        self.gate != Gate::Open || matches!(self.step, Step::CaughtUp | Step::Proved)
    }

    /// A command that has not written for so long while the gate is shut is gone, and its gate is
    /// opened by whoever sees it.
    pub const ABANDONED: Duration = Duration::from_secs(10);

    /// The job, the revision of its entry, and how long ago it was written.
    pub async fn read(store: &dyn Store) -> Result<Option<(Self, u64, Duration)>> {
        let Some(entry) = store.get(NAME).await? else { return Ok(None) };
        Ok(Some((from_json(NAME, &entry)?, entry.revision, entry.age)))
    }

    pub async fn put(&self, store: &dyn Store, expected: u64) -> Result<Option<u64>> {
        store.put(NAME, &to_json(self), expected).await
    }
}
