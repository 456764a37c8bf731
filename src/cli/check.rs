//! `bifold check`: every mistake of the topology file, or its warnings and the layout.

use std::path::PathBuf;

use crate::config::load;
use crate::error::Result;
use crate::topology::layout::layout;

/// Validate a topology file and print its layout
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The topology file
    #[arg(long, env = "BIFOLD_CONFIG", default_value = "config/bifold.toml", value_name = "FILE")]
    config: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let config = load(&arguments.config)?;
    eprint!("{}", config.warnings);
    print!("{}", layout(&config));
    Ok(())
}
