//! The servers' side: for each server a bounded pool of logged-in connections, each with the
//! settings it was brought to and the statements prepared on it. What is sent over a connection,
//! and what becomes of the reply, is the caller's.

mod conn;
mod fence;
mod janitor;
mod login;
mod pool;
mod statements;

pub use conn::{Answer, AnswerColumn, Conn, ReplyShape, Row, ServerThreadId};
pub use fence::Fence;
pub use pool::{Checkout, Server, Servers};
pub use statements::Prepared;
