//! Sockets that carry the protocol's packets, plain or under TLS, for both sides of the proxy.
//! In and out go payloads, or the raw bytes of replies; what they mean is `protocol`'s.

mod buffer;
mod compressed;
mod framed;
mod stream;

pub mod login;
pub mod tls;

pub use framed::{Framed, Packet, Peer};
