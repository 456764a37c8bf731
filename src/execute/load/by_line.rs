//! A file whose lines belong to many places. It is read in stretches of some MiB; each stretch is
//! dealt onto piles, one for each place, and these go out before more is read, so a client is never
//! read faster than the servers take it. All of it is one statement: kept, or undone everywhere.

use std::sync::Arc;

use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::super::client::{Client, Diagnostic};
use super::super::client_file::ClientFile;
use super::super::engine::Engine;
use super::super::exchange;
use super::super::ids::Stash;
use super::super::local::transaction::unfinished;
use super::super::names;
use super::super::settings;
use super::super::statement::{Running, facts};
use super::piles::{self, Job, Sums};
use crate::context::{Setting, State};
use crate::error::{Blame, Error, Result, code};
use crate::plan::load::ByLine;
use crate::plan::{Effect, Over};
use crate::protocol::ok::OkPacket;
use crate::route::load::{self, Pile, Sorter};
use crate::route::{Facts, RouteError};
use crate::topology::{HOME, Place, ServerNo, ShardNo, SubtableNo};
use crate::transaction::{Ending, Frame, Need};

/// A stretch of the file, in bytes of lines.
const STRETCH: usize = 32 << 20;

const FIRST: Place = Place { shard: HOME, subtable: SubtableNo(0) };

pub(super) async fn run(running: Running<'_>, client: &mut Client, plan: &ByLine) -> Result<()> {
    let _room = room(running.engine).await?;
    // 1. In the session's transaction, or in one of its own
    let open = client.hold.in_transaction();
    let alone = !open && client.autocommit();
    if !open {
        client.hold.begin("START TRANSACTION".into());
    }
    // 2. The file is loaded; in a transaction that goes on it is undone alone if it fails
    let mut loading = Loading::new(&running, client, plan);
    if !alone {
        client.hold.frame(Frame::Statement).await?;
    }
    let loaded = loading.file(client).await;
    let outcome = match (&loaded, alone) {
        (_, true) => loaded,
        (Ok(()), false) => client.hold.keep_frame(Frame::Statement).await,
        (Err(_), false) => {
            client.hold.undo_frame(Frame::Statement).await;
            loaded
        }
    };
    let (sums, used) = (std::mem::take(&mut loading.sums), loading.last_server);
    // 3. What its variables hold now
    let outcome = match (outcome, used) {
        (Ok(()), Some(server)) => read_variables(&running, client, server).await,
        (outcome, _) => outcome,
    };
    let diagnostics = match &outcome {
        Ok(()) => shown(client, sums.diagnostics.as_slice(), used).await,
        Err(error) => Err(error.clone()),
    };
    if alone {
        let ending = if diagnostics.is_ok() { Ending::Commit } else { Ending::Rollback };
        let ended = client.hold.end(ending).await;
        diagnostics.as_ref().map_err(Error::clone)?;
        ended?;
    }
    // 4. One reply
    let mut diagnostics = diagnostics?;
    diagnostics.extend(unfinished(&client.hold.take_unfinished()));
    reply(client, &sums, diagnostics, loading.generated).await
}

async fn room(engine: &Engine) -> Result<SemaphorePermit<'_>> {
    match timeout(engine.config.backend.wait, engine.loads.acquire()).await {
        Ok(permit) => Ok(permit.expect("the semaphore is never closed")),
        Err(_) => {
            let text = "Bifold: too many files are being loaded over many places. Try again.";
            Err(Error::new(Blame::Proxy, code::CON_COUNT, text).retryable())
        }
    }
}

struct Loading<'r> {
    running: &'r Running<'r>,
    plan: &'r ByLine,
    /// The session's settings, and one instant for all servers.
    state: Arc<State>,
    /// Servers that have lines of it.
    reached: Vec<ServerNo>,
    sums: Sums,
    /// Where the last line went.
    last_server: Option<ServerNo>,
    generated: Option<u64>,
}

impl<'r> Loading<'r> {
    fn new(running: &'r Running<'r>, client: &Client, plan: &'r ByLine) -> Self {
        let engine = running.engine;
        let ids = Stash::new(&engine.ids);
        let state = match facts(client, engine, &ids).instant {
            None => client.state().clone(),
            Some((seconds, micros)) => engine
                .states
                .with(client.state(), [(Setting::System("timestamp".into()), format!("{seconds}.{micros:06}"))]),
        };
        Loading { running, plan, state, reached: Vec::new(), sums: Sums::default(), last_server: None, generated: None }
    }

    fn need<'a>(client: &Client, state: &'a Arc<State>, effect: Effect) -> Need<'a> {
        exchange::need(client.shape, state, effect)
    }

    async fn file(&mut self, client: &mut Client) -> Result<()> {
        // 1. What a server says of the statement itself is said before anything is sent
        let charset = self.try_empty(client).await?;
        let mut sorter = Sorter::new(self.plan, &charset)?;
        // 2. The client's file, in stretches
        let mut file = ClientFile::ask(&mut client.wire, &self.plan.file).await?;
        let loaded = self.stretches(client, &mut file, &mut sorter).await;
        if matches!(&loaded, Err(error) if !error.ends_session()) {
            file.drain(&mut client.wire).await?;
        }
        self.generated = sorter.generated;
        loaded
    }

    /// Runs the statement with an empty file; gives the character set of the client's.
    async fn try_empty(&mut self, client: &mut Client) -> Result<String> {
        let engine = self.running.engine;
        let shard = self.plan.template.refs[0].schema.home();
        let (text, physical) = self.text(client, FIRST);
        let need = Self::need(client, &self.state, Effect::Read);
        let conn = client.hold.connection(&engine.servers, shard.server, need).await?;
        let charset = match &self.plan.charset {
            Some(charset) => charset.to_string(),
            None => {
                exchange::enter(conn, &shard.database).await?;
                let answer = conn.run("SELECT @@character_set_database").await?;
                let cell = answer.rows.into_iter().flatten().flatten().next().unwrap_or_default();
                String::from_utf8_lossy(&cell).into_owned()
            }
        };
        if let Err(error) = conn.load(&text, &[]).await {
            let error = names::in_error(&physical, error);
            engine.forget_stale(self.running.planned, &error);
            return Err(error);
        }
        match PARTED.contains(&charset.as_str()) {
            true => Ok(charset),
            false => Err(Error::refused(format!(
                "Bifold: a file in character set {charset} can't be parted; write it in utf8mb4, and say CHARACTER SET utf8mb4."
            ))),
        }
    }

    fn text(&self, client: &Client, place: Place) -> (Vec<u8>, Vec<crate::route::Name>) {
        let ids = Stash::new(&self.running.engine.ids);
        load::text(self.plan, &self.running.statement, &facts(client, self.running.engine, &ids), place)
    }

    async fn stretches(&mut self, client: &mut Client, file: &mut ClientFile, sorter: &mut Sorter<'_>) -> Result<()> {
        let mut input = Vec::new();
        while !file.is_over() {
            file.read(&mut client.wire, &mut input).await?;
            let last = file.is_over();
            if input.len() < GROUP && !last {
                continue;
            }
            let taken = self.sort(client, sorter, &input, last).await?;
            input.drain(..taken);
            if last || sorter.bytes() >= STRETCH {
                self.send(client, sorter.take_piles(), last).await?;
            }
        }
        Ok(())
    }

    /// Deals the lines that stand whole in the input; gives how many bytes they are.
    async fn sort(&self, client: &Client, sorter: &mut Sorter<'_>, input: &[u8], last: bool) -> Result<usize> {
        let engine = self.running.engine;
        self.completed(client, |facts| sorter.look(input, last, facts)).await?;
        // Ids that a group was given stay its own while it waits for more.
        let ids = Stash::new(&engine.ids);
        loop {
            match sorter.deal(input, &facts(client, engine, &ids)) {
                Ok(taken) => return Ok(taken),
                Err(RouteError::Refused(error)) => return Err(error),
                Err(RouteError::Wait) => tokio::time::sleep(std::time::Duration::from_millis(1)).await,
                Err(RouteError::Ask(question)) => engine.learn_weight(question).await?,
            }
        }
    }

    /// What looking lacks is fetched, and it goes on.
    async fn completed(
        &self,
        client: &Client,
        mut look: impl FnMut(&Facts<'_>) -> std::result::Result<(), RouteError>,
    ) -> Result<()> {
        let engine = self.running.engine;
        let ids = Stash::new(&engine.ids);
        loop {
            match look(&facts(client, engine, &ids)) {
                Ok(()) => return Ok(()),
                Err(RouteError::Refused(error)) => return Err(error),
                Err(RouteError::Wait) => return Err(Error::proxy("Bifold: looking at lines takes no ids.")),
                Err(RouteError::Ask(question)) => engine.learn_weight(question).await?,
            }
        }
    }

    /// Sends a stretch's piles.
    async fn send(&mut self, client: &mut Client, piles: Vec<(Place, Pile)>, whole: bool) -> Result<()> {
        if piles.is_empty() {
            return Ok(());
        }
        let engine = self.running.engine;
        let jobs = self.jobs(client, &piles);
        // 1. Connections: of a file that goes on, to all servers that its lines may be for
        let mut servers: Vec<ServerNo> = match whole && self.reached.is_empty() {
            true => jobs.iter().map(|job| job.server).collect(),
            false => self.plan.template.refs[0].schema.shards().iter().map(|shard| shard.server).collect(),
        };
        servers.extend(&self.reached);
        servers.sort_unstable();
        servers.dedup();
        let need = Self::need(client, &self.state, Effect::Write);
        let mut conns = client.hold.several(&engine.servers, &servers, need).await?;
        conns.iter_mut().for_each(|conn| self.disturb(conn));
        self.reached.clone_from(&servers);
        // 2. The lines
        match piles::send(self.running, &mut conns, &servers, &jobs).await {
            Ok(sums) => {
                self.sums.add(sums);
                keep_first(&mut self.sums.diagnostics);
            }
            Err((_, error)) => {
                engine.forget_stale(self.running.planned, &error);
                return Err(error);
            }
        }
        let last = jobs.iter().filter(|job| !job.copies).max_by_key(|job| job.pile.numbers.last().copied());
        self.last_server = last.map(|job| job.server);
        Ok(())
    }

    /// What the statement's variables hold on this connection is not known from now on.
    fn disturb(&self, conn: &mut crate::shard::Conn) {
        let variables: Vec<_> = self.running.planned.settings().map(|name| (name.clone(), "?".to_owned())).collect();
        if !variables.is_empty() {
            conn.now_in(self.running.engine.states.with(conn.state(), variables));
        }
    }

    /// A statement for each pile, and for reference tables for each copy. The last line of all is
    /// its server's last: variables are left as that line has them.
    fn jobs<'p>(&self, client: &Client, piles: &'p [(Place, Pile)]) -> Vec<Job<'p>> {
        let schema = &self.plan.template.refs[0].schema;
        let ids = Stash::new(&self.running.engine.ids);
        let facts = facts(client, self.running.engine, &ids);
        let job = |place: Place, pile: &'p Pile| {
            let shard = schema.shard(place.shard);
            let (text, names) = load::text(self.plan, &self.running.statement, &facts, place);
            let database = self.plan.charset.is_none().then(|| shard.database.clone());
            let copies = self.plan.over == Over::Shards && place.shard != HOME;
            Job { server: shard.server, text, names, database, pile, copies }
        };
        if self.plan.over == Over::Shards {
            let shards = (0..schema.shard_count()).map(|shard| Place { shard: ShardNo(shard), ..FIRST });
            return shards
                .flat_map(|place| piles.iter().map(move |(_, pile)| (place, pile)))
                .map(|(place, pile)| job(place, pile))
                .collect();
        }
        let last = piles.iter().map(|(_, pile)| pile.numbers.last().copied()).max().flatten();
        let (with_last, others): (Vec<_>, Vec<_>) =
            piles.iter().partition(|(_, pile)| pile.numbers.last().copied() == last);
        others.into_iter().chain(with_last).map(|(place, pile)| job(*place, pile)).collect()
    }
}

/// So much is read before lines are looked for in it.
const GROUP: usize = 256 << 10;

/// Character sets in which a byte below 0x80 is always the ASCII character.
const PARTED: [&str; 8] = ["utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "latin2", "cp1251", "binary"];

/// User variables that the lines set hold what the last line said.
async fn read_variables(running: &Running<'_>, client: &mut Client, server: ServerNo) -> Result<()> {
    let assigned: Vec<Setting> = running.planned.settings().cloned().collect();
    let Some(conn) = client.hold.held(server).filter(|_| !assigned.is_empty()) else { return Ok(()) };
    let had_instant = client.settings.state.system("timestamp").is_some();
    let mut state = settings::read_back(conn, running.engine, &assigned).await?;
    if !had_instant {
        // The load's own.
        state = running.engine.states.without(&state, &Setting::System("timestamp".into()));
    }
    client.set_state(state, running.engine);
    Ok(())
}

/// No session keeps more than these (max_error_count).
fn keep_first(diagnostics: &mut Vec<(u32, Diagnostic)>) {
    const MOST: usize = 65_535;
    if diagnostics.len() > MOST {
        diagnostics.sort_by_key(|(row, _)| *row);
        diagnostics.truncate(MOST);
    }
}

/// What SHOW WARNINGS will say: as many as the session keeps, in the order of lines.
async fn shown(client: &mut Client, all: &[(u32, Diagnostic)], server: Option<ServerNo>) -> Result<Vec<Diagnostic>> {
    let mut all: Vec<&(u32, Diagnostic)> = all.iter().collect();
    all.sort_by_key(|(row, _)| *row);
    let conn = server.and_then(|server| client.hold.held(server)).filter(|_| !all.is_empty());
    let Some(conn) = conn else { return Ok(Vec::new()) };
    let kept = exchange::number(conn, "SELECT @@max_error_count").await?;
    let kept = usize::try_from(kept).unwrap_or(usize::MAX);
    Ok(all.into_iter().take(kept).map(|(_, one)| one.clone()).collect())
}

async fn reply(client: &mut Client, sums: &Sums, diagnostics: Vec<Diagnostic>, generated: Option<u64>) -> Result<()> {
    let memory = &mut client.memory;
    memory.row_count = i64::try_from(sums.affected).unwrap_or(i64::MAX);
    memory.last_insert_id = generated.unwrap_or(memory.last_insert_id);
    let info = sums.info();
    let [.., warnings] = sums.numbers;
    let warnings = warnings.max(diagnostics.len() as u64);
    let ok = OkPacket {
        affected_rows: sums.affected,
        warnings: u16::try_from(warnings).unwrap_or(u16::MAX),
        info: info.as_bytes(),
        ..OkPacket::default()
    };
    memory.diagnostics = diagnostics;
    client.reply_ok_of(ok).await
}
