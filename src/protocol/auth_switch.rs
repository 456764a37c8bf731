//! Packets of the login after the first two: AuthSwitchRequest and AuthMoreData.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_auth_switch_request.html>
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_auth_more_data.html>

use crate::error::Result;
use crate::protocol::payload::{Reader, malformed, put_null_terminated};

/// "Log in by another plugin."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSwitchRequest<'a> {
    pub plugin: &'a [u8],
    /// The plugin's data, a nonce mostly, without the zero that ends it.
    pub data: &'a [u8],
}

impl<'a> AuthSwitchRequest<'a> {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(0xFE);
        put_null_terminated(out, self.plugin);
        put_null_terminated(out, self.data);
    }

    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 0xFE {
            return Err(malformed());
        }
        // A lone 0xFE asks for the password scrambled as before 4.1, which is no protection.
        if reader.is_empty() {
            return Ok(AuthSwitchRequest { plugin: b"mysql_old_password", data: b"" });
        }
        let plugin = reader.null_terminated()?;
        let data = reader.rest();
        Ok(AuthSwitchRequest { plugin, data: data.strip_suffix(b"\0").unwrap_or(data) })
    }
}

/// A step of a plugin's own conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthMoreData<'a> {
    pub data: &'a [u8],
}

impl<'a> AuthMoreData<'a> {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(0x01);
        out.extend_from_slice(self.data);
    }

    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        match payload.split_first() {
            Some((0x01, data)) => Ok(AuthMoreData { data }),
            Some(_) | None => Err(malformed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_come_back() {
        let request = AuthSwitchRequest { plugin: b"mysql_native_password", data: &[7; 20] };
        let mut out = Vec::new();
        request.write(&mut out);
        assert_eq!(AuthSwitchRequest::parse(&out).expect("a request"), request);
        assert!(AuthSwitchRequest::parse(b"\xFEunfinished").is_err());
        assert_eq!(AuthSwitchRequest::parse(b"\xFE").expect("old").plugin, b"mysql_old_password");
        let more = AuthMoreData { data: b"\x04" };
        out.clear();
        more.write(&mut out);
        assert_eq!(AuthMoreData::parse(&out).expect("data"), more);
        assert!(AuthMoreData::parse(b"").is_err());
    }
}
