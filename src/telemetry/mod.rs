//! What Bifold tells of itself while it runs: the log, and counters that an exporter reads.

pub mod log;
pub mod metrics;
