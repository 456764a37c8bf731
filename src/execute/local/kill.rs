//! KILL: a session of this proxy is told by its own number; it sees to its servers itself.

use super::done;
use super::operand::{Given, given};
use crate::error::{Error, Result, code};
use crate::execute::client::Client;
use crate::execute::engine::Engine;
use crate::execute::statement::Running;
use crate::plan::local::Operand;
use crate::registry::{ClientId, interrupted};
use crate::route::Routed;
use crate::sql::Flavour;

pub(super) async fn run(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    query_only: bool,
    thread: &Operand,
) -> Result<()> {
    let thread = number(&given(running, client, routed, thread).await?);
    let thread = match running.engine.profile.dialect.flavour {
        Flavour::MySql => thread & u64::from(u32::MAX),
        Flavour::MariaDb => thread,
    };
    kill(running.engine, client, thread, query_only).await?;
    done(client).await
}

/// The reply is the caller's, unless it is an error.
pub(in crate::execute) async fn kill(
    engine: &Engine,
    client: &mut Client,
    thread: u64,
    query_only: bool,
) -> Result<()> {
    if thread == u64::from(client.id.0) {
        return oneself(engine, client, query_only).await;
    }
    let found = u32::try_from(thread).ok().and_then(|thread| engine.registry.find(ClientId(thread)));
    let Some(listed) = found else {
        return Err(Error::client(code::UNKNOWN_THREAD, format!("Unknown thread id: {thread}")));
    };
    if listed.who().user != client.user.name {
        return Err(Error::client(code::NOT_OWNER, format!("You are not owner of thread {thread}")));
    }
    engine.counts.kills.add(1);
    match query_only {
        true => listed.kill_query(),
        false => listed.kill_connection(),
    }
    Ok(())
}

/// The statement that is killed is this one.
async fn oneself(engine: &Engine, client: &mut Client, query_only: bool) -> Result<()> {
    if query_only {
        return Err(interrupted());
    }
    let error = match engine.profile.dialect.flavour {
        Flavour::MySql => interrupted(),
        Flavour::MariaDb => Error::client(CONNECTION_KILLED, "Connection was killed"),
    };
    client.reply_error(&error).await?;
    Err(error.ending_session())
}

const CONNECTION_KILLED: (u16, &[u8; 5]) = (1927, b"70100");

/// As a server takes any value for a number.
fn number(given: &Given) -> u64 {
    match given {
        Given::Integer(int) => *int as u64, // −1 is the highest, as on a server
        Given::Number(text) => text.parse::<f64>().map_or(0, |number| number.round() as u64),
        Given::Word(word) => {
            let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap_or(0)
        }
        Given::Null | Given::Default => 0,
    }
}
