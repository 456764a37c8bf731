//! [`Hold`]: the connections of one session, and the transaction that they are in.

use std::pin::pin;
use std::sync::Arc;

use super::branch::{Branch, ServerMark};
use super::characteristics::{Chained, Characteristics, takes_snapshot};
use super::commit::Ending;
use super::coordinator::{Coordinator, Live};
use super::decision;
use super::part::{Opened, Part};
use crate::admission::{Ticket, Tickets};
use crate::context::State;
use crate::error::{Error, Result};
use crate::plan::Effect;
use crate::registry::Listed;
use crate::shard::{Conn, ReplyShape, Servers};
use crate::topology::ServerNo;

#[derive(Debug)]
pub struct Hold {
    pub(super) coordinator: Arc<Coordinator>,
    tickets: Arc<Tickets>,
    /// Tells others which connections are held, and this session that its statement is killed.
    pub(super) listed: Arc<Listed>,
    /// Held while the session may come to hold connections to several servers.
    ticket: Option<Ticket>,
    /// Off: any statement may leave a transaction open.
    autocommit: bool,
    /// In the order in which they were reached.
    pub(super) parts: Vec<Part>,
    /// The client has begun a transaction, with this statement.
    begun: Option<String>,
    /// The transaction is one over several servers.
    pub(super) live: Option<Live>,
    /// Of the next transaction only.
    next: Characteristics,
    /// Of the transaction that is begun.
    current: Characteristics,
    /// What the savepoints set so far are called, as SQL text.
    pub(super) savepoints: Vec<String>,
    /// Servers on which the last transaction is committed and recovery has to say so.
    pub(super) unfinished: Vec<String>,
}

/// What a connection is needed for.
#[derive(Clone, Copy, Debug)]
pub struct Need<'a> {
    pub shape: ReplyShape,
    pub state: &'a Arc<State>,
    pub effect: Effect,
    /// The statement reads no table: it doesn't use SET TRANSACTION up.
    pub bare: bool,
    /// The text of a statement to be executed as prepared, if it is one.
    pub prepared: Option<&'a [u8]>,
}

impl Hold {
    pub fn new(coordinator: Arc<Coordinator>, tickets: Arc<Tickets>, listed: Arc<Listed>) -> Self {
        Hold {
            coordinator,
            tickets,
            listed,
            ticket: None,
            autocommit: true,
            parts: Vec::new(),
            begun: None,
            live: None,
            next: Characteristics::default(),
            current: Characteristics::default(),
            savepoints: Vec::new(),
            unfinished: Vec::new(),
        }
    }

    // Statements

    /// The session's connection to a server, with its settings and in its transaction.
    pub async fn connection(&mut self, servers: &Servers, server: ServerNo, need: Need<'_>) -> Result<&mut Conn> {
        let at = match self.parts.iter().position(|part| part.server == server) {
            Some(at) => at,
            None => {
                if self.begun.is_some() || !self.autocommit || !self.parts.is_empty() {
                    self.admit().await?;
                }
                let checkout = pin!(servers.get(server).checkout_for(need.shape, need.state, need.prepared));
                let conn = self.listed.unless_killed(checkout).await?;
                let used = self.listed.uses(server, conn.thread().0);
                self.parts.push(Part::new(conn, server, used));
                self.parts.len() - 1
            }
        };
        self.parts[at].conn.bring_to(need.state).await?;
        self.open(servers, at, need).await?;
        // In a read-only transaction the server refuses it, and nothing is written.
        if need.effect == Effect::Write && !self.is_read_only() {
            self.admit_writer(at)?;
            self.parts[at].wrote = true;
        }
        Ok(&mut self.parts[at].conn)
    }

    /// Connections to several servers, in the order of `servers`, which is the one order in which
    /// every session takes them.
    pub async fn several(&mut self, servers: &Servers, wanted: &[ServerNo], need: Need<'_>) -> Result<Vec<&mut Conn>> {
        if wanted.len() > 1 {
            self.admit().await?;
            // Without autocommit a server begins by itself, but only with the first statement: before
            // that the next server could not tell that it is to join.
            if !self.autocommit && !self.in_transaction() {
                self.begin("START TRANSACTION".into());
            }
        }
        for server in wanted {
            self.connection(servers, *server, need).await?;
        }
        self.parts.sort_by_key(|part| part.server);
        let wanted = self.parts.iter_mut().filter(|part| wanted.contains(&part.server));
        Ok(wanted.map(|part| &mut *part.conn).collect())
    }

    /// Before a connection is held that another may have to be waited for with.
    async fn admit(&mut self) -> Result<()> {
        if self.ticket.is_none() {
            self.ticket = Some(self.listed.unless_killed(pin!(self.tickets.take())).await?);
        }
        Ok(())
    }

    /// The session's autocommit is on or off from now on.
    pub fn follow_autocommit(&mut self, on: bool) {
        self.autocommit = on;
    }

    /// What has to be said on a connection before this statement.
    async fn open(&mut self, servers: &Servers, at: usize, need: Need<'_>) -> Result<()> {
        let is_new = if self.begun.is_some() { self.parts[at].opened == Opened::No } else { !self.parts[at].stands() };
        if !is_new {
            return Ok(());
        }
        let joins = self.parts.iter().enumerate().any(|(other, part)| other != at && part.stands());
        let branches = joins && self.may_join();
        let part = &mut self.parts[at];
        match &self.begun {
            // Without BEGIN the next transaction is this statement, or begins with it.
            None if !joins || need.bare => {
                if let Some(set) = self.next.statement().filter(|_| !need.bare) {
                    part.characterised = Some(self.next);
                    part.conn.run(&set).await?;
                    self.next = Characteristics::default();
                }
            }
            Some(_) | None if branches => self.open_branch(servers, at).await?,
            Some(begun) => {
                if let Some(set) = self.current.statement() {
                    part.conn.run(&set).await?;
                }
                part.conn.run(begun).await?;
                part.opened = Opened::Plain;
            }
            None => {}
        }
        for name in &self.savepoints {
            self.parts[at].conn.run(&format!("SAVEPOINT {name}")).await?;
        }
        Ok(())
    }

    // Several servers

    /// The next server can open a branch: others have, or transactions may span servers and there is
    /// one plain part, whose commit can decide.
    fn may_join(&self) -> bool {
        let plain = self.parts.iter().filter(|part| part.stands() && !matches!(part.opened, Opened::Branch(_))).count();
        self.live.is_some() || (plain == 1 && self.coordinator.available().is_ok())
    }

    async fn open_branch(&mut self, servers: &Servers, at: usize) -> Result<()> {
        let live = match self.live.take() {
            Some(live) => live,
            None => self.coordinator.open(),
        };
        let transaction = live.id.clone();
        self.live = Some(live);
        let lock_wait = self.coordinator.lock_wait_seconds;
        let standing = |part: &&mut Part| part.stands() && !matches!(part.opened, Opened::Branch(_));
        let first = self.parts.iter_mut().find(standing).expect("a branch joins a plain part");
        // From now on it is missed if the server ends it by itself.
        first.opened = Opened::Plain;
        first.conn.be_impatient(lock_wait).await?;
        let said = first.characterised.unwrap_or(self.current);
        let branch = Branch {
            transaction,
            first: ServerMark::of(&servers.get(first.server).name),
            first_thread: first.conn.thread(),
            own_thread: self.parts[at].conn.thread(),
            begun: decision::now(),
        };
        let begun = self.begun.as_deref().unwrap_or_default();
        let part = &mut self.parts[at];
        if let Some(set) = said.with_words_of(begun).statement() {
            part.conn.run(&set).await?;
        }
        part.conn.be_impatient(lock_wait).await?;
        part.start_branch(branch).await?;
        if takes_snapshot(begun) {
            part.conn.run("SELECT gtrid FROM bifold.decision LIMIT 1").await?;
        }
        Ok(())
    }

    /// A second writing server needs a commit over several.
    fn admit_writer(&self, at: usize) -> Result<()> {
        let is_other = |(other, part): &(usize, &Part)| *other != at && part.wrote && part.stands();
        let mut others = self.parts.iter().enumerate().filter(is_other).peekable();
        if others.peek().is_none() {
            return Ok(());
        }
        let is_branch = |part: &Part| matches!(part.opened, Opened::Branch(_));
        let apart = others.filter(|(_, part)| !is_branch(part)).count() + usize::from(!is_branch(&self.parts[at]));
        // The plain part decides for the branches; there can't be two.
        if self.live.is_some() && apart <= 1 {
            return Ok(());
        }
        self.coordinator.available()?;
        Err(Error::refused(
            "Bifold: this transaction began while commits over several servers were not possible. Begin it again.",
        ))
    }

    /// The transaction has come to more than one server.
    pub fn spans_servers(&self) -> bool {
        self.live.is_some()
    }

    /// Would a statement at this server make the transaction one over several?
    pub fn would_span(&self, server: ServerNo) -> bool {
        self.spans_servers() || self.parts.iter().any(|part| part.server != server && part.stands())
    }

    /// Servers on which the last transaction, committed as it is, is not there to be seen yet.
    pub fn take_unfinished(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unfinished)
    }

    // Afterwards

    /// After each reply: connections that nothing binds go back to the pool. `failed`: the reply
    /// was an error, which says nothing of the transaction.
    pub async fn settle(&mut self, failed: bool) -> Result<()> {
        if self.parts.is_empty() {
            return Ok(());
        }
        // A lost connection took its part of the transaction, and what was bound, with it.
        let lost = self.parts.extract_if(.., |part| part.conn.is_busy()).any(|part| part.bound || part.stands());
        if lost {
            return self.end(Ending::Rollback).await;
        }
        if failed {
            for part in self.parts.iter_mut().filter(|part| part.stands()) {
                part.conn.refresh_status().await?;
            }
        }
        for part in self.parts.iter_mut().filter(|part| !part.stands()) {
            let Some(characteristics) = part.characterised.take() else { continue };
            // A statement that failed has not used it up: the next one meets it, and nobody else.
            if failed {
                part.conn.run("COMMIT").await?;
                self.next = characteristics;
            }
        }
        if self.parts.iter().any(Part::has_vanished) {
            // A server ended the transaction: a deadlock rolled it back, or a statement committed
            // it. In the latter case nothing but reads can stand elsewhere.
            let ending = if failed { Ending::Rollback } else { Ending::Commit };
            return self.end(ending).await;
        }
        self.release();
        Ok(())
    }

    fn release(&mut self) {
        if self.begun.is_none() {
            self.parts.retain(|part| part.bound || part.stands());
            if self.parts.is_empty() {
                self.ticket = None;
            }
        }
    }

    /// After a kill: a server that was told of it too late ends its next statement, which is this
    /// one then.
    pub async fn soak(&mut self) {
        for part in self.parts.iter_mut().filter(|part| !part.conn.is_busy()) {
            let _ = part.conn.run("DO 0").await;
        }
    }

    /// The connection to this server stays with the session from now on.
    pub fn bind(&mut self, server: ServerNo) {
        for part in self.parts.iter_mut().filter(|part| part.server == server) {
            part.bound = true;
        }
    }

    /// What was bound is bound no longer.
    pub fn unbind(&mut self) {
        for part in &mut self.parts {
            part.bound = false;
        }
        self.release();
    }

    /// No connection is held, be a transaction begun or not.
    pub fn is_free(&self) -> bool {
        self.parts.is_empty()
    }

    /// The servers are others from now on; no connection is held.
    pub fn move_to(&mut self, coordinator: Arc<Coordinator>, tickets: Arc<Tickets>) {
        debug_assert!(self.is_free());
        (self.coordinator, self.tickets) = (coordinator, tickets);
    }

    /// A server that the session already holds; any will do for a statement without tables.
    pub fn any(&self) -> Option<ServerNo> {
        self.parts.first().map(|part| part.server)
    }

    /// The connection to this server, if the session holds one.
    pub fn held(&mut self, server: ServerNo) -> Option<&mut Conn> {
        self.parts.iter_mut().find(|part| part.server == server).map(|part| &mut *part.conn)
    }

    pub fn holds(&self, server: ServerNo) -> bool {
        self.parts.iter().any(|part| part.server == server)
    }

    /// The servers whose connections are bound to the session for longer than a transaction.
    pub fn bound(&self) -> Vec<ServerNo> {
        self.parts.iter().filter(|part| part.bound).map(|part| part.server).collect()
    }

    /// Is any connection bound to the session for longer than a transaction?
    pub fn is_bound(&self) -> bool {
        self.parts.iter().any(|part| part.bound)
    }

    // Transactions

    /// A transaction is open, be it that no server has heard of it yet.
    pub fn in_transaction(&self) -> bool {
        self.begun.is_some() || self.parts.iter().any(|part| part.conn.in_transaction())
    }

    /// The transaction was begun READ ONLY, by its own words or by SET TRANSACTION.
    pub fn is_read_only(&self) -> bool {
        self.begun.as_ref().is_some_and(|begun| self.current.with_words_of(begun).access == Some("READ ONLY"))
    }

    /// BEGIN, after what was open has been committed: said on each server before its first
    /// statement.
    pub fn begin(&mut self, statement: String) {
        self.begun = Some(statement);
        self.current = std::mem::take(&mut self.next);
        for part in &mut self.parts {
            part.opened = Opened::No;
        }
    }

    /// What AND CHAIN begins once this transaction has ended.
    pub fn chained(&self) -> Chained {
        Chained {
            statement: self.begun.clone().unwrap_or_else(|| "START TRANSACTION".into()),
            characteristics: self.current,
        }
    }

    pub fn chain(&mut self, chained: Chained) {
        self.next = chained.characteristics;
        self.begin(chained.statement);
    }

    /// The isolation level of the next transaction: `READ COMMITTED`.
    pub fn isolate_next(&mut self, level: &'static str) {
        self.next.isolation = Some(level);
    }

    /// `READ ONLY` or `READ WRITE` for the next transaction.
    pub fn access_next(&mut self, access: &'static str) {
        self.next.access = Some(access);
    }

    /// It is over: nothing of it is said to the next one. Connections that were given up go.
    pub(super) fn forget_transaction(&mut self) {
        for part in self.parts.iter_mut().filter(|part| !part.conn.is_busy()) {
            part.is_over();
        }
        let is_left = self.parts.extract_if(.., |part| !part.bound && part.conn.is_busy()).count() > 0;
        // Only now: recovery must not meet a transaction that is still being ended.
        if self.live.take().is_some() && is_left {
            self.coordinator.left_behind();
        }
        self.begun = None;
        self.next = Characteristics::default();
        self.current = Characteristics::default();
        self.savepoints.clear();
        self.release();
    }

    /// The connections are thrown away with all that they hold: the session is over, or nothing
    /// about them is known any more.
    pub async fn abandon(&mut self) {
        for part in self.parts.iter_mut().filter(|part| part.conn.is_busy()) {
            part.give_up();
        }
        self.end(Ending::Rollback).await.unwrap_or_default();
        if self.is_bound() {
            self.parts.iter_mut().for_each(Part::give_up);
        }
        self.parts.clear();
        self.ticket = None;
    }

    // Savepoints

    /// Sets a savepoint on every server of the transaction, those yet to come included. `implicit`:
    /// without autocommit the next statement begins a transaction by itself.
    pub async fn savepoint(&mut self, name: &str, implicit: bool) -> Result<()> {
        for part in self.parts.iter_mut().filter(|part| part.conn.in_transaction()) {
            part.conn.run(&format!("SAVEPOINT {name}")).await?;
        }
        if self.begun.is_some() || implicit {
            self.savepoints.retain(|known| !known.eq_ignore_ascii_case(name));
            self.savepoints.push(name.to_owned());
        }
        Ok(())
    }

    /// `ROLLBACK TO` and `RELEASE SAVEPOINT`, everywhere. False where no server knows of it and
    /// it has not been set either.
    pub async fn to_savepoint(&mut self, name: &str, release: bool) -> Result<bool> {
        let statement = if release { "RELEASE SAVEPOINT" } else { "ROLLBACK TO SAVEPOINT" };
        let mut known = false;
        for part in self.parts.iter_mut().filter(|part| part.conn.in_transaction()) {
            part.conn.run(&format!("{statement} {name}")).await?;
            known = true;
        }
        if let Some(at) = self.savepoints.iter().position(|set| set.eq_ignore_ascii_case(name)) {
            self.savepoints.truncate(if release { at } else { at + 1 });
            known = true;
        }
        Ok(known)
    }
}
