//! One server's share of a query over many places: its texts go out ahead of their replies, as
//! many as surely fit in the sockets, and the replies are read in the same order.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::exchange;
use super::relay::gone;
use super::statement::Running;
use crate::error::Result;
use crate::protocol::Command;
use crate::protocol::Status;
use crate::protocol::packet::{self, HEADER, Header, MAX_PACKET};
use crate::protocol::reply::{Kind, Piece, Reply};
use crate::route::{Part, Routed};
use crate::shard::{Answer, Conn};
use crate::topology::ServerNo;
use crate::wire::Framed;

/// A server that can't write its reply, since nobody reads it yet, reads no further text: texts
/// under way beyond the first must fit into the sockets' buffers, or both sides wait for ever.
const AHEAD: usize = 16 * 1024;

/// A connection is worth so many bytes of rows that nobody wants.
const LEFT: usize = 1 << 20;

pub(super) struct Line<'c> {
    pub conn: &'c mut Conn,
    pub server: ServerNo,
    /// Parts to send.
    waiting: VecDeque<usize>,
    /// Parts whose replies are to be read.
    sent: VecDeque<Sent>,
    ahead: usize,
    /// The reply to the first of those.
    reply: Option<Reply>,
}

struct Sent {
    part: usize,
    bytes: usize,
    /// The number of the reply's first packet.
    sequence: u8,
}

impl<'c> Line<'c> {
    pub fn new(conn: &'c mut Conn, server: ServerNo, parts: &[Part]) -> Self {
        let own = parts.iter().enumerate().filter(|(_, part)| part.server == server);
        let waiting = own.map(|(number, _)| number).collect();
        Line { conn, server, waiting, sent: VecDeque::new(), ahead: 0, reply: None }
    }

    /// Sends what may be under way.
    pub async fn send(&mut self, running: &Running<'_>, routed: &Routed) -> Result<()> {
        while let Some(&number) = self.waiting.front() {
            let part = &routed.parts[number];
            let text = &routed.buffer[part.text.clone()];
            if !self.sent.is_empty() && (running.bound.is_some() || self.ahead + text.len() > AHEAD) {
                break;
            }
            match running.bound {
                None => self.conn.send_behind(Command::Query, text).await?,
                // Preparing is an exchange of its own: nothing else may be under way.
                Some(_) => exchange::send(self.conn, text, part.args.as_deref(), running.bound).await?,
            }
            self.waiting.pop_front();
            self.ahead += text.len();
            self.sent.push_back(Sent { part: number, bytes: text.len(), sequence: self.conn.wire().sequence() });
        }
        Ok(())
    }

    /// Something is to be sent or to be read.
    pub fn is_under_way(&self) -> bool {
        !self.waiting.is_empty() || !self.sent.is_empty()
    }

    /// The part whose reply is next.
    pub fn current(&self) -> Option<usize> {
        self.sent.front().map(|sent| sent.part)
    }

    /// The next piece of the current reply: all of a packet, or one whole row. Waits for the server
    /// as long as the client is there.
    pub async fn piece(&mut self, client: &Framed) -> Result<Piece> {
        let Some(sent) = self.sent.front() else { return Ok(Piece::Done) };
        let deprecate_eof = self.conn.shape().deprecate_eof;
        let reply = self.reply.get_or_insert_with(|| Reply::new(Kind::Results, deprecate_eof, sent.sequence));
        while !reply.is_done() {
            let wire = self.conn.wire();
            match whole(wire.buffered()) {
                Ok(end) => return reply.next(&wire.buffered()[..end]),
                Err(needed) => tokio::select! {
                    biased;
                    filled = wire.fill_to(needed) => filled?,
                    () = client.hung_up() => return Err(gone()),
                },
            }
        }
        Ok(Piece::Done)
    }

    /// A piece's bytes, headers and all.
    pub fn bytes(&mut self, piece: &Piece) -> &[u8] {
        &self.conn.wire().buffered()[..piece.len()]
    }

    pub fn consume(&mut self, piece: &Piece) {
        self.conn.wire().consume(piece.len());
    }

    /// The current reply was read to its end. Gives its flags.
    pub fn finish(&mut self) -> Status {
        let Some(reply) = self.reply.take() else { return Status::NONE };
        if let Some(sent) = self.sent.pop_front() {
            self.ahead -= sent.bytes;
        }
        self.conn.finish_one(&reply, !self.sent.is_empty());
        if self.sent.is_empty() {
            self.conn.wire().rest();
        }
        reply.status()
    }

    /// Reads what is under way to its end, for nobody. If that is long the connection is left as it
    /// is, to be closed and its query killed; unless a transaction would go with it.
    pub async fn drain(&mut self, client: &Framed) -> Result<()> {
        let most = if self.conn.in_transaction() { usize::MAX } else { LEFT };
        self.read_out(client, most).await
    }

    async fn read_out(&mut self, client: &Framed, most: usize) -> Result<()> {
        self.waiting.clear();
        let mut read = 0;
        while self.current().is_some() && read <= most {
            match self.piece(client).await? {
                Piece::Done => drop(self.finish()),
                piece => {
                    read += piece.len();
                    self.consume(&piece);
                }
            }
        }
        Ok(())
    }

    /// What a part warned of: it is run again for that, since SHOW WARNINGS tells of the last
    /// statement only, and others were behind it.
    pub async fn warnings(
        &mut self,
        running: &Running<'_>,
        routed: &Routed,
        part: usize,
        client: &Framed,
    ) -> Result<Answer> {
        self.waiting.push_back(part);
        self.send(running, routed).await?;
        self.read_out(client, usize::MAX).await?;
        self.conn.run("SHOW WARNINGS").await
    }
}

/// Where the first packet ends, with those that continue it; or how many bytes are needed to know
/// or to have it.
fn whole(bytes: &[u8]) -> std::result::Result<usize, usize> {
    let mut end = 0;
    loop {
        let header = bytes.get(end..).and_then(Header::parse).ok_or(end + HEADER)?;
        end += HEADER + header.len;
        if header.len < MAX_PACKET {
            break;
        }
    }
    if end <= bytes.len() { Ok(end) } else { Err(end) }
}

/// A row without its headers.
pub(super) fn row(bytes: &[u8]) -> Cow<'_, [u8]> {
    packet::payload_of(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::packet::frame;

    #[test]
    fn a_packet_is_whole_with_those_that_continue_it() {
        for len in [0, 5, MAX_PACKET - 1, MAX_PACKET, MAX_PACKET + 3] {
            let mut bytes = Vec::new();
            frame(&mut bytes, 7, &vec![1; len]);
            let end = bytes.len();
            frame(&mut bytes, 9, b"next");
            assert_eq!(whole(&bytes), Ok(end));
            assert_eq!(row(&bytes[..end]).len(), len);
            assert!(whole(&bytes[..end - 1]).is_err_and(|needed| needed <= end));
        }
        assert_eq!(whole(&[]), Err(4));
    }
}
