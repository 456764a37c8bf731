//! The client's answer to the greeting: HandshakeResponse41, or the shorter SSLRequest first,
//! after which TLS begins.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_response.html>
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_ssl_request.html>

use crate::error::{Error, Result};
use crate::protocol::Capabilities;
use crate::protocol::payload::{Reader, malformed, put_lenenc, put_lenenc_bytes, put_null_terminated};

/// What a client may send after the greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstPacket<'a> {
    SslRequest(SslRequest),
    Response(HandshakeResponse<'a>),
}

impl<'a> FirstPacket<'a> {
    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let request = SslRequest::read(&mut reader)?;
        if reader.is_empty() && request.capabilities.has(Capabilities::SSL) {
            return Ok(FirstPacket::SslRequest(request));
        }
        HandshakeResponse::read(request, reader).map(FirstPacket::Response)
    }
}

/// The head of the response, alone a wish for TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SslRequest {
    pub capabilities: Capabilities,
    pub max_packet: u32,
    /// A collation's number below 256; 0 asks for the server's own.
    pub collation: u8,
}

impl SslRequest {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.capabilities.lower().to_le_bytes());
        out.extend_from_slice(&self.max_packet.to_le_bytes());
        out.push(self.collation);
        out.extend_from_slice(&[0; 19]);
        out.extend_from_slice(&self.capabilities.upper().to_le_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        // Clients before 4.1 send two bytes of flags, three of length.
        let lower = match reader.clone().u16() {
            Ok(lower) if Capabilities::from_bits(lower.into()).has(Capabilities::PROTOCOL_41) => reader.u32()?,
            Ok(_) => {
                let text = "Client does not support authentication protocol requested by server; use a client of MySQL 4.1 or later";
                return Err(Error::client(OLD_CLIENT, text));
            }
            Err(error) => return Err(error),
        };
        let max_packet = reader.u32()?;
        let collation = reader.u8()?;
        reader.take(19)?;
        let upper = reader.u32()?;
        let mut capabilities = Capabilities::from_bits(u64::from(lower));
        // MySQL's clients say LONG_PASSWORD, and mean nothing by the bytes here.
        if !capabilities.has(Capabilities::LONG_PASSWORD) {
            capabilities = capabilities | Capabilities::from_bits(u64::from(upper) << 32);
        }
        Ok(SslRequest { capabilities, max_packet, collation })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    pub head: SslRequest,
    pub user: &'a [u8],
    pub auth: &'a [u8],
    pub schema: Option<&'a [u8]>,
    /// None: the client knows no plugins, which means mysql_native_password.
    pub plugin: Option<&'a [u8]>,
    pub attributes: Vec<(&'a [u8], &'a [u8])>,
    pub zstd_level: Option<u8>,
}

impl<'a> HandshakeResponse<'a> {
    pub fn capabilities(&self) -> Capabilities {
        self.head.capabilities
    }

    /// Writes the parts that the capabilities name.
    pub fn write(&self, out: &mut Vec<u8>) {
        let caps = self.head.capabilities;
        self.head.write(out);
        put_null_terminated(out, self.user);
        match u8::try_from(self.auth.len()) {
            _ if caps.has(Capabilities::PLUGIN_AUTH_LENENC) => put_lenenc_bytes(out, self.auth),
            Ok(len) => {
                out.push(len);
                out.extend_from_slice(self.auth);
            }
            Err(_) => out.push(0),
        }
        if caps.has(Capabilities::CONNECT_WITH_DB) {
            put_null_terminated(out, self.schema.unwrap_or_default());
        }
        if caps.has(Capabilities::PLUGIN_AUTH) {
            put_null_terminated(out, self.plugin.unwrap_or_default());
        }
        if caps.has(Capabilities::CONNECT_ATTRS) {
            let mut pairs = Vec::new();
            for (name, value) in &self.attributes {
                put_lenenc_bytes(&mut pairs, name);
                put_lenenc_bytes(&mut pairs, value);
            }
            put_lenenc(out, pairs.len() as u64);
            out.extend_from_slice(&pairs);
        }
        if caps.has(Capabilities::ZSTD) {
            out.push(self.zstd_level.unwrap_or(3));
        }
    }

    fn read(head: SslRequest, mut reader: Reader<'a>) -> Result<Self> {
        let caps = head.capabilities;
        let user = reader.null_terminated()?;
        let auth = if caps.has(Capabilities::PLUGIN_AUTH_LENENC) {
            reader.lenenc_bytes()?
        } else if caps.has(Capabilities::SECURE_CONNECTION) {
            let len = reader.u8()?;
            reader.take(usize::from(len))?
        } else {
            reader.null_terminated_or_rest()
        };
        // Some clients set the flag and end the packet here.
        let schema = match caps.has(Capabilities::CONNECT_WITH_DB) && !reader.is_empty() {
            true => Some(reader.null_terminated_or_rest()).filter(|schema| !schema.is_empty()),
            false => None,
        };
        let plugin = match caps.has(Capabilities::PLUGIN_AUTH) && !reader.is_empty() {
            true => Some(reader.null_terminated_or_rest()).filter(|plugin| !plugin.is_empty()),
            false => None,
        };
        let attributes = match caps.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
            true => read_attributes(reader.lenenc_bytes()?)?,
            false => Vec::new(),
        };
        let zstd_level = match caps.has(Capabilities::ZSTD) && !reader.is_empty() {
            true => Some(reader.u8()?),
            false => None,
        };
        Ok(HandshakeResponse { head, user, auth, schema, plugin, attributes, zstd_level })
    }
}

pub(super) fn read_attributes(bytes: &[u8]) -> Result<Vec<(&[u8], &[u8])>> {
    // The servers take 64 KiB at most.
    if bytes.len() > 0x1_0000 {
        return Err(malformed());
    }
    let mut reader = Reader::new(bytes);
    let mut attributes = Vec::new();
    while !reader.is_empty() {
        attributes.push((reader.lenenc_bytes()?, reader.lenenc_bytes()?));
    }
    Ok(attributes)
}

const OLD_CLIENT: (u16, &[u8; 5]) = (1251, b"08004");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::auth::Plugin;
    use crate::protocol::auth::scramble::scramble;
    use crate::protocol::captured::{MARIA_GREETING, MARIA_RESPONSE, MYSQL_GREETING, MYSQL_RESPONSE, unhex};
    use crate::protocol::greeting::Greeting;

    fn payload(hex: &str) -> Vec<u8> {
        unhex(hex)[4..].to_vec()
    }

    fn response(payload: &[u8]) -> HandshakeResponse<'_> {
        match FirstPacket::parse(payload).expect("a response") {
            FirstPacket::Response(response) => response,
            FirstPacket::SslRequest(request) => panic!("{request:?}"),
        }
    }

    #[test]
    fn responses_of_real_clients_are_read_and_written_back() {
        for (greeting, hex, plugin, attribute) in [
            (MARIA_GREETING, MARIA_RESPONSE, Plugin::NativePassword, b"_client_name"),
            (MYSQL_GREETING, MYSQL_RESPONSE, Plugin::CachingSha2, b"_client_name"),
        ] {
            let payload = payload(hex);
            let response = response(&payload);
            assert_eq!((response.user, response.schema), (&b"app"[..], Some(&b"d"[..])));
            assert_eq!(response.plugin, Some(plugin.name()));
            assert!(response.attributes.iter().any(|(name, _)| name == attribute), "{:?}", response.attributes);
            // The password is proved to real servers by these very bytes.
            let nonce = Greeting::parse(&unhex(greeting)[4..]).expect("a greeting").nonce;
            assert_eq!(response.auth, scramble(plugin, b"secret", &nonce));
            let mut out = Vec::new();
            response.write(&mut out);
            assert_eq!(out, payload);
        }
    }

    #[test]
    fn a_response_cut_short_never_panics_and_never_names_another_user() {
        for hex in [MARIA_RESPONSE, MYSQL_RESPONSE] {
            let whole = payload(hex);
            for cut in 0..whole.len() {
                if let Ok(FirstPacket::Response(response)) = FirstPacket::parse(&whole[..cut]) {
                    assert_eq!(response.user, b"app");
                }
            }
        }
    }

    #[test]
    fn a_lone_head_with_the_flag_asks_for_tls() {
        let capabilities = Capabilities::PROTOCOL_41 | Capabilities::SSL | Capabilities::LONG_PASSWORD;
        let request = SslRequest { capabilities, max_packet: 1 << 24, collation: 45 };
        let mut out = Vec::new();
        request.write(&mut out);
        assert_eq!(out.len(), 32);
        assert_eq!(FirstPacket::parse(&out).expect("a request"), FirstPacket::SslRequest(request));
    }

    #[test]
    fn parts_that_a_client_leaves_out_are_absent() {
        let capabilities = Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION | Capabilities::PLUGIN_AUTH;
        let head = SslRequest { capabilities, max_packet: 0, collation: 8 };
        let mut out = Vec::new();
        head.write(&mut out);
        out.extend_from_slice(b"u\0\x02xy");
        let short = response(&out);
        assert_eq!((short.user, short.auth, short.schema, short.plugin), (&b"u"[..], &b"xy"[..], None, None));
        out.truncate(out.len() - 3);
        out.extend_from_slice(b"\xFFxy");
        assert!(FirstPacket::parse(&out).is_err());
    }

    #[test]
    fn a_client_before_4_1_is_told_so() {
        let error = FirstPacket::parse(b"\x05\x00\x00\x00\x01root\0").expect_err("old");
        assert_eq!((error.code(), error.state()), (1251, b"08004"));
    }
}
