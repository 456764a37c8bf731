//! The logical definitions of tables, read lazily from one place per table and kept until DDL or
//! an error of a server says that they are stale. The version changes whenever one is forgotten.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::error::{Error, Result, code};
use crate::topology::{HOME, Schema, ServerNo, SubtableNo, TableKind, Topology};

/// All definitions known so far.
#[derive(Debug, Default)]
pub struct Catalog {
    tables: RwLock<HashMap<TableName, Arc<TableDef>>>,
    version: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    pub schema: Box<str>,
    pub table: Box<str>,
}

/// A table's definition, as information_schema gives it.
#[derive(Debug, Default)]
pub struct TableDef {
    pub columns: Vec<ColumnDef>,
    /// Names of the unique keys (PRIMARY among them) with their columns.
    pub unique: Vec<(String, Vec<String>)>,
    /// Columns that foreign keys of this table hold.
    pub bound: Vec<String>,
}

#[derive(Debug, Default, Clone)]
pub struct ColumnDef {
    pub name: String,
    /// `varchar`
    pub data_type: String,
    /// `varchar(20)`, `int(10) unsigned zerofill`
    pub column_type: String,
    /// Of character columns: the length in characters; of binary ones in bytes.
    pub length: Option<u64>,
    pub charset: Option<String>,
    pub collation: Option<String>,
    pub nullable: bool,
    pub default: Option<String>,
    pub auto_increment: bool,
    pub generated: bool,
    pub invisible: bool,
}

/// The rows of a small internal query, values as text.
pub type Rows = Vec<Vec<Option<Vec<u8>>>>;

/// Where definitions are read from.
pub trait Source {
    fn query(&self, server: ServerNo, sql: &str) -> impl Future<Output = Result<Rows>> + Send;
}

impl TableDef {
    /// A column, in any letter case.
    pub fn column(&self, name: &str) -> Option<&ColumnDef> {
        let is_it = |own: &str| own.eq_ignore_ascii_case(name) || own.to_lowercase() == name.to_lowercase();
        self.columns.iter().find(|column| is_it(&column.name))
    }

    /// The columns that INSERT without a column list and `SELECT *` mean.
    pub fn visible(&self) -> impl Iterator<Item = &ColumnDef> {
        self.columns.iter().filter(|column| !column.invisible)
    }
}

impl Catalog {
    /// Part of the plan cache's key.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    pub fn get(&self, name: &TableName) -> Option<Arc<TableDef>> {
        self.tables.read().get(name).cloned()
    }

    /// The definition, read from a server where it is not known. Error 1146 where there is no such table.
    pub async fn load(&self, name: &TableName, topology: &Topology, source: &impl Source) -> Result<Arc<TableDef>> {
        if let Some(known) = self.get(name) {
            return Ok(known);
        }
        let schema = topology.schema(&name.schema).ok_or_else(|| no_such_table(name))?;
        let version = self.version();
        let (database, table) = physical(schema, &name.table);
        let server = schema.shard(HOME).server;
        let columns = source.query(server, &columns_query(database, &table)).await?;
        if columns.is_empty() {
            return Err(no_such_table(name));
        }
        let keys = source.query(server, &keys_query(database, &table)).await?;
        let bound = source.query(server, &bound_query(database, &table)).await?;
        let bound = bound.into_iter().flatten().flatten().map(|name| String::from_utf8_lossy(&name).into_owned());
        let columns = columns.iter().map(|row| column(row)).collect();
        let def = Arc::new(TableDef { columns, unique: unique(&keys), bound: bound.collect() });
        let mut tables = self.tables.write();
        // What was read before a DDL ended is not kept.
        if self.version() == version {
            tables.insert(name.clone(), Arc::clone(&def));
        }
        Ok(def)
    }

    /// After DDL, or an error of a server that shows the definition to be stale.
    pub fn forget(&self, name: &TableName) {
        let mut tables = self.tables.write();
        tables.remove(name);
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// A definition as given; for tests and tools without servers.
    pub fn learn(&self, name: TableName, def: TableDef) {
        self.tables.write().insert(name, Arc::new(def));
    }
}

impl TableName {
    pub fn new(schema: &str, table: &str) -> Self {
        TableName { schema: schema.into(), table: table.into() }
    }
}

fn no_such_table(name: &TableName) -> Error {
    Error::client(code::NO_SUCH_TABLE, format!("Table '{}.{}' doesn't exist", name.schema, name.table))
}

/// Database and table on the home shard; the first subtable speaks for all.
fn physical<'a>(schema: &'a Schema, table: &str) -> (&'a str, String) {
    let name = match schema.rule(table).map(|rule| &rule.kind) {
        Some(TableKind::Sharded(sharded)) => sharded.pattern.physical_name(SubtableNo(0)),
        Some(TableKind::Reference | TableKind::Unsharded) | None => table.to_owned(),
    };
    (&schema.home().database, name)
}

/// Text in quotes that mean the same under any sql_mode: no backslash is left in it.
pub(crate) fn quoted(text: &str) -> String {
    let hex: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!("_utf8mb4 X'{hex}'")
}

pub(crate) fn columns_query(database: &str, table: &str) -> String {
    format!(
        "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_SET_NAME, COLLATION_NAME, \
         IS_NULLABLE, COLUMN_DEFAULT, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} \
         ORDER BY ORDINAL_POSITION",
        quoted(database),
        quoted(table)
    )
}

fn keys_query(database: &str, table: &str) -> String {
    format!(
        "SELECT INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} \
         AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX",
        quoted(database),
        quoted(table)
    )
}

fn bound_query(database: &str, table: &str) -> String {
    format!(
        "SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} \
         AND REFERENCED_TABLE_NAME IS NOT NULL",
        quoted(database),
        quoted(table)
    )
}

pub(crate) fn column(row: &[Option<Vec<u8>>]) -> ColumnDef {
    let text = |n: usize| row.get(n).and_then(Option::as_ref).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let extra = text(8).unwrap_or_default().to_ascii_uppercase();
    ColumnDef {
        name: text(0).unwrap_or_default(),
        data_type: text(1).unwrap_or_default().to_ascii_lowercase(),
        column_type: text(2).unwrap_or_default().to_ascii_lowercase(),
        length: text(3).and_then(|digits| digits.parse().ok()),
        charset: text(4),
        collation: text(5),
        nullable: text(6).is_some_and(|word| word.eq_ignore_ascii_case("YES")),
        default: text(7),
        auto_increment: extra.contains("AUTO_INCREMENT"),
        // DEFAULT_GENERATED is an expression as default, not a generated column.
        generated: extra.split(' ').any(|word| word == "GENERATED"),
        invisible: extra.split([' ', ',']).any(|word| word == "INVISIBLE"),
    }
}

fn unique(rows: &Rows) -> Vec<(String, Vec<String>)> {
    let mut keys: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let [Some(index), Some(column)] = row.as_slice() else { continue };
        let (index, column) =
            (String::from_utf8_lossy(index).into_owned(), String::from_utf8_lossy(column).into_owned());
        match keys.last_mut() {
            Some((last, columns)) if *last == index => columns.push(column),
            Some(_) | None => keys.push((index, vec![column])),
        }
    }
    keys
}
