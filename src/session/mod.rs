//! One client, from its login to its end: a command is read, carried out and answered, then the
//! next. What a statement means and where it goes is left to the floors below.

mod change_user;
mod cursor;
mod idle;
mod login;
mod prepared;
mod reserved;
mod throttle;
mod watch;

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::context::State;
use crate::error::{Blame, Error, Result, code};
use crate::execute::{Client, Current, Engine, Flow, Scratch, names};
use crate::protocol::Command;
use crate::protocol::greeting::Nonce;
use crate::protocol::payload::malformed;
use crate::registry::{Doing, Listed, Signal};
use crate::sql::Flavour;
use crate::wire::Packet;

use idle::Idle;
pub use login::{Door, log_in};
use prepared::Statements;
use reserved::unknown;

pub struct Session {
    client: Client,
    current: Arc<Current>,
    /// What it went by last.
    engine: Arc<Engine>,
    door: Arc<Door>,
    /// Which others find it by.
    listed: Arc<Listed>,
    statements: Statements,
    scratch: Scratch,
    idle: Idle,
    login: Login,
}

/// What the login left: COM_RESET_CONNECTION and COM_CHANGE_USER come back to it.
pub struct Login {
    /// The settings that it asked for.
    pub state: Arc<State>,
    /// A password is proved by it again.
    pub nonce: Nonce,
}

/// What follows a command.
enum Next {
    Command,
    /// The same one, when the gate is open again.
    Again,
    End,
}

impl From<Flow> for Next {
    fn from(flow: Flow) -> Self {
        match flow {
            Flow::Done => Next::Command,
            Flow::Held => Next::Again,
        }
    }
}

/// A statement is held before the gate for so long at most.
const HELD: Duration = Duration::from_secs(60);

impl Session {
    pub fn new(client: Client, login: Login, current: Arc<Current>, engine: Arc<Engine>, door: Arc<Door>) -> Self {
        let idle = Idle::new(engine.config.limits.idle);
        let listed = client.entry.listed().clone();
        let (statements, scratch) = (Statements::default(), Scratch::default());
        Session { client, current, engine, door, listed, statements, scratch, idle, login }
    }

    /// Serves the client until it leaves or can't be served any more. Whatever it still held on
    /// the servers is rolled back then.
    pub async fn serve(mut self) {
        let ended = self.commands().await;
        self.client.hold.abandon().await;
        if let Err(error) = ended {
            tracing::debug!(client = self.client.id.0, %error, "session ended");
        }
        self.client.wire.shutdown().await;
    }

    async fn commands(&mut self) -> Result<()> {
        loop {
            // 1. One command
            let Some(packet) = self.next_command().await? else { return Ok(()) };
            self.engine.counts.commands.add(1);
            // 2. carried out, its reply sent
            match self.carried_out(&packet).await {
                Ok(Next::Command | Next::Again) => {}
                Ok(Next::End) => return Ok(()),
                Err(error) if error.ends_session() => return Err(error),
                // 3. or the error that it met
                Err(error) => {
                    self.engine.counts.error(&error);
                    self.client.fail(names::in_foreign(&self.engine.topology, error)).await?;
                }
            }
            if self.listed.forget_kill() {
                Box::pin(self.client.hold.soak()).await;
            }
            // 4. Connections that nothing binds go back
            self.client.settle().await?;
        }
    }

    /// Waits with no buffer in hand; `None` where the client hung up, was silent for too long,
    /// be it in the middle of a command, or was killed.
    async fn next_command(&mut self) -> Result<Option<Packet>> {
        self.client.wire.begin_command();
        self.scratch.rest();
        self.idle.restart();
        let since = self.idle.since();
        let wire = &mut self.client.wire;
        let command = async {
            wire.wait_readable().await?;
            wire.read_packet().await
        };
        let mut command = std::pin::pin!(command);
        loop {
            tokio::select! {
                biased;
                signal = self.listed.signalled() => match signal {
                    Signal::Tell => self.listed.answer(&Doing { command: "Sleep", since, text: None }),
                    Signal::KillConnection => return Ok(None),
                    // There is no statement.
                    Signal::KillQuery => drop(self.listed.forget_kill()),
                },
                command = &mut command => return command,
                () = self.idle.expired() => return Ok(None),
            }
        }
    }

    /// A statement that was held is run as if it had come now.
    async fn carried_out(&mut self, packet: &[u8]) -> Result<Next> {
        let since = Instant::now();
        loop {
            let carried_out = self.carry_out(packet, since).await?;
            let Next::Again = carried_out else { return Ok(carried_out) };
            // Killed in the meantime?
            if let Next::End = Box::pin(self.opened(packet, since)).await? {
                return Ok(Next::End);
            }
        }
    }

    async fn carry_out(&mut self, packet: &[u8], since: Instant) -> Result<Next> {
        self.follow();
        let Session { client, engine, door, listed, statements, scratch, login, .. } = self;
        let desk = Desk { client, engine, door, statements, scratch, login };
        let working = pin!(desk.carry_out(packet));
        watch::watched(working, listed, engine, packet, since).await
    }

    /// Waits before the gate.
    async fn opened(&self, packet: &[u8], since: Instant) -> Result<Next> {
        let waiting = async {
            let Some(sharing) = &self.engine.sharing else { return Ok(Next::Again) };
            if sharing.gate.wait(HELD).await {
                return Ok(Next::Again);
            }
            let text = format!(
                "Bifold: the layout of the databases is changing; the statement was held for {} s and not run. Try again.",
                HELD.as_secs()
            );
            Err(Error::new(Blame::Proxy, code::LOCK_WAIT, text).retryable())
        };
        let waiting = pin!(waiting);
        let waiting = pin!(self.listed.unless_killed(waiting));
        watch::watched(waiting, &self.listed, &self.engine, packet, since).await
    }

    /// Goes over to the layout in force, once nothing is held that belongs to another.
    fn follow(&mut self) {
        if !self.current.is(&self.engine) && self.client.hold.is_free() {
            self.engine = self.current.engine();
            self.client.move_to(&self.engine);
        }
    }
}

/// What a command works on.
struct Desk<'a> {
    client: &'a mut Client,
    engine: &'a Engine,
    door: &'a Door,
    statements: &'a mut Statements,
    scratch: &'a mut Scratch,
    login: &'a mut Login,
}

impl Desk<'_> {
    async fn carry_out(self, packet: &[u8]) -> Result<Next> {
        let (command, body) = command(packet)?;
        let Desk { client, engine, door, statements, scratch, login } = self;
        let flavour = engine.profile.dialect.flavour;
        match command {
            Command::Query => return Ok(engine.query(client, scratch, body).await?.into()),
            Command::StmtPrepare => Box::pin(statements.prepare(engine, client, scratch, body)).await?,
            Command::StmtExecute => return Ok(statements.execute(engine, client, scratch, packet).await?.into()),
            Command::StmtSendLongData => statements.long_data(packet),
            Command::StmtReset => statements.reset(client, body).await?,
            Command::StmtFetch => Box::pin(statements.fetch(client, body)).await?,
            Command::StmtClose => statements.close(body),
            Command::InitDb if body.is_empty() => return Err(Error::client(code::NO_DB, "No database selected")),
            Command::InitDb => client.use_schema(&String::from_utf8_lossy(body), engine).await?,
            Command::Ping => client.reply_ok().await?,
            Command::ResetConnection => {
                *statements = Statements::default();
                Box::pin(client.reset(&login.state, engine)).await?;
            }
            Command::ChangeUser => {
                *statements = Statements::default();
                Box::pin(change_user::run(client, engine, door, login, packet)).await?;
            }
            Command::SetOption => set_option(client, flavour, body).await?,
            Command::FieldList => Box::pin(engine.field_list(client, body)).await?,
            Command::Statistics => client.reply_text(engine.statistics().as_bytes()).await?,
            Command::ProcessInfo if flavour == Flavour::MariaDb => {
                return Ok(Box::pin(engine.query(client, scratch, b"SHOW PROCESSLIST")).await?.into());
            }
            Command::ProcessKill if flavour == Flavour::MariaDb => {
                let id = body.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                Box::pin(engine.kill(client, id)).await?;
            }
            Command::Quit => return Ok(Next::End),
            Command::Sleep
            | Command::CreateDb
            | Command::DropDb
            | Command::Refresh
            | Command::Shutdown
            | Command::ProcessInfo
            | Command::Connect
            | Command::ProcessKill
            | Command::Debug
            | Command::Time
            | Command::DelayedInsert
            | Command::BinlogDump
            | Command::TableDump
            | Command::ConnectOut
            | Command::RegisterSlave
            | Command::Daemon
            | Command::BinlogDumpGtid
            | Command::Clone
            | Command::StmtBulkExecute => return Err(reserved::refusal(command, &client.user.name, flavour)),
        }
        Ok(Next::Command)
    }
}

/// Whether the client may send several statements in one text.
async fn set_option(client: &mut Client, flavour: Flavour, body: &[u8]) -> Result<()> {
    let allowed = match (body, flavour) {
        ([0, 0, ..], _) | ([] | [_], Flavour::MariaDb) => true,
        ([1, 0, ..], _) => false,
        ([] | [_], Flavour::MySql) => return Err(malformed()),
        ([_, _, ..], _) => return Err(unknown()),
    };
    client.several.allowed = allowed;
    client.reply_eof().await
}

fn command(packet: &[u8]) -> Result<(Command, &[u8])> {
    let (first, body) = packet.split_first().ok_or_else(unknown)?;
    Ok((Command::from_byte(*first).ok_or_else(unknown)?, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<F: Future>(_: fn(Session) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn an_idle_client_costs_less_than_its_share() {
        // 16 KiB for all of an idle client; its socket and statements take some of them.
        let bytes = size(Session::serve);
        assert!(bytes < 8 * 1024, "a session's task takes {bytes} bytes");
    }
}
