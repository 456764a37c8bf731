//! A statement over rows of several places that can't be split: each table that it names is read
//! where its rows are, on the session's own connections and so within its transaction, into a
//! temporary table on one server; there the statement runs as the client wrote it, under the client's
//! settings, and its reply is passed on.

mod load;
pub(super) mod site;

use std::sync::Arc;

use load::{Budget, Loader};
use site::Site;
use tokio::time::timeout;

use super::client::Client;
use super::exchange::{self, At};
use super::line::{self, Line};
use super::names;
use super::relay::{self, Adjust};
use super::scatter;
use super::statement::{self, Running};
use crate::context::{Setting, State};
use crate::error::{Blame, Error, Result, code};
use crate::plan::Effect;
use crate::plan::gather::Gather;
use crate::protocol::err::ErrPacket;
use crate::protocol::packet::HEADER;
use crate::protocol::reply::{self, Piece, rows_end_warnings};
use crate::protocol::result_set::Format;
use crate::protocol::{Command, Status};
use crate::route::{Gathered, Routed, Temporary};
use crate::wire::Framed;

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Gather) -> Result<()> {
    // 1. Admitted whole
    let _admitted = scatter::admitted(running.engine, client).await?;
    running.engine.counts.gathers.add(1);
    // 2. Rows brought together: those that count; where leaving rows or columns out shows, all
    let state = state(&running, client, plan);
    let task = Task { running, plan, state };
    let mut site = match task.collect(client, routed, false).await? {
        Some(site) => site,
        None => {
            running.route_whole(client, routed).await?;
            let site = task.collect(client, routed, true).await?;
            site.ok_or_else(|| Error::proxy("Bifold: rows were left out that should all have been collected."))?
        }
    };
    // 3. The statement over them
    let done = task.finish(client, routed, &mut site).await;
    // 4. Nothing left behind
    site.close().await;
    done
}

/// PREPARE where no server has tables for all references: the statement is prepared over empty ones.
/// False where the server had an error to tell, and the client was told.
pub(super) async fn prepare(running: Running<'_>, client: &mut Client, routed: &Routed, id: u32) -> Result<bool> {
    let (engine, gathered) = (running.engine, gathered(routed)?);
    let mut site = Site::open(engine, gathered.server, client.shape).await?;
    for table in &gathered.tables {
        site.make(engine, table).await?;
    }
    let conn = site.conn();
    conn.bring_to(client.state()).await?;
    conn.send(Command::StmtPrepare, &routed.buffer[gathered.text.clone()]).await?;
    let adjust =
        Adjust { names: &gathered.names, homes: None, insert_id: None, flags: Status::NONE, statement: Some(id) };
    let summary = relay::relay(conn, &mut client.wire, reply::Kind::Prepare, adjust).await?;
    if let Some(error) = &summary.error {
        client.memory.failed(error);
    }
    if let Some((server_id, _)) = summary.prepared {
        conn.close_statement(server_id).await?;
    }
    site.close().await;
    Ok(summary.prepared.is_some())
}

/// The session's settings, but for what would cut the parts and not the whole; and where a filter
/// asks for the time, everything has one instant.
fn state(running: &Running<'_>, client: &Client, plan: &Gather) -> Arc<State> {
    let states = &running.engine.states;
    let state = client.state().clone();
    if !plan.clock || client.has_instant() {
        return state;
    }
    let (seconds, micros) = statement::now();
    states.with(&state, [(Setting::System("timestamp".into()), format!("{seconds}.{micros:06}"))])
}

struct Task<'a> {
    running: Running<'a>,
    plan: &'a Gather,
    /// What the statement runs in.
    state: Arc<State>,
}

impl<'a> Task<'a> {
    /// Makes the tables and fills them. `None`: what was left out shows, so it must not be; `whole`:
    /// nothing was.
    async fn collect(&self, client: &mut Client, routed: &Routed, whole: bool) -> Result<Option<Site<'a>>> {
        let engine = self.running.engine;
        let gathered = gathered(routed)?;
        // 1. Connections in the one order of servers, then the one beside them
        let servers = scatter::servers(&routed.parts);
        let collecting = self.collecting_state();
        let need = exchange::need(client.shape, &collecting, Effect::Read);
        let conns = client.hold.several(&engine.servers, &servers, need).await?;
        let mut lines: Vec<Line<'_>> =
            conns.into_iter().zip(&servers).map(|(conn, server)| Line::new(conn, *server, &routed.parts)).collect();
        let mut site = Site::open(engine, gathered.server, client.shape).await?;
        // 2. Tables, then their rows
        let limits = &engine.config.gather;
        // Without parameters a text is worth no preparing, and many can be under way.
        let binds = routed.parts.iter().any(|part| part.args.as_ref().is_some_and(|args| !args.is_empty()));
        let mut filling = Filling {
            task: self,
            reading: Running { bound: self.running.bound.filter(|_| binds), ..self.running },
            routed,
            whole,
            wire: &client.wire,
            budget: Budget::new(limits.rows, limits.bytes),
            shows: false,
        };
        let filled = timeout(limits.timeout, filling.fill(&mut lines, &mut site, &gathered.tables)).await;
        let in_time = filled.is_ok();
        let (rows, bytes) = filling.budget.taken();
        engine.counts.gathered_rows.add(rows);
        engine.counts.gathered_bytes.add(bytes);
        let (filled, shows) = (filled.unwrap_or_else(|_| Err(too_slow())), filling.shows);
        // 3. What is under way on the session's connections is read to its end; one that does not come to it
        // is closed, with what the session had there
        if (shows || filled.is_err()) && in_time {
            for line in &mut lines {
                let drained = timeout(limits.timeout, line.drain(&client.wire)).await;
                if filled.is_ok() {
                    drained.unwrap_or_else(|_| Err(too_slow()))?;
                }
            }
        }
        match filled {
            Ok(()) if !shows => return Ok(Some(site)),
            Ok(()) => site.close().await,
            Err(error) => {
                engine.forget_stale(self.running.planned, &error);
                site.close().await;
                return Err(error);
            }
        }
        Ok(None)
    }

    /// LIMIT by a variable is meant for the statement alone.
    fn collecting_state(&self) -> Arc<State> {
        let setting = Setting::System("sql_select_limit".into());
        match self.state.system("sql_select_limit") {
            None => self.state.clone(),
            Some(_) => self.running.engine.states.without(&self.state, &setting),
        }
    }

    /// Runs the statement and passes its reply on.
    async fn finish(&self, client: &mut Client, routed: &Routed, site: &mut Site<'_>) -> Result<()> {
        let gathered = gathered(routed)?;
        let conn = site.conn();
        conn.bring_to(&self.state).await?;
        let flags = client.reply_flags();
        let _killable = client.entry.listed().uses_aside(gathered.server, conn.thread().0);
        // The flags of the reply are those of the session's transaction.
        if client.hold.is_read_only() {
            conn.run("START TRANSACTION READ ONLY").await?;
        }
        let text = &routed.buffer[gathered.text.clone()];
        let sent = exchange::send(conn, text, gathered.args.as_deref(), self.running.bound).await;
        sent.map_err(|error| names::in_error(&gathered.names, error))?;
        let adjust = Adjust { names: &gathered.names, homes: None, insert_id: None, flags, statement: None };
        let summary = relay::relay(conn, &mut client.wire, reply::Kind::Results, adjust).await?;
        exchange::follow(&self.running, client, At::Apart(conn), &gathered.names, summary).await
    }
}

fn gathered(routed: &Routed) -> Result<&Gathered> {
    routed.gathered.as_deref().ok_or_else(|| Error::proxy("Bifold: a statement without collected tables."))
}

fn too_slow() -> Error {
    let text = "Bifold: collecting the rows of several places took longer than gather.timeout: add conditions on the \
                statement's tables, or raise it.";
    Error::new(Blame::Client, code::UNKNOWN, text)
}

/// Tables being filled.
struct Filling<'f, 'a> {
    task: &'f Task<'a>,
    /// What the collecting texts are sent as.
    reading: Running<'a>,
    routed: &'f Routed,
    whole: bool,
    wire: &'f Framed,
    budget: Budget,
    /// A server said more than rows, which it might not have said of all rows.
    shows: bool,
}

impl Filling<'_, '_> {
    async fn fill(&mut self, lines: &mut [Line<'_>], site: &mut Site<'_>, tables: &[Temporary]) -> Result<()> {
        for line in lines.iter_mut() {
            line.send(&self.reading, self.routed).await?;
        }
        for table in tables {
            site.make(self.task.running.engine, table).await?;
        }
        for table in tables {
            let collected = &self.task.plan.tables[table.table];
            let columns = collected.columns.iter().filter(|column| self.whole || column.needed);
            let mut loader = Loader::new(site.conn(), &table.name, columns.map(|column| (&*column.name, column.form)));
            let loaded = match self.parts(lines, table, &mut loader).await {
                Ok(()) => loader.finish().await,
                Err(error) => Err(error),
            };
            match loaded {
                Ok(()) => {}
                Err(error) if !self.whole && load::may_be_of_left_out(&error) => self.shows = true,
                Err(error) => {
                    let error = names::in_error(std::slice::from_ref(&table.name), error);
                    return Err(load::explained(error, &table.name.logical_table));
                }
            }
            if self.shows {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn parts(&mut self, lines: &mut [Line<'_>], table: &Temporary, loader: &mut Loader<'_>) -> Result<()> {
        for number in table.parts.clone() {
            let server = self.routed.parts[number].server;
            let line = lines.iter_mut().find(|line| line.server == server);
            let line = line.ok_or_else(|| Error::proxy("Bifold: a part without its server."))?;
            self.part(line, number, loader).await?;
            if self.shows {
                break;
            }
        }
        Ok(())
    }

    /// Reads a part's reply to its end.
    async fn part(&mut self, line: &mut Line<'_>, number: usize, loader: &mut Loader<'_>) -> Result<()> {
        line.send(&self.reading, self.routed).await?;
        let format = if self.reading.bound.is_some() { Format::Binary } else { Format::Text };
        let mut failed = None;
        loop {
            let piece = line.piece(self.wire).await?;
            let taken = match &piece {
                Piece::Done => break,
                Piece::Rows { .. } => loader.row(&line::row(line.bytes(&piece)), format, &mut self.budget),
                Piece::RowsEnd { status, .. } => {
                    self.shows |= !self.whole && rows_end_warnings(line.bytes(&piece), status) > 0;
                    Ok(())
                }
                Piece::Err { .. } => ErrPacket::parse(&line.bytes(&piece)[HEADER..]).map(|error| {
                    failed = Some(names::in_error(&self.routed.parts[number].names, error.into_error()));
                }),
                Piece::ColumnCount { .. } | Piece::Column { .. } | Piece::ColumnsEnd { .. } => Ok(()),
                Piece::Ok { .. } | Piece::LocalInfile { .. } | Piece::Prepared { .. } | Piece::Param { .. } => {
                    Err(Error::proxy("Bifold: a server answered a query without rows."))
                }
                Piece::NeedMore(_) => Ok(()),
            };
            // Even where that failed: what is read on has to begin behind it.
            line.consume(&piece);
            taken?;
            loader.make_way().await?;
        }
        line.finish();
        match failed {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
