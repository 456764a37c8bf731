//! Rows whose sharding key was changed go to the place that it names now. They have been changed
//! where they were, so the server has said all that it has to say of that; what is left is to read
//! those that don't belong there any more, to delete them and to insert them where they do.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;

use super::client::Client;
use super::exchange;
use super::names;
use super::statement::Running;
use crate::error::{Error, Result, code};
use crate::plan::{Effect, Located, Move, RefKind, TableRef, WriteScatter};
use crate::route::{Moving, Name, Routed};
use crate::shard::{Answer, Conn, Row};
use crate::sql::Flavour;
use crate::topology::{Place, ServerNo, ShardNo, Sharded, SubtableNo};

/// An INSERT of carried rows has about so many bytes at most.
const LONGEST: usize = 1 << 20;

/// Bytes of rows that one statement may carry.
const BUDGET: usize = 64 << 20;

/// What is to be carried, after these parts changed rows.
pub(super) struct Moved<'a> {
    pub plan: &'a WriteScatter,
    pub moves: &'a Move,
    pub moving: &'a Moving,
    pub changed: &'a [usize],
}

/// A statement of the proxy's own, for one table.
struct Text {
    server: ServerNo,
    name: Name,
    sql: Vec<u8>,
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
        let mut by_place: BTreeMap<Place, Vec<String>> = BTreeMap::new();
        let mut bytes = 0;
        for row in rows {
            let place = self.new_place(row)?;
            let values = self.values(row)?;
            bytes += values.len();
            if bytes > BUDGET {
                return Err(Error::refused(format!(
                    "Bifold: the rows that would go to another place have more than {} MiB: change fewer of them at a time.",
                    BUDGET >> 20
                )));
            }
            let texts = by_place.entry(place).or_default();
            match texts.last_mut().filter(|last| last.len() + values.len() < LONGEST) {
                Some(last) => {
                    last.push_str(", ");
                    last.push_str(&values);
                }
                None => texts.push(values),
            }
        }
        let texts = by_place.into_iter().flat_map(|(place, texts)| texts.into_iter().map(move |rows| (place, rows)));
        Ok(texts.map(|(place, rows)| self.insert(place, &rows)).collect())
    }

    /// Values are put in as they are stored, whatever the session would make of them.
    fn insert(&self, place: Place, rows: &str) -> Text {
        let columns: Vec<&str> = self.moved.moves.columns.iter().map(|column| &*column.name).collect();
        let (before, hint) = match self.running.statement.source.dialect.flavour {
            Flavour::MariaDb => ("SET STATEMENT sql_mode='NO_AUTO_VALUE_ON_ZERO', time_zone='+00:00' FOR INSERT", ""),
            Flavour::MySql => {
                ("INSERT", " /*+ SET_VAR(sql_mode='NO_AUTO_VALUE_ON_ZERO') SET_VAR(time_zone='+00:00') */")
            }
        };
        let columns = columns.join(", ");
        self.text(place, |table| format!("{before}{hint} INTO {table} ({columns}) VALUES {rows}").into_bytes())
    }

    fn values(&self, row: &Row) -> Result<String> {
        let mut values = String::new();
        for (column, cell) in self.moved.moves.columns.iter().zip(&row[2..]) {
            values.push_str(if values.is_empty() { "(" } else { ", " });
            column.put(cell.as_deref(), &mut values).ok_or_else(|| self.inexact())?;
        }
        values.push(')');
        Ok(values)
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

/// Runs texts, each server's one after the other; their answers in the same order.
async fn run(running: &Running<'_>, client: &mut Client, texts: Vec<Text>, effect: Effect) -> Result<Vec<Answer>> {
    let mut servers: Vec<ServerNo> = texts.iter().map(|text| text.server).collect();
    servers.sort_unstable();
    servers.dedup();
    let need = exchange::need(client.shape, &client.settings.state, effect);
    let conns = client.hold.several(&running.engine.servers, &servers, need).await?;
    let own = |server: ServerNo| texts.iter().enumerate().filter(move |(_, text)| text.server == server).collect();
    let all = conns.into_iter().zip(&servers).map(|(conn, server)| on_one(conn, own(*server)));
    let mut answers: Vec<(usize, Answer)> = Vec::new();
    for of_server in join_all(all).await {
        answers.extend(of_server?);
    }
    answers.sort_by_key(|(number, _)| *number);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

async fn on_one(conn: &mut Conn, texts: Vec<(usize, &Text)>) -> Result<Vec<(usize, Answer)>> {
    let mut answers = Vec::new();
    for (number, text) in texts {
        let answer = conn.run_bytes(&text.sql).await;
        let names = std::slice::from_ref(&text.name);
        let answer = answer.map_err(|error| names::in_error(names, error))?;
        if answer.warnings > 0 {
            check(&conn.run("SHOW WARNINGS").await?, names)?;
        }
        answers.push((number, answer));
    }
    Ok(answers)
}

/// A value that is read or put in is the one that is stored: the only thing to be said of it is that
/// an ENUM holds none of its labels.
fn check(warnings: &Answer, names: &[Name]) -> Result<()> {
    let wrong = exchange::diagnostics(warnings, names).into_iter().find(|one| one.code != DATA_TRUNCATED);
    match wrong {
        None => Ok(()),
        Some(one) => Err(Error::refused(format!(
            "Bifold: a row of table {} can't be carried to its new place exactly as it is ({}): insert it anew and delete \
             the old one.",
            names[0].logical_table,
            String::from_utf8_lossy(&one.text)
        ))),
    }
}

const DATA_TRUNCATED: u16 = 1265;
