//! One text to each of many places: all servers at the same time, a few connections each, until
//! all is done or something fails; then it says how far it came.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Task;
use crate::context::State;
use crate::error::{Blame, Error, Result};
use crate::shard::{Answer, ReplyShape, Server};
use crate::topology::{Place, ServerNo};

/// Connections per server: creating tables goes no faster with more.
const WIDTH: usize = 4;

/// A further connection is not worth a longer wait.
const SECOND_WAIT: Duration = Duration::from_secs(1);

/// A text and the place that it is for.
pub(super) struct Job {
    pub place: Place,
    pub text: Vec<u8>,
}

/// How far it came.
#[derive(Default)]
pub(super) struct Progress {
    pub done: Vec<(Place, Answer)>,
    pub failed: Vec<(Place, Error)>,
    /// Not sent, since something had failed elsewhere.
    pub left: Vec<Place>,
}

impl Task<'_> {
    /// Sends every job; after the first failure none is begun.
    pub(super) async fn send_all(&self, jobs: Vec<Job>, state: &Arc<State>) -> Progress {
        let mut queues: BTreeMap<ServerNo, VecDeque<Job>> = BTreeMap::new();
        for job in jobs {
            queues.entry(self.server_of(job.place)).or_default().push_back(job);
        }
        let failing = Arc::new(AtomicBool::new(false));
        let mut servers = JoinSet::new();
        for (no, queue) in queues {
            let (server, state, failing) = (self.actor.servers.get(no).clone(), state.clone(), failing.clone());
            servers.spawn(serve(server, queue, state, failing));
        }
        let mut progress = Progress::default();
        for part in servers.join_all().await {
            progress.done.extend(part.done);
            progress.failed.extend(part.failed);
            progress.left.extend(part.left);
        }
        progress.done.sort_by_key(|(place, _)| *place);
        progress.failed.sort_by_key(|(place, _)| *place);
        progress.left.sort();
        progress
    }
}

/// One server's jobs.
async fn serve(server: Arc<Server>, queue: VecDeque<Job>, state: Arc<State>, failing: Arc<AtomicBool>) -> Progress {
    let width = WIDTH.min(queue.len());
    let queue = Arc::new(Mutex::new(queue));
    let mut workers = JoinSet::new();
    for first in (0..width).map(|n| n == 0) {
        workers.spawn(work(server.clone(), queue.clone(), state.clone(), failing.clone(), first));
    }
    let mut progress = Progress::default();
    for part in workers.join_all().await {
        progress.done.extend(part.done);
        progress.failed.extend(part.failed);
    }
    progress.left.extend(queue.lock().drain(..).map(|job| job.place));
    progress
}

/// One connection's share. A server that has no second connection to give is served by one.
async fn work(
    server: Arc<Server>,
    queue: Arc<Mutex<VecDeque<Job>>>,
    state: Arc<State>,
    failing: Arc<AtomicBool>,
    first: bool,
) -> Progress {
    let mut progress = Progress::default();
    let shape = ReplyShape { deprecate_eof: true, ..ReplyShape::default() };
    let opened = async {
        let mut conn = server.checkout(shape, &state).await?;
        conn.bring_to(&state).await?;
        Ok(conn)
    };
    let opened = match first {
        true => opened.await,
        false => timeout(SECOND_WAIT, opened).await.unwrap_or_else(|_| Err(Error::proxy("no further connection"))),
    };
    let mut conn = match (opened, first) {
        (Ok(conn), _) => conn,
        (Err(_), false) => return progress,
        (Err(error), true) => {
            failing.store(true, Ordering::Relaxed);
            let next = queue.lock().pop_front();
            progress.failed.extend(next.map(|job| (job.place, error)));
            return progress;
        }
    };
    while !failing.load(Ordering::Relaxed) {
        let Some(job) = queue.lock().pop_front() else { break };
        match conn.run_bytes(&job.text).await {
            Ok(answer) => progress.done.push((job.place, answer)),
            Err(error) => {
                failing.store(true, Ordering::Relaxed);
                progress.failed.push((job.place, error));
            }
        }
    }
    progress
}

impl Progress {
    /// All done, or an error that says how far it came. `before` places were done already.
    pub(super) fn complete(
        self,
        before: usize,
        logical: impl Fn(Place, &[u8]) -> Vec<u8>,
    ) -> Result<Vec<(Place, Answer)>> {
        let Some((place, error)) = self.failed.first() else { return Ok(self.done) };
        let done = before + self.done.len();
        let all = done + self.failed.len() + self.left.len();
        let mut not_done: Vec<Place> = self.failed.iter().map(|(place, _)| *place).chain(self.left).collect();
        not_done.sort();
        let mut text = logical(*place, error.text());
        if done == 0 {
            return Err(error.clone().with_text(text));
        }
        let rest = format!(
            " [Bifold: done in {done} of {all} places, not in {}. Run the statement again to complete it]",
            spoken(&not_done)
        );
        text.extend_from_slice(rest.as_bytes());
        let state = *error.state();
        let blame = match error.blame() {
            Blame::Client => Blame::Shard,
            other => other,
        };
        let whole = Error::new(blame, (error.code(), &state), text);
        Err(error.cause().map_or(whole.clone(), |cause| whole.because(cause)).retryable())
    }
}

/// Places by shard, runs of subtables joined: `shard 1: 5, 7–1023; shard 3: all of 0–1023`.
pub(super) fn spoken(places: &[Place]) -> String {
    const SHARDS: usize = 4;
    const RUNS: usize = 4;
    let mut shards: Vec<(u16, Vec<(u16, u16)>)> = Vec::new();
    for Place { shard, subtable } in places {
        match shards.last_mut() {
            Some((last, runs)) if *last == shard.0 => match runs.last_mut() {
                Some((_, to)) if *to + 1 == subtable.0 => *to = subtable.0,
                Some(_) | None => runs.push((subtable.0, subtable.0)),
            },
            Some(_) | None => shards.push((shard.0, vec![(subtable.0, subtable.0)])),
        }
    }
    let run = |(from, to): &(u16, u16)| if from == to { from.to_string() } else { format!("{from}–{to}") };
    let shard = |(shard, runs): &(u16, Vec<(u16, u16)>)| {
        let more = if runs.len() > RUNS { ", …" } else { "" };
        let runs: Vec<String> = runs.iter().take(RUNS).map(run).collect();
        format!("shard {shard}: {}{more}", runs.join(", "))
    };
    let more = if shards.len() > SHARDS { "; …" } else { "" };
    let parts: Vec<String> = shards.iter().take(SHARDS).map(shard).collect();
    format!("{}{more}", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{ShardNo, SubtableNo};

    #[test]
    fn places_are_told_as_runs() {
        let place = |shard, subtable| Place { shard: ShardNo(shard), subtable: SubtableNo(subtable) };
        let places = [place(1, 5), place(1, 7), place(1, 8), place(1, 9), place(3, 0)];
        assert_eq!(spoken(&places), "shard 1: 5, 7–9; shard 3: 0");
    }
}
