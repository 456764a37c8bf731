//! What has to be the same everywhere, or answers depend on where a row lives: the servers'
//! flavour and settings, and the shards' default character set.

use std::collections::BTreeMap;

use super::Subject;
use super::probe::Probe;
use super::report::Report;
use crate::topology::Schema;

/// Variables whose values change what a statement means, or what a new table is.
const SAME_EVERYWHERE: [&str; 10] = [
    "sql_mode",
    "time_zone",
    "system_time_zone",
    "collation_server",
    "lower_case_table_names",
    "default_storage_engine",
    "explicit_defaults_for_timestamp",
    "innodb_strict_mode",
    "div_precision_increment",
    "group_concat_max_len",
];

/// What is taken only where another variable says so.
const SYSTEM: &str = "SYSTEM";

pub(super) fn check(subject: &Subject<'_>, probes: &[Probe], report: &mut Report<'_>) {
    versions(probes, report);
    variables(probes, report);
    time_zones(probes, report);
    for schema in subject.topology.schemas() {
        databases(schema, subject, probes, report);
    }
}

fn versions(probes: &[Probe], report: &mut Report<'_>) {
    let flavour = |probe: &Probe| if probe.is_mariadb() { "MariaDB" } else { "MySQL" }.to_owned();
    if let Some(said) = differing(probes, flavour) {
        report.mistake(
            &["server"],
            format!("MySQL and MariaDB side by side ({said}): they sort, hash and convert differently"),
            "use one kind of server",
        );
        return;
    }
    let release = |probe: &Probe| probe.variable("version").splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    if let Some(said) = differing(probes, release) {
        report.warning(
            &["server"],
            format!("the servers have different versions ({said})"),
            "bring them to one version, or keep to what all of them know",
        );
    }
}

fn variables(probes: &[Probe], report: &mut Report<'_>) {
    for name in SAME_EVERYWHERE {
        let value = |probe: &Probe| probe.variable(name).to_owned();
        let asked: Vec<&Probe> = match name {
            // It matters only where the time zone is taken from it.
            "system_time_zone" => probes.iter().filter(|probe| probe.variable("time_zone") == SYSTEM).collect(),
            _ => probes.iter().collect(),
        };
        if let Some(said) = differing(asked, value) {
            report.warning(
                &["server"],
                format!("the servers differ in {name} ({said}): a session that does not set it gets either"),
                format!("set {name} to one value on all servers"),
            );
        }
    }
}

fn time_zones(probes: &[Probe], report: &mut Report<'_>) {
    let loaded = |probe: &Probe| if probe.time_zones { "loaded" } else { "not loaded" }.to_owned();
    if let Some(said) = differing(probes, loaded) {
        report.warning(
            &["server"],
            format!("named time zones: {said}"),
            "load them with mysql_tzinfo_to_sql where they are missing",
        );
    }
}

fn databases(schema: &Schema, subject: &Subject<'_>, probes: &[Probe], report: &mut Report<'_>) {
    let key = ["schema", schema.name.as_str(), "shards"];
    let mut defaults: BTreeMap<&(String, String), Vec<String>> = BTreeMap::new();
    for shard in schema.shards() {
        let Some(probe) = probes.iter().find(|probe| probe.no == shard.server) else { continue };
        let named = format!("{}/{}", probe.name, shard.database);
        match probe.databases.get(&shard.database) {
            Some(default) => defaults.entry(default).or_default().push(named),
            None => report.mistake(
                &key,
                format!(
                    "shard {named}: there is no such database, or `{}` may not see it",
                    subject.config.backend.user
                ),
                format!(
                    "on server {}: CREATE DATABASE `{}`; {}",
                    probe.name,
                    shard.database,
                    super::grants::for_database(&subject.config.backend.user, &shard.database)
                ),
            ),
        }
    }
    if defaults.len() > 1 {
        let said: Vec<String> =
            defaults.iter().map(|((_, collation), shards)| format!("{collation} on {}", named_some(shards))).collect();
        report.warning(
            &key,
            format!("the databases have different default collations ({})", said.join(", ")),
            "ALTER DATABASE … COLLATE to one of them, or new tables will differ",
        );
    }
}

/// The first few, and how many more.
pub(super) fn named_some(names: &[String]) -> String {
    const SHOWN: usize = 4;
    match names.len() {
        0..=SHOWN => names.join(", "),
        more => format!("{} and {} more", names[..SHOWN].join(", "), more - SHOWN),
    }
}

/// `A on s0, B on s1`, if the probes do not all say the same.
fn differing<'a>(probes: impl IntoIterator<Item = &'a Probe>, said: impl Fn(&Probe) -> String) -> Option<String> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for probe in probes {
        values.entry(said(probe)).or_default().push(probe.name.clone());
    }
    let spoken = |value: &str| if value.is_empty() { "''".to_owned() } else { value.to_owned() };
    let parts: Vec<String> =
        values.iter().map(|(value, names)| format!("{} on {}", spoken(value), named_some(names))).collect();
    (parts.len() > 1).then(|| parts.join(", "))
}
