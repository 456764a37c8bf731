//! [`Engine`]: what all sessions of a proxy share. Made once; every part of it is either
//! immutable or guards itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::ddl::Turns;
use super::ids::Generators;
use super::measure::Counts;
use super::profile::Profile;
use super::settings::Transitions;
use super::sweep::Swept;
use crate::admission::{Gate, HotKeys, Tickets};
use crate::catalog::{Catalog, Rows, Source, TableName};
use crate::config::{Config, User};
use crate::context::States;
use crate::error::{Error, Result};
use crate::merge::Holdings;
use crate::plan::cache::PlanCache;
use crate::plan::load::Load;
use crate::plan::{Plan, Planned};
use crate::registry::Registry;
use crate::shard::{Fence, Servers};
use crate::snowflake::WorkerLease;
use crate::topology::weight::{Question, Weights};
use crate::topology::{ServerNo, Topology};
use crate::transaction::Coordinator;
use crate::transaction::recovery::Recovery;

#[derive(Debug)]
pub struct Engine {
    pub config: Config,
    /// By name.
    users: Arc<HashMap<String, Arc<User>>>,
    pub topology: Arc<Topology>,
    pub servers: Servers,
    pub catalog: Arc<Catalog>,
    pub plans: PlanCache,
    pub states: Arc<States>,
    pub transitions: Transitions,
    pub ids: Arc<Generators>,
    pub weights: Arc<Weights>,
    /// One DDL statement per table at a time.
    pub turns: Arc<Turns>,
    /// How many statements over many places may be under way.
    pub fan_outs: Semaphore,
    pub swept: Swept,
    /// How many connections hold collected rows. Whoever waits for one holds all else that it needs.
    pub sites: Semaphore,
    /// How many files whose lines are parted may be under way.
    pub loads: Semaphore,
    /// What they hold in memory.
    pub holdings: Arc<Holdings>,
    /// What the servers are.
    pub profile: Arc<Profile>,
    pub coordinator: Arc<Coordinator>,
    pub tickets: Arc<Tickets>,
    pub hot_keys: Arc<HotKeys>,
    pub registry: Arc<Registry>,
    pub(super) started: Instant,
    pub counts: Arc<Counts>,
    /// Where several proxies share a store: what holds writing while the layout changes.
    pub sharing: Option<Sharing>,
    recovery: Mutex<Option<Recovery>>,
}

/// What ties an engine to the other proxies of its cluster.
#[derive(Clone, Debug)]
pub struct Sharing {
    pub gate: Arc<Gate>,
    pub fence: Arc<Fence>,
    /// An expansion is under way: definitions stay as they are.
    pub expanding: Arc<AtomicBool>,
    /// Another engine has taken the place of this one, with other places.
    pub retired: Arc<AtomicBool>,
}

impl Sharing {
    pub fn new(config: &Config) -> Self {
        let fence = Arc::new(Fence::new(&config.cluster, config.version));
        Sharing { gate: Arc::default(), fence, expanding: Arc::default(), retired: Arc::default() }
    }
}

/// What a process is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// To serve clients, and to end what crashes left prepared.
    Serve,
    /// To say where statements would go: it makes no table on a server and ends nobody's transaction.
    Look,
}

impl Engine {
    /// Looks at the servers once.
    pub async fn start(config: Config, lease: Arc<dyn WorkerLease>, duty: Duty) -> Result<Self> {
        let sharing = (config.meta.is_some() && duty == Duty::Serve).then(|| Sharing::new(&config));
        let topology = Arc::new(Topology::new(&config, config.version));
        let states = Arc::new(States::default());
        let fence = sharing.as_ref().map(|sharing| &sharing.fence);
        let servers = Servers::fenced(&topology, &config.backend, &states, fence)?;
        let profile = Profile::read(&topology, &servers).await?;
        let coordinator = coordinator(&config, &servers, duty).await;
        let tickets = Arc::new(Tickets::new(servers.smallest_pool(), config.backend.wait));
        let worker = lease.hold().map_or(0, |hold| hold.worker);
        let registry = Arc::new(Registry::new(worker, topology.servers().len()));
        let users = config.users.iter().map(|user| (user.name.clone(), Arc::new(user.clone()))).collect();
        Ok(Engine {
            started: Instant::now(),
            counts: Arc::default(),
            registry,
            ids: Arc::new(Generators::new(&topology, lease)?),
            catalog: Arc::default(),
            plans: PlanCache::new(PLANS),
            transitions: Transitions::default(),
            users: Arc::new(users),
            weights: Arc::default(),
            fan_outs: Semaphore::new(fan_outs(config.backend.connections)),
            sites: Semaphore::new(fan_outs(config.backend.connections)),
            holdings: super::scatter::holdings(),
            turns: Arc::default(),
            loads: Semaphore::new(LOADS),
            swept: Swept::default(),
            config,
            topology,
            servers,
            states,
            profile: Arc::new(profile),
            tickets,
            hot_keys: Arc::default(),
            sharing,
            recovery: Mutex::new((duty == Duty::Serve).then(|| Recovery::start(&coordinator))),
            coordinator,
        })
    }

    /// The engine of another layout, with connections and plans of its own. What does not depend
    /// on places is the same: definitions, states of sessions, ids.
    pub async fn succeed(&self, config: Config) -> Result<Self> {
        let sharing = self.sharing.clone().map(|sharing| Sharing {
            fence: Arc::new(Fence::new(&config.cluster, config.version)),
            retired: Arc::default(),
            ..sharing
        });
        let topology = Arc::new(Topology::new(&config, config.version));
        let fence = sharing.as_ref().map(|sharing| &sharing.fence);
        let servers = Servers::fenced(&topology, &config.backend, &self.states, fence)?;
        let coordinator = coordinator(&config, &servers, Duty::Serve).await;
        let tickets = Arc::new(Tickets::new(servers.smallest_pool(), config.backend.wait));
        Ok(Engine {
            started: self.started,
            counts: self.counts.clone(),
            registry: self.registry.clone(),
            ids: self.ids.clone(),
            catalog: self.catalog.clone(),
            plans: PlanCache::new(PLANS),
            transitions: Transitions::default(),
            users: self.users.clone(),
            weights: self.weights.clone(),
            fan_outs: Semaphore::new(fan_outs(config.backend.connections)),
            sites: Semaphore::new(fan_outs(config.backend.connections)),
            loads: Semaphore::new(LOADS),
            holdings: self.holdings.clone(),
            turns: self.turns.clone(),
            swept: Swept::default(),
            config,
            topology,
            servers,
            states: self.states.clone(),
            profile: self.profile.clone(),
            tickets,
            hot_keys: self.hot_keys.clone(),
            sharing,
            recovery: Mutex::new(Some(Recovery::start(&coordinator))),
            coordinator,
        })
    }
}

async fn coordinator(config: &Config, servers: &Servers, duty: Duty) -> Arc<Coordinator> {
    let coordinator = Coordinator::new(config, servers);
    if duty == Duty::Serve {
        coordinator.prepare().await;
    }
    Arc::new(coordinator)
}

/// A quarter of the connections, so that statements of one place stay quick; and few enough for
/// what they may hold in memory.
fn fan_outs(connections: u32) -> usize {
    (connections / 4).clamp(1, 8) as usize
}

/// Each holds some ten MiB of lines.
const LOADS: usize = 4;

/// Bytes of plans kept.
const PLANS: usize = 64 << 20;

impl Engine {
    /// Another has taken its place: what it still runs ends, its idle connections are closed. `moved`:
    /// rows have other places now, so nothing may begin under this one any more.
    pub fn retire(&self, moved: bool) {
        if let Some(sharing) = &self.sharing {
            sharing.retired.store(moved, Ordering::SeqCst);
        }
        self.recovery.lock().take();
        self.servers.iter().for_each(|server| server.close_all_idle());
    }

    /// A session may still go by it.
    pub fn is_held(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    pub fn user(&self, name: &[u8]) -> Option<&Arc<User>> {
        self.users.get(std::str::from_utf8(name).ok()?)
    }

    /// COM_STATISTICS: in a server's words, of the proxy itself.
    pub fn statistics(&self) -> String {
        let (uptime, threads) = (self.started.elapsed().as_secs(), self.registry.count());
        format!("Uptime: {uptime}  Threads: {threads}")
    }

    /// Asks a server for the weight of a key value that the proxy can't weigh itself.
    pub(super) async fn learn_weight(&self, question: Question) -> Result<()> {
        let first = self.topology.servers()[0].no;
        let answer = self.servers.run(first, question.query()).await?;
        if let Err(odd) = self.weights.answer(question, answer.rows.first().map(Vec::as_slice)) {
            tracing::warn!("{odd}: its key values are asked of a server one by one");
        }
        Ok(())
    }

    /// After an error that shows a definition to be stale, the tables of the plan are read anew.
    pub(super) fn forget_stale(&self, planned: &Planned, error: &Error) {
        if !STALE.contains(&error.code()) {
            return;
        }
        let template = match &planned.plan {
            Plan::Single(single) => &single.template,
            Plan::Scatter(scatter) => &scatter.wide.plain,
            Plan::Gather(gather) => &gather.template,
            Plan::Insert(insert) => &insert.template,
            Plan::WriteScatter(scatter) => &scatter.template,
            Plan::Load(load) => match &**load {
                Load::Whole(single) => &single.template,
                Load::ByLine(by_line) => &by_line.template,
            },
            Plan::Local(_) | Plan::Ddl(_) | Plan::InsertSelect(_) | Plan::Refusal(_) => return,
        };
        for table in &template.refs {
            self.catalog.forget(&TableName::new(&table.schema.name, &table.table));
        }
    }
}

/// Unknown column, column count, unknown table, no such table, field without default.
const STALE: [u16; 5] = [1054, 1136, 1051, 1146, 1364];

impl Source for Servers {
    async fn query(&self, server: ServerNo, sql: &str) -> Result<Rows> {
        Ok(self.run(server, sql).await?.rows)
    }
}
