//! [`Engine`]: what all sessions of a proxy share. Made once; every part of it is either
//! immutable or guards itself.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::ddl::Turns;
use super::ids::Generators;
use super::profile::Profile;
use super::settings::Transitions;
use crate::admission::Tickets;
use crate::catalog::{Catalog, Rows, Source, TableName};
use crate::config::{Config, User};
use crate::context::States;
use crate::error::{Error, Result};
use crate::plan::cache::PlanCache;
use crate::plan::{Plan, Planned};
use crate::shard::Servers;
use crate::snowflake::WorkerLease;
use crate::topology::weight::{Question, Weights};
use crate::topology::{ServerNo, Topology};
use crate::transaction::Coordinator;
use crate::transaction::recovery::Recovery;

#[derive(Debug)]
pub struct Engine {
    pub config: Config,
    /// By name.
    users: HashMap<String, Arc<User>>,
    pub topology: Arc<Topology>,
    pub servers: Servers,
    pub catalog: Catalog,
    pub plans: PlanCache,
    pub states: States,
    pub transitions: Transitions,
    pub ids: Generators,
    pub weights: Weights,
    /// One DDL statement per table at a time.
    pub turns: Turns,
    /// How many statements over many places may be under way.
    pub fan_outs: Semaphore,
    /// What the servers are.
    pub profile: Profile,
    pub coordinator: Arc<Coordinator>,
    pub tickets: Arc<Tickets>,
    _recovery: Option<Recovery>,
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
        let topology = Arc::new(Topology::new(&config, 1));
        let states = States::default();
        let servers = Servers::new(&topology, &config.backend, &states)?;
        let profile = Profile::read(&topology, &servers).await?;
        let coordinator =
            Arc::new(Coordinator::new(&config.cluster, config.transactions, &config.backend.user, &servers));
        if duty == Duty::Serve {
            coordinator.prepare().await;
        }
        let tickets = Arc::new(Tickets::new(servers.smallest_pool(), config.backend.wait));
        Ok(Engine {
            ids: Generators::new(&topology, lease)?,
            catalog: Catalog::default(),
            plans: PlanCache::new(PLANS),
            transitions: Transitions::default(),
            users: config.users.iter().map(|user| (user.name.clone(), Arc::new(user.clone()))).collect(),
            weights: Weights::default(),
            fan_outs: Semaphore::new(fan_outs(config.backend.connections)),
            turns: Turns::default(),
            config,
            topology,
            servers,
            states,
            profile,
            tickets,
            _recovery: (duty == Duty::Serve).then(|| Recovery::start(&coordinator)),
            coordinator,
        })
    }
}

/// A quarter of the connections, so that statements of one place stay quick; and few enough for
/// what they may hold in memory.
fn fan_outs(connections: u32) -> usize {
    (connections / 4).clamp(1, 8) as usize
}

/// Bytes of plans kept.
const PLANS: usize = 64 << 20;

impl Engine {
    pub fn user(&self, name: &[u8]) -> Option<&Arc<User>> {
        self.users.get(std::str::from_utf8(name).ok()?)
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
            Plan::Scatter(scatter) => &scatter.plain,
            Plan::Insert(insert) => &insert.template,
            Plan::WriteScatter(scatter) => &scatter.template,
            Plan::Local(_) | Plan::Ddl(_) | Plan::Refusal(_) => return,
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
