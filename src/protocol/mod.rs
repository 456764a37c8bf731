//! The MySQL client/server protocol as bytes ⇄ messages, without sockets: each file is a message
//! or a chapter of the protocol's manual. Sockets and TLS are `wire`'s.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>

pub mod packet;
pub mod payload;

pub mod capabilities;
pub mod collation;
pub mod command;
pub mod status;

pub mod auth;
pub mod auth_switch;
pub mod greeting;
pub mod handshake_response;

pub mod binary;
pub mod column;
pub mod eof;
pub mod err;
pub mod execute;
pub mod local_infile;
pub mod ok;
pub mod prepared;
pub mod reply;
pub mod result_set;
pub mod text;

pub use capabilities::Capabilities;
pub use command::Command;
pub use status::Status;

#[cfg(test)]
mod captured;
