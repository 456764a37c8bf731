//! A connection as both sides of the proxy see it: whole packets in, packets out by one write,
//! and the raw bytes of replies for passing on. Deadlines are the caller's; a read whose future
//! is dropped loses nothing, a write whose future is dropped leaves the connection unusable.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::ops::Deref;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::error::{Blame, Error, Result, code};
use crate::protocol::packet::{self, HEADER, Header, MAX_PACKET};
use crate::wire::buffer::{self, Buffer, LARGE};
use crate::wire::compressed::Compressed;
use crate::wire::stream::Stream;

/// Who is at the other end; decides what a broken connection is called and whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Client,
    Server,
}

/// A payload, taken out of the connection: the connection can be written to while it is read.
#[derive(Debug)]
pub struct Packet {
    bytes: Buffer,
}

impl Deref for Packet {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

#[derive(Debug)]
pub struct Framed {
    pub(crate) stream: Stream,
    pub(crate) peer: Peer,
    input: Buffer,
    /// What is already here of a payload that is too long for the buffer.
    long: Option<Box<Long>>,
    output: Vec<u8>,
    sequence: u8,
    max_packet: usize,
    /// A write was begun and not finished.
    writing: bool,
    /// Up to so many bytes are kept back, whoever wants them written.
    capture: Option<usize>,
    /// What is written is kept here, for the proxy itself.
    kept: Option<Box<Kept>>,
}

#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    most: usize,
    /// What was queued before.
    before: Vec<u8>,
}

/// How often a peer that has sent ahead is looked at for having hung up.
const HUNG_UP_POLL: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
struct Long {
    payload: Buffer,
    /// Bytes still to come of the packet under way.
    in_packet: usize,
    /// Another packet continues the payload.
    continued: bool,
}

impl Framed {
    /// `max_packet`: the longest payload taken; a longer one is error 1153.
    pub fn new(tcp: TcpStream, peer: Peer, max_packet: usize) -> Self {
        // A socket that is already dead says so here; the first read tells it better.
        let _ = tcp.set_nodelay(true);
        Framed::over(Stream::Plain(tcp), peer, max_packet)
    }

    pub(crate) fn over(stream: Stream, peer: Peer, max_packet: usize) -> Self {
        Framed {
            stream,
            peer,
            input: Buffer::default(),
            long: None,
            output: Vec::new(),
            sequence: 0,
            max_packet,
            writing: false,
            capture: None,
            kept: None,
        }
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.tcp().peer_addr()
    }

    pub fn is_tls(&self) -> bool {
        match &self.stream {
            Stream::Plain(_) => false,
            Stream::Tls(_) => true,
            Stream::Compressed(compressed) => matches!(compressed.inner(), Stream::Tls(_)),
        }
    }

    pub fn max_packet(&self) -> usize {
        self.max_packet
    }

    pub fn set_max_packet(&mut self, bytes: usize) {
        self.max_packet = bytes;
    }

    // Exchanges

    /// A command is about to be read or sent: sequence numbers start again.
    pub fn begin_command(&mut self) {
        self.sequence = 0;
        if let Stream::Compressed(compressed) = &mut self.stream {
            compressed.begin_command();
        }
    }

    /// The number of the next packet, read or queued.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// After packets went past as raw bytes.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    // Reading packets

    /// The next payload, or None if the peer closed in between two.
    pub async fn read_packet(&mut self) -> Result<Option<Packet>> {
        loop {
            if let Some(packet) = self.buffered_packet()? {
                return Ok(Some(packet));
            }
            if self.fill().await? == 0 {
                return match self.input.is_empty() && self.long.is_none() {
                    true => Ok(None),
                    false => Err(self.closed()),
                };
            }
        }
    }

    /// The next payload; a peer that closed is an error.
    pub async fn expect_packet(&mut self) -> Result<Packet> {
        match self.read_packet().await? {
            Some(packet) => Ok(packet),
            None => Err(self.closed()),
        }
    }

    /// The next payload, without reading a byte past it: what follows may be TLS.
    pub async fn read_packet_exactly(&mut self) -> Result<Option<Packet>> {
        loop {
            let whole = Header::parse(self.input.bytes()).map_or(HEADER, |header| HEADER + header.len);
            if whole > LARGE {
                return Err(too_large());
            }
            if let Some(packet) = self.buffered_packet()? {
                return Ok(Some(packet));
            }
            let missing = whole - self.input.len();
            let room = &mut self.input.room(whole)[..missing];
            let count = self.stream.read(room).await.map_err(|error| self.broken(error))?;
            self.input.filled(count);
            if count == 0 {
                return if self.input.is_empty() { Ok(None) } else { Err(self.closed()) };
            }
        }
    }

    /// A payload that is there already, taken out.
    fn buffered_packet(&mut self) -> Result<Option<Packet>> {
        if self.long.is_some() {
            return self.long_packet();
        }
        let Some(header) = Header::parse(self.input.bytes()) else { return Ok(None) };
        self.check(header, 0)?;
        let whole = HEADER + header.len;
        if header.is_continued() || whole > LARGE {
            self.sequence = self.sequence.wrapping_add(1);
            self.input.consume(HEADER);
            self.long = Some(Box::new(Long {
                payload: Buffer::default(),
                in_packet: header.len,
                continued: header.is_continued(),
            }));
            return self.long_packet();
        }
        if self.input.len() < whole {
            self.input.room(whole);
            return Ok(None);
        }
        self.sequence = self.sequence.wrapping_add(1);
        Ok(Some(Packet { bytes: self.take_out(whole) }))
    }

    /// The first packet's payload in a buffer of its own: the whole buffer where nothing else is
    /// in it, so that nothing is copied.
    fn take_out(&mut self, whole: usize) -> Buffer {
        let mut bytes = Buffer::default();
        if self.input.len() == whole {
            std::mem::swap(&mut bytes, &mut self.input);
            bytes.narrow(HEADER, whole - HEADER);
        } else {
            bytes.append(&self.input.bytes()[HEADER..whole]);
            self.input.consume(whole);
        }
        bytes
    }

    fn long_packet(&mut self) -> Result<Option<Packet>> {
        loop {
            let Some(long) = self.long.as_mut() else { return Ok(None) };
            let count = long.in_packet.min(self.input.len());
            long.payload.append(&self.input.bytes()[..count]);
            long.in_packet -= count;
            self.input.consume(count);
            if long.in_packet > 0 {
                return Ok(None);
            }
            if !long.continued {
                let payload = self.long.take().map(|long| long.payload);
                return Ok(payload.map(|bytes| Packet { bytes }));
            }
            let so_far = long.payload.len();
            let Some(header) = Header::parse(self.input.bytes()) else { return Ok(None) };
            self.check(header, so_far)?;
            self.sequence = self.sequence.wrapping_add(1);
            self.input.consume(HEADER);
            if let Some(long) = self.long.as_mut() {
                long.in_packet = header.len;
                long.continued = header.is_continued();
            }
        }
    }

    fn check(&self, header: Header, so_far: usize) -> Result<()> {
        if header.sequence != self.sequence {
            return Err(Error::new(self.blame(), OUT_OF_ORDER, "Got packets out of order")
                .because(format!("expected packet {}, got {}", self.sequence, header.sequence)));
        }
        if so_far + header.len > self.max_packet {
            return Err(too_large());
        }
        Ok(())
    }

    // Reading raw bytes

    /// The bytes read and not consumed.
    pub fn buffered(&self) -> &[u8] {
        self.input.bytes()
    }

    /// The same, for patching a packet where it lies.
    pub fn buffered_mut(&mut self) -> &mut [u8] {
        self.input.bytes_mut()
    }

    pub fn consume(&mut self, count: usize) {
        self.input.consume(count);
    }

    /// One read into the buffer, behind what is there. 0: the peer closed.
    pub async fn fill(&mut self) -> Result<usize> {
        let room = self.input.room(0);
        let count = self.stream.read(room).await.map_err(|error| self.broken(error))?;
        self.input.filled(count);
        Ok(count)
    }

    /// Reads until at least `count` bytes are there; a peer that closes before is an error.
    pub async fn fill_to(&mut self, count: usize) -> Result<()> {
        while self.input.len() < count {
            let room = self.input.room(count);
            let got = self.stream.read(room).await.map_err(|error| self.broken(error))?;
            self.input.filled(got);
            if got == 0 {
                return Err(self.closed());
            }
        }
        Ok(())
    }

    /// Waits for the peer's next bytes (or its end) while holding no buffer.
    pub async fn wait_readable(&mut self) -> Result<()> {
        if !self.input.is_empty() {
            return Ok(());
        }
        self.rest();
        match &mut self.stream {
            Stream::Plain(tcp) => tcp.readable().await.map_err(|error| self.broken(error)),
            Stream::Tls(_) | Stream::Compressed(_) => {
                // They may hold bytes already, so only reading tells; a command mostly fits.
                let mut first = [0; 512];
                let count = self.stream.read(&mut first).await.map_err(|error| self.broken(error))?;
                self.input.append(&first[..count]);
                Ok(())
            }
        }
    }

    /// Gives the buffers back, where nothing is in them.
    pub fn rest(&mut self) {
        self.input.rest();
        if self.output.is_empty() {
            buffer::give_output(std::mem::take(&mut self.output));
        }
    }

    /// For a connection that nobody expects anything of: it is alive, and nothing stands in or
    /// before it. Costs no system call unless the kernel reported something.
    pub fn is_quiet(&mut self) -> bool {
        let clean = self.input.is_empty() && self.long.is_none() && self.output.is_empty() && !self.writing;
        clean && self.stream.is_quiet()
    }

    /// Waits until the peer is seen to have hung up; what it has sent stays unread. On an error
    /// it counts as gone.
    pub async fn hung_up(&self) {
        let tcp = self.stream.tcp();
        while let Ok(1..) = tcp.peek(&mut [0]).await {
            // Bytes nobody reads now keep the socket readable, so its closing can't be waited for.
            tokio::time::sleep(HUNG_UP_POLL).await;
            let ready = tcp.ready(tokio::io::Interest::READABLE).await;
            if ready.is_ok_and(|ready| ready.is_read_closed()) {
                return;
            }
        }
    }

    // Writing

    /// Puts a payload behind what is queued, as packets with the next sequence numbers.
    pub fn queue_packet(&mut self, payload: &[u8]) {
        let sequence = self.sequence;
        self.sequence = packet::frame(self.output(), sequence, payload);
    }

    /// The same for a payload that `write` appends to the buffer it is given.
    pub fn queue_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let sequence = self.sequence;
        self.sequence = packet::frame_with(self.output(), sequence, write);
    }

    /// Puts packets of `write`'s own framing behind what is queued: it gets the next packet's
    /// number and gives the one after its last.
    pub fn queue_packets(&mut self, write: impl FnOnce(&mut Vec<u8>, u8) -> u8) {
        let sequence = self.sequence;
        self.sequence = write(self.output(), sequence);
    }

    /// Puts packets, headers and all, behind what is queued.
    pub fn queue_raw(&mut self, packets: &[u8]) {
        self.output().extend_from_slice(packets);
    }

    fn output(&mut self) -> &mut Vec<u8> {
        if self.output.capacity() == 0 {
            self.output = buffer::take_output();
        }
        &mut self.output
    }

    /// How many bytes are queued.
    pub fn queued(&self) -> usize {
        self.output.len()
    }

    /// Writes what is queued.
    pub async fn flush(&mut self) -> Result<()> {
        self.write_all(&[]).await
    }

    /// Writes what is queued and `bytes` behind it, together where the system takes them.
    pub async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        if self.output.is_empty() && bytes.is_empty() {
            return Ok(());
        }
        if let Some(kept) = &mut self.kept {
            kept.take(&self.output);
            kept.take(bytes);
            self.output.clear();
            return Ok(());
        }
        if let Some(limit) = self.capture {
            if self.output.len() + bytes.len() <= limit {
                self.output.extend_from_slice(bytes);
                return Ok(());
            }
            self.capture = None;
        }
        self.writing = true;
        let total = self.output.len() + bytes.len();
        let mut done = 0;
        while done < total {
            let queued = IoSlice::new(&self.output[done.min(self.output.len())..]);
            let behind = IoSlice::new(&bytes[done.saturating_sub(self.output.len())..]);
            let parts = match (queued.is_empty(), behind.is_empty()) {
                (false, true) => &[queued][..],
                (true, _) => &[behind][..],
                (false, false) => &[queued, behind][..],
            };
            done += self.stream.write(parts).await.map_err(|error| self.write_failed(error))?;
        }
        self.stream.flush().await.map_err(|error| self.write_failed(error))?;
        self.writing = false;
        self.output.clear();
        if self.output.capacity() > LARGE {
            self.output = Vec::new();
        }
        Ok(())
    }

    /// From now on nothing is written: it is kept, up to so many bytes. With more all goes out after
    /// all.
    pub fn capture(&mut self, limit: usize) {
        self.capture = Some(limit);
    }

    /// What was kept; `None` where there was too much and it was written.
    pub fn captured(&mut self) -> Option<Vec<u8>> {
        self.capture.take().map(|_| std::mem::take(&mut self.output))
    }

    /// From now on what is written is the proxy's own, up to so many bytes, and not sent.
    pub fn keep_back(&mut self, most: usize) {
        let before = std::mem::take(&mut self.output);
        self.kept = Some(Box::new(Kept { bytes: Vec::new(), most, before }));
    }

    /// What was kept; `None` if that was too much. What is written from now on is sent.
    pub fn take_kept(&mut self) -> Option<Vec<u8>> {
        let kept = self.kept.take()?;
        self.output = kept.before;
        (kept.bytes.len() <= kept.most).then_some(kept.bytes)
    }

    /// After the login, where both sides want it: all that follows is compressed. Nothing may be
    /// queued or read ahead.
    pub fn compress(self) -> Result<Self> {
        if !self.input.is_empty() || !self.output.is_empty() {
            return Err(crate::protocol::payload::malformed());
        }
        let mut framed =
            Framed::over(Stream::Compressed(Box::new(Compressed::over(self.stream))), self.peer, self.max_packet);
        framed.sequence = self.sequence;
        Ok(framed)
    }

    /// Ends the connection politely; what is queued is not sent.
    pub async fn shutdown(mut self) {
        self.stream.shutdown().await;
    }

    // Errors

    fn blame(&self) -> Blame {
        match self.peer {
            Peer::Client => Blame::Client,
            Peer::Server => Blame::Shard,
        }
    }

    pub(crate) fn closed(&self) -> Error {
        self.broken(io::ErrorKind::UnexpectedEof.into())
    }

    pub(crate) fn broken(&self, error: io::Error) -> Error {
        match self.peer {
            Peer::Client => Error::client(READ_ERROR, "Got an error reading communication packets").ending_session(),
            Peer::Server => Error::new(Blame::Shard, code::SERVER_LOST, "Lost connection to a server during query"),
        }
        .because(error)
    }

    fn write_failed(&self, error: io::Error) -> Error {
        match self.peer {
            Peer::Client => Error::client(WRITE_ERROR, "Got an error writing communication packets").ending_session(),
            Peer::Server => Error::new(Blame::Shard, code::SERVER_GONE, "A server has gone away"),
        }
        .because(error)
    }
}

impl Kept {
    /// Beyond the bound nothing more is held, and it is known that there was more.
    fn take(&mut self, bytes: &[u8]) {
        if self.bytes.len() <= self.most {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

fn too_large() -> Error {
    Error::client(code::PACKET_TOO_LARGE, "Got a packet bigger than 'max_allowed_packet' bytes")
}

const OUT_OF_ORDER: (u16, &[u8; 5]) = (1156, b"08S01");
const READ_ERROR: (u16, &[u8; 5]) = (1158, b"08S01");
const WRITE_ERROR: (u16, &[u8; 5]) = (1160, b"08S01");

const _: () = assert!(LARGE < MAX_PACKET);
