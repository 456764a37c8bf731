//! `bifold expand`: the databases doubled while traffic goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};

use crate::config::{Config, Secret, load};
use crate::error::{Error, Result};
use crate::expansion::{Account, Driver, Order, Pace, clean, plan, rewrite};
use crate::meta::{Job, Layout, Members, Replica, SqlStore, Step};

/// Double the databases: each server's replica becomes a server of its own
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say what would be done, and what stands against it; touches nothing
    Plan {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        replicas: Replicas,
    },
    /// Do it, up to the new layout in force
    Start {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        replicas: Replicas,
        #[command(flatten)]
        pace: Paced,
    },
    /// Say how far it is
    Status {
        /// The topology file
        #[arg(long, env = "BIFOLD_CONFIG", default_value = "config/bifold.toml", value_name = "FILE")]
        config: PathBuf,
    },
    /// Go on where it stopped, on whatever machine
    Resume {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        pace: Paced,
    },
    /// Back to the old state; possible until the new layout is in force
    Abort {
        #[command(flatten)]
        common: Common,
    },
    /// Delete the rows that each shard no longer owns
    Clean {
        #[command(flatten)]
        common: Common,
        /// Rows deleted in a second on each server; 0: as fast as it goes
        #[arg(long, default_value_t = 10_000, value_name = "N")]
        rate: u64,
    },
}

#[derive(Debug, clap::Args)]
struct Common {
    /// The topology file; rewritten when the new layout is in force
    #[arg(long, env = "BIFOLD_CONFIG", default_value = "config/bifold.toml", value_name = "FILE")]
    config: PathBuf,

    /// An administrator's account on all servers and replicas
    #[arg(long, env = "BIFOLD_ADMIN_USER", default_value = "root", value_name = "NAME")]
    admin_user: String,

    /// Its password
    #[arg(long, env = "BIFOLD_ADMIN_PASSWORD", default_value = "", hide_env_values = true, value_name = "PASSWORD")]
    admin_password: String,
}

#[derive(Debug, clap::Args)]
struct Replicas {
    /// A server's replica, and what it will be called; one for each server
    #[arg(long = "replica", required = true, value_name = "SERVER=NAME@HOST:PORT", value_parser = replica)]
    replicas: Vec<Replica>,
}

#[derive(Debug, clap::Args)]
struct Paced {
    /// Seconds that transactions under way may take to end by themselves while writes are held
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    drain: u64,

    /// Stop when this step is done
    #[arg(long, default_value = "switched", value_name = "STEP")]
    until: Until,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Until {
    CaughtUp,
    Proved,
    Gated,
    Promoted,
    Switched,
}

impl Paced {
    fn pace(&self) -> Pace {
        let until = match self.until {
            Until::CaughtUp => Step::CaughtUp,
            Until::Proved => Step::Proved,
            Until::Gated => Step::Gated,
            Until::Promoted => Step::Promoted,
            // That step ends with the open gate, which the driver sees to.
            Until::Switched => Step::Cleaning,
        };
        Pace { drain: Duration::from_secs(self.drain), until }
    }
}

/// `s0=s2@10.0.0.30:3306`
fn replica(text: &str) -> std::result::Result<Replica, String> {
    let parse = || {
        let (of, rest) = text.split_once('=')?;
        let (name, address) = rest.split_once('@')?;
        let (host, port) = address.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let plain = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        };
        (plain(of) && plain(name) && !host.is_empty()).then_some(())?;
        Some(Replica { of: of.to_owned(), name: name.to_owned(), host: host.to_owned(), port: port.parse().ok()? })
    };
    parse().ok_or_else(|| "write SERVER=NAME@HOST:PORT, as s0=s2@10.0.0.30:3306".to_owned())
}

impl Common {
    fn account(&self) -> Account {
        Account { user: self.admin_user.clone(), password: Secret::new(&self.admin_password) }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| Error::proxy("no runtime").because(cause))?;
    runtime.block_on(carry_out(&arguments.what))
}

async fn carry_out(what: &What) -> Result<()> {
    let tell = |text: &str| println!("{text}");
    match what {
        What::Plan { common, replicas } => {
            let (store, config) = open(&common.config)?;
            let order = order(common, replicas, Pace { drain: Duration::ZERO, until: Step::Planned });
            let job = planned(&store, &config, &order).await?;
            println!("{}nothing stands against it", job);
            Ok(())
        }
        What::Start { common, replicas, pace } => {
            let (store, config) = open(&common.config)?;
            let order = order(common, replicas, pace.pace());
            let layout = kept(&store).await?;
            let job = plan(&config, &layout, &order).await?;
            let driver = Driver::begin(store, config, job, &order, &tell).await?;
            drive(driver, &common.config).await
        }
        What::Resume { common, pace } => {
            let (store, config) = open(&common.config)?;
            let driver = Driver::resume(store, config, common.account(), pace.pace(), &tell).await?;
            drive(driver, &common.config).await
        }
        What::Abort { common } => {
            let (store, config) = open(&common.config)?;
            let pace = Pace { drain: Duration::ZERO, until: Step::Planned };
            Driver::resume(store, config, common.account(), pace, &tell).await?.abort().await?;
            println!("all is as before");
            Ok(())
        }
        What::Status { config } => status(config).await,
        What::Clean { common, rate } => {
            let (store, config) = open(&common.config)?;
            let deleted = clean(store, config, &common.account(), *rate, &tell).await?;
            println!("done: {deleted} rows deleted, no shard holds rows of another");
            Ok(())
        }
    }
}

fn open(file: &Path) -> Result<(Arc<SqlStore>, Config)> {
    let config = load(file)?;
    let store = SqlStore::of(&config).ok_or_else(|| {
        Error::operator(format!(
            "{}: proxies must share a store to be moved together: add a section [meta]",
            file.display()
        ))
    })?;
    Ok((Arc::new(store), config))
}

async fn kept(store: &SqlStore) -> Result<Layout> {
    Layout::kept(store)
        .await?
        .ok_or_else(|| Error::operator("bifold.meta holds no layout yet: start a proxy with this file first"))
}

fn order(common: &Common, replicas: &Replicas, pace: Pace) -> Order {
    Order { replicas: replicas.replicas.clone(), account: common.account(), pace }
}

async fn planned(store: &SqlStore, config: &Config, order: &Order) -> Result<String> {
    let layout = kept(store).await?;
    Ok(crate::expansion::describe(&plan(config, &layout, order).await?))
}

async fn drive(mut driver: Driver<'_>, file: &Path) -> Result<()> {
    let step = driver.run().await?;
    if step < Step::Switched {
        println!("stopped after step {step:?}: go on with `bifold expand resume`");
        return Ok(());
    }
    match rewrite(file, driver.layout()) {
        Ok(true) => println!(
            "{} names the new servers and shards now: bring the other proxies' files up to date",
            file.display()
        ),
        Ok(false) => {}
        Err(error) => println!("{error}"),
    }
    println!("switched; when you are content, run `bifold expand clean`");
    Ok(())
}

async fn status(file: &Path) -> Result<()> {
    let (store, _) = open(file)?;
    match Job::read(&*store).await? {
        None => println!("no expansion was ever begun"),
        Some((job, _, age)) => {
            println!("step: {:?}, written {} s ago; gate: {:?}", job.step, age.as_secs(), job.gate);
            print!("{}", crate::expansion::describe(&job));
            if !job.note.is_empty() {
                println!("note: {}", job.note);
            }
        }
    }
    if let Some(layout) = Layout::kept(&*store).await? {
        let dirty = if layout.dirty { "; shards hold rows that they no longer own" } else { "" };
        println!("layout {} is in force{dirty}", layout.version);
    }
    for (_, member, age) in Members::read(&*store).await?.0 {
        let drained = if member.drained { ", drained" } else { "" };
        println!("proxy {}: layout {}{drained}, seen {} s ago", member.host, member.version, age.as_secs());
    }
    Ok(())
}
