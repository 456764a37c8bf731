//! The table `bifold.decision` on each server: the row that makes a transaction over several
//! servers final, written in the transaction of its first server, or the tombstone that makes
//! that impossible. The primary key lets only one of the two be there.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::branch::TransactionId;
use crate::error::{Error, Result};
use crate::shard::{Conn, Server, ServerThreadId};

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Committed,
    RolledBack,
}

/// Within the transaction of its first server: its commit is the decision from now on.
pub fn record(id: &TransactionId) -> String {
    insert(id, true)
}

fn insert(id: &TransactionId, committed: bool) -> String {
    // The clock is the proxy's: a session may have set its connection's.
    format!("INSERT INTO bifold.decision (gtrid, committed, at) VALUES ('{id}', {}, {})", u8::from(committed), now())
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Rows live longer than any server stays away.
pub(super) const KEPT: Duration = Duration::from_secs(24 * 3600);

pub(super) async fn forget_old(conn: &mut Conn) -> Result<()> {
    let before = now().saturating_sub(KEPT.as_secs());
    conn.run(&format!("DELETE FROM bifold.decision WHERE at < {before} LIMIT 10000")).await.map(drop)
}

/// A tombstone waits this long for a commit in flight before the connection that holds it up is
/// killed.
const PATIENCE: &str = "SET SESSION innodb_lock_wait_timeout = 2, autocommit = 1";
const TRIES: usize = 4;

/// Asks the first server what became of a transaction, and puts a tombstone there if nothing has
/// yet, so that nothing but a rollback can: the answer is final.
pub async fn settle(first: &Server, id: &TransactionId, thread: ServerThreadId) -> Result<Fate> {
    let mut conn = first.connect_aside().await?;
    conn.run(PATIENCE).await?;
    let mut last = None;
    for _ in 0..TRIES {
        match conn.run(&insert(id, false)).await {
            Ok(_) => return Ok(Fate::RolledBack),
            Err(error) if error.code() == DUPLICATE => {
                if let Some(fate) = read(&mut conn, id).await? {
                    return Ok(fate);
                }
                last = Some(error);
            }
            // Only the transaction itself can hold this row up.
            Err(error) if error.code() == LOCK_WAIT => {
                kill(&mut conn, thread).await?;
                last = Some(error);
            }
            Err(error) if error.code() == DEADLOCK => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| Error::proxy("Bifold: no try was made.")))
}

async fn read(conn: &mut Conn, id: &TransactionId) -> Result<Option<Fate>> {
    let answer = conn.run(&format!("SELECT committed FROM bifold.decision WHERE gtrid = '{id}'")).await?;
    let Some(row) = answer.rows.first() else { return Ok(None) };
    match row.first().and_then(Option::as_deref) {
        Some(b"1") => Ok(Some(Fate::Committed)),
        Some(b"0") => Ok(Some(Fate::RolledBack)),
        Some(_) | None => Err(Error::proxy("Bifold: a row of bifold.decision can't be read.")),
    }
}

/// Ends a connection of the backend account's; one that is gone already is no error.
pub(super) async fn kill(conn: &mut Conn, thread: ServerThreadId) -> Result<()> {
    match conn.run(&format!("KILL {}", thread.0)).await {
        Err(error) if error.code() != NO_SUCH_THREAD => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

const DUPLICATE: u16 = 1062;
const LOCK_WAIT: u16 = 1205;
const DEADLOCK: u16 = 1213;
const NO_SUCH_THREAD: u16 = 1094;

/// Makes the table where it is missing, and tries all that will be done with it.
pub(super) async fn prepare(conn: &mut Conn) -> Result<()> {
    if conn.run("SELECT gtrid FROM bifold.decision LIMIT 0").await.is_err() {
        conn.run("CREATE DATABASE IF NOT EXISTS bifold").await?;
        conn.run(TABLE).await?;
    }
    conn.run("INSERT INTO bifold.decision (gtrid, committed, at) SELECT gtrid, committed, at FROM bifold.decision WHERE gtrid = '' AND at <> 0")
        .await?;
    conn.run("DELETE FROM bifold.decision WHERE gtrid = ''").await?;
    conn.run("XA RECOVER").await.map(drop)
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS bifold.decision (
  gtrid VARBINARY(64) NOT NULL PRIMARY KEY COMMENT 'the transaction, as XA RECOVER shows it',
  committed TINYINT NOT NULL COMMENT '1: committed; 0: a tombstone, it can only be rolled back',
  at BIGINT NOT NULL COMMENT 'Unix seconds of the proxy',
  KEY (at)
) ENGINE = InnoDB COMMENT 'Outcomes of transactions over several servers; Bifold deletes rows after a day'";

/// The GRANTs that a server's account needs for all this.
pub fn grants(user: &str, is_mariadb: bool) -> Vec<String> {
    let mut grants = vec![format!("GRANT {} ON `{DATABASE}`.* TO '{user}'@'%';", RIGHTS.join(", "))];
    if !is_mariadb {
        grants.push(format!("GRANT {RECOVER_RIGHT} ON *.* TO '{user}'@'%';"));
    }
    grants
}

/// Bifold's own, on each server.
pub const DATABASE: &str = "bifold";

/// On `bifold`.*
pub const RIGHTS: [&str; 5] = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE"];
/// MySQL shows XA RECOVER only with it.
pub const RECOVER_RIGHT: &str = "XA_RECOVER_ADMIN";
