//! The servers that the tests of one binary share: started once per flavour, emptied before each
//! use, a fresh proxy each time. They end with the test process.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, ClusterSpec, Program};

use super::both::{Both, Protocol};
use super::raw::Login;

/// Runs the test on each flavour that this machine has, in the text and in the prepared protocol,
/// with the tables of the topology given as TOML (`[schema.mall.table.t] …`). Each run starts with
/// empty databases: `mall` on the plain side, four shards on two servers on the other.
#[track_caller]
pub fn on_each_server(tables: &str, test: impl Fn(&mut Both)) {
    on_each_server_by(&[Protocol::Text, Protocol::Prepared], tables, test);
}

#[track_caller]
pub fn on_each_server_by(protocols: &[Protocol], tables: &str, test: impl Fn(&mut Both)) {
    for cluster in clusters() {
        let mut cluster = lock(cluster);
        for protocol in protocols {
            empty(&cluster);
            cluster.set_tables(tables).expect("the topology file is written");
            let proxy = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
            let plain = cluster.servers()[0].port();
            let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
            let mut both = Both::new((plain, proxy), login, cluster.servers()[0].flavour(), *protocol);
            test(&mut both);
        }
    }
}

/// The emptied cluster of each flavour, for tests that look at places or start the proxy themselves.
pub fn with_cluster(test: impl Fn(&mut Cluster)) {
    for cluster in clusters() {
        let mut cluster = lock(cluster);
        empty(&cluster);
        test(&mut cluster);
    }
}

pub fn bifold_program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_bifold"))
}

fn clusters() -> &'static [Mutex<Cluster>] {
    static CLUSTERS: OnceLock<Vec<Mutex<Cluster>>> = OnceLock::new();
    CLUSTERS.get_or_init(|| {
        let programs = Program::all();
        assert!(!programs.is_empty(), "no server program on this machine: see `make test`");
        thread::scope(|scope| {
            let starting: Vec<_> = programs.iter().map(|program| scope.spawn(|| start(program))).collect();
            starting.into_iter().map(|cluster| Mutex::new(cluster.join().expect("started"))).collect()
        })
    })
}

fn start(program: &Program) -> Cluster {
    let cluster = Cluster::start(ClusterSpec::new(program, "")).unwrap_or_else(|error| panic!("{program}: {error}"));
    // The plain side: a database of the logical name, beside the shards of the first server.
    let plain = &cluster.servers()[0];
    plain.run(&["CREATE DATABASE mall"]).expect("the plain database");
    plain.grant(APP_USER, APP_PASSWORD, &["mall"]).expect("the plain account");
    cluster
}

/// A failed test poisons the lock, but the next one starts from empty databases anyway.
fn lock(cluster: &'static Mutex<Cluster>) -> MutexGuard<'static, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}

fn empty(cluster: &Cluster) {
    let anew =
        |database: &str| [format!("DROP DATABASE IF EXISTS `{database}`"), format!("CREATE DATABASE `{database}`")];
    cluster.servers()[0].run(&anew("mall")).expect("the plain database is emptied");
    for number in 0..cluster.spec().shards {
        let (server, database) = cluster.shard(number);
        server.run(&anew(&database)).expect("a shard is emptied");
    }
}
