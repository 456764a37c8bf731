//! Makes ids: one `Generator` a table, one `CarryingGenerator` a table whose ids carry their place.
//!
//! Each run is consecutive and of one millisecond. The clock and the right to issue come from an `Issuer`, shared
//! by all tables of a proxy. Nothing here is locked or waits: `None` says that a millisecond must pass.

use std::ops::Range;
use std::sync::Arc;
use std::sync::OnceLock;

use super::clock::Clock;
use super::counter::{Counter, Fit, Shape, Step};
use super::format::{Carried, Format, Parts};
use super::worker::{Hold, WorkerLease};
use crate::config::IdLayout;
use crate::error::{Error, Result};

/// A clock that is behind by more than this is not waited for.
const BEHIND_MS: u64 = 5;

/// Consecutive ids. Positive as `i64`: the sign bit is never set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub first: u64,
    pub count: u32,
}

impl Run {
    pub fn ids(self) -> Range<u64> {
        self.first..self.first + u64::from(self.count)
    }
}

/// Where the time and the worker number come from.
#[derive(Clone)]
pub struct Issuer {
    clock: Arc<dyn Clock>,
    lease: Arc<dyn WorkerLease>,
}

impl Issuer {
    pub fn new(clock: Arc<dyn Clock>, lease: Arc<dyn WorkerLease>) -> Self {
        Issuer { clock, lease }
    }
}

/// The ids of one table that do not carry a place.
pub struct Generator {
    making: Making,
    counter: Counter,
}

/// The ids of one table that carry their place: sequences are counted per place.
pub struct CarryingGenerator {
    making: Making,
    modulus: u32,
    /// By subtable, then by h mod M; a subtable's counters are made when it first needs one.
    counters: Vec<OnceLock<Box<[Counter]>>>,
}

impl Generator {
    /// `after_ms`: ids carry later times than this moment of Unix time only (0 where nothing was issued before).
    pub fn new(layout: IdLayout, issuer: Issuer, after_ms: u64) -> Result<Self> {
        let making = Making::new(layout, issuer, after_ms)?;
        let counter = making.counter();
        Ok(Generator { making, counter })
    }

    pub fn format(&self) -> &Format {
        &self.making.format
    }

    /// One run of at most `count` ids (of exactly so many up to 2^sequence); `None`: none in this moment, ask
    /// again in a millisecond.
    pub fn take_now(&self, count: u32) -> Result<Option<Run>> {
        self.making.step(&self.counter, count, None, Fit::Whole)
    }
}

impl CarryingGenerator {
    /// `subtables` is T; `layout` carries an M with M·T ≤ 2^place. `after_ms` as for `Generator`.
    pub fn new(layout: IdLayout, subtables: u16, issuer: Issuer, after_ms: u64) -> Result<Self> {
        let modulus = layout.carries.filter(|&modulus| modulus > 0).ok_or_else(|| {
            Error::operator("ids that carry their place need the modulus of the places in their layout")
        })?;
        let counters = (0..subtables).map(|_| OnceLock::new()).collect();
        Ok(CarryingGenerator { making: Making::new(layout, issuer, after_ms)?, modulus, counters })
    }

    pub fn format(&self) -> &Format {
        &self.making.format
    }

    /// M
    pub fn modulus(&self) -> u32 {
        self.modulus
    }

    /// One run of at most `count` ids of one place; `None`: none in this moment, ask again in a millisecond.
    pub fn take_now(&self, place: Carried, count: u32) -> Result<Option<Run>> {
        self.making.step(self.counter(place)?, count, Some(place), Fit::Some)
    }

    fn counter(&self, place: Carried) -> Result<&Counter> {
        let of_subtable = self
            .counters
            .get(usize::from(place.subtable))
            .map(|cell| cell.get_or_init(|| (0..self.modulus).map(|_| self.making.counter()).collect()));
        of_subtable
            .and_then(|counters| counters.get(usize::try_from(place.residue).ok()?))
            .ok_or_else(|| Error::proxy(format!("an id was asked for {place:?}, which the table does not have")))
    }
}

/// What both kinds share.
struct Making {
    format: Format,
    issuer: Issuer,
    shape: Shape,
    after: u64,
}

impl Making {
    fn new(layout: IdLayout, issuer: Issuer, after_ms: u64) -> Result<Self> {
        if u32::from(layout.bits.time) + u32::from(layout.bits.sequence) > 62 {
            return Err(Error::operator(
                "time and sequence of an id may have 62 bits together: the rest tells workers apart",
            ));
        }
        let shape = Shape { sequence_bits: layout.bits.sequence, seed: rand::random() };
        let after = after_ms.saturating_sub(layout.epoch_ms);
        Ok(Making { format: Format::new(layout), issuer, shape, after })
    }

    fn counter(&self) -> Counter {
        Counter::new(self.after, self.shape)
    }

    /// One run, or `None`: ask again in a moment.
    fn step(&self, counter: &Counter, want: u32, carried: Option<Carried>, fit: Fit) -> Result<Option<Run>> {
        let hold = self.issuer.lease.hold()?;
        let now = self.issuer.clock.unix_ms();
        self.admit(now, hold)?;
        let layout = self.format.layout();
        match counter.take(now - layout.epoch_ms, want, fit, self.shape) {
            Step::Run { first, count } => {
                let parts = Parts { unix_ms: now, worker: hold.worker, tag: layout.tag, carried, sequence: first };
                let first = self.format.compose(&parts).ok_or_else(|| {
                    Error::proxy(format!("an id's parts do not fit its layout: {parts:?} in {layout:?}"))
                })?;
                Ok(Some(Run { first, count }))
            }
            Step::Spent => Ok(None),
            Step::Behind(ms) if ms <= BEHIND_MS => Ok(None),
            Step::Behind(ms) => {
                tracing::warn!(behind_ms = ms, "the clock stepped back; no ids are issued until it has caught up");
                Err(Error::proxy(format!("the proxy's clock is {ms} ms behind its last id: try again")).retryable())
            }
        }
    }

    fn admit(&self, now: u64, hold: Hold) -> Result<()> {
        let worker = hold.worker;
        if now > hold.until_ms {
            return Err(Error::proxy("the right to issue ids has expired on this proxy: try again").retryable());
        }
        if now <= hold.after_ms {
            return Err(Error::proxy(
                "another proxy has had this worker number until now, by its clock: try again in a moment",
            )
            .retryable());
        }
        if u64::from(worker) >= self.format.workers() {
            let limit = self.format.workers();
            return Err(Error::operator(format!(
                "worker number {worker} does not fit the ids: it must be below {limit}"
            )));
        }
        if now < self.format.layout().epoch_ms {
            return Err(Error::operator("the clock is before the epoch of the ids: set the clock right"));
        }
        if now > self.format.last_ms() {
            return Err(Error::operator(
                "the time field of the ids is full: give the table a later epoch or more time bits",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::config::{DEFAULT_EPOCH_MS, IdBits};
    use crate::snowflake::SystemClock;
    use crate::snowflake::worker::FixedWorker;

    const PLAIN: IdLayout = IdLayout { bits: IdBits::PLAIN, epoch_ms: DEFAULT_EPOCH_MS, tag: 0, carries: None };
    const CARRYING: IdLayout =
        IdLayout { bits: IdBits::CARRIES_KEY, epoch_ms: DEFAULT_EPOCH_MS, tag: 0, carries: Some(64) };

    type TakeNow<'a> = &'a (dyn Fn(u32) -> Result<Option<Run>> + Sync);

    /// Runs that hold `count` ids together, waiting as a statement does.
    async fn all(take_now: TakeNow<'_>, count: u32) -> Result<Vec<Run>> {
        let (mut runs, mut left) = (Vec::new(), count);
        while left > 0 {
            match take_now(left)? {
                Some(run) => {
                    left -= run.count;
                    runs.push(run);
                }
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
        Ok(runs)
    }

    impl Generator {
        async fn take(&self, count: u32) -> Result<Vec<Run>> {
            all(&|left| self.take_now(left), count).await
        }
    }

    impl CarryingGenerator {
        async fn take(&self, place: Carried, count: u32) -> Result<Vec<Run>> {
            all(&|left| self.take_now(place, left), count).await
        }
    }

    /// Goes on by a millisecond every so many looks.
    struct Fake {
        at: AtomicU64,
        looks: u64,
    }

    impl Fake {
        fn new(at: u64, looks: u64) -> Arc<Self> {
            Arc::new(Fake { at: AtomicU64::new(at * looks), looks })
        }
        fn set(&self, at: u64) {
            self.at.store(at * self.looks, Ordering::SeqCst);
        }
    }

    impl Clock for Fake {
        fn unix_ms(&self) -> u64 {
            self.at.fetch_add(1, Ordering::SeqCst) / self.looks
        }
    }

    struct Until(u64);

    impl WorkerLease for Until {
        fn hold(&self) -> Result<Hold> {
            Ok(Hold { worker: 1, after_ms: 0, until_ms: self.0 })
        }
    }

    fn issuer(worker: u32) -> Issuer {
        Issuer::new(Arc::new(SystemClock), Arc::new(FixedWorker(worker)))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn threads_and_workers_never_get_the_same_id() {
        let generators: Vec<_> =
            (0..2).map(|worker| Arc::new(Generator::new(PLAIN, issuer(worker), 0).unwrap())).collect();
        let tasks: Vec<_> = (0..8usize)
            .map(|task| {
                let generator = generators[task % 2].clone();
                tokio::spawn(async move {
                    let mut ids = Vec::new();
                    for round in 0..400u32 {
                        for run in generator.take(1 + round * 37 % 60).await.unwrap() {
                            ids.extend(run.ids());
                        }
                    }
                    ids
                })
            })
            .collect();
        let mut seen = HashSet::new();
        for task in tasks {
            let ids = task.await.unwrap();
            // One task's runs follow the clock.
            assert!(ids.windows(2).all(|pair| pair[0] >> 22 <= pair[1] >> 22));
            for id in ids {
                assert!(i64::try_from(id).is_ok_and(|id| id > 0));
                assert!(seen.insert(id), "{id} twice");
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn carrying_ids_are_single_and_say_their_place() {
        let generator = Arc::new(CarryingGenerator::new(CARRYING, 1024, issuer(15), 0).unwrap());
        let tasks: Vec<_> = (0..8u16)
            .map(|task| {
                let generator = generator.clone();
                tokio::spawn(async move {
                    let mut ids = Vec::new();
                    for round in 0..40u16 {
                        let place = Carried {
                            subtable: (task * 40 + round) % 16 * 64 + 63,
                            residue: u32::from(round % 2) * 63,
                        };
                        for run in generator.take(place, 3).await.unwrap() {
                            ids.extend(run.ids().map(|id| (id, place)));
                        }
                    }
                    ids
                })
            })
            .collect();
        let mut seen = HashSet::new();
        for task in tasks {
            for (id, place) in task.await.unwrap() {
                assert_eq!(generator.format().carried(i64::try_from(id).unwrap()), Some(place));
                assert!(seen.insert(id), "{id} twice");
            }
        }
        assert_eq!(seen.len(), 8 * 40 * 3);
    }

    #[tokio::test]
    async fn a_statement_gets_one_run_up_to_the_sequence_and_several_beyond() {
        let generator = Generator::new(PLAIN, issuer(5), 0).unwrap();
        assert_eq!(generator.take(4096).await.unwrap().len(), 1);
        let runs = generator.take(10_000).await.unwrap();
        assert_eq!(runs.iter().map(|run| run.count).collect::<Vec<_>>(), [4096, 4096, 1808]);
        for run in runs {
            let parts = |id| generator.format().split(i64::try_from(id).unwrap()).unwrap();
            let (first, last) = (parts(run.first), parts(run.ids().end - 1));
            assert_eq!((first.unix_ms, first.worker), (last.unix_ms, last.worker));
        }
    }

    #[tokio::test]
    async fn a_clock_behind_is_waited_for_up_to_five_milliseconds() {
        let clock = Fake::new(DEFAULT_EPOCH_MS + 1000, 1);
        let generator = Generator::new(PLAIN, Issuer::new(clock.clone(), Arc::new(FixedWorker(0))), 0).unwrap();
        let first = generator.take(1).await.unwrap()[0].first;
        clock.set(DEFAULT_EPOCH_MS + 996);
        assert!(generator.take(1).await.unwrap()[0].first > first);
        clock.set(DEFAULT_EPOCH_MS + 900);
        let error = generator.take(1).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
    }

    #[tokio::test]
    async fn what_can_not_be_issued_is_an_error() {
        let at = |ms| Issuer::new(Fake::new(ms, 1), Arc::new(FixedWorker(0)));
        let take = |issuer| async { Generator::new(PLAIN, issuer, 0).unwrap().take(1).await };
        let last = Format::new(PLAIN).last_ms();
        assert!(take(at(last)).await.is_ok());
        assert!(take(at(last + 1)).await.is_err_and(|error| !error.is_retryable()));
        assert!(take(at(DEFAULT_EPOCH_MS - 1)).await.is_err());
        assert!(take(issuer(1024)).await.is_err());
        let leased = |until| Issuer::new(Fake::new(DEFAULT_EPOCH_MS + 10, 1), Arc::new(Until(until)));
        assert!(take(leased(DEFAULT_EPOCH_MS + 10)).await.is_ok());
        assert!(take(leased(DEFAULT_EPOCH_MS + 9)).await.is_err_and(|error| error.is_retryable()));
        let carrying = CarryingGenerator::new(CARRYING, 1024, issuer(0), 0).unwrap();
        assert!(carrying.take(Carried { subtable: 1024, residue: 0 }, 1).await.is_err());
        assert!(carrying.take(Carried { subtable: 0, residue: 64 }, 1).await.is_err());
    }

    #[tokio::test]
    async fn ids_start_after_the_moment_given() {
        let after = DEFAULT_EPOCH_MS + 2000;
        let clock = Fake::new(after - 3, 1);
        let generator = Generator::new(PLAIN, Issuer::new(clock, Arc::new(FixedWorker(0))), after).unwrap();
        let id = i64::try_from(generator.take(1).await.unwrap()[0].first).unwrap();
        assert!(generator.format().split(id).unwrap().unix_ms > after);
    }
}
