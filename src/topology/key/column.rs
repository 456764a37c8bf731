//! A column's definition → its key type, or the sentence that says why it can't be a sharding key.

use super::{Characters, Integer, KeyType};
use crate::topology::charset::Charset;
use crate::topology::collation::Collation;

/// What information_schema.COLUMNS says of a column; MariaDB and MySQL spell the same types differently.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'a> {
    /// `varchar`
    pub data_type: &'a str,
    /// `varchar(20)`, `int(10) unsigned zerofill`, on newer MySQL `int unsigned`
    pub column_type: &'a str,
    /// CHARACTER_MAXIMUM_LENGTH: characters, of binary types bytes.
    pub length: Option<u64>,
    pub charset: Option<&'a str>,
    pub collation: Option<&'a str>,
}

impl KeyType {
    /// An error is a sentence for whoever declared the table.
    pub fn from_column(column: &Definition<'_>) -> Result<KeyType, String> {
        let data_type = column.data_type.to_ascii_lowercase();
        let column_type = column.column_type.to_ascii_lowercase();
        let integer = |bits| {
            let has = |word: &str| column_type.split_ascii_whitespace().any(|part| part == word);
            let zerofill = has("zerofill");
            Ok(KeyType::Integer(Integer { bits, unsigned: has("unsigned") || zerofill, zerofill }))
        };
        match data_type.as_str() {
            "tinyint" => integer(8),
            "smallint" => integer(16),
            "mediumint" => integer(24),
            "int" => integer(32),
            "bigint" => integer(64),
            "date" => Ok(KeyType::Date),
            "binary" => Ok(KeyType::Bytes { fixed: true, length: length(column)? }),
            "varbinary" => Ok(KeyType::Bytes { fixed: false, length: length(column)? }),
            "char" => characters(true, column),
            "varchar" => characters(false, column),
            other => {
                Err(format!("a column of type {} can't be a sharding key: {}", column.column_type, instead(other)))
            }
        }
    }
}

fn characters(fixed: bool, column: &Definition<'_>) -> Result<KeyType, String> {
    let length = length(column)?;
    let charset = column.charset.unwrap_or_default();
    let charset = Charset::named(charset).ok_or_else(|| {
        format!("a key of character set {charset} can't be routed: make the column utf8mb4, utf8mb3, latin1 or ascii")
    })?;
    let name = column.collation.unwrap_or_default();
    let collation = Collation::named(name).ok_or_else(|| {
        format!(
            "a key of collation {name} can't be routed, since equal values may have different weights: \
             take a `_bin` collation, or one like utf8mb4_general_ci"
        )
    })?;
    Ok(KeyType::Characters(Characters { fixed, length, charset, collation }))
}

fn length(column: &Definition<'_>) -> Result<u32, String> {
    let length = column.length.and_then(|length| u32::try_from(length).ok());
    length.ok_or_else(|| format!("the length of a {} key is not known", column.data_type))
}

fn instead(data_type: &str) -> &'static str {
    match data_type {
        "decimal" | "float" | "double" => "take BIGINT, or VARCHAR for numbers that are names",
        "datetime" | "timestamp" | "time" | "year" => {
            "its text depends on time zone or precision; take DATE, or BIGINT for moments"
        }
        "tinytext" | "text" | "mediumtext" | "longtext" => "take VARCHAR",
        "tinyblob" | "blob" | "mediumblob" | "longblob" => "take VARBINARY",
        "enum" | "set" => "its numbers change with ALTER; take VARCHAR or an integer",
        "bit" => "take BIGINT UNSIGNED",
        "uuid" | "inet4" | "inet6" => "take BINARY, or VARCHAR with an ascii collation",
        _ => "keys are integers, DATE, BINARY, VARBINARY, CHAR and VARCHAR",
    }
}
