//! Commands that a server keeps for others or does not know: each gets the server's own error.

use crate::error::{Error, code};
use crate::protocol::Command;
use crate::sql::Flavour;

/// What a server of this flavour says to an account without rights on the whole server.
pub(super) fn refusal(command: Command, user: &str, flavour: Flavour) -> Error {
    let privilege = match (command, flavour) {
        (Command::Debug, _) => "SUPER",
        (Command::BinlogDump, _) => "REPLICATION SLAVE",
        (Command::RegisterSlave, _) => {
            let text = format!("Access denied for user '{user}'@'%' (using password: YES)");
            return Error::client(code::ACCESS_DENIED, text);
        }
        (Command::BinlogDumpGtid, Flavour::MySql) => "REPLICATION SLAVE",
        (Command::Clone, Flavour::MySql) => "BACKUP_ADMIN",
        (Command::Refresh, Flavour::MariaDb) => "RELOAD",
        (Command::Shutdown, Flavour::MariaDb) => "SHUTDOWN",
        (_, _) => return unknown(),
    };
    let text = format!("Access denied; you need (at least one of) the {privilege} privilege(s) for this operation");
    Error::client(code::SPECIFIC_ACCESS_DENIED, text)
}

/// What a server says to a command that it doesn't know, and Bifold to one that it doesn't offer.
pub(super) fn unknown() -> Error {
    Error::client(code::UNKNOWN_COM, "Unknown command")
}
