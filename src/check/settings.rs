//! One server's settings against what the topology asks of it: the table cache, connections,
//! prepared statements, packet size, what a crash may lose.

use super::Subject;
use super::probe::Probe;
use super::report::Report;

pub(super) fn check(subject: &Subject<'_>, probe: &Probe, report: &mut Report<'_>) {
    table_cache(subject, probe, report);
    connections(subject, probe, report);
    prepared_statements(subject, probe, report);
    packets(subject, probe, report);
    durability(probe, report);
    letter_case(probe, report);
    read_only(probe, report);
    clock(probe, report);
}

/// Tables that one connection may come to visit on this server.
fn tables_on(subject: &Subject<'_>, probe: &Probe) -> u64 {
    let per_schema = subject.topology.schemas().map(|schema| {
        let shards = u64::try_from(schema.shards_on(probe.no).count()).unwrap_or(u64::MAX);
        let tables: u64 = schema.rules().map(|rule| rule.sharded().map_or(1, |sharded| sharded.subtables.into())).sum();
        shards * tables
    });
    per_schema.sum()
}

fn table_cache(subject: &Subject<'_>, probe: &Probe, report: &mut Report<'_>) {
    let tables = tables_on(subject, probe);
    let Some(cache) = probe.number("table_open_cache") else { return };
    // MySQL splits the cache over its instances, and a connection uses one of them; MariaDB's
    // instances share.
    let instances = if probe.is_mariadb() { 1 } else { probe.number("table_open_cache_instances").unwrap_or(1).max(1) };
    if cache / instances < tables {
        let (each, set) = match instances {
            1 => (String::new(), format!("table_open_cache = {tables}")),
            _ => (
                format!(" in each of its {instances} instances, of which a connection uses one"),
                format!("table_open_cache = {}, or fewer table_open_cache_instances", tables * instances),
            ),
        };
        report.warning(
            &["server", &probe.no.0.to_string()],
            format!(
                "server {} keeps {} tables open{each}, and its shards hold {tables}: statements over all subtables will \
                 open and close tables all the time",
                probe.name,
                cache / instances,
            ),
            format!("set {set}, with open_files_limit to match"),
        );
    }
    if probe.number("table_definition_cache").is_some_and(|definitions| definitions < tables) {
        report.warning(
            &["server", &probe.no.0.to_string()],
            format!(
                "server {} caches {} table definitions, and its shards hold {tables} tables",
                probe.name,
                probe.variable("table_definition_cache")
            ),
            format!("set table_definition_cache = {tables} or more"),
        );
    }
}

fn connections(subject: &Subject<'_>, probe: &Probe, report: &mut Report<'_>) {
    let pool = u64::from(subject.config.backend.connections);
    let key = ["backend", "connections"];
    let limits = ["max_connections", "max_user_connections"];
    for (name, limit) in limits.iter().filter_map(|name| Some((name, probe.number(name)?))).filter(|(_, n)| *n > 0) {
        if pool > limit {
            report.mistake(
                &key,
                format!("the pool of {pool} connections does not fit server {}, whose {name} is {limit}", probe.name),
                format!("lower `connections`, or raise {name}"),
            );
        } else if pool * 10 > limit * 8 {
            report.warning(
                &key,
                format!(
                    "the pool may take {pool} of the {limit} connections of server {} ({name}): a second proxy will not \
                     fit beside this one",
                    probe.name
                ),
                format!("raise {name} to the sum of all proxies and some for the DBA"),
            );
        }
    }
}

fn prepared_statements(subject: &Subject<'_>, probe: &Probe, report: &mut Report<'_>) {
    let backend = &subject.config.backend;
    let needed = u64::from(backend.statements);
    if let Some(limit) = probe.number("max_prepared_stmt_count").filter(|limit| *limit < needed) {
        report.warning(
            &["backend", "statements"],
            format!(
                "{needed} prepared statements may be kept open, and server {} allows {limit} (max_prepared_stmt_count)",
                probe.name
            ),
            format!("lower `statements`, or set max_prepared_stmt_count = {needed} for each proxy"),
        );
    }
}

fn packets(subject: &Subject<'_>, probe: &Probe, report: &mut Report<'_>) {
    let ours = u64::try_from(subject.config.limits.max_packet).unwrap_or(u64::MAX);
    if let Some(theirs) = probe.number("max_allowed_packet").filter(|theirs| *theirs < ours) {
        report.warning(
            &["limits", "max_packet"],
            format!(
                "clients may send {ours} bytes, and server {} takes {theirs} (max_allowed_packet): it will close the \
                 connection on a longer statement",
                probe.name
            ),
            "lower `max_packet`, or raise max_allowed_packet",
        );
    }
}

fn durability(probe: &Probe, report: &mut Report<'_>) {
    let mut loose = Vec::new();
    if probe.variable("innodb_flush_log_at_trx_commit") != "1" {
        loose.push(("innodb_flush_log_at_trx_commit", probe.variable("innodb_flush_log_at_trx_commit")));
    }
    if probe.variable("log_bin") == "ON" && probe.variable("sync_binlog") != "1" {
        loose.push(("sync_binlog", probe.variable("sync_binlog")));
    }
    if !loose.is_empty() {
        let settings: Vec<String> = loose.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        report.warning(
            &["server", &probe.no.0.to_string()],
            format!(
                "server {} has {}: a crash of its machine may lose commits of the last second that were acknowledged",
                probe.name,
                settings.join(" and ")
            ),
            format!(
                "set {} = 1 where that matters",
                loose.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" = 1 and ")
            ),
        );
    }
}

fn letter_case(probe: &Probe, report: &mut Report<'_>) {
    if probe.number("lower_case_table_names").is_some_and(|value| value != 0) {
        report.warning(
            &["server", &probe.no.0.to_string()],
            format!(
                "server {} has lower_case_table_names = {}, and Bifold tells table names apart by letter case",
                probe.name,
                probe.variable("lower_case_table_names")
            ),
            "write table names in lower case, in the topology and in statements",
        );
    }
}

fn read_only(probe: &Probe, report: &mut Report<'_>) {
    let read_only = ["read_only", "super_read_only"].into_iter().find(|name| probe.variable(name) == "ON");
    if let Some(name) = read_only {
        report.mistake(
            &["server", &probe.no.0.to_string()],
            format!("server {} has {name} = ON: it takes no writes", probe.name),
            "name the primary as the server's address",
        );
    }
}

fn clock(probe: &Probe, report: &mut Report<'_>) {
    let off = probe.clock_ahead;
    if off.abs() > 1.0 {
        report.warning(
            &["server", &probe.no.0.to_string()],
            format!(
                "the clock of server {} is {:.1} s {} this machine's",
                probe.name,
                off.abs(),
                if off > 0.0 { "ahead of" } else { "behind" }
            ),
            "let NTP set both: NOW() and ids come from different clocks",
        );
    }
}
