//! The end of a transaction. On one server it is a COMMIT; over several, where more than one
//! wrote, a decision:
//!
//! 1. all but the first are prepared, while the first writes the decision row;
//! 2. the first commits: this decides. If its answer is lost, its table is looked at;
//! 3. the others commit, now or, if one can't be reached, by recovery.

use std::time::Duration;

use futures_util::future::{join, join_all};
use tokio::time::timeout;

use super::decision::{self, Fate};
use super::hold::Hold;
use super::part::{Opened, Part};
use crate::error::{Blame, Error, Result, code};
use crate::shard::Servers;

/// How a transaction is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Commit,
    Rollback,
}

/// A server that takes longer to prepare has failed to.
const PREPARE: Duration = Duration::from_secs(30);
/// A first server that takes longer to commit is looked at.
const DECIDE: Duration = Duration::from_secs(30);
/// For so long the outcome is looked for before the client is told that it isn't known.
const LOOK: Duration = Duration::from_secs(30);
/// The transaction is committed already: others are not waited for longer.
const FINISH: Duration = Duration::from_secs(5);

impl Hold {
    /// Ends the transaction everywhere; it is over whatever comes back. An error of COMMIT says
    /// that nothing is kept, unless it says that this is not known.
    pub async fn end(&mut self, ending: Ending) -> Result<()> {
        self.unfinished.clear();
        let outcome = match ending {
            Ending::Commit => self.commit().await,
            Ending::Rollback => {
                self.roll_back().await;
                Ok(())
            }
        };
        self.forget_transaction();
        outcome
    }

    async fn commit(&mut self) -> Result<()> {
        let writers = self.parts.iter().filter(|part| part.wrote && part.stands()).count();
        if self.spans_servers() && self.parts.iter().any(Part::has_vanished) {
            self.roll_back().await;
            return Err(rolled_back("a server had ended its part of the transaction"));
        }
        if self.live.is_some() && writers > 1 { self.commit_by_decision().await } else { self.commit_alone().await }
    }

    /// At most one server wrote: it goes first, and the others have nothing to lose.
    async fn commit_alone(&mut self) -> Result<()> {
        self.parts.sort_by_key(|part| !(part.wrote && part.stands()));
        let Some((writer, readers)) = self.parts.split_first_mut() else { return Ok(()) };
        let outcome = writer.end_alone(Ending::Commit).await;
        if outcome.is_err() {
            end_or_give_up(writer, Ending::Rollback).await;
        }
        join_all(readers.iter_mut().map(|part| end_or_give_up(part, Ending::Commit))).await;
        outcome
    }

    async fn commit_by_decision(&mut self) -> Result<()> {
        // Neither its statements nor the commit itself are anybody's to kill.
        self.listed.shield(true);
        let committed = self.in_two_phases().await;
        self.listed.shield(false);
        committed
    }

    async fn in_two_phases(&mut self) -> Result<()> {
        // 1. Others prepared, the decision written
        self.prepare().await?;
        // 2. Decided
        self.decide().await?;
        // 3. Others told
        self.finish().await;
        Ok(())
    }

    async fn prepare(&mut self) -> Result<()> {
        let record = self.live.as_ref().map(|live| decision::record(&live.id)).expect("it spans servers");
        let Some((first, others)) = split(&mut self.parts) else { return Err(self.no_first().await) };
        let record = async { first.conn.run(&record).await.map(drop) };
        let others = join_all(others.filter(|part| part.wrote).map(Part::prepare));
        let failed = match timeout(PREPARE, join(record, others)).await {
            Ok((recorded, prepared)) => std::iter::once(recorded).chain(prepared).find_map(Result::err),
            Err(_) => Some(Error::shard("no answer in time", "deadline")),
        };
        let Some(error) = failed else { return Ok(()) };
        self.roll_back().await;
        Err(rolled_back(&String::from_utf8_lossy(error.text())).because(error))
    }

    async fn decide(&mut self) -> Result<()> {
        let Some((first, _)) = split(&mut self.parts) else { return Err(self.no_first().await) };
        let committed = match timeout(DECIDE, first.conn.run("COMMIT")).await {
            Ok(Ok(_)) => {
                first.is_over();
                return Ok(());
            }
            Ok(Err(error)) => error,
            Err(_) => Error::shard("no answer in time", "deadline"),
        };
        // Its fate stands in the table, or is put there.
        let (server, thread) = (first.server, first.conn.thread());
        first.give_up();
        let id = self.live.as_ref().map(|live| live.id.clone()).expect("it spans servers");
        let servers = self.coordinator.servers.clone();
        tracing::warn!(%id, error = %committed, "the commit's answer is lost; looking for it");
        match timeout(LOOK, look(&servers, server, &id, thread)).await {
            Ok(Fate::Committed) => Ok(()),
            Ok(Fate::RolledBack) => {
                self.roll_back().await;
                Err(rolled_back(&String::from_utf8_lossy(committed.text())).because(committed))
            }
            Err(_) => {
                self.parts.iter_mut().filter(|part| part.stands()).for_each(Part::give_up);
                let name = &servers.get(server).name;
                let text = format!(
                    "Bifold: server {name} was lost during COMMIT and can't be reached: whether the transaction ({id}) is kept is not known yet. When the server is back, it is kept or undone on all servers alike."
                );
                Err(Error::new(Blame::Shard, code::SERVER_LOST, text).because(committed))
            }
        }
    }

    async fn finish(&mut self) {
        let servers = self.coordinator.servers.clone();
        let others = self.parts.iter_mut().filter(|part| matches!(part.opened, Opened::Branch(_)));
        let told = join_all(others.map(|part| async {
            let wrote = part.wrote;
            let ended = async {
                match wrote {
                    true => part.commit_prepared().await,
                    false => part.end_alone(Ending::Commit).await,
                }
            };
            let is_over = matches!(timeout(FINISH, ended).await, Ok(Ok(())));
            if !is_over {
                part.give_up();
            }
            (wrote && !is_over).then(|| servers.get(part.server).name.clone())
        }))
        .await;
        self.unfinished = told.into_iter().flatten().collect();
        if !self.unfinished.is_empty() {
            tracing::warn!(servers = self.unfinished.join(", "), "a committed transaction is left to recovery there");
        }
    }

    pub(super) async fn roll_back(&mut self) {
        join_all(self.parts.iter_mut().map(|part| end_or_give_up(part, Ending::Rollback))).await;
    }

    async fn no_first(&mut self) -> Error {
        self.roll_back().await;
        rolled_back("the first server's part is gone")
    }
}

/// The plain part, whose commit decides, and the others.
fn split(parts: &mut [Part]) -> Option<(&mut Part, impl Iterator<Item = &mut Part>)> {
    let at = parts.iter().position(|part| part.opened == Opened::Plain)?;
    let (before, rest) = parts.split_at_mut(at);
    let (first, behind) = rest.split_first_mut()?;
    Some((first, before.iter_mut().chain(behind)))
}

async fn end_or_give_up(part: &mut Part, ending: Ending) {
    match timeout(PREPARE, part.end_alone(ending)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::debug!(%error, "ending a part of a transaction");
            part.give_up();
        }
        Err(_) => part.give_up(),
    }
}

/// Until it answers; the caller knows how long.
async fn look(
    servers: &Servers,
    first: crate::topology::ServerNo,
    id: &super::branch::TransactionId,
    thread: crate::shard::ServerThreadId,
) -> Fate {
    loop {
        match decision::settle(servers.get(first), id, thread).await {
            Ok(fate) => return fate,
            Err(error) => tracing::debug!(%id, %error, "the outcome can't be read yet"),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn rolled_back(why: &str) -> Error {
    let text = format!("Bifold: the transaction was rolled back on all servers: {why}");
    Error::new(Blame::Shard, ERROR_DURING_COMMIT, text).retryable()
}

const ERROR_DURING_COMMIT: (u16, &[u8; 5]) = (1180, b"HY000");
