//! The generators of all tables whose ids Bifold makes, and the ids of one statement: gathered
//! step by step, since a place may have no more ids in this millisecond, and none is lost.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::{Error, Result};
use crate::route::Ids;
use crate::snowflake::{Carried, CarryingGenerator, Generator, Issuer, Run, SystemClock, WorkerLease};
use crate::topology::{Place, Schema, TableRule, Topology};

/// By schema and table.
#[derive(Default)]
pub struct Generators(HashMap<Box<str>, HashMap<Box<str>, Kind>>);

enum Kind {
    Plain(Generator),
    Carrying(CarryingGenerator),
}

impl Generators {
    pub fn new(topology: &Topology, lease: Arc<dyn WorkerLease>) -> Result<Self> {
        let issuer = Issuer::new(Arc::new(SystemClock), lease);
        let mut generators = Generators::default();
        for schema in topology.schemas() {
            let of_schema = generators.0.entry(schema.name.as_str().into()).or_default();
            for rule in schema.rules() {
                let Some((table, id)) = rule.sharded().and_then(|table| Some((table, table.id.as_ref()?))) else {
                    continue;
                };
                let kind = match id.layout.carries {
                    Some(_) => Kind::Carrying(CarryingGenerator::new(id.layout, table.subtables, issuer.clone(), 0)?),
                    None => Kind::Plain(Generator::new(id.layout, issuer.clone(), 0)?),
                };
                of_schema.insert(rule.name.as_str().into(), kind);
            }
        }
        Ok(generators)
    }

    fn of(&self, schema: &Schema, table: &TableRule) -> Result<&Kind> {
        let of_schema = self.0.get(schema.name.as_str());
        of_schema
            .and_then(|tables| tables.get(table.name.as_str()))
            .ok_or_else(|| Error::proxy(format!("Bifold: no ids are made for table {}.{}.", schema.name, table.name)))
    }
}

impl std::fmt::Debug for Generators {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Generators").field(&self.0.values().map(HashMap::len).sum::<usize>()).finish()
    }
}

/// The ids that one statement has been given so far.
pub struct Stash<'a> {
    generators: &'a Generators,
    runs: Mutex<HashMap<Wanted, Vec<Run>>>,
}

/// What ids are wanted for: a table and, for ids that carry it, the place.
type Wanted = (Box<str>, Option<Carried>);

impl<'a> Stash<'a> {
    pub fn new(generators: &'a Generators) -> Self {
        Stash { generators, runs: Mutex::default() }
    }
}

impl Ids for Stash<'_> {
    fn take(
        &self,
        schema: &Schema,
        table: &TableRule,
        at: Option<(u32, Place)>,
        count: u32,
        out: &mut Vec<u64>,
    ) -> Result<bool> {
        let kind = self.generators.of(schema, table)?;
        let carried = at.map(|(residue, place)| Carried { subtable: place.subtable.0, residue });
        let take_now = |left: u32| match (kind, carried) {
            (Kind::Plain(generator), _) => generator.take_now(left),
            (Kind::Carrying(generator), Some(carried)) => generator.take_now(carried, left),
            (Kind::Carrying(_), None) => {
                Err(Error::proxy("Bifold: an id that carries its place was asked for without one."))
            }
        };
        let mut runs = self.runs.lock();
        let runs = runs.entry((table.name.as_str().into(), carried)).or_default();
        let mut left = count.saturating_sub(runs.iter().map(|run| run.count).sum());
        while left > 0 {
            let Some(run) = take_now(left)? else { return Ok(false) };
            left -= run.count;
            runs.push(run);
        }
        // Kept: another wait may follow, for another place, and then all is routed again.
        out.extend(runs.iter().copied().flat_map(Run::ids));
        Ok(true)
    }
}
