//! A proxy's part in what several share ([`crate::meta`]): it says that it is there, takes the layout
//! that is in force and a worker number before it serves, follows both while it does, and gives the
//! number back at its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::follow::Follower;
use crate::config::Config;
use crate::error::Result;
use crate::execute::{Current, Duty};
use crate::meta::{Layout, Member, SqlStore, Store, WorkerKeeper, token};
use crate::snowflake::WorkerLease;

pub(super) struct Shared {
    store: Arc<SqlStore>,
    token: String,
    keeper: WorkerKeeper,
    /// Ends with it.
    follower: Option<Follower>,
}

/// At the end the store is waited for no longer.
const LEAVE: Duration = Duration::from_secs(2);

impl Shared {
    /// Servers and shards of `config` become those of the layout in force. `None`: no store is
    /// named, or the process only looks.
    pub async fn join(config: &mut Config, worker: Option<u32>, duty: Duty) -> Result<Option<Self>> {
        let Some(store) = SqlStore::of(config) else { return Ok(None) };
        if duty == Duty::Look {
            if let Ok(Some(layout)) = Layout::kept(&store).await {
                layout.apply(config)?;
            }
            return Ok(None);
        }
        store.prepare().await?;
        // 1. Known to others before it looks: whoever changes the layout now waits for this one.
        let token = token();
        let newcomer = Member { host: host(), ..Member::default() };
        newcomer.put(&store, &token, 0).await?;
        // 2. The layout, which holds against the file
        let (layout, _) = Layout::read(&store, config).await?;
        if !layout.has_same_places(&Layout::of(config)) {
            tracing::warn!(
                version = layout.version,
                "the topology file has other servers or shards than the layout in force, which holds: bring the file up to date"
            );
        }
        layout.apply(config)?;
        // 3. A number
        let store = Arc::new(store);
        let keeper = WorkerKeeper::start(store.clone(), config.workers, worker).await?;
        Ok(Some(Shared { store, token, keeper, follower: None }))
    }

    pub fn lease(&self) -> Arc<dyn WorkerLease> {
        self.keeper.lease()
    }

    /// From now on the engine is replaced when the layout changes.
    pub async fn follow(&mut self, current: &Arc<Current>) -> Result<()> {
        self.follower = Some(Follower::start(self.store.clone(), self.token.clone(), current.clone()).await?);
        Ok(())
    }

    pub async fn leave(self) {
        drop(self.follower);
        let gone = async {
            let store: &dyn Store = &*self.store;
            let revision = Member::revision(store, &self.token).await?;
            Member::leave(store, &self.token, revision).await
        };
        let _ = timeout(LEAVE, gone).await;
        self.keeper.release().await;
    }
}

/// For people.
pub(super) fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}:{}", name.trim(), std::process::id())
}
