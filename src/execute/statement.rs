//! One statement, from its text to its reply: read once, its plan looked up or made, routed by
//! its values, carried out. Text and prepared form go the same way; only what is sent differs.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::client::Client;
use super::engine::Engine;
use super::ids::Stash;
use super::{ddl, local, single, spread};
use crate::error::{Error, Result, code};
use crate::plan::{Plan, Planned};
use crate::protocol::execute::{Bindings, Execute};
use crate::route::{Facts, Routed, Statement};
use crate::sql::fingerprint::Fingerprint;
use crate::sql::{Kind, Source, Token, lexer};
use crate::value::Value;

/// Memory that a session's statements use one after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    tokens: Vec<Token>,
    fingerprint: Fingerprint,
    key: Vec<u8>,
    routed: Routed,
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
    pub async fn query(&self, client: &mut Client, scratch: &mut Scratch, text: &[u8]) -> Result<()> {
        self.run(client, scratch, text, None).await
    }

    /// COM_STMT_EXECUTE.
    pub async fn execute(
        &self,
        client: &mut Client,
        scratch: &mut Scratch,
        text: &[u8],
        bound: Bound<'_>,
    ) -> Result<()> {
        self.run(client, scratch, text, Some(bound)).await
    }

    /// COM_STMT_PREPARE: gives the number of parameters, or `None` where the client was told an error.
    pub async fn prepare(
        &self,
        _client: &mut Client,
        _scratch: &mut Scratch,
        _text: &[u8],
        _id: u32,
    ) -> Result<Option<u16>> {
        Err(Error::refused("Bifold: statements are not prepared yet."))
    }

    async fn run(
        &self,
        client: &mut Client,
        scratch: &mut Scratch,
        text: &[u8],
        bound: Option<Bound<'_>>,
    ) -> Result<()> {
        // 1. Read once
        let Scratch { tokens, fingerprint, key, routed } = scratch;
        let source = read(client, text, tokens, fingerprint)?;
        // 2. The plan, looked up or made
        let planned = &self.plan(client, source, fingerprint, key).await?;
        let statement = Statement { source, fingerprint, params: bound.map(|bound| bound.values) };
        let running = Running { engine: self, planned, statement, bound };
        // 3. Routed and carried out, by kind of plan
        match &planned.plan {
            Plan::Single(plan) => single::run(running, client, routed, plan).await,
            Plan::Insert(_) | Plan::WriteScatter(_) => spread::run(running, client, routed).await,
            Plan::Local(plan) => local::run(running, client, routed, plan).await,
            Plan::Ddl(plan) => ddl::serve(running, client, plan).await,
            Plan::Refusal(error) => Err(error.clone()),
        }
    }

    /// Looks the plan up, or makes it with the definitions that it needs.
    pub(super) async fn plan(
        &self,
        _client: &Client,
        _source: Source<'_>,
        _fingerprint: &Fingerprint,
        _key: &mut Vec<u8>,
    ) -> Result<Arc<Planned>> {
        Err(Error::refused("Bifold: statements are not planned yet."))
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
    if source.kind(0) == Kind::End {
        return Err(Error::client(EMPTY_QUERY, "Query was empty"));
    }
    let rest = end + u32::from(source.kind(end) == Kind::Semicolon);
    match source.kind(rest) {
        Kind::End => Ok(source),
        _ => Err(Error::client(code::PARSE, "several statements")),
    }
}

const EMPTY_QUERY: (u16, &[u8; 5]) = (1065, b"42000");

impl Running<'_> {
    /// The texts for servers. What routing lacks is fetched, and it is done again.
    pub async fn route(&self, client: &Client, routed: &mut Routed) -> Result<()> {
        let ids = Stash::new(&self.engine.ids);
        let (_facts, _routed) = (facts(client, self.engine, &ids), routed);
        Err(Error::refused("Bifold: statements are not routed yet."))
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
        weights: &engine.weights,
        ids,
    }
}

/// Seconds and microseconds of Unix time.
fn now() -> (u64, u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_secs(), now.subsec_micros())
}
