//! `bifold verify`: is every row where it belongs? Reads only.

use std::path::PathBuf;

use crate::config::load;
use crate::error::{Error, Result};
use crate::meta::{Layout, SqlStore};
use crate::verify::verify;

/// Look at every row: is it in its place, are ids single, copies and definitions equal? Exit code 1 if not
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The topology file
    #[arg(long, env = "BIFOLD_CONFIG", default_value = "config/bifold.toml", value_name = "FILE")]
    config: PathBuf,

    /// Rows read in a second on each server; 0: as fast as it goes
    #[arg(long, default_value_t = 200_000, value_name = "N")]
    rate: u64,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut config = load(&arguments.config)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| Error::proxy("no runtime").because(cause))?;
    let report = runtime.block_on(async {
        // What is in force holds against the file.
        if let Some(store) = SqlStore::of(&config)
            && let Some(layout) = Layout::kept(&store).await?
        {
            layout.apply(&mut config)?;
        }
        verify(&config, arguments.rate, &|text| eprintln!("{text}")).await
    })?;
    match arguments.json {
        true => println!("{}", report.json()),
        false => print!("{report}"),
    }
    match report.ok {
        true => Ok(()),
        false => Err(Error::operator("some rows, ids, copies or definitions are not as they must be")),
    }
}
