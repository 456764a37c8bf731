//! What each server says of itself: version, variables, clock, grants, databases.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::task::JoinSet;

use super::Subject;
use super::grants;
use super::report::Report;
use crate::context::State;
use crate::error::{Error, Result};
use crate::shard::{Checkout, Conn, ReplyShape, Server, Servers};
use crate::topology::ServerNo;

/// A server that answered.
pub(super) struct Probe {
    pub no: ServerNo,
    pub name: String,
    /// Global variables, by lower-case name.
    variables: HashMap<String, String>,
    /// `SHOW GRANTS`, a line each.
    pub grants: Vec<String>,
    /// Default character set and collation of each database that the account can see.
    pub databases: HashMap<String, (String, String)>,
    /// How far the server's clock is ahead of ours, in seconds.
    pub clock_ahead: f64,
    /// Named time zones are loaded.
    pub time_zones: bool,
}

/// Asks all servers at the same time. The ones that cannot be asked are reported and left out.
pub(super) async fn all(
    subject: &Subject<'_>,
    servers: &Servers,
    reading: &Arc<State>,
    report: &mut Report<'_>,
) -> Vec<Probe> {
    let mut asking = JoinSet::new();
    for server in servers.iter().cloned() {
        let reading = reading.clone();
        asking.spawn(async move {
            let probe = Probe::ask(&server, &reading).await;
            (server, probe)
        });
    }
    let mut probes = Vec::new();
    let mut answers = asking.join_all().await;
    answers.sort_by_key(|(server, _)| server.no);
    for (server, probe) in answers {
        match probe {
            Ok(probe) => probes.push(probe),
            Err(error) => unreachable(subject, &server, &error, report),
        }
    }
    probes
}

fn unreachable(subject: &Subject<'_>, server: &Server, error: &Error, report: &mut Report<'_>) {
    let address = subject.topology.server(server.no).address();
    let text = String::from_utf8_lossy(error.text());
    let what = format!("{} ({address})", text.trim_start_matches("Bifold: "));
    match error.code() {
        1044 | 1045 | 1698 => report.mistake(
            &["backend", "user"],
            what,
            format!(
                "correct user or password, or create the account there: {}",
                grants::needed(subject, server.no, None).join(" ")
            ),
        ),
        _ => report.mistake(&["server", &server.no.0.to_string(), "address"], what, "start it, or correct the address"),
    }
}

/// A connection whose answers do not depend on the server's sql_mode.
pub(super) async fn connect(server: &Arc<Server>, reading: &Arc<State>) -> Result<Checkout> {
    let mut conn = server.checkout(ReplyShape::default(), reading).await?;
    conn.bring_to(reading).await?;
    Ok(conn)
}

impl Probe {
    async fn ask(server: &Arc<Server>, reading: &Arc<State>) -> Result<Probe> {
        let mut conn = connect(server, reading).await?;
        Ok(Probe {
            no: server.no,
            name: server.name.clone(),
            variables: variables(&mut conn).await?,
            grants: texts(&mut conn, "SHOW GRANTS").await?.into_iter().flatten().collect(),
            databases: databases(&mut conn).await?,
            clock_ahead: clock_ahead(&mut conn).await?,
            time_zones: time_zones(&mut conn).await?,
        })
    }

    /// A global variable; empty where the server has none of this name.
    pub fn variable(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.variable(name).parse().ok()
    }

    pub fn is_mariadb(&self) -> bool {
        self.variable("version").to_ascii_lowercase().contains("mariadb")
    }
}

async fn variables(conn: &mut Conn) -> Result<HashMap<String, String>> {
    let rows = texts(conn, "SHOW GLOBAL VARIABLES").await?;
    Ok(rows
        .into_iter()
        .filter_map(|row| <[String; 2]>::try_from(row).ok())
        .map(|[k, v]| (k.to_lowercase(), v))
        .collect())
}

async fn databases(conn: &mut Conn) -> Result<HashMap<String, (String, String)>> {
    let sql = "SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA";
    let rows = texts(conn, sql).await?;
    Ok(rows.into_iter().filter_map(|row| <[String; 3]>::try_from(row).ok()).map(|[a, b, c]| (a, (b, c))).collect())
}

/// Measured against the middle of the round trip.
async fn clock_ahead(conn: &mut Conn) -> Result<f64> {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let before = now();
    let rows = texts(conn, "SELECT UNIX_TIMESTAMP(SYSDATE(6))").await?;
    let middle = (before + now()) / 2.0;
    let theirs: Option<f64> = rows.first().and_then(|row| row.first()).and_then(|text| text.parse().ok());
    Ok(theirs.map_or(0.0, |theirs| theirs - middle))
}

async fn time_zones(conn: &mut Conn) -> Result<bool> {
    let sql = "SELECT CONVERT_TZ('2024-01-01 00:00:00', 'UTC', 'Europe/Berlin') IS NOT NULL";
    Ok(texts(conn, sql).await?.first().is_some_and(|row| row.first().is_some_and(|value| value == "1")))
}

/// Rows as strings; NULL is empty.
pub(super) async fn texts(conn: &mut Conn, sql: &str) -> Result<Vec<Vec<String>>> {
    let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    Ok(conn.run(sql).await?.rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
}
