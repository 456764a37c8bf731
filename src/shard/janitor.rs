//! Looks after one server's pool: kills there what broken-off exchanges left running, and closes
//! connections that have been idle for too long.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::conn::ServerThreadId;
use super::pool::Server;

/// So many kills may wait; beyond it the server finds out by itself that nobody reads.
const QUEUE: usize = 1024;
const TIDY: Duration = Duration::from_secs(5);

/// The owner of the task, which ends with it.
#[derive(Debug)]
pub(super) struct Janitor {
    kills: mpsc::Sender<ServerThreadId>,
    task: JoinHandle<()>,
}

impl Janitor {
    pub fn start(server: Weak<Server>) -> Self {
        let (kills, queue) = mpsc::channel(QUEUE);
        Janitor { kills, task: tokio::spawn(look_after(server, queue)) }
    }

    /// The connection is being closed while its server may still work on a statement, and hold
    /// locks for it.
    pub fn kill(&self, thread: ServerThreadId) {
        if self.kills.try_send(thread).is_err() {
            tracing::warn!(thread = thread.0, "too many statements to kill; one is left to end by itself");
        }
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn look_after(server: Weak<Server>, mut queue: mpsc::Receiver<ServerThreadId>) {
    let mut tidy = tokio::time::interval(TIDY);
    loop {
        tokio::select! {
            thread = queue.recv() => match (thread, server.upgrade()) {
                (Some(thread), Some(server)) => kill(&server, thread).await,
                (None, _) | (_, None) => return,
            },
            _ = tidy.tick() => match server.upgrade() {
                Some(server) => server.close_idle(),
                None => return,
            },
        }
    }
}

/// Not over the pool, which may be exhausted by the very statements to kill.
async fn kill(server: &Arc<Server>, thread: ServerThreadId) {
    let killed = async {
        let mut conn = server.connect_aside().await?;
        conn.run(&format!("KILL {}", thread.0)).await
    };
    // Error 1094: it is gone already.
    match killed.await {
        Err(error) if error.code() != 1094 => {
            tracing::warn!(server = server.name, %error, "killing a statement failed")
        }
        Ok(_) | Err(_) => {}
    }
}
