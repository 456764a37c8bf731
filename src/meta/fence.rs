//! The version of the layout that a server belongs to, in its own `bifold.fence`: proxies that go by an
//! older one make no connection to it.

use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::timeout;

use super::sql::opts;
use crate::config::{Backend, Server};
use crate::error::{Blame, Error, Result, code};

const ANSWER: Duration = Duration::from_secs(5);

/// Writes the version, be it higher or lower than before.
pub async fn set_fence(server: &Server, backend: &Backend, cluster: &str, version: u64) -> Result<()> {
    let setting = async {
        let mut conn = Conn::new(opts(server, backend)).await?;
        conn.query_drop("CREATE DATABASE IF NOT EXISTS bifold").await?;
        conn.query_drop(TABLE).await?;
        conn.exec_drop("REPLACE INTO bifold.fence (cluster, version) VALUES (?, ?)", (cluster, version)).await?;
        conn.disconnect().await
    };
    let failed = |cause: &dyn std::fmt::Display| {
        let text = format!("Bifold: the version of the layout can't be written on server {}", server.name);
        Error::new(Blame::Shard, code::UNKNOWN, text).because(cause)
    };
    match timeout(ANSWER, setting).await {
        Ok(set) => set.map_err(|cause: mysql_async::Error| failed(&cause)),
        Err(_) => Err(failed(&"no answer in time")),
    }
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS bifold.fence (
  cluster VARBINARY(32) NOT NULL PRIMARY KEY,
  version BIGINT UNSIGNED NOT NULL COMMENT 'proxies that go by an older layout are not served here'
) ENGINE = InnoDB COMMENT 'The layout that this server belongs to; written by bifold expand'";
