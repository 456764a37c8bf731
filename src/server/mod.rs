//! Everything put together in one place: the engine, the listening socket, the clients and their
//! bound, and the end of it all.

mod follow;
mod http;
mod shared;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::config::Config;
use crate::error::{Error, Result, code};
use crate::execute::{Current, Duty, Engine};
use crate::protocol::err::ErrPacket;
use crate::session::{Door, Session, log_in};
use crate::snowflake::FixedWorker;
use crate::wire::{Framed, Peer};
use http::Http;
use shared::Shared;

/// How long open sessions get to finish when the proxy is told to stop.
const DRAIN: Duration = Duration::from_secs(5);

pub struct Server {
    listener: TcpListener,
    current: Arc<Current>,
    door: Arc<Door>,
    places: Arc<Semaphore>,
    /// `None`: this proxy is alone.
    shared: Option<Shared>,
    http: Option<Http>,
}

impl Server {
    /// Looks at the servers and listens; serves nobody yet.
    /// `worker`: its number, which it must have where it is alone; with a store the lease decides.
    pub async fn start(mut config: Config, worker: Option<u32>, duty: Duty) -> Result<Self> {
        let mut shared = Shared::join(&mut config, worker, duty).await?;
        let places =
            Arc::new(Semaphore::new(usize::try_from(config.limits.max_clients).unwrap_or(Semaphore::MAX_PERMITS)));
        let address = config.listen.mysql.clone();
        let lease = match &shared {
            Some(shared) => shared.lease(),
            None => Arc::new(FixedWorker(worker.ok_or_else(|| Error::operator("no worker number"))?)),
        };
        let engine = Arc::new(Engine::start(config, lease, duty).await?);
        let current = Arc::new(Current::new(engine.clone()));
        if let Some(shared) = &mut shared {
            shared.follow(&current).await?;
        }
        let door = Arc::new(Door::new(&engine.config, engine.profile.greeting_version.clone())?);
        let listener = TcpListener::bind(&address)
            .await
            .map_err(|error| Error::operator(format!(
                "Bifold can't listen on {address}: {error}; give another address as listen.mysql in the topology file, or end the program that has this one"
            )))?;
        let http = match &engine.config.listen.http {
            Some(address) => Some(Http::start(address, current.clone()).await?),
            None => None,
        };
        Ok(Server { listener, current, door, places, shared, http })
    }

    pub fn address(&self) -> Result<SocketAddr> {
        self.listener
            .local_addr()
            .map_err(|error| Error::proxy("Bifold: the listening socket has no address.").because(error))
    }

    /// Where metrics are read, if anywhere.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http.as_ref().map(Http::address)
    }

    /// Serves clients until `stop` ends, then lets the open sessions finish for a moment.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut sessions = JoinSet::new();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((tcp, from)) => self.welcome(tcp, from, &mut sessions),
                    // Out of file descriptors, mostly: others may leave in the meantime.
                    Err(error) => {
                        tracing::warn!(%error, "accepting a client failed");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                Some(_) = sessions.join_next() => {}
            }
        }
        drop(self.listener);
        let _ = timeout(DRAIN, async { while sessions.join_next().await.is_some() {} }).await;
        sessions.shutdown().await;
        if let Some(shared) = self.shared {
            shared.leave().await;
        }
    }

    fn welcome(&self, tcp: TcpStream, from: SocketAddr, sessions: &mut JoinSet<()>) {
        let (current, door, places) = (self.current.clone(), self.door.clone(), self.places.clone());
        let id = current.engine().registry.next_id();
        sessions.spawn(async move {
            let engine = current.engine();
            let mut wire = Framed::new(tcp, Peer::Client, engine.config.limits.max_packet);
            let Ok(place) = places.try_acquire_owned() else {
                engine.counts.turned_away.add(1);
                let full = Error::client(code::CON_COUNT, "Too many connections");
                wire.queue_with(|out| ErrPacket::of(&full).write(out));
                let _ = wire.flush().await;
                return;
            };
            let (mut place, counts) = (Some(place), engine.counts.clone());
            let login = Box::pin(log_in(wire, id, from, &engine, &door, &mut place));
            match timeout(engine.config.limits.login, login).await {
                Ok(Ok(None)) => {}
                Ok(Ok(Some((client, login)))) => Session::new(client, login, current, engine, door).serve().await,
                Ok(Err(error)) => {
                    counts.logins_refused.add(1);
                    tracing::info!(%from, %error, "login refused");
                }
                Err(_) => tracing::info!(%from, "login took too long"),
            }
        });
    }
}
