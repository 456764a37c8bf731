//! One table: what Bifold does with a session variable that a client sets. A name that is not
//! here is followed: set on a server's connection, read back, and brought over to the next one.

/// What is done with a session variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Part of the session's [`State`](super::State).
    Follow,
    /// A value that the proxy itself keeps: LAST_INSERT_ID().
    LastInsertId,
    /// Refused: it would reach past the session, or past what Bifold can keep true.
    Refuse(&'static str),
}

/// What is done with the session variable of this lower-case name.
pub fn treatment(name: &str) -> Treatment {
    TABLE.iter().find(|(known, _)| *known == name).map_or(Treatment::Follow, |(_, treatment)| *treatment)
}

const BINLOG: Treatment =
    Treatment::Refuse("it changes what the servers write to their binary logs; ask a DBA to set it on the servers");
const IDENTITY: Treatment =
    Treatment::Refuse("it belongs to the server's own connection, which sessions of Bifold share");
const IDS: Treatment = Treatment::Refuse("ids come from Bifold; give the id in the INSERT instead");

const TABLE: &[(&str, Treatment)] = &[
    ("last_insert_id", Treatment::LastInsertId),
    ("identity", Treatment::LastInsertId),
    ("insert_id", IDS),
    ("auto_increment_increment", IDS),
    ("auto_increment_offset", IDS),
    ("sql_log_bin", BINLOG),
    ("binlog_format", BINLOG),
    ("binlog_row_image", BINLOG),
    ("binlog_rows_query_log_events", BINLOG),
    ("binlog_direct_non_transactional_updates", BINLOG),
    ("gtid_next", BINLOG),
    ("gtid_domain_id", BINLOG),
    ("gtid_seq_no", BINLOG),
    ("server_id", BINLOG),
    ("skip_replication", BINLOG),
    ("pseudo_thread_id", IDENTITY),
    ("pseudo_slave_mode", IDENTITY),
    ("pseudo_replica_mode", IDENTITY),
];
