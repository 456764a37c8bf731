//! DDL carried out in every place of a table, resumable from what the physical tables themselves
//! show: nothing is recorded anywhere else. A statement is first tried on an empty scratch table
//! of the same definition, so what a server refuses, and what a law refuses, touches nothing.
//! Then it goes to the places that are not there yet; run again after a failure, it goes on.

mod alter;
mod create;
mod drop;
mod places;
mod rename;
mod scratch;
mod shown;
mod turns;

pub use turns::Turns;

use std::sync::Arc;

use super::client::{Client, Diagnostic, Level};
use super::engine::Engine;
use super::exchange;
use super::names::Homes;
use super::statement::Running;
use crate::catalog::TableName;
use crate::context::{Setting, State, States};
use crate::definition::reading_state;
use crate::error::{Error, Result, code};
use crate::plan::Effect;
use crate::plan::ddl::{Action, Ddl, HomeEffect, Target, Text};
use crate::protocol::ok::OkPacket;
use crate::shard::{Checkout, Conn, ReplyShape, Servers};
use crate::sql::Flavour;
use crate::topology::{HOME, Place, Schema, ServerNo, SubtableNo};
use crate::transaction::{Ending, Need};

/// A statement of a session, and its reply.
pub(super) async fn serve(running: Running<'_>, client: &mut Client, plan: &Ddl) -> Result<()> {
    let engine = running.engine;
    let outcome = match &plan.action {
        Action::Home { targets, text, effect } => {
            if matches!(effect, HomeEffect::Commits | HomeEffect::CommitsWithin) {
                client.hold.end(Ending::Commit).await?;
            }
            at_home(&running, client, &plan.schema, targets, text, *effect).await
        }
        Action::Create { .. }
        | Action::Alter { .. }
        | Action::Truncate { .. }
        | Action::Rename { .. }
        | Action::Drop { .. } => {
            client.hold.end(Ending::Commit).await?;
            let bound = client.hold.is_bound();
            let state = if bound { waiting_little(engine, client) } else { client.state().clone() };
            let actor = Actor {
                servers: &engine.servers,
                states: &engine.states,
                flavour: engine.profile.dialect.flavour,
                state: &state,
                turns: &engine.turns,
            };
            run(&actor, plan).await.map_err(|error| if bound { own_locks(error) } else { error })
        }
    };
    // Whatever came of it: in the middle of a failure some places are altered.
    for target in plan.targets() {
        engine.catalog.forget(&TableName::new(&target.schema.name, &target.table));
    }
    let mut outcome = outcome?;
    outcome.diagnostics.extend(plan.notes.iter().map(|text| note(text)));
    client.memory.row_count = i64::try_from(outcome.affected).unwrap_or(i64::MAX);
    client.memory.diagnostics = outcome.diagnostics;
    let warnings = u16::try_from(client.memory.diagnostics.len()).unwrap_or(u16::MAX);
    client
        .reply_ok_of(OkPacket { affected_rows: outcome.affected, warnings, info: &outcome.info, ..OkPacket::default() })
        .await
}

/// The places are changed over other connections, which a LOCK TABLES of this very session would
/// hold up for ever.
fn waiting_little(engine: &Engine, client: &Client) -> Arc<State> {
    engine.states.with(client.state(), [(Setting::System("lock_wait_timeout".into()), "5".to_owned())])
}

fn own_locks(error: Error) -> Error {
    const LOCK_WAIT_TIMEOUT: u16 = 1205;
    if error.code() != LOCK_WAIT_TIMEOUT {
        return error;
    }
    let hint = " [Bifold: a table of many places is changed over other connections, which do not share the locks of this session. UNLOCK TABLES first]";
    let text = [error.text(), hint.as_bytes()].concat();
    error.with_text(text)
}

/// Unsharded tables only: the session's own connection to the home shard's server runs it.
async fn at_home(
    running: &Running<'_>,
    client: &mut Client,
    schema: &Schema,
    targets: &[Target],
    text: &Text,
    effect: HomeEffect,
) -> Result<Outcome> {
    let Some(target) = targets.first() else { return Ok(Outcome::default()) };
    let (server, database) = (schema.home().server, &schema.home().database);
    let naming = target.naming(SubtableNo(0));
    let text = text.at(&naming, database, None);
    let need = Need {
        shape: client.shape,
        state: &client.state().clone(),
        effect: Effect::Write,
        bare: false,
        prepared: None,
    };
    let conn = client.hold.connection(&running.engine.servers, server, need).await?;
    if effect == HomeEffect::CommitsWithin {
        exchange::enter(conn, database).await?;
    }
    let homes = Homes { topology: &running.engine.topology, server };
    let logical = |text: &[u8]| {
        let text = homes.in_qualifiers(text);
        naming.logical_text(&text, database, &schema.name)
    };
    let outcome = answered(conn, &text, logical).await;
    if effect == HomeEffect::Binds && outcome.is_ok() {
        client.hold.bind(server);
    }
    outcome
}

/// For whom a statement runs, and on what.
pub struct Actor<'a> {
    pub servers: &'a Servers,
    pub states: &'a States,
    pub flavour: Flavour,
    /// The session's settings: sql_mode and character sets decide what a definition means.
    pub state: &'a Arc<State>,
    pub turns: &'a Turns,
}

/// What the client is told.
#[derive(Debug, Default)]
pub struct Outcome {
    pub affected: u64,
    pub info: Vec<u8>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Carries out what reaches over places. The transaction has been committed before.
pub async fn run(actor: &Actor<'_>, ddl: &Ddl) -> Result<Outcome> {
    let tables = ddl.targets().iter().map(|target| (target.schema.name.as_str(), &*target.table));
    let _turn = actor.turns.take(tables).await?;
    let task = Task { actor, schema: &ddl.schema };
    match &ddl.action {
        Action::Create { target, text, if_not_exists, like } => {
            create::run(&task, target, text, *if_not_exists, like.as_ref()).await
        }
        Action::Alter { target, text } => alter::run(&task, target, text).await,
        Action::Truncate { target, text } => alter::truncate(&task, target, text).await,
        Action::Rename { targets: [from, to] } => rename::run(&task, from, to).await,
        Action::Drop { targets, if_exists } => drop::run(&task, targets, *if_exists).await,
        // The session's own connection serves those.
        Action::Home { .. } => Err(Error::proxy("Bifold: an unsharded table has no places.")),
    }
}

/// One statement under way.
struct Task<'a> {
    actor: &'a Actor<'a>,
    schema: &'a Arc<Schema>,
}

impl Task<'_> {
    fn server_of(&self, place: Place) -> ServerNo {
        self.schema.shard(place.shard).server
    }

    fn database_of(&self, place: Place) -> &str {
        &self.schema.shard(place.shard).database
    }

    fn home(&self) -> ServerNo {
        self.schema.shard(HOME).server
    }

    /// A connection with the session's settings.
    async fn session_connection(&self, server: ServerNo) -> Result<Checkout> {
        connection(self.actor.servers, server, self.actor.state).await
    }

    /// A connection under whose settings definitions are read and made again.
    async fn plain_connection(&self, server: ServerNo) -> Result<Checkout> {
        connection(self.actor.servers, server, &reading_state(self.actor.states)).await
    }

    /// Runs the statement at one place and tells its answer as the client's.
    async fn only_at(&self, target: &Target, place: Place, text: &[u8]) -> Result<Outcome> {
        let mut conn = self.session_connection(self.server_of(place)).await?;
        let naming = target.naming(place.subtable);
        let logical = |text: &[u8]| naming.logical_text(text, self.database_of(place), &self.schema.name);
        answered(&mut conn, text, logical).await
    }
}

/// Runs a statement; its answer with the warnings, or its error, texts made logical.
async fn answered(conn: &mut Conn, text: &[u8], logical: impl Fn(&[u8]) -> Vec<u8>) -> Result<Outcome> {
    let answer = conn.run_bytes(text).await.map_err(|error| {
        let text = logical(error.text());
        error.with_text(text)
    })?;
    let mut outcome = Outcome { affected: answer.affected, info: answer.info, diagnostics: Vec::new() };
    if answer.warnings > 0 {
        outcome.diagnostics = exchange::diagnostics(&conn.run("SHOW WARNINGS").await?, &[]);
        for diagnostic in &mut outcome.diagnostics {
            diagnostic.text = logical(&diagnostic.text);
        }
    }
    Ok(outcome)
}

fn note(text: &str) -> Diagnostic {
    let (code, _) = code::UNKNOWN;
    Diagnostic { level: Level::Note, code, text: text.into() }
}

async fn connection(servers: &Servers, server: ServerNo, state: &Arc<State>) -> Result<Checkout> {
    let shape = ReplyShape { deprecate_eof: true, ..ReplyShape::default() };
    let mut conn = servers.get(server).checkout(shape, state).await?;
    conn.bring_to(state).await?;
    Ok(conn)
}
