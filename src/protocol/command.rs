//! The command byte that opens each exchange.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase.html>

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Command {
    Sleep = 0,
    Quit = 1,
    InitDb = 2,
    Query = 3,
    FieldList = 4,
    CreateDb = 5,
    DropDb = 6,
    Refresh = 7,
    Shutdown = 8,
    Statistics = 9,
    ProcessInfo = 10,
    Connect = 11,
    ProcessKill = 12,
    Debug = 13,
    Ping = 14,
    Time = 15,
    DelayedInsert = 16,
    ChangeUser = 17,
    BinlogDump = 18,
    TableDump = 19,
    ConnectOut = 20,
    RegisterSlave = 21,
    StmtPrepare = 22,
    StmtExecute = 23,
    StmtSendLongData = 24,
    StmtClose = 25,
    StmtReset = 26,
    SetOption = 27,
    StmtFetch = 28,
    Daemon = 29,
    BinlogDumpGtid = 30,
    ResetConnection = 31,
    Clone = 32,
    /// MariaDB's array binding.
    StmtBulkExecute = 250,
}

impl Command {
    const ALL: [Command; 34] = [
        Command::Sleep,
        Command::Quit,
        Command::InitDb,
        Command::Query,
        Command::FieldList,
        Command::CreateDb,
        Command::DropDb,
        Command::Refresh,
        Command::Shutdown,
        Command::Statistics,
        Command::ProcessInfo,
        Command::Connect,
        Command::ProcessKill,
        Command::Debug,
        Command::Ping,
        Command::Time,
        Command::DelayedInsert,
        Command::ChangeUser,
        Command::BinlogDump,
        Command::TableDump,
        Command::ConnectOut,
        Command::RegisterSlave,
        Command::StmtPrepare,
        Command::StmtExecute,
        Command::StmtSendLongData,
        Command::StmtClose,
        Command::StmtReset,
        Command::SetOption,
        Command::StmtFetch,
        Command::Daemon,
        Command::BinlogDumpGtid,
        Command::ResetConnection,
        Command::Clone,
        Command::StmtBulkExecute,
    ];

    pub fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0..=32 => Some(Command::ALL[usize::from(byte)]),
            250 => Some(Command::StmtBulkExecute),
            33..=249 | 251..=255 => None,
        }
    }

    pub const fn byte(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_found_by_its_byte() {
        for command in Command::ALL {
            assert_eq!(Command::from_byte(command.byte()), Some(command));
        }
        assert_eq!((0..=255).filter_map(Command::from_byte).count(), Command::ALL.len());
    }
}
