//! CREATE TABLE: in every place that lacks the table.

use std::collections::BTreeSet;

use super::places::{Job, spoken};
use super::shown::read_facts;
use super::{Outcome, Task, note};
use crate::definition::{Definition, breaches};
use crate::error::{Error, Result};
use crate::plan::ddl::{Target, Text};
use crate::topology::Place;

pub(super) async fn run(
    task: &Task<'_>,
    target: &Target,
    text: &Text,
    if_not_exists: bool,
    like: Option<&Target>,
) -> Result<Outcome> {
    let places = target.places(task.schema);
    let there = task.existing(target).await?;
    // 1. It is there: the server's own error, or its note.
    if there.len() == places.len() {
        return task.only_at(target, places[0], &text_at(task, target, text, places[0])).await;
    }
    task.same_defaults().await?;
    // 2. What is to be made; nothing is touched if it cannot be.
    let (wanted, mut outcome) = match like {
        None => {
            let tried = task.try_create(target, text).await?;
            (Some(tried.definition), tried.outcome)
        }
        Some(like) => {
            task.judge_like(target, like).await?;
            (None, Outcome::default())
        }
    };
    // 3. What a statement before this one left is the same, or it is told.
    task.same_so_far(target, &there, wanted.as_ref()).await?;
    // 4. The missing ones.
    let job = |place: &Place| Job { place: *place, text: text_at(task, target, text, *place) };
    let jobs: Vec<Job> = places.iter().filter(|place| !there.contains(place)).map(job).collect();
    let missing = jobs.len();
    let progress = task.send_all(jobs, task.actor.state).await;
    progress.complete(there.len(), |place, text| {
        let text = task.logical(target, place, text);
        like.map_or(text.clone(), |like| task.logical(like, place, &text))
    })?;
    // 5. One of each shard is what was wanted: a shard's defaults may differ unseen.
    let firsts = places.iter().filter(|place| place.subtable.0 == 0).copied();
    let made = task.definitions(target, firsts).await?;
    if let [(usual, _), (other, at), ..] = made.as_slice() {
        return Err(differs(target, usual, other, at));
    }
    if !there.is_empty() {
        let exists = if if_not_exists { "; all exist now" } else { "" };
        let text = format!(
            "Bifold: {missing} of {} places of `{}` were missing and were made{exists}",
            places.len(),
            target.table
        );
        outcome.diagnostics.push(note(&text));
    }
    Ok(outcome)
}

fn text_at(task: &Task<'_>, target: &Target, text: &Text, place: Place) -> Vec<u8> {
    text.at(&target.naming(place.subtable), task.database_of(place), None)
}

impl Task<'_> {
    /// Tables of unequal default character sets would be made of one text.
    async fn same_defaults(&self) -> Result<()> {
        let mut first: Option<Vec<u8>> = None;
        for shard in self.schema.shards() {
            let sql = format!(
                "SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {}",
                crate::definition::quoted(&shard.database)
            );
            let rows = self.actor.servers.run(shard.server, &sql).await?.rows;
            // A database that is not there is told by the CREATE itself.
            let Some(collation) = rows.into_iter().flatten().flatten().next() else { continue };
            let usual = first.get_or_insert_with(|| collation.clone());
            if *usual != collation {
                return Err(Error::operator(format!(
                    "Bifold: the databases of schema `{}` have different default collations, {} and {} (shard {}). Make them equal with ALTER DATABASE, then run the statement again.",
                    self.schema.name,
                    String::from_utf8_lossy(usual),
                    String::from_utf8_lossy(&collation),
                    shard.no.0
                )));
            }
        }
        Ok(())
    }

    /// LIKE: the other table's definition has to keep this one's laws.
    pub(super) async fn judge_like(&self, target: &Target, like: &Target) -> Result<()> {
        let place = like.places(self.schema)[0];
        let mut conn = self.plain_connection(self.server_of(place)).await?;
        let facts = read_facts(&mut conn, self.database_of(place), &like.naming(place.subtable).physical).await?;
        // A table that is not there is told by the CREATE itself.
        let rule = target.rule().filter(|_| !facts.columns.is_empty());
        match rule.map(|rule| breaches(self.schema, rule, &facts)).unwrap_or_default().first() {
            None => Ok(()),
            Some(breach) => Err(Error::refused(format!("Bifold: {}.", breach.sentence()))),
        }
    }

    async fn same_so_far(&self, target: &Target, there: &BTreeSet<Place>, wanted: Option<&Definition>) -> Result<()> {
        let groups = self.definitions(target, there.iter().copied()).await?;
        let usual = match (wanted, groups.first()) {
            (Some(wanted), _) => wanted,
            (None, Some((first, _))) => first,
            (None, None) => return Ok(()),
        };
        match groups.iter().find(|(definition, _)| definition != usual) {
            None => Ok(()),
            Some((other, at)) => Err(differs(target, usual, other, at)),
        }
    }

    pub(super) fn logical(&self, target: &Target, place: Place, text: &[u8]) -> Vec<u8> {
        target.naming(place.subtable).logical_text(text, self.database_of(place), &self.schema.name)
    }
}

pub(super) fn differs(target: &Target, usual: &Definition, other: &Definition, at: &[Place]) -> Error {
    let (wanted, found) = usual.first_difference(other).unwrap_or_default();
    Error::operator(format!(
        "Bifold: some places of `{}` are different: {found} where {wanted} is expected, in {}. Make them alike on the servers (bifold check names the tables), then run the statement again.",
        target.table,
        spoken(at)
    ))
}
