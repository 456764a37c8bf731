//! SHOW: what may be asked.

use super::{Asker, denied, not_yet};
use crate::error::Result;
use crate::sql::ast::{Show, ShowKind};

pub(super) fn check(show: &Show, asker: &Asker<'_>) -> Result<()> {
    match show.kind {
        ShowKind::Databases
        | ShowKind::Tables
        | ShowKind::TableStatus
        | ShowKind::Columns
        | ShowKind::Index
        | ShowKind::CreateTable
        | ShowKind::CreateView
        | ShowKind::CreateDatabase
        | ShowKind::Triggers
        | ShowKind::Variables
        | ShowKind::Status
        | ShowKind::Warnings
        | ShowKind::Errors
        | ShowKind::CountWarnings
        | ShowKind::CountErrors
        | ShowKind::Engines
        | ShowKind::Collation
        | ShowKind::CharacterSet
        | ShowKind::Grants
        | ShowKind::Processlist
        | ShowKind::Plugins
        | ShowKind::Privileges => Ok(()),
        ShowKind::OpenTables => Err(not_yet("SHOW OPEN TABLES", "ask the servers")),
        ShowKind::CreateRoutine | ShowKind::Events | ShowKind::RoutineStatus | ShowKind::RoutineCode => {
            Err(not_yet("SHOW of routines, triggers and events", "they live on the home shard; ask a DBA"))
        }
        ShowKind::Profile | ShowKind::Profiles => {
            Err(not_yet("SHOW PROFILE", "profiles stay with one server's connection; use EXPLAIN ANALYZE"))
        }
        ShowKind::CreateUser => Err(denied::schema(asker, "mysql")),
        ShowKind::Engine => Err(denied::privilege("PROCESS")),
        ShowKind::Replication => Err(denied::privilege_of(asker, "SUPER, REPLICATION CLIENT", "SUPER, BINLOG MONITOR")),
        ShowKind::Other => Err(not_yet("this SHOW", "ask the servers")),
    }
}
