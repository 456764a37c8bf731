//! The exact image of a stored value: an expression that reads it as plain ASCII, whatever the
//! session's settings are, and the literal that puts the same value into the same column again. For
//! rows that the proxy itself carries from one place to another, or finds again by their keys.

use std::fmt::Write;

use super::survey::quoted;
use crate::catalog::{ColumnDef, TableDef};

/// A column whose values can be read and written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// In backticks.
    pub name: Box<str>,
    /// The expression that reads it.
    pub read: Box<str>,
    form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Digits.
    Number,
    /// Digits of a floating-point number.
    Double,
    /// As the server prints it, in quotes.
    Printed,
    /// Seconds since 1970, to be written at +00:00.
    Moment,
    /// Hex digits of bytes in this character set.
    Bytes(Box<str>),
}

/// All columns of a row that hold something of their own; the name of one that can't be carried,
/// if there is one.
pub(super) fn columns(def: &TableDef) -> Result<Vec<Column>, String> {
    let stored = def.columns.iter().filter(|column| !column.generated);
    stored.map(|column| Column::of(column).ok_or_else(|| column.name.clone())).collect()
}

/// The columns of a unique key by which a row is found again: the primary key, if it will do.
pub(super) fn row_key(def: &TableDef) -> Option<Vec<Column>> {
    let usable = |columns: &Vec<String>| -> Option<Vec<Column>> {
        columns.iter().map(|name| Column::to_find_by(def.column(name)?)).collect()
    };
    let primary = def.unique.iter().find(|(name, _)| name == "PRIMARY");
    primary.into_iter().chain(&def.unique).find_map(|(_, columns)| usable(columns))
}

impl Column {
    fn of(def: &ColumnDef) -> Option<Self> {
        let name = quoted(&def.name);
        let (read, form) = match def.data_type.as_str() {
            // As numbers: ZEROFILL, labels of ENUM and SET and bytes of BIT are matters of spelling.
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "year" | "bit" | "enum" | "set" => {
                (format!("{name}+0"), Form::Number)
            }
            // A FLOAT is printed with fewer digits than it has.
            "float" | "double" => (format!("{name}+0e0"), Form::Double),
            "date" | "datetime" | "time" | "uuid" | "inet4" | "inet6" => {
                (format!("CAST({name} AS CHAR)"), Form::Printed)
            }
            "timestamp" => (format!("UNIX_TIMESTAMP({name})"), Form::Moment),
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => {
                (format!("HEX({name})"), Form::Bytes("binary".into()))
            }
            "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => {
                (format!("HEX({name})"), Form::Bytes(def.charset.as_deref()?.into()))
            }
            "json" => (format!("HEX(CAST({name} AS CHAR CHARACTER SET utf8mb4))"), Form::Bytes("utf8mb4".into())),
            _ => return None,
        };
        Some(Column { name: name.into(), read: read.into(), form })
    }

    /// The same for a column of a key: its values are compared with literals.
    fn to_find_by(def: &ColumnDef) -> Option<Self> {
        let compares = match def.data_type.as_str() {
            "float" | "double" | "timestamp" | "json" => false,
            other => !other.ends_with("text") && !other.ends_with("blob"),
        };
        Column::of(def).filter(|_| compares && !def.nullable)
    }

    /// Appends the literal of a value that `read` gave; `None` where it is not what was asked for.
    pub fn put(&self, cell: Option<&[u8]>, out: &mut String) -> Option<()> {
        let Some(cell) = cell else {
            out.push_str("NULL");
            return Some(());
        };
        let text = std::str::from_utf8(cell).ok().filter(|text| text.bytes().all(is_plain))?;
        let is_zero = || text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        // Writing to a String can't fail.
        let _ = match &self.form {
            Form::Number => write!(out, "{text}"),
            Form::Double if text.contains('e') => write!(out, "{text}"),
            Form::Double => write!(out, "{text}e0"),
            Form::Printed => write!(out, "'{text}'"),
            Form::Moment if is_zero() => write!(out, "'0000-00-00 00:00:00'"),
            Form::Moment => write!(out, "FROM_UNIXTIME({text})"),
            Form::Bytes(charset) => write!(out, "_{charset} X'{text}'"),
        };
        Some(())
    }
}

/// Digits, and what stands between them in numbers and moments.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b':' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(data_type: &str, charset: Option<&str>) -> ColumnDef {
        let charset = charset.map(str::to_owned);
        ColumnDef { name: "c".into(), data_type: data_type.into(), charset, ..ColumnDef::default() }
    }

    fn literal(data_type: &str, cell: &str) -> Option<String> {
        let mut out = String::new();
        Column::of(&column(data_type, Some("latin1")))?.put(Some(cell.as_bytes()), &mut out).map(|()| out)
    }

    #[test]
    fn a_value_is_written_as_it_was_read() {
        for (data_type, cell, written) in [
            ("int", "-5", "-5"),
            ("decimal", "2.50", "2.50"),
            ("float", "1.5", "1.5e0"),
            ("double", "1.5e300", "1.5e300"),
            ("date", "2024-02-29", "'2024-02-29'"),
            ("timestamp", "1700000000.250", "FROM_UNIXTIME(1700000000.250)"),
            ("timestamp", "0.000", "'0000-00-00 00:00:00'"),
            ("varchar", "C3A4", "_latin1 X'C3A4'"),
            ("blob", "", "_binary X''"),
        ] {
            assert_eq!(literal(data_type, cell).as_deref(), Some(written), "{data_type}");
        }
        assert_eq!(literal("date", "x'; DROP"), None);
        assert_eq!(literal("geometry", "00"), None);
    }

    #[test]
    fn rows_are_found_by_a_key_that_is_never_null_and_compares_exactly() {
        let def = |nullable: bool, data_type: &str| TableDef {
            columns: vec![
                ColumnDef { nullable, ..column(data_type, Some("utf8mb4")) },
                ColumnDef { name: "d".into(), ..column("int", None) },
            ],
            unique: vec![("a".into(), vec!["c".into(), "d".into()]), ("PRIMARY".into(), vec!["d".into()])],
            bound: Vec::new(),
        };
        assert_eq!(row_key(&def(false, "int")).map(|key| key.len()), Some(1));
        let without = |nullable, data_type| {
            let mut def = def(nullable, data_type);
            def.unique.truncate(1);
            row_key(&def).map(|key| key.len())
        };
        assert_eq!(without(false, "varchar"), Some(2));
        assert_eq!(without(true, "varchar"), None);
        assert_eq!(without(false, "float"), None);
    }
}
