//! One statement in several texts: rows of an INSERT split by place, an UPDATE or DELETE that
//! goes to many. The texts of one server run one after the other, servers at the same time; all
//! is kept or undone together. What they answered is summed into one reply.

use futures_util::future::join_all;

use super::batch;
use super::choice;
use super::client::{Client, Diagnostic};
use super::copies::Copies;
use super::exchange::{self, At};
use super::local::transaction::unfinished;
use super::moves::{self, Moved};
use super::names;
use super::statement::Running;
use super::sweep;
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::plan::{Effect, Plan};
use crate::protocol::ok::OkPacket;
use crate::route::{Part, Routed};
use crate::shard::{Answer, Conn};
use crate::sql::Flavour;
use crate::topology::ServerNo;
use crate::transaction::{Ending, Frame};

/// A server with more texts than these gets them ahead of its replies.
const FEW: usize = 4;

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed) -> Result<()> {
    // 1. One text: its reply is passed on as it is
    running.route(client, routed).await?;
    if let ([part], false, None, false) = (routed.parts.as_slice(), routed.choosing, &routed.moving, routed.copying) {
        let summary = exchange::pass(&running, client, routed, part, part.server, Effect::Write).await?;
        exchange::remember_insert(client, routed, &summary);
        return exchange::follow(&running, client, At::Held(part.server), &part.names, summary).await;
    }
    if matches!(&running.planned.plan, Plan::Insert(insert) if insert.returning) {
        return Err(Error::refused(
            "Bifold: RETURNING of rows that lie in several places is not supported; insert rows of one sharding key at a time, or read them afterwards.",
        ));
    }
    Box::pin(several(running, client, routed)).await
}

/// All texts, in the session's transaction or in one of their own.
async fn several(running: Running<'_>, client: &mut Client, routed: &mut Routed) -> Result<()> {
    // Their values stand in them: they needn't be prepared.
    let running = Running { bound: running.bound.filter(|_| !routed.inlined), ..running };
    let alone = !client.hold.in_transaction() && client.autocommit();
    if alone || !client.hold.in_transaction() {
        client.hold.begin("START TRANSACTION".into());
    }
    let written = framed(&running, client, routed, alone).await;
    if alone {
        let ending = if written.is_ok() { Ending::Commit } else { Ending::Rollback };
        let ended = client.hold.end(ending).await;
        written.as_ref().map_err(Error::clone)?;
        ended?;
    }
    let mut tally = written.inspect_err(|error| running.engine.forget_stale(running.planned, error))?;
    let diagnostics = tally.take_diagnostics(unfinished(&client.hold.take_unfinished()));
    reply(&running, client, routed, tally, diagnostics).await
}

/// In a transaction that goes on, the statement is undone alone if it fails. In one of its own
/// (`alone`) texts may go ahead of their replies, and it is undone to be done once more.
async fn framed(running: &Running<'_>, client: &mut Client, routed: &mut Routed, alone: bool) -> Result<Tally> {
    let ahead = alone && running.bound.is_none() && !running.engine.topology.dirty() && goes_ahead(&routed.parts);
    if alone && !ahead {
        return steps(running, client, routed, false).await;
    }
    client.hold.frame(Frame::Statement).await?;
    let written = steps(running, client, routed, ahead).await;
    match (&written, alone) {
        (Ok(_), _) => client.hold.keep_frame(Frame::Statement).await?,
        (Err(_), false) => client.hold.undo_frame(Frame::Statement).await,
        (Err(_), true) => {}
    }
    written
}

async fn steps(running: &Running<'_>, client: &mut Client, routed: &mut Routed, ahead: bool) -> Result<Tally> {
    let Plan::WriteScatter(plan) = &running.planned.plan else {
        return write(running, client, routed, ahead).await.map(|written| written.tally);
    };
    // 1. The rows are chosen
    if let Some(choice) = plan.choice.as_ref().filter(|_| routed.choosing) {
        let rows = choice::choose(running, client, routed, choice).await?;
        running.change(client, plan, &rows, routed).await?;
    }
    // 2. Changed; where each shard would do it in its own way, on the home shard
    if let Some(copy) = plan.from_home.as_ref().filter(|_| routed.copying) {
        let copies = Copies::begin(running, client, plan, copy).await?;
        let mut written = write(running, client, routed, false).await?;
        copies.finish(client, &mut written).await?;
        return Ok(written.tally);
    }
    let mut written = write(running, client, routed, ahead).await?;
    if let Some(choice) = &plan.choice {
        // MariaDB says nothing of LIMIT 0.
        let is_silent = routed.window.is_some_and(|window| window.count == 0)
            && running.statement.source.dialect.flavour == Flavour::MariaDb;
        written.tally.informs(choice.update && !is_silent);
    }
    // 3. Those that have another place now go there
    if let (Some(moving), Some(moves)) = (&routed.moving, &plan.moves) {
        moves::carry(running, client, routed, Moved { plan, moves, moving, changed: &written.changed }).await?;
    }
    Ok(written.tally)
}

/// Does some server get many texts?
fn goes_ahead(parts: &[Part]) -> bool {
    let of = |server: &ServerNo| parts.iter().filter(|part| part.server == *server).count();
    !parts.iter().any(|part| part.copies) && servers(parts).iter().any(|server| of(server) > FEW)
}

/// The servers of the parts, in the one order in which connections are taken.
pub(super) fn servers(parts: &[Part]) -> Vec<ServerNo> {
    let mut servers: Vec<ServerNo> = parts.iter().map(|part| part.server).collect();
    servers.sort_unstable();
    servers.dedup();
    servers
}

/// What all texts together did.
#[derive(Default)]
pub(super) struct Written {
    pub tally: Tally,
    /// The parts that changed rows.
    changed: Vec<usize>,
    /// A part warned, and what it said was not asked for.
    warned: bool,
}

/// Runs all texts of all servers. `ahead`: without waiting for one reply before the next text goes;
/// then what a text warned of can't be asked for, and if one did, all is done again one by one.
async fn write(running: &Running<'_>, client: &mut Client, routed: &Routed, ahead: bool) -> Result<Written> {
    if ahead {
        let written = pass(running, client, routed, true).await?;
        if !written.warned {
            return Ok(written);
        }
        client.hold.redo_frame(Frame::Statement).await?;
    }
    pass(running, client, routed, false).await
}

async fn pass(running: &Running<'_>, client: &mut Client, routed: &Routed, ahead: bool) -> Result<Written> {
    let need = exchange::need(client.shape, &client.settings.state, Effect::Write);
    let servers = servers(&routed.parts);
    let conns = client.hold.several(&running.engine.servers, &servers, need).await?;
    let texts = conns.into_iter().zip(&servers).map(|(conn, server)| async move {
        match ahead {
            true => texts_ahead(running, conn, *server, routed).await,
            false => server_texts(running, conn, *server, routed).await,
        }
    });
    // Two writers of the same row meet at the first of its copies, and not crosswise.
    let written = all_rows(match routed.parts.iter().any(|part| part.copies) {
        true => in_turn(texts).await,
        false => join_all(texts).await,
    })?;
    let mut total = Written::default();
    for one in written {
        total.tally.add(one.tally);
        total.changed.extend(one.changed);
        total.warned |= one.warned;
    }
    total.changed.sort_unstable();
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

/// All of them, or the error of the first row that met one.
fn all_rows<T>(outcomes: Vec<std::result::Result<T, (u32, Error)>>) -> Result<Vec<T>> {
    let (done, failed): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(std::result::Result::is_ok);
    match failed.into_iter().filter_map(std::result::Result::err).min_by_key(|(row, _)| *row) {
        Some((_, error)) => Err(error),
        None => Ok(done.into_iter().flatten().collect()),
    }
}

/// One server's texts, one after the other. An error comes with the number of the row that met it.
async fn server_texts(
    running: &Running<'_>,
    conn: &mut Conn,
    server: ServerNo,
    routed: &Routed,
) -> std::result::Result<Written, (u32, Error)> {
    let mut taken = Taken::default();
    for (number, part) in routed.parts.iter().enumerate().filter(|(_, part)| part.server == server) {
        if taken.is_settled_before(part) {
            continue;
        }
        let text = &routed.buffer[part.text.clone()];
        sweep::before(running, conn, part).await.map_err(|error| (0, error))?;
        let answer = exchange::ask(running, conn, text, part.args.as_deref()).await;
        let warned = answer.as_ref().is_ok_and(|answer| answer.warnings > 0 && !part.copies);
        taken.take(running, number, part, answer);
        if warned {
            let warnings = conn.run("SHOW WARNINGS").await.map_err(|error| (0, error))?;
            taken.written.tally.diagnose(part, exchange::diagnostics(&warnings, &part.names));
        }
    }
    taken.finish()
}

/// The same without waiting for replies. Nothing may commit by itself behind a transaction that
/// the server has ended.
async fn texts_ahead(
    running: &Running<'_>,
    conn: &mut Conn,
    server: ServerNo,
    routed: &Routed,
) -> std::result::Result<Written, (u32, Error)> {
    conn.hold_back().await.map_err(|error| (0, error))?;
    let mut taken = Taken::default();
    let take = |number: usize, answer| {
        let part = &routed.parts[number];
        if !taken.is_settled_before(part) {
            taken.take(running, number, part, answer);
        }
        match &taken.failed {
            Some((_, error)) if !is_of_values(error) => Err(error.clone()),
            Some(_) | None => Ok(()),
        }
    };
    let outcome = batch::run(conn, batch::texts(routed, server), take).await;
    match (outcome, taken.failed.is_some()) {
        (Err(lost), false) => Err((0, lost)),
        (_, _) => taken.finish(),
    }
}

/// What a server's texts were answered so far.
#[derive(Default)]
struct Taken {
    written: Written,
    failed: Option<(u32, Error)>,
}

impl Taken {
    /// One server would have met the error of an earlier row first; all is undone anyway.
    fn is_settled_before(&self, part: &Part) -> bool {
        let is_later = |row: u32| part.numbers.first().is_none_or(|first| *first > row);
        self.failed.as_ref().is_some_and(|(row, error)| is_later(*row) || !is_of_values(error))
    }

    fn take(&mut self, running: &Running<'_>, number: usize, part: &Part, answer: Result<Answer>) {
        match answer {
            Ok(answer) => {
                self.written.tally.count(part, &answer, running.planned);
                self.written.changed.extend((answer.affected > 0).then_some(number));
                self.written.warned |= answer.warnings > 0 && !part.copies;
            }
            Err(error) => {
                let (row, error) = names::in_row_error(part, error);
                if self.failed.as_ref().is_none_or(|(other, _)| row < *other) {
                    self.failed = Some((row, error));
                }
            }
        }
    }

    fn finish(self) -> std::result::Result<Written, (u32, Error)> {
        self.failed.map_or(Ok(self.written), Err)
    }
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
    let insert_id = routed.insert_id.unwrap_or(tally.insert_id);
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
