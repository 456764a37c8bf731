//! RENAME TABLE of a table of many places: wherever it still has the old name.

use std::collections::BTreeSet;

use super::alter::complete;
use super::places::Job;
use super::{Outcome, Task};
use crate::definition::identifier;
use crate::error::Result;
use crate::plan::ddl::Target;
use crate::topology::Place;

/// Physical tables in one statement.
const BATCH: usize = 64;

pub(super) async fn run(task: &Task<'_>, from: &Target, to: &Target) -> Result<Outcome> {
    let places = from.places(task.schema);
    let (old, new) = (task.existing(from).await?, task.existing(to).await?);
    // 1. It is not there, or the new name is taken: the server's own error
    let clash = if old.is_empty() { places.first() } else { old.intersection(&new).next() };
    if let Some(place) = clash {
        let said = task.only_at(from, *place, &text(task, from, to, &[*place])).await;
        return said.map_err(|error| {
            let text = task.logical(to, *place, error.text());
            error.with_text(text)
        });
    }
    let both: BTreeSet<Place> = old.union(&new).copied().collect();
    complete(from, &places, &both)?;
    // 2. What the rule of the new name asks of it
    task.judge_like(to, from).await?;
    // 3. All that are left
    let left: Vec<Place> = old.into_iter().collect();
    let batches = left.chunk_by(|a, b| a.shard == b.shard).flat_map(|shard| shard.chunks(BATCH));
    let jobs = batches.map(|batch| Job { place: batch[0], text: text(task, from, to, batch) });
    let progress = task.send_all(jobs.collect(), task.actor.state).await;
    let logical = |place: Place, text: &[u8]| task.logical(to, place, &task.logical(from, place, text));
    progress.complete(new.len(), logical)?;
    Ok(Outcome::default())
}

fn text(task: &Task<'_>, from: &Target, to: &Target, places: &[Place]) -> Vec<u8> {
    let name = |target: &Target, place: Place| {
        let physical = target.naming(place.subtable).physical;
        format!("{}.{}", identifier(task.database_of(place)), identifier(&physical))
    };
    let pairs: Vec<String> = places.iter().map(|at| format!("{} TO {}", name(from, *at), name(to, *at))).collect();
    format!("RENAME TABLE {}", pairs.join(", ")).into_bytes()
}
