//! Where a reply ends: a state machine over packet headers, fed with bytes as they come from a
//! server, that names the pieces in them. Rows run together into spans of many, and may be cut
//! anywhere, so that they can be passed on as they were read; all other packets are given whole.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response.html>
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_prepare.html>

use std::ops::Range;

use crate::error::{Blame, Error, Result, code};
use crate::protocol::packet::{HEADER, Header, MAX_PACKET};
use crate::protocol::payload::{Reader, malformed};
use crate::protocol::status::Status;

/// The shape of the reply to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// COM_QUERY, COM_STMT_EXECUTE: OK, an error, or results.
    Results,
    /// COM_STMT_PREPARE.
    Prepare,
    /// COM_STMT_FETCH: rows and their end.
    Rows,
    /// COM_PING, COM_INIT_DB, COM_RESET_CONNECTION, …: one packet, OK, EOF or an error.
    Single,
}

/// A piece of a reply, at the front of the bytes given. `len` counts its bytes, headers and all;
/// a packet's payload is `bytes[4..len]`. Ranges count from the front too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Nothing yet: the next piece begins with this many bytes.
    NeedMore(usize),
    /// How many column definitions follow.
    ColumnCount { len: usize, count: usize },
    /// A column definition, of a result or (second part) of a prepared statement.
    Column { len: usize },
    /// The definition of a prepared statement's parameter.
    Param { len: usize },
    /// The EOF packet after definitions.
    ColumnsEnd { len: usize, status: Range<usize> },
    /// Rows, or a part of one.
    Rows { len: usize },
    /// The end of the rows: an EOF packet, or with DEPRECATE_EOF an OK packet that begins 0xFE.
    /// Of a `Kind::Single` reply: an EOF packet.
    RowsEnd { len: usize, status: Range<usize> },
    /// An OK packet, with the places of the insert id (length-encoded) and the status in it.
    Ok { len: usize, insert_id: Range<usize>, status: Range<usize> },
    /// An error; nothing follows.
    Err { len: usize },
    /// The server asks for a file's content; after it was sent, the reply goes on.
    LocalInfile { len: usize },
    /// The prepared statement's id and counts.
    Prepared { len: usize, id: u32, columns: u16, params: u16 },
    /// The reply is over; whatever bytes are there don't belong to it.
    Done,
}

impl Piece {
    /// How many bytes it takes; none where it is no bytes yet, or any more.
    #[inline]
    pub fn len(&self) -> usize {
        match *self {
            Piece::NeedMore(_) | Piece::Done => 0,
            Piece::ColumnCount { len, .. }
            | Piece::Column { len }
            | Piece::Param { len }
            | Piece::ColumnsEnd { len, .. }
            | Piece::Rows { len }
            | Piece::RowsEnd { len, .. }
            | Piece::Ok { len, .. }
            | Piece::Err { len }
            | Piece::LocalInfile { len }
            | Piece::Prepared { len, .. } => len,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    First,
    Single,
    Prepare,
    Params { left: usize, columns: usize },
    ParamsEnd { columns: usize },
    Columns { left: usize, then: Then },
    ColumnsEnd { then: Then },
    Rows,
    Done,
}

/// What follows column definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Rows,
    Nothing,
}

/// Scans one reply.
#[derive(Clone, Debug)]
pub struct Reply {
    state: State,
    deprecate_eof: bool,
    sequence: u8,
    /// Bytes still to come of a packet of rows.
    in_row: usize,
    /// The packet of rows under way, or just past, is continued by the next packet.
    continued: bool,
    status: Status,
    told: bool,
    failed: bool,
    rows: u64,
}

impl Reply {
    /// `sequence`: the number of the reply's first packet; 1 where the command was one packet.
    pub fn new(kind: Kind, deprecate_eof: bool, sequence: u8) -> Self {
        let state = match kind {
            Kind::Results => State::First,
            Kind::Prepare => State::Prepare,
            Kind::Rows => State::Rows,
            Kind::Single => State::Single,
        };
        Reply {
            state,
            deprecate_eof,
            sequence,
            in_row: 0,
            continued: false,
            status: Status::NONE,
            told: false,
            failed: false,
            rows: 0,
        }
    }

    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The reply ended with an error.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// The flags of the last OK or EOF packet; NONE before one came.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The reply had flags that tell of the session.
    pub fn tells_status(&self) -> bool {
        self.told
    }

    /// How many rows have begun so far, in all results.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The last piece ended within a packet: no other packet can stand there.
    pub fn is_within_packet(&self) -> bool {
        self.in_row > 0 || self.continued
    }

    /// The number that the next packet will bear, in the direction of the client.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// The packets of a file's content went to the server in between; `sequence` is the number
    /// that its answer will bear.
    pub fn resume(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The next piece. `bytes` begin where the last piece ended. An error means that these bytes
    /// are no reply, and that the connection can't be used any more.
    #[inline]
    pub fn next(&mut self, bytes: &[u8]) -> Result<Piece> {
        if self.state == State::Rows {
            let len = self.row_bytes(bytes)?;
            if len > 0 {
                return Ok(Piece::Rows { len });
            }
        }
        self.packet(bytes)
    }

    /// How many bytes at the front are rows.
    #[inline]
    fn row_bytes(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut at = self.in_row.min(bytes.len());
        self.in_row -= at;
        at = self.plain_rows(bytes, at);
        while let Some([a, b, c, sequence]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<HEADER>()) {
            let len = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
            if !self.continued {
                match bytes.get(at + HEADER) {
                    // A row's first value can't begin with 0xFF.
                    Some(0xFF) => break,
                    Some(0xFE) if self.ends_rows(len) => break,
                    Some(_) if len > 0 => {}
                    Some(_) | None => break,
                }
            }
            if *sequence != self.sequence {
                return Err(out_of_order(self.sequence, *sequence));
            }
            self.sequence = self.sequence.wrapping_add(1);
            self.rows += u64::from(!self.continued);
            self.continued = len == MAX_PACKET;
            let end = at + HEADER + len;
            if end > bytes.len() {
                self.in_row = end - bytes.len();
                return Ok(bytes.len());
            }
            at = end;
        }
        Ok(at)
    }

    /// Rows that are whole and have nothing odd about them, from `at` on: nearly all of them. What
    /// stops here is looked at closely.
    #[inline]
    fn plain_rows(&mut self, bytes: &[u8], mut at: usize) -> usize {
        if self.continued || self.in_row > 0 {
            return at;
        }
        let (mut sequence, mut rows) = (self.sequence, 0);
        while let Some(&[a, b, c, number, first]) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let len = u32::from_le_bytes([a, b, c, 0]) as usize;
            let end = at + HEADER + len;
            if number != sequence || first >= 0xFE || len == 0 || len == MAX_PACKET || end > bytes.len() {
                break;
            }
            sequence = sequence.wrapping_add(1);
            rows += 1;
            at = end;
        }
        (self.sequence, self.rows) = (sequence, self.rows + rows);
        at
    }

    /// A packet that begins with 0xFE is a row whose first value has 16 MiB or more, unless it
    /// is too short for that.
    fn ends_rows(&self, len: usize) -> bool {
        if self.deprecate_eof { len < MAX_PACKET } else { len < 9 }
    }

    fn packet(&mut self, bytes: &[u8]) -> Result<Piece> {
        if self.state == State::Done {
            return Ok(Piece::Done);
        }
        let Some(header) = Header::parse(bytes) else { return Ok(Piece::NeedMore(HEADER + 1)) };
        if self.state == State::Rows && bytes.len() == HEADER {
            return Ok(Piece::NeedMore(HEADER + 1));
        }
        if header.sequence != self.sequence {
            return Err(out_of_order(self.sequence, header.sequence));
        }
        if header.len == 0 || header.is_continued() {
            return Err(malformed_reply());
        }
        let len = HEADER + header.len;
        if bytes.len() < len {
            return Ok(Piece::NeedMore(len));
        }
        let piece = self.whole(&bytes[HEADER..len], len).map_err(|_| malformed_reply())?;
        self.sequence = self.sequence.wrapping_add(1);
        Ok(piece)
    }

    fn whole(&mut self, payload: &[u8], len: usize) -> Result<Piece> {
        if payload[0] == 0xFF {
            self.state = State::Done;
            self.failed = true;
            return Ok(Piece::Err { len });
        }
        match self.state {
            State::First => self.first(payload, len),
            State::Single => match payload[0] {
                0x00 => self.ok(payload, len),
                0xFE => self.rows_end(payload, len),
                _ => Err(malformed()),
            },
            State::Prepare => self.prepared(payload, len),
            State::Params { left, columns } => {
                self.state = self.params(left - 1, columns);
                Ok(Piece::Param { len })
            }
            State::ParamsEnd { columns } => {
                let status = self.eof(payload)?;
                self.state = self.columns(columns, Then::Nothing);
                Ok(Piece::ColumnsEnd { len, status })
            }
            State::Columns { left, then } => {
                self.state = match left {
                    1 => self.columns_end(then),
                    _ => State::Columns { left: left - 1, then },
                };
                Ok(Piece::Column { len })
            }
            State::ColumnsEnd { then } => {
                let status = self.eof(payload)?;
                // A cursor was opened: the rows are fetched by commands of their own.
                let cursor = self.status.has(Status::CURSOR_EXISTS);
                self.state = if cursor { self.result_end() } else { after(then) };
                Ok(Piece::ColumnsEnd { len, status })
            }
            State::Rows => self.rows_end(payload, len),
            State::Done => Ok(Piece::Done),
        }
    }

    fn first(&mut self, payload: &[u8], len: usize) -> Result<Piece> {
        match payload[0] {
            0x00 => self.ok(payload, len),
            0xFB => Ok(Piece::LocalInfile { len }),
            0xFE => Err(malformed()),
            _ => {
                let count = usize::try_from(Reader::new(payload).lenenc()?).map_err(|_| malformed())?;
                self.state = State::Columns { left: count, then: Then::Rows };
                Ok(Piece::ColumnCount { len, count })
            }
        }
    }

    fn ok(&mut self, payload: &[u8], len: usize) -> Result<Piece> {
        let (insert_id, status) = self.ok_places(payload)?;
        self.state = self.result_end();
        Ok(Piece::Ok { len, insert_id, status })
    }

    fn rows_end(&mut self, payload: &[u8], len: usize) -> Result<Piece> {
        if payload[0] != 0xFE {
            return Err(malformed());
        }
        let status =
            if self.deprecate_eof && payload.len() >= 7 { self.ok_places(payload)?.1 } else { self.eof(payload)? };
        self.state = self.result_end();
        Ok(Piece::RowsEnd { len, status })
    }

    /// The places, in the packet, of the insert id and the status; notes the status.
    fn ok_places(&mut self, payload: &[u8]) -> Result<(Range<usize>, Range<usize>)> {
        let mut reader = Reader::new(&payload[1..]);
        let at = |reader: &Reader<'_>| HEADER + payload.len() - reader.len();
        reader.lenenc()?;
        let id_from = at(&reader);
        reader.lenenc()?;
        let id_to = at(&reader);
        self.status = Status::from_bits(reader.u16()?);
        self.told = true;
        Ok((id_from..id_to, id_to..id_to + 2))
    }

    fn eof(&mut self, payload: &[u8]) -> Result<Range<usize>> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 0xFE || payload.len() >= 9 {
            return Err(malformed());
        }
        let _warnings = reader.u16()?;
        self.status = Status::from_bits(reader.u16()?);
        self.told = true;
        Ok(HEADER + 3..HEADER + 5)
    }

    fn result_end(&self) -> State {
        if self.status.has(Status::MORE_RESULTS) { State::First } else { State::Done }
    }

    fn prepared(&mut self, payload: &[u8], len: usize) -> Result<Piece> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 0 {
            return Err(malformed());
        }
        let (id, columns, params) = (reader.u32()?, reader.u16()?, reader.u16()?);
        self.state = self.params(usize::from(params), usize::from(columns));
        if params == 0 {
            self.state = self.columns(usize::from(columns), Then::Nothing);
        }
        Ok(Piece::Prepared { len, id, columns, params })
    }

    fn params(&self, left: usize, columns: usize) -> State {
        match left {
            0 if self.deprecate_eof => self.columns(columns, Then::Nothing),
            0 => State::ParamsEnd { columns },
            _ => State::Params { left, columns },
        }
    }

    fn columns(&self, left: usize, then: Then) -> State {
        match left {
            0 => after(then),
            _ => State::Columns { left, then },
        }
    }

    fn columns_end(&self, then: Then) -> State {
        if self.deprecate_eof { after(then) } else { State::ColumnsEnd { then } }
    }
}

fn after(then: Then) -> State {
    match then {
        Then::Rows => State::Rows,
        Then::Nothing => State::Done,
    }
}

/// The warnings that the packet of a [`Piece::RowsEnd`] counts: those of an EOF packet stand before
/// its status, those of an OK packet behind.
pub fn rows_end_warnings(packet: &[u8], status: &Range<usize>) -> u16 {
    let at = if packet.len() < HEADER + 7 { status.start - 2 } else { status.end };
    packet.get(at..at + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn malformed_reply() -> Error {
    Error::new(Blame::Shard, code::MALFORMED, "A server sent a malformed reply.")
}

fn out_of_order(expected: u8, got: u8) -> Error {
    Error::new(Blame::Shard, OUT_OF_ORDER, "A server's packets came out of order.")
        .because(format!("expected packet {expected}, got {got}"))
}

const OUT_OF_ORDER: (u16, &[u8; 5]) = (1156, b"08S01");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::captured::{Captured, REPLIES, reply};
    use crate::protocol::packet::frame;

    /// The pieces of `bytes`, of which `arrive(at)` are there when the scan stands at `at`.
    fn scan(captured: &Captured, bytes: &[u8], mut arrive: impl FnMut(usize) -> usize) -> (Vec<Piece>, Reply) {
        let mut reply = Reply::new(captured.kind, captured.deprecate_eof, 1);
        let (mut at, mut there) = (0, arrive(0));
        let mut pieces = Vec::new();
        loop {
            match reply.next(&bytes[at..there]).expect(captured.name) {
                Piece::Done => break,
                Piece::NeedMore(count) => {
                    assert!(at + count > there, "{}: {count} bytes are there", captured.name);
                    assert!(at + count <= bytes.len(), "{}: waits for what never comes", captured.name);
                    there = arrive(at + count).max(at + count);
                }
                piece => {
                    at += piece.len();
                    assert!(at <= there);
                    pieces.push(piece);
                }
            }
        }
        assert_eq!(at, bytes.len(), "{}", captured.name);
        (pieces, reply)
    }

    #[test]
    fn a_reply_ends_where_it_ends_however_it_is_cut() {
        for captured in &REPLIES {
            let bytes = captured.bytes();
            let (whole, reply) = scan(captured, &bytes, |_| bytes.len());
            assert_eq!(reply.rows(), captured.rows, "{}", captured.name);
            assert_eq!(reply.failed(), captured.name.ends_with("err"), "{}", captured.name);
            let others = |pieces: &[Piece]| -> Vec<Piece> {
                pieces.iter().filter(|piece| !matches!(piece, Piece::Rows { .. })).cloned().collect()
            };
            for cut in 0..bytes.len() {
                let (pieces, reply) = scan(captured, &bytes, |at| if at <= cut { cut } else { bytes.len() });
                assert_eq!(others(&pieces), others(&whole), "{} cut at {cut}", captured.name);
                assert_eq!(reply.rows(), captured.rows);
            }
            let (pieces, _) = scan(captured, &bytes, |at| at);
            assert_eq!(others(&pieces), others(&whole), "{} byte by byte", captured.name);
        }
    }

    #[test]
    fn bytes_behind_a_reply_are_not_its_own() {
        for captured in &REPLIES {
            let mut bytes = captured.bytes();
            let own = bytes.len();
            bytes.extend_from_slice(&captured.bytes());
            let mut reply = Reply::new(captured.kind, captured.deprecate_eof, 1);
            let mut at = 0;
            loop {
                match reply.next(&bytes[at..]).expect(captured.name) {
                    Piece::Done => break,
                    piece => at += piece.len(),
                }
            }
            assert_eq!(at, own, "{}", captured.name);
        }
    }

    #[test]
    fn status_and_insert_id_are_where_the_ranges_say() {
        let captured = reply("mysql ok insert");
        let bytes = captured.bytes();
        let (pieces, reply) = scan(captured, &bytes, |_| bytes.len());
        let [Piece::Ok { insert_id, status, .. }] = &pieces[..] else { panic!("{pieces:?}") };
        assert_eq!(Reader::new(&bytes[insert_id.clone()]).lenenc().expect("an id"), 6);
        assert_eq!(bytes[status.clone()], Status::AUTOCOMMIT.bits().to_le_bytes());
        assert_eq!(reply.status(), Status::AUTOCOMMIT);
        for (name, expected) in [
            ("maria eof fetch", Status::AUTOCOMMIT.with(Status::LAST_ROW_SENT)),
            ("mysql ok fetch", Status::AUTOCOMMIT.with(Status::LAST_ROW_SENT)),
            ("mysql eof cursor", Status::AUTOCOMMIT.with(Status::CURSOR_EXISTS)),
            ("maria ok cursor", Status::AUTOCOMMIT.with(Status::CURSOR_EXISTS)),
        ] {
            let captured = crate::protocol::captured::reply(name);
            let bytes = captured.bytes();
            let (pieces, reply) = scan(captured, &bytes, |_| bytes.len());
            let status = reply.status().without(Status::NO_INDEX);
            assert_eq!(status, expected, "{name}");
            let Some(Piece::RowsEnd { len, status } | Piece::ColumnsEnd { len, status }) = pieces.last() else {
                panic!("{name}: {pieces:?}")
            };
            let end = &bytes[bytes.len() - len..];
            assert_eq!(end[status.clone()], reply.status().bits().to_le_bytes(), "{name}");
        }
    }

    fn columns_of_one(deprecate_eof: bool) -> (Vec<u8>, u8) {
        let captured = reply(if deprecate_eof { "maria ok multi" } else { "maria eof multi" });
        let head: Vec<Vec<u8>> = captured.payloads().into_iter().take(if deprecate_eof { 2 } else { 3 }).collect();
        let (mut bytes, mut sequence) = (Vec::new(), 1);
        for payload in head {
            sequence = frame(&mut bytes, sequence, &payload);
        }
        (bytes, sequence)
    }

    #[test]
    fn rows_of_any_length_are_rows() {
        let mut long = vec![0xFE];
        long.extend_from_slice(&(0x100_0000u64).to_le_bytes());
        long.resize(9 + 0x100_0000, b'x');
        let mut exact = vec![0xFD, 0xFB, 0xFF, 0xFF];
        exact.resize(MAX_PACKET, 0xFF);
        for deprecate_eof in [false, true] {
            let (mut bytes, mut sequence) = columns_of_one(deprecate_eof);
            for row in [&b"\x01a"[..], &long, &exact, b"\xFB", b"\x00"] {
                sequence = frame(&mut bytes, sequence, row);
            }
            let end: &[u8] = if deprecate_eof { b"\xFE\0\0\x02\0\0\0\x04info" } else { b"\xFE\0\0\x02\0" };
            frame(&mut bytes, sequence, end);
            for step in [7919, 65_536, 1 << 24, 1 << 30] {
                let captured = Captured { name: "long", kind: Kind::Results, deprecate_eof, rows: 5, hex: "" };
                let (_, reply) = scan(&captured, &bytes, |at| (at / step + 1).saturating_mul(step).min(bytes.len()));
                assert_eq!(reply.rows(), 5);
            }
        }
    }

    #[test]
    fn an_error_ends_the_rows() {
        let (mut bytes, sequence) = columns_of_one(false);
        let sequence = frame(&mut bytes, sequence, b"\x01a");
        frame(&mut bytes, sequence, b"\xFF\x15\x05#HY000broken");
        let captured = Captured { name: "broken", kind: Kind::Results, deprecate_eof: false, rows: 1, hex: "" };
        let (pieces, reply) = scan(&captured, &bytes, |_| bytes.len());
        assert!(reply.failed());
        assert!(matches!(pieces.last(), Some(Piece::Err { .. })));
    }

    #[test]
    fn a_file_asked_for_is_waited_for() {
        let mut bytes = Vec::new();
        frame(&mut bytes, 1, b"\xFB/tmp/rows");
        let mut reply = Reply::new(Kind::Results, true, 1);
        assert_eq!(reply.next(&bytes).expect("asked"), Piece::LocalInfile { len: bytes.len() });
        assert!(!reply.is_done());
        let mut answer = Vec::new();
        frame(&mut answer, 4, b"\0\x05\0\x02\0\0\0");
        reply.resume(4);
        assert!(matches!(reply.next(&answer).expect("answered"), Piece::Ok { .. }));
        assert!(reply.is_done());
    }

    #[test]
    fn stale_and_senseless_bytes_are_errors() {
        let captured = reply("maria eof select");
        let mut stale = captured.bytes();
        stale[3] = 2;
        assert_eq!(Reply::new(Kind::Results, false, 1).next(&stale).expect_err("stale").code(), 1156);
        for bytes in [
            &b"\x00\x00\x00\x01"[..],
            b"\xFF\xFF\xFF\x01\x00",
            b"\x01\x00\x00\x01\xFE",
            b"\x03\x00\x00\x01\x00\x00\x00",
        ] {
            let error = Reply::new(Kind::Results, false, 1).next(bytes).expect_err("senseless");
            assert_eq!(error.code(), 1835, "{bytes:?}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic() {
        for captured in &REPLIES {
            let bytes = captured.bytes();
            for at in 0..bytes.len() {
                for wrong in [0x00, 0x01, 0xFB, 0xFE, 0xFF, bytes[at] ^ 0x80] {
                    let mut bytes = bytes.clone();
                    bytes[at] = wrong;
                    let mut reply = Reply::new(captured.kind, captured.deprecate_eof, 1);
                    let mut from = 0;
                    while let Ok(piece) = reply.next(&bytes[from..]) {
                        match piece.len() {
                            0 => break,
                            len => from += len,
                        }
                    }
                }
            }
        }
    }
}
