//! What the laws want to know of a physical table, from `information_schema`: the questions as
//! SQL texts, the answers as rows, the facts as data.

use crate::catalog::{ColumnDef, Rows, column, columns_query, quoted};

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub columns: Vec<ColumnDef>,
    pub unique_keys: Vec<UniqueKey>,
    pub engine: String,
    pub foreign_keys: Vec<ForeignKey>,
    pub triggers: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    pub name: String,
    /// The physical table that it points to.
    pub table: String,
    /// Its columns, each with the one that it points to.
    pub columns: Vec<(String, String)>,
    /// It changes or empties its columns when the row that it points to changes or goes.
    pub rewrites: bool,
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
                "SELECT k.CONSTRAINT_NAME, k.REFERENCED_TABLE_NAME, k.COLUMN_NAME, k.REFERENCED_COLUMN_NAME, \
                 r.UPDATE_RULE, r.DELETE_RULE \
                 FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r \
                 ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME \
                 AND r.TABLE_NAME = k.TABLE_NAME {} AND r.CONSTRAINT_SCHEMA = {} AND r.TABLE_NAME = {} \
                 ORDER BY k.CONSTRAINT_NAME, k.ORDINAL_POSITION",
                of("k.TABLE_SCHEMA", "k.TABLE_NAME"),
                quoted(database),
                quoted(table)
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
            foreign_keys: self::foreign_keys(&foreign_keys),
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

fn foreign_keys(rows: &Rows) -> Vec<ForeignKey> {
    let mut keys: Vec<ForeignKey> = Vec::new();
    for row in rows {
        let (Some(name), Some(table)) = (text(row, 0), text(row, 1)) else { continue };
        let column = (text(row, 2).unwrap_or_default(), text(row, 3).unwrap_or_default());
        let rule = |n| text(row, n).unwrap_or_default();
        let rewrites = !matches!(rule(4).as_str(), "RESTRICT" | "NO ACTION") || rule(5).starts_with("SET ");
        match keys.last_mut() {
            Some(last) if last.name == name => last.columns.push(column),
            Some(_) | None => keys.push(ForeignKey { name, table, columns: vec![column], rewrites }),
        }
    }
    keys
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
