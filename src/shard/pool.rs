//! One server's pool. A connection is either idle here, or out in a [`Checkout`], which gives it
//! back when it is dropped clean and closes it otherwise. Connections in and out together never
//! exceed the bound, whatever capabilities and settings they have.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::conn::{Answer, Conn, ReplyShape};
use super::fence::Fence;
use super::janitor::Janitor;
use super::login::Login;
use crate::config::Backend;
use crate::context::{State, States};
use crate::error::{Blame, Error, Result, code};
use crate::topology::{self, ServerNo, Topology};

/// All servers of the topology, by number.
#[derive(Clone, Debug)]
pub struct Servers(Vec<Arc<Server>>);

#[derive(Debug)]
pub struct Server {
    pub no: ServerNo,
    pub name: String,
    login: Login,
    wait: Duration,
    idle_limit: Duration,
    bound: usize,
    /// The most recently used last.
    idle: Mutex<Vec<Idle>>,
    /// One permit for each connection that is not idle.
    permits: Semaphore,
    janitor: Janitor,
    /// Statements that had to wait for a connection, and those that got none.
    waited: AtomicU64,
    timed_out: AtomicU64,
}

#[derive(Debug)]
struct Idle {
    conn: Box<Conn>,
    since: Instant,
}

/// A connection lent from the pool.
#[derive(Debug)]
pub struct Checkout {
    server: Arc<Server>,
    /// `None` only while it is dropped.
    conn: Option<Box<Conn>>,
}

impl Servers {
    pub fn new(topology: &Topology, backend: &Backend, states: &States) -> Result<Self> {
        Servers::fenced(topology, backend, states, None)
    }

    /// Connections to servers of a newer layout are refused.
    pub fn fenced(topology: &Topology, backend: &Backend, states: &States, fence: Option<&Arc<Fence>>) -> Result<Self> {
        let made = topology.servers().iter().map(|server| Server::start(server, backend, states, fence.cloned()));
        made.collect::<Result<_>>().map(Servers)
    }

    /// Is any connection lent?
    pub fn are_busy(&self) -> bool {
        self.iter().any(|server| server.counts().1 > 0)
    }

    pub fn get(&self, no: ServerNo) -> &Arc<Server> {
        &self.0[usize::from(no.0)]
    }

    /// Runs a small statement of the proxy's own, with the settings of a fresh login.
    pub async fn run(&self, server: ServerNo, sql: &str) -> Result<Answer> {
        let server = self.get(server);
        let base = server.login.base().clone();
        let mut conn = server.checkout(ReplyShape { deprecate_eof: true, ..ReplyShape::default() }, &base).await?;
        conn.bring_to(&base).await?;
        conn.run(sql).await
    }

    /// The bound of the smallest pool.
    pub fn smallest_pool(&self) -> usize {
        self.iter().map(|server| server.bound).min().unwrap_or(1)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.0.iter()
    }
}

impl Server {
    fn start(
        server: &topology::Server,
        backend: &Backend,
        states: &States,
        fence: Option<Arc<Fence>>,
    ) -> Result<Arc<Self>> {
        let bound = usize::try_from(backend.connections).expect("32 bits fit");
        let login = Login::new(server, backend, states, fence)?;
        Ok(Arc::new_cyclic(|this| Server {
            no: server.no,
            name: server.name.clone(),
            login,
            wait: backend.wait,
            idle_limit: backend.idle,
            bound,
            idle: Mutex::new(Vec::new()),
            permits: Semaphore::new(bound),
            janitor: Janitor::start(this.clone()),
            waited: AtomicU64::new(0),
            timed_out: AtomicU64::new(0),
        }))
    }

    /// A connection outside the pool, which may be exhausted by what this one is to put right.
    pub async fn connect_aside(&self) -> Result<Conn> {
        Conn::open(&self.login, ReplyShape::default()).await
    }

    /// KILL QUERY of a connection of the pool. Not over the pool, which may be exhausted by the
    /// very statements to kill.
    pub async fn interrupt(&self, thread: u32) -> Result<()> {
        let mut conn = self.connect_aside().await?;
        conn.run(&format!("KILL QUERY {thread}")).await.map(drop)
    }

    /// What it calls its version in greetings; empty before the first connection.
    pub fn greeting_version(&self) -> Vec<u8> {
        self.login.greeting_version()
    }

    /// A connection whose replies have this shape; one with these settings already where the
    /// pool has it. Waits at most the pool's limit.
    pub async fn checkout(self: &Arc<Self>, shape: ReplyShape, state: &Arc<State>) -> Result<Checkout> {
        self.checkout_for(shape, state, None).await
    }

    /// The same, best one that has the statement of this text prepared.
    pub async fn checkout_for(
        self: &Arc<Self>,
        shape: ReplyShape,
        state: &Arc<State>,
        prepared: Option<&[u8]>,
    ) -> Result<Checkout> {
        self.permit().await?;
        // From here on the permit is the checkout's, and goes back with it.
        let mut checkout = Checkout { server: self.clone(), conn: self.take_idle(shape, state, prepared) };
        if checkout.conn.is_none() {
            checkout.conn = Some(Box::new(Conn::open(&self.login, shape).await?));
        }
        Ok(checkout)
    }

    async fn permit(&self) -> Result<()> {
        let permit = match self.permits.try_acquire() {
            Ok(permit) => permit,
            Err(_) => {
                self.waited.fetch_add(1, Ordering::Relaxed);
                match timeout(self.wait, self.permits.acquire()).await {
                    Ok(permit) => permit.expect("the semaphore is never closed"),
                    Err(_) => {
                        self.timed_out.fetch_add(1, Ordering::Relaxed);
                        return Err(self.exhausted());
                    }
                }
            }
        };
        permit.forget();
        Ok(())
    }

    fn exhausted(&self) -> Error {
        let text = format!(
            "Bifold: no connection to server {} became free within {} ms; all {} are in use. Try again, or raise backend.connections.",
            self.name,
            self.wait.as_millis(),
            self.bound
        );
        Error::new(Blame::Proxy, code::CON_COUNT, text).retryable()
    }

    /// The best of the idle ones that still live. Makes room in the pool when there is none.
    fn take_idle(&self, shape: ReplyShape, state: &Arc<State>, prepared: Option<&[u8]>) -> Option<Box<Conn>> {
        let mut idle = self.idle.lock();
        loop {
            let same_shape = |idle: &Idle| idle.conn.shape() == shape;
            let ready = |idle: &Idle| same_shape(idle) && Arc::ptr_eq(idle.conn.state(), state);
            let best = prepared
                .and_then(|text| idle.iter().rposition(|idle| ready(idle) && idle.conn.has_prepared(text)))
                .or_else(|| idle.iter().rposition(ready))
                .or_else(|| idle.iter().rposition(same_shape));
            let Some(at) = best else { break };
            let mut found = idle.remove(at);
            if found.conn.is_quiet() {
                return Some(found.conn);
            }
        }
        let out = self.bound - self.permits.available_permits();
        if out + idle.len() > self.bound {
            idle.remove(0);
        }
        None
    }

    fn put_idle(&self, conn: Box<Conn>) {
        self.idle.lock().push(Idle { conn, since: Instant::now() });
    }

    /// Closes what has been idle for longer than the limit; called now and then.
    pub(super) fn close_idle(&self) {
        let mut idle = self.idle.lock();
        let stale = idle.iter().take_while(|idle| idle.since.elapsed() > self.idle_limit).count();
        let closing: Vec<Idle> = idle.drain(..stale).collect();
        drop(idle);
        drop(closing);
    }

    /// None of them is needed any more.
    pub fn close_all_idle(&self) {
        let closing = std::mem::take(&mut *self.idle.lock());
        drop(closing);
    }

    /// (those that waited for a connection, those that got none)
    pub fn waits(&self) -> (u64, u64) {
        (self.waited.load(Ordering::Relaxed), self.timed_out.load(Ordering::Relaxed))
    }

    /// Connections at most.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// (idle, lent)
    pub fn counts(&self) -> (usize, usize) {
        (self.idle.lock().len(), self.bound - self.permits.available_permits())
    }
}

impl Deref for Checkout {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        self.conn.as_ref().expect("there until dropped")
    }
}

impl DerefMut for Checkout {
    fn deref_mut(&mut self) -> &mut Conn {
        self.conn.as_mut().expect("there until dropped")
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        match self.conn.take() {
            Some(conn) if conn.is_clean() => self.server.put_idle(conn),
            Some(conn) if conn.is_busy() => self.server.janitor.kill(conn.thread()),
            Some(_) | None => {}
        }
        self.server.permits.add_permits(1);
    }
}
