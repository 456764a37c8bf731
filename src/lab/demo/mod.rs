//! `bifold demo`: a points mall on two servers, four shards and 1024 subtables each, made and
//! loaded through the proxy, with things to try. It runs until Ctrl-C and leaves nothing behind.

mod load;
mod progress;
mod sample;
mod tour;

use std::env;
use std::path::PathBuf;

use mysql_async::{Conn, Opts, OptsBuilder};
use tokio::signal::unix::{SignalKind, signal};

use self::progress::Progress;
use super::cluster::{APP_PASSWORD, APP_USER, Cluster, ClusterSpec};
use super::program::Program;
use crate::error::{Error, Result};

/// What `demo` is asked for.
#[derive(Clone, Debug)]
pub struct Demo {
    /// The server program.
    pub program: Program,
    /// The program whose `serve` is the proxy.
    pub bifold: PathBuf,
    /// Users of the sample data; each has a few coin records and an order.
    pub users: u32,
    /// Ends after the tour instead of waiting for Ctrl-C.
    pub once: bool,
}

impl Demo {
    /// With this very program as the proxy, and the servers that this machine has.
    pub fn new() -> Result<Demo> {
        let bifold = env::current_exe().map_err(|cause| Error::proxy("no path to this program").because(cause))?;
        Ok(Demo { program: Program::preferred()?, bifold, users: 2_000, once: false })
    }

    /// Blocks until Ctrl-C; what was started ends with the return.
    pub fn run(&self) -> Result<()> {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|cause| Error::proxy("no runtime").because(cause))?
            .block_on(self.show())
    }

    async fn show(&self) -> Result<()> {
        println!("Bifold demo on {}", self.program);
        let starting = Progress::start("starting two servers with four shards");
        let mut cluster = Cluster::start(ClusterSpec::new(&self.program, sample::TABLES))?;
        starting.done();

        let starting = Progress::start("starting the proxy");
        let port = cluster.serve(&self.bifold)?.port();
        starting.done();

        let mut app = Conn::new(dsn(port)).await.map_err(failed("login at the proxy"))?;
        load::create_tables(&mut app, &cluster).await?;
        load::fill_tables(&mut app, self.users).await?;
        tour::print(&mut app, &cluster, port).await?;
        app.disconnect().await.map_err(failed("disconnect"))?;

        if !self.once {
            println!("\nCtrl-C ends the demo and removes everything.");
            until_told_to_end().await?;
            println!("\nremoving everything");
        }
        Ok(())
    }
}

fn dsn(port: u16) -> Opts {
    OptsBuilder::default()
        .ip_or_hostname("127.0.0.1")
        .tcp_port(port)
        .user(Some(APP_USER))
        .pass(Some(APP_PASSWORD))
        .db_name(Some("mall"))
        .prefer_socket(false)
        .into()
}

fn failed(what: &str) -> impl Fn(mysql_async::Error) -> Error + '_ {
    move |cause| Error::operator(format!("{}: {cause}", what.chars().take(120).collect::<String>()))
}

async fn until_told_to_end() -> Result<()> {
    let none = |cause| Error::proxy("signals can't be received").because(cause);
    let mut terminate = signal(SignalKind::terminate()).map_err(none)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(none)?;
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended.map_err(none),
        _ = terminate.recv() => Ok(()),
        _ = hangup.recv() => Ok(()),
    }
}
