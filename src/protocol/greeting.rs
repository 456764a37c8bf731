//! The server's first packet: HandshakeV10. MariaDB's "5.5.5-" before its version is kept as the
//! bytes that they are; its capabilities stand where MySQL has zeros.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html>

use crate::error::{Blame, Error, Result, code};
use crate::protocol::payload::{Reader, malformed, put_null_terminated};
use crate::protocol::{Capabilities, Status};

/// The random bytes that a password is scrambled with; without zeros.
pub type Nonce = [u8; 20];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    pub version: Vec<u8>,
    pub connection_id: u32,
    pub nonce: Nonce,
    pub capabilities: Capabilities,
    /// The lower byte of the server's default collation.
    pub collation: u8,
    pub status: Status,
    pub plugin: Vec<u8>,
}

impl Greeting {
    pub fn write(&self, out: &mut Vec<u8>) {
        let lower = self.capabilities.lower().to_le_bytes();
        out.push(10);
        put_null_terminated(out, &self.version);
        out.extend_from_slice(&self.connection_id.to_le_bytes());
        put_null_terminated(out, &self.nonce[..8]);
        out.extend_from_slice(&lower[..2]);
        out.push(self.collation);
        out.extend_from_slice(&self.status.bits().to_le_bytes());
        out.extend_from_slice(&lower[2..]);
        // The nonce and the zero behind it.
        out.push(21);
        out.extend_from_slice(&[0; 6]);
        out.extend_from_slice(&self.capabilities.upper().to_le_bytes());
        put_null_terminated(out, &self.nonce[8..]);
        put_null_terminated(out, &self.plugin);
    }

    /// A server that refuses the connection sends an error packet instead: that is given as such.
    pub fn parse(payload: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        match reader.u8()? {
            10 => {}
            0xFF => return Err(crate::protocol::err::ErrPacket::parse(payload)?.into_error()),
            _ => {
                let text = "A server speaks a protocol other than version 10.";
                return Err(Error::new(Blame::Operator, code::HANDSHAKE, text));
            }
        }
        let version = reader.null_terminated()?.to_vec();
        let connection_id = reader.u32()?;
        let mut nonce: Nonce = [0; 20];
        nonce[..8].copy_from_slice(reader.take(8)?);
        reader.take(1)?;
        let low = u64::from(reader.u16()?);
        let collation = reader.u8()?;
        let status = Status::from_bits(reader.u16()?);
        let high = u64::from(reader.u16()?);
        let nonce_len = usize::from(reader.u8()?);
        reader.take(6)?;
        let mariadb = u64::from(reader.u32()?);
        let mut capabilities = Capabilities::from_bits(low | high << 16);
        if !capabilities.has(Capabilities::LONG_PASSWORD) {
            capabilities = capabilities | Capabilities::from_bits(mariadb << 32);
        }
        if !capabilities.has(Capabilities::PROTOCOL_41.with(Capabilities::SECURE_CONNECTION)) {
            return Err(Error::new(Blame::Operator, code::HANDSHAKE, "A server is older than MySQL 4.1."));
        }
        let rest = reader.take(13.max(nonce_len.saturating_sub(8)))?;
        nonce[8..].copy_from_slice(rest.get(..12).ok_or_else(malformed)?);
        let plugin = match capabilities.has(Capabilities::PLUGIN_AUTH) {
            true => reader.null_terminated_or_rest().to_vec(),
            false => crate::protocol::auth::Plugin::NativePassword.name().to_vec(),
        };
        Ok(Greeting { version, connection_id, nonce, capabilities, collation, status, plugin })
    }

    pub fn is_mariadb(&self) -> bool {
        memchr::memmem::find(&self.version, b"MariaDB").is_some()
    }
}
