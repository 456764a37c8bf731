//! One connection to a server: its settings, its transaction flag, what is prepared on it, and
//! whether a reply is still to be read. A connection in an unknown state never goes back to the
//! pool ([`Conn::is_clean`]).

use std::sync::Arc;

use super::fence::{self, Fence};
use super::login::Login;
use super::statements::{Prepared, Statements};
use crate::context::State;
use crate::error::{Error, Result};
use crate::protocol::Capabilities;
use crate::protocol::Command;
use crate::protocol::Status;
use crate::protocol::column::{Column, ColumnFlags, ColumnType};
use crate::protocol::err::ErrPacket;
use crate::protocol::ok::OkPacket;
use crate::protocol::packet::{HEADER, MAX_PACKET};
use crate::protocol::payload::Reader;
use crate::protocol::reply::{Kind, Piece, Reply, rows_end_warnings};
use crate::value::Value;
use crate::wire::Framed;

/// The server's own number of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerThreadId(pub u32);

/// The capabilities that change the bytes of replies: a client's must be its connections'.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReplyShape {
    pub deprecate_eof: bool,
    pub found_rows: bool,
    pub multi_results: bool,
}

/// A row of a small result, as text.
pub type Row = Vec<Option<Vec<u8>>>;

/// What a statement that the proxy itself sent was answered.
#[derive(Debug, Default)]
pub struct Answer {
    pub affected: u64,
    pub insert_id: u64,
    pub warnings: u16,
    pub info: Vec<u8>,
    pub columns: Vec<AnswerColumn>,
    /// Number and parameters of a statement that was prepared.
    pub prepared: Option<(u32, u16)>,
    pub rows: Vec<Row>,
}

/// As much of a column's definition as readers of small results need.
#[derive(Clone, Debug)]
pub struct AnswerColumn {
    /// The whole ColumnDefinition41.
    pub definition: Vec<u8>,
    pub name: Vec<u8>,
    pub kind: ColumnType,
    pub collation: u16,
    pub unsigned: bool,
}

#[derive(Debug)]
pub struct Conn {
    wire: Framed,
    thread: ServerThreadId,
    shape: ReplyShape,
    state: Arc<State>,
    status: Status,
    /// A command was sent and its reply not read to the end.
    busy: bool,
    /// Something is open here that the status does not tell.
    pinned: bool,
    statements: Statements,
    /// It waits for locks for a shorter time than its settings say.
    impatient: bool,
    /// Where it is listed.
    fenced: Option<(Arc<Fence>, Box<str>)>,
    /// Its autocommit is off, whatever its settings say.
    holding: bool,
}

impl ReplyShape {
    /// The shape that a client with these capabilities reads.
    pub fn of(client: Capabilities) -> Self {
        ReplyShape {
            deprecate_eof: client.has(Capabilities::DEPRECATE_EOF),
            found_rows: client.has(Capabilities::FOUND_ROWS),
            multi_results: client.has(Capabilities::MULTI_RESULTS),
        }
    }

    pub(super) fn capabilities(self) -> Capabilities {
        let flag = |on: bool, flag: Capabilities| if on { flag } else { Capabilities::NONE };
        flag(self.deprecate_eof, Capabilities::DEPRECATE_EOF)
            | flag(self.found_rows, Capabilities::FOUND_ROWS)
            | flag(self.multi_results, Capabilities::MULTI_RESULTS | Capabilities::PS_MULTI_RESULTS)
    }
}

impl Conn {
    pub async fn open(login: &Login, shape: ReplyShape) -> Result<Self> {
        let server = login.open(shape).await?;
        let mut conn = Conn {
            wire: server.conn,
            thread: ServerThreadId(server.greeting.connection_id),
            shape,
            state: login.base().clone(),
            status: server.status,
            busy: false,
            pinned: false,
            statements: Statements::new(login.budget().clone()),
            impatient: false,
            holding: false,
            fenced: None,
        };
        if let Some(fence) = login.fence() {
            conn.enter(fence, login.server()).await?;
        }
        Ok(conn)
    }

    /// The server may belong to a newer layout than this proxy goes by.
    async fn enter(&mut self, fence: &Arc<Fence>, server: &str) -> Result<()> {
        fence.joined(server, self.thread);
        self.fenced = Some((fence.clone(), server.into()));
        let version = match self.run(fence.question()).await {
            Ok(answer) => {
                answer.rows.first().and_then(|row| std::str::from_utf8(row.first()?.as_ref()?).ok()?.parse().ok())
            }
            Err(error) if fence::UNFENCED.contains(&error.code()) => None,
            Err(error) if fence::DENIED.contains(&error.code()) => return Err(fence::denied(server, &error)),
            Err(error) => return Err(error),
        };
        fence.admit(server, version)
    }

    pub fn thread(&self) -> ServerThreadId {
        self.thread
    }

    pub fn shape(&self) -> ReplyShape {
        self.shape
    }

    pub fn state(&self) -> &Arc<State> {
        &self.state
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn in_transaction(&self) -> bool {
        self.status.has(Status::IN_TRANS)
    }

    /// A reply is not read to its end: nothing else can be said on it.
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// It may serve another session: no reply is open, no transaction, nothing half sent.
    pub fn is_clean(&self) -> bool {
        !self.busy && !self.pinned && !self.in_transaction()
    }

    /// A branch of a transaction is open here, or is no longer: servers do not show it in the
    /// status once it is prepared or rolled back.
    pub fn pin(&mut self, pinned: bool) {
        self.pinned = pinned;
    }

    /// Alive, and nothing unread, as far as is known without waiting.
    pub fn is_quiet(&mut self) -> bool {
        self.wire.is_quiet()
    }

    // Exchanges

    /// Sends a command; its reply has to be read by [`Conn::wire`] and [`Conn::finish`].
    pub async fn send(&mut self, command: Command, body: &[u8]) -> Result<()> {
        self.send_payload(|out| {
            out.push(command.byte());
            out.extend_from_slice(body);
        })
        .await
    }

    /// Sends a command that `write` makes; the same holds for its reply.
    pub async fn send_payload(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.start();
        self.wire.queue_with(write);
        self.wire.flush().await
    }

    /// Puts a command that has no reply before the next one.
    pub fn send_silently(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.wire.begin_command();
        self.wire.queue_with(write);
    }

    /// Sends a command behind others whose replies are still to be read; to be ended by
    /// [`Conn::finish_one`].
    pub async fn send_behind(&mut self, command: Command, body: &[u8]) -> Result<()> {
        self.queue_behind(command, body);
        self.wire.flush().await
    }

    /// The same, to be flushed with others.
    pub fn queue_behind(&mut self, command: Command, body: &[u8]) {
        self.busy = true;
        self.wire.begin_command();
        self.wire.queue_with(|out| {
            out.push(command.byte());
            out.extend_from_slice(body);
        });
    }

    fn start(&mut self) {
        assert!(!self.busy, "a connection has one exchange at a time");
        self.busy = true;
        self.wire.begin_command();
    }

    /// The socket, for reading the open reply.
    pub fn wire(&mut self) -> &mut Framed {
        &mut self.wire
    }

    /// The reply was read to its end, which said this.
    pub fn finish(&mut self, reply: &Reply) {
        debug_assert!(reply.is_done());
        self.busy = false;
        if !reply.failed() && reply.tells_status() {
            self.status = reply.status();
        }
    }

    /// The same for one reply of several; `more` are still to be read.
    pub fn finish_one(&mut self, reply: &Reply, more: bool) {
        self.finish(reply);
        self.busy = more;
    }

    /// After an error the flags are not told: a ping tells whether the transaction still stands.
    pub async fn refresh_status(&mut self) -> Result<()> {
        self.send(Command::Ping, &[]).await?;
        self.read_answer(Kind::Single).await.map(drop)
    }

    /// Runs a statement of the proxy's own and reads its small answer.
    pub async fn run(&mut self, sql: &str) -> Result<Answer> {
        self.run_bytes(sql.as_bytes()).await
    }

    pub async fn run_bytes(&mut self, sql: &[u8]) -> Result<Answer> {
        self.send(Command::Query, sql).await?;
        self.read_answer(Kind::Results).await
    }

    /// LOAD DATA LOCAL: runs the statement and gives it this file when it asks for one.
    pub async fn load(&mut self, sql: &[u8], file: &[u8]) -> Result<Answer> {
        self.send(Command::Query, sql).await?;
        self.read_some_answer(Kind::Results, false, Some(file)).await?
    }

    /// Reads the small answer to a command that was sent.
    pub async fn read_answer(&mut self, kind: Kind) -> Result<Answer> {
        self.read_some_answer(kind, false, None).await?
    }

    /// The same for the first of the commands sent behind one another; `more` are still to be read.
    /// The outer error: the connection is lost. The inner one: what the server said.
    pub async fn read_one_answer(&mut self, kind: Kind, more: bool) -> Result<Result<Answer>> {
        self.read_some_answer(kind, more, None).await
    }

    async fn read_some_answer(&mut self, kind: Kind, more: bool, file: Option<&[u8]>) -> Result<Result<Answer>> {
        let mut reply = Reply::new(kind, self.shape.deprecate_eof, 1);
        let mut taken = Taken::default();
        loop {
            let bytes = self.wire.buffered();
            let piece = reply.next(bytes)?;
            match &piece {
                Piece::Done => break,
                Piece::NeedMore(count) => self.wire.fill_to(*count).await?,
                Piece::LocalInfile { len } if file.is_some() => {
                    self.wire.consume(*len);
                    self.send_file(file.unwrap_or_default(), reply.sequence()).await?;
                    reply.resume(self.wire.sequence());
                    continue;
                }
                piece => taken.take(piece, &bytes[..piece.len()])?,
            }
            self.wire.consume(piece.len());
        }
        self.finish_one(&reply, more);
        if !more {
            self.wire.rest();
        }
        Ok(taken.answer())
    }

    /// The content of a file that the server asked for, in packets that end with an empty one.
    async fn send_file(&mut self, file: &[u8], sequence: u8) -> Result<()> {
        self.wire.set_sequence(sequence);
        for part in file.chunks(FILE_PACKET) {
            self.wire.queue_packet(part);
            self.wire.flush().await?;
        }
        self.wire.queue_packet(&[]);
        self.wire.flush().await
    }

    // Settings

    /// Sets what differs from `state`. If that fails the connection's settings are unknown, and
    /// it is not used again.
    pub async fn bring_to(&mut self, state: &Arc<State>) -> Result<()> {
        // What holds for one transaction goes with it.
        if self.impatient && !self.in_transaction() {
            let own = state.system(LOCK_WAIT).unwrap_or("DEFAULT");
            self.run(&format!("SET SESSION {LOCK_WAIT}={own}")).await?;
            self.impatient = false;
        }
        if self.holding && !self.in_transaction() {
            let own = self.state.system(AUTOCOMMIT).unwrap_or("DEFAULT");
            self.run(&format!("SET SESSION {AUTOCOMMIT}={own}")).await?;
            self.holding = false;
        }
        if Arc::ptr_eq(&self.state, state) {
            return Ok(());
        }
        if let Some(set) = self.state.difference(state) {
            // What was prepared was read with the old settings.
            self.close_statements();
            let set = self.run(&set).await;
            if let Err(error) = set {
                self.busy = true;
                return Err(error);
            }
        }
        self.state = state.clone();
        Ok(())
    }

    /// Until the transaction is over, waits for locks end after so many seconds, if they don't
    /// end earlier anyway.
    pub async fn be_impatient(&mut self, seconds: u32) -> Result<()> {
        let sooner =
            self.state.system(LOCK_WAIT).and_then(|own| own.parse().ok()).is_some_and(|own: u32| own <= seconds);
        if self.impatient || sooner {
            return Ok(());
        }
        self.impatient = true;
        self.run(&format!("SET SESSION {LOCK_WAIT}={seconds}")).await.map(drop)
    }

    /// Until the transaction is over, nothing commits by itself: where the server ends the transaction
    /// (a deadlock), what was sent behind is in another one. Not to be seen by a client.
    pub async fn hold_back(&mut self) -> Result<()> {
        if !self.holding {
            self.run(&format!("SET SESSION {AUTOCOMMIT}=0")).await?;
            self.holding = true;
        }
        Ok(())
    }

    /// The session's settings were changed on this very connection.
    pub fn now_in(&mut self, state: Arc<State>) {
        if !Arc::ptr_eq(&self.state, &state) {
            // What was prepared was read with the old settings.
            for id in self.statements.clear() {
                self.queue_close(id);
            }
        }
        self.state = state;
    }

    /// The settings can't be told any more.
    pub fn condemn(&mut self) {
        self.busy = true;
    }

    // Prepared statements

    /// The number of a statement of this text, prepared now if it has to be, that will be executed with these values.
    pub async fn prepared(&mut self, text: &[u8], values: &[Value<'_>]) -> Result<u32> {
        if let Some(known) = self.statements.fitting(text, values) {
            return Ok(known.id);
        }
        self.prepare(text).await?;
        let fresh = self.statements.fitting(text, values).expect("a fresh statement fits any values");
        Ok(fresh.id)
    }

    async fn prepare(&mut self, text: &[u8]) -> Result<()> {
        let mut answer = self.ask_to_prepare(text).await;
        if matches!(&answer, Err(error) if error.code() == TOO_MANY_STATEMENTS) {
            // Others have filled the server; this connection's own share makes room.
            self.close_statements();
            answer = self.ask_to_prepare(text).await;
        }
        let (id, params) = answer?
            .prepared
            .ok_or_else(|| Error::proxy("Bifold: a server prepared a statement and did not say under which number."))?;
        self.keep(text, id, params);
        Ok(())
    }

    async fn ask_to_prepare(&mut self, text: &[u8]) -> Result<Answer> {
        self.send(Command::StmtPrepare, text).await?;
        self.read_answer(Kind::Prepare).await
    }

    /// Is a statement of this text prepared here?
    pub fn has_prepared(&self, text: &[u8]) -> bool {
        self.statements.has(text)
    }

    /// Keeps what a reply to COM_STMT_PREPARE gave that was read elsewhere.
    pub async fn keep_prepared(&mut self, text: &[u8], id: u32, params: u16) -> Result<()> {
        self.keep(text, id, params);
        // Nothing may be left half said on a connection that goes back to the pool.
        self.wire.flush().await
    }

    /// What has to go for it is closed before the next command.
    fn keep(&mut self, text: &[u8], id: u32, params: u16) {
        if let Some(given_up) = self.statements.keep(text, Prepared { id, params }) {
            self.queue_close(given_up);
        }
    }

    pub async fn close_statement(&mut self, id: u32) -> Result<()> {
        self.queue_close(id);
        self.wire.flush().await
    }

    /// Goes out before the next command.
    fn queue_close(&mut self, id: u32) {
        self.send_silently(|out| put_close(out, id));
    }

    /// Forgets all that is prepared here.
    pub fn close_statements(&mut self) {
        for id in self.statements.clear() {
            self.queue_close(id);
        }
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        if let Some((fence, server)) = &self.fenced {
            fence.left(server, self.thread);
        }
    }
}

/// A file goes in packets of this size.
const FILE_PACKET: usize = 64 * 1024;

const LOCK_WAIT: &str = "innodb_lock_wait_timeout";
const AUTOCOMMIT: &str = "autocommit";

/// The server has `max_prepared_stmt_count` statements open.
const TOO_MANY_STATEMENTS: u16 = 1461;

/// COM_STMT_CLOSE has no reply.
fn put_close(out: &mut Vec<u8>, id: u32) {
    out.push(Command::StmtClose.byte());
    out.extend_from_slice(&id.to_le_bytes());
}

impl Answer {
    /// The answer that a whole reply is.
    pub fn parse(bytes: &[u8], deprecate_eof: bool) -> Result<Self> {
        let mut reply = Reply::new(Kind::Results, deprecate_eof, 1);
        let mut taken = Taken::default();
        let mut at = 0;
        loop {
            match reply.next(&bytes[at..])? {
                Piece::Done => return taken.answer(),
                Piece::NeedMore(_) => return Err(Error::proxy("Bifold: a reply that was kept is not whole.")),
                piece => {
                    taken.take(&piece, &bytes[at..at + piece.len()])?;
                    at += piece.len();
                }
            }
        }
    }
}

/// A small answer on its way in.
#[derive(Default)]
struct Taken {
    answer: Answer,
    /// The packets of rows.
    rows: Vec<u8>,
    failed: Option<Error>,
}

impl Taken {
    fn take(&mut self, piece: &Piece, packet: &[u8]) -> Result<()> {
        let payload = packet.get(HEADER..).unwrap_or_default();
        let answer = &mut self.answer;
        match piece {
            Piece::Column { .. } => answer.columns.push(AnswerColumn::parse(payload)?),
            Piece::Rows { .. } => self.rows.extend_from_slice(packet),
            Piece::RowsEnd { status, .. } => answer.warnings = rows_end_warnings(packet, status),
            Piece::Ok { .. } => {
                let ok = OkPacket::parse(payload, Capabilities::NONE)?;
                (answer.affected, answer.warnings) = (ok.affected_rows, ok.warnings);
                answer.insert_id = ok.last_insert_id;
                answer.info = ok.info.to_vec();
            }
            Piece::Err { .. } => self.failed = Some(ErrPacket::parse(payload)?.into_error()),
            Piece::Prepared { id, params, .. } => answer.prepared = Some((*id, *params)),
            Piece::LocalInfile { .. } => {
                return Err(Error::proxy("A server answered a statement of Bifold's own with another kind of reply."));
            }
            Piece::ColumnCount { .. }
            | Piece::ColumnsEnd { .. }
            | Piece::Param { .. }
            | Piece::Done
            | Piece::NeedMore(_) => {}
        }
        Ok(())
    }

    fn answer(mut self) -> Result<Answer> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.answer.rows = text_rows(&self.rows, self.answer.columns.len())?;
        Ok(self.answer)
    }
}

impl AnswerColumn {
    fn parse(payload: &[u8]) -> Result<Self> {
        let column = Column::parse(payload)?;
        Ok(AnswerColumn {
            definition: payload.to_vec(),
            name: column.name.to_vec(),
            kind: column.kind,
            collation: column.collation,
            unsigned: column.flags.has(ColumnFlags::UNSIGNED),
        })
    }
}

/// Decodes the packets of text rows.
fn text_rows(mut packets: &[u8], columns: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    while let Some(header) = crate::protocol::packet::Header::parse(packets) {
        if header.len == MAX_PACKET {
            return Err(Error::refused("Bifold: a row of 16 MiB or more is too long here."));
        }
        let (row, rest) = packets[HEADER..].split_at(header.len);
        let mut reader = Reader::new(row);
        let row: Result<Row> = (0..columns).map(|_| Ok(reader.text_value()?.map(<[u8]>::to_vec))).collect();
        rows.push(row?);
        packets = rest;
    }
    Ok(rows)
}
