//! ALTER TABLE, CREATE INDEX, DROP INDEX: in every place whose definition is not the target yet;
//! and TRUNCATE, which leaves nothing to tell by.

use std::collections::BTreeSet;

use super::create::differs;
use super::places::{Job, spoken};
use super::{Outcome, Task, note};
use crate::definition::Definition;
use crate::error::{Error, Result};
use crate::plan::ddl::{Target, Text};
use crate::topology::Place;

pub(super) async fn run(task: &Task<'_>, target: &Target, text: &Text) -> Result<Outcome> {
    let places = target.places(task.schema);
    let there = task.existing(target).await?;
    if there.is_empty() {
        return task
            .only_at(target, places[0], &text.at(&target.naming(places[0].subtable), task.database_of(places[0]), None))
            .await;
    }
    complete(target, &places, &there)?;
    // 1. Where it stands and where it goes.
    let Course { base, pending, mut outcome } = task.course(target, text, &places).await?;
    // 2. One place first: what its rows refuse (a duplicate, a NULL) is refused before the others
    // are touched.
    let done = places.len() - pending.len();
    let jobs = |places: &[Place]| -> Vec<Job> {
        let job = |place: &Place| {
            let text = text.at(&target.naming(place.subtable), task.database_of(*place), Some(&base));
            Job { place: *place, text }
        };
        places.iter().map(job).collect()
    };
    let (first, others) = pending.split_at(1);
    let logical = |place: Place, text: &[u8]| task.logical(target, place, text);
    let progress = task.send_all(jobs(first), task.actor.state).await;
    let mut answers = progress.complete(done, logical)?;
    // 3. Then all.
    let progress = task.send_all(jobs(others), task.actor.state).await;
    answers.extend(progress.complete(done + 1, logical)?);
    let told = outcome.diagnostics.len();
    let warned = answers.iter().filter(|(_, answer)| usize::from(answer.warnings) > told).count();
    if warned > 0 {
        outcome.diagnostics.push(note(&format!("Bifold: rows of {warned} places gave further warnings")));
    }
    outcome.affected = answers.iter().map(|(_, answer)| answer.affected).sum();
    outcome.info = summed(answers.iter().map(|(_, answer)| answer.info.as_slice()));
    Ok(outcome)
}

/// TRUNCATE: all of them, again if asked again.
pub(super) async fn truncate(task: &Task<'_>, target: &Target, text: &Text) -> Result<Outcome> {
    let places = target.places(task.schema);
    let there = task.existing(target).await?;
    let at = |place: Place| text.at(&target.naming(place.subtable), task.database_of(place), None);
    if there.is_empty() {
        return task.only_at(target, places[0], &at(places[0])).await;
    }
    complete(target, &places, &there)?;
    let jobs = places.iter().map(|place| Job { place: *place, text: at(*place) }).collect();
    let progress = task.send_all(jobs, task.actor.state).await;
    progress.complete(0, |place, text| task.logical(target, place, text))?;
    Ok(Outcome::default())
}

pub(super) fn complete(target: &Target, places: &[Place], there: &BTreeSet<Place>) -> Result<()> {
    let missing: Vec<Place> = places.iter().filter(|place| !there.contains(place)).copied().collect();
    match missing.as_slice() {
        [] => Ok(()),
        missing => Err(Error::operator(format!(
            "Bifold: table `{}` is incomplete: {} of {} places are missing ({}). Run its CREATE TABLE again, which makes what is missing; then this statement.",
            target.table,
            missing.len(),
            places.len(),
            spoken(missing)
        ))),
    }
}

/// From which definition, in which places.
struct Course {
    base: Definition,
    pending: Vec<Place>,
    outcome: Outcome,
}

impl Task<'_> {
    /// All places alike: the statement goes to all. Two kinds, and the statement makes the one of
    /// the other: it was interrupted, and goes on. Anything else is not this statement's.
    async fn course(&self, target: &Target, text: &Text, places: &[Place]) -> Result<Course> {
        let mut groups = self.definitions(target, places.iter().copied()).await?;
        match groups.len() {
            1 => {
                let (base, pending) = groups.remove(0);
                let tried = self.try_alter(target, &base, text).await?;
                Ok(Course { base, pending, outcome: tried.outcome })
            }
            2 => {
                for (from, to) in [(0, 1), (1, 0)] {
                    // An error says that this is not the way: the column is there already.
                    if let Ok(tried) = self.try_alter(target, &groups[from].0, text).await
                        && tried.definition == groups[to].0
                    {
                        let (base, pending) = groups.remove(from);
                        return Ok(Course { base, pending, outcome: tried.outcome });
                    }
                }
                Err(differs(target, &groups[0].0, &groups[1].0, &groups[1].1))
            }
            _ => Err(differs(target, &groups[0].0, &groups[1].0, &groups[1].1)),
        }
    }
}

/// `Records: 3  Duplicates: 0  Warnings: 0` of all places together. Each place warns of the same
/// statement, so warnings are not added up.
fn summed<'a>(infos: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut sums: Vec<(String, u64)> = Vec::new();
    for info in infos {
        for (n, part) in String::from_utf8_lossy(info).split("  ").enumerate() {
            let Some((name, number)) = part.split_once(": ") else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match sums.get_mut(n) {
                Some((name, most)) if name == "Warnings" => *most = number.max(*most),
                Some((_, sum)) => *sum += number,
                None => sums.push((name.to_owned(), number)),
            }
        }
    }
    sums.iter().map(|(name, sum)| format!("{name}: {sum}")).collect::<Vec<_>>().join("  ").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_summed() {
        let infos: [&[u8]; 2] = [b"Records: 3  Duplicates: 0  Warnings: 1", b"Records: 4  Duplicates: 0  Warnings: 0"];
        assert_eq!(summed(infos.into_iter()), b"Records: 7  Duplicates: 0  Warnings: 1");
        let silent: [&[u8]; 2] = [b"", b""];
        assert_eq!(summed(silent.into_iter()), b"");
    }
}
