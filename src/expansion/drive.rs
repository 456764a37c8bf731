//! The steps of an expansion, in their order. Each is recorded in the store when it is done, by a
//! writing that fails where another command has taken the job over, or a proxy has opened the gate that
//! this one seemed to have left shut.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::plan::{Account, describe};
use super::prove::{self, Pending};
use super::site::{Desk, Site};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::meta::{Gate, Job, Layout, Member, Members, Replica, SqlStore, Step, Store, set_fence, token};

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Order {
    pub replicas: Vec<Replica>,
    pub account: Account,
    pub pace: Pace,
}

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Transactions under way may take so long to end by themselves.
    pub drain: Duration,
    /// Stop when this step is done.
    pub until: Step,
}

pub struct Driver<'a> {
    store: Arc<SqlStore>,
    /// Of the layout before.
    config: Config,
    site: Site,
    job: Job,
    revision: u64,
    written: Instant,
    pace: Pace,
    tell: &'a dyn Fn(&str),
    /// Subtables that never held still.
    restless: Option<Vec<Pending>>,
    /// Connections to servers and replicas, opened before anybody waits for them.
    desks: BTreeMap<String, Desk>,
}

const POLL: Duration = Duration::from_millis(10);
/// The job is written again in waiting, so that nobody takes the command for dead.
const BEAT: Duration = Duration::from_secs(2);
/// Proxies follow within this time, or are cut off.
const FOLLOW: Duration = Duration::from_secs(12);
const REACH: Duration = Duration::from_secs(8);
const CATCH_UP: Duration = Duration::from_secs(60);

impl<'a> Driver<'a> {
    /// Begins a job; the store has none that is not over.
    pub async fn begin(
        store: Arc<SqlStore>,
        config: Config,
        job: Job,
        order: &Order,
        tell: &'a dyn Fn(&str),
    ) -> Result<Self> {
        let revision = match Job::read(&*store).await? {
            None => 0,
            Some((old, revision, _)) if old.step.is_over() => revision,
            Some((old, ..)) => {
                return Err(Error::operator(format!(
                    "an expansion is under way already, at step {:?}: `bifold expand status`, resume or abort it",
                    old.step
                )));
            }
        };
        // The turn goes on from job to job: proxies tell them apart by it.
        let turn = Job::read(&*store).await?.map_or(0, |(old, ..)| old.turn) + 1;
        let job = Job { worker: token(), turn, ..job };
        tell(describe(&job).trim_end());
        Driver::over(store, config, job, revision, order.account.clone(), order.pace, tell).await
    }

    /// Takes a job over where another command left it.
    pub async fn resume(
        store: Arc<SqlStore>,
        config: Config,
        account: Account,
        pace: Pace,
        tell: &'a dyn Fn(&str),
    ) -> Result<Self> {
        let Some((job, revision, _)) = Job::read(&*store).await?.filter(|(job, ..)| !job.step.is_over()) else {
            return Err(Error::operator("no expansion is under way"));
        };
        tell(&format!("going on after step {:?}", job.step));
        let job = Job { worker: token(), ..job };
        let mut driver = Driver::over(store, config, job, revision, account, pace, tell).await?;
        if driver.job.step < Step::Gated {
            // Nothing that was looked at before is sure to hold; and nobody waits for it.
            driver.go_back(Step::Planned, "begun again").await?;
        }
        Ok(driver)
    }

    async fn over(
        store: Arc<SqlStore>,
        mut config: Config,
        job: Job,
        revision: u64,
        account: Account,
        pace: Pace,
        tell: &'a dyn Fn(&str),
    ) -> Result<Self> {
        job.before.apply(&mut config)?;
        let mut after = config.clone();
        job.after.apply(&mut after)?;
        let site = Site::new(&after, &account.backend(&config))?;
        let written = Instant::now();
        let mut driver =
            Driver { store, config, site, job, revision, written, pace, tell, restless: None, desks: BTreeMap::new() };
        driver.write().await?;
        Ok(driver)
    }

    /// Up to the switch, or as far as was asked for. What goes wrong before it leads back to the old
    /// state.
    pub async fn run(&mut self) -> Result<Step> {
        loop {
            let step = self.job.step;
            if step >= self.pace.until || step >= Step::Switched && self.job.gate == Gate::Open {
                return Ok(step);
            }
            let done = match step {
                Step::Planned => self.catch_up().await,
                Step::CaughtUp => self.prove().await,
                Step::Proved => self.gate().await,
                Step::Gated => self.promote().await,
                Step::Promoted | Step::Switched => self.switch().await,
                Step::Cleaning | Step::Done | Step::Aborted => return Ok(step),
            };
            if let Err(error) = done {
                return Err(self.went_wrong(error).await);
            }
        }
    }

    /// Back to the old state, which is possible until the switch.
    pub async fn abort(&mut self) -> Result<()> {
        if self.job.step >= Step::Switched {
            return Err(Error::operator(
                "the new layout is in force: there is no way back without loss; go on with `bifold expand clean`",
            ));
        }
        self.go_back(Step::Aborted, "aborted by command").await
    }

    pub fn layout(&self) -> &Layout {
        &self.job.after
    }

    async fn went_wrong(&mut self, error: Error) -> Error {
        if self.job.step >= Step::Switched {
            return Error::operator(format!(
                "{error}\nthe new layout is decided: run `bifold expand resume` at once, writing may be held until then"
            ));
        }
        match self.go_back(Step::Planned, &error.to_string()).await {
            Ok(()) => Error::operator(format!(
                "{error}\nall is as before; put it right and run `bifold expand resume`, or `bifold expand abort`"
            )),
            Err(second) => Error::operator(format!(
                "{error}\nand the way back failed: {second}; run `bifold expand abort` (the proxies open the gate by themselves when the job has been silent for 10 s)"
            )),
        }
    }

    async fn go_back(&mut self, step: Step, why: &str) -> Result<()> {
        if self.job.gate != Gate::Open || step == Step::Aborted {
            // Servers take the proxies of the old layout again, before these go on.
            self.write().await?;
            for server in &self.config.servers {
                set_fence(server, &self.config.backend, &self.config.cluster, self.job.before.version).await?;
            }
        }
        (self.job.gate, self.job.turn) = (Gate::Open, self.job.turn + 1);
        (self.job.step, self.job.note) = (step, why.to_owned());
        self.restless = None;
        self.write().await
    }

    // Steps

    async fn catch_up(&mut self) -> Result<()> {
        self.say("waiting until the replicas are near");
        for replica in self.job.replicas.clone() {
            let mut desk = self.site.desk_of(&replica.name).await?;
            let mut old = self.site.desk_of(&replica.of).await?;
            let mut silent = Instant::now();
            loop {
                let state = desk.replication().await?.filter(|state| state.runs).ok_or_else(|| {
                    Error::operator(format!(
                        "{} does not replicate from {} any more: attach it again",
                        replica.name, replica.of
                    ))
                })?;
                let position = old.position().await?;
                if desk.reach(&position, Duration::from_millis(500)).await? {
                    break;
                }
                if silent.elapsed() > Duration::from_secs(5) {
                    let lag = state.lag.map_or_else(|| "unknown".to_owned(), |lag| format!("{lag} s"));
                    self.say(&format!("{} is behind {}: {lag}", replica.name, replica.of));
                    silent = Instant::now();
                }
                self.beat().await?;
            }
        }
        self.done(Step::CaughtUp).await
    }

    async fn prove(&mut self) -> Result<()> {
        let all = prove::everything(&self.site, &self.job.replicas).await?;
        self.say(&format!("comparing {} subtables with their copies", all.len()));
        let mut left = Vec::new();
        for part in all.chunks(256) {
            left.extend(prove::compare(&self.site, part, &mut |_| {}).await?);
            self.beat().await?;
        }
        if !left.is_empty() {
            self.say(&format!("{} of them change all the time: they are compared while the gate is shut", left.len()));
        }
        self.restless = Some(left);
        self.done(Step::Proved).await
    }

    /// Nothing writes any more; the replicas have all that was written.
    async fn gate(&mut self) -> Result<()> {
        // 0. What can be done before anybody waits
        for server in self.config.servers.clone() {
            set_fence(&server, &self.config.backend, &self.config.cluster, self.job.before.version).await?;
            self.desk(&server.name).await?;
        }
        self.reach_all(CATCH_UP).await?;
        let since = Instant::now();
        // 1. Held: new work waits at the proxies, what is under way ends
        self.say("holding writes");
        self.shut(Gate::Shut).await?;
        if !self.wait_for(self.pace.drain, |member, job| member.turn == job.turn && member.drained).await? {
            self.say("ending the transactions that are still under way");
            self.shut(Gate::Forced).await?;
            self.wait_for(FOLLOW, |member, job| member.turn == job.turn).await?;
        }
        // 2. Fenced: a proxy that knows nothing of this reaches the servers no more
        self.raise_fences().await?;
        self.kill_strangers().await?;
        self.nothing_prepared().await?;
        // 3. The replicas at exactly that position
        self.reach_all(REACH).await?;
        // 4. What never held still is equal now
        let restless = self.restless.take().unwrap_or_default();
        for pending in &restless {
            prove::compare_at_rest(&self.site, pending).await?;
            self.beat().await?;
        }
        self.say(&format!("nothing writes, the replicas have all ({} ms)", since.elapsed().as_millis()));
        self.done(Step::Gated).await
    }

    async fn promote(&mut self) -> Result<()> {
        for replica in self.job.replicas.clone() {
            self.desk(&replica.name).await?.promote().await?;
            self.beat().await?;
        }
        self.done(Step::Promoted).await
    }

    async fn switch(&mut self) -> Result<()> {
        // 1. Decided: no way back from here
        if self.job.step < Step::Switched {
            self.done(Step::Switched).await?;
        }
        // 2. In force
        let (kept, revision) = (Layout::kept(&*self.store).await?, Layout::revision(&*self.store).await?);
        if kept.is_none_or(|kept| kept.version < self.job.after.version) {
            self.job.after.put(&*self.store, revision).await?.ok_or_else(taken)?;
        }
        self.raise_fences().await?;
        // 3. Followed by every proxy that lives; others are cut off
        if !self.wait_for(FOLLOW, |member, job| member.version >= job.after.version).await? {
            self.say("a proxy does not follow: its connections are ended");
        }
        self.kill_strangers().await?;
        // 4. Open
        self.shut(Gate::Open).await?;
        self.say(&format!("layout {} is in force, writes go on", self.job.after.version));
        Ok(())
    }

    // The gate

    /// Asks the proxies for another state of their gates.
    async fn shut(&mut self, gate: Gate) -> Result<()> {
        (self.job.gate, self.job.turn) = (gate, self.job.turn + 1);
        self.write().await
    }

    /// Until all living proxies have done so; false: not within this time.
    async fn wait_for(&mut self, within: Duration, done: impl Fn(&Member, &Job) -> bool) -> Result<bool> {
        let since = Instant::now();
        loop {
            let members = Members::read(&*self.store).await?;
            if members.living().all(|member| done(member, &self.job)) {
                return Ok(true);
            }
            if since.elapsed() > within {
                return Ok(false);
            }
            self.beat().await?;
            sleep(POLL).await;
        }
    }

    /// Ends the connections of the proxies' account that no proxy names which has followed: a frozen
    /// one's, a dead one's, those of transactions that were given up.
    async fn kill_strangers(&mut self) -> Result<()> {
        let user = self.config.backend.user.clone();
        let names: Vec<String> = self.config.servers.iter().map(|server| server.name.clone()).collect();
        // 1. Who is there
        let mut seen: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for name in &names {
            let threads = self.desk(name).await?.threads(&user).await?;
            seen.insert(name.clone(), threads);
        }
        // 2. Whose they are, said after that
        let gate = self.job.gate;
        self.shut(gate).await?;
        self.wait_for(FOLLOW, |member, job| member.turn == job.turn).await?;
        let members = Members::read(&*self.store).await?;
        let mut known: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for member in members.all().filter(|member| member.turn == self.job.turn && member.drained) {
            for (server, threads) in &member.threads {
                known.entry(server).or_default().extend(threads);
            }
        }
        // 3. The others
        let own = self.store.thread();
        let mut killed = 0;
        for (name, threads) in &seen {
            let is_known = |thread: &u32| {
                known.get(name.as_str()).is_some_and(|known| known.contains(thread))
                    || own.as_ref().is_some_and(|(server, own)| server == name && own == thread)
            };
            let strangers: Vec<u32> = threads.iter().copied().filter(|thread| !is_known(thread)).collect();
            if strangers.is_empty() {
                continue;
            }
            let desk = self.desk(name).await?;
            for thread in strangers {
                desk.kill(thread).await?;
                killed += 1;
            }
        }
        if killed > 0 {
            self.say(&format!("{killed} connections of proxies that did not follow were ended"));
        }
        Ok(())
    }

    async fn nothing_prepared(&mut self) -> Result<()> {
        let since = Instant::now();
        for server in self.config.servers.clone() {
            while self.desk(&server.name).await?.prepared().await? > 0 {
                if since.elapsed() > REACH {
                    return Err(Error::operator(format!(
                        "server {}: transactions over several servers stay prepared (XA RECOVER)",
                        server.name
                    )));
                }
                self.beat().await?;
                sleep(Duration::from_millis(100)).await;
            }
        }
        Ok(())
    }

    // Servers

    /// The connection to a server or replica.
    async fn desk(&mut self, name: &str) -> Result<&mut Desk> {
        if !self.desks.contains_key(name) {
            let desk = self.site.desk_of(name).await?;
            self.desks.insert(name.to_owned(), desk);
        }
        Ok(self.desks.get_mut(name).expect("it was just put there"))
    }

    /// All servers and replicas take proxies of the new layout only.
    async fn raise_fences(&mut self) -> Result<()> {
        let (cluster, version) = (self.config.cluster.clone(), self.job.after.version);
        for server in self.job.after.servers.clone() {
            let sql = format!("REPLACE INTO bifold.fence (cluster, version) VALUES ('{cluster}', {version})");
            // A replica has it from its server, until it is one itself.
            let is_replica = self.job.replicas.iter().any(|replica| replica.name == server.name);
            if !is_replica || self.job.step >= Step::Promoted {
                self.desk(&server.name).await?.run(&sql).await?;
            }
        }
        Ok(())
    }

    /// Each replica has all that its server has written by now.
    async fn reach_all(&mut self, within: Duration) -> Result<()> {
        for replica in self.job.replicas.clone() {
            self.beat().await?;
            let position = self.desk(&replica.of).await?.position().await?;
            if !self.desk(&replica.name).await?.reach(&position, within).await? {
                return Err(Error::operator(format!(
                    "{} did not reach the position of {} within {} s",
                    replica.name,
                    replica.of,
                    within.as_secs()
                )));
            }
        }
        Ok(())
    }

    // The job's entry

    async fn done(&mut self, step: Step) -> Result<()> {
        self.job.step = step;
        self.write().await
    }

    async fn beat(&mut self) -> Result<()> {
        match self.written.elapsed() > BEAT {
            true => self.write().await,
            false => Ok(()),
        }
    }

    async fn write(&mut self) -> Result<()> {
        match self.job.put(&*self.store as &dyn Store, self.revision).await {
            Ok(Some(revision)) => self.revision = revision,
            Ok(None) => return Err(taken()),
            // It may be written all the same.
            Err(error) => match Job::read(&*self.store).await? {
                Some((job, revision, _)) if job == self.job => self.revision = revision,
                Some(_) | None => return Err(error),
            },
        }
        self.written = Instant::now();
        Ok(())
    }

    fn say(&self, text: &str) {
        (self.tell)(text);
    }
}

fn taken() -> Error {
    Error::operator(
        "the job was taken over: by another command, or by a proxy that found it silent; look with `bifold expand status`",
    )
}
