//! `bifold demo`: a points mall on real servers of this machine, behind a proxy that is this program.

use crate::error::Result;
use crate::lab::Demo;

/// Start two servers, four shards of 1024 subtables and the proxy, load sample data, say what to try
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Users of the sample data
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    users: u32,

    /// End after the tour instead of waiting for Ctrl-C
    #[arg(long)]
    once: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    Demo { users: arguments.users, once: arguments.once, ..Demo::new()? }.run()
}
