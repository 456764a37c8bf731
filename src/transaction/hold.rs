//! [`Hold`]: the connections of one session, and the transaction that they are in.

use std::sync::Arc;

use crate::context::State;
use crate::error::{Error, Result};
use crate::plan::Effect;
use crate::shard::{Checkout, Conn, ReplyShape, Servers};
use crate::topology::ServerNo;

#[derive(Debug, Default)]
pub struct Hold {
    /// In the order in which they were reached.
    held: Vec<Held>,
    /// The client has begun a transaction, with this statement.
    begun: Option<String>,
    /// Of the next transaction only.
    next: Characteristics,
    /// Of the transaction that is begun.
    current: Characteristics,
    /// What the savepoints set so far are called, as SQL text.
    savepoints: Vec<String>,
}

/// What SET TRANSACTION says of one transaction: `READ COMMITTED`, `READ ONLY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Characteristics {
    isolation: Option<&'static str>,
    access: Option<&'static str>,
}

/// How the transaction goes on that AND CHAIN begins.
#[derive(Debug)]
pub struct Chained {
    statement: String,
    characteristics: Characteristics,
}

#[derive(Debug)]
struct Held {
    conn: Checkout,
    server: ServerNo,
    /// A row was written here in the open transaction.
    wrote: bool,
    /// Something outlives the transaction here: a lock, a temporary table, a handler.
    bound: bool,
    /// The transaction was begun here.
    begun: bool,
    /// SET TRANSACTION was said here, for a statement that is a transaction by itself.
    characterised: Option<Characteristics>,
}

/// What a connection is needed for.
#[derive(Clone, Copy, Debug)]
pub struct Need<'a> {
    pub shape: ReplyShape,
    pub state: &'a Arc<State>,
    pub effect: Effect,
    /// The statement reads no table: it doesn't use SET TRANSACTION up.
    pub bare: bool,
}

/// How a transaction is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Commit,
    Rollback,
}

impl Hold {
    // Statements

    /// The session's connection to a server, with its settings and in its transaction.
    pub async fn connection(&mut self, servers: &Servers, server: ServerNo, need: Need<'_>) -> Result<&mut Conn> {
        if need.effect == Effect::Write {
            self.refuse_second_writer(server)?;
        }
        let at = match self.held.iter().position(|held| held.server == server) {
            Some(at) => at,
            None => {
                let conn = servers.get(server).checkout(need.shape, need.state).await?;
                self.held.push(Held { conn, server, wrote: false, bound: false, begun: false, characterised: None });
                self.held.len() - 1
            }
        };
        let held = &mut self.held[at];
        held.conn.bring_to(need.state).await?;
        match &self.begun {
            Some(begun) if !held.begun => {
                if let Some(set) = self.current.statement() {
                    held.conn.run(&set).await?;
                }
                held.conn.run(begun).await?;
                held.begun = true;
                for name in &self.savepoints {
                    held.conn.run(&format!("SAVEPOINT {name}")).await?;
                }
            }
            Some(_) => {}
            // Without BEGIN the next transaction is this statement, or begins with it.
            None => {
                if !held.conn.in_transaction() {
                    for name in &self.savepoints {
                        held.conn.run(&format!("SAVEPOINT {name}")).await?;
                    }
                }
                let usable = !need.bare && !held.conn.in_transaction();
                if let Some(set) = self.next.statement().filter(|_| usable) {
                    held.characterised = Some(self.next);
                    held.conn.run(&set).await?;
                    self.next = Characteristics::default();
                }
            }
        }
        held.wrote |= need.effect == Effect::Write;
        Ok(&mut held.conn)
    }

    /// Connections to several servers, in the order of `servers`, which is the one order in which
    /// every session takes them.
    pub async fn several(&mut self, servers: &Servers, wanted: &[ServerNo], need: Need<'_>) -> Result<Vec<&mut Conn>> {
        for server in wanted {
            self.connection(servers, *server, need).await?;
        }
        self.held.sort_by_key(|held| held.server);
        let wanted = self.held.iter_mut().filter(|held| wanted.contains(&held.server));
        Ok(wanted.map(|held| &mut *held.conn).collect())
    }

    fn refuse_second_writer(&self, server: ServerNo) -> Result<()> {
        let other = self.held.iter().find(|held| held.server != server && held.wrote && held.conn.in_transaction());
        match other {
            None => Ok(()),
            Some(_) => Err(Error::refused(
                "Bifold: this transaction has written on another server already, and a commit over several servers is not supported yet. Commit first, or keep to rows whose sharding keys share a server.",
            )),
        }
    }

    /// After each reply: connections that nothing binds go back to the pool. `failed`: the reply
    /// was an error, which says nothing of the transaction.
    pub async fn settle(&mut self, failed: bool) -> Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        // A lost connection took its part of the transaction, and what was bound, with it.
        let lost = self
            .held
            .extract_if(.., |held| held.conn.is_busy())
            .any(|held| held.begun || held.bound || held.conn.in_transaction());
        if lost {
            return self.end(Ending::Rollback).await;
        }
        if failed {
            for held in self.held.iter_mut().filter(|held| held.begun || held.conn.in_transaction()) {
                held.conn.refresh_status().await?;
            }
        }
        for held in self.held.iter_mut().filter(|held| !held.conn.in_transaction()) {
            let Some(characteristics) = held.characterised.take() else { continue };
            // A statement that failed has not used it up: the next one meets it, and nobody else.
            if failed {
                held.conn.run("COMMIT").await?;
                self.next = characteristics;
            }
        }
        if self.held.iter().any(|held| held.begun && !held.conn.in_transaction()) {
            // A server ended the transaction: a deadlock rolled it back, or a statement committed
            // it. Elsewhere nothing but reads can stand.
            let ending = if failed { Ending::Rollback } else { Ending::Commit };
            return self.end(ending).await;
        }
        self.release();
        Ok(())
    }

    fn release(&mut self) {
        if self.begun.is_none() {
            self.held.retain(|held| held.bound || held.conn.in_transaction());
        }
    }

    /// The connection to this server stays with the session from now on.
    pub fn bind(&mut self, server: ServerNo) {
        for held in self.held.iter_mut().filter(|held| held.server == server) {
            held.bound = true;
        }
    }

    /// What was bound is bound no longer.
    pub fn unbind(&mut self) {
        for held in &mut self.held {
            held.bound = false;
        }
        self.release();
    }

    /// A server that the session already holds; any will do for a statement without tables.
    pub fn any(&self) -> Option<ServerNo> {
        self.held.first().map(|held| held.server)
    }

    /// The connection to this server, if the session holds one.
    pub fn held(&mut self, server: ServerNo) -> Option<&mut Conn> {
        self.held.iter_mut().find(|held| held.server == server).map(|held| &mut *held.conn)
    }

    pub fn holds(&self, server: ServerNo) -> bool {
        self.held.iter().any(|held| held.server == server)
    }

    /// The servers whose connections are bound to the session for longer than a transaction.
    pub fn bound(&self) -> Vec<ServerNo> {
        self.held.iter().filter(|held| held.bound).map(|held| held.server).collect()
    }

    /// Is any connection bound to the session for longer than a transaction?
    pub fn is_bound(&self) -> bool {
        self.held.iter().any(|held| held.bound)
    }

    // Transactions

    /// A transaction is open, be it that no server has heard of it yet.
    pub fn in_transaction(&self) -> bool {
        self.begun.is_some() || self.held.iter().any(|held| held.conn.in_transaction())
    }

    /// The transaction was begun READ ONLY, by its own words or by SET TRANSACTION.
    pub fn is_read_only(&self) -> bool {
        match &self.begun {
            Some(begun) if begun.ends_with("READ ONLY") => true,
            Some(begun) => !begun.ends_with("READ WRITE") && self.current.access == Some("READ ONLY"),
            None => false,
        }
    }

    /// BEGIN, after what was open has been committed: said on each server before its first
    /// statement.
    pub fn begin(&mut self, statement: String) {
        self.begun = Some(statement);
        self.current = std::mem::take(&mut self.next);
        for held in &mut self.held {
            held.begun = false;
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

    /// Ends the transaction everywhere; at most one server wrote, and it goes first. The error is
    /// that server's, and the transaction is over all the same.
    pub async fn end(&mut self, ending: Ending) -> Result<()> {
        let statement = match ending {
            Ending::Commit => "COMMIT",
            Ending::Rollback => "ROLLBACK",
        };
        self.held.sort_by_key(|held| !held.wrote);
        let mut outcome = Ok(());
        for held in self.held.iter_mut().filter(|held| held.conn.in_transaction()) {
            let said = held.conn.run(statement).await;
            if outcome.is_ok() {
                outcome = said.map(drop);
            }
        }
        for held in &mut self.held {
            (held.wrote, held.begun) = (false, false);
        }
        self.begun = None;
        self.next = Characteristics::default();
        self.current = Characteristics::default();
        self.savepoints.clear();
        self.release();
        outcome
    }

    /// The connections are thrown away with all that they hold: the session is over, or nothing
    /// about them is known any more.
    pub async fn abandon(&mut self) {
        if !self.is_bound() && self.end(Ending::Rollback).await.is_ok() {
            return;
        }
        for held in &mut self.held {
            held.conn.condemn();
        }
        self.held.clear();
    }

    // Savepoints

    /// Sets a savepoint on every server of the transaction, those yet to come included. `implicit`:
    /// without autocommit the next statement begins a transaction by itself.
    pub async fn savepoint(&mut self, name: &str, implicit: bool) -> Result<()> {
        for held in self.held.iter_mut().filter(|held| held.conn.in_transaction()) {
            held.conn.run(&format!("SAVEPOINT {name}")).await?;
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
        for held in self.held.iter_mut().filter(|held| held.conn.in_transaction()) {
            held.conn.run(&format!("{statement} {name}")).await?;
            known = true;
        }
        if let Some(at) = self.savepoints.iter().position(|set| set.eq_ignore_ascii_case(name)) {
            self.savepoints.truncate(if release { at } else { at + 1 });
            known = true;
        }
        Ok(known)
    }
}

impl Characteristics {
    fn statement(self) -> Option<String> {
        let isolation = self.isolation.map(|level| format!("ISOLATION LEVEL {level}"));
        let parts: Vec<String> = isolation.into_iter().chain(self.access.map(str::to_owned)).collect();
        (!parts.is_empty()).then(|| format!("SET TRANSACTION {}", parts.join(", ")))
    }
}
