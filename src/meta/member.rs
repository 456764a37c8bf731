//! Who is there: an entry for each running proxy, written again every few seconds, that says how far
//! it has followed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Store, from_json, to_json};
use crate::error::Result;

const PREFIX: &str = "proxy/";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Host and process, for people.
    pub host: String,
    /// Of the layout that its statements go by.
    pub version: u64,
    /// The turn of the gate that it has followed last.
    pub turn: u64,
    /// At that turn nothing that writes was under way any more.
    pub drained: bool,
    /// Its connections by server, as the server numbers them, once it is drained: all others of
    /// the account are nobody's.
    #[serde(default)]
    pub threads: BTreeMap<String, Vec<u32>>,
    /// A statement that began under an older layout is still under way.
    pub lingers: bool,
}

/// All entries, by token.
#[derive(Clone, Debug, Default)]
pub struct Members(pub Vec<(String, Member, Duration)>);

impl Member {
    /// A proxy that has not written for so long is not waited for.
    pub const TERM: Duration = Duration::from_secs(10);
    /// Between two writings where nothing changes.
    pub const BEAT: Duration = Duration::from_secs(3);
    /// After so long an entry is nobody's.
    const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);

    /// Gives the entry's new revision.
    pub async fn put(&self, store: &dyn Store, token: &str, expected: u64) -> Result<Option<u64>> {
        store.put(&format!("{PREFIX}{token}"), &to_json(self), expected).await
    }

    /// The revision of the entry that this token has; 0: none.
    pub async fn revision(store: &dyn Store, token: &str) -> Result<u64> {
        Ok(store.get(&format!("{PREFIX}{token}")).await?.map_or(0, |entry| entry.revision))
    }

    pub async fn leave(store: &dyn Store, token: &str, expected: u64) -> Result<()> {
        store.remove(&format!("{PREFIX}{token}"), expected).await.map(drop)
    }
}

impl Members {
    pub async fn read(store: &dyn Store) -> Result<Self> {
        let mut members = Vec::new();
        for (name, entry) in store.list(PREFIX).await? {
            if entry.age > Member::FORGOTTEN {
                store.remove(&name, entry.revision).await?;
                continue;
            }
            members.push((name[PREFIX.len()..].to_owned(), from_json(&name, &entry)?, entry.age));
        }
        Ok(Members(members))
    }

    /// Those that write in time.
    pub fn living(&self) -> impl Iterator<Item = &Member> {
        self.0.iter().filter(|(_, _, age)| *age <= Member::TERM).map(|(_, member, _)| member)
    }

    /// All of them, be they frozen or gone.
    pub fn all(&self) -> impl Iterator<Item = &Member> {
        self.0.iter().map(|(_, member, _)| member)
    }
}
