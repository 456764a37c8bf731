//! A statement that is several on servers stands in a frame: a savepoint on each server of its
//! transaction, also on those that it comes to reach, so that it is undone alone where it fails.

use std::fmt;

use futures_util::future::join_all;

use super::hold::Hold;
use super::part::Part;
use crate::error::Result;

/// Frames that stand within one another have names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    Statement,
    /// Around statements that are one of the client's.
    Around,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Frame::Statement => "bifold_statement",
            Frame::Around => "bifold_around",
        })
    }
}

impl Hold {
    /// Before the statement's first text.
    pub async fn frame(&mut self, frame: Frame) -> Result<()> {
        let standing = self.parts.iter_mut().filter(|part| part.stands() && !part.conn.is_busy());
        let set = format!("SAVEPOINT {frame}");
        let outcomes = join_all(standing.map(|part| part.conn.run(&set))).await;
        self.savepoints.push(frame.to_string());
        outcomes.into_iter().collect::<Result<Vec<_>>>().map(drop)
    }

    /// The statement is done.
    pub async fn keep_frame(&mut self, frame: Frame) -> Result<()> {
        self.leave_frame(frame);
        let outcomes = self.on_each(format!("RELEASE SAVEPOINT {frame}")).await;
        outcomes.into_iter().collect()
    }

    /// The statement has failed: what it did is undone. A server that can't has rolled the whole
    /// transaction back, or is lost with it: what is open there now is rolled back too, and that is
    /// seen, and done to the others, when the statement is settled.
    pub async fn undo_frame(&mut self, frame: Frame) {
        self.leave_frame(frame);
        let undo = format!("ROLLBACK TO SAVEPOINT {frame}");
        let standing = self.parts.iter_mut().filter(|part| part.conn.in_transaction() && !part.conn.is_busy());
        join_all(standing.map(|part| undone(part, &undo))).await;
    }

    /// The statement is begun once more: what it did is undone, the frame stays.
    pub async fn redo_frame(&mut self, frame: Frame) -> Result<()> {
        self.on_each(format!("ROLLBACK TO SAVEPOINT {frame}")).await.into_iter().collect()
    }

    async fn on_each(&mut self, statement: String) -> Vec<Result<()>> {
        let standing = self.parts.iter_mut().filter(|part| part.conn.in_transaction() && !part.conn.is_busy());
        let outcomes = join_all(standing.map(|part| part.conn.run(&statement))).await;
        outcomes.into_iter().map(|outcome| outcome.map(drop)).collect()
    }

    fn leave_frame(&mut self, frame: Frame) {
        if let Some(at) = self.savepoints.iter().rposition(|own| *own == frame.to_string()) {
            self.savepoints.remove(at);
        }
    }
}

async fn undone(part: &mut Part, undo: &str) {
    if part.conn.run(undo).await.is_err() && !part.conn.is_busy() {
        // Whatever comes of it: the part is ended with the transaction.
        part.conn.run("ROLLBACK").await.map(drop).unwrap_or_default();
    }
}
