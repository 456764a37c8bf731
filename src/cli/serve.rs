//! `bifold serve`: the proxy, until it is told to stop (SIGINT, SIGTERM).

use std::path::PathBuf;

use tokio::signal::unix::{SignalKind, signal};

use super::worker::{Pod, WorkerArgument};
use crate::config::load;
use crate::error::{Blame, Error, Result};
use crate::execute::Duty;
use crate::server::Server;

/// Serve clients
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The topology file
    #[arg(long, env = "BIFOLD_CONFIG", default_value = "config/bifold.toml", value_name = "FILE")]
    config: PathBuf,

    #[command(flatten)]
    worker: WorkerArgument,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let config = load(&arguments.config)?;
    eprint!("{}", config.warnings);
    let pod = Pod::of_this_process();
    let worker = match config.meta {
        Some(_) => arguments.worker.wanted(&pod, config.workers)?,
        None => Some(arguments.worker.worker(&pod, config.workers)?),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::proxy("Bifold: the runtime can't be started.").because(error))?;
    runtime.block_on(async {
        let server = Server::start(config, worker, Duty::Serve).await.map_err(|error| match error.blame() {
            Blame::Shard => {
                let said = format!("{error}; bifold check --config {} says what is wrong", arguments.config.display());
                error.with_text(said)
            }
            Blame::Client | Blame::Proxy | Blame::Operator => error,
        })?;
        if let Some(address) = server.http_address() {
            println!("ready: http {address}");
        }
        // Scripts and tests wait for this line.
        println!("ready: mysql {}", server.address()?);
        server.run(stop()).await;
        Ok(())
    })
}

async fn stop() {
    let told = |kind| signal(kind).expect("signal handlers can be installed at start");
    let (mut interrupt, mut terminate) = (told(SignalKind::interrupt()), told(SignalKind::terminate()));
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
