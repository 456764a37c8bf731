//! The reply of one server on its way to the client: bytes are passed on as they were read, only
//! packet headers are looked at. Column definitions, OK packets and errors are the exceptions:
//! there physical names become logical and insert ids are put in.

use std::ops::Range;

use super::client_file;
use super::names::{self, Homes};
use crate::error::{Blame, Error, Result, code};
use crate::protocol::Capabilities;
use crate::protocol::Status;
use crate::protocol::column;
use crate::protocol::err::ErrPacket;
use crate::protocol::ok::OkPacket;
use crate::protocol::packet::{HEADER, Renumber};
use crate::protocol::payload::put_lenenc;
use crate::protocol::prepared::Prepared;
use crate::protocol::reply::{Kind, Piece, Reply, rows_end_warnings};
use crate::route::Name;
use crate::shard::Conn;
use crate::wire::Framed;

/// So much is collected before it is written while more is to come; MySQL's own servers hold
/// back as much (`net_buffer_length`).
const COLLECT: usize = 16 * 1024;

/// What is changed on the way.
#[derive(Clone, Copy, Debug)]
pub struct Adjust<'a> {
    pub names: &'a [Name],
    /// Unsharded tables may be among those that the statement reaches.
    pub homes: Option<Homes<'a>>,
    /// The insert id of OK packets, where the server knows of none and a row was written.
    pub insert_id: Option<u64>,
    /// The number by which the client knows the statement that is being prepared.
    pub statement: Option<u32>,
    /// Set besides the server's own: the session's transaction is open, be it on another server; more
    /// results of the same text follow.
    pub flags: Status,
}

impl Adjust<'_> {
    fn error(&self, error: Error) -> Error {
        let error = names::in_error(self.names, error);
        match self.homes.filter(|_| names::may_name_others(error.code())) {
            Some(homes) => {
                let text = homes.in_qualifiers(error.text()).into_owned();
                names::in_foreign(homes.topology, error.with_text(text))
            }
            None => error,
        }
    }
}

/// What a reply said.
#[derive(Debug, Default)]
pub struct Summary {
    pub rows: u64,
    pub affected: u64,
    pub insert_id: u64,
    pub warnings: u16,
    /// Number and parameters of the statement prepared, as the server has it.
    pub prepared: Option<(u32, u16)>,
    /// The error that it ended with; the client has it already.
    pub error: Option<Error>,
}

/// Passes a reply on. A server lost on the way is told the client as the reply's error; an `Err`
/// means that the client can be told nothing more.
pub async fn relay(conn: &mut Conn, client: &mut Framed, kind: Kind, adjust: Adjust<'_>) -> Result<Summary> {
    // The two sides count alike unless a command of more than 16 MiB changed its length.
    let delta = client.sequence().wrapping_sub(conn.wire().sequence());
    let mut reply = Reply::new(kind, conn.shape().deprecate_eof, conn.wire().sequence());
    let mut pass = Pass { client, adjust, delta, renumber: Renumber::new(0, delta), summary: Summary::default() };
    let passed = pass.reply(conn, &mut reply).await;
    pass.client.set_sequence(reply.sequence().wrapping_add(delta));
    pass.summary.rows = reply.rows();
    match passed {
        Ok(()) => conn.finish(&reply),
        Err(error) if error.ends_session() || reply.is_within_packet() => return Err(error.ending_session()),
        Err(error) => {
            pass.client.queue_with(|out| ErrPacket::of(&error).write(out));
            pass.summary.error = Some(error);
        }
    }
    pass.client.flush().await?;
    Ok(pass.summary)
}

pub(super) fn gone() -> Error {
    Error::new(Blame::Client, code::SERVER_GONE, "The client hung up.").ending_session()
}

struct Pass<'a> {
    client: &'a mut Framed,
    adjust: Adjust<'a>,
    delta: u8,
    renumber: Renumber,
    summary: Summary,
}

impl Pass<'_> {
    async fn reply(&mut self, conn: &mut Conn, reply: &mut Reply) -> Result<()> {
        loop {
            let wire = conn.wire();
            let bytes = wire.buffered();
            let piece = reply.next(bytes)?;
            let len = match &piece {
                Piece::Done => break,
                Piece::NeedMore(count) => {
                    self.make_way().await?;
                    tokio::select! {
                        biased;
                        filled = wire.fill_to(*count) => filled?,
                        () = self.client.hung_up() => return Err(gone()),
                    }
                    continue;
                }
                Piece::Rows { len } => {
                    self.rows(&bytes[..*len]).await?;
                    *len
                }
                packet => self.packet(packet, bytes)?,
            };
            conn.wire().consume(len);
            if matches!(piece, Piece::LocalInfile { .. }) {
                self.file(conn, reply).await?;
            }
        }
        conn.wire().rest();
        Ok(())
    }

    /// The client sends the file that the server asked for, up to an empty packet.
    async fn file(&mut self, conn: &mut Conn, reply: &mut Reply) -> Result<()> {
        self.client.flush().await?;
        conn.wire().set_sequence(reply.sequence());
        let mut lost = None;
        loop {
            let packet = client_file::packet(self.client).await?;
            // A server that is lost on the way is told when the client has sent all of it.
            if lost.is_none() {
                let wire = conn.wire();
                wire.queue_packet(&packet);
                if packet.is_empty() || wire.queued() >= COLLECT {
                    lost = wire.flush().await.err();
                }
            }
            if packet.is_empty() {
                break;
            }
        }
        reply.resume(self.client.sequence().wrapping_sub(self.delta));
        lost.map_or(Ok(()), Err)
    }

    async fn make_way(&mut self) -> Result<()> {
        if self.client.queued() >= COLLECT { self.client.flush().await } else { Ok(()) }
    }

    async fn rows(&mut self, bytes: &[u8]) -> Result<()> {
        if self.delta != 0 {
            let mut renumbered = Vec::with_capacity(bytes.len());
            self.renumber.copy(bytes, &mut renumbered);
            return self.client.write_all(&renumbered).await;
        }
        if self.client.queued() + bytes.len() < COLLECT {
            self.client.queue_raw(bytes);
            return Ok(());
        }
        self.client.write_all(bytes).await
    }

    /// Queues one packet as the client is to see it; gives its length in `bytes`.
    fn packet(&mut self, piece: &Piece, bytes: &[u8]) -> Result<usize> {
        let raw = |len: usize| &bytes[HEADER..len];
        self.client.set_sequence(bytes[3].wrapping_add(self.delta));
        match piece {
            Piece::Ok { len, insert_id, status } => self.ok(&bytes[..*len], insert_id, status)?,
            Piece::RowsEnd { len, status } => {
                self.summary.warnings = rows_end_warnings(&bytes[..*len], status);
                self.with_status(&bytes[..*len], status);
            }
            Piece::ColumnsEnd { len, status } => self.with_status(&bytes[..*len], status),
            Piece::Column { len } | Piece::Param { len } => {
                let names = self.adjust.names;
                let mut failed = None;
                self.client.queue_with(|out| {
                    failed = column::rewrite_names(raw(*len), |seen| names::in_column(names, seen), out).err();
                });
                if let Some(error) = failed {
                    return Err(error);
                }
            }
            Piece::Err { len } => {
                let error = ErrPacket::parse(raw(*len))?.into_error();
                let error = self.adjust.error(error);
                self.client.queue_with(|out| ErrPacket::of(&error).write(out));
                self.summary.error = Some(error);
            }
            Piece::Prepared { len, id, params, .. } => {
                self.summary.prepared = Some((*id, *params));
                let mut reply = Prepared::parse(raw(*len))?;
                reply.id = self.adjust.statement.unwrap_or(reply.id);
                self.client.queue_with(|out| reply.write(out));
            }
            Piece::ColumnCount { len, .. } | Piece::LocalInfile { len } => {
                self.client.queue_packet(raw(*len));
            }
            Piece::Done | Piece::NeedMore(_) | Piece::Rows { .. } => unreachable!("no packet"),
        }
        Ok(piece.len())
    }

    fn ok(&mut self, packet: &[u8], insert_id: &Range<usize>, status: &Range<usize>) -> Result<()> {
        let ok = OkPacket::parse(&packet[HEADER..], Capabilities::NONE)?;
        self.summary.affected += ok.affected_rows;
        // An upsert that changes nothing touches no row, whatever it looked at.
        let ours = match (self.adjust.insert_id, ok.affected_rows) {
            (Some(_), 0) => Some(0),
            (ours, _) => ours.filter(|_| ok.last_insert_id == 0),
        };
        self.summary.insert_id = ours.unwrap_or(ok.last_insert_id);
        self.summary.warnings = ok.warnings;
        match ours {
            None => self.with_status(packet, status),
            Some(id) => self.client.queue_with(|out| {
                out.extend_from_slice(&packet[HEADER..insert_id.start]);
                put_lenenc(out, id);
                let from = out.len() + status.start - insert_id.end;
                out.extend_from_slice(&packet[insert_id.end..]);
                put_status(&mut out[from..from + 2], self.adjust.flags);
            }),
        }
        Ok(())
    }

    fn with_status(&mut self, packet: &[u8], status: &Range<usize>) {
        let flags = self.adjust.flags;
        self.client.queue_with(|out| {
            let from = out.len() + status.start - HEADER;
            out.extend_from_slice(&packet[HEADER..]);
            put_status(&mut out[from..from + 2], flags);
        });
    }
}

fn put_status(bytes: &mut [u8], flags: Status) {
    for (byte, more) in bytes.iter_mut().zip(flags.bits().to_le_bytes()) {
        *byte |= more;
    }
}
