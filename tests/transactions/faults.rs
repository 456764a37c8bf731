//! A transfer between two servers, broken at each step of its commit in each way: afterwards it
//! is there whole or not at all, as the step says, and as the client was told.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use bifold::lab::{Cluster, ClusterSpec, Durability, Program, Proxy};

use crate::common::{Answer, Client, bifold_program};
use crate::relay::{At, Relay, Trap};
use crate::ward::*;

/// Statement, on which server, whether the transfer is kept if it breaks before it, and after it.
const STEPS: [(&str, usize, bool, bool); 5] = [
    ("XA END", 1, false, false),
    ("XA PREPARE", 1, false, false),
    ("INSERT INTO bifold.decision", 0, false, false),
    ("COMMIT", 0, false, true),
    ("XA COMMIT", 1, true, true),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    /// The connection on which the statement goes.
    Connection,
    Server,
    Proxy,
}

#[test]
fn a_commit_broken_at_any_step_is_whole_or_not_at_all() {
    on_each(Faults::all);
}

/// All flavours at the same time.
fn on_each(test: impl Fn(Faults) + Sync) {
    let programs = Program::all();
    assert!(!programs.is_empty(), "no server program on this machine: see `make test`");
    thread::scope(|scope| {
        for program in &programs {
            let test = &test;
            scope.spawn(move || test(Faults::start(program)));
        }
    });
}

#[test]
fn a_proxy_that_stands_still_is_not_waited_for() {
    on_each(|mut faults| {
        let (a, b) = faults.accounts;
        let client = faults.ready_client();
        faults.relays[0].set(Trap { words: "COMMIT", at: At::Before });
        let committing = thread::spawn(move || commit(client, a, b));
        faults.relays[0].wait();
        // Another proxy of the cluster ends what it finds prepared, and what holds that up.
        let other = Proxy::start(bifold_program(), faults.cluster.topology(), 1).expect("another proxy");
        faults.wait_until_none_is_prepared("beside a proxy that stands still");
        faults.relays[0].cut();
        // The first one finds the tombstone.
        let told = committing.join().expect("an end");
        assert!(matches!(&told, Answer::Err(error) if error.code == 1180), "{told:?}\n{}", faults.proxy().log());
        assert_eq!((stored(&faults.cluster, a), stored(&faults.cluster, b)), (MONEY, MONEY), "{}", other.log());
        faults.one(Trap { words: "XA PREPARE", at: At::After }, 1, Break::Proxy, false);
    });
}

#[test]
fn a_first_server_that_is_away_is_waited_for() {
    on_each(|mut faults| {
        let (a, b) = faults.accounts;
        let client = faults.ready_client();
        faults.relays[0].set(Trap { words: "COMMIT", at: At::After });
        let committing = thread::spawn(move || commit(client, a, b));
        faults.relays[0].wait();
        faults.cluster.server_mut(0).kill();
        faults.relays[0].cut();
        let told = committing.join().expect("an end");
        assert!(matches!(&told, Answer::Err(error) if error.code == 1158), "{told:?}");
        let prepared = faults.cluster.servers()[1].run(&["XA RECOVER"]).expect("listed");
        assert_eq!(prepared.len(), 1, "nothing is ended on a guess");
        faults.cluster.server_mut(0).restart().expect("it is back");
        faults.wait_until_none_is_prepared("the first server is back");
        assert_eq!((stored(&faults.cluster, a), stored(&faults.cluster, b)), (MONEY - 1, MONEY + 1));
    });
}

#[test]
fn a_server_that_is_late_to_hear_of_a_commit_gives_a_warning() {
    on_each(|faults| {
        let (a, b) = faults.accounts;
        let mut client = faults.ready_client();
        faults.relays[1].set(Trap { words: "XA COMMIT", at: At::Before });
        transfer(&mut client, a, b, 1);
        let told = ok(&mut client, "COMMIT");
        assert_eq!(told.warnings(), 1, "{told:?}");
        let warning = ok(&mut client, "SHOW WARNINGS").text().remove(0);
        assert!(
            warning[2].as_ref().is_some_and(|text| text.contains("committed") && text.contains("s1")),
            "{warning:?}"
        );
        faults.relays[1].cut();
        faults.wait_until_none_is_prepared("a late server");
        assert_eq!((stored(&faults.cluster, a), stored(&faults.cluster, b)), (MONEY - 1, MONEY + 1));
    });
}

struct Faults {
    cluster: Cluster,
    relays: [Relay; 2],
    topology: PathBuf,
    proxy: Option<Proxy>,
    accounts: (i64, i64),
}

impl Faults {
    fn start(program: &Program) -> Faults {
        let spec = ClusterSpec { durability: Durability::Full, ..ClusterSpec::new(program, TABLES) };
        let mut cluster = Cluster::start(spec).unwrap_or_else(|error| panic!("{program}: {error}"));
        serve(&mut cluster);
        cluster.proxy_mut().expect("serving").kill();
        let accounts = apart(&cluster);
        let relays = [0, 1].map(|server| Relay::start(cluster.servers()[server].port()));
        // The same topology, with the relays for servers.
        let mut text = fs::read_to_string(cluster.topology()).expect("the topology");
        for (server, relay) in cluster.servers().iter().zip(&relays) {
            text = text.replace(&server.address(), &format!("127.0.0.1:{}", relay.port()));
        }
        let topology = cluster.topology().with_file_name("relayed.toml");
        fs::write(&topology, text).expect("written");
        let mut faults = Faults { cluster, relays, topology, proxy: None, accounts };
        faults.start_proxy();
        faults
    }

    fn start_proxy(&mut self) {
        self.proxy = Some(Proxy::start(bifold_program(), &self.topology, 0).unwrap_or_else(|error| panic!("{error}")));
    }

    fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("serving")
    }

    fn all(mut self) {
        for (words, server, before, after) in STEPS {
            for (at, kept) in [(At::Before, before), (At::After, after)] {
                for what in [Break::Connection, Break::Server, Break::Proxy] {
                    self.one(Trap { words, at }, server, what, kept);
                }
            }
        }
    }

    fn one(&mut self, trap: Trap, server: usize, what: Break, kept: bool) {
        let case = format!("{} {trap:?} on s{server}, {what:?}", self.cluster.spec().program.flavour);
        let (a, b) = self.accounts;
        let before = (stored(&self.cluster, a), stored(&self.cluster, b));
        let client = self.ready_client();
        // 1. Caught in the act
        self.relays[server].set(trap);
        let committing = thread::spawn(move || commit(client, a, b));
        self.relays[server].wait();
        // 2. Broken
        match what {
            Break::Connection => self.relays[server].cut(),
            Break::Server => {
                self.cluster.server_mut(server).kill();
                self.relays[server].cut();
                self.cluster.server_mut(server).restart().expect("the server is back");
            }
            Break::Proxy => {
                self.proxy.as_mut().expect("serving").kill();
                self.relays[server].cut();
                self.start_proxy();
            }
        }
        let told = committing.join().expect("an end");
        // 3. Whole or not at all, as was told
        let prepared = Instant::now();
        self.wait_until_none_is_prepared(&case);
        let now = (stored(&self.cluster, a), stored(&self.cluster, b));
        let expected = if kept { (before.0 - 1, before.1 + 1) } else { before };
        assert_eq!(now, expected, "{case}: {told:?}\n{}", self.proxy().log());
        match &told {
            Answer::Ok(_) => assert!(kept, "{case}: {told:?}"),
            Answer::Err(error) => assert!(!kept && error.code == 1180, "{case}: {told:?}"),
            // Only with the proxy.
            _ => assert!(what == Break::Proxy, "{case}: {told:?}"),
        }
        println!("{case}: {} after {:?}", if kept { "kept" } else { "undone" }, prepared.elapsed());
    }

    fn wait_until_none_is_prepared(&self, case: &str) {
        let end = Instant::now() + Duration::from_secs(30);
        while self.cluster.servers().iter().any(|server| !server.run(&["XA RECOVER"]).expect("listed").is_empty()) {
            assert!(Instant::now() < end, "{case}: still prepared\n{}", self.proxy().log());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Transactions may span both servers (again).
    fn ready_client(&self) -> Client {
        let (a, b) = self.accounts;
        for _ in 0..200 {
            if let Some(mut client) = try_login(self.proxy().port()) {
                let changed = [a, b].map(|uid| format!("UPDATE account SET money = money WHERE uid = {uid}"));
                let statements = ["BEGIN", &changed[0], &changed[1], "COMMIT"];
                if statements.iter().all(|sql| matches!(client.query(*sql)[0], Answer::Ok(_))) {
                    return client;
                }
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("the proxy does not serve again: {}", self.proxy().log());
    }
}

fn commit(mut client: Client, a: i64, b: i64) -> Answer {
    transfer(&mut client, a, b, 1);
    client.query("COMMIT").remove(0)
}
