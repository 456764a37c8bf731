//! A MySQL client of the tests' own, on a blocking socket: it knows nothing of `src/`, so that it
//! can find its faults, and it shows every field of every packet that a client library would hide.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rsa::pkcs8::DecodePublicKey;
use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::packets::{Answer, Caps, Column, OkPacket, Param, ResultSet, ServerError, Statement, Walk, lenenc};

const SPLIT: usize = 0xFF_FFFF;

/// How to log in. `add` and `remove` change the capabilities that a modern client asks for.
#[derive(Clone, Debug)]
pub struct Login {
    pub user: String,
    pub password: String,
    pub database: Option<String>,
    /// Collation number of the handshake; 45 is utf8mb4_general_ci on both flavours.
    pub collation: u8,
    pub add: u32,
    pub remove: u32,
    /// The plugin that the first answer is made for; the server may switch.
    pub plugin: String,
}

impl Login {
    pub fn new(user: &str, password: &str, database: Option<&str>) -> Login {
        Login {
            user: user.to_owned(),
            password: password.to_owned(),
            database: database.map(str::to_owned),
            collation: 45,
            add: 0,
            remove: 0,
            plugin: "mysql_native_password".to_owned(),
        }
    }
}

/// What the server said first.
#[derive(Clone, Debug, Default)]
pub struct Greeting {
    pub version: String,
    pub thread: u32,
    pub caps: u32,
    pub collation: u8,
    pub status: u16,
    pub plugin: String,
    nonce: Vec<u8>,
}

pub struct Client {
    stream: TcpStream,
    seq: u8,
    pub caps: u32,
    pub greeting: Greeting,
}

impl Client {
    /// Logs in; the inner error is the server's own.
    pub fn login(port: u16, login: &Login) -> io::Result<Result<Client, ServerError>> {
        let mut client = Client::connect(port)?;
        let wanted = (Caps::MODERN | login.add) & !login.remove;
        let database = if login.database.is_some() { Caps::CONNECT_WITH_DB } else { 0 };
        client.caps = (wanted | database) & client.greeting.caps;
        let response = client.response(login);
        client.write_packet(&response)?;
        Ok(client.authenticate(login)?.map(|_| client))
    }

    /// Only the greeting is read: for tests that go on by hand.
    pub fn connect(port: u16) -> io::Result<Client> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut client = Client { stream, seq: 0, caps: Caps::PROTOCOL_41, greeting: Greeting::default() };
        let packet = client.read_packet()?;
        if packet.first() == Some(&0xFF) {
            return Err(io::Error::other(format!("instead of a greeting: {:?}", ServerError::parse(&packet))));
        }
        client.greeting = parse_greeting(&packet);
        Ok(client)
    }

    pub fn query(&mut self, sql: impl AsRef<[u8]>) -> Vec<Answer> {
        self.command(0x03, sql.as_ref());
        self.answers(false)
    }

    /// LOAD DATA LOCAL: sends these packets when the file is asked for, and an empty one behind them.
    pub fn load(&mut self, sql: impl AsRef<[u8]>, packets: &[&[u8]]) -> Answer {
        self.command(0x03, sql.as_ref());
        self.loaded(packets).unwrap_or_else(|lost| Answer::Lost(lost.to_string()))
    }

    fn loaded(&mut self, packets: &[&[u8]]) -> io::Result<Answer> {
        let first = self.read_packet()?;
        match first.first() {
            Some(0xFB) => {
                for packet in packets {
                    self.write_packet(packet)?;
                }
                self.write_packet(&[])?;
                self.answer(false)
            }
            Some(0x00) => Ok(Answer::Ok(OkPacket::parse(&first, self.caps))),
            _ => Ok(Answer::Err(ServerError::parse(&first))),
        }
    }

    pub fn prepare(&mut self, sql: impl AsRef<[u8]>) -> Result<Statement, Answer> {
        self.command(0x16, sql.as_ref());
        self.prepared().unwrap_or_else(|lost| Err(Answer::Lost(lost.to_string())))
    }

    pub fn execute(&mut self, statement: &Statement, params: &[Param]) -> Vec<Answer> {
        for (index, param) in params.iter().enumerate() {
            if let Param::LongData(bytes) = param {
                let mut body = statement.id.to_le_bytes().to_vec();
                body.extend((index as u16).to_le_bytes());
                body.extend(bytes);
                self.command(0x18, &body);
            }
        }
        self.command(0x17, &statement.execute_body(params));
        self.answers(true)
    }

    pub fn close(&mut self, statement: Statement) {
        self.command(0x19, &statement.id.to_le_bytes());
    }

    /// A command that is answered by OK, EOF or an error.
    pub fn simple(&mut self, command: u8, body: &[u8]) -> Answer {
        self.command(command, body);
        match self.read_packet() {
            Ok(packet) if packet.first() == Some(&0xFF) => Answer::Err(ServerError::parse(&packet)),
            Ok(packet) => Answer::Ok(OkPacket::parse(&packet, self.caps)),
            Err(lost) => Answer::Lost(lost.to_string()),
        }
    }

    /// COM_CHANGE_USER, with the plugin and the collation of `login`.
    pub fn change_user(&mut self, login: &Login) -> Result<OkPacket, Answer> {
        let proof = scramble(&login.plugin, &login.password, &self.greeting.nonce);
        let mut body = login.user.as_bytes().to_vec();
        body.push(0);
        body.push(proof.len() as u8);
        body.extend(proof);
        body.extend(login.database.as_deref().unwrap_or_default().as_bytes());
        body.push(0);
        body.extend(u16::from(login.collation).to_le_bytes());
        body.extend(login.plugin.as_bytes());
        body.push(0);
        if self.has(Caps::CONNECT_ATTRS) {
            body.push(0);
        }
        self.command(0x11, &body);
        match self.authenticate(login) {
            Ok(Ok(ok)) => Ok(ok),
            Ok(Err(error)) => Err(Answer::Err(error)),
            Err(lost) => Err(Answer::Lost(lost.to_string())),
        }
    }

    /// The packets of a reply that is column definitions and an end (COM_FIELD_LIST).
    pub fn field_list(&mut self, table: &str, pattern: &str) -> Vec<Vec<u8>> {
        self.command(0x04, format!("{table}\0{pattern}").as_bytes());
        self.packets_to_end(false)
    }

    /// Executes with a read-only cursor; the packets up to the first end or error.
    pub fn open_cursor(&mut self, statement: &Statement, params: &[Param]) -> Vec<Vec<u8>> {
        let mut body = statement.execute_body(params);
        body[4] = 1;
        self.command(0x17, &body);
        self.packets_to_end(true)
    }

    /// COM_STMT_FETCH.
    pub fn fetch(&mut self, statement: &Statement, count: u32) -> Vec<Vec<u8>> {
        self.command(0x1C, &[statement.id.to_le_bytes(), count.to_le_bytes()].concat());
        self.packets_to_end(false)
    }

    /// `opening`: it may be an OK packet alone.
    fn packets_to_end(&mut self, opening: bool) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        loop {
            let packet = self.read_packet().unwrap_or_else(|lost| panic!("{lost}"));
            // Definitions come first, and rows never do.
            let is_ok = packets.is_empty() && packet.first() == Some(&0) && packet.len() >= 7 && opening;
            let is_last = is_ok || matches!(packet.first(), Some(0xFE | 0xFF));
            packets.push(packet);
            if is_last {
                return packets;
            }
        }
    }

    /// Sends a command; a failure shows when its answer is read.
    pub fn command(&mut self, command: u8, body: &[u8]) {
        self.seq = 0;
        let mut packet = vec![command];
        packet.extend(body);
        let _ = self.write_packet(&packet);
    }

    pub fn write_packet(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut out = Vec::with_capacity(payload.len() + 4);
        let mut rest = payload;
        loop {
            let part = rest.len().min(SPLIT);
            out.extend(&(part as u32).to_le_bytes()[..3]);
            out.push(self.seq);
            self.seq = self.seq.wrapping_add(1);
            out.extend(&rest[..part]);
            rest = &rest[part..];
            if part < SPLIT {
                return self.stream.write_all(&out);
            }
        }
    }

    /// One payload, its parts joined; a wrong sequence number is an error.
    pub fn read_packet(&mut self) -> io::Result<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header)?;
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            if header[3] != self.seq {
                return Err(io::Error::other(format!("sequence number {} for {}", header[3], self.seq)));
            }
            self.seq = self.seq.wrapping_add(1);
            let start = payload.len();
            payload.resize(start + length, 0);
            self.stream.read_exact(&mut payload[start..])?;
            if length < SPLIT {
                return Ok(payload);
            }
        }
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    fn has(&self, cap: u32) -> bool {
        self.caps & cap != 0
    }

    pub fn answers(&mut self, binary: bool) -> Vec<Answer> {
        let mut answers = Vec::new();
        loop {
            let answer = self.answer(binary).unwrap_or_else(|lost| Answer::Lost(lost.to_string()));
            let more = answer.status().is_some_and(|status| status & 0x08 != 0);
            answers.push(answer);
            if !more {
                return answers;
            }
        }
    }

    fn answer(&mut self, binary: bool) -> io::Result<Answer> {
        let first = self.read_packet()?;
        match first.first() {
            Some(0x00) => return Ok(Answer::Ok(OkPacket::parse(&first, self.caps))),
            Some(0xFF) => return Ok(Answer::Err(ServerError::parse(&first))),
            Some(0xFB) => {
                // LOAD DATA LOCAL: an empty file.
                self.write_packet(&[])?;
                return self.answer(binary);
            }
            _ => {}
        }
        let count = Walk(&first).lenenc().expect("a column count") as usize;
        let columns = self.columns(count)?;
        let mut rows = Vec::new();
        loop {
            let packet = self.read_packet()?;
            match packet.first() {
                Some(0xFF) => return Ok(Answer::Err(ServerError::parse(&packet))),
                Some(0xFE) if packet.len() < 9 || (self.has(Caps::DEPRECATE_EOF) && packet.len() < SPLIT) => {
                    let (status, warnings) = if self.has(Caps::DEPRECATE_EOF) {
                        let ok = OkPacket::parse(&packet, self.caps);
                        (ok.status, ok.warnings)
                    } else {
                        let mut walk = Walk(&packet[1..]);
                        let warnings = walk.u16();
                        (walk.u16(), warnings)
                    };
                    return Ok(Answer::Rows(ResultSet { columns, rows, status, warnings }));
                }
                _ if binary => rows.push(super::packets::binary_row(&packet, &columns)),
                _ => rows.push(super::packets::text_row(&packet, columns.len())),
            }
        }
    }

    fn columns(&mut self, count: usize) -> io::Result<Vec<Column>> {
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            columns.push(Column::parse(&self.read_packet()?));
        }
        if count > 0 && !self.has(Caps::DEPRECATE_EOF) {
            self.read_packet()?;
        }
        Ok(columns)
    }

    fn prepared(&mut self) -> io::Result<Result<Statement, Answer>> {
        let first = self.read_packet()?;
        if first.first() == Some(&0xFF) {
            return Ok(Err(Answer::Err(ServerError::parse(&first))));
        }
        let mut walk = Walk(&first[1..]);
        let id = walk.u32();
        let (columns, params) = (walk.u16(), walk.u16());
        walk.skip(1);
        let warnings = walk.u16();
        let params = self.columns(params.into())?;
        let columns = self.columns(columns.into())?;
        Ok(Ok(Statement { id, columns, params, warnings }))
    }

    fn response(&self, login: &Login) -> Vec<u8> {
        let mut out = self.caps.to_le_bytes().to_vec();
        out.extend(0x0400_0000u32.to_le_bytes());
        out.push(login.collation);
        out.extend([0; 23]);
        out.extend(login.user.as_bytes());
        out.push(0);
        let proof = scramble(&login.plugin, &login.password, &self.greeting.nonce);
        out.push(proof.len() as u8);
        out.extend(proof);
        if let Some(database) = login.database.as_ref().filter(|_| self.has(Caps::CONNECT_WITH_DB)) {
            out.extend(database.as_bytes());
            out.push(0);
        }
        if self.has(Caps::PLUGIN_AUTH) {
            out.extend(login.plugin.as_bytes());
            out.push(0);
        }
        if self.has(Caps::CONNECT_ATTRS) {
            let mut attrs = Vec::new();
            for text in ["_client_name", "bifold-tests"] {
                lenenc(&mut attrs, text.as_bytes());
            }
            lenenc(&mut out, &attrs);
        }
        out
    }

    fn authenticate(&mut self, login: &Login) -> io::Result<Result<OkPacket, ServerError>> {
        let mut nonce = self.greeting.nonce.clone();
        loop {
            let packet = self.read_packet()?;
            match packet.first() {
                Some(0x00) => return Ok(Ok(OkPacket::parse(&packet, self.caps))),
                Some(0xFF) => return Ok(Err(ServerError::parse(&packet))),
                Some(0xFE) => {
                    let mut walk = Walk(&packet[1..]);
                    let plugin = String::from_utf8_lossy(walk.until_zero()).into_owned();
                    nonce = walk.0.strip_suffix(&[0]).unwrap_or(walk.0).to_vec();
                    self.write_packet(&scramble(&plugin, &login.password, &nonce))?;
                }
                // caching_sha2_password: 3 is "known", 4 asks for the password itself.
                Some(0x01) if packet.get(1) == Some(&3) => {}
                Some(0x01) if packet.get(1) == Some(&4) => self.write_packet(&[2])?,
                Some(0x01) => {
                    let sealed = seal(&packet[1..], &login.password, &nonce).map_err(io::Error::other)?;
                    self.write_packet(&sealed)?;
                }
                _ => return Err(io::Error::other(format!("during the login: {packet:02x?}"))),
            }
        }
    }
}

fn parse_greeting(packet: &[u8]) -> Greeting {
    let mut walk = Walk(&packet[1..]);
    let version = String::from_utf8_lossy(walk.until_zero()).into_owned();
    let thread = walk.u32();
    let mut nonce = walk.take(8).to_vec();
    walk.skip(1);
    let low = walk.u16();
    let collation = walk.u8();
    let status = walk.u16();
    let high = walk.u16();
    walk.skip(11);
    let rest = walk.until_zero();
    nonce.extend(rest);
    let plugin = String::from_utf8_lossy(walk.until_zero()).into_owned();
    Greeting { version, thread, caps: u32::from(low) | u32::from(high) << 16, collation, status, plugin, nonce }
}

fn scramble(plugin: &str, password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    match plugin {
        "mysql_native_password" => {
            let once = Sha1::digest(password);
            let twice = Sha1::digest(once);
            let mixed = Sha1::new().chain_update(nonce).chain_update(twice).finalize();
            once.iter().zip(mixed).map(|(a, b)| a ^ b).collect()
        }
        "caching_sha2_password" => {
            let once = Sha256::digest(password);
            let twice = Sha256::digest(once);
            let mixed = Sha256::new().chain_update(twice).chain_update(nonce).finalize();
            once.iter().zip(mixed).map(|(a, b)| a ^ b).collect()
        }
        _ => Vec::new(),
    }
}

/// The password under the server's public key, mixed with the nonce.
fn seal(pem: &[u8], password: &str, nonce: &[u8]) -> Result<Vec<u8>, String> {
    let pem = std::str::from_utf8(pem).map_err(|cause| cause.to_string())?;
    let key = rsa::RsaPublicKey::from_public_key_pem(pem.trim()).map_err(|cause| cause.to_string())?;
    let mixed: Vec<u8> = password.bytes().chain([0]).zip(nonce.iter().cycle()).map(|(a, b)| a ^ b).collect();
    key.encrypt(&mut rsa::rand_core::OsRng, rsa::Oaep::new::<Sha1>(), &mixed).map_err(|cause| cause.to_string())
}
