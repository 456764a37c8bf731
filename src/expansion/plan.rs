//! What an expansion will do, and everything that must be so before: each thing that is not is told
//! with its remedy, all of them at once. Nothing is touched.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::drive::Order;
use super::site::{Desk, Site};
use crate::config::{Backend, Config, Secret, TableKind};
use crate::definition::quoted;
use crate::error::{Error, Result};
use crate::meta::{Gate, Job, Layout, Replica, ServerEntry, Step};
use crate::verify::tables;

/// The administrator's, on all servers and replicas.
#[derive(Clone, Debug)]
pub struct Account {
    pub user: String,
    pub password: Secret,
}

impl Account {
    /// As the backend account logs in, but for the name.
    pub fn backend(&self, config: &Config) -> Backend {
        Backend { user: self.user.clone(), password: self.password.clone(), ..config.backend.clone() }
    }
}

/// The job, as it would begin; or all that stands against it.
pub async fn plan(config: &Config, layout: &Layout, order: &Order) -> Result<Job> {
    let mut against = Vec::new();
    // 1. What the file says
    let after = doubled(config, layout, &order.replicas, &mut against);
    stop_at(&against)?;
    // 2. What the servers say
    let mut new_config = config.clone();
    after.apply(&mut new_config)?;
    let site = Site::new(&new_config, &order.account.backend(config))?;
    for replica in &order.replicas {
        let mut desks = match both(&site, replica).await {
            Ok(desks) => desks,
            Err(error) => {
                against.push(format!("{error}: start it, or give the administrator's account (--admin-user) there"));
                continue;
            }
        };
        pair(config, replica, &mut desks, &mut against).await?;
    }
    stop_at(&against)?;
    schemas(config, &site, &mut against).await?;
    stop_at(&against)?;
    account(&new_config, &order.replicas, &mut against).await;
    stop_at(&against)?;
    Ok(Job {
        worker: String::new(),
        step: Step::Planned,
        replicas: order.replicas.clone(),
        before: layout.clone(),
        after,
        gate: Gate::Open,
        turn: 0,
        note: String::new(),
    })
}

/// The job for people.
pub fn describe(job: &Job) -> String {
    let mut out = String::new();
    for (schema, shards) in &job.after.shards {
        let before = job.before.shards.get(schema).map_or(0, Vec::len);
        let _ = writeln!(out, "schema {schema}: {before} shards become {}", shards.len());
        for (number, shard) in shards.iter().enumerate().skip(before) {
            let _ = writeln!(out, "  shard {number}: {shard}, a copy of shard {}", number - before);
        }
    }
    for replica in &job.replicas {
        let _ = writeln!(
            out,
            "server {} at {}:{}: the replica of {}",
            replica.name, replica.host, replica.port, replica.of
        );
    }
    out
}

fn stop_at(against: &[String]) -> Result<()> {
    match against.is_empty() {
        true => Ok(()),
        false => Err(Error::operator(format!("the databases can't be doubled yet:\n- {}", against.join("\n- ")))),
    }
}

/// Each replica's databases become the shards i + N.
fn doubled(config: &Config, layout: &Layout, replicas: &[Replica], against: &mut Vec<String>) -> Layout {
    if layout.dirty {
        against.push("the last doubling is not cleaned yet: run `bifold expand clean`".to_owned());
    }
    if !layout.has_same_places(&Layout::of(config)) {
        against.push(
            "the topology file has other servers or shards than the layout in force: bring it up to date".to_owned(),
        );
    }
    let mut after = Layout { version: layout.version + 1, dirty: true, ..layout.clone() };
    let known = |name: &str| layout.servers.iter().any(|server| server.name == name);
    let mut names = BTreeSet::new();
    for replica in replicas {
        if !known(&replica.of) {
            against.push(format!("--replica {}=…: there is no server of this name", replica.of));
        }
        if known(&replica.name) || !names.insert(&replica.name) {
            against.push(format!("the name {} is taken: give the replica of {} another", replica.name, replica.of));
        }
        let (host, port) = (replica.host.clone(), replica.port);
        after.servers.push(ServerEntry { name: replica.name.clone(), host, port });
    }
    for (schema, shards) in &mut after.shards {
        if shards.len() > 512 {
            against.push(format!("schema {schema} would have more than 1024 shards"));
        }
        let copies: Vec<String> = shards
            .iter()
            .filter_map(|shard| {
                let (server, database) = shard.split_once('/')?;
                let mut copies = replicas.iter().filter(|replica| replica.of == server);
                match (copies.next(), copies.next()) {
                    (Some(copy), None) => return Some(format!("{}/{database}", copy.name)),
                    (None, _) => against
                        .push(format!("shard {shard} has no replica: name one with --replica {server}=NAME@HOST:PORT")),
                    (Some(_), Some(_)) => against.push(format!("server {server} has two replicas: name one")),
                }
                None
            })
            .collect();
        shards.extend(copies);
    }
    against.sort();
    against.dedup();
    for schema in &config.schemas {
        let doubled = u32::try_from(schema.shards.len() * 2).unwrap_or(u32::MAX);
        for table in &schema.tables {
            let TableKind::Sharded(sharded) = &table.kind else { continue };
            let modulus = sharded.id.as_ref().and_then(|id| id.layout.carries);
            if let Some(modulus) = modulus.filter(|modulus| modulus % doubled != 0) {
                against.push(format!(
                    "table {}.{}: its ids carry the place for up to {modulus} shards, {doubled} are more; ids in other places would be needed first",
                    schema.name, table.name
                ));
            }
        }
    }
    after
}

async fn both(site: &Site, replica: &Replica) -> Result<(Desk, Desk)> {
    Ok((site.desk_of(&replica.of).await?, site.desk_of(&replica.name).await?))
}

/// A server and its replica.
async fn pair(config: &Config, replica: &Replica, desks: &mut (Desk, Desk), against: &mut Vec<String>) -> Result<()> {
    let (old, new) = desks;
    let (of, name) = (&replica.of, &replica.name);
    if old.is_mariadb() != new.is_mariadb() {
        against.push(format!("{of} and {name} are not of one kind, MariaDB or MySQL"));
        return Ok(());
    }
    let mut wants = vec![("log_bin", "1"), ("binlog_format", "ROW"), ("binlog_row_image", "FULL")];
    if !old.is_mariadb() {
        wants.push(("gtid_mode", "ON"));
    }
    for (variable, want) in wants {
        let value = old.value(&format!("SELECT @@global.{variable}")).await?;
        if !value.eq_ignore_ascii_case(want) {
            against.push(format!(
                "server {of}: {variable} is {value}: it must be {want}, and the replica made after that"
            ));
        }
    }
    if old.value("SELECT @@server_id").await? == new.value("SELECT @@server_id").await? {
        against.push(format!("{of} and {name} have one server_id: give the replica its own"));
    }
    match new.replication().await? {
        None => against.push(format!("{name} replicates from no server: make it a replica of {of}")),
        Some(state) if !state.runs => {
            against.push(format!("{name} does not replicate at the moment: {}; start it", state.error))
        }
        Some(state) if state.port != old_port(config, of) => {
            against.push(format!("{name} replicates from {}:{}, not from {of}", state.host, state.port))
        }
        Some(_) => {}
    }
    // Who is still logging in has no name yet, and is mostly a proxy's next connection.
    let ours = [config.backend.user.as_str(), "system user", "event_scheduler", "unauthenticated user"];
    let users = old
        .rows("SELECT DISTINCT USER, COMMAND FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()")
        .await?;
    for row in users.iter().filter(|row| row.len() == 2 && !ours.contains(&row[0].as_str())) {
        if !row[1].contains("Binlog Dump") && !row[1].contains("Daemon") && row[1] != "Sleep" {
            against.push(format!(
                "server {of}: account {} is at work there ({}): nobody but Bifold may write while the databases are doubled",
                row[0], row[1]
            ));
        }
    }
    Ok(())
}

fn old_port(config: &Config, name: &str) -> u16 {
    config.servers.iter().find(|server| server.name == name).map_or(0, |server| server.port)
}

/// The tables, by the home shard's definitions; and what could write by itself on a copy.
async fn schemas(config: &Config, site: &Site, against: &mut Vec<String>) -> Result<()> {
    for schema in site.topology.schemas() {
        let mut desk = site.desk(schema.home().server).await?;
        for table in tables(desk.conn(), schema).await? {
            let name = table.name();
            let facts = &table.facts;
            let mut law = |broken: bool, what: &str| {
                if broken {
                    against.push(format!("table {name}: {what}"));
                }
            };
            let is_sharded = table.rule.sharded().is_some();
            law(!facts.engine.eq_ignore_ascii_case("InnoDB"), "its engine is not InnoDB");
            law(
                is_sharded && table.primary.is_empty(),
                "it has no primary key of whole columns, by which rows could be deleted",
            );
            law(is_sharded && !facts.triggers.is_empty(), "it has triggers, which deleting rows would fire");
            law(is_sharded && !facts.foreign_keys.is_empty(), "it has foreign keys, which deleting rows would follow");
            law(
                is_sharded && facts.columns.iter().any(|column| column.invisible),
                "it has invisible columns, which reads could not name until the databases are cleaned",
            );
        }
        let half = config.schemas.iter().find(|known| known.name == schema.name).map_or(0, |known| known.shards.len());
        for shard in schema.shards().iter().take(half) {
            let mut desk = site.desk(shard.server).await?;
            let events = desk
                .value(&format!(
                    "SELECT COUNT(*) FROM information_schema.EVENTS WHERE STATUS = 'ENABLED' AND EVENT_SCHEMA = {}",
                    quoted(&shard.database)
                ))
                .await?;
            if events != "0" {
                against.push(format!(
                    "server {}: {} enabled events in {}, which would run on both halves: disable them",
                    desk.name, events, shard.database
                ));
            }
        }
    }
    Ok(())
}

/// The proxies' own account, on the replicas.
async fn account(after: &Config, replicas: &[Replica], against: &mut Vec<String>) {
    let site = match Site::new(after, &after.backend) {
        Ok(site) => site,
        Err(error) => return against.push(error.to_string()),
    };
    for replica in replicas {
        let asked = async {
            let mut desk = site.desk_of(&replica.name).await?;
            let no = site.number(&replica.name)?;
            for shard in site.topology.schemas().flat_map(|schema| schema.shards_on(no)) {
                let sql = format!("SHOW TABLES FROM {}", crate::definition::identifier(&shard.database));
                desk.rows(&sql).await?;
            }
            Ok(())
        };
        let asked: Result<()> = asked.await;
        if let Err(error) = asked {
            against.push(format!(
                "{error}: account {} needs on {} all rights that it has on {}",
                after.backend.user, replica.name, replica.of
            ));
        }
    }
}
