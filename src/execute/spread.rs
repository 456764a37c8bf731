//! One statement in several texts: rows of an INSERT split by place, an UPDATE or DELETE that
//! goes to many. The texts of one server run one after the other, servers at the same time; all
//! is kept or undone together. What they answered is summed into one reply.

use futures_util::future::join_all;

use super::client::{Client, Diagnostic};
use super::exchange::{self, At};
use super::local::transaction::unfinished;
use super::names;
use super::statement::Running;
use super::sweep;
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::plan::{Effect, Plan};
use crate::protocol::ok::OkPacket;
use crate::route::{Part, Routed};
use crate::shard::Conn;
use crate::topology::ServerNo;
use crate::transaction::Ending;

/// Inside a transaction: what a failed statement is rolled back to.
const SAVEPOINT: &str = "bifold_statement";

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed) -> Result<()> {
    // 1. One text: its reply is passed on as it is
    running.route(client, routed).await?;
    if let [part] = routed.parts.as_slice() {
        let summary = exchange::pass(&running, client, routed, part, part.server, Effect::Write).await?;
        exchange::remember_insert(client, routed, &summary);
        return exchange::follow(&running, client, At::Held(part.server), &part.names, summary).await;
    }
    if matches!(&running.planned.plan, Plan::Insert(insert) if insert.returning) {
        return Err(Error::refused(
            "Bifold: RETURNING of rows that lie in several places is not supported; insert rows of one sharding key at a time, or read them afterwards.",
        ));
    }
    // 2. Several: in the session's transaction, or in one of their own
    let alone = !client.hold.in_transaction() && client.autocommit();
    let servers = servers(&routed.parts);
    if alone || (servers.len() > 1 && !client.hold.in_transaction()) {
        client.hold.begin("START TRANSACTION".into());
    }
    let written = write(&running, client, &servers, routed, !alone).await;
    if alone {
        let ending = if written.is_ok() { Ending::Commit } else { Ending::Rollback };
        let ended = client.hold.end(ending).await;
        written.as_ref().map_err(Error::clone)?;
        ended?;
    }
    // 3. One reply
    let mut tally = written?;
    let diagnostics = tally.take_diagnostics(unfinished(&client.hold.take_unfinished()));
    reply(&running, client, routed, tally, diagnostics).await
}

/// The servers of the parts, in the one order in which connections are taken.
fn servers(parts: &[Part]) -> Vec<ServerNo> {
    let mut servers: Vec<ServerNo> = parts.iter().map(|part| part.server).collect();
    servers.sort_unstable();
    servers.dedup();
    servers
}

/// Runs all texts, each server's one after the other. `framed`: they stand in a transaction that
/// goes on, and are undone alone if one of them fails.
async fn write(
    running: &Running<'_>,
    client: &mut Client,
    servers: &[ServerNo],
    routed: &Routed,
    framed: bool,
) -> Result<Tally> {
    let need = exchange::need(client.shape, &client.settings.state, Effect::Write);
    let mut conns = client.hold.several(&running.engine.servers, servers, need).await?;
    if framed {
        let set = format!("SAVEPOINT {SAVEPOINT}");
        all(join_all(conns.iter_mut().map(|conn| conn.run(&set))).await)?;
    }
    let texts = conns.iter_mut().zip(servers).map(|(conn, server)| server_texts(running, conn, *server, routed));
    // Two writers of the same row meet at the first of its copies, and not crosswise.
    let written = all_rows(match routed.parts.iter().any(|part| part.copies) {
        true => in_turn(texts).await,
        false => join_all(texts).await,
    });
    if framed {
        let end = if written.is_ok() { "RELEASE" } else { "ROLLBACK TO" };
        let end = format!("{end} SAVEPOINT {SAVEPOINT}");
        // A server that can't undo its part has rolled back the whole transaction, or is lost with
        // it: that is seen, and done to the others, when the statement is settled.
        let standing = conns.iter_mut().filter(|conn| !conn.is_busy());
        let ended = all(join_all(standing.map(|conn| conn.run(&end))).await);
        if written.is_ok() {
            ended?;
        }
    }
    let mut total = Tally::default();
    written?.into_iter().for_each(|tally| total.add(tally));
    Ok(total)
}

/// One after the other, up to the first that fails.
async fn in_turn<T, E>(
    working: impl Iterator<Item = impl Future<Output = std::result::Result<T, E>>>,
) -> Vec<std::result::Result<T, E>> {
    let mut outcomes = Vec::new();
    for work in working {
        outcomes.push(work.await);
        if outcomes.last().is_some_and(std::result::Result::is_err) {
            break;
        }
    }
    outcomes
}

/// All of them, or the first error.
fn all<T>(outcomes: Vec<Result<T>>) -> Result<Vec<T>> {
    outcomes.into_iter().collect()
}

/// All of them, or the error of the first row that met one.
fn all_rows<T>(outcomes: Vec<std::result::Result<T, (u32, Error)>>) -> Result<Vec<T>> {
    let (done, failed): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(std::result::Result::is_ok);
    match failed.into_iter().filter_map(std::result::Result::err).min_by_key(|(row, _)| *row) {
        Some((_, error)) => Err(error),
        None => Ok(done.into_iter().flatten().collect()),
    }
}

/// An error comes with the number of the row that met it.
async fn server_texts(
    running: &Running<'_>,
    conn: &mut Conn,
    server: ServerNo,
    routed: &Routed,
) -> std::result::Result<Tally, (u32, Error)> {
    let mut tally = Tally::default();
    let mut failed: Option<(u32, Error)> = None;
    for part in routed.parts.iter().filter(|part| part.server == server) {
        // One server would have met the error of an earlier row first; all is undone anyway.
        let is_later = |row: u32| part.numbers.first().is_none_or(|first| *first > row);
        if failed.as_ref().is_some_and(|(row, error)| is_later(*row) || !is_of_values(error)) {
            continue;
        }
        let text = &routed.buffer[part.text.clone()];
        sweep::before(running, conn, part).await.map_err(|error| (0, error))?;
        let answer = match exchange::ask(running, conn, text, part.args.as_deref()).await {
            Ok(answer) => answer,
            Err(error) => {
                let (row, error) = names::in_row_error(part, error);
                if failed.as_ref().is_none_or(|(other, _)| row < *other) {
                    failed = Some((row, error));
                }
                continue;
            }
        };
        tally.count(part, &answer, running.planned);
        if answer.warnings > 0 && !part.copies {
            let warnings = conn.run("SHOW WARNINGS").await.map_err(|error| (0, error))?;
            tally.diagnose(part, exchange::diagnostics(&warnings, &part.names));
        }
    }
    failed.map_or(Ok(tally), Err)
}

/// The statement failed by what it says; connection and transaction stand.
fn is_of_values(error: &Error) -> bool {
    matches!(error.state(), [b'2', b'2' | b'3', ..]) || error.code() == INCORRECT_VALUE
}

const INCORRECT_VALUE: u16 = 1366;

async fn reply(
    running: &Running<'_>,
    client: &mut Client,
    routed: &Routed,
    tally: Tally,
    diagnostics: Vec<Diagnostic>,
) -> Result<()> {
    let memory = &mut client.memory;
    memory.row_count = i64::try_from(tally.affected).unwrap_or(i64::MAX);
    let insert_id = routed.insert_id.unwrap_or(0);
    if let Some(generated) = routed.generated_id {
        memory.last_insert_id = generated;
    }
    let info = tally.info(running.planned, diagnostics.len());
    let ok = OkPacket {
        affected_rows: tally.affected,
        last_insert_id: insert_id,
        warnings: u16::try_from(diagnostics.len()).unwrap_or(u16::MAX),
        info: info.as_bytes(),
        ..OkPacket::default()
    };
    client.memory.diagnostics = diagnostics;
    client.reply_ok_of(ok).await
}
