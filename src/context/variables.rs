//! One table: what Bifold does with a session variable that a client sets. A name that is not
//! here is followed: set on a server's connection, read back, and brought over to the next one.

/// What is done with a session variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Part of the session's [`State`](super::State).
    Follow,
    /// Followed, but reads back as something else where it has its default: set to DEFAULT or 0
    /// it leaves the state.
    FollowUnlessZero,
    /// autocommit: setting it may end a transaction.
    Autocommit,
    /// transaction_isolation and transaction_read_only: with `@@` and no scope they are meant for
    /// the next transaction only.
    Characteristic,
    /// A value that the proxy itself keeps: LAST_INSERT_ID().
    LastInsertId,
    /// Followed where the value is one of these words or numbers (DEFAULT is), else refused.
    Only(&'static [&'static str], &'static str),
    /// Refused: it would reach past the session, or past what Bifold can keep true.
    Refuse(&'static str),
    /// Refused as a server refuses it to an account without rights on the whole server.
    Privileged,
}

/// What is done with the session variable of this lower-case name.
pub fn treatment(name: &str) -> Treatment {
    match name.split_once('_') {
        Some(("debug" | "wsrep" | "rpl" | "slave" | "replica" | "server" | "gtid", _)) if !FOLLOWED.contains(&name) => {
            Treatment::Privileged
        }
        _ => TABLE.iter().find(|(known, _)| *known == name).map_or(Treatment::Follow, |(_, treatment)| *treatment),
    }
}

/// What of the privileged families concerns the session alone.
const FOLLOWED: &[&str] = &["wsrep_sync_wait", "wsrep_retry_autocommit"];

const IDENTITY: Treatment =
    Treatment::Refuse("it belongs to the server's own connection, which sessions of Bifold share");
const IDS: Treatment = Treatment::Refuse("ids come from Bifold; give the id in the INSERT instead");
const DATABASE: Treatment = Treatment::Refuse("it follows the default schema; change it with USE");
const RANDOM: Treatment =
    Treatment::Refuse("the next statement may run on another server; give RAND() its seed as an argument instead");
const PROFILING: Treatment =
    Treatment::Only(&["0", "off", "false"], "profiles stay with one server's connection; use EXPLAIN ANALYZE instead");

const TABLE: &[(&str, Treatment)] = &[
    ("autocommit", Treatment::Autocommit),
    ("transaction_isolation", Treatment::Characteristic),
    ("tx_isolation", Treatment::Characteristic),
    ("transaction_read_only", Treatment::Characteristic),
    ("tx_read_only", Treatment::Characteristic),
    ("last_insert_id", Treatment::LastInsertId),
    ("identity", Treatment::LastInsertId),
    ("timestamp", Treatment::FollowUnlessZero),
    ("insert_id", IDS),
    ("auto_increment_increment", IDS),
    ("auto_increment_offset", IDS),
    ("character_set_database", DATABASE),
    ("collation_database", DATABASE),
    ("rand_seed1", RANDOM),
    ("rand_seed2", RANDOM),
    ("profiling", PROFILING),
    (
        "sql_auto_is_null",
        Treatment::Only(
            &["0", "off", "false"],
            "`WHERE id IS NULL` can't mean the last inserted id; use LAST_INSERT_ID() instead",
        ),
    ),
    (
        "completion_type",
        Treatment::Only(&["0", "no_chain"], "write COMMIT AND CHAIN or COMMIT RELEASE where it is meant"),
    ),
    ("resultset_metadata", Treatment::Only(&["full"], "Bifold needs the column definitions of results")),
    ("pseudo_thread_id", IDENTITY),
    ("pseudo_slave_mode", IDENTITY),
    ("pseudo_replica_mode", IDENTITY),
    ("sql_log_bin", Treatment::Privileged),
    ("sql_log_off", Treatment::Privileged),
    ("binlog_format", Treatment::Privileged),
    ("binlog_row_image", Treatment::Privileged),
    ("binlog_row_metadata", Treatment::Privileged),
    ("binlog_row_value_options", Treatment::Privileged),
    ("binlog_rows_query_log_events", Treatment::Privileged),
    ("binlog_annotate_row_events", Treatment::Privileged),
    ("binlog_direct_non_transactional_updates", Treatment::Privileged),
    ("binlog_ddl_skip_rewrite", Treatment::Privileged),
    ("binlog_alter_two_phase", Treatment::Privileged),
    ("dbug", Treatment::Privileged),
    ("debug", Treatment::Privileged),
    ("default_collation_for_utf8mb4", Treatment::Privileged),
    ("immediate_server_version", Treatment::Privileged),
    ("original_server_version", Treatment::Privileged),
    ("original_commit_timestamp", Treatment::Privileged),
    ("require_row_format", Treatment::Privileged),
    ("skip_parallel_replication", Treatment::Privileged),
    ("skip_replication", Treatment::Privileged),
    ("xa_detach_on_prepare", Treatment::Privileged),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_past_the_session_is_not_followed() {
        for name in ["gtid_next", "sql_log_bin", "wsrep_on", "debug_sync", "server_id"] {
            assert_eq!(treatment(name), Treatment::Privileged, "{name}");
        }
        for name in ["sql_mode", "time_zone", "wsrep_sync_wait", "foreign_key_checks", "no_such_variable"] {
            assert_eq!(treatment(name), Treatment::Follow, "{name}");
        }
        assert!(matches!(treatment("insert_id"), Treatment::Refuse(_)));
    }
}
