//! The layout in force: which servers there are and where each shard lies, with a version that goes
//! up with each change. The topology file says the same; where it says otherwise, this holds, so that
//! a proxy with an old file never looks in old places.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Store, from_json, to_json};
use crate::config::{Config, Server, Shard};
use crate::error::{Error, Result};

const NAME: &str = "layout";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    pub version: u64,
    /// In the order of the topology file: numbers of servers never change.
    pub servers: Vec<ServerEntry>,
    /// By schema: `server/database` of each shard.
    pub shards: BTreeMap<String, Vec<String>>,
    /// Shards may hold rows that they no longer own.
    pub dirty: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEntry {
    pub name: String,
    pub host: String,
    pub port: u16,
}

impl Layout {
    /// What a topology file says.
    pub fn of(config: &Config) -> Self {
        let entry =
            |server: &Server| ServerEntry { name: server.name.clone(), host: server.host.clone(), port: server.port };
        let shard = |shard: &Shard| format!("{}/{}", config.servers[shard.server].name, shard.database);
        Layout {
            version: 1,
            servers: config.servers.iter().map(entry).collect(),
            shards: config
                .schemas
                .iter()
                .map(|schema| (schema.name.clone(), schema.shards.iter().map(shard).collect()))
                .collect(),
            dirty: false,
        }
    }

    /// The layout in force, if one is kept.
    pub async fn kept(store: &dyn Store) -> Result<Option<Self>> {
        store.get(NAME).await?.map(|entry| from_json(NAME, &entry)).transpose()
    }

    /// The revision of its entry; 0: there is none.
    pub async fn revision(store: &dyn Store) -> Result<u64> {
        Ok(store.get(NAME).await?.map_or(0, |entry| entry.revision))
    }

    /// The layout in force, and the revision of its entry. Servers and schemas that only the file has
    /// are added to it; what both have stays as it is kept.
    pub async fn read(store: &dyn Store, config: &Config) -> Result<(Self, u64)> {
        for _ in 0..TRIES {
            let kept = store.get(NAME).await?;
            let revision = kept.as_ref().map_or(0, |entry| entry.revision);
            let kept: Option<Layout> = kept.map(|entry| from_json(NAME, &entry)).transpose()?;
            let merged = kept.as_ref().map_or_else(|| Layout::of(config), |kept| kept.with(&Layout::of(config)));
            if kept.as_ref() == Some(&merged) {
                return Ok((merged, revision));
            }
            // `None`: another proxy was first.
            if let Some(revision) = store.put(NAME, &to_json(&merged), revision).await? {
                return Ok((merged, revision));
            }
        }
        Err(Error::proxy("Bifold: the layout in bifold.meta changes all the time; start again.").retryable())
    }

    /// And what only the other one has.
    fn with(&self, file: &Layout) -> Self {
        let mut merged = self.clone();
        for server in &file.servers {
            if merged.servers.iter().all(|known| known.name != server.name) {
                merged.servers.push(server.clone());
            }
        }
        for (schema, shards) in &file.shards {
            merged.shards.entry(schema.clone()).or_insert_with(|| shards.clone());
        }
        merged
    }

    /// The revision, or `None`: it was changed in the meantime.
    pub async fn put(&self, store: &dyn Store, expected: u64) -> Result<Option<u64>> {
        store.put(NAME, &to_json(self), expected).await
    }

    pub fn has_same_places(&self, other: &Layout) -> bool {
        self.servers == other.servers && self.shards == other.shards
    }

    /// Puts servers and shards into the settings of a file that may be older. Everything else stays
    /// the file's.
    pub fn apply(&self, config: &mut Config) -> Result<()> {
        let merged = self.with(&Layout::of(config));
        let number = |name: &str| merged.servers.iter().position(|server| server.name == name);
        for schema in &mut config.schemas {
            schema.shards = merged.shards[&schema.name]
                .iter()
                .map(|text| {
                    let (server, database) = text.split_once('/')?;
                    Some(Shard { server: number(server)?, database: database.to_owned() })
                })
                .collect::<Option<_>>()
                .ok_or_else(|| self.unfit("a shard lies on a server that is not listed"))?;
        }
        if let Some(meta) = &mut config.meta {
            let name = &config.servers[meta.server].name;
            meta.server = number(name).ok_or_else(|| self.unfit("the server of [meta] is not listed"))?;
        }
        config.servers = merged
            .servers
            .iter()
            .map(|server| Server { name: server.name.clone(), host: server.host.clone(), port: server.port })
            .collect();
        (config.version, config.dirty) = (self.version, self.dirty);
        Ok(())
    }

    fn unfit(&self, why: &str) -> Error {
        Error::operator(format!(
            "Bifold: the layout of version {} in bifold.meta does not fit the topology file: {why}",
            self.version
        ))
    }
}

/// Proxies that start at the same time are few.
const TRIES: usize = 16;
