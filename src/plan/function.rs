//! What a call of a function means for a plan: whether its value depends on the clock, on chance
//! or on the session, whether it takes a named lock, or is a stored function.

use super::allow::functions::{Function, function};
use crate::error::Result;

/// What decides a function's value, besides its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Nothing else.
    Fixed,
    /// The statement's instant.
    Clock,
    /// Something that differs from server to server or from row to row.
    Chance,
    /// The session; most are spliced.
    Session,
    /// Named locks, which live on the home shard's server.
    Lock,
    /// A stored function.
    Stored,
}

/// Of a function called without a schema, its name in any letter case.
pub(crate) fn nature(name: &[u8]) -> Result<Nature> {
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    let natures = [(CLOCK, Nature::Clock), (CHANCE, Nature::Chance), (SESSION, Nature::Session), (LOCK, Nature::Lock)];
    let known = natures.into_iter().find(|(names, _)| names.binary_search(&upper.as_str()).is_ok());
    match (function(name), known) {
        (Function::Refused(error), _) => Err(error),
        (Function::BuiltIn | Function::Stored, Some((_, nature))) => Ok(nature),
        (Function::BuiltIn, None) => Ok(Nature::Fixed),
        (Function::Stored, None) => Ok(Nature::Stored),
    }
}

/// Makes one value of many rows.
pub(crate) fn is_aggregate(name: &[u8]) -> bool {
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    AGGREGATE.binary_search(&upper.as_str()).is_ok()
}

/// Aggregate functions. Sorted.
#[rustfmt::skip]
const AGGREGATE: &[&str] = &[
    "ANY_VALUE", "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "COUNT", "GROUPING", "GROUP_CONCAT", "JSON_ARRAYAGG",
    "JSON_OBJECTAGG", "MAX", "MEDIAN", "MIN", "PERCENTILE_CONT", "PERCENTILE_DISC", "STD", "STDDEV", "STDDEV_POP",
    "STDDEV_SAMP", "ST_COLLECT", "SUM", "VARIANCE", "VAR_POP", "VAR_SAMP",
];

/// One instant for a whole statement. Sorted.
#[rustfmt::skip]
const CLOCK: &[&str] = &[
    "CURDATE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURTIME", "LOCALTIME", "LOCALTIMESTAMP", "NOW",
    "UNIX_TIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP",
];

/// Another value at each call. Sorted.
#[rustfmt::skip]
const CHANCE: &[&str] = &[
    "LASTVAL", "NEXTVAL", "RAND", "RANDOM_BYTES", "SETVAL", "SLEEP", "SYSDATE", "SYS_GUID", "UUID", "UUID_SHORT",
    "UUID_V4", "UUID_V7",
];

/// Known to the session only. Sorted.
#[rustfmt::skip]
const SESSION: &[&str] = &[
    "CONNECTION_ID", "CURRENT_ROLE", "CURRENT_USER", "DATABASE", "FOUND_ROWS", "ICU_VERSION", "LAST_INSERT_ID",
    "PS_CURRENT_THREAD_ID", "PS_THREAD_ID", "ROLES_GRAPHML", "ROW_COUNT", "SCHEMA", "SESSION_USER", "SYSTEM_USER",
    "USER",
];

/// Named locks. Sorted.
#[rustfmt::skip]
const LOCK: &[&str] = &[
    "GET_LOCK", "IS_FREE_LOCK", "IS_USED_LOCK", "RELEASE_ALL_LOCKS", "RELEASE_LOCK",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_apart() {
        let all = [CLOCK, CHANCE, SESSION, LOCK];
        assert!(all.iter().all(|names| names.is_sorted()) && AGGREGATE.is_sorted());
        let mut names = all.concat();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn letter_case_does_not_matter() {
        assert_eq!(nature(b"now").unwrap(), Nature::Clock);
        assert_eq!(nature(b"Concat").unwrap(), Nature::Fixed);
        assert_eq!(nature(b"my_own").unwrap(), Nature::Stored);
        assert!(nature(b"load_file").is_err());
    }
}
