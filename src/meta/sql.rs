//! The embedded store: the table `bifold.meta` on a server of the cluster, over one connection that
//! is made again when it breaks. All names carry the cluster's, so that clusters can share a server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Params, Row, SslOpts};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{Entry, Store};
use crate::config::{Backend, BackendTls, Config};
use crate::error::{Blame, Error, Result, code};

/// An answer is waited for no longer.
const ANSWER: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct SqlStore {
    cluster: String,
    server: String,
    opts: Opts,
    conn: Mutex<Option<Conn>>,
    /// Of the connection; 0: none was made yet.
    thread: AtomicU32,
}

impl SqlStore {
    /// The store that the settings name, if they do.
    pub fn of(config: &Config) -> Option<Self> {
        let server = &config.servers[config.meta?.server];
        Some(SqlStore {
            cluster: config.cluster.clone(),
            server: server.name.clone(),
            opts: opts(server, &config.backend).into(),
            conn: Mutex::new(None),
            thread: AtomicU32::new(0),
        })
    }

    /// Makes the table where it is missing.
    pub async fn prepare(&self) -> Result<()> {
        if self.rows("SELECT name FROM bifold.meta LIMIT 0", Params::Empty).await.is_ok() {
            return Ok(());
        }
        self.rows("CREATE DATABASE IF NOT EXISTS bifold", Params::Empty).await?;
        self.rows(TABLE, Params::Empty).await.map(drop)
    }

    /// The server, and the number that it gives the connection.
    pub fn thread(&self) -> Option<(String, u32)> {
        let thread = self.thread.load(Ordering::Relaxed);
        (thread != 0).then(|| (self.server.clone(), thread))
    }

    fn full(&self, name: &str) -> String {
        format!("{}/{name}", self.cluster)
    }

    async fn rows(&self, sql: &str, params: Params) -> Result<Vec<Row>> {
        self.run(sql, params).await.map(|(rows, _)| rows)
    }

    /// Rows, and how many were changed. What breaks the connection is an error; the next call
    /// makes a new one.
    async fn run(&self, sql: &str, params: Params) -> Result<(Vec<Row>, u64)> {
        let asking = async {
            let mut held = self.conn.lock().await;
            let mut conn = match held.take() {
                Some(conn) => conn,
                None => Conn::new(self.opts.clone()).await?,
            };
            self.thread.store(conn.id(), Ordering::Relaxed);
            let rows: Vec<Row> = conn.exec(sql, params).await?;
            let affected = conn.affected_rows();
            *held = Some(conn);
            Ok((rows, affected))
        };
        match timeout(ANSWER, asking).await {
            Ok(answered) => answered.map_err(|cause: mysql_async::Error| self.failed(cause)),
            Err(_) => Err(self.failed("no answer in time")),
        }
    }

    fn failed(&self, cause: impl std::fmt::Display) -> Error {
        let text = format!("Bifold: the store of the cluster, bifold.meta on server {}, can't be used", self.server);
        Error::new(Blame::Shard, code::UNKNOWN, text).because(cause).retryable()
    }
}

pub(super) fn opts(server: &crate::config::Server, backend: &Backend) -> OptsBuilder {
    let tls = match &backend.tls {
        BackendTls::Off | BackendTls::Preferred => None,
        BackendTls::Required => {
            Some(SslOpts::default().with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true))
        }
        BackendTls::Verify { ca } => Some(SslOpts::default().with_root_certs(vec![ca.clone().into()])),
    };
    OptsBuilder::default()
        .ip_or_hostname(&server.host)
        .tcp_port(server.port)
        .user(Some(&backend.user))
        .pass(Some(backend.password.reveal()))
        .prefer_socket(false)
        .ssl_opts(tls)
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS bifold.meta (
  name VARBINARY(160) NOT NULL PRIMARY KEY COMMENT 'cluster/what',
  revision BIGINT UNSIGNED NOT NULL COMMENT 'goes up with each writing',
  at_ms BIGINT UNSIGNED NOT NULL COMMENT 'when it was written, Unix milliseconds of this server',
  value LONGBLOB NOT NULL COMMENT 'JSON'
) ENGINE = InnoDB COMMENT 'What the proxies of a cluster share; written by Bifold'";

const NOW: &str = "CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS UNSIGNED)";

impl Store for SqlStore {
    fn get<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move {
            let sql = format!("SELECT revision, CAST({NOW} AS SIGNED) - at_ms, value FROM bifold.meta WHERE name = ?");
            let rows = self.rows(&sql, (self.full(name),).into()).await?;
            rows.into_iter().next().map(|row| self.entry(row)).transpose()
        })
    }

    fn list<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<(String, Entry)>>> {
        Box::pin(async move {
            let sql = format!(
                "SELECT revision, CAST({NOW} AS SIGNED) - at_ms, value, CAST(name AS CHAR) FROM bifold.meta \
                 WHERE name >= ? AND LEFT(name, ?) = ? ORDER BY name"
            );
            let full = self.full(prefix);
            let rows = self.rows(&sql, (&full, full.len(), &full).into()).await?;
            let cut = self.full("").len();
            rows.into_iter()
                .map(|row| {
                    let name: String = row.get(3).ok_or_else(|| self.failed("a row without a name"))?;
                    Ok((name[cut..].to_owned(), self.entry(row)?))
                })
                .collect()
        })
    }

    fn put<'a>(&'a self, name: &'a str, value: &'a str, expected: u64) -> BoxFuture<'a, Result<Option<u64>>> {
        Box::pin(async move {
            let full = self.full(name);
            let (_, affected) = match expected {
                0 => {
                    let sql = format!(
                        "INSERT IGNORE INTO bifold.meta (name, revision, at_ms, value) VALUES (?, 1, {NOW}, ?)"
                    );
                    self.run(&sql, (full, value).into()).await?
                }
                _ => {
                    let sql = format!(
                        "UPDATE bifold.meta SET revision = revision + 1, at_ms = {NOW}, value = ? WHERE name = ? AND revision = ?"
                    );
                    self.run(&sql, (value, full, expected).into()).await?
                }
            };
            Ok((affected > 0).then_some(expected + 1))
        })
    }

    fn remove<'a>(&'a self, name: &'a str, expected: u64) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let sql = "DELETE FROM bifold.meta WHERE name = ? AND revision = ?";
            let (_, affected) = self.run(sql, (self.full(name), expected).into()).await?;
            Ok(affected > 0)
        })
    }
}

impl SqlStore {
    fn entry(&self, row: Row) -> Result<Entry> {
        let read = || {
            let age: i64 = row.get(1)?;
            let value: Vec<u8> = row.get(2)?;
            Some(Entry {
                revision: row.get(0)?,
                age: Duration::from_millis(u64::try_from(age).unwrap_or(0)),
                value: String::from_utf8(value).ok()?,
            })
        };
        read().ok_or_else(|| self.failed("a row of bifold.meta can't be read"))
    }
}
