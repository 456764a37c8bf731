//! What the servers behind the proxy are, read once at start: what clients are told of them, and
//! the defaults that a session begins with.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::shard::{Row, Servers};
use crate::sql::Dialect;
use crate::topology::{ServerNo, Topology};

#[derive(Debug)]
pub struct Profile {
    /// As the servers greet, MariaDB's `5.5.5-` included.
    pub greeting_version: Vec<u8>,
    /// Flavour and version, for reading texts.
    pub dialect: Dialect,
    pub sql_mode: String,
    pub autocommit: bool,
    /// Character set and collation by the number that clients give in their login.
    collations: HashMap<u16, (String, String)>,
    /// What a client gets whose collation no server knows.
    default_collation: (String, String),
    /// What new sessions have of character sets, by the names of the variables.
    pub charsets: [(&'static str, String); 3],
}

impl Profile {
    /// All servers are taken to be alike, `bifold check` compares them: so the first that answers
    /// is the one that is asked. The error is the first server's.
    pub async fn read(topology: &Topology, servers: &Servers) -> Result<Self> {
        let mut failed = None;
        for server in topology.servers() {
            match Self::read_of(server.no, servers).await {
                Ok(profile) => return Ok(profile),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| Error::operator("The topology names no server.")))
    }

    async fn read_of(server: ServerNo, servers: &Servers) -> Result<Self> {
        let globals = servers
            .run(
                server,
                "SELECT VERSION(), @@global.sql_mode, @@global.autocommit, @@global.character_set_server, @@global.collation_server, \
                 @@global.character_set_client, @@global.character_set_results, @@global.collation_connection",
            )
            .await?;
        let globals = globals.rows.into_iter().next().ok_or_else(|| Error::operator("A server told no version."))?;
        let version = text(&globals, 0);
        let dialect = Dialect::from_server_version(&version).ok_or_else(|| {
            Error::operator(format!("A server calls itself version {version:?}, which Bifold can't read."))
        })?;
        let collations = servers
            .run(server, "SELECT ID, CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLLATIONS WHERE ID IS NOT NULL AND CHARACTER_SET_NAME IS NOT NULL")
            .await?;
        Ok(Profile {
            greeting_version: servers.get(server).greeting_version(),
            dialect,
            sql_mode: text(&globals, 1),
            autocommit: text(&globals, 2) == "1",
            collations: collations
                .rows
                .iter()
                .filter_map(|row| Some((text(row, 0).parse().ok()?, (text(row, 1), text(row, 2)))))
                .collect(),
            default_collation: (text(&globals, 3), text(&globals, 4)),
            charsets: [
                ("character_set_client", text(&globals, 5)),
                ("character_set_results", text(&globals, 6)),
                ("collation_connection", text(&globals, 7)),
            ],
        })
    }

    /// Character set and collation that a login with this number gives.
    pub fn collation(&self, id: u16) -> (&str, &str) {
        let (charset, collation) = self.collations.get(&id).unwrap_or(&self.default_collation);
        (charset, collation)
    }
}

fn text(row: &Row, column: usize) -> String {
    row.get(column)
        .and_then(Option::as_ref)
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .unwrap_or_default()
}
