//! A client's prepared statements: their texts and what outlives one execution. Where one is
//! routed is decided at each execution, by the values bound then; which connection has it
//! prepared is the connection's affair.

use std::collections::HashMap;

use crate::error::{Error, Result, code};
use crate::execute::{Bound, Client, Engine, Flow, Scratch};
use crate::protocol::execute::{Bindings, Execute, LongData};
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
            let statement = Statement { text: text.into(), params, bindings: Bindings::default(), too_long: false };
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
        let statement = self.by_id.get_mut(&id).ok_or_else(|| unknown(id, client, "mysqld_stmt_execute"))?;
        let executed = statement.execute(engine, client, scratch, packet).await;
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
        client.reply_ok().await
    }

    /// No cursor is ever open: the executions' replies say so.
    pub fn fetch(&self, client: &Client, body: &[u8]) -> Result<()> {
        let id = statement_id(body)?;
        match self.by_id.contains_key(&id) {
            true => Err(Error::client(NO_OPEN_CURSOR, format!("The statement ({id}) has no open cursor."))),
            false => Err(unknown(id, client, "mysqld_stmt_fetch")),
        }
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
    ) -> Result<Flow> {
        if self.too_long {
            return Err(Error::client(code::WRONG_ARGUMENTS, "Incorrect arguments to mysqld_stmt_send_long_data"));
        }
        let mut execute = Execute::parse(packet, self.params, &mut self.bindings)?;
        let charset = client.charset().to_owned();
        let mut values = Vec::with_capacity(usize::from(self.params));
        execute.values(&self.bindings, &charset, &mut values)?;
        // No cursors yet: all rows come at once, which the reply's flags say.
        execute.cursor = 0;
        let bound = Bound { execute, bindings: &self.bindings, values: &values };
        engine.execute(client, scratch, &self.text, bound).await
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

const NO_OPEN_CURSOR: (u16, &[u8; 5]) = (1421, b"HY000");
