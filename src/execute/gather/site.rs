//! The connection on which collected rows lie in temporary tables: one of its own from the pool,
//! outside the session's transaction (a branch of a transaction can't have such tables, and none of
//! this may begin or end one). It goes back to the pool only when its tables are dropped.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use crate::context::{Setting, State, States};
use crate::definition::{Definition, Naming, identifier, reading_state};
use crate::error::{Blame, Error, Result, code};
use crate::execute::engine::Engine;
use crate::route::{Name, Temporary};
use crate::shard::{Checkout, Conn, ReplyShape};
use crate::topology::ServerNo;

pub(in crate::execute) struct Site<'e> {
    conn: Checkout,
    server: ServerNo,
    loading: Arc<State>,
    /// As SQL.
    tables: Vec<String>,
    _permit: SemaphorePermit<'e>,
}

impl<'e> Site<'e> {
    /// Whoever waits here holds whatever else the statement needs.
    pub async fn open(engine: &'e Engine, server: ServerNo, shape: ReplyShape) -> Result<Self> {
        let permit = match timeout(engine.config.backend.wait, engine.sites.acquire()).await {
            Ok(permit) => permit.expect("the semaphore is never closed"),
            Err(_) => return Err(crowded()),
        };
        let loading = loading(&engine.states);
        let mut conn = engine.servers.get(server).checkout(shape, &loading).await?;
        conn.bring_to(&loading).await?;
        Ok(Site { conn, server, loading, tables: Vec::new(), _permit: permit })
    }

    /// An empty table with the definition of another one.
    pub async fn make(&mut self, engine: &Engine, table: &Temporary) -> Result<()> {
        let name = sql(&table.name);
        let here = table.like_on == self.server;
        let like = format!("CREATE TEMPORARY TABLE {name} LIKE {}", sql(&table.like));
        let made = match here {
            true => self.conn.run(&like).await.map(drop),
            false => self.copy(engine, table).await,
        };
        match made {
            Err(error) if here && NOT_TEMPORARY.contains(&error.code()) => self.copy(engine, table).await,
            made => made,
        }
        .map_err(|error| not_made(error, &table.name))?;
        self.tables.push(name);
        Ok(())
    }

    /// By the definition's text: where the table is on another server, or has what temporary tables
    /// can't have.
    async fn copy(&mut self, engine: &Engine, table: &Temporary) -> Result<()> {
        let show = format!("SHOW CREATE TABLE {}", sql(&table.like));
        let answer = if table.like_on == self.server {
            self.conn.run(&show).await?
        } else {
            let reading = reading_state(&engine.states);
            let mut conn = engine.servers.get(table.like_on).checkout(ReplyShape::default(), &reading).await?;
            conn.bring_to(&reading).await?;
            conn.run(&show).await?
        };
        let shown = answer.rows.first().and_then(|row| row.get(1)?.as_deref());
        let shown = shown.ok_or_else(|| Error::proxy("Bifold: a server shows no definition of a table."))?;
        let definition = Definition::new(&String::from_utf8_lossy(shown), &Naming::whole(&table.like.table));
        let create = definition.create_temporary(&table.name.database, &table.name.table);
        self.conn.run(&create).await.map(drop)
    }

    /// A table by a statement of the caller's own.
    pub async fn create(&mut self, name: &Name, columns: &str) -> Result<()> {
        let name = sql(name);
        self.conn.run(&format!("CREATE TEMPORARY TABLE {name} {columns}")).await?;
        self.tables.push(name);
        Ok(())
    }

    pub fn conn(&mut self) -> &mut Conn {
        &mut self.conn
    }

    /// Leaves nothing behind; where that can't be, the connection is closed with what it has.
    pub async fn close(mut self) {
        if self.conn.is_busy() {
            return;
        }
        if let Ok(Ok(())) = timeout(CLEANING, self.cleaned()).await {
            self.tables.clear();
        }
    }

    async fn cleaned(&mut self) -> Result<()> {
        if self.conn.in_transaction() {
            self.conn.run("ROLLBACK").await?;
        }
        self.conn.bring_to(&self.loading).await?;
        // They name tables that are no more.
        self.conn.close_statements();
        if !self.tables.is_empty() {
            self.conn.run(&format!("DROP TEMPORARY TABLE {}", self.tables.join(", "))).await?;
        }
        Ok(())
    }
}

impl Drop for Site<'_> {
    fn drop(&mut self) {
        if !self.tables.is_empty() {
            self.conn.condemn();
        }
    }
}

/// The client has its answer and waits for nothing but this.
const CLEANING: Duration = Duration::from_secs(5);

fn crowded() -> Error {
    let text = "Bifold: too many statements that bring rows of several places together are under way. Try again.";
    Error::new(Blame::Proxy, code::CON_COUNT, text).retryable()
}

fn sql(name: &Name) -> String {
    format!("{}.{}", identifier(&name.database), identifier(&name.table))
}

/// Any stored value is let in, whatever made it; times are read as UTC.
fn loading(states: &States) -> Arc<State> {
    let settings = [
        ("autocommit", "1"),
        ("character_set_client", "'utf8mb4'"),
        ("character_set_results", "'utf8mb4'"),
        ("collation_connection", "'utf8mb4_general_ci'"),
        ("sql_mode", "'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'"),
        ("time_zone", "'+00:00'"),
    ];
    states.of(settings.map(|(name, value)| (Setting::System(name.into()), value.to_owned())))
}

fn not_made(error: Error, table: &Name) -> Error {
    let database = &table.database;
    match error.code() {
        // Access denied to a database, to a table, to a command.
        1044 | 1142 | 1227 => Error::operator(format!(
            "Bifold: the account of [backend] may not create temporary tables in `{database}`, where rows of several \
             places are brought together: GRANT CREATE TEMPORARY TABLES on it (see bifold check)."
        ))
        .because(error),
        _ => error,
    }
}

/// Fulltext indexes, partitions (by their number on MySQL and on MariaDB).
const NOT_TEMPORARY: [u16; 3] = [1796, 1562, 1478];
