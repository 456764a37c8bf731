//! [`Part`]: one server's part in what a session holds: the connection, and what is open on it.

use super::branch::Branch;
use super::characteristics::Characteristics;
use super::commit::Ending;
use crate::error::Result;
use crate::registry::Use;
use crate::shard::Checkout;
use crate::topology::ServerNo;

#[derive(Debug)]
pub(super) struct Part {
    /// Ends before the connection goes back.
    _used: Use,
    pub conn: Checkout,
    pub server: ServerNo,
    /// A row was written here in the open transaction.
    pub wrote: bool,
    /// Something outlives the transaction here: a lock, a temporary table, a handler.
    pub bound: bool,
    pub opened: Opened,
    /// SET TRANSACTION was said here, for a statement that is a transaction by itself.
    pub characterised: Option<Characteristics>,
}

/// How the session's transaction was begun on a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// Not at all; or by a statement, without autocommit.
    No,
    Plain,
    /// It must be ended even where the server has rolled it back by itself.
    Branch(Branch),
}

impl Part {
    pub fn new(conn: Checkout, server: ServerNo, used: Use) -> Self {
        Part { _used: used, conn, server, wrote: false, bound: false, opened: Opened::No, characterised: None }
    }

    /// The transaction has come here, whatever became of it since.
    pub fn stands(&self) -> bool {
        self.opened != Opened::No || self.conn.in_transaction()
    }

    /// The server ended the transaction by itself, or the connection is lost.
    pub fn has_vanished(&self) -> bool {
        self.opened != Opened::No && (self.conn.is_busy() || !self.conn.in_transaction())
    }

    pub async fn start_branch(&mut self, branch: Branch) -> Result<()> {
        // Whatever the answer: nobody else shall have this connection until the branch is ended.
        self.conn.pin(true);
        let started = self.conn.run(&format!("XA START {branch}")).await;
        match started {
            Ok(_) => self.opened = Opened::Branch(branch),
            // It was refused: nothing is open.
            Err(_) if !self.conn.is_busy() => self.conn.pin(false),
            Err(_) => {}
        }
        started.map(drop)
    }

    /// First half of a commit over several servers: after it the part survives its connection.
    pub async fn prepare(&mut self) -> Result<()> {
        let Opened::Branch(branch) = &self.opened else { return Ok(()) };
        self.conn.run(&format!("XA END {branch}")).await?;
        self.conn.run(&format!("XA PREPARE {branch}")).await.map(drop)
    }

    /// Second half.
    pub async fn commit_prepared(&mut self) -> Result<()> {
        let Opened::Branch(branch) = &self.opened else { return Ok(()) };
        self.conn.run(&format!("XA COMMIT {branch}")).await?;
        self.is_over();
        Ok(())
    }

    /// Ends this part by itself, with no regard to others.
    pub async fn end_alone(&mut self, ending: Ending) -> Result<()> {
        if self.conn.is_busy() || !self.stands() {
            return Ok(());
        }
        match (&self.opened, ending) {
            (Opened::Branch(branch), Ending::Commit) => {
                let (end, commit) = (format!("XA END {branch}"), format!("XA COMMIT {branch} ONE PHASE"));
                self.conn.run(&end).await?;
                self.conn.run(&commit).await?;
            }
            (Opened::Branch(branch), Ending::Rollback) => {
                let (end, rollback) = (format!("XA END {branch}"), format!("XA ROLLBACK {branch}"));
                // Prepared already, or rolled back by the server: an error then, and no matter.
                if self.conn.run(&end).await.is_err() && self.conn.is_busy() {
                    return Ok(());
                }
                self.conn.run(&rollback).await?;
            }
            (Opened::No | Opened::Plain, _) if !self.conn.in_transaction() => {}
            (Opened::No | Opened::Plain, Ending::Commit) => drop(self.conn.run("COMMIT").await?),
            (Opened::No | Opened::Plain, Ending::Rollback) => drop(self.conn.run("ROLLBACK").await?),
        }
        self.is_over();
        Ok(())
    }

    /// Nothing is known of what is open here: the connection is killed, and the server or recovery
    /// ends the rest.
    pub fn give_up(&mut self) {
        self.conn.condemn();
    }

    pub fn is_over(&mut self) {
        self.conn.pin(false);
        self.opened = Opened::No;
        self.wrote = false;
        self.characterised = None;
    }
}
