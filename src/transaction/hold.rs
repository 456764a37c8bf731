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
    /// `SET TRANSACTION …` of the next transaction only.
    next: Option<String>,
    /// What the savepoints set so far are called, as SQL text.
    savepoints: Vec<String>,
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
}

/// What a connection is needed for.
#[derive(Clone, Copy, Debug)]
pub struct Need<'a> {
    pub shape: ReplyShape,
    pub state: &'a Arc<State>,
    pub effect: Effect,
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
                self.held.push(Held { conn, server, wrote: false, bound: false, begun: false });
                self.held.len() - 1
            }
        };
        let held = &mut self.held[at];
        held.conn.bring_to(need.state).await?;
        match &self.begun {
            Some(begun) if !held.begun => {
                if let Some(next) = &self.next {
                    held.conn.run(next).await?;
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
                if let Some(next) = self.next.take_if(|_| !held.conn.in_transaction()) {
                    held.conn.run(&next).await?;
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
        if failed {
            for held in self.held.iter_mut().filter(|held| held.begun || held.conn.in_transaction()) {
                held.conn.refresh_status().await?;
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

    /// Is any connection bound to the session for longer than a transaction?
    pub fn is_bound(&self) -> bool {
        self.held.iter().any(|held| held.bound)
    }

    // Transactions

    /// A transaction is open, be it that no server has heard of it yet.
    pub fn in_transaction(&self) -> bool {
        self.begun.is_some() || self.held.iter().any(|held| held.conn.in_transaction())
    }

    /// BEGIN, after what was open has been committed: said on each server before its first
    /// statement.
    pub fn begin(&mut self, statement: String) {
        self.begun = Some(statement);
        for held in &mut self.held {
            held.begun = false;
        }
    }

    /// `SET TRANSACTION …` for the next transaction.
    pub fn characterise_next(&mut self, statement: String) {
        self.next = Some(statement);
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
        self.next = None;
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

    /// Sets a savepoint on every server of the transaction, those yet to come included.
    pub async fn savepoint(&mut self, name: &str) -> Result<()> {
        for held in self.held.iter_mut().filter(|held| held.conn.in_transaction()) {
            held.conn.run(&format!("SAVEPOINT {name}")).await?;
        }
        if self.begun.is_some() {
            self.savepoints.retain(|known| known != name);
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
        if let Some(at) = self.savepoints.iter().position(|set| set == name) {
            self.savepoints.truncate(if release { at } else { at + 1 });
            known = true;
        }
        Ok(known)
    }
}
