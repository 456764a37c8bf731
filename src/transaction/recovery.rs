//! Ends what crashes left open: one task for each server lists its prepared branches, and ends
//! those that no session leads as the first server's `bifold.decision` says. Where that table says
//! nothing a tombstone is put there first; a first server that can't be asked is waited for.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::branch::{Branch, TransactionId};
use super::coordinator::Coordinator;
use super::decision::{self, Fate};
use crate::error::{Error, Result};
use crate::shard::{Conn, Server, ServerThreadId};

/// Between two looks at a server.
const EVERY: Duration = Duration::from_secs(3);
/// A branch of another proxy is its affair for so long.
const THEIRS: Duration = Duration::from_secs(5);
/// A step that takes longer is broken off and done again in the next round.
const STEP: Duration = Duration::from_secs(15);
/// Between two deletions of old decision rows.
const TIDY: Duration = Duration::from_secs(600);

/// The owner of the tasks, which end with it.
#[derive(Debug)]
pub struct Recovery {
    _tasks: JoinSet<()>,
}

impl Recovery {
    pub fn start(coordinator: &Arc<Coordinator>) -> Self {
        let mut tasks = JoinSet::new();
        for server in coordinator.servers.iter() {
            let watch = Watch::new(coordinator.clone(), server.clone());
            tasks.spawn(watch.run());
        }
        Recovery { _tasks: tasks }
    }
}

struct Watch {
    coordinator: Arc<Coordinator>,
    server: Arc<Server>,
    conn: Option<Conn>,
    /// When branches of other proxies were seen first.
    seen: HashMap<Branch, Instant>,
    tidied: Option<Instant>,
    /// It can't be reached: said once.
    is_lost: bool,
}

impl Watch {
    fn new(coordinator: Arc<Coordinator>, server: Arc<Server>) -> Self {
        Watch { coordinator, server, conn: None, seen: HashMap::new(), tidied: None, is_lost: false }
    }

    async fn run(mut self) {
        loop {
            let looked = timeout(STEP, self.look()).await;
            let outcome = looked.unwrap_or_else(|_| Err(Error::shard("no answer in time", "deadline")));
            if let Err(error) = &outcome {
                self.failed(error);
            }
            self.is_lost = outcome.is_err();
            tokio::select! {
                () = sleep(EVERY) => {}
                () = self.coordinator.something_is_left() => {}
            }
        }
    }

    fn failed(&mut self, error: &Error) {
        self.conn = None;
        self.coordinator.is_quiet(&self.server, false);
        if !self.is_lost {
            tracing::warn!(server = self.server.name, %error, "prepared transactions can't be looked for");
        }
    }

    /// One round.
    async fn look(&mut self) -> Result<()> {
        // 1. Connected, and ready for transactions
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.server.connect_aside().await?,
        };
        if self.coordinator.is_needed()
            && !self.coordinator.is_ready(&self.server)
            && let Err(error) = self.coordinator.prepare_on(&self.server, &mut conn).await
        {
            self.coordinator.lacks(&self.server, &error);
        }
        // 2. What is prepared here and nobody's
        let listed = match list(&mut conn, &self.coordinator).await {
            // The right is lacking, which was said with the remedy.
            Err(error) if error.code() == ACCESS => {
                self.conn = Some(conn);
                return Ok(());
            }
            other => other?,
        };
        self.seen.retain(|branch, _| listed.contains(branch));
        let due: Vec<Branch> = listed.iter().filter(|branch| self.is_due(branch)).cloned().collect();
        // 3. ended
        for branch in &due {
            self.end(&mut conn, branch).await?;
        }
        // 4. Old decisions deleted, where nothing can need them
        self.coordinator.is_quiet(&self.server, listed.is_empty());
        let is_due = self.tidied.is_none_or(|at| at.elapsed() > TIDY);
        if is_due && self.coordinator.is_ready(&self.server) && self.coordinator.all_quiet(EVERY * 4) {
            decision::forget_old(&mut conn).await?;
            self.tidied = Some(Instant::now());
        }
        self.conn = Some(conn);
        Ok(())
    }

    fn is_due(&mut self, branch: &Branch) -> bool {
        match self.coordinator.is_live(&branch.transaction) {
            Some(live) => !live,
            None => self.seen.entry(branch.clone()).or_insert_with(Instant::now).elapsed() >= THEIRS,
        }
    }

    async fn end(&self, conn: &mut Conn, branch: &Branch) -> Result<()> {
        let id = &branch.transaction;
        let Some(first) = self.coordinator.server(branch.first) else {
            tracing::error!(%id, server = self.server.name, "a prepared branch waits for a server that the topology does not name: {branch}");
            return Ok(());
        };
        let fate = match timeout(STEP / 2, fate(first, branch)).await {
            Ok(Ok(fate)) => fate,
            // Never rolled back on a guess.
            Ok(Err(error)) => {
                tracing::warn!(%id, first = first.name, %error, "a prepared branch waits for its first server");
                return Ok(());
            }
            Err(_) => return Ok(()),
        };
        tracing::info!(%id, server = self.server.name, ?fate, "ending a branch that was left prepared");
        self.say(conn, branch, fate).await
    }

    async fn say(&self, conn: &mut Conn, branch: &Branch, fate: Fate) -> Result<()> {
        let verb = match fate {
            Fate::Committed => "COMMIT",
            Fate::RolledBack => "ROLLBACK",
        };
        for _ in 0..TRIES {
            match conn.run(&format!("XA {verb} {branch}")).await {
                Ok(_) => return Ok(()),
                Err(error) if error.code() == NOT_A_BRANCH => {}
                Err(error) => {
                    tracing::warn!(server = self.server.name, %error, "ending a prepared branch");
                    return if conn.is_busy() { Err(error) } else { Ok(()) };
                }
            }
            // MariaDB says so too while the connection lives that prepared it.
            if !list(conn, &self.coordinator).await?.contains(branch) {
                return Ok(());
            }
            decision::kill(conn, branch.own_thread).await?;
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }
}

const TRIES: usize = 5;
const NOT_A_BRANCH: u16 = 1397;
/// Also without XA_RECOVER_ADMIN on MySQL.
const ACCESS: u16 = 1401;

async fn list(conn: &mut Conn, coordinator: &Coordinator) -> Result<Vec<Branch>> {
    let answer = conn.run("XA RECOVER").await?;
    let branches = answer.rows.iter().filter_map(|row| Branch::from_row(row));
    Ok(branches.filter(|branch| coordinator.is_of_cluster(&branch.transaction)).collect())
}

/// The transaction's fate, final from now on; what it may still hold on its first server is let
/// go.
async fn fate(first: &Server, branch: &Branch) -> Result<Fate> {
    let Branch { transaction, first_thread, begun, .. } = branch;
    let fate = decision::settle(first, transaction, *first_thread).await?;
    if fate == Fate::RolledBack {
        free(first, transaction, *first_thread, *begun).await?;
    }
    Ok(fate)
}

/// A proxy whose machine is gone leaves its connection, and its locks, to a server that doesn't
/// notice. Thread numbers begin anew with the server: only one that has run since is asked.
async fn free(first: &Server, id: &TransactionId, thread: ServerThreadId, begun: u64) -> Result<()> {
    let mut conn = first.connect_aside().await?;
    let uptime = conn.run("SHOW GLOBAL STATUS LIKE 'Uptime'").await?;
    let uptime =
        uptime.rows.first().and_then(|row| std::str::from_utf8(row.get(1)?.as_ref()?).ok()?.parse::<u64>().ok());
    if uptime.is_none_or(|uptime| decision::now().saturating_sub(uptime) >= begun) {
        return Ok(());
    }
    let idle = format!(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE ID = {} AND COMMAND = 'Sleep' AND TIME >= {}",
        thread.0,
        THEIRS.as_secs()
    );
    if !conn.run(&idle).await?.rows.is_empty() {
        tracing::info!(%id, server = first.name, thread = thread.0, "ending the connection of a transaction that nobody leads");
        decision::kill(&mut conn, thread).await?;
    }
    Ok(())
}
