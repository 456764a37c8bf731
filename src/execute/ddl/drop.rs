//! DROP TABLE: whatever places are there. What is not there at all is told by a server.

use std::collections::BTreeSet;

use super::places::Job;
use super::{Outcome, Task, answered};
use crate::definition::identifier;
use crate::error::Result;
use crate::plan::ddl::Target;
use crate::sql::Flavour;
use crate::topology::{HOME, Place, SubtableNo};

/// Physical tables in one statement.
const BATCH: usize = 64;

pub(super) async fn run(task: &Task<'_>, targets: &[Target], if_exists: bool) -> Result<Outcome> {
    let mut found = Vec::new();
    for target in targets {
        found.push((target, task.existing(target).await?));
    }
    let missing: Vec<&Target> = found.iter().filter(|(_, there)| there.is_empty()).map(|(target, _)| *target).collect();
    // MySQL drops all or nothing, MariaDB what it finds.
    if !missing.is_empty() && !if_exists && task.actor.flavour == Flavour::MySql {
        return task.tell_missing(&missing, if_exists).await;
    }
    for (target, there) in &found {
        task.drop_places(target, there).await?;
    }
    if missing.is_empty() { Ok(Outcome::default()) } else { task.tell_missing(&missing, if_exists).await }
}

impl Task<'_> {
    async fn drop_places(&self, target: &Target, there: &BTreeSet<Place>) -> Result<()> {
        let there: Vec<Place> = there.iter().copied().collect();
        let jobs = there.chunk_by(|a, b| a.shard == b.shard).flat_map(|shard| shard.chunks(BATCH)).map(|places| {
            let names: Vec<String> = places.iter().map(|place| self.physical(target, *place)).collect();
            Job { place: places[0], text: format!("DROP TABLE IF EXISTS {}", names.join(", ")).into_bytes() }
        });
        let progress = self.send_all(jobs.collect(), self.actor.state).await;
        let Some((place, error)) = progress.failed.into_iter().next() else { return Ok(()) };
        let mut text = self.logical(target, place, error.text());
        if !progress.done.is_empty() {
            let rest = format!(
                " [Bifold: some places of `{}` are dropped and some are not. Run the statement again to complete it]",
                target.table
            );
            text.extend_from_slice(rest.as_bytes());
        }
        Err(error.with_text(text))
    }

    /// The error or the notes that a server gives for tables that are not there.
    async fn tell_missing(&self, missing: &[&Target], if_exists: bool) -> Result<Outcome> {
        let at_home = Place { shard: HOME, subtable: SubtableNo(0) };
        let names: Vec<String> = missing.iter().map(|target| self.physical(target, at_home)).collect();
        let words = if if_exists { "DROP TABLE IF EXISTS" } else { "DROP TABLE" };
        let mut conn = self.session_connection(self.home()).await?;
        let logical =
            |text: &[u8]| missing.iter().fold(text.to_vec(), |text, target| self.logical(target, at_home, &text));
        answered(&mut conn, format!("{words} {}", names.join(", ")).as_bytes(), logical).await
    }

    fn physical(&self, target: &Target, place: Place) -> String {
        let naming = target.naming(place.subtable);
        format!("{}.{}", identifier(self.database_of(place)), identifier(&naming.physical))
    }
}
