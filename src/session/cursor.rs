//! Cursors: the rows of an execution are held here and given out as the client fetches them. What
//! is too much to hold is not kept back: the client gets all rows at once, without a cursor, which
//! the reply's flags say.

use crate::error::Result;
use crate::execute::Client;
use crate::protocol::eof::EofPacket;
use crate::protocol::ok::OkPacket;
use crate::protocol::packet::{self, HEADER, Header};
use crate::protocol::payload::malformed;
use crate::protocol::reply::{Kind, Piece, Reply, rows_end_warnings};
use crate::protocol::{Capabilities, Status};

/// Bytes of rows that the cursors of one session may hold.
pub(super) const BUDGET: usize = 16 << 20;

#[derive(Debug)]
pub(super) struct Cursor {
    /// Packets, headers and all.
    rows: Vec<u8>,
    /// The next row.
    at: usize,
}

impl Cursor {
    /// Sends the reply that was kept back; where it is one result, its rows stay for the cursor.
    pub async fn open(client: &mut Client, reply: Vec<u8>, sequence: u8) -> Result<Option<Self>> {
        client.wire.set_sequence(sequence);
        let Some(parts) = Parts::of(&reply, client.shape.deprecate_eof, sequence)? else {
            let packets = packets(&reply);
            packets.into_iter().for_each(|payload| client.wire.queue_packet(&payload));
            client.wire.flush().await?;
            return Ok(None);
        };
        packets(&reply[..parts.head]).into_iter().for_each(|payload| client.wire.queue_packet(&payload));
        end(client, parts.status.with(Status::CURSOR_EXISTS), parts.warnings).await?;
        Ok(Some(Cursor { rows: reply[parts.rows].to_vec(), at: 0 }))
    }

    pub fn bytes(&self) -> usize {
        self.rows.len()
    }

    /// Sends the next rows. False: they were the last.
    pub async fn fetch(&mut self, client: &mut Client, count: u32) -> Result<bool> {
        let mut left = count;
        while left > 0 && self.at < self.rows.len() {
            let len = row_len(&self.rows[self.at..])?;
            let row = &self.rows[self.at..self.at + len];
            client.wire.queue_packet(&packet::payload_of(row));
            self.at += len;
            left -= 1;
        }
        let is_over = left > 0;
        let flag = if is_over { Status::LAST_ROW_SENT } else { Status::CURSOR_EXISTS };
        let status = client.status().with(flag);
        end(client, status, 0).await?;
        Ok(!is_over)
    }
}

async fn end(client: &mut Client, status: Status, warnings: u16) -> Result<()> {
    let capabilities = client.capabilities;
    client.wire.queue_with(|out| match capabilities.has(Capabilities::DEPRECATE_EOF) {
        true => OkPacket { status, warnings, ..OkPacket::default() }.write_end(capabilities, out),
        false => EofPacket { warnings, status }.write(out),
    });
    client.wire.flush().await
}

/// Where the parts of a result stand.
struct Parts {
    /// Column count and definitions.
    head: usize,
    rows: std::ops::Range<usize>,
    status: Status,
    warnings: u16,
}

impl Parts {
    /// `None`: it is no result, an error in the middle of one, or several results.
    fn of(bytes: &[u8], deprecate_eof: bool, sequence: u8) -> Result<Option<Self>> {
        let mut reply = Reply::new(Kind::Results, deprecate_eof, sequence);
        let (mut at, mut head, mut rows) = (0, 0, 0..0);
        let mut found = None;
        loop {
            let piece = reply.next(&bytes[at..])?;
            let len = piece.len();
            match piece {
                Piece::Done => return Ok(found),
                Piece::ColumnCount { .. } | Piece::Column { .. } if found.is_none() => head = at + len,
                Piece::ColumnsEnd { .. } => {}
                Piece::Rows { .. } => {
                    rows.start = if rows.is_empty() { at } else { rows.start };
                    rows.end = at + len;
                }
                Piece::RowsEnd { status, .. } if !reply.status().has(Status::MORE_RESULTS) => {
                    let warnings = rows_end_warnings(&bytes[at..at + len], &status);
                    found = Some(Parts { head, rows: rows.clone(), status: reply.status(), warnings });
                }
                _ => return Ok(None),
            }
            at += len;
        }
    }
}

/// The payloads of whole packets.
fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let len = row_len(bytes).unwrap_or(bytes.len());
        out.push(packet::payload_of(&bytes[..len]).into_owned());
        bytes = &bytes[len..];
    }
    out
}

/// The first packet's bytes, with those that continue it.
fn row_len(bytes: &[u8]) -> Result<usize> {
    let mut end = 0;
    loop {
        let header = bytes.get(end..).and_then(Header::parse).ok_or_else(malformed)?;
        end += HEADER + header.len;
        if !header.is_continued() {
            return if end <= bytes.len() { Ok(end) } else { Err(malformed()) };
        }
    }
}
