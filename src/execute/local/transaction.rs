//! BEGIN, COMMIT, ROLLBACK, savepoints, table locks. No server hears of a transaction before its
//! first statement there, but for a consistent snapshot, which is of the moment of its BEGIN.

use std::sync::Arc;

use super::done;
use crate::error::{Blame, Error, Result, code};
use crate::execute::client::{Client, Diagnostic, Level};
use crate::execute::statement::Running;
use crate::execute::{exchange, names};
use crate::plan::local::{Access, Completion, Savepoint, Transaction};
use crate::plan::{Effect, Plan, Planned};
use crate::protocol::ok::OkPacket;
use crate::route::Routed;
use crate::sql::literal::quote_name;
use crate::transaction::Ending;

pub(super) async fn run(running: &Running<'_>, client: &mut Client, what: &Transaction) -> Result<()> {
    match what {
        Transaction::Begin { snapshot, access } => begin(running, client, *snapshot, *access).await,
        Transaction::Commit(how) => end(client, Ending::Commit, *how).await,
        Transaction::Rollback(how) => end(client, Ending::Rollback, *how).await,
        Transaction::Savepoint(name) => {
            let implicit = !client.autocommit();
            client.hold.savepoint(&quoted(name), implicit).await?;
            done(client).await
        }
        Transaction::RollbackTo(name) => to_savepoint(client, name, false).await,
        Transaction::Release(name) => to_savepoint(client, name, true).await,
    }
}

async fn begin(running: &Running<'_>, client: &mut Client, snapshot: bool, access: Option<Access>) -> Result<()> {
    if client.hold.in_transaction() {
        client.hold.end(Ending::Commit).await?;
    }
    let mut statement = String::from("START TRANSACTION");
    let access = match access {
        None => "",
        Some(Access::ReadOnly) => "READ ONLY",
        Some(Access::ReadWrite) => "READ WRITE",
    };
    let snapshot_words = if snapshot { "WITH CONSISTENT SNAPSHOT" } else { "" };
    for (at, words) in [snapshot_words, access].into_iter().filter(|words| !words.is_empty()).enumerate() {
        statement.push_str(if at == 0 { " " } else { ", " });
        statement.push_str(words);
    }
    client.hold.begin(statement);
    if snapshot {
        take_snapshots(running, client).await?;
    }
    done(client).await
}

/// On every server of the default schema: one that is reached later can't look back.
async fn take_snapshots(running: &Running<'_>, client: &mut Client) -> Result<()> {
    let Some(schema) = client.schema.clone() else { return Ok(()) };
    let mut servers: Vec<_> = schema.shards().iter().map(|shard| shard.server).collect();
    servers.sort_unstable();
    servers.dedup();
    let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
    client.hold.several(&running.engine.servers, &servers, need).await.map(drop)
}

async fn end(client: &mut Client, ending: Ending, how: Completion) -> Result<()> {
    let next = how.chain.then(|| client.hold.chained());
    client.hold.end(ending).await?;
    if let Some(next) = next {
        client.hold.chain(next);
    }
    match unfinished(&client.hold.take_unfinished()) {
        None => done(client).await?,
        Some(warning) => {
            client.memory.row_count = 0;
            client.memory.diagnostics = vec![warning];
            client.reply_ok_of(OkPacket { warnings: 1, ..OkPacket::default() }).await?;
        }
    }
    match how.release {
        false => Ok(()),
        true => Err(Error::new(Blame::Client, code::SERVER_GONE, "RELEASE ended the session.").ending_session()),
    }
}

/// The warning that comes with a commit that some servers don't know of yet.
pub(in crate::execute) fn unfinished(servers: &[String]) -> Option<Diagnostic> {
    let text = format!(
        "Bifold: the transaction is committed; it becomes visible on server {} when that answers again",
        servers.join(", ")
    );
    let code = code::UNKNOWN.0;
    (!servers.is_empty()).then(|| Diagnostic { level: Level::Warning, code, text: text.into_bytes() })
}

async fn to_savepoint(client: &mut Client, name: &Savepoint, release: bool) -> Result<()> {
    match client.hold.to_savepoint(&quoted(name), release).await? {
        true => done(client).await,
        false => Err(Error::client((1305, b"42000"), format!("SAVEPOINT {} does not exist", name.0))),
    }
}

fn quoted(name: &Savepoint) -> String {
    let mut out = Vec::new();
    quote_name(&name.0, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// LOCK TABLES commits, then binds the connection until the session ends.
pub(super) async fn lock(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    planned: &Arc<Planned>,
) -> Result<()> {
    let locking = Running { planned, ..*running };
    let Plan::Single(single) = &planned.plan else {
        return Err(Error::proxy("Bifold: a LOCK TABLES is not one server's."));
    };
    client.hold.end(Ending::Commit).await?;
    let server = exchange::one_server(&locking, client, routed, single).await?;
    let need = exchange::need(client.shape, &client.settings.state, Effect::Lock);
    let conn = client.hold.connection(&running.engine.servers, server, need).await?;
    let part = &routed.parts[0];
    let said = conn.run_bytes(&routed.buffer[part.text.clone()]).await;
    said.map_err(|error| names::in_error(&part.names, error))?;
    client.hold.bind(server);
    client.forget_diagnostics(true);
    done(client).await
}

/// The connection stays: what else bound it may still be there.
pub(super) async fn unlock(running: &Running<'_>, client: &mut Client) -> Result<()> {
    for server in client.hold.bound() {
        let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
        let conn = client.hold.connection(&running.engine.servers, server, need).await?;
        conn.run("UNLOCK TABLES").await?;
    }
    done(client).await
}
