//! The sharded and reference tables of a topology as the servers define them: key type, primary key
//! and columns, read from the home shard; and SQL that is built from these.

use std::sync::Arc;

use crate::definition::{Facts, UniquePart, identifier, key_type};
use crate::error::{Error, Result};
use crate::shard::Conn;
use crate::topology::key::KeyType;
use crate::topology::{Place, Schema, ShardNo, Sharded, SubtableNo, TableKind, TableRule};

/// A declared table that exists.
#[derive(Clone, Debug)]
pub struct Table {
    pub schema: Arc<Schema>,
    pub rule: Arc<TableRule>,
    pub facts: Facts,
    /// Of the sharding key; none for reference tables.
    pub key: Option<KeyType>,
    /// Columns of the primary key, if it is whole columns.
    pub primary: Vec<String>,
}

/// All declared sharded and reference tables of a schema that are there, by name. `conn`: to the home
/// shard's server.
pub async fn tables(conn: &mut Conn, schema: &Arc<Schema>) -> Result<Vec<Table>> {
    let mut rules: Vec<&Arc<TableRule>> = schema.rules().collect();
    rules.sort_by(|a, b| a.name.cmp(&b.name));
    let mut tables = Vec::new();
    for rule in rules {
        let physical = match &rule.kind {
            TableKind::Sharded(sharded) => sharded.pattern.physical_name(SubtableNo(0)),
            TableKind::Reference => rule.name.clone(),
            TableKind::Unsharded => continue,
        };
        let facts = facts(conn, &schema.home().database, &physical).await?;
        if facts.columns.is_empty() {
            continue;
        }
        let key = match rule.sharded() {
            None => None,
            Some(sharded) => {
                let column = facts.column(&sharded.key);
                let column = column.ok_or_else(|| wrong(schema, rule, &format!("has no column {}", sharded.key)))?;
                Some(key_type(column).map_err(|why| wrong(schema, rule, &why))?)
            }
        };
        let primary = primary(&facts);
        tables.push(Table { schema: schema.clone(), rule: rule.clone(), facts, key, primary });
    }
    Ok(tables)
}

fn wrong(schema: &Schema, rule: &TableRule, why: &str) -> Error {
    Error::operator(format!("table {}.{}: {why}", schema.name, rule.name))
}

async fn facts(conn: &mut Conn, database: &str, table: &str) -> Result<Facts> {
    let mut answers: [crate::catalog::Rows; 5] = Default::default();
    for (answer, question) in answers.iter_mut().zip(Facts::questions(database, table)) {
        *answer = conn.run(&question).await?.rows;
    }
    Ok(Facts::new(answers))
}

fn primary(facts: &Facts) -> Vec<String> {
    let Some(key) = facts.unique_keys.iter().find(|key| key.name == "PRIMARY") else { return Vec::new() };
    let whole = |part: &UniquePart| match part {
        UniquePart::Column(column) => Some(column.clone()),
        UniquePart::Prefix(_) | UniquePart::Expression => None,
    };
    key.parts.iter().map(whole).collect::<Option<_>>().unwrap_or_default()
}

impl Table {
    /// `mall.orders`
    pub fn name(&self) -> String {
        format!("{}.{}", self.schema.name, self.rule.name)
    }

    pub fn sharded(&self) -> Option<(&Sharded, &KeyType)> {
        self.rule.sharded().zip(self.key.as_ref())
    }

    /// `` `mall_1`.`orders_0007` ``; of a reference table any subtable will do.
    pub fn physical(&self, place: Place) -> String {
        let database = identifier(&self.schema.shard(place.shard).database);
        let table = match self.rule.sharded() {
            Some(sharded) => identifier(&sharded.pattern.physical_name(place.subtable)),
            None => identifier(&self.rule.name),
        };
        format!("{database}.{table}")
    }

    /// The places of a shard that hold something of it.
    pub fn places(&self, shard: ShardNo) -> impl Iterator<Item = Place> + use<> {
        let count = self.rule.sharded().map_or(1, |sharded| sharded.subtables);
        (0..count).map(move |subtable| Place { shard, subtable: SubtableNo(subtable) })
    }

    /// Every place, once for each shard where the table is whole.
    pub fn all_places(&self) -> impl Iterator<Item = Place> + '_ {
        self.schema.shards().iter().flat_map(|shard| self.places(shard.no))
    }

    /// A query with one row: how many rows, and two sums of all that is in them.
    pub fn checksum(&self, place: Place) -> String {
        let cells: Vec<String> = self
            .facts
            .columns
            .iter()
            .map(|column| identifier(&column.name))
            // CONCAT: numbers in digits, all else as its bytes.
            .map(|column| format!("IFNULL(HEX(CONCAT({column})), 'N')"))
            .collect();
        let row = format!("CRC32(CONCAT_WS(',', {}))", cells.join(", "));
        format!("SELECT COUNT(*), COALESCE(BIT_XOR({row}), 0), COALESCE(SUM({row}), 0) FROM {}", self.physical(place))
    }

    /// The number of the shard that owns a row, as SQL.
    pub fn owner(&self) -> Option<String> {
        let (sharded, key) = self.sharded()?;
        Some(key.sql_shard(&identifier(&sharded.key), self.schema.shard_count(), sharded.hash))
    }
}
