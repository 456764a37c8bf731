//! The log: lines for a human or JSON for a collector, on standard error, so that standard
//! output stays a command's own.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

/// Starts the log of this process. `filter` is a level (`info`) or per module
/// (`warn,bifold::shard=debug`).
pub fn start(format: Format, filter: &str) -> Result<()> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        Error::operator(format!(
            "--log: {filter:?} is no filter ({error}); write a level, or levels by module, as warn,bifold::shard=debug"
        ))
    })?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    let started = match format {
        Format::Text => builder.with_target(false).try_init(),
        Format::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| Error::proxy(format!("the log cannot start: {error}")))
}
