//! One statement, from its text to its reply: read once, its plan looked up or made, routed by
//! its values, carried out. Text and prepared form go the same way; only what is sent differs.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::client::Client;
use super::engine::Engine;
use super::ids::Stash;
use super::{ddl, gather, insert_select, load, local, prepare, scatter, several, single, spread};
use crate::error::{Error, Result};
use crate::plan::cache::{self, Versions};
use crate::plan::{self, Outcome, Plan, Planned, Scene, Wide, WriteScatter};
use crate::protocol::execute::{Bindings, Execute};
use crate::route::{self, Chosen, Facts, RouteError, Routed, Statement};
use crate::sql::fingerprint::Fingerprint;
use crate::sql::{Kind, Source, Token, lexer, parser};
use crate::value::Value;

/// Memory that a session's statements use one after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    tokens: Vec<Token>,
    fingerprint: Fingerprint,
    key: Vec<u8>,
    routed: Routed,
}

/// What an idle session keeps of it, in bytes.
const RESTING: usize = 8 * 1024;

impl Scratch {
    /// After a long statement the memory goes back.
    pub fn rest(&mut self) {
        let bytes = self.tokens.capacity() * size_of::<Token>() + self.key.capacity() + self.routed.buffer.capacity();
        if bytes > RESTING {
            *self = Scratch::default();
        }
    }
}

/// What became of a statement.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It was answered.
    Done,
    /// Nothing was done yet: the gate is shut. It is to be run again when that is open.
    Held,
}

/// The parameters of a prepared statement's execution.
#[derive(Clone, Copy)]
pub struct Bound<'a> {
    pub execute: Execute<'a>,
    pub bindings: &'a Bindings,
    pub values: &'a [Value<'a>],
}

/// A statement that is being carried out.
#[derive(Clone, Copy)]
pub struct Running<'a> {
    pub engine: &'a Engine,
    pub planned: &'a Arc<Planned>,
    pub statement: Statement<'a>,
    /// `None`: it came as text.
    pub bound: Option<Bound<'a>>,
}

impl Engine {
    /// COM_QUERY.
    pub async fn query(&self, client: &mut Client, scratch: &mut Scratch, text: &[u8]) -> Result<Flow> {
        if client.several.allowed && memchr::memchr(b';', text).is_some() {
            return Box::pin(several::run(self, client, scratch, text)).await;
        }
        self.run(client, scratch, text, None).await
    }

    /// COM_STMT_EXECUTE.
    pub async fn execute(
        &self,
        client: &mut Client,
        scratch: &mut Scratch,
        text: &[u8],
        bound: Bound<'_>,
    ) -> Result<Flow> {
        self.run(client, scratch, text, Some(bound)).await
    }

    /// COM_STMT_PREPARE: gives the number of parameters, or `None` where the client was told an
    /// error. Columns and parameters are described by a server that prepares the text for one
    /// place; which place it runs at is decided at each execution.
    pub async fn prepare(
        &self,
        client: &mut Client,
        scratch: &mut Scratch,
        text: &[u8],
        id: u32,
    ) -> Result<Option<u16>> {
        let Scratch { tokens, fingerprint, key, routed } = scratch;
        let source = read(client, text, tokens, fingerprint)?;
        let planned = &self.plan(client, source, fingerprint, key).await?;
        // Not the plan's affair: a form may have `?` where its sister has literals.
        let params = plan::params(&source, fingerprint);
        match &planned.plan {
            Plan::Refusal(error) => return Err(error.clone()),
            Plan::Local(local) if !local.is_preparable(source.dialect.flavour) => {
                let text = "This command is not supported in the prepared statement protocol yet";
                return Err(Error::client(NOT_PREPARABLE, text));
            }
            Plan::Load(_) => {
                let text = "This command is not supported in the prepared statement protocol yet";
                return Err(Error::client(NOT_PREPARABLE, text));
            }
            Plan::Local(_) | Plan::Ddl(_) | Plan::InsertSelect(_) => {
                prepare::without_server(client, params, id).await?;
                return Ok(Some(params));
            }
            Plan::Single(_) | Plan::Scatter(_) | Plan::Gather(_) | Plan::Insert(_) | Plan::WriteScatter(_) => {}
        }
        let running =
            Running { engine: self, planned, statement: Statement { source, fingerprint, params: None }, bound: None };
        let prepared = prepare::at_one_place(running, client, routed, id).await?;
        Ok(prepared.then_some(params))
    }

    pub(super) async fn run(
        &self,
        client: &mut Client,
        scratch: &mut Scratch,
        text: &[u8],
        bound: Option<Bound<'_>>,
    ) -> Result<Flow> {
        // 1. Read once
        let Scratch { tokens, fingerprint, key, routed } = scratch;
        let source = read(client, text, tokens, fingerprint)?;
        // 2. The plan, looked up or made
        let planned = &self.plan(client, source, fingerprint, key).await?;
        let statement = Statement { source, fingerprint, params: bound.map(|bound| bound.values) };
        let running = Running { engine: self, planned, statement, bound };
        // 3. Let in, unless the layout is changing
        if let Some(sharing) = &self.sharing
            && let Flow::Held = client.enter(sharing, planned).await?
        {
            return Ok(Flow::Held);
        }
        // 4. Routed and carried out, by kind of plan
        match &planned.plan {
            Plan::Single(plan) => single::run(running, client, routed, plan).await,
            Plan::Scatter(plan) => {
                running.route(client, routed).await?;
                Box::pin(scatter::run(running, client, routed, &plan.wide)).await
            }
            Plan::Gather(plan) => {
                running.route(client, routed).await?;
                Box::pin(gather::run(running, client, routed, plan)).await
            }
            Plan::InsertSelect(plan) => Box::pin(insert_select::run(running, client, routed, plan)).await,
            Plan::Insert(_) | Plan::WriteScatter(_) => spread::run(running, client, routed).await,
            // Boxed, so that an idle client's task does not hold room for them.
            Plan::Local(plan) => Box::pin(local::run(running, client, routed, plan)).await,
            Plan::Load(plan) => Box::pin(load::run(running, client, routed, plan)).await,
            Plan::Ddl(plan) => {
                // What is half done is completed by the same statement, whoever runs it.
                let listed = client.entry.listed().clone();
                listed.unless_killed(Box::pin(ddl::serve(running, client, plan)).as_mut()).await
            }
            Plan::Refusal(error) => Err(error.clone()),
        }
        .map(|()| Flow::Done)
    }

    /// COM_PROCESS_KILL.
    pub async fn kill(&self, client: &mut Client, thread: u32) -> Result<()> {
        local::kill::kill(self, client, u64::from(thread), false).await?;
        client.reply_ok().await
    }

    /// Looks the plan up, or makes it.
    pub(super) async fn plan(
        &self,
        client: &Client,
        source: Source<'_>,
        fingerprint: &Fingerprint,
        key: &mut Vec<u8>,
    ) -> Result<Arc<Planned>> {
        key.clear();
        let schema = client.schema.as_ref().map(|schema| schema.name.as_str());
        cache::put_prefix(key, &client.user.name, schema, client.charset(), &source.dialect);
        key.extend_from_slice(fingerprint.key());
        let versions = self.versions();
        if let Some(planned) = self.plans.get(key, versions) {
            return Ok(planned);
        }
        let planned = Arc::new(Box::pin(self.make_plan(client, source, fingerprint)).await?);
        // Reading definitions does not change the version; forgetting one in the meantime does.
        if planned.serves_its_form() {
            self.plans.put(key, versions, planned.clone());
        }
        Ok(planned)
    }

    fn versions(&self) -> Versions {
        Versions { topology: self.topology.version, catalog: self.catalog.version() }
    }

    /// Plans, and reads the definitions that the planner finds lacking until it finds none.
    async fn make_plan(&self, client: &Client, source: Source<'_>, fingerprint: &Fingerprint) -> Result<Planned> {
        loop {
            let scene = Scene {
                topology: &self.topology,
                catalog: &self.catalog,
                user: &client.user.name,
                host: &client.host,
                allowed: &client.user.schemas,
                schema: client.schema.as_ref().map(|schema| schema.name.as_str()),
            };
            match plan::plan(source, fingerprint, &scene)? {
                Outcome::Planned(planned) => return Ok(planned),
                Outcome::Lacks(tables) => {
                    for table in &tables {
                        self.catalog.load(table, &self.topology, &self.servers).await?;
                    }
                }
            }
        }
    }
}

/// Tokens and fingerprint of a text that is one statement.
fn read<'a>(
    client: &Client,
    text: &'a [u8],
    tokens: &'a mut Vec<Token>,
    fingerprint: &mut Fingerprint,
) -> Result<Source<'a>> {
    let dialect = client.dialect();
    tokens.clear();
    lexer::lex(text, &dialect, tokens);
    let source = Source::new(text, tokens, dialect);
    let end = fingerprint.take(&source, 0);
    if source.tokens.iter().all(|token| token.kind == Kind::Semicolon) {
        return Err(Error::client(EMPTY_QUERY, "Query was empty"));
    }
    if end == 0 {
        return Err(parser::syntax_error(&source, 0));
    }
    let rest = end + u32::from(source.kind(end) == Kind::Semicolon);
    match source.kind(rest) {
        Kind::End => Ok(source),
        // In its body are statements.
        _ if parser::defines_routine(&source) => Ok(source),
        _ => Err(parser::syntax_error(&source, rest)),
    }
}

const NOT_PREPARABLE: (u16, &[u8; 5]) = (1295, b"HY000");
const EMPTY_QUERY: (u16, &[u8; 5]) = (1065, b"42000");

impl Running<'_> {
    /// The texts for servers.
    pub async fn route(&self, client: &Client, routed: &mut Routed) -> Result<()> {
        self.completed(client, |facts| route::route(self.planned, &self.statement, facts, routed)).await
    }

    /// The texts where everything is collected.
    pub async fn route_whole(&self, client: &Client, routed: &mut Routed) -> Result<()> {
        self.completed(client, |facts| route::route_whole(self.planned, &self.statement, facts, routed)).await
    }

    /// The texts that change the rows which the parts of `routed` have chosen.
    pub async fn change(
        &self,
        client: &Client,
        plan: &WriteScatter,
        rows: &[Chosen],
        routed: &mut Routed,
    ) -> Result<()> {
        self.completed(client, |facts| route::change(plan, &self.statement, facts, rows, routed)).await
    }

    /// A text for some place, to be prepared for the sake of its metadata.
    pub async fn sample(&self, client: &Client, routed: &mut Routed) -> Result<()> {
        self.completed(client, |facts| route::sample(self.planned, &self.statement, facts, routed)).await
    }

    /// The texts for servers, one for each place.
    pub async fn route_alone(&self, client: &Client, routed: &mut Routed) -> Result<()> {
        let alone =
            |facts: &Facts<'_>| route::route(self.planned, &self.statement, &Facts { blocks: false, ..*facts }, routed);
        self.completed(client, alone).await
    }

    /// Texts that tell whether places may share texts.
    pub async fn probe(&self, client: &Client, plan: &Wide, routed: &mut Routed) -> Result<()> {
        self.completed(client, |facts| route::probe(plan, &self.statement, facts, routed)).await
    }

    /// What routing lacks is fetched, and it is done again.
    async fn completed(
        &self,
        client: &Client,
        mut route: impl FnMut(&Facts<'_>) -> std::result::Result<(), RouteError>,
    ) -> Result<()> {
        let ids = Stash::new(&self.engine.ids);
        loop {
            match route(&facts(client, self.engine, &ids)) {
                Ok(()) => return Ok(()),
                Err(RouteError::Refused(error)) => return Err(error),
                // No more ids in this millisecond.
                Err(RouteError::Wait) => tokio::time::sleep(Duration::from_millis(1)).await,
                Err(RouteError::Ask(question)) => self.engine.learn_weight(question).await?,
            }
        }
    }
}

/// What routing may ask of the session.
pub(super) fn facts<'a>(client: &'a Client, engine: &'a Engine, ids: &'a Stash<'a>) -> Facts<'a> {
    Facts {
        user: &client.user.name,
        host: &client.host,
        schema: client.schema.as_ref().map(|schema| schema.name.as_str()),
        connection_id: u64::from(client.id.0),
        last_insert_id: client.memory.last_insert_id,
        row_count: client.memory.row_count,
        found_rows: client.memory.found_rows,
        charset: client.charset(),
        keeps_zero_ids: client.keeps_zero_ids(),
        strict: client.is_strict(),
        connection: client.connection_charset(),
        instant: (!client.has_instant()).then(now),
        in_transaction: client.hold.in_transaction() || !client.autocommit() || client.hold.is_bound(),
        blocks: true,
        weights: &engine.weights,
        ids,
    }
}

/// Seconds and microseconds of Unix time.
pub(super) fn now() -> (u64, u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_secs(), now.subsec_micros())
}
