//! COM_CHANGE_USER: a login within a session, in the words of the handshake response.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_change_user.html>

use crate::error::Result;
use crate::protocol::Capabilities;
use crate::protocol::Command;
use crate::protocol::handshake_response::{HandshakeResponse, SslRequest, read_attributes};
use crate::protocol::payload::{Reader, malformed};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    pub response: HandshakeResponse<'a>,
    /// Wider than that of the response's head; `None`: it is not said.
    pub collation: Option<u16>,
}

impl<'a> ChangeUser<'a> {
    /// `capabilities`: those of the session.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != Command::ChangeUser.byte() {
            return Err(malformed());
        }
        let user = reader.null_terminated()?;
        let auth = match capabilities.has(Capabilities::SECURE_CONNECTION) {
            true => {
                let len = reader.u8()?;
                reader.take(usize::from(len))?
            }
            false => reader.null_terminated()?,
        };
        let schema = Some(reader.null_terminated()?).filter(|schema| !schema.is_empty());
        let collation = if reader.is_empty() { None } else { Some(reader.u16()?) };
        let plugin = match capabilities.has(Capabilities::PLUGIN_AUTH) && !reader.is_empty() {
            true => Some(reader.null_terminated_or_rest()).filter(|plugin| !plugin.is_empty()),
            false => None,
        };
        let attributes = match capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            true => read_attributes(reader.lenenc_bytes()?)?,
            false => Vec::new(),
        };
        let head = SslRequest { capabilities, max_packet: 0, collation: 0 };
        let response = HandshakeResponse { head, user, auth, schema, plugin, attributes, zstd_level: None };
        Ok(ChangeUser { response, collation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_read_and_may_end_the_packet_where_clients_do() {
        let capabilities = Capabilities::SECURE_CONNECTION | Capabilities::PLUGIN_AUTH | Capabilities::CONNECT_ATTRS;
        let packet = b"\x11app\0\x03abcmall\0\x2D\0mysql_native_password\0\x04\x01n\x01v";
        let whole = ChangeUser::parse(packet, capabilities).expect("whole");
        assert_eq!((whole.response.user, whole.response.auth), (&b"app"[..], &b"abc"[..]));
        assert_eq!((whole.response.schema, whole.collation), (Some(&b"mall"[..]), Some(45)));
        assert_eq!(whole.response.plugin, Some(&b"mysql_native_password"[..]));
        assert_eq!(whole.response.attributes, [(&b"n"[..], &b"v"[..])]);
        let ends: Vec<usize> =
            (0..=packet.len()).filter(|cut| ChangeUser::parse(&packet[..*cut], capabilities).is_ok()).collect();
        let (schema, collation) = (14, 16);
        assert_eq!(&ends[..2], &[schema, collation]);
        assert!(ChangeUser::parse(&packet[..schema - 1], capabilities).is_err());
    }
}
