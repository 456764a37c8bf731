//! The physical tables: which are missing, which differ from the others, which break a law, and
//! what lies beside them that should not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::Subject;
use super::agreement::named_some;
use super::probe::{self, Probe};
use super::report::Report;
use super::rows::{self, Strays};
use crate::catalog::Rows;
use crate::context::State;
use crate::definition::{Breach, Definition, Facts, Naming, SCRATCH_PREFIX, breaches, identifier, key_type, quoted};
use crate::error::Result;
use crate::shard::{Conn, Server, Servers};
use crate::topology::{Place, Schema, ShardNo, Sharded, SubtableNo, TableKind, TableRule};

pub(super) async fn check(
    subject: &Subject<'_>,
    servers: &Servers,
    reading: &Arc<State>,
    probes: &[Probe],
    report: &mut Report<'_>,
) {
    let mut asking = JoinSet::new();
    for probe in probes {
        let queue = Arc::new(Mutex::new(shards_of(subject, probe)));
        let width = READERS.min(usize::try_from(subject.config.backend.connections).unwrap_or(READERS));
        for _ in 0..width.min(queue.lock().len()) {
            let (server, reading, queue) = (servers.get(probe.no).clone(), reading.clone(), queue.clone());
            asking.spawn(async move {
                let read = read_shards(&server, &reading, &queue).await;
                (server, read)
            });
        }
    }
    let mut found: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for (server, read) in asking.join_all().await {
        match read {
            Ok(shards) => shards.into_iter().for_each(|(schema, shard)| found.entry(schema).or_default().push(shard)),
            Err(error) => report.mistake(
                &["server", &server.no.0.to_string()],
                format!("reading the tables of server {} failed: {error}", server.name),
                "",
            ),
        }
    }
    for schema in subject.topology.schemas() {
        let mut shards = found.remove(&schema.name).unwrap_or_default();
        shards.sort_by_key(|found| found.shard);
        let mut rules: Vec<&Arc<TableRule>> = schema.rules().collect();
        rules.sort_by(|a, b| a.name.cmp(&b.name));
        for rule in rules {
            Table { subject, schema, rule, shards: &shards }.check(report);
        }
        leftovers(subject, schema, &shards, report);
    }
}

/// Connections that read one server's tables.
const READERS: usize = 4;

type Queue = Mutex<Vec<(Arc<Schema>, ShardNo)>>;

/// The shards on a server whose databases are there.
fn shards_of(subject: &Subject<'_>, probe: &Probe) -> Vec<(Arc<Schema>, ShardNo)> {
    let of = |schema: &Arc<Schema>| -> Vec<(Arc<Schema>, ShardNo)> {
        let there = schema.shards_on(probe.no).filter(|shard| probe.databases.contains_key(&shard.database));
        there.map(|shard| (schema.clone(), shard.no)).collect()
    };
    subject.topology.schemas().flat_map(of).collect()
}

/// What one shard holds of its schema's tables.
struct Found {
    shard: ShardNo,
    /// Names of all tables of the database.
    names: BTreeSet<String>,
    /// By logical table.
    tables: HashMap<String, Held>,
}

/// What one shard holds of one table.
#[derive(Default)]
struct Held {
    /// The subtables that are there; each with the position of its definition.
    subtables: BTreeMap<SubtableNo, usize>,
    /// The definitions that occur, each once: subtables are many, and almost always alike.
    definitions: Vec<Definition>,
    /// What is wrong with one subtable of each definition.
    breaches: Vec<Breach>,
    /// Rows that nobody would find.
    strays: Option<Strays>,
}

async fn read_shards(server: &Arc<Server>, reading: &Arc<State>, queue: &Queue) -> Result<Vec<(String, Found)>> {
    let mut conn = probe::connect(server, reading).await?;
    let mut found = Vec::new();
    loop {
        let Some((schema, shard)) = queue.lock().pop() else { return Ok(found) };
        found.push((schema.name.clone(), read_shard(&mut conn, &schema, shard).await?));
    }
}

async fn read_shard(conn: &mut Conn, schema: &Schema, shard: ShardNo) -> Result<Found> {
    let database = &schema.shard(shard).database;
    let sql = format!("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}", quoted(database));
    let names: BTreeSet<String> = probe::texts(conn, &sql).await?.into_iter().flatten().collect();
    let mut found = Found { shard, names, tables: HashMap::new() };
    for rule in schema.rules() {
        let mut held = Held::default();
        let mut key = None;
        for (subtable, naming) in expected(rule, shard).filter(|(_, naming)| found.names.contains(&naming.physical)) {
            let definition = read_definition(conn, database, &naming).await?;
            let known = held.definitions.iter().position(|known| *known == definition);
            if known.is_none() {
                let facts = read_facts(conn, database, &naming.physical).await?;
                held.breaches.extend(breaches(schema, rule, &facts));
                let column = rule.sharded().and_then(|sharded| facts.column(&sharded.key));
                key = key.or_else(|| key_type(column?).ok());
                held.definitions.push(definition);
            }
            held.subtables.insert(subtable, known.unwrap_or(held.definitions.len() - 1));
        }
        if let (Some(sharded), Some(key), [_]) = (rule.sharded(), &key, held.definitions.as_slice()) {
            let there: Vec<SubtableNo> = held.subtables.keys().copied().collect();
            held.strays = rows::strays(conn, schema, shard, (sharded, key), &there).await?;
        }
        found.tables.insert(rule.name.clone(), held);
    }
    Ok(found)
}

async fn read_definition(conn: &mut Conn, database: &str, naming: &Naming) -> Result<Definition> {
    let sql = format!("SHOW CREATE TABLE {}.{}", identifier(database), identifier(&naming.physical));
    let shown = probe::texts(conn, &sql).await?.into_iter().next().and_then(|row| row.into_iter().nth(1));
    Ok(Definition::new(&shown.unwrap_or_default(), naming))
}

async fn read_facts(conn: &mut Conn, database: &str, table: &str) -> Result<Facts> {
    let mut answers: [Rows; 5] = Default::default();
    for (answer, question) in answers.iter_mut().zip(Facts::questions(database, table)) {
        *answer = conn.run(&question).await?.rows;
    }
    Ok(Facts::new(answers))
}

/// The physical tables that a shard should hold of a rule's table.
fn expected(rule: &TableRule, shard: ShardNo) -> impl Iterator<Item = (SubtableNo, Naming)> + '_ {
    let count = match &rule.kind {
        TableKind::Sharded(sharded) => sharded.subtables,
        TableKind::Reference => 1,
        TableKind::Unsharded => u16::from(shard == crate::topology::HOME),
    };
    (0..count).map(move |n| {
        let naming = match rule.sharded() {
            Some(sharded) => Naming::subtable(&rule.name, &sharded.pattern, SubtableNo(n)).among(&rule.beside),
            None => Naming::whole(&rule.name),
        };
        (SubtableNo(n), naming)
    })
}

/// One table of the topology and what all shards hold of it.
struct Table<'a> {
    subject: &'a Subject<'a>,
    schema: &'a Schema,
    rule: &'a TableRule,
    shards: &'a [Found],
}

impl Table<'_> {
    fn check(&self, report: &mut Report<'_>) {
        let present: usize = self.shards.iter().map(|found| found.tables[&self.rule.name].subtables.len()).sum();
        if present == 0 {
            return self.not_created(report);
        }
        self.missing(report);
        self.beyond(report);
        self.beside(report);
        self.differing(report);
        self.breaches(report);
        self.strays(report);
    }

    fn key<'k>(&'k self, last: &'k str) -> Vec<&'k str> {
        let mut key = vec!["schema", &self.schema.name, "table", &self.rule.name];
        if !last.is_empty() {
            key.push(last);
        }
        key
    }

    fn not_created(&self, report: &mut Report<'_>) {
        if !matches!(self.rule.kind, TableKind::Unsharded) && !self.shards.is_empty() {
            report.warning(
                &self.key(""),
                format!("table `{}` does not exist yet", self.rule.name),
                "CREATE TABLE through Bifold makes it in every place",
            );
        }
    }

    fn missing(&self, report: &mut Report<'_>) {
        for found in self.shards {
            let there = &found.tables[&self.rule.name].subtables;
            let missing: Vec<String> = expected(self.rule, found.shard)
                .filter(|(subtable, _)| !there.contains_key(subtable))
                .map(|(_, naming)| naming.physical)
                .collect();
            if !missing.is_empty() {
                report.mistake(
                    &self.key("tables"),
                    format!(
                        "shard {} lacks {} of {} tables: {}",
                        self.shard_name(found.shard),
                        missing.len(),
                        missing.len() + there.len(),
                        named_some(&missing)
                    ),
                    self.remedy_of_missing(&missing, there.len()),
                );
            }
        }
    }

    /// Where only the last ones are missing, it may be `tables` that is wrong.
    fn remedy_of_missing(&self, missing: &[String], there: usize) -> String {
        let make = "run CREATE TABLE through Bifold again: it makes what is missing";
        let next = |sharded: &Sharded| Some(sharded.pattern.physical_name(SubtableNo(u16::try_from(there).ok()?)));
        let ends_early = there > 0 && self.rule.sharded().and_then(next).as_ref() == missing.first();
        match ends_early {
            true => format!(
                "if rows were stored with tables = {there}, write that again, since T is fixed for good; else {make}"
            ),
            false => make.to_owned(),
        }
    }

    /// A subtable numbered beyond the last one says that `tables` is wrong.
    fn beyond(&self, report: &mut Report<'_>) {
        let Some(sharded) = self.rule.sharded() else { return };
        let next = sharded.pattern.physical_name(SubtableNo(sharded.subtables));
        let with: Vec<String> = self
            .shards
            .iter()
            .filter(|found| found.names.contains(&next))
            .map(|found| self.shard_name(found.shard))
            .collect();
        if !with.is_empty() {
            report.mistake(
                &self.key("tables"),
                format!("there is a table `{next}` on {}, one more than `tables` says", named_some(&with)),
                "a wrong number sends every row elsewhere: count the tables and correct `tables`, or drop what is left over",
            );
        }
    }

    /// A table of the logical name beside its subtables is not reached any more.
    fn beside(&self, report: &mut Report<'_>) {
        let hides = |found: &&Found| {
            found.names.contains(&self.rule.name)
                && match &self.rule.kind {
                    TableKind::Sharded(sharded) => sharded.pattern.logical_of(self.rule.name.as_bytes()).is_none(),
                    TableKind::Reference => false,
                    TableKind::Unsharded => found.shard != crate::topology::HOME,
                }
        };
        let with: Vec<String> = self.shards.iter().filter(hides).map(|found| self.shard_name(found.shard)).collect();
        if !with.is_empty() {
            report.warning(
                &self.key(""),
                format!("a table `{}` on {} is reached by no statement", self.rule.name, named_some(&with)),
                "if its rows are wanted, copy them through Bifold; then drop it",
            );
        }
    }

    /// Most subtables agree; the others are named.
    fn differing(&self, report: &mut Report<'_>) {
        let mut groups: Vec<(&Definition, Vec<Place>)> = Vec::new();
        for found in self.shards {
            let held = &found.tables[&self.rule.name];
            for (subtable, at) in &held.subtables {
                let definition = &held.definitions[*at];
                let place = Place { shard: found.shard, subtable: *subtable };
                match groups.iter_mut().find(|(known, _)| *known == definition) {
                    Some((_, places)) => places.push(place),
                    None => groups.push((definition, vec![place])),
                }
            }
        }
        groups.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        let Some(((usual, _), others)) = groups.split_first() else { return };
        for (definition, places) in others {
            let (mine, theirs) = definition.first_difference(usual).unwrap_or_default();
            let names: Vec<String> = places.iter().map(|place| self.physical_name(*place)).collect();
            report.mistake(
                &self.key(""),
                format!(
                    "{} of `{}` differ from the other {}: {} where they have {}; it is {}",
                    places.len(),
                    self.rule.name,
                    if self.rule.sharded().is_some() { "subtables" } else { "shards" },
                    mine,
                    theirs,
                    named_some(&names)
                ),
                "make them alike with ALTER TABLE on the servers, or run the ALTER that was interrupted through Bifold again",
            );
        }
    }

    fn breaches(&self, report: &mut Report<'_>) {
        let mut told: Vec<&Breach> = Vec::new();
        for breach in self.shards.iter().flat_map(|found| &found.tables[&self.rule.name].breaches) {
            if !told.contains(&breach) {
                report.mistake(&self.key(breach.topology_key), &breach.what, &breach.remedy);
                told.push(breach);
            }
        }
    }

    fn strays(&self, report: &mut Report<'_>) {
        for strays in self.shards.iter().filter_map(|found| found.tables[&self.rule.name].strays.as_ref()) {
            let (lies, belongs) = (self.physical_name(strays.lies), self.physical_name(strays.belongs));
            report.mistake(&self.key("key"), strays.what(&lies, &belongs), rows::REMEDY);
        }
    }

    fn shard_name(&self, shard: ShardNo) -> String {
        let shard = self.schema.shard(shard);
        format!("{}/{}", self.subject.topology.server(shard.server).name, shard.database)
    }

    fn physical_name(&self, place: Place) -> String {
        let naming =
            expected(self.rule, place.shard).nth(usize::from(place.subtable.0)).map(|(_, naming)| naming.physical);
        format!("{}.{}", self.shard_name(place.shard), naming.unwrap_or_default())
    }
}

/// Tables in which a definition was tried, of a proxy that was killed meanwhile.
fn leftovers(subject: &Subject<'_>, schema: &Schema, shards: &[Found], report: &mut Report<'_>) {
    for found in shards {
        let shard = schema.shard(found.shard);
        let left: Vec<&String> = found.names.iter().filter(|name| name.starts_with(SCRATCH_PREFIX)).collect();
        if let Some(first) = left.first() {
            report.warning(
                &["schema", &schema.name, "shards"],
                format!(
                    "{} scratch tables of an interrupted ALTER or CREATE lie in {}/{}",
                    left.len(),
                    subject.topology.server(shard.server).name,
                    shard.database
                ),
                format!("no data is in them: DROP TABLE `{}`.`{first}` and its like", shard.database),
            );
        }
    }
}
