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
pub mod change_user;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever a peer sends: a message, or an error, never a panic and never a large claim
        /// believed.
        #[test]
        fn no_bytes_make_a_message_panic(
            bytes in proptest::collection::vec(prop_oneof![Just(0), Just(0xFE), Just(0xFF), any::<u8>()], 0..200),
            params in 0u16..40,
        ) {
            let _ = greeting::Greeting::parse(&[&[10], &bytes[..]].concat());
            let _ = handshake_response::FirstPacket::parse(&bytes);
            let _ = handshake_response::FirstPacket::parse(&[&[0xFF; 4], &bytes[..]].concat());
            let _ = auth_switch::AuthSwitchRequest::parse(&bytes);
            let _ = auth_switch::AuthMoreData::parse(&bytes);
            let _ = ok::OkPacket::parse(&bytes, Capabilities::SESSION_TRACK);
            let _ = eof::EofPacket::parse(&bytes);
            let _ = err::ErrPacket::parse(&bytes);
            let _ = prepared::Prepared::parse(&bytes);
            let _ = column::Column::parse(&bytes);
            let _ = column::rewrite_names(&bytes, |names| names, &mut Vec::new());
            let _ = execute::LongData::parse(&bytes);
            let head = [&[Command::StmtExecute.byte(), 1, 0, 0, 0, 0, 1, 0, 0, 0], &bytes[..]].concat();
            let mut bindings = execute::Bindings::default();
            if let Ok(execute) = execute::Execute::parse(&head, params, &mut bindings) {
                let _ = execute.values(&bindings, "utf8mb4", &mut Vec::new());
            }
            let types: Vec<_> = bytes
                .iter()
                .filter_map(|byte| column::ColumnType::from_byte(*byte))
                .map(|kind| binary::ValueType { kind, unsigned: false })
                .collect();
            let _ = binary::read_row(&bytes, &types, "utf8mb4", &mut Vec::new());
        }
    }
}
