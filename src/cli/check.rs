//! `bifold check`: every mistake of the topology file, or its warnings and the layout; then what
//! the servers say to it.

use std::path::PathBuf;

use crate::check::{Subject, check};
use crate::config::{Config, Findings, load};
use crate::context::States;
use crate::error::{Error, Result};
use crate::shard::Servers;
use crate::topology::Topology;
use crate::topology::layout::layout;

/// Validate a topology file, print its layout, and compare it with the servers
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The topology file
    #[arg(long, env = "BIFOLD_CONFIG", default_value = "config/bifold.toml", value_name = "FILE")]
    config: PathBuf,

    /// Look at the file only, ask no server
    #[arg(long)]
    offline: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let config = load(&arguments.config)?;
    eprint!("{}", config.warnings);
    print!("{}", layout(&config));
    if arguments.offline {
        return Ok(());
    }
    let findings = ask_servers(&config, &arguments.config.display().to_string())?;
    match findings.has_mistakes() {
        true => Err(findings.into()),
        false => {
            eprint!("{findings}");
            Ok(())
        }
    }
}

fn ask_servers(config: &Config, file: &str) -> Result<Findings> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|cause| Error::proxy("no runtime").because(cause))?;
    let topology = Topology::new(config, 1);
    let states = States::default();
    runtime.block_on(async {
        let servers = Servers::new(&topology, &config.backend, &states)?;
        let subject = Subject { config, topology: &topology, file };
        Ok(check(&subject, &servers, &states).await)
    })
}
