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

fn read_attributes(bytes: &[u8]) -> Result<Vec<(&[u8], &[u8])>> {
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
