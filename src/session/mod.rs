//! One client, from its login to its end: a command is read, carried out and answered, then the
//! next. What a statement means and where it goes is left to the floors below.

mod idle;
mod login;
mod prepared;

use std::sync::Arc;
use std::time::Duration;

use crate::context::State;
use crate::error::{Blame, Error, Result, code};
use crate::execute::{Client, Current, Engine, Flow, Scratch};
use crate::protocol::Command;
use crate::wire::Packet;

use idle::Idle;
pub use login::{log_in, offer};
use prepared::Statements;

pub struct Session {
    client: Client,
    current: Arc<Current>,
    /// What it went by last.
    engine: Arc<Engine>,
    statements: Statements,
    scratch: Scratch,
    idle: Idle,
    /// The settings that its login asked for.
    login: Arc<State>,
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
    pub fn new(client: Client, current: Arc<Current>, engine: Arc<Engine>) -> Self {
        let idle = Idle::new(engine.config.limits.idle);
        let login = client.state().clone();
        Session { client, current, engine, statements: Statements::default(), scratch: Scratch::default(), idle, login }
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
            // 2. carried out, its reply sent
            match self.carried_out(&packet).await {
                Ok(Next::Command | Next::Again) => {}
                Ok(Next::End) => return Ok(()),
                Err(error) if error.ends_session() => return Err(error),
                // 3. or the error that it met
                Err(error) => self.client.fail(error).await?,
            }
            // 4. Connections that nothing binds go back
            self.client.settle().await?;
        }
    }

    /// Waits with no buffer in hand; `None` where the client hung up, or was silent for too long,
    /// be it in the middle of a command.
    async fn next_command(&mut self) -> Result<Option<Packet>> {
        self.client.wire.begin_command();
        self.scratch.rest();
        self.idle.restart();
        let wire = &mut self.client.wire;
        let command = async {
            wire.wait_readable().await?;
            wire.read_packet().await
        };
        tokio::select! {
            biased;
            command = command => command,
            () = self.idle.expired() => Ok(None),
        }
    }

    /// A statement that was held is run as if it had come now.
    async fn carried_out(&mut self, packet: &[u8]) -> Result<Next> {
        loop {
            match self.carry_out(packet).await? {
                Next::Again => Box::pin(self.opened()).await?,
                next => return Ok(next),
            }
        }
    }

    async fn opened(&self) -> Result<()> {
        let Some(sharing) = &self.engine.sharing else { return Ok(()) };
        if sharing.gate.wait(HELD).await {
            return Ok(());
        }
        let text = format!(
            "Bifold: the layout of the databases is changing; the statement was held for {} s and not run. Try again.",
            HELD.as_secs()
        );
        Err(Error::new(Blame::Proxy, code::LOCK_WAIT, text).retryable())
    }

    /// Goes over to the layout in force, once nothing is held that belongs to another.
    fn follow(&mut self) {
        if !self.current.is(&self.engine) && self.client.hold.is_free() {
            self.engine = self.current.engine();
            self.client.move_to(&self.engine);
        }
    }

    async fn carry_out(&mut self, packet: &[u8]) -> Result<Next> {
        let (command, body) = command(packet)?;
        self.follow();
        let (client, engine, scratch) = (&mut self.client, &*self.engine, &mut self.scratch);
        match command {
            Command::Query => return Ok(engine.query(client, scratch, body).await?.into()),
            Command::StmtPrepare => Box::pin(self.statements.prepare(engine, client, scratch, body)).await?,
            Command::StmtExecute => return Ok(self.statements.execute(engine, client, scratch, packet).await?.into()),
            Command::StmtSendLongData => self.statements.long_data(packet),
            Command::StmtReset => self.statements.reset(client, body).await?,
            Command::StmtClose => self.statements.close(body),
            Command::InitDb => client.use_schema(&String::from_utf8_lossy(body), engine).await?,
            Command::Ping => client.reply_ok().await?,
            Command::ResetConnection => {
                self.statements = Statements::default();
                Box::pin(client.reset(&self.login, engine)).await?;
            }
            Command::Quit => return Ok(Next::End),
            _ => return Err(unknown()),
        }
        Ok(Next::Command)
    }
}

fn command(packet: &[u8]) -> Result<(Command, &[u8])> {
    let (first, body) = packet.split_first().ok_or_else(unknown)?;
    Ok((Command::from_byte(*first).ok_or_else(unknown)?, body))
}

/// What a server says to a command that it doesn't know, and Bifold to one that it doesn't offer.
fn unknown() -> Error {
    Error::client(code::UNKNOWN_COM, "Unknown command")
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
