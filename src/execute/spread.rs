//! One statement in several texts: rows of an INSERT split by place, an UPDATE or DELETE that
//! goes to many. The texts of one server share a local transaction; servers run at the same
//! time. What they answered is summed into one reply.
//!
//! Over several servers the commits go one after the other, once every text has succeeded: only
//! a server that fails between its last text and its commit leaves a part unwritten, and the
//! error says which. Inside a transaction such statements are refused.

use futures_util::future::join_all;

use super::client::{Client, Diagnostic};
use super::exchange;
use super::names;
use super::statement::Running;
use super::tally::Tally;
use crate::error::{Blame, Error, Result, code};
use crate::plan::{Effect, Plan};
use crate::protocol::ok::OkPacket;
use crate::route::{Part, Routed};
use crate::shard::Conn;
use crate::topology::ServerNo;

/// Inside a transaction: what a failed statement is rolled back to.
const SAVEPOINT: &str = "bifold_statement";

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed) -> Result<()> {
    // 1. One text: its reply is passed on as it is
    running.route(client, routed).await?;
    if let [part] = routed.parts.as_slice() {
        let summary = exchange::pass(&running, client, routed, part, part.server, Effect::Write).await?;
        exchange::remember_insert(client, routed, &summary);
        return exchange::follow(&running, client, part.server, &part.names, summary).await;
    }
    if matches!(&running.planned.plan, Plan::Insert(insert) if insert.returning) {
        return Err(Error::refused(
            "Bifold: RETURNING of rows that lie in several places is not supported; insert rows of one sharding key at a time, or read them afterwards.",
        ));
    }
    // 2. Several: who runs them
    let servers = servers(&routed.parts);
    let in_transaction = client.hold.in_transaction() || !client.autocommit();
    if in_transaction && servers.len() > 1 {
        return Err(Error::refused(
            "Bifold: this statement writes on several servers, which inside a transaction is not supported yet. Run it outside of one, or give the sharding key.",
        ));
    }
    let need = exchange::need(client.shape, &client.settings.state, Effect::Write);
    let conns = client.hold.several(&running.engine.servers, &servers, need).await?;
    // 3. All texts, each server's in one local transaction; then the commits
    let frame = if in_transaction { Frame::Savepoint } else { Frame::Transaction };
    let tally = write(&running, conns, &servers, routed, frame).await?;
    // 4. One reply
    reply(&running, client, routed, tally).await
}

/// The servers of the parts, in the one order in which connections are taken.
fn servers(parts: &[Part]) -> Vec<ServerNo> {
    let mut servers: Vec<ServerNo> = parts.iter().map(|part| part.server).collect();
    servers.sort_unstable();
    servers.dedup();
    servers
}

/// What the texts of one server stand in, so that they are kept or undone together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    Transaction,
    Savepoint,
}

impl Frame {
    async fn open(self, conn: &mut Conn) -> Result<()> {
        match self {
            Frame::Transaction => conn.run("START TRANSACTION").await,
            Frame::Savepoint => conn.run(&format!("SAVEPOINT {SAVEPOINT}")).await,
        }
        .map(drop)
    }

    async fn keep(self, conn: &mut Conn) -> Result<()> {
        match self {
            Frame::Transaction => conn.run("COMMIT").await,
            Frame::Savepoint => conn.run(&format!("RELEASE SAVEPOINT {SAVEPOINT}")).await,
        }
        .map(drop)
    }

    /// A server that can't even do that has lost the connection, and with it what was written;
    /// or it has rolled back the whole transaction already.
    async fn undo(self, conn: &mut Conn) {
        let undone = match self {
            Frame::Transaction => conn.run("ROLLBACK").await,
            Frame::Savepoint => conn.run(&format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}")).await,
        };
        if let Err(error) = undone {
            tracing::debug!(%error, "rolling back a statement's part");
        }
    }
}

async fn write(
    running: &Running<'_>,
    mut conns: Vec<&mut Conn>,
    servers: &[ServerNo],
    routed: &Routed,
    frame: Frame,
) -> Result<Tally> {
    let texts = conns.iter_mut().zip(servers).map(|(conn, server)| server_texts(running, conn, *server, routed, frame));
    let written: Vec<Result<Tally>> = join_all(texts).await;
    let mut total = Tally::default();
    let mut failed = None;
    for outcome in written {
        match outcome {
            Ok(tally) => total.add(tally),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    if let Some(error) = failed {
        join_all(conns.iter_mut().map(|conn| frame.undo(conn))).await;
        return Err(error);
    }
    for at in 0..conns.len() {
        if let Err(error) = frame.keep(conns[at]).await {
            for conn in &mut conns[at + 1..] {
                frame.undo(conn).await;
            }
            return Err(half_written(running, servers, at, &error));
        }
    }
    Ok(total)
}

async fn server_texts(
    running: &Running<'_>,
    conn: &mut Conn,
    server: ServerNo,
    routed: &Routed,
    frame: Frame,
) -> Result<Tally> {
    frame.open(conn).await?;
    let mut tally = Tally::default();
    for part in routed.parts.iter().filter(|part| part.server == server) {
        let text = &routed.buffer[part.text.clone()];
        let answer = exchange::ask(running, conn, text, part.args.as_deref()).await;
        let answer = answer.map_err(|error| names::in_error(&part.names, error))?;
        tally.count(part, &answer, running.planned);
        if answer.warnings > 0 && !part.copies {
            let warnings = conn.run("SHOW WARNINGS").await?;
            tally.diagnostics.extend(exchange::diagnostics(&warnings, &part.names));
        }
    }
    Ok(tally)
}

/// A commit failed after others had succeeded: the error names what is written and what is not.
fn half_written(running: &Running<'_>, servers: &[ServerNo], failed: usize, error: &Error) -> Error {
    let name = |server: &ServerNo| running.engine.servers.get(*server).name.clone();
    let list = |servers: &[ServerNo]| servers.iter().map(name).collect::<Vec<_>>().join(", ");
    if servers.len() == 1 {
        return error.clone();
    }
    let written = if failed == 0 { "no server".to_owned() } else { list(&servers[..failed]) };
    let text = format!(
        "Bifold: the commit on server {} failed ({}). Written on: {written}. Not written on: {}; on {} it is not known, look before trying again.",
        name(&servers[failed]),
        String::from_utf8_lossy(error.text()),
        if failed + 1 == servers.len() { "none".to_owned() } else { list(&servers[failed + 1..]) },
        name(&servers[failed]),
    );
    Error::new(Blame::Shard, code::UNKNOWN, text).because(error)
}

async fn reply(running: &Running<'_>, client: &mut Client, routed: &Routed, tally: Tally) -> Result<()> {
    let memory = &mut client.memory;
    memory.row_count = i64::try_from(tally.affected).unwrap_or(i64::MAX);
    let insert_id = routed.insert_id.unwrap_or(0);
    if let Some(generated) = routed.generated_id {
        memory.last_insert_id = generated;
    }
    let info = tally.info(running.planned);
    let ok = OkPacket {
        affected_rows: tally.affected,
        last_insert_id: insert_id,
        warnings: u16::try_from(tally.diagnostics.len()).unwrap_or(u16::MAX),
        info: info.as_bytes(),
        ..OkPacket::default()
    };
    let diagnostics: Vec<Diagnostic> = tally.diagnostics.clone();
    client.memory.diagnostics = diagnostics;
    client.reply_ok_of(ok).await
}
