//! The harness of the end-to-end tests: a plain server and a cluster behind the proxy, the same
//! statements on both, everything that comes back compared. A test is ten lines:
//!
//! ```ignore
//! on_each_server(TABLES, |both| {
//!     both.run("CREATE TABLE t (uid BIGINT PRIMARY KEY, n INT)");
//!     both.run("INSERT INTO t VALUES (1, 10), (2, 20)");
//!     both.run("SELECT n FROM t WHERE uid = 2");
//! });
//! ```
#![allow(dead_code, unused_imports)]

mod both;
mod compare;
mod fixture;
mod packets;
mod raw;

pub use both::{Both, Protocol};
pub use compare::{Mask, differences};
pub use fixture::{bifold_program, on_each_server, on_each_server_by, with_cluster};
pub use packets::{Answer, Caps, Cell, Column, OkPacket, Param, ResultSet, ServerError, Statement};
pub use raw::{Client, Greeting, Login};
