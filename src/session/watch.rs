//! A command under way, and what others say to its session in the meantime: who asks is told what
//! it is doing, and what is killed is ended, on the servers too.

use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use super::Next;
use crate::error::Result;
use crate::execute::Engine;
use crate::protocol::Command;
use crate::registry::{Doing, Listed, Signal};

/// A statement that goes on although it was killed is on its next text by now.
const AGAIN: Duration = Duration::from_millis(200);

/// A server that can't be told in this time is left alone.
const TELL: Duration = Duration::from_secs(5);

/// Carries a command out; ends it where the session is killed.
pub(super) async fn watched(
    mut working: Pin<&mut impl Future<Output = Result<Next>>>,
    listed: &Listed,
    engine: &Engine,
    packet: &[u8],
    since: Instant,
) -> Result<Next> {
    let mut killed = false;
    loop {
        // As long as `working` is not polled, the connections that it holds are its own: a kill
        // can't hit another session's statement.
        tokio::select! {
            biased;
            done = working.as_mut() => return done,
            signal = listed.signalled() => match signal {
                Signal::Tell => listed.answer(&doing(packet, since)),
                Signal::KillConnection => return Ok(Next::End),
                Signal::KillQuery => {
                    killed = true;
                    Box::pin(interrupt(listed, engine)).await;
                }
            },
            () = sleep(AGAIN), if killed => Box::pin(interrupt(listed, engine)).await,
        }
    }
}

/// KILL QUERY of each statement that may be under way.
async fn interrupt(listed: &Listed, engine: &Engine) {
    for (server, thread) in listed.threads() {
        let server = engine.servers.get(server);
        match timeout(TELL, server.interrupt(thread)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(server = server.name, %error, "killing a statement failed"),
            Err(_) => tracing::warn!(server = server.name, "killing a statement took too long"),
        }
    }
}

fn doing(packet: &[u8], since: Instant) -> Doing {
    let (first, body) = packet.split_first().unwrap_or((&0, &[]));
    let (command, text) = match Command::from_byte(*first) {
        Some(Command::Query) => ("Query", Some(body.to_vec())),
        Some(Command::StmtPrepare) => ("Prepare", Some(body.to_vec())),
        Some(Command::StmtExecute) => ("Execute", None),
        Some(Command::StmtFetch) => ("Fetch", None),
        Some(Command::ChangeUser) => ("Change user", None),
        Some(Command::InitDb) => ("Init DB", None),
        Some(Command::FieldList) => ("Field List", None),
        Some(_) | None => ("Query", None),
    };
    Doing { command, since, text }
}
