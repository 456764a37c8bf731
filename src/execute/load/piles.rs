//! Piles of lines on their way to the servers: each a LOAD DATA of its own, one server's one after
//! the other, servers at the same time; what they are answered is added up.

use futures_util::future::join_all;

use super::super::client::Diagnostic;
use super::super::exchange;
use super::super::names;
use super::super::statement::Running;
use super::super::sweep;
use crate::error::Error;
use crate::route::Name;
use crate::route::load::Pile;
use crate::shard::{Answer, Conn};
use crate::topology::ServerNo;

/// One statement with its lines.
pub(super) struct Job<'p> {
    pub server: ServerNo,
    pub text: Vec<u8>,
    pub names: Vec<Name>,
    /// The database that the server has to be in, for its character set.
    pub database: Option<String>,
    pub pile: &'p Pile,
    /// It does to a copy what another job does to the original: its numbers do not count.
    pub copies: bool,
}

/// `Records: 3  Deleted: 0  Skipped: 0  Warnings: 0`
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub affected: u64,
    pub numbers: [u64; 4],
    /// With the number of the line that each is about, as far as is known.
    pub diagnostics: Vec<(u32, Diagnostic)>,
}

/// An error, and the number of the line that met it.
pub(super) type Met = (u32, Error);

impl Sums {
    pub fn add(&mut self, other: Sums) {
        self.affected += other.affected;
        self.numbers.iter_mut().zip(other.numbers).for_each(|(sum, number)| *sum += number);
        self.diagnostics.extend(other.diagnostics);
    }

    fn count(&mut self, answer: &Answer) {
        self.affected += answer.affected;
        let text = String::from_utf8_lossy(&answer.info);
        let said = text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
        self.numbers.iter_mut().zip(said).for_each(|(sum, number)| *sum += number);
    }

    fn diagnose(&mut self, pile: &Pile, more: Vec<Diagnostic>) {
        let mut row = pile.numbers.first().copied().unwrap_or(0);
        for mut one in more {
            let (at, text) = names::renumbered(&pile.numbers, &one.text);
            row = at.unwrap_or(row);
            one.text = text.unwrap_or(one.text);
            self.diagnostics.push((row, one));
        }
    }

    pub fn info(&self) -> String {
        let [records, deleted, skipped, warnings] = self.numbers;
        format!("Records: {records}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}")
    }
}

/// Sends jobs in the order of places; `conns` are those to `servers`. The error is that of the
/// earliest line that met one.
pub(super) async fn send(
    running: &Running<'_>,
    conns: &mut [&mut Conn],
    servers: &[ServerNo],
    jobs: &[Job<'_>],
) -> std::result::Result<Sums, Met> {
    let mut sums = Sums::default();
    let mut first: Option<Met> = None;
    let mut take = |done: std::result::Result<Sums, Met>| match done {
        Ok(part) => sums.add(part),
        Err(met) if first.as_ref().is_none_or(|(row, _)| met.0 < *row) => first = Some(met),
        Err(_) => {}
    };
    if jobs.iter().any(|job| job.copies) {
        // Two writers of the same row meet at the first of its copies, and not crosswise.
        for job in jobs {
            let at = servers.iter().position(|server| *server == job.server);
            let conn = at.map(|at| &mut *conns[at]).ok_or_else(|| (0, unknown()))?;
            let done = one_servers(running, conn, std::iter::once(job)).await;
            let failed = done.is_err();
            take(done);
            if failed {
                break;
            }
        }
    } else {
        let working = conns.iter_mut().zip(servers).map(|(conn, server)| {
            let own = jobs.iter().filter(|job| job.server == *server);
            one_servers(running, conn, own)
        });
        join_all(working).await.into_iter().for_each(&mut take);
    }
    first.map_or(Ok(sums), Err)
}

fn unknown() -> Error {
    Error::proxy("Bifold: a server without a connection.")
}

async fn one_servers<'j>(
    running: &Running<'_>,
    conn: &mut Conn,
    jobs: impl Iterator<Item = &'j Job<'j>>,
) -> std::result::Result<Sums, Met> {
    let mut sums = Sums::default();
    let mut failed: Option<Met> = None;
    let mut entered: Option<&str> = None;
    for job in jobs {
        let first = job.pile.numbers.first().copied().unwrap_or(0);
        // One server would have met the error of an earlier line first; all is undone anyway.
        if failed.as_ref().is_some_and(|(row, _)| first > *row) || conn.is_busy() {
            continue;
        }
        let answer = async {
            if let Some(database) = job.database.as_deref().filter(|database| entered != Some(*database)) {
                exchange::enter(conn, database).await?;
                entered = Some(database);
            }
            sweep::at(running, conn, job.server, &job.names).await?;
            conn.load(&job.text, &job.pile.lines).await
        };
        let answer = match answer.await {
            Ok(answer) => answer,
            Err(error) => {
                let error = names::in_error(&job.names, error);
                let (row, text) = names::renumbered(&job.pile.numbers, error.text());
                let error = text.map_or(error.clone(), |text| error.with_text(text));
                let row = row.unwrap_or(first);
                if failed.as_ref().is_none_or(|(other, _)| row < *other) {
                    failed = Some((row, error));
                }
                continue;
            }
        };
        if job.copies {
            continue;
        }
        sums.count(&answer);
        if answer.warnings > 0 {
            let warnings = conn.run("SHOW WARNINGS").await.map_err(|error| (0, error))?;
            sums.diagnose(job.pile, exchange::diagnostics(&warnings, &job.names));
        }
    }
    failed.map_or(Ok(sums), Err)
}
