//! What the physical tables show of themselves: which are there, and their definitions.

use std::collections::BTreeSet;

use super::Task;
use super::places::Job;
use crate::catalog::Rows;
use crate::definition::{Definition, Facts, Naming, identifier, quoted, reading_state};
use crate::error::{Error, Result};
use crate::plan::ddl::Target;
use crate::shard::{Answer, Conn};
use crate::topology::Place;

/// Answers held at a time: a few MB of definitions.
const IN_HAND: usize = 4096;

impl Task<'_> {
    /// The places of a table that are there.
    pub(super) async fn existing(&self, target: &Target) -> Result<BTreeSet<Place>> {
        let firsts = target.places(self.schema).into_iter().filter(|place| place.subtable.0 == 0);
        let job = |place: Place| {
            let database = quoted(self.database_of(place));
            let sql = format!("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = {database}");
            Job { place, text: sql.into_bytes() }
        };
        let progress = self.send_all(firsts.map(job).collect(), &reading_state(self.actor.states)).await;
        if let Some((_, error)) = progress.failed.into_iter().next() {
            return Err(error);
        }
        let mut there = BTreeSet::new();
        for (Place { shard, .. }, answer) in progress.done {
            let names = answer.rows.iter().filter_map(|row| row.first()?.as_ref());
            there.extend(names.filter_map(|name| Some(Place { shard, subtable: target.subtable_of(name)? })));
        }
        Ok(there)
    }

    /// The definitions of these places, alike ones together, the larger group first.
    pub(super) async fn definitions(
        &self,
        target: &Target,
        places: impl IntoIterator<Item = Place>,
    ) -> Result<Vec<(Definition, Vec<Place>)>> {
        let job = |place: &Place| {
            let naming = target.naming(place.subtable);
            Job { place: *place, text: show_create(self.database_of(*place), &naming).into_bytes() }
        };
        let reading = reading_state(self.actor.states);
        let places: Vec<Place> = places.into_iter().collect();
        let mut groups: Vec<(Definition, Vec<Place>)> = Vec::new();
        for places in places.chunks(IN_HAND) {
            let progress = self.send_all(places.iter().map(job).collect(), &reading).await;
            if let Some((_, error)) = progress.failed.into_iter().next() {
                return Err(error);
            }
            for (place, answer) in progress.done {
                let definition = definition(answer, &target.naming(place.subtable))?;
                match groups.iter_mut().find(|(known, _)| *known == definition) {
                    Some((_, places)) => places.push(place),
                    None => groups.push((definition, vec![place])),
                }
            }
        }
        groups.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        Ok(groups)
    }
}

pub(super) async fn read_definition(conn: &mut Conn, database: &str, naming: &Naming) -> Result<Definition> {
    let answer = conn.run(&show_create(database, naming)).await?;
    definition(answer, naming)
}

pub(super) async fn read_facts(conn: &mut Conn, database: &str, table: &str) -> Result<Facts> {
    let mut answers: [Rows; 5] = Default::default();
    for (answer, question) in answers.iter_mut().zip(Facts::questions(database, table)) {
        *answer = conn.run(&question).await?.rows;
    }
    Ok(Facts::new(answers))
}

fn show_create(database: &str, naming: &Naming) -> String {
    format!("SHOW CREATE TABLE {}.{}", identifier(database), identifier(&naming.physical))
}

fn definition(answer: Answer, naming: &Naming) -> Result<Definition> {
    let shown = answer.rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten();
    let shown =
        shown.ok_or_else(|| Error::proxy("Bifold: a server answered SHOW CREATE TABLE without a definition."))?;
    Ok(Definition::new(&String::from_utf8_lossy(&shown), naming))
}
