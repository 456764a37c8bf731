//! A sample of the rows: do they lie where the topology looks for them? Shards in another order, or
//! another number of subtables than the rows were stored with, show here before a client sees it.

use super::probe;
use crate::definition::identifier;
use crate::error::Result;
use crate::shard::Conn;
use crate::topology::key::KeyType;
use crate::topology::{Place, Schema, ShardNo, Sharded, SubtableNo};

/// Subtables of a shard that are looked into, evenly spread, and rows of each.
const SUBTABLES: usize = 64;
const ROWS: usize = 4;

/// Rows of one shard's subtables that lie elsewhere than they belong.
pub(super) struct Strays {
    pub count: usize,
    pub looked_at: usize,
    /// One of them: where it lies, and where it belongs.
    pub lies: Place,
    pub belongs: Place,
}

impl Strays {
    pub(super) fn what(&self, lies: &str, belongs: &str) -> String {
        format!(
            "{} of {} rows looked at lie where Bifold does not look for them, as one in {lies} that belongs to {belongs}",
            self.count, self.looked_at
        )
    }
}

pub(super) const REMEDY: &str = "give shards (in their order), key, hash and tables as they were when the rows were \
     stored; rows that something else wrote there have to be moved";

/// One statement for a shard's part of a table.
pub(super) async fn strays(
    conn: &mut Conn,
    schema: &Schema,
    shard: ShardNo,
    table: (&Sharded, &KeyType),
    there: &[SubtableNo],
) -> Result<Option<Strays>> {
    let (sharded, key) = table;
    let column = identifier(&sharded.key);
    let place = format!(
        "{}, {}",
        key.sql_shard(&column, schema.shard_count(), sharded.hash),
        key.sql_subtable(&column, sharded.subtables, sharded.hash)
    );
    let database = identifier(&schema.shard(shard).database);
    let step = there.len().div_ceil(SUBTABLES).max(1);
    let branches: Vec<String> = there
        .iter()
        .step_by(step)
        .map(|subtable| {
            let physical = identifier(&sharded.pattern.physical_name(*subtable));
            format!(
                "(SELECT {}, {place} FROM {database}.{physical} WHERE {column} IS NOT NULL LIMIT {ROWS})",
                subtable.0
            )
        })
        .collect();
    if branches.is_empty() {
        return Ok(None);
    }
    let rows = probe::texts(conn, &branches.join(" UNION ALL ")).await?;
    let pairs: Vec<(Place, Place)> = rows.iter().filter_map(|row| pair(shard, row)).collect();
    let mut elsewhere = pairs.iter().filter(|(lies, belongs)| lies != belongs);
    let Some((lies, belongs)) = elsewhere.next() else { return Ok(None) };
    Ok(Some(Strays { count: elsewhere.count() + 1, looked_at: pairs.len(), lies: *lies, belongs: *belongs }))
}

fn pair(shard: ShardNo, row: &[String]) -> Option<(Place, Place)> {
    let [lies, of, subtable] = row else { return None };
    let lies = Place { shard, subtable: SubtableNo(lies.parse().ok()?) };
    Some((lies, Place { shard: ShardNo(of.parse().ok()?), subtable: SubtableNo(subtable.parse().ok()?) }))
}
