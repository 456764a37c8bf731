//! COM_FIELD_LIST, deprecated and still what the mysql client completes names by: the columns of a
//! table, described by the server of its first place.

use super::client::Client;
use super::engine::Engine;
use super::exchange::{self, enter};
use super::names;
use crate::error::{Error, Result, code};
use crate::plan::Effect;
use crate::protocol::Command;
use crate::protocol::column;
use crate::protocol::err::ErrPacket;
use crate::protocol::packet::{HEADER, Header};
use crate::protocol::payload::malformed;
use crate::protocol::reply::{Kind, Piece, Reply};
use crate::route::Name;
use crate::shard::Conn;
use crate::topology::{Schema, SubtableNo, TableKind};
use crate::transaction::Need;

impl Engine {
    /// `body`: the table's name, a zero byte, a pattern for the columns.
    pub async fn field_list(&self, client: &mut Client, body: &[u8]) -> Result<()> {
        let end = memchr::memchr(0, body).ok_or_else(malformed)?;
        let (table, pattern) = (String::from_utf8_lossy(&body[..end]).into_owned(), &body[end..]);
        // 1. Which physical table
        let schema = client.schema.clone().ok_or_else(|| Error::client(code::NO_DB, "No database selected"))?;
        let name = physical(&schema, table)?;
        // 2. Its columns, as the server has them
        let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
        let need = Need { bare: true, ..need };
        let conn = client.hold.connection(&self.servers, schema.home().server, need).await?;
        enter(conn, &name.database).await?;
        conn.send(Command::FieldList, &[name.table.as_bytes(), pattern].concat()).await?;
        let packets = definitions(conn, &name).await?;
        // 3. With logical names
        for definition in packets {
            client.wire.queue_packet(&definition);
        }
        client.reply_eof().await
    }
}

fn physical(schema: &Schema, table: String) -> Result<Name> {
    let physical = match schema.rule(&table).map(|rule| &rule.kind) {
        Some(TableKind::Sharded(sharded)) => sharded.pattern.physical_name(SubtableNo(0)),
        Some(TableKind::Reference | TableKind::Unsharded) => table.clone(),
        // Subtables are there, but nobody is told.
        None if schema.logical_of(table.as_bytes()).is_some() => {
            let text = format!("Table '{}.{table}' doesn't exist", schema.name);
            return Err(Error::client(code::NO_SUCH_TABLE, text));
        }
        None => table.clone(),
    };
    Ok(Name {
        database: schema.home().database.clone(),
        table: physical,
        logical_schema: schema.name.clone(),
        logical_table: table,
        own: None,
    })
}

async fn definitions(conn: &mut Conn, name: &Name) -> Result<Vec<Vec<u8>>> {
    // To the scanner definitions look like rows: packets up to the end.
    let mut reply = Reply::new(Kind::Rows, conn.shape().deprecate_eof, 1);
    let mut packets = Vec::new();
    let mut failed = None;
    loop {
        let piece = reply.next(conn.wire().buffered())?;
        let bytes = &conn.wire().buffered()[..piece.len()];
        match &piece {
            Piece::Done => break,
            Piece::NeedMore(count) => conn.wire().fill_to(*count).await?,
            Piece::Rows { .. } => packets.extend_from_slice(bytes),
            Piece::Err { .. } => failed = Some(ErrPacket::parse(&bytes[HEADER..])?.into_error()),
            _ => {}
        }
        conn.wire().consume(piece.len());
    }
    conn.finish(&reply);
    conn.wire().rest();
    let names = std::slice::from_ref(name);
    if let Some(error) = failed {
        return Err(names::in_error(names, error));
    }
    let mut rest = packets.as_slice();
    let mut out = Vec::new();
    while let Some(header) = Header::parse(rest) {
        let (packet, behind) = rest[HEADER..].split_at(header.len);
        let mut definition = Vec::new();
        column::rewrite_names(packet, |seen| names::in_column(names, seen), &mut definition)?;
        out.push(definition);
        rest = behind;
    }
    Ok(out)
}
