//! The ERR packet, with or without an SQLSTATE (there is none before the login is under way).
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_err_packet.html>

use crate::error::{Blame, Error, Result};
use crate::protocol::payload::{Reader, malformed};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    pub code: u16,
    pub state: Option<[u8; 5]>,
    pub text: &'a [u8],
}

impl<'a> ErrPacket<'a> {
    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 0xFF {
            return Err(malformed());
        }
        let code = reader.u16()?;
        let mut text = reader.rest();
        let mut state = None;
        if let Some(([b'#', marked @ ..], rest)) = text.split_first_chunk::<6>() {
            state = Some(*marked);
            text = rest;
        }
        Ok(ErrPacket { code, state, text })
    }

    /// As a server would send it.
    pub fn of(error: &'a Error) -> Self {
        ErrPacket { code: servers_number(error.code()), state: Some(*error.state()), text: error.text() }
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(0xFF);
        out.extend_from_slice(&self.code.to_le_bytes());
        if let Some(state) = self.state {
            out.push(b'#');
            out.extend_from_slice(&state);
        }
        out.extend_from_slice(self.text);
    }

    /// The error as a server gave it.
    pub fn into_error(self) -> Error {
        Error::new(Blame::Shard, (self.code, &self.state.unwrap_or(*b"HY000")), self.text)
    }
}

/// Numbers from 2000 to 2999 are those of client libraries, for what they find out themselves. No
/// server sends them, and MariaDB's clients take such a packet for a malformed one and say so
/// instead of the text.
fn servers_number(number: u16) -> u16 {
    match number {
        CONN_HOST_ERROR => CONNECT_TO_FOREIGN_DATA_SOURCE,
        2000..=2999 => NET_READ_ERROR,
        other => other,
    }
}

const CONN_HOST_ERROR: u16 = 2003;
const CONNECT_TO_FOREIGN_DATA_SOURCE: u16 = 1429;
const NET_READ_ERROR: u16 = 1158;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::captured::reply;

    #[test]
    fn real_errors_are_read_and_written_back() {
        for name in ["maria eof err", "mysql ok err"] {
            let payload = &reply(name).payloads()[0];
            let err = ErrPacket::parse(payload).expect(name);
            assert_eq!((err.code, err.state), (1054, Some(*b"42S22")));
            let mut out = Vec::new();
            err.write(&mut out);
            assert_eq!(out, *payload);
            let error = err.into_error();
            let mut again = Vec::new();
            ErrPacket::of(&error).write(&mut again);
            assert_eq!(again, *payload);
        }
    }

    #[test]
    fn no_number_of_a_client_library_is_sent() {
        for (number, sent) in [(2003, 1429), (2013, 1158), (2006, 1158), (1999, 1999), (3000, 3000), (1205, 1205)] {
            let error = Error::new(Blame::Shard, (number, b"HY000"), "gone");
            assert_eq!(ErrPacket::of(&error).code, sent, "{number}");
        }
    }

    #[test]
    fn an_error_without_a_state_is_one_too() {
        let err = ErrPacket::parse(b"\xFF\x15\x04no").expect("short");
        assert_eq!((err.code, err.state, err.text), (1045, None, &b"no"[..]));
        assert!(ErrPacket::parse(b"\xFF\x15").is_err());
    }
}
