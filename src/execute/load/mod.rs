//! LOAD DATA LOCAL. An unsharded table's file is passed on to its server; any other is parted by its
//! lines (`by_line`), which reach the servers as files of their own.

mod by_line;
mod piles;

use super::client::Client;
use super::exchange;
use super::statement::Running;
use crate::error::{Error, Result};
use crate::plan::load::Load;
use crate::plan::{Effect, Single};
use crate::protocol::Capabilities;
use crate::route::Routed;
use crate::sql::Flavour;

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Load) -> Result<()> {
    if !client.capabilities.has(Capabilities::LOCAL_FILES) {
        return Err(disabled(running.engine.profile.dialect.flavour));
    }
    match plan {
        Load::Whole(single) => whole(running, client, routed, single).await,
        Load::ByLine(plan) => by_line::run(running, client, plan).await,
    }
}

/// The client did not say at its login that it would send files.
fn disabled(flavour: Flavour) -> Error {
    match flavour {
        Flavour::MySql => Error::client(
            (3948, b"42000"),
            "Loading local data is disabled; this must be enabled on both the client and server sides",
        ),
        Flavour::MariaDb => Error::client(
            (4166, b"HY000"),
            "The used command is not allowed because the MariaDB server or client has disabled the local infile capability",
        ),
    }
}

async fn whole(running: Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Single) -> Result<()> {
    let server = exchange::one_server(&running, client, routed, plan).await?;
    let part = &routed.parts[0];
    // The reply does not tell whether the server counted up an id, and the connection may remember
    // one of another session.
    let need = exchange::need(client.shape, &client.settings.state, Effect::Write);
    let conn = client.hold.connection(&running.engine.servers, server, need).await?;
    conn.run("SELECT LAST_INSERT_ID(0)").await?;
    let summary = exchange::pass(&running, client, routed, part, server, Effect::Write).await?;
    let done = summary.error.is_none();
    exchange::follow(&running, client, exchange::At::Held(server), &part.names, summary).await?;
    if let Some(conn) = client.hold.held(server).filter(|_| done) {
        match exchange::number(conn, "SELECT LAST_INSERT_ID()").await? {
            0 => {}
            id => client.memory.last_insert_id = id,
        }
    }
    Ok(())
}
