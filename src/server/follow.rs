//! Follows the store: a new layout becomes a new engine, the gate does what the job asks, and the
//! proxy's entry says how far it is. Once a second; many times a second while a job asks for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::shared::host;
use crate::error::Result;
use crate::execute::{Current, Engine};
use crate::meta::{Gate, Job, Layout, Member, SqlStore, Step, Store, set_fence};

const SLOW: Duration = Duration::from_millis(700);
const FAST: Duration = Duration::from_millis(20);

/// The owner of the task, which ends with it.
pub(super) struct Follower {
    task: JoinHandle<()>,
}

struct Following {
    store: Arc<SqlStore>,
    token: String,
    current: Arc<Current>,
    /// What the entry says, and since when; its revision.
    said: Option<(Member, Instant)>,
    revision: u64,
    /// The turn at which those inside were given up.
    forced: Option<u64>,
    /// Engines of older layouts under which statements may still run.
    old: Vec<Arc<Engine>>,
    is_lost: bool,
}

impl Follower {
    /// Catches up before it returns.
    pub async fn start(store: Arc<SqlStore>, token: String, current: Arc<Current>) -> Result<Self> {
        let revision = Member::revision(&*store, &token).await?;
        let mut following =
            Following { store, token, current, said: None, revision, forced: None, old: Vec::new(), is_lost: false };
        following.round().await?;
        Ok(Follower { task: tokio::spawn(following.run()) })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Following {
    async fn run(mut self) {
        let mut pace = SLOW;
        loop {
            sleep(pace).await;
            match self.round().await {
                Ok(hurry) => {
                    pace = if hurry { FAST } else { SLOW };
                    self.is_lost = false;
                }
                Err(error) => {
                    if !std::mem::replace(&mut self.is_lost, true) {
                        tracing::warn!(%error, "the store can't be followed: this proxy goes on as it is");
                    }
                }
            }
        }
    }

    /// Whether the next round is urgent.
    async fn round(&mut self) -> Result<bool> {
        // 1. The job before the layout: a gate that is open again belongs to the layout read after it.
        let job = Job::read(&*self.store).await?;
        let job = match job {
            Some((job, revision, age)) => Some(self.unless_abandoned(job, revision, age).await?),
            None => None,
        };
        if let Some(layout) = Layout::kept(&*self.store).await?
            && layout.version > self.current.engine().topology.version
        {
            self.move_to(&layout).await?;
        }
        // 2. The gate
        let engine = self.current.engine();
        let mut member =
            Member { host: host(), version: engine.topology.version, lingers: self.lingers(), ..Member::default() };
        if let Some(job) = &job {
            self.obey(&engine, job, &mut member);
        }
        // 3. What others want to know
        self.say(member).await?;
        Ok(job.is_some_and(|job| job.hurries()))
    }

    /// A command that is gone leaves its gate shut: where it can still go back it does.
    async fn unless_abandoned(&self, job: Job, revision: u64, age: Duration) -> Result<Job> {
        if job.gate == Gate::Open || job.step >= Step::Switched || age <= Job::ABANDONED {
            return Ok(job);
        }
        // 1. It is ours now: the command, if it lives after all, is told at its next step.
        let taken = Job { worker: self.token.clone(), ..job.clone() };
        let Some(revision) = taken.put(&*self.store, revision).await? else { return Ok(job) };
        // 2. Servers take proxies of the layout that stays
        let config = self.current.engine().config.clone();
        for server in &config.servers {
            set_fence(server, &config.backend, &config.cluster, job.before.version).await?;
        }
        // 3. Open
        let opened = Job {
            gate: Gate::Open,
            turn: job.turn + 1,
            step: Step::Proved,
            note: "the command that shut the gate did not go on: it was opened again".to_owned(),
            ..job.clone()
        };
        match opened.put(&*self.store, revision).await? {
            Some(_) => {
                tracing::warn!("{}", opened.note);
                Ok(opened)
            }
            // Another was first; the next round sees what it did.
            None => Ok(job),
        }
    }

    async fn move_to(&mut self, layout: &Layout) -> Result<()> {
        let before = self.current.engine();
        let mut config = before.config.clone();
        layout.apply(&mut config)?;
        let engine = Arc::new(before.succeed(config).await?);
        let moved = !Layout::of(&before.config).has_same_places(layout);
        let old = self.current.replace(engine);
        old.retire(moved);
        self.old.push(old);
        tracing::info!(version = layout.version, "a new layout is in force");
        Ok(())
    }

    fn lingers(&mut self) -> bool {
        self.old.retain(|engine| engine.servers.are_busy() || engine.is_held());
        self.old.iter().any(|engine| engine.servers.are_busy())
    }

    fn obey(&mut self, engine: &Engine, job: &Job, member: &mut Member) {
        let Some(sharing) = &engine.sharing else { return };
        sharing.expanding.store(job.step.bars_definitions(), Ordering::Relaxed);
        member.turn = job.turn;
        let mut allowed = engine.topology.version;
        match job.gate {
            Gate::Open => sharing.gate.open(),
            Gate::Shut => {
                sharing.gate.shut();
                if self.forced.is_none() && sharing.gate.inside() == 0 {
                    // Only reads are left, and those may go on over new connections.
                    member.drained = true;
                    allowed = allowed.max(job.after.version);
                    member.threads = self.threads(engine, job);
                } else if self.forced.is_some() {
                    member.drained = true;
                    member.threads = self.threads(engine, job);
                }
            }
            Gate::Forced => {
                sharing.gate.shut();
                if self.forced.is_none() && sharing.gate.inside() > 0 {
                    tracing::warn!(
                        sessions = sharing.gate.inside(),
                        "transactions are ended for the change of the layout"
                    );
                    sharing.gate.give_up();
                    self.forced = Some(job.turn);
                }
                member.drained = true;
                if self.forced.is_none() {
                    allowed = allowed.max(job.after.version);
                }
                member.threads = self.threads(engine, job);
            }
        }
        if job.gate == Gate::Open {
            self.forced = None;
        }
        sharing.fence.allow(allowed);
    }

    /// The connections that this proxy vouches for: none under an old layout once transactions were
    /// given up there.
    fn threads(&self, engine: &Engine, job: &Job) -> BTreeMap<String, Vec<u32>> {
        let is_new = engine.topology.version >= job.after.version;
        let current = Some(engine).filter(|_| self.forced.is_none() || is_new);
        let old = self.old.iter().map(|engine| &**engine).filter(|_| self.forced.is_none());
        let mut threads: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for sharing in current.into_iter().chain(old).filter_map(|engine| engine.sharing.as_ref()) {
            for (server, more) in sharing.fence.threads() {
                threads.entry(server).or_default().extend(more);
            }
        }
        if let Some((server, thread)) = self.store.thread() {
            threads.entry(server).or_default().push(thread);
        }
        threads
    }

    async fn say(&mut self, member: Member) -> Result<()> {
        let is_news = self.said.as_ref().is_none_or(|(said, at)| *said != member || at.elapsed() > Member::BEAT);
        if !is_news {
            return Ok(());
        }
        let store: &dyn Store = &*self.store;
        match member.put(store, &self.token, self.revision).await? {
            Some(revision) => {
                self.revision = revision;
                self.said = Some((member, Instant::now()));
            }
            // A writing whose answer was lost; or the entry was taken for a dead one's.
            None => self.revision = Member::revision(store, &self.token).await?,
        }
        Ok(())
    }
}
