//! What the laws want to know of a physical table, from `information_schema`: the questions as
//! SQL texts, the answers as rows, the facts as data.

use crate::catalog::{ColumnDef, Rows, column, columns_query, quoted};

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub columns: Vec<ColumnDef>,
    pub unique_keys: Vec<UniqueKey>,
    pub engine: String,
    /// Name and the table that it points to.
    pub foreign_keys: Vec<(String, String)>,
    pub triggers: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    /// `PRIMARY` for the primary key.
    pub name: String,
    pub parts: Vec<UniquePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UniquePart {
    Column(String),
    /// The beginning of a column.
    Prefix(String),
    Expression,
}

impl Facts {
    /// The questions about one table, in the order in which [`Facts::new`] takes the answers.
    pub fn questions(database: &str, table: &str) -> [String; 5] {
        let of =
            |schema: &str, name: &str| format!("WHERE {schema} = {} AND {name} = {}", quoted(database), quoted(table));
        [
            columns_query(database, table),
            format!(
                "SELECT INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS {} AND NON_UNIQUE = 0 \
                 ORDER BY INDEX_NAME, SEQ_IN_INDEX",
                of("TABLE_SCHEMA", "TABLE_NAME")
            ),
            format!("SELECT ENGINE FROM information_schema.TABLES {}", of("TABLE_SCHEMA", "TABLE_NAME")),
            format!(
                "SELECT CONSTRAINT_NAME, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS {}",
                of("CONSTRAINT_SCHEMA", "TABLE_NAME")
            ),
            format!(
                "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS {}",
                of("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE")
            ),
        ]
    }

    pub fn new([columns, keys, engine, foreign_keys, triggers]: [Rows; 5]) -> Self {
        Facts {
            columns: columns.iter().map(|row| column(row)).collect(),
            unique_keys: unique_keys(&keys),
            engine: engine.first().and_then(|row| text(row, 0)).unwrap_or_default(),
            foreign_keys: foreign_keys
                .iter()
                .filter_map(|row| Some((text(row, 0)?, text(row, 1).unwrap_or_default())))
                .collect(),
            triggers: triggers.iter().filter_map(|row| text(row, 0)).collect(),
        }
    }

    pub fn column(&self, name: &str) -> Option<&ColumnDef> {
        self.columns.iter().find(|column| same_name(&column.name, name))
    }
}

/// Column and key names compare in any letter case.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

fn text(row: &[Option<Vec<u8>>], n: usize) -> Option<String> {
    row.get(n)?.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn unique_keys(rows: &Rows) -> Vec<UniqueKey> {
    let mut keys: Vec<UniqueKey> = Vec::new();
    for row in rows {
        let Some(name) = text(row, 0) else { continue };
        let part = match (text(row, 1), text(row, 2)) {
            (Some(column), None) => UniquePart::Column(column),
            (Some(column), Some(_)) => UniquePart::Prefix(column),
            (None, _) => UniquePart::Expression,
        };
        match keys.last_mut() {
            Some(key) if key.name == name => key.parts.push(part),
            Some(_) | None => keys.push(UniqueKey { name, parts: vec![part] }),
        }
    }
    keys
}
