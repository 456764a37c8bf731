//! [`Listed`]: one live session as others see it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::ClientId;
use super::signal::{Signal, Signals};
use crate::error::{Error, Result, code};
use crate::topology::ServerNo;

/// A session answers when its task is polled next, which is at once unless it is parsing.
const ANSWER: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct Listed {
    pub id: ClientId,
    who: Mutex<Who>,
    signals: Signals,
    /// The statement under way was killed: what waits for something gives up.
    killed: AtomicBool,
    /// Something is being done that must not be broken off: a commit over several servers.
    shielded: AtomicBool,
    /// The server's own number of the connection that is held, by server; 0: none is.
    threads: Box<[AtomicU32]>,
    /// The same of one connection beside those, with its server's number above it.
    aside: AtomicU64,
    askers: Mutex<Vec<oneshot::Sender<Doing>>>,
}

/// Changes with USE and COM_CHANGE_USER only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    pub user: String,
    /// Address and port.
    pub host: String,
    pub schema: Option<String>,
}

/// What a session says that it is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doing {
    /// As SHOW PROCESSLIST calls the command; `Sleep` between two.
    pub command: &'static str,
    pub since: Instant,
    /// The statement's text.
    pub text: Option<Vec<u8>>,
}

/// A row of the list.
#[derive(Clone, Debug)]
pub struct Seen {
    pub id: ClientId,
    pub who: Who,
    /// `None`: it did not answer in time.
    pub doing: Option<Doing>,
}

/// The session holds this connection; no longer when dropped, which has to be before the
/// connection serves another.
#[derive(Debug)]
pub struct Use {
    listed: Arc<Listed>,
    /// `None`: it is the one beside the others.
    server: Option<ServerNo>,
}

impl Listed {
    pub(super) fn new(id: ClientId, who: Who, servers: usize) -> Self {
        Listed {
            id,
            who: Mutex::new(who),
            signals: Signals::default(),
            killed: AtomicBool::new(false),
            shielded: AtomicBool::new(false),
            threads: (0..servers).map(|_| AtomicU32::new(0)).collect(),
            aside: AtomicU64::new(0),
            askers: Mutex::default(),
        }
    }

    // For others

    pub fn who(&self) -> Who {
        self.who.lock().clone()
    }

    pub async fn see(&self) -> Seen {
        let (asker, answer) = oneshot::channel();
        self.askers.lock().push(asker);
        self.signals.raise(Signal::Tell);
        let doing = timeout(ANSWER, answer).await.ok().and_then(std::result::Result::ok);
        Seen { id: self.id, who: self.who(), doing }
    }

    /// KILL QUERY.
    pub fn kill_query(&self) {
        self.killed.store(true, Ordering::Release);
        self.signals.raise(Signal::KillQuery);
    }

    /// KILL CONNECTION.
    pub fn kill_connection(&self) {
        self.signals.raise(Signal::KillConnection);
    }

    // For its own task

    pub fn set_who(&self, who: Who) {
        *self.who.lock() = who;
    }

    pub fn set_schema(&self, schema: Option<&str>) {
        self.who.lock().schema = schema.map(str::to_owned);
    }

    /// The next signal. Only the session's own task waits here: there is one waker.
    pub async fn signalled(&self) -> Signal {
        std::future::poll_fn(|context| self.signals.poll(context)).await
    }

    pub fn answer(&self, doing: &Doing) {
        for asker in std::mem::take(&mut *self.askers.lock()) {
            // Who asked may have gone.
            let _ = asker.send(doing.clone());
        }
    }

    /// The next statement is not the one that was killed. Gives whether one was.
    pub fn forget_kill(&self) -> bool {
        self.killed.load(Ordering::Relaxed) && self.killed.swap(false, Ordering::AcqRel)
    }

    pub fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }

    /// Waits for something that is not a server's reply; given up where the statement is killed.
    /// It comes pinned, so that it takes its room only once.
    pub async fn unless_killed<T>(&self, mut waiting: Pin<&mut impl Future<Output = Result<T>>>) -> Result<T> {
        std::future::poll_fn(|context| match waiting.as_mut().poll(context) {
            Poll::Pending if self.is_killed() => Poll::Ready(Err(interrupted())),
            polled => polled,
        })
        .await
    }

    /// Until told otherwise no statement of the session is killed on a server.
    pub fn shield(&self, on: bool) {
        self.shielded.store(on, Ordering::Release);
    }

    /// The connections on which a statement may be under way.
    pub fn threads(&self) -> Vec<(ServerNo, u32)> {
        if self.shielded.load(Ordering::Acquire) {
            return Vec::new();
        }
        let held = self.threads.iter().map(|thread| thread.load(Ordering::Acquire));
        let mut threads: Vec<_> = (0..).map(ServerNo).zip(held).collect();
        let [_, _, high, low, a, b, c, d] = self.aside.load(Ordering::Acquire).to_be_bytes();
        threads.push((ServerNo(u16::from_be_bytes([high, low])), u32::from_be_bytes([a, b, c, d])));
        threads.retain(|(_, thread)| *thread != 0);
        threads
    }

    pub fn uses(self: &Arc<Self>, server: ServerNo, thread: u32) -> Use {
        if let Some(slot) = self.threads.get(usize::from(server.0)) {
            slot.store(thread, Ordering::Release);
        }
        Use { listed: self.clone(), server: Some(server) }
    }

    /// A connection beside those to each server, of which there is one at a time.
    pub fn uses_aside(self: &Arc<Self>, server: ServerNo, thread: u32) -> Use {
        self.aside.store((u64::from(server.0) << 32) | u64::from(thread), Ordering::Release);
        Use { listed: self.clone(), server: None }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        match self.server {
            Some(server) => {
                if let Some(slot) = self.listed.threads.get(usize::from(server.0)) {
                    slot.store(0, Ordering::Release);
                }
            }
            None => self.listed.aside.store(0, Ordering::Release),
        }
    }
}

/// What a statement ends with that was killed.
pub fn interrupted() -> Error {
    Error::client(code::QUERY_INTERRUPTED, "Query execution was interrupted")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Arc<Listed> {
        let who = Who { user: "app".into(), host: "h:1".into(), schema: None };
        Arc::new(Listed::new(ClientId(1), who, 2))
    }

    #[tokio::test]
    async fn signals_come_in_the_order_of_their_weight() {
        let listed = listed();
        listed.kill_query();
        listed.kill_connection();
        assert_eq!(listed.signalled().await, Signal::KillConnection);
        assert_eq!(listed.signalled().await, Signal::KillQuery);
        assert!(listed.forget_kill());
        assert!(!listed.forget_kill());
    }

    #[tokio::test]
    async fn who_waits_gives_up_when_killed() {
        let listed = listed();
        let other = listed.clone();
        let waiting = async {
            let never = std::pin::pin!(std::future::pending::<Result<()>>());
            tokio::select! {
                biased;
                ended = other.unless_killed(never) => ended,
                _ = async { loop { other.signalled().await; } } => unreachable!(),
            }
        };
        let kill = async { listed.kill_query() };
        let (ended, ()) = tokio::join!(waiting, kill);
        assert_eq!(ended.expect_err("killed").code(), 1317);
    }

    #[tokio::test]
    async fn a_session_answers_for_itself() {
        let listed = listed();
        let doing = Doing { command: "Query", since: Instant::now(), text: Some(b"SELECT 1".to_vec()) };
        let own = async {
            assert_eq!(listed.signalled().await, Signal::Tell);
            listed.answer(&doing);
        };
        let (seen, ()) = tokio::join!(listed.see(), own);
        assert_eq!(seen.doing.as_ref(), Some(&doing));
    }

    #[test]
    fn connections_are_known_while_they_are_held() {
        let listed = listed();
        let held = listed.uses(ServerNo(1), 77);
        assert_eq!(listed.threads(), [(ServerNo(1), 77)]);
        listed.shield(true);
        assert!(listed.threads().is_empty());
        listed.shield(false);
        drop(held);
        let aside = listed.uses_aside(ServerNo(3), 5);
        assert_eq!(listed.threads(), [(ServerNo(3), 5)]);
        drop(aside);
        assert!(listed.threads().is_empty());
    }
}
