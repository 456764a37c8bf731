//! [`Coordinator`]: what the transactions over several servers of one proxy share: their names,
//! which of them are under way, and whether the servers are ready for them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::branch::{ServerMark, TransactionId};
use super::decision;
use crate::config::{Config, Transactions};
use crate::error::{Error, Result};
use crate::shard::{Conn, Server, Servers};

#[derive(Debug)]
pub struct Coordinator {
    cluster: String,
    /// Of this process: ids of an earlier one are nobody's.
    incarnation: u64,
    counter: AtomicU64,
    /// The counters of the transactions that a session is leading.
    live: Mutex<std::collections::HashSet<u64>>,
    mode: Transactions,
    /// Two transactions that wait for each other on different servers are a deadlock that no server
    /// sees; so a transaction over several servers waits for a lock no longer than this.
    pub(super) lock_wait_seconds: u32,
    user: String,
    pub(super) servers: Servers,
    /// By server number.
    watched: Vec<Watched>,
    /// A session has left something to recovery.
    left: Notify,
}

/// What is known of one server.
#[derive(Debug)]
struct Watched {
    /// Why no transaction may span it.
    lacking: RwLock<Option<Arc<str>>>,
    /// When XA RECOVER last showed nothing of this cluster's left to end.
    quiet: Mutex<Option<Instant>>,
}

/// A transaction that a session is leading: recovery leaves it alone until this is dropped.
pub struct Live {
    pub id: TransactionId,
    coordinator: Arc<Coordinator>,
}

/// At start no server is waited for longer.
const START: Duration = Duration::from_secs(5);

impl Coordinator {
    pub fn new(config: &Config, servers: &Servers) -> Self {
        let (cluster, mode, user) = (&config.cluster, config.transactions, &config.backend.user);
        let unknown = || Watched { lacking: RwLock::new(Some("it was not asked yet".into())), quiet: Mutex::new(None) };
        Coordinator {
            cluster: cluster.clone(),
            incarnation: rand::random(),
            counter: AtomicU64::new(1),
            live: Mutex::default(),
            mode,
            lock_wait_seconds: u32::try_from(config.lock_wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX),
            user: user.clone(),
            watched: servers.iter().map(|_| unknown()).collect(),
            left: Notify::new(),
            servers: servers.clone(),
        }
    }

    // Readiness

    /// A transaction can come to span servers.
    pub(super) fn is_needed(&self) -> bool {
        self.mode == Transactions::Atomic && self.watched.len() > 1
    }

    /// Makes `bifold.decision` where it is missing and sees whether all rights are there. A
    /// server that isn't ready is asked again by recovery.
    pub async fn prepare(&self) {
        if !self.is_needed() {
            return;
        }
        let asked = self.servers.iter().map(|server| async move {
            let prepared = async { self.prepare_on(server, &mut server.connect_aside().await?).await };
            match timeout(START, prepared).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.lacks(server, &error),
                Err(_) => self.lacks(server, &Error::shard("no answer in time", "deadline")),
            }
        });
        futures_util::future::join_all(asked).await;
    }

    /// Over a connection to that server.
    pub(super) async fn prepare_on(&self, server: &Server, conn: &mut Conn) -> Result<()> {
        decision::prepare(conn).await?;
        if self.watched(server).lacking.write().take().is_some() {
            tracing::info!(server = server.name, "transactions may span the server");
        }
        Ok(())
    }

    pub(super) fn lacks(&self, server: &Server, error: &Error) {
        let said = String::from_utf8_lossy(error.text()).into_owned();
        let is_mariadb = server.greeting_version().windows(7).any(|part| part.eq_ignore_ascii_case(b"mariadb"));
        let remedy = match error.code() {
            1044 | 1045 | 1142 | 1227 => format!(": {}", decision::grants(&self.user, is_mariadb).join(" ")),
            _ => String::new(),
        };
        let why: Arc<str> = format!("{said}{remedy}").into();
        let mut lacking = self.watched(server).lacking.write();
        if lacking.as_deref() != Some(&*why) {
            tracing::warn!(server = server.name, why = &*why, "transactions may not span the server");
        }
        *lacking = Some(why);
    }

    pub(super) fn is_ready(&self, server: &Server) -> bool {
        self.watched(server).lacking.read().is_none()
    }

    /// May transactions span servers? If not, the refusal says why.
    pub fn available(&self) -> Result<()> {
        if self.mode == Transactions::Single {
            return Err(Error::refused(
                "Bifold: this would write on a second server, and the topology says transactions = \"single\". Commit first, or keep to rows whose sharding keys share a server.",
            ));
        }
        for (server, watched) in self.servers.iter().zip(&self.watched) {
            if let Some(why) = watched.lacking.read().as_deref() {
                return Err(Error::refused(format!(
                    "Bifold: this would write on a second server, and commits over several servers are not possible now: server {} is not ready for them ({why}).",
                    server.name
                )));
            }
        }
        Ok(())
    }

    fn watched(&self, server: &Server) -> &Watched {
        &self.watched[usize::from(server.no.0)]
    }

    // What is left to end

    /// A session has given up a connection that may have something prepared.
    pub(super) fn left_behind(&self) {
        self.left.notify_waiters();
    }

    pub(super) async fn something_is_left(&self) {
        self.left.notified().await;
    }

    pub(super) fn is_quiet(&self, server: &Server, quiet: bool) {
        *self.watched(server).quiet.lock() = quiet.then(Instant::now);
    }

    /// On no server anything is left whose fate might have to be looked up.
    pub(super) fn all_quiet(&self, within: Duration) -> bool {
        self.watched.iter().all(|watched| watched.quiet.lock().is_some_and(|at| at.elapsed() < within))
    }

    pub(super) fn server(&self, mark: ServerMark) -> Option<&Arc<Server>> {
        self.servers.iter().find(|server| ServerMark::of(&server.name) == mark)
    }

    // Names

    pub fn open(self: &Arc<Self>) -> Live {
        let counter = self.counter.fetch_add(1, Ordering::Relaxed);
        // Before any server hears of it.
        self.live.lock().insert(counter);
        let id = TransactionId { cluster: self.cluster.clone(), incarnation: self.incarnation, counter };
        Live { id, coordinator: self.clone() }
    }

    pub(super) fn is_of_cluster(&self, id: &TransactionId) -> bool {
        id.cluster == self.cluster
    }

    /// `None`: another process's; else whether a session is leading it.
    pub(super) fn is_live(&self, id: &TransactionId) -> Option<bool> {
        (id.incarnation == self.incarnation).then(|| self.live.lock().contains(&id.counter))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.coordinator.live.lock().remove(&self.id.counter);
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Live({})", self.id)
    }
}
