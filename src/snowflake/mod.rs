//! Snowflake ids: 63 bits of time, worker, tag, place and sequence (`config::IdLayout`).
//!
//! `format` puts the fields together and takes them apart; `counter` hands out sequences, lock-free; `generator`
//! makes runs of ids for one table; `clock` and `worker` are what it is given from outside. Which column is
//! filled, and when, is decided elsewhere.

pub mod clock;
mod counter;
pub mod format;
pub mod generator;
pub mod worker;

pub use clock::{Clock, SystemClock};
pub use format::{Carried, Format, Parts};
pub use generator::{CarryingGenerator, Generator, Issuer, Run};
pub use worker::{FixedWorker, Hold, WorkerLease};
