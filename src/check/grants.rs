//! The backend account's rights: enough for the shards' databases, and nothing beside. All
//! users of the proxy share it, so what it may do is what a mistake or a hole could do.

use super::Subject;
use super::probe::Probe;
use super::report::Report;
use crate::config::Transactions;
use crate::topology::ServerNo;
use crate::transaction;

/// What the account needs on each shard's database.
const NEEDED: [&str; 15] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
    "EXECUTE",
    "CREATE VIEW",
    "SHOW VIEW",
    "TRIGGER",
];

/// With these a connection of Bifold's passes the fences that protect rows while the topology
/// changes.
const FENCES: [&str; 6] =
    ["SUPER", "CONNECTION_ADMIN", "CONNECTION ADMIN", "READ_ONLY ADMIN", "READ ONLY ADMIN", "SYSTEM_VARIABLES_ADMIN"];

/// What no application needs.
const TOO_WIDE: [&str; 11] = [
    "FILE",
    "SHUTDOWN",
    "CREATE USER",
    "GRANT OPTION",
    "RELOAD",
    "PROCESS",
    "SYSTEM_USER",
    "ROLE_ADMIN",
    "SET USER",
    "SET_USER_ID",
    "BINLOG ADMIN",
];

pub(super) fn check(subject: &Subject<'_>, probe: &Probe, report: &mut Report<'_>) {
    let grants: Vec<Grant> = probe.grants.iter().filter_map(|line| Grant::parse(line)).collect();
    too_wide(subject, probe, &grants, report);
    // What a role brings is not in the list.
    let has_role = probe.grants.len() > grants.len();
    if !has_role {
        too_narrow(subject, probe, &grants, report);
        for_transactions(subject, probe, &grants, report);
    }
}

/// The statements that make the account on a server; `is_mariadb` where that is known.
pub(super) fn needed(subject: &Subject<'_>, server: ServerNo, is_mariadb: Option<bool>) -> Vec<String> {
    let user = &subject.config.backend.user;
    let mut statements = vec![format!("CREATE USER '{user}'@'%' IDENTIFIED BY '…';")];
    for schema in subject.topology.schemas() {
        statements.extend(schema.shards_on(server).map(|shard| for_database(user, &shard.database)));
    }
    if spans_servers(subject) {
        statements.extend(transaction::grants(user, is_mariadb.unwrap_or(false)));
        if is_mariadb.is_none() {
            statements.push("(The last one on MySQL only.)".to_owned());
        }
    }
    statements
}

/// The GRANT that the account needs on one database.
pub(super) fn for_database(user: &str, database: &str) -> String {
    // `_` and `%` are patterns in a GRANT.
    let pattern = database.replace('_', "\\_").replace('%', "\\%");
    format!("GRANT {} ON `{pattern}`.* TO '{user}'@'%';", NEEDED.join(", "))
}

fn too_wide(subject: &Subject<'_>, probe: &Probe, grants: &[Grant], report: &mut Report<'_>) {
    let everywhere = || grants.iter().filter(|grant| grant.database == "*").flat_map(|grant| &grant.rights);
    let key = ["backend", "user"];
    let user = &subject.config.backend.user;
    let held = |list: &[&str]| everywhere().filter(|right| list.contains(&right.as_str())).cloned().collect::<Vec<_>>();
    let remedy = || {
        format!(
            "name as backend.user an account with nothing but: {}",
            needed(subject, probe.no, Some(probe.is_mariadb()))[1..].join(" ")
        )
    };

    if everywhere().any(|right| right == "ALL PRIVILEGES") || !held(&FENCES).is_empty() {
        let rights = match held(&FENCES) {
            rights if rights.is_empty() => "ALL PRIVILEGES ON *.*".to_owned(),
            rights => rights.join(", "),
        };
        report.mistake(
            &key,
            format!(
                "`{user}` has {rights} on server {}: it could write where a fence says that nobody does, and see every \
                 database there",
                probe.name
            ),
            remedy(),
        );
        return;
    }
    let mut wide = held(&TOO_WIDE);
    if grants.iter().any(|grant| grant.with_grant_option) {
        wide.push("GRANT OPTION".to_owned());
    }
    let data = held(&["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER"]);
    wide.extend(data.into_iter().map(|right| format!("{right} ON *.*")));
    let accounts = grants.iter().filter(|grant| grant.database != "*" && grant.covers("mysql"));
    wide.extend(accounts.flat_map(|grant| &grant.rights).map(|right| format!("{right} ON mysql.*")));
    wide.dedup();
    if !wide.is_empty() {
        report.warning(
            &key,
            format!("`{user}` has more rights than it needs on server {}: {}", probe.name, wide.join(", ")),
            remedy(),
        );
    }
}

fn too_narrow(subject: &Subject<'_>, probe: &Probe, grants: &[Grant], report: &mut Report<'_>) {
    let user = &subject.config.backend.user;
    for schema in subject.topology.schemas() {
        for shard in schema.shards_on(probe.no) {
            // A database that is not there is told by itself.
            if !probe.databases.contains_key(&shard.database) {
                continue;
            }
            let has = |right: &str| {
                grants.iter().any(|grant| {
                    grant.covers(&shard.database)
                        && grant.rights.iter().any(|held| held == right || held == "ALL PRIVILEGES")
                })
            };
            let missing: Vec<&str> = NEEDED.into_iter().filter(|right| !has(right)).collect();
            if missing.is_empty() {
                continue;
            }
            let what = format!("`{user}` lacks {} on {}/{}", missing.join(", "), probe.name, shard.database);
            let remedy = for_database(user, &shard.database);
            let rows = ["SELECT", "INSERT", "UPDATE", "DELETE"];
            match missing.iter().any(|right| rows.contains(right)) {
                true => report.mistake(&["backend", "user"], what, remedy),
                false => report.warning(&["backend", "user"], format!("{what}: some statements will fail"), remedy),
            }
        }
    }
}

/// Commits over several servers need Bifold's own database on each of them.
fn for_transactions(subject: &Subject<'_>, probe: &Probe, grants: &[Grant], report: &mut Report<'_>) {
    if !spans_servers(subject) {
        return;
    }
    let user = &subject.config.backend.user;
    let has = |right: &str, within: &dyn Fn(&Grant) -> bool| {
        let holds = |held: &String| held == right || held == "ALL PRIVILEGES";
        grants.iter().any(|grant| within(grant) && grant.rights.iter().any(holds))
    };
    let in_database = |grant: &Grant| grant.covers(transaction::DATABASE);
    let mut missing: Vec<&str> = transaction::RIGHTS.into_iter().filter(|right| !has(right, &in_database)).collect();
    if !probe.is_mariadb() && !has(transaction::RECOVER_RIGHT, &|grant| grant.database == "*") {
        missing.push(transaction::RECOVER_RIGHT);
    }
    if !missing.is_empty() {
        report.warning(
            &["backend", "user"],
            format!(
                "`{user}` lacks {} for transactions over several servers on {}: they will be refused",
                missing.join(", "),
                probe.name
            ),
            format!(
                "{} Or write cluster.transactions = \"single\"",
                transaction::grants(user, probe.is_mariadb()).join(" ")
            ),
        );
    }
}

fn spans_servers(subject: &Subject<'_>) -> bool {
    subject.config.transactions == Transactions::Atomic && subject.config.servers.len() > 1
}

/// A line of SHOW GRANTS about privileges.
#[derive(Debug, PartialEq, Eq)]
struct Grant {
    rights: Vec<String>,
    /// `*`, or a pattern of LIKE.
    database: String,
    whole_database: bool,
    with_grant_option: bool,
}

impl Grant {
    /// ``GRANT SELECT, INSERT (`a`) ON `mall\_0`.* TO `bifold`@`%` ``; `None` for roles and proxies.
    fn parse(line: &str) -> Option<Grant> {
        let (rights, rest) = line.strip_prefix("GRANT ")?.split_once(" ON ")?;
        let (on, rest) = rest.split_once(" TO ")?;
        let (database, table) = on.rsplit_once('.')?;
        Some(Grant {
            rights: rights.split(", ").map(|right| right.trim().to_ascii_uppercase()).collect(),
            database: database.trim_matches('`').replace("``", "`"),
            whole_database: table == "*",
            with_grant_option: rest.contains("WITH GRANT OPTION"),
        })
    }

    fn covers(&self, database: &str) -> bool {
        self.whole_database && (self.database == "*" || like(&self.database, database))
    }
}

/// LIKE with `\` as escape.
fn like(pattern: &str, text: &str) -> bool {
    fn matches(pattern: &[char], text: &[char]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            (['%', rest @ ..], _) => (0..=text.len()).any(|at| matches(rest, &text[at..])),
            (['\\', literal, rest @ ..], [first, others @ ..]) => literal == first && matches(rest, others),
            (['_', rest @ ..], [_, others @ ..]) => matches(rest, others),
            ([literal, rest @ ..], [first, others @ ..]) => literal == first && matches(rest, others),
            (_, []) | ([], _) => false,
        }
    }
    matches(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_covers_what_its_pattern_matches() {
        let grant = Grant::parse("GRANT SELECT, CREATE TEMPORARY TABLES ON `mall\\_0`.* TO `b`@`%`").unwrap();
        assert_eq!(grant.rights, ["SELECT", "CREATE TEMPORARY TABLES"]);
        assert!(grant.covers("mall_0") && !grant.covers("mallx0") && !grant.covers("mall_01"));
        assert!(Grant::parse("GRANT ALL PRIVILEGES ON *.* TO `b`@`%` WITH GRANT OPTION").unwrap().covers("x"));
        assert!(Grant::parse("GRANT SELECT ON `mall%`.* TO `b`@`%`").unwrap().covers("mall_3"));
        assert!(!Grant::parse("GRANT SELECT ON `mall`.`t` TO `b`@`%`").unwrap().covers("mall"));
        assert_eq!(Grant::parse("GRANT `role`@`%` TO `b`@`%`"), None);
    }
}
