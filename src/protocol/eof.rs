//! The EOF packet, which ends definitions and rows where the client did not deprecate it.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_eof_packet.html>

use crate::error::Result;
use crate::protocol::Status;
use crate::protocol::payload::{Reader, malformed};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EofPacket {
    pub warnings: u16,
    pub status: Status,
}

impl EofPacket {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(0xFE);
        out.extend_from_slice(&self.warnings.to_le_bytes());
        out.extend_from_slice(&self.status.bits().to_le_bytes());
    }

    pub fn parse(payload: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 0xFE || payload.len() >= 9 {
            return Err(malformed());
        }
        Ok(EofPacket { warnings: reader.u16()?, status: Status::from_bits(reader.u16()?) })
    }
}
