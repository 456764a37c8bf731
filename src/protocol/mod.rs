//! The MySQL client/server protocol as bytes ⇄ messages, without sockets: each file is a message
//! or a chapter of the protocol's manual. Sockets and TLS are `wire`'s.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>

pub mod capabilities;
pub mod command;
pub mod packet;
pub mod payload;
pub mod reply;
pub mod status;

pub use capabilities::Capabilities;
pub use command::Command;
pub use status::Status;
