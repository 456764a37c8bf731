//! A query over many places: each server gets its texts on one connection, and what they answer
//! becomes one reply. Rows in the order of places are passed on as they come, and so are rows that
//! each server has sorted; what is to be grouped, and the first few of sorted rows, is taken from all
//! servers at the same time and held within a budget.

mod probe;
mod reply;
mod said;
mod warnings;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use self::reply::ToClient;
use self::said::Said;
use super::client::Client;
use super::engine::Engine;
use super::exchange;
use super::line::{self, Line};
use super::statement::Running;
use crate::context::merged::{MERGED, Merged};
use crate::context::{Setting, State};
use crate::error::{Blame, Error, Result, code};
use crate::merge::{Budget, Grouper, Holdings, Layout, Sorter, Streams};
use crate::plan::{Grouping, Question, Recipe, SortKey, Wide};
use crate::protocol::reply::Piece;
use crate::protocol::result_set::Format;
use crate::route::{Part, Routed, Way, Window};
use crate::topology::ServerNo;
use crate::transaction::Need;
use crate::wire::Framed;

/// Bytes of rows and keys that one statement may hold.
const BUDGET: usize = 32 << 20;

/// The same of all statements together.
const BUDGETS: usize = 256 << 20;

/// So much is collected for the client before it is written.
const COLLECT: usize = 16 * 1024;

/// What all statements of a process may hold.
pub(super) fn holdings() -> Arc<Holdings> {
    Holdings::new(BUDGETS)
}

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Wide) -> Result<()> {
    // 1. The session's settings, but for those that the merge applies
    let engine = running.engine;
    let session = Session::of(engine, client, plan)?;
    // 2. Admitted whole, then its connections in the one order of servers
    let _admitted = admitted(engine, client).await?;
    let servers = servers(&routed.parts);
    let need = Need { effect: plan.effect, ..exchange::need(client.shape, &session.state, plan.effect) };
    client.hold.several(&engine.servers, &servers, need).await?;
    // 3. Texts for several places only where types allow
    if routed.parts.iter().any(|part| part.branch_count() > 1) && !session.fits(&running, client, routed, plan).await? {
        running.route_alone(client, routed).await?;
    }
    let flags = client.reply_flags();
    let conns = client.hold.several(&engine.servers, &servers, need).await?;
    let mut lines: Vec<Line<'_>> =
        conns.into_iter().zip(&servers).map(|(conn, server)| Line::new(conn, *server, &routed.parts)).collect();
    // 4. Rows, by the recipe
    let format = if running.bound.is_some() { Format::Binary } else { Format::Text };
    let window = session.window(routed.window);
    let mut reply = ToClient::new(&mut client.wire, client.capabilities, flags, window);
    let work = Work { running, routed, plan, window, format };
    let said = match work.rows(&mut lines, &mut reply).await {
        Ok(said) => said,
        Err(error) => {
            engine.forget_stale(running.planned, &error);
            return Err(error);
        }
    };
    // 5. What they warned of, and the end
    let (warnings, diagnostics) = work.warnings(&mut lines, &said, reply.wire).await?;
    reply.finish(&said, warnings).await?;
    // 6. What the session remembers
    let rows = reply.rows;
    client.memory.row_count = -1;
    client.memory.found_rows = rows;
    client.memory.diagnostics = diagnostics;
    Ok(())
}

/// The settings that the parts run with, and what the merge does instead of the others.
struct Session {
    state: Arc<State>,
    select_limit: Option<u64>,
    /// Each place gets a text of its own.
    alone: bool,
}

impl Session {
    fn of(engine: &Engine, client: &Client, plan: &Wide) -> Result<Self> {
        let mut session = Session { state: client.settings.state.clone(), select_limit: None, alone: false };
        for (name, merged) in MERGED {
            let Some(value) = session.state.system_word(name).filter(|value| !value.eq_ignore_ascii_case("DEFAULT"))
            else {
                continue;
            };
            match merged {
                Merged::AtMerge => {
                    session.select_limit = value.parse().ok();
                    session.state = engine.states.without(&session.state, &Setting::System(name.into()));
                }
                Merged::Alone => session.alone = value.to_ascii_uppercase().contains("PAD_CHAR_TO_FULL_LENGTH"),
                Merged::Refused if matches!(plan.recipe, Recipe::Chain) => {}
                Merged::Refused => return Err(bent(name)),
            }
        }
        Ok(session)
    }

    /// LIMIT, or what sql_select_limit says where there is none.
    fn window(&self, window: Option<Window>) -> Option<Window> {
        window.or(self.select_limit.map(|count| Window { offset: 0, count }))
    }

    /// May places share texts? Asked of a server once.
    async fn fits(&self, running: &Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Wide) -> Result<bool> {
        if self.alone {
            return Ok(false);
        }
        let question = Question::new(self.state.id(), running.statement.params);
        if let Some(known) = plan.fits.known(&question) {
            return Ok(known);
        }
        let mut probed = Routed::default();
        running.probe(client, plan, &mut probed).await?;
        let first = routed.parts.first().map(|part| part.server);
        let Some(conn) = first.and_then(|server| client.hold.held(server)) else { return Ok(false) };
        let fits = probe::fits(running, conn, &probed, plan).await?;
        plan.fits.learn(question, fits);
        Ok(fits)
    }
}

fn bent(name: &str) -> Error {
    Error::refused(format!(
        "Bifold: sorting or grouping the rows of several places in a session that has set {name} is not supported: \
         SET {name} = DEFAULT before."
    ))
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
    plan: &'a Wide,
    window: Option<Window>,
    format: Format,
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
    async fn rows(&self, lines: &mut [Line<'_>], reply: &mut ToClient<'_>) -> Result<Said> {
        match &self.plan.recipe {
            Recipe::Chain => self.chain(lines, reply).await,
            Recipe::Sort(keys) if self.routed.way == Way::Streams => self.streamed(lines, reply, keys).await,
            Recipe::Sort(keys) => {
                let wanted = self.window.map(|window| window.offset.saturating_add(window.count));
                let hidden = self.plan.recipe.hidden();
                let sorters =
                    lines.iter().map(|_| Sorter::new(keys, hidden, wanted, self.budget(lines.len()))).collect();
                self.sorted(lines, reply, sorters).await
            }
            Recipe::Group(groups) => self.grouped(lines, reply, groups).await,
        }
    }

    /// Of one of so many holders.
    fn budget(&self, holders: usize) -> Budget {
        Budget::new(BUDGET / holders.max(1), &self.running.engine.holdings)
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

    /// The sorted rows of each server, merged as they come: a slow client holds all of them back.
    async fn streamed(&self, lines: &mut [Line<'_>], reply: &mut ToClient<'_>, keys: &[SortKey]) -> Result<Said> {
        let mut said = Said::default();
        let merged = self.merge(lines, reply, &mut said, keys).await;
        for line in lines.iter_mut() {
            let drained = line.drain(reply.wire).await;
            if merged.is_ok() {
                drained?;
            }
        }
        merged.map(|()| said)
    }

    async fn merge(
        &self,
        lines: &mut [Line<'_>],
        reply: &mut ToClient<'_>,
        said: &mut Said,
        keys: &[SortKey],
    ) -> Result<()> {
        // 1. All servers are at work
        self.definitions(lines, reply.wire, said).await?;
        let mut of_streams = Said::like(said);
        let hidden = self.plan.recipe.hidden();
        said.columns.truncate(said.columns.len().saturating_sub(hidden));
        // 2. The next row of each
        let layout = of_streams.layout(self.format);
        let mut merge = Streams::new(keys, hidden);
        let mut reshapings: Vec<Option<[Layout; 2]>> = Vec::new();
        for (stream, line) in lines.iter_mut().enumerate() {
            let mut first = None;
            let take = |row: &[u8]| {
                first = Some(row.to_vec());
                Ok(())
            };
            self.next(line, &mut of_streams, reply.wire, take).await?;
            let reshaping = self.reshaping(&of_streams);
            if let Some(row) = first {
                push(&mut merge, &layout, &reshaping, stream, &row)?;
            }
            reshapings.push(reshaping);
        }
        // 3. The least of them, again and again
        while let Some((stream, wanted)) = merge.pop(|row| reply.row(said, 0, row)) {
            if !wanted? {
                break;
            }
            reply.make_way().await?;
            let take = |row: &[u8]| push(&mut merge, &layout, &reshapings[stream], stream, row);
            self.next(&mut lines[stream], &mut of_streams, reply.wire, take).await?;
        }
        said.warned = of_streams.warned;
        Ok(())
    }

    /// What the first part says of the columns. All servers are at work from here on.
    async fn definitions(&self, lines: &mut [Line<'_>], wire: &Framed, said: &mut Said) -> Result<()> {
        for line in lines.iter_mut() {
            line.send(&self.running, self.routed).await?;
        }
        let first = self.routed.parts[0].server;
        if let Some(line) = lines.iter_mut().find(|line| line.server == first && self.routed.defined) {
            self.part(line, said, &mut Definitions { wire }).await?;
            said.warned.clear();
            line.send(&self.running, self.routed).await?;
        }
        Ok(())
    }

    /// Takes the next row of a stream, if there is one.
    async fn next(
        &self,
        line: &mut Line<'_>,
        said: &mut Said,
        wire: &Framed,
        take: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Some(number) = line.current() else { return Ok(()) };
        let part = &self.routed.parts[number];
        let mut failed = None;
        loop {
            let piece = line.piece(wire).await?;
            let taken = match &piece {
                Piece::Done => break,
                Piece::Rows { .. } => {
                    let taken = take(&line::row(line.bytes(&piece)));
                    line.consume(&piece);
                    return taken;
                }
                packet => said.take(packet, line.bytes(&piece), part, number, self.plan),
            };
            line.consume(&piece);
            failed = taken?.or(failed);
        }
        said.ended(number, line.finish());
        failed.map_or(Ok(()), Err)
    }

    /// Rows of all servers at the same time, sorted.
    async fn sorted(&self, lines: &mut [Line<'_>], reply: &mut ToClient<'_>, sorters: Vec<Sorter>) -> Result<Said> {
        let shown = self.defined(lines, reply.wire).await?;
        let push = |sorter: &mut Sorter, layout: &Layout, part, row: &[u8]| sorter.push(layout, part, row);
        let (mut said, sorters) = self.all(lines, reply.wire, sorters, || Said::like(&shown), push).await?;
        (said.columns, said.status) = (shown.columns, shown.status);
        said.columns.truncate(said.columns.len().saturating_sub(self.plan.recipe.hidden()));
        let mut sorters = sorters.into_iter();
        let mut all = sorters.next().ok_or_else(|| Error::proxy("Bifold: a query over no server."))?;
        sorters.try_for_each(|other| all.join(other))?;
        for row in all.finish() {
            if !reply.row(&said, 0, &row)? {
                break;
            }
            reply.make_way().await?;
        }
        Ok(said)
    }

    /// The first part's definitions, or its error when nothing is under way any more.
    async fn defined(&self, lines: &mut [Line<'_>], wire: &Framed) -> Result<Said> {
        let mut shown = Said::default();
        match self.definitions(lines, wire, &mut shown).await {
            Ok(()) => Ok(shown),
            Err(error) => {
                join_all(lines.iter_mut().map(|line| line.drain(wire))).await;
                Err(error)
            }
        }
    }

    /// Groups of all servers at the same time, made groups of all.
    async fn grouped(&self, lines: &mut [Line<'_>], reply: &mut ToClient<'_>, plan: &Grouping) -> Result<Said> {
        // 1. What the client's columns are
        let shown = self.defined(lines, reply.wire).await?;
        let (layout, mut decimals) = (shown.layout(self.format), shown.decimals()?);
        // 2. The groups of each server
        let groupers = lines.iter().map(|_| Grouper::new(plan, &layout, self.budget(lines.len()))).collect();
        let push = |grouper: &mut Grouper, layout: &Layout, part, row: &[u8]| grouper.push(layout, part, row);
        let (mut said, groupers) = self.all(lines, reply.wire, groupers, Said::default, push).await?;
        decimals.extend(said.decimals()?.into_iter().skip(decimals.len()));
        (said.columns, said.status) = (shown.columns, shown.status);
        // 3. Those of all
        let mut groupers = groupers.into_iter();
        let mut all = groupers.next().ok_or_else(|| Error::proxy("Bifold: a query over no server."))?;
        groupers.try_for_each(|other| all.join(other))?;
        all.check()?;
        for row in all.finish(&decimals)? {
            if !reply.row(&said, 0, &row)? {
                break;
            }
            reply.make_way().await?;
        }
        Ok(said)
    }

    /// Every server into a holder of its own, all at the same time.
    async fn all<H>(
        &self,
        lines: &mut [Line<'_>],
        wire: &Framed,
        holders: Vec<H>,
        said: impl Fn() -> Said + Copy,
        push: impl Fn(&mut H, &Layout, usize, &[u8]) -> Result<()> + Copy,
    ) -> Result<(Said, Vec<H>)> {
        let stop = &AtomicBool::new(false);
        let each = lines.iter_mut().zip(holders).map(|(line, holder)| async move {
            let mut held = Held { wire, holder, push, layout: None, format: self.format };
            let mut said = said();
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

    /// How rows to come become rows like those before. Groups are made anew anyway.
    fn reshaping(&self, said: &Said) -> Option<[Layout; 2]> {
        match self.plan.recipe {
            Recipe::Chain | Recipe::Sort(_) => said.reshaping(self.format),
            Recipe::Group(_) => None,
        }
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
        let mut reshaping: Option<Option<[Layout; 2]>> = None;
        let mut failed = None;
        loop {
            let piece = line.piece(sink.wire()).await?;
            let taken = match &piece {
                Piece::Done => break,
                Piece::Rows { .. } => {
                    let row = line::row(line.bytes(&piece));
                    match reshaping.get_or_insert_with(|| self.reshaping(said)) {
                        None => sink.row(said, number, &row).map(|wanted| more = wanted),
                        Some([from, to]) => from
                            .reshaped(&row, to)
                            .and_then(|row| sink.row(said, number, &row))
                            .map(|wanted| more = wanted),
                    }
                }
                packet => {
                    said.take(packet, line.bytes(&piece), &self.routed.parts[number], number, self.plan).map(|error| {
                        failed = error;
                    })
                }
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
                said.ended(number, status);
                Ok(more)
            }
        }
    }
}

/// The next row of a stream, as rows are shown.
fn push(
    merge: &mut Streams<'_>,
    layout: &Layout,
    reshaping: &Option<[Layout; 2]>,
    stream: usize,
    row: &[u8],
) -> Result<()> {
    match reshaping {
        None => merge.push(layout, stream, row),
        Some([from, to]) => merge.push(layout, stream, &from.reshaped(row, to)?),
    }
}

/// Of a reply that is read for its definitions.
struct Definitions<'w> {
    wire: &'w Framed,
}

impl Sink for Definitions<'_> {
    fn wire(&self) -> &Framed {
        self.wire
    }

    fn row(&mut self, _said: &Said, _part: usize, _row: &[u8]) -> Result<bool> {
        Ok(true)
    }

    async fn make_way(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Rows of one server, held.
struct Held<'w, H, P> {
    wire: &'w Framed,
    holder: H,
    push: P,
    /// Of the rows of this part.
    layout: Option<(usize, Layout)>,
    format: Format,
}

impl<H, P: Fn(&mut H, &Layout, usize, &[u8]) -> Result<()>> Sink for Held<'_, H, P> {
    fn wire(&self) -> &Framed {
        self.wire
    }

    fn row(&mut self, said: &Said, part: usize, row: &[u8]) -> Result<bool> {
        let layout = match &mut self.layout {
            Some((of, layout)) if *of == part => layout,
            layout => &mut layout.insert((part, said.layout(self.format))).1,
        };
        (self.push)(&mut self.holder, layout, part, row)?;
        Ok(true)
    }

    async fn make_way(&mut self) -> Result<()> {
        Ok(())
    }
}
