//! A query over many places: each server gets its texts on one connection, and what they answer
//! becomes one reply. Rows in the order of places are passed on as they come; those to be sorted
//! or folded are taken from all servers at the same time, and held within a budget.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::client::{Client, Diagnostic};
use super::engine::Engine;
use super::exchange;
use super::line::{self, Line};
use super::names;
use super::statement::Running;
use super::tally;
use crate::error::{Blame, Error, Result, code};
use crate::merge::{Folder, Layout, Sorter};
use crate::plan::{Effect, Recipe, Wide};
use crate::protocol::binary::ValueType;
use crate::protocol::column::{self, Column};
use crate::protocol::eof::EofPacket;
use crate::protocol::err::ErrPacket;
use crate::protocol::ok::OkPacket;
use crate::protocol::packet::HEADER;
use crate::protocol::payload::put_lenenc;
use crate::protocol::reply::{Piece, rows_end_warnings};
use crate::protocol::result_set::Format;
use crate::protocol::{Capabilities, Status};
use crate::route::{Part, Routed, Window};
use crate::topology::ServerNo;
use crate::wire::Framed;

/// Bytes of rows and keys that one statement may hold.
const BUDGET: usize = 32 << 20;

/// So much is collected for the client before it is written.
const COLLECT: usize = 16 * 1024;

/// SHOW WARNINGS tells no more (`max_error_count`).
const WARNINGS: usize = 64;

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &Routed, plan: &Wide) -> Result<()> {
    // 1. Nothing in the session bends the parts
    check_session(client, plan)?;
    // 2. Admitted whole, then its connections in the one order of servers
    let engine = running.engine;
    let _admitted = admitted(engine, client).await?;
    let servers = servers(&routed.parts);
    let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
    let flags = client.reply_flags();
    let conns = client.hold.several(&engine.servers, &servers, need).await?;
    let mut lines: Vec<Line<'_>> =
        conns.into_iter().zip(&servers).map(|(conn, server)| Line::new(conn, *server, &routed.parts)).collect();
    // 3. Rows, by the recipe
    let format = if running.bound.is_some() { Format::Binary } else { Format::Text };
    let mut reply = ToClient::new(&mut client.wire, client.capabilities, flags, routed.window);
    let work = Work { running, routed, format };
    let said = work.rows(&mut lines, &mut reply, &plan.recipe).await;
    // 4. What they warned of, and the end
    let said = match said {
        Ok(said) => said,
        Err(error) => {
            engine.forget_stale(running.planned, &error);
            return Err(error);
        }
    };
    let (warnings, diagnostics) = work.warnings(&mut lines, &said, reply.wire).await?;
    reply.finish(&said, warnings).await?;
    // 5. What the session remembers
    let rows = reply.rows;
    client.memory.row_count = -1;
    client.memory.found_rows = rows;
    client.memory.diagnostics = diagnostics;
    Ok(())
}

/// Settings that servers would apply to each part.
fn check_session(client: &Client, plan: &Wide) -> Result<()> {
    let set =
        |name: &str| client.settings.state.system(name).is_some_and(|value| !value.eq_ignore_ascii_case("DEFAULT"));
    let bent = match plan.recipe {
        Recipe::Sort(_) if set("max_sort_length") => Some("max_sort_length"),
        _ if set("sql_select_limit") => Some("sql_select_limit"),
        Recipe::Chain | Recipe::Sort(_) | Recipe::Fold(_) => None,
    };
    match bent {
        None => Ok(()),
        Some(name) => Err(Error::refused(format!(
            "Bifold: reading several places in a session that has set {name} is not supported yet: SET {name} = DEFAULT \
             before."
        ))),
    }
}

/// Who holds connections already is not made to wait for those who may wait for them.
pub(super) async fn admitted<'e>(engine: &'e Engine, client: &Client) -> Result<Option<SemaphorePermit<'e>>> {
    if client.hold.any().is_some() {
        return Ok(None);
    }
    let turn = async {
        match timeout(engine.config.backend.wait, engine.fan_outs.acquire()).await {
            Ok(permit) => Ok(Some(permit.expect("the semaphore is never closed"))),
            Err(_) => Err(crowded()),
        }
    };
    client.entry.listed().unless_killed(pin!(turn)).await
}

fn crowded() -> Error {
    let text = "Bifold: too many statements over many places are under way. Try again.";
    Error::new(Blame::Proxy, code::CON_COUNT, text).retryable()
}

/// The servers of the parts, in the one order in which connections are taken.
pub(super) fn servers(parts: &[Part]) -> Vec<ServerNo> {
    let mut servers: Vec<ServerNo> = parts.iter().map(|part| part.server).collect();
    servers.sort_unstable();
    servers.dedup();
    servers
}

#[derive(Clone, Copy)]
struct Work<'a> {
    running: Running<'a>,
    routed: &'a Routed,
    format: Format,
}

/// What replies said besides their rows.
#[derive(Debug, Default)]
struct Said {
    expected: usize,
    /// The definitions of the first reply, with logical names.
    columns: Vec<Vec<u8>>,
    /// The parts that warned, and how often.
    warned: Vec<(usize, usize)>,
    status: Status,
}

/// Where rows go.
trait Sink {
    fn wire(&self) -> &Framed;
    /// False: no more are wanted.
    fn row(&mut self, said: &Said, part: usize, row: &[u8]) -> Result<bool>;
    async fn make_way(&mut self) -> Result<()>;
}

impl Work<'_> {
    /// All but the end of the reply.
    async fn rows(&self, lines: &mut [Line<'_>], reply: &mut ToClient<'_>, recipe: &Recipe) -> Result<Said> {
        match recipe {
            Recipe::Chain => self.chain(lines, reply).await,
            Recipe::Sort(keys) => {
                let wanted = self.routed.window.map(|window| window.offset.saturating_add(window.count));
                let budget = BUDGET / lines.len().max(1);
                let sorters = lines.iter().map(|_| Sorter::new(keys, wanted, budget)).collect();
                self.sorted(lines, reply, sorters, keys.len()).await
            }
            Recipe::Fold(folds) => {
                let folders = lines.iter().map(|_| Folder::new(folds)).collect();
                self.folded(lines, reply, folders, Folder::new(folds)).await
            }
        }
    }

    /// How many warnings there are in all, and the first of them. What a server says of the text
    /// itself, it says in each part; one server says it once.
    async fn warnings(&self, lines: &mut [Line<'_>], said: &Said, wire: &Framed) -> Result<(usize, Vec<Diagnostic>)> {
        let mut warned = said.warned.clone();
        warned.sort_unstable();
        let mut count = 0;
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        let mut of_text = 0;
        for (at, (part, own)) in warned.into_iter().enumerate() {
            let of_rows = if at == 0 { own } else { own.saturating_sub(of_text) };
            count += of_rows;
            if of_rows == 0 || diagnostics.len() >= WARNINGS {
                continue;
            }
            let Part { server, names, .. } = &self.routed.parts[part];
            let Some(line) = lines.iter_mut().find(|line| line.server == *server) else { continue };
            let answer = line.warnings(&self.running, self.routed, part, wire).await?;
            let mut more = exchange::diagnostics(&answer, names);
            if at == 0 {
                of_text = more.iter().filter(|one| tally::is_of_text(one.code)).count();
            } else {
                more.retain(|one| !tally::is_of_text(one.code));
            }
            diagnostics.extend(more);
        }
        diagnostics.truncate(WARNINGS);
        Ok((count, diagnostics))
    }

    /// Part after part, whichever server has it; all servers are at work from the start.
    async fn chain(&self, lines: &mut [Line<'_>], reply: &mut ToClient<'_>) -> Result<Said> {
        let mut said = Said::default();
        let passed = self.pass(lines, reply, &mut said).await;
        for line in lines.iter_mut() {
            let drained = line.drain(reply.wire).await;
            if passed.is_ok() {
                drained?;
            }
        }
        passed.map(|()| said)
    }

    async fn pass(&self, lines: &mut [Line<'_>], reply: &mut ToClient<'_>, said: &mut Said) -> Result<()> {
        for line in lines.iter_mut() {
            line.send(&self.running, self.routed).await?;
        }
        for part in &self.routed.parts {
            let line = lines.iter_mut().find(|line| line.server == part.server);
            let line = line.ok_or_else(|| Error::proxy("Bifold: a part without its server."))?;
            if !self.part(line, said, reply).await? {
                break;
            }
        }
        Ok(())
    }

    /// Rows of all servers at the same time, sorted.
    async fn sorted(
        &self,
        lines: &mut [Line<'_>],
        reply: &mut ToClient<'_>,
        sorters: Vec<Sorter>,
        hidden: usize,
    ) -> Result<Said> {
        let push = |sorter: &mut Sorter, layout: &Layout, part, row: &[u8]| sorter.push(layout, part, row);
        let (mut said, sorters) = self.all(lines, reply.wire, sorters, push).await?;
        said.columns.truncate(said.columns.len().saturating_sub(hidden));
        let mut sorters = sorters.into_iter();
        let mut all = sorters.next().ok_or_else(|| Error::proxy("Bifold: a query over no server."))?;
        sorters.for_each(|other| all.join(other));
        for row in all.finish() {
            if !reply.row(&said, 0, &row)? {
                break;
            }
            reply.make_way().await?;
        }
        Ok(said)
    }

    /// A row of each place folded into one.
    async fn folded(
        &self,
        lines: &mut [Line<'_>],
        reply: &mut ToClient<'_>,
        folders: Vec<Folder>,
        mut all: Folder,
    ) -> Result<Said> {
        let push = |folder: &mut Folder, layout: &Layout, _, row: &[u8]| folder.push(layout, row);
        let (said, folders) = self.all(lines, reply.wire, folders, push).await?;
        let layout = said.layout(self.format)?;
        for folder in folders {
            all.push(&layout, &folder.finish(&layout))?;
        }
        let row = all.finish(&layout);
        reply.row(&said, 0, &row)?;
        Ok(said)
    }

    /// Every server into a holder of its own, all at the same time.
    async fn all<H>(
        &self,
        lines: &mut [Line<'_>],
        wire: &Framed,
        holders: Vec<H>,
        push: impl Fn(&mut H, &Layout, usize, &[u8]) -> Result<()> + Copy,
    ) -> Result<(Said, Vec<H>)> {
        let stop = &AtomicBool::new(false);
        let each = lines.iter_mut().zip(holders).map(|(line, holder)| async move {
            let mut held = Held { wire, holder, push, layout: None, format: self.format };
            let mut said = Said::default();
            let outcome = self.line(line, &mut said, &mut held, stop).await;
            if outcome.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            let drained = line.drain(wire).await;
            outcome.and(drained).map(|()| (said, held.holder))
        });
        let mut first: Option<Said> = None;
        let mut holders = Vec::new();
        for outcome in join_all(each).await {
            let (said, holder) = outcome?;
            holders.push(holder);
            match &mut first {
                None => first = Some(said),
                Some(first) => first.join(said)?,
            }
        }
        let said = first.ok_or_else(|| Error::proxy("Bifold: a query over no server."))?;
        Ok((said, holders))
    }

    async fn line(&self, line: &mut Line<'_>, said: &mut Said, sink: &mut impl Sink, stop: &AtomicBool) -> Result<()> {
        while line.is_under_way() && !stop.load(Ordering::Relaxed) {
            self.part(line, said, sink).await?;
        }
        Ok(())
    }

    /// Reads the line's current reply to its end. False: no more rows are wanted.
    async fn part(&self, line: &mut Line<'_>, said: &mut Said, sink: &mut impl Sink) -> Result<bool> {
        line.send(&self.running, self.routed).await?;
        let number = line.current().ok_or_else(|| Error::proxy("Bifold: a part that was not sent."))?;
        let mut more = true;
        let mut failed = None;
        loop {
            let piece = line.piece(sink.wire()).await?;
            let taken = match &piece {
                Piece::Done => break,
                Piece::Rows { .. } => {
                    sink.row(said, number, &line::row(line.bytes(&piece))).map(|wanted| more = wanted)
                }
                packet => said.take(packet, line.bytes(&piece), &self.routed.parts[number], number).map(|error| {
                    failed = error;
                }),
            };
            // Even where that failed: what is read on has to begin behind it.
            line.consume(&piece);
            taken?;
            sink.make_way().await?;
        }
        let status = line.finish();
        match failed {
            Some(error) => Err(error),
            None => {
                said.status = status;
                Ok(more)
            }
        }
    }
}

impl Said {
    /// Notes a packet that is no row; gives the error that it is.
    fn take(&mut self, piece: &Piece, packet: &[u8], part: &Part, number: usize) -> Result<Option<Error>> {
        match piece {
            Piece::ColumnCount { count, .. } if self.expected == 0 => self.expected = *count,
            Piece::ColumnCount { count, .. } if self.expected != *count => return Err(unlike()),
            Piece::Column { .. } if self.columns.len() < self.expected => {
                let mut definition = Vec::new();
                column::rewrite_names(&packet[HEADER..], |seen| names::in_column(&part.names, seen), &mut definition)?;
                self.columns.push(definition);
            }
            Piece::RowsEnd { status, .. } => {
                let warnings = usize::from(rows_end_warnings(packet, status));
                self.warned.extend((warnings > 0).then_some((number, warnings)));
            }
            Piece::Err { .. } => {
                let error = ErrPacket::parse(&packet[HEADER..])?.into_error();
                return Ok(Some(names::in_error(&part.names, error)));
            }
            Piece::ColumnCount { .. } | Piece::Column { .. } | Piece::ColumnsEnd { .. } => {}
            Piece::Ok { .. } | Piece::LocalInfile { .. } | Piece::Prepared { .. } | Piece::Param { .. } => {
                return Err(Error::proxy("Bifold: a server answered a query without rows."));
            }
            Piece::Rows { .. } | Piece::NeedMore(_) | Piece::Done => {}
        }
        Ok(None)
    }

    fn layout(&self, format: Format) -> Result<Layout> {
        let of = |definition: &Vec<u8>| Ok(ValueType::of(&Column::parse(definition)?));
        Ok(Layout::new(format, self.columns.iter().map(of).collect::<Result<_>>()?))
    }

    /// What another server said of the same query.
    fn join(&mut self, other: Said) -> Result<()> {
        if self.columns.len() != other.columns.len() {
            return Err(unlike());
        }
        self.warned.extend(other.warned);
        self.status =
            self.status.set(Status::IN_TRANS, other.status.has(Status::IN_TRANS) || self.status.has(Status::IN_TRANS));
        Ok(())
    }
}

fn unlike() -> Error {
    Error::operator("Bifold: the subtables of a table differ in their columns: see `bifold check`.")
}

/// Rows of one server, held.
struct Held<'w, H, P> {
    wire: &'w Framed,
    holder: H,
    push: P,
    layout: Option<Layout>,
    format: Format,
}

impl<H, P: Fn(&mut H, &Layout, usize, &[u8]) -> Result<()>> Sink for Held<'_, H, P> {
    fn wire(&self) -> &Framed {
        self.wire
    }

    fn row(&mut self, said: &Said, part: usize, row: &[u8]) -> Result<bool> {
        if self.layout.is_none() {
            self.layout = Some(said.layout(self.format)?);
        }
        let layout = self.layout.as_ref().expect("just made");
        (self.push)(&mut self.holder, layout, part, row)?;
        Ok(true)
    }

    async fn make_way(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The reply: definitions, the rows that LIMIT lets through, the end.
struct ToClient<'w> {
    wire: &'w mut Framed,
    capabilities: Capabilities,
    flags: Status,
    skip: u64,
    take: u64,
    rows: u64,
    begun: bool,
}

impl<'w> ToClient<'w> {
    fn new(wire: &'w mut Framed, capabilities: Capabilities, flags: Status, window: Option<Window>) -> Self {
        let Window { offset, count } = window.unwrap_or(Window { offset: 0, count: u64::MAX });
        ToClient { wire, capabilities, flags, skip: offset, take: count, rows: 0, begun: false }
    }

    fn begin(&mut self, said: &Said) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.wire.queue_with(|out| put_lenenc(out, said.columns.len() as u64));
        for definition in &said.columns {
            self.wire.queue_packet(definition);
        }
        if !self.capabilities.has(Capabilities::DEPRECATE_EOF) {
            let end = EofPacket { warnings: 0, status: self.status(said) };
            self.wire.queue_with(|out| end.write(out));
        }
    }

    fn status(&self, said: &Said) -> Status {
        said.status | self.flags
    }

    async fn finish(&mut self, said: &Said, warnings: usize) -> Result<()> {
        self.begin(said);
        let warnings = u16::try_from(warnings).unwrap_or(u16::MAX);
        let (status, capabilities) = (self.status(said), self.capabilities);
        if capabilities.has(Capabilities::DEPRECATE_EOF) {
            let end = OkPacket { status, warnings, ..OkPacket::default() };
            self.wire.queue_with(|out| end.write_end(capabilities, out));
        } else {
            self.wire.queue_with(|out| EofPacket { warnings, status }.write(out));
        }
        self.wire.flush().await
    }
}

impl Sink for ToClient<'_> {
    fn wire(&self) -> &Framed {
        self.wire
    }

    fn row(&mut self, said: &Said, _part: usize, row: &[u8]) -> Result<bool> {
        self.begin(said);
        if self.skip > 0 {
            self.skip -= 1;
        } else if self.take > 0 {
            self.take -= 1;
            self.rows += 1;
            self.wire.queue_packet(row);
        }
        Ok(self.take > 0)
    }

    async fn make_way(&mut self) -> Result<()> {
        if self.wire.queued() >= COLLECT { self.wire.flush().await } else { Ok(()) }
    }
}
