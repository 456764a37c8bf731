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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::captured::{MARIA_GREETING, MYSQL_GREETING, unhex};

    fn payload(hex: &str) -> Vec<u8> {
        unhex(hex)[4..].to_vec()
    }

    #[test]
    fn greetings_of_real_servers_are_read_and_written_back() {
        let mysql = Greeting::parse(&payload(MYSQL_GREETING)).expect("MySQL");
        assert_eq!((&mysql.version[..], mysql.collation), (&b"9.7.4-2"[..], 255));
        assert_eq!(mysql.plugin, b"caching_sha2_password");
        assert!(mysql.capabilities.has(Capabilities::DEPRECATE_EOF | Capabilities::QUERY_ATTRIBUTES));
        assert!(!mysql.is_mariadb());
        let maria = Greeting::parse(&payload(MARIA_GREETING)).expect("MariaDB");
        assert_eq!(maria.version, b"5.5.5-10.11.19-MariaDB-0+deb12u1");
        assert!(maria.is_mariadb() && maria.capabilities.has(Capabilities::MARIADB_BULK));
        assert!(!maria.capabilities.has(Capabilities::LONG_PASSWORD));
        for (greeting, hex) in [(mysql, MYSQL_GREETING), (maria, MARIA_GREETING)] {
            let mut out = Vec::new();
            greeting.write(&mut out);
            assert_eq!(out, payload(hex));
        }
    }

    #[test]
    fn a_greeting_cut_short_is_refused_unless_only_the_last_zero_is_missing() {
        for hex in [MYSQL_GREETING, MARIA_GREETING] {
            let whole = payload(hex);
            let plugin = whole.len() - 22;
            for cut in 0..plugin {
                assert!(Greeting::parse(&whole[..cut]).is_err(), "{cut}");
            }
            let unended = Greeting::parse(&whole[..whole.len() - 1]).expect("all but the zero");
            assert_eq!(unended, Greeting::parse(&whole).expect("whole"));
        }
    }

    #[test]
    fn a_server_that_turns_us_away_is_heard() {
        let error = Greeting::parse(b"\xFF\x10\x04Too many connections").expect_err("refused");
        assert_eq!((error.code(), error.text()), (1040, &b"Too many connections"[..]));
        assert_eq!(Greeting::parse(b"\x09old").expect_err("old").code(), 1043);
    }
}
