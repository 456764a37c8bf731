//! Looks at every place of every table, one statement a place, all servers at the same time, at a bounded
//! rate. On a running system too: what may be a moment's difference is looked at again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use parking_lot::Mutex;
use tokio::time::sleep;

use super::report::{Report, TableReport};
use super::tables::{Table, tables};
use crate::config::Config;
use crate::context::{State, States};
use crate::definition::{Definition, Naming, identifier, reading_state};
use crate::error::{Error, Result};
use crate::shard::{Checkout, ReplyShape, Servers};
use crate::topology::{Place, ServerNo, ShardNo, SubtableNo, Topology};

/// Ids held in memory at a time.
const IDS: u64 = 8_000_000;
/// Copies of a reference table that differ are compared again so often.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(250);
const NO_SUCH_TABLE: u16 = 1146;

/// `rate`: rows read in a second on each server, 0: as fast as it goes. `tell`: progress.
pub async fn verify(config: &Config, rate: u64, tell: &(dyn Fn(&str) + Sync)) -> Result<Report> {
    let topology = Topology::new(config, config.version);
    let states = States::default();
    let servers = Servers::new(&topology, &config.backend, &states)?;
    let look = Look {
        reading: reading_state(&states),
        servers,
        dirty: config.dirty,
        rate,
        tell,
        told: Mutex::new((0, Instant::now())),
        topology: &topology,
    };
    let mut report = Report { ok: true, version: config.version, tables: Vec::new() };
    let mut schemas: Vec<_> = topology.schemas().collect();
    schemas.sort_by(|a, b| a.name.cmp(&b.name));
    for schema in schemas {
        let mut conn = look.connect(schema.home().server).await?;
        for table in tables(&mut conn, schema).await? {
            let found = match table.sharded() {
                Some(_) => look.sharded(&table).await?,
                None => look.reference(&table).await?,
            };
            report.ok &= found.is_ok();
            report.tables.push(found);
        }
    }
    Ok(report)
}

struct Look<'a> {
    topology: &'a Topology,
    servers: Servers,
    reading: Arc<State>,
    dirty: bool,
    rate: u64,
    tell: &'a (dyn Fn(&str) + Sync),
    /// Rows read, and when that was said.
    told: Mutex<(u64, Instant)>,
}

/// What one server holds of a table.
#[derive(Default)]
struct Part {
    report: TableReport,
    /// Each definition with the physical tables that have it.
    definitions: BTreeMap<Definition, Vec<String>>,
}

type Rows = Vec<Vec<String>>;

impl Look<'_> {
    async fn connect(&self, server: ServerNo) -> Result<Checkout> {
        let mut conn = self.servers.get(server).checkout(ReplyShape::default(), &self.reading).await?;
        conn.bring_to(&self.reading).await?;
        Ok(conn)
    }

    async fn rows(&self, conn: &mut Checkout, sql: &str) -> Result<Rows> {
        let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
        let answer = conn.run(sql).await?;
        Ok(answer.rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
    }

    /// Says how far it is, and rests if it was too quick.
    async fn pace(&self, what: &str, rows: u64, own: &mut (u64, Instant)) {
        own.0 += rows;
        {
            let mut told = self.told.lock();
            told.0 += rows;
            if told.1.elapsed() > Duration::from_secs(5) {
                told.1 = Instant::now();
                (self.tell)(&format!("{what}: {} rows read so far", told.0));
            }
        }
        if let Some(due) = (own.0 * 1000).checked_div(self.rate) {
            sleep(Duration::from_millis(due).saturating_sub(own.1.elapsed())).await;
        }
    }

    // Sharded tables

    async fn sharded(&self, table: &Table) -> Result<TableReport> {
        // 1. Each place by itself
        let parts = self.topology.servers().iter().map(|server| self.on_one(table, server.no));
        let parts: Vec<Part> = try_join_all(parts).await?;
        let mut report = TableReport { table: table.name(), kind: "sharded", ..TableReport::default() };
        let mut definitions: BTreeMap<Definition, Vec<String>> = BTreeMap::new();
        for part in parts {
            report.rows += part.report.rows;
            report.misplaced += part.report.misplaced;
            report.dirty += part.report.dirty;
            report.wrong_ids += part.report.wrong_ids;
            report.missing.extend(part.report.missing);
            part.report.examples.into_iter().for_each(|example| report.example(example));
            for (definition, names) in part.definitions {
                definitions.entry(definition).or_default().extend(names);
            }
        }
        report.other_definitions = others(definitions);
        // 2. Ids over all of them
        if report.missing.is_empty() {
            self.ids(table, &mut report).await?;
        }
        Ok(report)
    }

    async fn on_one(&self, table: &Table, server: ServerNo) -> Result<Part> {
        let mut part = Part::default();
        let mut conn = self.connect(server).await?;
        let mut own = (0, Instant::now());
        for place in table.all_places().filter(|place| table.schema.shard(place.shard).server == server) {
            let physical = table.physical(place);
            let rows = match self.rows(&mut conn, &counts(table, place)).await {
                Ok(rows) => rows,
                Err(error) if error.code() == NO_SUCH_TABLE => {
                    part.report.missing.push(physical);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let [all, right, dirty, wrong] = numbers(&rows)?;
            let dirty = if self.dirty { dirty } else { 0 };
            let misplaced = all.saturating_sub(right + dirty);
            part.report.rows += right;
            part.report.dirty += dirty;
            part.report.misplaced += misplaced;
            part.report.wrong_ids += wrong;
            if misplaced > 0 || wrong > 0 {
                part.report.example(physical.clone());
            }
            let definition = self.definition(&mut conn, table, place).await?;
            part.definitions.entry(definition).or_default().push(physical);
            self.pace(&table.name(), all, &mut own).await;
        }
        Ok(part)
    }

    async fn definition(&self, conn: &mut Checkout, table: &Table, place: Place) -> Result<Definition> {
        let naming = match table.rule.sharded() {
            Some(sharded) => Naming::subtable(&table.rule.name, &sharded.pattern, place.subtable),
            None => Naming::whole(&table.rule.name),
        };
        let shown = self.rows(conn, &format!("SHOW CREATE TABLE {}", table.physical(place))).await?;
        let shown = shown.into_iter().next().and_then(|row| row.into_iter().nth(1)).unwrap_or_default();
        Ok(Definition::new(&shown, &naming))
    }

    /// The ids of all places, a part of them at a time, sorted.
    async fn ids(&self, table: &Table, report: &mut TableReport) -> Result<()> {
        let Some(rule) = table.rule.sharded().and_then(|sharded| sharded.id.as_ref()) else { return Ok(()) };
        let column = identifier(&rule.column);
        let parts = report.rows / IDS + 1;
        for part in 0..parts {
            let reading =
                self.topology.servers().iter().map(|server| self.ids_on_one(table, server.no, &column, part, parts));
            let mut ids: Vec<(i64, u32)> = try_join_all(reading).await?.into_iter().flatten().collect();
            ids.sort_unstable();
            let mut twice: HashMap<i64, Vec<u32>> = HashMap::new();
            for pair in ids.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                let places = twice.entry(pair[0].0).or_default();
                places.extend([pair[0].1, pair[1].1]);
            }
            for (id, places) in twice {
                // A row may have moved from one place to the other in between.
                if self.is_double(table, &column, id, &places).await? {
                    report.double_ids += 1;
                    report.example(format!("{column} = {id}"));
                }
            }
        }
        Ok(())
    }

    async fn ids_on_one(
        &self,
        table: &Table,
        server: ServerNo,
        column: &str,
        part: u64,
        parts: u64,
    ) -> Result<Vec<(i64, u32)>> {
        let mut conn = self.connect(server).await?;
        let mut ids = Vec::new();
        let mut own = (0, Instant::now());
        for (number, place) in (0u32..).zip(table.all_places()) {
            if table.schema.shard(place.shard).server != server {
                continue;
            }
            let sql = format!(
                "SELECT {column} FROM {} WHERE ABS({column} % {parts}) = {part}{}",
                table.physical(place),
                self.owned(table, place)
            );
            let rows = self.rows(&mut conn, &sql).await?;
            let count = rows.len();
            ids.extend(rows.iter().filter_map(|row| Some((id(row.first()?)?, number))));
            self.pace(&table.name(), u64::try_from(count).unwrap_or(0), &mut own).await;
        }
        Ok(ids)
    }

    async fn is_double(&self, table: &Table, column: &str, id: i64, places: &[u32]) -> Result<bool> {
        let mut places = places.to_vec();
        places.sort_unstable();
        places.dedup();
        for attempt in 0..TRIES {
            if attempt > 0 {
                sleep(PAUSE).await;
            }
            let mut count = 0;
            for place in places.iter().filter_map(|number| table.all_places().nth(usize::try_from(*number).ok()?)) {
                let mut conn = self.connect(table.schema.shard(place.shard).server).await?;
                let sql = format!(
                    "SELECT COUNT(*) FROM {} WHERE {column} = {id}{}",
                    table.physical(place),
                    self.owned(table, place)
                );
                let rows = self.rows(&mut conn, &sql).await?;
                count += rows.first().and_then(|row| row.first()?.parse::<u64>().ok()).unwrap_or(0);
            }
            if count < 2 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A condition more where the shard may hold rows that it no longer owns.
    fn owned(&self, table: &Table, place: Place) -> String {
        let owner = table.owner().filter(|_| self.dirty);
        owner.map_or_else(String::new, |owner| format!(" AND {owner} = {}", place.shard.0))
    }

    // Reference tables

    async fn reference(&self, table: &Table) -> Result<TableReport> {
        let mut report = TableReport { table: table.name(), kind: "reference", ..TableReport::default() };
        let mut definitions: BTreeMap<Definition, Vec<String>> = BTreeMap::new();
        for attempt in 1..=TRIES {
            report.missing.clear();
            report.other_copies.clear();
            definitions.clear();
            let mut first: Option<Rows> = None;
            for shard in table.schema.shards() {
                let place = Place { shard: shard.no, subtable: SubtableNo(0) };
                let mut conn = self.connect(shard.server).await?;
                let rows = match self.rows(&mut conn, &table.checksum(place)).await {
                    Ok(rows) => rows,
                    Err(error) if error.code() == NO_SUCH_TABLE => {
                        report.missing.push(table.physical(place));
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let definition = self.definition(&mut conn, table, place).await?;
                definitions.entry(definition).or_default().push(table.physical(place));
                match &first {
                    None => {
                        report.rows = rows.first().and_then(|row| row.first()?.parse().ok()).unwrap_or(0);
                        first = Some(rows);
                    }
                    Some(first) if *first != rows => report.other_copies.push(table.physical(place)),
                    Some(_) => {}
                }
            }
            // A write may just have reached some of them.
            if report.other_copies.is_empty() || attempt == TRIES {
                break;
            }
            sleep(PAUSE).await;
        }
        report.other_definitions = others(definitions);
        Ok(report)
    }
}

/// All but those of the definition that most have.
fn others(definitions: BTreeMap<Definition, Vec<String>>) -> Vec<String> {
    let mut groups: Vec<Vec<String>> = definitions.into_values().collect();
    groups.sort_by_key(|names| std::cmp::Reverse(names.len()));
    groups.into_iter().skip(1).flatten().collect()
}

/// One row: all rows of a place, those that belong there, those that belonged there before the doubling, ids
/// that say another place.
fn counts(table: &Table, place: Place) -> String {
    let (sharded, key) = table.sharded().expect("a sharded table");
    let column = identifier(&sharded.key);
    let (shards, ShardNo(shard)) = (table.schema.shard_count(), place.shard);
    let owner = format!("({})", key.sql_shard(&column, shards, sharded.hash));
    let subtable = format!("({}) = {}", key.sql_subtable(&column, sharded.subtables, sharded.hash), place.subtable.0);
    let half = (shards / 2).max(1);
    let wrong = sharded.id.as_ref().and_then(|id| {
        let modulus = id.layout.carries?;
        let residue = key.sql_shard(&column, u16::try_from(modulus).ok()?, sharded.hash);
        let bits = id.layout.bits;
        let said = format!("({} >> {}) & {}", identifier(&id.column), bits.sequence, (1u64 << bits.place) - 1);
        Some(format!("({said}) <> {} + ({residue})", u64::from(place.subtable.0) * u64::from(modulus)))
    });
    format!(
        "SELECT COUNT(*), COALESCE(SUM({subtable} AND {owner} = {shard}), 0), \
         COALESCE(SUM({subtable} AND {owner} <> {shard} AND {owner} % {half} = {}), 0), COALESCE(SUM({}), 0) FROM {}",
        shard % half,
        wrong.unwrap_or_else(|| "0".to_owned()),
        table.physical(place)
    )
}

fn numbers(rows: &Rows) -> Result<[u64; 4]> {
    let read = || {
        let row = rows.first()?;
        let number = |at: usize| row.get(at)?.parse::<u64>().ok();
        Some([number(0)?, number(1)?, number(2)?, number(3)?])
    };
    read().ok_or_else(|| Error::operator("a server counts in no numbers"))
}

/// Unsigned ones by their bits: a column has one kind only.
fn id(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| text.parse::<u64>().ok().map(|id| i64::from_ne_bytes(id.to_ne_bytes())))
}
