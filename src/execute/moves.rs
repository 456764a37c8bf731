//! Rows whose sharding key was changed go to the place that it names now. They have been changed
//! where they were, so the server has said all that it has to say of that; what is left is to read
//! those that don't belong there any more, to delete them and to insert them where they do.

use std::collections::{BTreeMap, BTreeSet};

use super::client::Client;
use super::own::{self, Budget, Text, run};
use super::statement::Running;
use crate::error::{Error, Result, code};
use crate::plan::{Effect, Located, Move, RefKind, TableRef, WriteScatter};
use crate::route::{Moving, Name, Routed};
use crate::shard::{Answer, Row};
use crate::topology::{Place, ShardNo, Sharded, SubtableNo};

/// What is to be carried, after these parts changed rows.
pub(super) struct Moved<'a> {
    pub plan: &'a WriteScatter,
    pub moves: &'a Move,
    pub moving: &'a Moving,
    pub changed: &'a [usize],
}

pub(super) async fn carry(running: &Running<'_>, client: &mut Client, routed: &Routed, moved: Moved<'_>) -> Result<()> {
    let table = &moved.plan.template.refs[0];
    let RefKind::Sharded(located) = &table.kind else { return Ok(()) };
    let work = Work { running, table, located, sharded: located.rule.sharded().expect("located"), moved: &moved };
    // 1. The rows that don't belong where they are
    let places: BTreeSet<Place> = moved.changed.iter().map(|part| routed.places[*part]).collect();
    let stays = |place: &Place| moved.moving.to.as_ref().is_some_and(|(to, _)| to == place);
    let places: Vec<Place> = places.into_iter().filter(|place| !stays(place)).collect();
    let reads = places.iter().map(|place| work.read(*place)).collect();
    let answers = run(running, client, reads, Effect::Read).await?;
    // 2. Taken away
    let found: Vec<(Place, Answer)> = places.into_iter().zip(answers).filter(|(_, a)| !a.rows.is_empty()).collect();
    if found.is_empty() {
        return Ok(());
    }
    let deletes = found.iter().map(|(place, answer)| work.delete(*place, &answer.rows)).collect::<Result<_>>()?;
    run(running, client, deletes, Effect::Write).await?;
    // 3. And put where they belong
    let inserts = work.inserts(found.iter().flat_map(|(_, answer)| &answer.rows))?;
    run(running, client, inserts, Effect::Write).await.map(drop)
}

struct Work<'a> {
    running: &'a Running<'a>,
    table: &'a TableRef,
    located: &'a Located,
    sharded: &'a Sharded,
    moved: &'a Moved<'a>,
}

impl Work<'_> {
    fn text(&self, place: Place, sql: impl FnOnce(&str) -> Vec<u8>) -> Text {
        let name = Name::subtable(self.table, self.sharded, place);
        let mut quoted = Vec::new();
        name.put(&mut quoted);
        let sql = sql(&String::from_utf8_lossy(&quoted));
        Text { server: self.table.schema.shard(place.shard).server, name, sql }
    }

    fn key(&self) -> &str {
        &self.moved.moves.columns[self.moved.moves.key_column].name
    }

    /// SQL for the numbers of the place that a row's key names.
    fn place(&self) -> [String; 2] {
        let (key, hash) = (&self.located.key_type, self.sharded.hash);
        let shards = self.table.schema.shard_count();
        [key.sql_shard(self.key(), shards, hash), key.sql_subtable(self.key(), self.sharded.subtables, hash)]
    }

    fn elsewhere(&self, place: Place) -> String {
        let [shard, subtable] = self.place();
        format!("NOT (({shard}) <=> {} AND ({subtable}) <=> {})", place.shard.0, place.subtable.0)
    }

    fn read(&self, place: Place) -> Text {
        let [shard, subtable] = self.place();
        let columns: String = self.moved.moves.columns.iter().map(|column| format!(", {}", column.read)).collect();
        self.text(place, |table| {
            let mut sql = format!("SELECT {shard}, {subtable}{columns} FROM {table} WHERE ").into_bytes();
            if let Some((_, literal)) = &self.moved.moving.to {
                sql.extend_from_slice(format!("{} = ", self.key()).as_bytes());
                sql.extend_from_slice(literal);
                sql.extend_from_slice(b" AND ");
            }
            sql.extend_from_slice(self.elsewhere(place).as_bytes());
            sql
        })
    }

    /// No row that belongs there has one of these keys.
    fn delete(&self, place: Place, rows: &[Row]) -> Result<Text> {
        let moves = self.moved.moves;
        let mut keys = BTreeSet::new();
        for row in rows {
            let mut literal = String::new();
            let cell = row.get(2 + moves.key_column).and_then(Option::as_deref);
            moves.columns[moves.key_column].put(cell, &mut literal).ok_or_else(|| self.inexact())?;
            keys.insert(literal);
        }
        let keys: Vec<String> = keys.into_iter().collect();
        let (key, elsewhere) = (self.key(), self.elsewhere(place));
        let of = |table: &str| format!("DELETE FROM {table} WHERE {key} IN ({}) AND {elsewhere}", keys.join(", "));
        Ok(self.text(place, |table| of(table).into_bytes()))
    }

    fn inserts<'r>(&self, rows: impl Iterator<Item = &'r Row>) -> Result<Vec<Text>> {
        let columns = &self.moved.moves.columns;
        let mut by_place: BTreeMap<Place, Vec<String>> = BTreeMap::new();
        let mut budget = Budget::default();
        for row in rows {
            let values = own::values(columns, &row[2..]).ok_or_else(|| self.inexact())?;
            budget.take(&values)?;
            by_place.entry(self.new_place(row)?).or_default().push(values);
        }
        let flavour = self.running.statement.source.dialect.flavour;
        let texts = by_place.into_iter().flat_map(|(place, rows)| {
            let server = self.table.schema.shard(place.shard).server;
            own::inserts(flavour, server, &Name::subtable(self.table, self.sharded, place), columns, &rows)
        });
        Ok(texts.collect())
    }

    fn new_place(&self, row: &Row) -> Result<Place> {
        let number = |at: usize| {
            let digits = std::str::from_utf8(row.get(at)?.as_deref()?).ok()?;
            digits.parse::<u16>().ok()
        };
        match (number(0), number(1)) {
            (Some(shard), Some(subtable)) => Ok(Place { shard: ShardNo(shard), subtable: SubtableNo(subtable) }),
            (_, _) => {
                let key = &self.sharded.key;
                Err(Error::client(code::BAD_NULL, format!("Column '{key}' cannot be null")))
            }
        }
    }

    fn inexact(&self) -> Error {
        Error::refused(format!(
            "Bifold: a row of table {} can't be carried to its new place exactly as it is: insert it anew and delete the \
             old one.",
            self.table.table
        ))
    }
}
