//! The reply to COM_STMT_PREPARE: what a statement's columns and parameters are, as one server
//! says that prepares its text for one place.

use super::client::Client;
use super::exchange;
use super::gather;
use super::names::Homes;
use super::relay::{self, Adjust};
use super::statement::Running;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::protocol::column::{Column, ColumnFlags, ColumnType};
use crate::protocol::eof::EofPacket;
use crate::protocol::prepared::Prepared;
use crate::protocol::reply::Kind;
use crate::protocol::{Capabilities, Command, Status};
use crate::route::Routed;

/// A statement that no server runs as it is: its parameters are what servers call any parameter,
/// its columns the execution tells.
pub(super) async fn without_server(client: &mut Client, params: u16, id: u32) -> Result<()> {
    let head = Prepared { id, columns: 0, params, warnings: 0 };
    client.wire.queue_with(|out| head.write(out));
    for _ in 0..params {
        client.wire.queue_with(|out| PARAM.write(out));
    }
    if params > 0 && !client.capabilities.has(Capabilities::DEPRECATE_EOF) {
        let end = EofPacket { warnings: 0, status: client.status() };
        client.wire.queue_with(|out| end.write(out));
    }
    client.wire.flush().await
}

const PARAM: Column<'static> = Column {
    schema: b"",
    table: b"",
    org_table: b"",
    name: b"?",
    org_name: b"",
    collation: 63,
    length: 0,
    kind: ColumnType::VarString,
    flags: ColumnFlags::BINARY,
    decimals: 0,
};

/// False where the server had an error to tell, and the client was told.
pub(super) async fn at_one_place(
    running: Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    id: u32,
) -> Result<bool> {
    running.sample(client, routed).await?;
    if routed.gathered.is_some() {
        return Box::pin(gather::prepare(running, client, routed, id)).await;
    }
    let part = routed.parts.first().ok_or_else(|| Error::proxy("Bifold: a statement without a text was prepared."))?;
    let text = &routed.buffer[part.text.clone()];
    // Not in the session's transaction unless that is on this server already: preparing reads
    // nothing, and must not begin it.
    let mut lent;
    let conn = match client.hold.held(part.server) {
        Some(conn) => conn,
        None => {
            lent = running.engine.servers.get(part.server).checkout(client.shape, &client.settings.state).await?;
            &mut lent
        }
    };
    conn.bring_to(&client.settings.state).await?;
    if let Some(name) = exchange::default_database(&running, part) {
        exchange::enter(conn, name).await?;
    }
    conn.send(Command::StmtPrepare, text).await?;
    let homes = Some(Homes { topology: &running.engine.topology, server: part.server });
    let adjust = Adjust { names: &part.names, homes, insert_id: None, flags: Status::NONE, statement: Some(id) };
    let summary = relay::relay(conn, &mut client.wire, Kind::Prepare, adjust).await?;
    if let Some(error) = &summary.error {
        client.memory.failed(error);
    }
    let Some((server_id, params)) = summary.prepared else { return Ok(false) };
    match running.planned.plan {
        // Its executions have other texts, with ids in them.
        Plan::Insert(_) | Plan::InsertSelect(_) | Plan::Gather(_) => conn.close_statement(server_id).await?,
        Plan::Single(_)
        | Plan::Scatter(_)
        | Plan::WriteScatter(_)
        | Plan::Local(_)
        | Plan::Load(_)
        | Plan::Ddl(_)
        | Plan::Refusal(_) => {
            conn.keep_prepared(text, server_id, params).await?;
        }
    }
    Ok(true)
}
