//! The OK packet, in both its dresses: first byte 0x00 in answer to a command, 0xFE at the end of
//! a result where the EOF packet is deprecated.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html>

use crate::error::Result;
use crate::protocol::payload::{Reader, malformed, put_lenenc, put_lenenc_bytes};
use crate::protocol::{Capabilities, Status};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OkPacket<'a> {
    pub affected_rows: u64,
    pub last_insert_id: u64,
    pub status: Status,
    pub warnings: u16,
    pub info: &'a [u8],
    /// What SESSION_TRACK reports, as it is on the wire.
    pub state_changes: &'a [u8],
}

impl<'a> OkPacket<'a> {
    /// `capabilities`: those of the connection that the packet comes from.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self> {
        let mut reader = Reader::new(payload);
        if !matches!(reader.u8()?, 0x00 | 0xFE) {
            return Err(malformed());
        }
        let mut ok = OkPacket {
            affected_rows: reader.lenenc()?,
            last_insert_id: reader.lenenc()?,
            status: Status::from_bits(reader.u16()?),
            warnings: reader.u16()?,
            ..OkPacket::default()
        };
        // The manual has it run to the packet's end without SESSION_TRACK; servers and clients
        // put its length before it all the same.
        if !reader.is_empty() {
            ok.info = reader.lenenc_bytes()?;
        }
        if !capabilities.has(Capabilities::SESSION_TRACK) {
            return Ok(ok);
        }
        if ok.status.has(Status::SESSION_STATE_CHANGED) && !reader.is_empty() {
            ok.state_changes = reader.lenenc_bytes()?;
        }
        Ok(ok)
    }

    /// In answer to a command. `capabilities`: those of the client that it goes to.
    pub fn write(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        self.write_as(0x00, capabilities, out);
    }

    /// After the last row, for a client with DEPRECATE_EOF.
    pub fn write_end(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        self.write_as(0xFE, capabilities, out);
    }

    fn write_as(&self, first: u8, capabilities: Capabilities, out: &mut Vec<u8>) {
        let track = capabilities.has(Capabilities::SESSION_TRACK);
        let changed = track && !self.state_changes.is_empty();
        let status = self.status.set(Status::SESSION_STATE_CHANGED, changed);
        out.push(first);
        put_lenenc(out, self.affected_rows);
        put_lenenc(out, self.last_insert_id);
        out.extend_from_slice(&status.bits().to_le_bytes());
        out.extend_from_slice(&self.warnings.to_le_bytes());
        if changed || !self.info.is_empty() {
            put_lenenc_bytes(out, self.info);
            if changed {
                put_lenenc_bytes(out, self.state_changes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::captured::reply;

    #[test]
    fn real_ok_packets_are_read_and_written_back() {
        for (name, capabilities) in
            [("mysql eof insert", Capabilities::NONE), ("maria ok insert", Capabilities::SESSION_TRACK)]
        {
            let payload = &reply(name).payloads()[0];
            let ok = OkPacket::parse(payload, capabilities).expect(name);
            assert_eq!((ok.affected_rows, ok.warnings), (2, 0));
            assert_eq!(ok.info, b"Records: 2  Duplicates: 0  Warnings: 0");
            let mut out = Vec::new();
            ok.write(capabilities, &mut out);
            assert_eq!(out, *payload);
            for cut in 0..7 {
                assert!(OkPacket::parse(&payload[..cut], capabilities).is_err());
            }
        }
    }

    #[test]
    fn changes_of_the_session_are_passed_on_only_to_who_asked() {
        let payload = &reply("mysql ok use").payloads()[0];
        let ok = OkPacket::parse(payload, Capabilities::SESSION_TRACK).expect("an OK");
        assert_eq!(ok.state_changes, b"\x01\x02\x01d");
        let mut out = Vec::new();
        ok.write(Capabilities::SESSION_TRACK, &mut out);
        assert_eq!(out, *payload);
        out.clear();
        ok.write(Capabilities::NONE, &mut out);
        assert_eq!(out, b"\0\0\0\x02\0\0\0");
    }

    #[test]
    fn the_end_of_rows_is_an_ok_packet_in_another_dress() {
        let payload = reply("mysql ok fetch").payloads().pop().expect("an end");
        let ok = OkPacket::parse(&payload, Capabilities::SESSION_TRACK).expect("an end");
        let mut out = Vec::new();
        ok.write_end(Capabilities::SESSION_TRACK, &mut out);
        assert_eq!(out, payload);
    }
}
