//! The errors by which a server tells an account with rights on its own schemas only that
//! something is not for it; numbers, states and words as the server of the flavour has them.

use crate::error::{Error, code};
use crate::sql::Flavour;

use super::Asker;

/// `(at least one of) the … privilege(s)`
pub fn privilege(names: &str) -> Error {
    Error::client(
        code::SPECIFIC_ACCESS_DENIED,
        format!("Access denied; you need (at least one of) the {names} privilege(s) for this operation"),
    )
}

/// The privilege's name in the words of either server.
pub fn privilege_of(asker: &Asker<'_>, mysql: &str, mariadb: &str) -> Error {
    privilege(match asker.flavour {
        Flavour::MySql => mysql,
        Flavour::MariaDb => mariadb,
    })
}

/// A whole schema: USE, SHOW … FROM, CREATE DATABASE, LOCK TABLES.
pub fn schema(asker: &Asker<'_>, schema: &str) -> Error {
    Error::client(
        code::DB_ACCESS_DENIED,
        format!("Access denied for user '{}'@'%' to database '{schema}'", asker.scene.user),
    )
}

/// A whole schema, in the words of SHOW CREATE DATABASE, which name the client and not the account.
pub fn schema_to_client(asker: &Asker<'_>, schema: &str) -> Error {
    Error::client(
        code::DB_ACCESS_DENIED,
        format!("Access denied for user '{}'@'{}' to database '{schema}'", asker.scene.user, asker.scene.host),
    )
}

/// A table of another schema; `command` is what the server calls the right (SELECT, `INSERT, CREATE`).
pub fn table(asker: &Asker<'_>, command: &str, schema: &str, table: &str) -> Error {
    let table = match asker.flavour {
        Flavour::MySql => format!("'{table}'"),
        Flavour::MariaDb => format!("`{schema}`.`{table}`"),
    };
    Error::client(
        (1142, b"42000"),
        format!("{command} command denied to user '{}'@'{}' for table {table}", asker.scene.user, asker.scene.host),
    )
}

/// A procedure or function of another schema.
pub fn routine(asker: &Asker<'_>, schema: &str, name: &str) -> Error {
    Error::client(
        (1370, b"42000"),
        format!("execute command denied to user '{}'@'%' for routine '{schema}.{name}'", asker.scene.user),
    )
}

/// What only an account with the right on all schemas may do: LOAD DATA INFILE, GRANT ON *.*.
pub fn account(asker: &Asker<'_>) -> Error {
    Error::client(
        code::ACCESS_DENIED,
        format!("Access denied for user '{}'@'%' (using password: YES)", asker.scene.user),
    )
}

pub fn no_such_table(schema: &str, table: &str) -> Error {
    Error::client(code::NO_SUCH_TABLE, format!("Table '{schema}.{table}' doesn't exist"))
}

pub fn no_schema() -> Error {
    Error::client(code::NO_DB, "No database selected")
}

pub fn unknown_schema(schema: &str) -> Error {
    Error::client(code::BAD_DB, format!("Unknown database '{schema}'"))
}
