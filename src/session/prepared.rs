//! A client's prepared statements: their texts and what outlives one execution. Where one is
//! routed is decided at each execution, by the values bound then; which connection has it
//! prepared is the connection's affair.

use std::collections::HashMap;

use super::cursor::{BUDGET, Cursor};
use crate::error::{Error, Result, code};
use crate::execute::{Bound, Client, Engine, Flow, Scratch};
use crate::protocol::execute::{Bindings, Execute, LongData};
use crate::protocol::payload::malformed;
use crate::sql::Flavour;

/// So much long data may wait for one statement's execution.
const LONG_DATA: usize = 1 << 30;

#[derive(Debug, Default)]
pub struct Statements {
    by_id: HashMap<u32, Statement>,
    last: u32,
}

#[derive(Debug)]
struct Statement {
    text: Box<[u8]>,
    params: u16,
    bindings: Bindings,
    /// More long data came than may wait: the next execution says so.
    too_long: bool,
    cursor: Option<Cursor>,
}

impl Statements {
    pub async fn prepare(
        &mut self,
        engine: &Engine,
        client: &mut Client,
        scratch: &mut Scratch,
        text: &[u8],
    ) -> Result<()> {
        let id = self.next_id();
        if let Some(params) = engine.prepare(client, scratch, text, id).await? {
            let statement =
                Statement { text: text.into(), params, bindings: Bindings::default(), too_long: false, cursor: None };
            self.by_id.insert(id, statement);
        }
        Ok(())
    }

    fn next_id(&mut self) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1);
            // MariaDB's clients mean "the one prepared last" by −1.
            if !matches!(self.last, 0 | u32::MAX) && !self.by_id.contains_key(&self.last) {
                return self.last;
            }
        }
    }

    pub async fn execute(
        &mut self,
        engine: &Engine,
        client: &mut Client,
        scratch: &mut Scratch,
        packet: &[u8],
    ) -> Result<Flow> {
        let id = Execute::statement(packet)?;
        let held = self.by_id.values().filter_map(|statement| statement.cursor.as_ref()).map(Cursor::bytes).sum();
        let statement = self.by_id.get_mut(&id).ok_or_else(|| unknown(id, client, "mysqld_stmt_execute"))?;
        statement.cursor = None;
        let room = BUDGET.saturating_sub(held);
        let executed = statement.execute(engine, client, scratch, packet, room).await;
        if !matches!(executed, Ok(Flow::Held)) {
            statement.forget_long_data();
        }
        executed
    }

    /// Has no reply; what is wrong with it the execution tells.
    pub fn long_data(&mut self, packet: &[u8]) {
        let Ok(data) = LongData::parse(packet) else { return };
        if let Some(statement) = self.by_id.get_mut(&data.statement) {
            statement.too_long |=
                statement.bindings.long_bytes() + data.bytes.len() > LONG_DATA || data.param >= statement.params;
            if !statement.too_long {
                statement.bindings.append_long(data);
            }
        }
    }

    pub async fn reset(&mut self, client: &mut Client, body: &[u8]) -> Result<()> {
        let id = statement_id(body)?;
        let statement = self.by_id.get_mut(&id).ok_or_else(|| unknown(id, client, "mysqld_stmt_reset"))?;
        statement.forget_long_data();
        statement.cursor = None;
        client.reply_ok().await
    }

    /// COM_STMT_FETCH: so many rows of the cursor that the last execution opened.
    pub async fn fetch(&mut self, client: &mut Client, body: &[u8]) -> Result<()> {
        let id = statement_id(body)?;
        let count = body.get(4..8).and_then(|bytes| bytes.first_chunk()).ok_or_else(malformed)?;
        let statement = self.by_id.get_mut(&id).ok_or_else(|| unknown(id, client, "mysqld_stmt_fetch"))?;
        let Some(cursor) = &mut statement.cursor else {
            return Err(no_open_cursor(id, client));
        };
        if !cursor.fetch(client, u32::from_le_bytes(*count)).await? {
            statement.cursor = None;
        }
        Ok(())
    }

    /// Has no reply, be there such a statement or not.
    pub fn close(&mut self, body: &[u8]) {
        if let Ok(id) = statement_id(body) {
            self.by_id.remove(&id);
        }
    }
}

impl Statement {
    async fn execute(
        &mut self,
        engine: &Engine,
        client: &mut Client,
        scratch: &mut Scratch,
        packet: &[u8],
        room: usize,
    ) -> Result<Flow> {
        if self.too_long {
            return Err(Error::client(code::WRONG_ARGUMENTS, "Incorrect arguments to mysqld_stmt_send_long_data"));
        }
        let mut execute = Execute::parse(packet, self.params, &mut self.bindings)?;
        let charset = client.charset().to_owned();
        let mut values = Vec::with_capacity(usize::from(self.params));
        execute.values(&self.bindings, &charset, &mut values)?;
        // The cursor is the proxy's: a server gives all rows at once.
        let cursor = std::mem::take(&mut execute.cursor) & READ_ONLY != 0;
        let bound = Bound { execute, bindings: &self.bindings, values: &values };
        if !cursor || room == 0 {
            return engine.execute(client, scratch, &self.text, bound).await;
        }
        let sequence = client.wire.sequence();
        client.wire.capture(room);
        let executed = engine.execute(client, scratch, &self.text, bound).await;
        match (client.wire.captured(), executed) {
            (Some(reply), Ok(Flow::Done)) => {
                self.cursor = Box::pin(Cursor::open(client, reply, sequence)).await?;
                Ok(Flow::Done)
            }
            (Some(_), failed) => {
                // What was kept of it the client never sees.
                client.wire.set_sequence(sequence);
                failed
            }
            (None, executed) => executed,
        }
    }

    fn forget_long_data(&mut self) {
        self.bindings.long.clear();
        self.too_long = false;
    }
}

fn statement_id(body: &[u8]) -> Result<u32> {
    let bytes =
        body.first_chunk::<4>().ok_or_else(|| Error::client(code::MALFORMED, "Malformed communication packet."))?;
    Ok(u32::from_le_bytes(*bytes))
}

/// MySQL looks for all commands in one place, and calls them by its name.
fn unknown(id: u32, client: &Client, command: &str) -> Error {
    let command = match client.dialect().flavour {
        Flavour::MariaDb => command,
        Flavour::MySql => "mysql_stmt_precheck",
    };
    Error::client(code::UNKNOWN_STMT, format!("Unknown prepared statement handler ({id}) given to {command}"))
}

fn no_open_cursor(id: u32, client: &Client) -> Error {
    let dot = if client.dialect().flavour == Flavour::MySql { "." } else { "" };
    Error::client(NO_OPEN_CURSOR, format!("The statement ({id}) has no open cursor{dot}"))
}

/// CURSOR_TYPE_READ_ONLY.
const READ_ONLY: u8 = 1;

const NO_OPEN_CURSOR: (u16, &[u8; 5]) = (1421, b"HY000");
