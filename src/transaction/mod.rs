//! What a session holds on the servers: the connections that an open transaction, a lock or a
//! temporary table binds to it, and what has to be said on a server before its first statement
//! in a transaction. Connections that nothing binds go back to the pool after each reply.
//!
//! Until commits over servers are atomic, a transaction writes on one server only; it may read
//! on any number.

mod hold;

pub use hold::{Chained, Ending, Hold, Need};
