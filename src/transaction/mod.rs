//! What a session holds on the servers: the connections that an open transaction, a lock or a
//! temporary table binds to it, and what has to be said on a server before its first statement
//! in a transaction. Connections that nothing binds go back to the pool after each reply.
//!
//! A transaction that reaches a second server becomes one over several: the first stays a plain
//! transaction, the others are XA branches, and a row in the first server's `bifold.decision`,
//! committed with its part, decides for all. What a crash leaves open is ended by [`recovery`].

mod branch;
mod characteristics;
mod commit;
mod coordinator;
mod decision;
mod frame;
mod hold;
mod part;
pub mod recovery;

pub use characteristics::Chained;
pub use commit::Ending;
pub use coordinator::Coordinator;
pub use decision::{DATABASE, RECOVER_RIGHT, RIGHTS, grants};
pub use frame::Frame;
pub use hold::{Hold, Need};
