//! What is said to servers, in each flavour's words: replication, positions, prepared branches,
//! connections. Over an administrator's account.

use std::time::Duration;

use crate::config::{Backend, Config};
use crate::context::States;
use crate::error::{Error, Result};
use crate::shard::{Conn, Servers};
use crate::topology::{ServerNo, Topology};

/// All servers of a layout, by an account's connections.
#[derive(Debug)]
pub struct Site {
    pub topology: Topology,
    servers: Servers,
    _states: States,
}

/// One connection to one server.
#[derive(Debug)]
pub struct Desk {
    pub name: String,
    conn: Conn,
    is_mariadb: bool,
}

/// What a replica says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replication {
    pub host: String,
    pub port: u16,
    pub runs: bool,
    pub lag: Option<u64>,
    pub error: String,
}

impl Site {
    pub fn new(config: &Config, account: &Backend) -> Result<Self> {
        let topology = Topology::new(config, config.version);
        let states = States::default();
        let servers = Servers::new(&topology, account, &states)?;
        Ok(Site { topology, servers, _states: states })
    }

    pub async fn desk(&self, no: ServerNo) -> Result<Desk> {
        let server = self.servers.get(no);
        let mut conn = server.connect_aside().await?;
        let version = conn.run("SELECT VERSION()").await?;
        let version = version.rows.first().and_then(|row| row.first().cloned().flatten()).unwrap_or_default();
        let is_mariadb = String::from_utf8_lossy(&version).to_ascii_lowercase().contains("mariadb");
        Ok(Desk { name: server.name.clone(), conn, is_mariadb })
    }

    pub fn number(&self, name: &str) -> Result<ServerNo> {
        let found = self.topology.servers().iter().find(|server| server.name == name);
        found.map(|server| server.no).ok_or_else(|| Error::operator(format!("there is no server {name}")))
    }

    pub async fn desk_of(&self, name: &str) -> Result<Desk> {
        self.desk(self.number(name)?).await
    }
}

impl Desk {
    pub fn is_mariadb(&self) -> bool {
        self.is_mariadb
    }

    pub fn conn(&mut self) -> &mut Conn {
        &mut self.conn
    }

    pub async fn run(&mut self, sql: &str) -> Result<u64> {
        let answer = self.conn.run(sql).await;
        answer.map(|answer| answer.affected).map_err(|error| self.named(error))
    }

    /// Rows as text; NULL is empty.
    pub async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<String>>> {
        let answer = self.conn.run(sql).await.map_err(|error| self.named(error))?;
        let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
        Ok(answer.rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
    }

    /// The first value; empty where there is none.
    pub async fn value(&mut self, sql: &str) -> Result<String> {
        Ok(self.rows(sql).await?.into_iter().next().and_then(|row| row.into_iter().next()).unwrap_or_default())
    }

    pub async fn number(&mut self, sql: &str) -> Result<u64> {
        let value = self.value(sql).await?;
        value.parse().map_err(|_| Error::operator(format!("server {}: no number for {sql}: {value}", self.name)))
    }

    fn named(&self, error: Error) -> Error {
        let text = format!("server {}: {}", self.name, String::from_utf8_lossy(error.text()));
        error.with_text(text)
    }

    /// `None`: it replicates from nowhere.
    pub async fn replication(&mut self) -> Result<Option<Replication>> {
        let sql = if self.is_mariadb { "SHOW SLAVE STATUS" } else { "SHOW REPLICA STATUS" };
        let answer = self.conn.run(sql).await.map_err(|error| self.named(error))?;
        let Some(row) = answer.rows.first() else { return Ok(None) };
        let cell = |names: [&str; 2]| {
            let at = answer.columns.iter().position(|column| names.iter().any(|name| name.as_bytes() == column.name));
            let value = at.and_then(|at| row.get(at)?.clone());
            value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let yes = |names| cell(names).is_some_and(|value| value == "Yes");
        let errors = [["Last_IO_Error", "Last_IO_Error"], ["Last_SQL_Error", "Last_SQL_Error"]];
        Ok(Some(Replication {
            host: cell(["Master_Host", "Source_Host"]).unwrap_or_default(),
            port: cell(["Master_Port", "Source_Port"]).and_then(|port| port.parse().ok()).unwrap_or(0),
            runs: yes(["Slave_IO_Running", "Replica_IO_Running"]) && yes(["Slave_SQL_Running", "Replica_SQL_Running"]),
            lag: cell(["Seconds_Behind_Master", "Seconds_Behind_Source"]).and_then(|lag| lag.parse().ok()),
            error: errors.into_iter().filter_map(cell).collect::<Vec<_>>().join(" "),
        }))
    }

    /// All that the server has written so far.
    pub async fn position(&mut self) -> Result<String> {
        let variable = if self.is_mariadb { "@@global.gtid_binlog_pos" } else { "@@global.gtid_executed" };
        let position = self.value(&format!("SELECT {variable}")).await?;
        match position.is_empty() {
            true => Err(Error::operator(format!("server {}: it has no GTID position ({variable})", self.name))),
            false => Ok(position.split_whitespace().collect()),
        }
    }

    /// Waits on a replica until it has done all up to a position; false: not within this time.
    pub async fn reach(&mut self, position: &str, within: Duration) -> Result<bool> {
        let function = if self.is_mariadb { "MASTER_GTID_WAIT" } else { "WAIT_FOR_EXECUTED_GTID_SET" };
        let sql = format!("SELECT {function}('{position}', {:.3})", within.as_secs_f64());
        Ok(self.value(&sql).await? == "0")
    }

    /// The replica is a server of its own from now on. Again does no harm.
    pub async fn promote(&mut self) -> Result<()> {
        if self.replication().await?.is_some() {
            let words = if self.is_mariadb { "SLAVE" } else { "REPLICA" };
            self.run(&format!("STOP {words}")).await?;
            self.run(&format!("RESET {words} ALL")).await?;
        }
        if !self.is_mariadb {
            self.run("SET GLOBAL super_read_only = 0").await?;
        }
        self.run("SET GLOBAL read_only = 0").await?;
        // The copy of what the proxies share is nobody's.
        self.run("DROP TABLE IF EXISTS bifold.meta").await.map(drop)
    }

    /// The numbers of an account's connections.
    pub async fn threads(&mut self, user: &str) -> Result<Vec<u32>> {
        let sql =
            format!("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = {}", crate::definition::quoted(user));
        Ok(self.rows(&sql).await?.iter().filter_map(|row| row.first()?.parse().ok()).collect())
    }

    pub async fn kill(&mut self, thread: u32) -> Result<()> {
        match self.conn.run(&format!("KILL {thread}")).await {
            Err(error) if error.code() != NO_SUCH_THREAD => Err(self.named(error)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Branches that are prepared and not ended.
    pub async fn prepared(&mut self) -> Result<usize> {
        Ok(self.rows("XA RECOVER").await?.len())
    }
}

const NO_SUCH_THREAD: u16 = 1094;
