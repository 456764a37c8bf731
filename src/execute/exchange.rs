//! One text sent to one server, as a statement or as an execution of a prepared one, and what is
//! done after its reply: warnings, session functions, settings that it changed.

use super::client::{Client, Diagnostic, Level};
use super::names::{self, Homes};
use super::relay::{self, Adjust, Summary};
use super::settings;
use super::statement::{Bound, Running};
use super::sweep;
use crate::context::Setting;
use crate::error::{Error, Result};
use crate::plan::{Effect, Kind, Plan, Single};
use crate::protocol::Command;
use crate::protocol::execute::{self, LongData};
use crate::protocol::reply;
use crate::route::{Arg, Name, Part, Routed};
use crate::shard::{Answer, Conn};
use crate::topology::ServerNo;
use crate::transaction::{Hold, Need};
use crate::value::Value;

/// Sends a part and passes its reply on to the client.
pub(super) async fn pass(
    running: &Running<'_>,
    client: &mut Client,
    routed: &Routed,
    part: &Part,
    server: ServerNo,
    effect: Effect,
) -> Result<Summary> {
    let flags = client.reply_flags();
    if let Some(key) = routed.hot {
        client.take_turn(&running.engine.hot_keys, key, running.engine.config.backend.wait).await?;
    }
    // A text that names no physical table reads none.
    let prepared = running.bound.is_some().then(|| &routed.buffer[part.text.clone()]);
    let need = Need { bare: part.names.is_empty(), prepared, ..need(client.shape, &client.settings.state, effect) };
    let conn = client.hold.connection(&running.engine.servers, server, need).await?;
    if let Some(name) = default_database(running, part) {
        enter(conn, name).await?;
    }
    sweep::before(running, conn, part).await?;
    send(conn, &routed.buffer[part.text.clone()], part.args.as_deref(), running.bound).await?;
    let homes = Some(Homes { topology: &running.engine.topology, server });
    let adjust = Adjust { names: &part.names, homes, insert_id: routed.insert_id, flags, statement: None };
    relay::relay(conn, &mut client.wire, reply::Kind::Results, adjust).await
}

/// The database that a statement needs as the default one.
pub(super) fn default_database<'a>(running: &Running<'_>, part: &'a Part) -> Option<&'a str> {
    match &running.planned.plan {
        Plan::Single(Single { needs_schema: true, .. }) => part.names.first().map(|name| name.database.as_str()),
        Plan::Single(_)
        | Plan::Scatter(_)
        | Plan::Gather(_)
        | Plan::Insert(_)
        | Plan::InsertSelect(_)
        | Plan::WriteScatter(_)
        | Plan::Local(_)
        | Plan::Load(_)
        | Plan::Ddl(_)
        | Plan::Refusal(_) => None,
    }
}

/// Makes a database the connection's default one. No other statement depends on which it is.
pub(super) async fn enter(conn: &mut Conn, database: &str) -> Result<()> {
    conn.send(Command::InitDb, database.as_bytes()).await?;
    conn.read_answer(reply::Kind::Results).await.map(drop)
}

/// Sends a part and reads its small answer, for merging.
pub(super) async fn ask(running: &Running<'_>, conn: &mut Conn, text: &[u8], args: Option<&[Arg]>) -> Result<Answer> {
    send(conn, text, args, running.bound).await?;
    conn.read_answer(reply::Kind::Results).await
}

/// Sends a text, or the execution of it with the client's parameters.
pub(super) async fn send(conn: &mut Conn, text: &[u8], args: Option<&[Arg]>, bound: Option<Bound<'_>>) -> Result<()> {
    let Some(bound) = bound else { return conn.send(Command::Query, text).await };
    let Some(args) = args else {
        let id = conn.prepared(text, bound.values).await?;
        for (param, bytes) in &bound.bindings.long {
            let data = LongData { statement: id, param: *param, bytes };
            conn.send_silently(|out| data.write(out));
        }
        return conn.send_payload(|out| bound.execute.write(id, bound.bindings, out)).await;
    };
    let values: Vec<Value<'_>> = args.iter().map(|arg| value(*arg, bound.values)).collect();
    let id = conn.prepared(text, &values).await?;
    conn.send_payload(|out| execute::write_values(id, 0, &values, out)).await
}

fn value<'a>(arg: Arg, client: &[Value<'a>]) -> Value<'a> {
    match arg {
        Arg::Client(number) => client[usize::from(number)].clone(),
        Arg::Id(id) => Value::UInt(id),
    }
}

pub(super) fn need<'a>(
    shape: crate::shard::ReplyShape,
    state: &'a std::sync::Arc<crate::context::State>,
    effect: Effect,
) -> Need<'a> {
    Need { shape, state, effect, bare: false, prepared: None }
}

/// Routes a plan for one server; gives that server. Without tables any will do: best one that
/// the session holds already. The text is the first part's.
pub(super) async fn one_server(
    running: &Running<'_>,
    client: &Client,
    routed: &mut Routed,
    plan: &Single,
) -> Result<ServerNo> {
    running.route(client, routed).await?;
    let part = routed.parts.first().ok_or_else(|| Error::proxy("Bifold: a statement was routed to no place."))?;
    let anywhere = plan.template.refs.is_empty() && !plan.needs_schema;
    Ok(client.hold.any().filter(|_| anywhere).unwrap_or(part.server))
}

/// After a reply that the client has: what the session remembers of it.
pub(super) async fn follow(
    running: &Running<'_>,
    client: &mut Client,
    mut at: At<'_>,
    names: &[Name],
    summary: Summary,
) -> Result<()> {
    remember(running.planned.kind, client, &summary);
    let homes = match &at {
        At::Held(server) => Some(Homes { topology: &running.engine.topology, server: *server }),
        At::Apart(_) => None,
    };
    if let Some(error) = &summary.error {
        client.memory.failed(error);
        running.engine.forget_stale(running.planned, error);
        // What it said before it failed; a connection that is lost says nothing.
        if let Some(conn) = at.conn(&mut client.hold).filter(|conn| !conn.is_busy())
            && let Ok(all) = warnings(conn, names, homes).await
            && !all.is_empty()
        {
            client.memory.diagnostics = all;
        }
        return Ok(());
    }
    client.forget_diagnostics(!names.is_empty());
    if summary.warnings > 0
        && let Some(conn) = at.conn(&mut client.hold)
    {
        client.memory.diagnostics = warnings(conn, names, homes).await?;
    }
    if running.planned.kind == Kind::CountedRows
        && let Some(conn) = at.conn(&mut client.hold)
    {
        client.memory.found_rows = found_rows(conn).await?;
    }
    follow_last_id(running, client, &mut at, &summary).await?;
    let assigned: Vec<Setting> = running.planned.settings().cloned().collect();
    settings::follow(client, running.engine, at, &assigned).await
}

/// The connection that a statement ran on.
pub(super) enum At<'c> {
    /// The session's own to this server.
    Held(ServerNo),
    /// One beside the session's.
    Apart(&'c mut Conn),
}

impl At<'_> {
    pub fn conn<'h>(&'h mut self, hold: &'h mut Hold) -> Option<&'h mut Conn> {
        match self {
            At::Held(server) => hold.held(*server),
            At::Apart(conn) => Some(conn),
        }
    }
}

/// What an INSERT leaves for LAST_INSERT_ID(): the first id generated for it, or what the
/// statement set by LAST_INSERT_ID(expr).
pub(super) fn remember_insert(client: &mut Client, routed: &Routed, summary: &Summary) {
    if summary.error.is_some() {
        return;
    }
    match routed.generated_id {
        Some(id) if summary.affected > 0 && summary.insert_id == id => client.memory.last_insert_id = id,
        Some(_) | None => {}
    }
}

fn remember(kind: Kind, client: &mut Client, summary: &Summary) {
    let memory = &mut client.memory;
    match kind {
        Kind::Rows | Kind::CountedRows => {
            memory.row_count = -1;
            memory.found_rows = summary.rows;
        }
        Kind::Write | Kind::Other => memory.row_count = i64::try_from(summary.affected).unwrap_or(i64::MAX),
    }
}

/// LAST_INSERT_ID() after a server counted up an id, or the statement said LAST_INSERT_ID(expr).
/// The connection's own function tells such an id from one that a row gave itself.
async fn follow_last_id(running: &Running<'_>, client: &mut Client, at: &mut At<'_>, summary: &Summary) -> Result<()> {
    let planned = running.planned;
    let is_read = matches!(planned.kind, Kind::Rows | Kind::CountedRows);
    let may_be = match &planned.plan {
        Plan::Single(_) | Plan::Gather(_) | Plan::WriteScatter(_) if is_read => {
            planned.sets_last_id() && summary.rows > 0
        }
        Plan::Single(_) | Plan::Gather(_) | Plan::WriteScatter(_) => summary.insert_id != 0,
        Plan::Insert(_) => planned.sets_last_id() && summary.insert_id != 0,
        Plan::Scatter(_) | Plan::InsertSelect(_) | Plan::Local(_) | Plan::Load(_) | Plan::Ddl(_) | Plan::Refusal(_) => {
            false
        }
    };
    let Some(conn) = at.conn(&mut client.hold).filter(|_| may_be) else { return Ok(()) };
    let id = number(conn, "SELECT LAST_INSERT_ID()").await?;
    if is_read || id == summary.insert_id {
        client.memory.last_insert_id = id;
    }
    Ok(())
}

/// The rows that the last statement would have found without its LIMIT.
async fn found_rows(conn: &mut Conn) -> Result<u64> {
    number(conn, "SELECT FOUND_ROWS()").await
}

pub(super) async fn number(conn: &mut Conn, sql: &str) -> Result<u64> {
    let answer = conn.run(sql).await?;
    let cell = answer.rows.first().and_then(|row| row.first()?.as_deref().map(String::from_utf8_lossy));
    cell.and_then(|digits| digits.parse().ok())
        .ok_or_else(|| Error::proxy(format!("Bifold: a server gave no number for {sql}.")))
}

/// What SHOW WARNINGS says on the connection that has just served.
async fn warnings(conn: &mut Conn, names: &[Name], homes: Option<Homes<'_>>) -> Result<Vec<Diagnostic>> {
    let answer = conn.run("SHOW WARNINGS").await?;
    let mut all = diagnostics(&answer, names);
    let Some(homes) = homes else { return Ok(all) };
    for diagnostic in all.iter_mut().filter(|diagnostic| names::may_name_others(diagnostic.code)) {
        diagnostic.text = names::in_foreign_text(homes.topology, &homes.in_qualifiers(&diagnostic.text));
    }
    Ok(all)
}

/// The rows of SHOW WARNINGS, with logical names.
pub(super) fn diagnostics(answer: &Answer, names: &[Name]) -> Vec<Diagnostic> {
    let row = |row: &crate::shard::Row| {
        let [level, code, text] = row.as_slice() else { return None };
        let code = std::str::from_utf8(code.as_ref()?).ok()?.parse().ok()?;
        let level = match level.as_deref() {
            Some(b"Note") => Level::Note,
            Some(b"Error") => Level::Error,
            _ => Level::Warning,
        };
        Some(Diagnostic { level, code, text: names::in_text(names, code, text.as_ref()?) })
    };
    answer.rows.iter().filter_map(row).collect()
}
