//! A proxy's part in what several share ([`crate::meta`]): it takes the layout that is in force and
//! a worker number before it serves, and gives the number back at its end.

use std::sync::Arc;

use crate::config::Config;
use crate::error::Result;
use crate::execute::Duty;
use crate::meta::{Layout, SqlStore, WorkerKeeper};
use crate::snowflake::WorkerLease;

pub(super) struct Shared {
    keeper: WorkerKeeper,
}

impl Shared {
    /// Servers and shards of `config` become those of the layout in force. `None`: no store is
    /// named, or the process only looks and nothing is kept there.
    pub async fn join(config: &mut Config, worker: Option<u32>, duty: Duty) -> Result<Option<Self>> {
        let Some(store) = SqlStore::of(config) else { return Ok(None) };
        if duty == Duty::Look {
            if let Ok(Some(layout)) = Layout::kept(&store).await {
                layout.apply(config)?;
            }
            return Ok(None);
        }
        store.prepare().await?;
        let (layout, _) = Layout::read(&store, config).await?;
        if !layout.has_same_places(&Layout::of(config)) {
            tracing::warn!(
                version = layout.version,
                "the topology file has other servers or shards than the layout in force, which holds: bring the file up to date"
            );
        }
        layout.apply(config)?;
        let store = Arc::new(store);
        let keeper = WorkerKeeper::start(store, config.workers, worker).await?;
        Ok(Some(Shared { keeper }))
    }

    pub fn lease(&self) -> Arc<dyn WorkerLease> {
        self.keeper.lease()
    }

    pub async fn leave(self) {
        self.keeper.release().await;
    }
}
