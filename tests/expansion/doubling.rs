//! Four shards become eight while traffic goes on: real servers, real replication, two proxies, writers
//! and readers that know what they wrote. What is acknowledged is there, once, in the right place.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, ClusterSpec, Durability, Flavour, Program, Proxy, Server};

use crate::common::{Answer, Client, Login, bifold_program};

const TABLES: &str = r#"
[schema.mall.table.orders]
key = "uid"
tables = 4
id = "id"

[schema.mall.table.coin]
key = "uid"
hash = "identity"
tables = 2

[schema.mall.table.fixed]
key = "name"
tables = 2

[schema.mall.table.product]
kind = "reference"
"#;

const FIXED: i64 = 400;
const WRITERS: i64 = 6;
/// Each writer's own.
const KEYS: i64 = 20;

/// Two servers, a replica of each, and two proxies.
struct Site {
    proxies: Vec<Proxy>,
    replicas: Vec<Server>,
    cluster: Cluster,
}

impl Site {
    fn start(program: &Program) -> Site {
        let arguments = arguments(program.flavour);
        let spec = ClusterSpec {
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            more: "[meta]\nserver = \"s0\"\n".to_owned(),
            ..ClusterSpec::new(program, TABLES)
        };
        let cluster = Cluster::start(spec).unwrap_or_else(|error| panic!("{program}: {error}"));
        let replicas = cluster.servers().iter().map(|server| replica_of(server, program, arguments)).collect();
        let proxies = (0..2)
            .map(|worker| {
                Proxy::start(bifold_program(), cluster.topology(), worker).unwrap_or_else(|error| panic!("{error}"))
            })
            .collect();
        Site { proxies, replicas, cluster }
    }

    fn client(&self, number: usize) -> Client {
        login(self.proxies[number % self.proxies.len()].port())
    }

    fn load(&self) {
        let mut client = self.client(0);
        for sql in [
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, uid BIGINT NOT NULL, n INT NOT NULL, KEY (uid))",
            "CREATE TABLE coin (uid BIGINT PRIMARY KEY, n INT NOT NULL)",
            "CREATE TABLE fixed (name VARCHAR(30) COLLATE utf8mb4_general_ci PRIMARY KEY, n INT NOT NULL) CHARSET utf8mb4",
            "CREATE TABLE product (id INT PRIMARY KEY, title VARCHAR(20))",
            "INSERT INTO product VALUES (1, 'one'), (2, 'two')",
        ] {
            ok(&mut client, sql);
        }
        let coins: Vec<String> = (0..WRITERS * KEYS).map(|uid| format!("({}, 0)", uid - 50)).collect();
        ok(&mut client, &format!("INSERT INTO coin VALUES {}", coins.join(", ")));
        let fixed: Vec<String> = (0..FIXED).map(|n| format!("('name{n}', {n})")).collect();
        ok(&mut client, &format!("INSERT INTO fixed VALUES {}", fixed.join(", ")));
    }

    /// `bifold expand` with these words.
    fn expand(&self, words: &[&str]) -> Output {
        let mut command = Command::new(bifold_program());
        command.arg("expand").args(words).arg("--config").arg(self.cluster.topology());
        command.env("BIFOLD_ADMIN_USER", "root").output().expect("bifold expand runs")
    }

    /// What `--replica` says.
    fn replicas(&self) -> Vec<String> {
        self.replicas
            .iter()
            .enumerate()
            .flat_map(|(number, server)| {
                ["--replica".to_owned(), format!("s{number}=s{}@{}", number + 2, server.address())]
            })
            .collect()
    }

    #[track_caller]
    fn expanded(&self, words: &[&str]) -> String {
        let output = self.expand(words);
        let text = said(&output);
        let logs: String = self.proxies.iter().map(|proxy| proxy.log()).collect();
        assert!(output.status.success(), "{words:?}: {text}\n{logs}");
        text
    }

    /// `bifold verify` finds nothing wrong.
    #[track_caller]
    fn verified(&self) -> String {
        let mut command = Command::new(bifold_program());
        let output = command.arg("verify").arg("--config").arg(self.cluster.topology()).output().expect("it runs");
        let text = said(&output);
        assert!(output.status.success(), "{text}");
        text
    }

    /// All servers of the doubled layout, by shard: shard i + 4 is on the replica of shard i's server.
    fn shard(&self, number: usize) -> (&Server, String) {
        let (_, database) = self.cluster.shard(number % 4);
        let servers = if number < 4 { self.cluster.servers() } else { &self.replicas };
        (&servers[number % 2], database)
    }

    /// As the servers have it: every row of a table, and whether it lies where it belongs.
    fn stored(&self, table: &str, subtables: usize, columns: &str, owner: &str) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for shard in 0..8 {
            let (server, database) = self.shard(shard);
            for subtable in 0..subtables {
                let name = format!("{database}.{table}_{subtable:04}");
                let strays =
                    server.run(&[format!("SELECT COUNT(*) FROM {name} WHERE {owner} <> {shard}")]).expect("counted");
                assert_eq!(strays[0][0].as_deref(), Some("0"), "rows in {name} of shard {shard} belong elsewhere");
                let found = server.run(&[format!("SELECT {columns} FROM {name}")]).expect("read");
                rows.extend(found.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()));
            }
        }
        rows
    }
}

fn arguments(flavour: Flavour) -> &'static [&'static str] {
    match flavour {
        Flavour::MariaDb => {
            &["--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL", "--log-slave-updates=1"]
        }
        Flavour::MySql => &[],
    }
}

/// It plays the server's whole history, accounts included.
fn replica_of(server: &Server, program: &Program, arguments: &[&str]) -> Server {
    let replica = Server::start_with(program, Durability::Light, arguments).unwrap_or_else(|error| panic!("{error}"));
    let port = server.port();
    let statements = match program.flavour {
        Flavour::MariaDb => vec![
            format!(
                "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', MASTER_PASSWORD='', MASTER_USE_GTID=slave_pos"
            ),
            "START SLAVE".to_owned(),
        ],
        Flavour::MySql => vec![
            format!(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', SOURCE_PASSWORD='', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1"
            ),
            "START REPLICA".to_owned(),
        ],
    };
    replica.run(&statements).expect("replication starts");
    replica
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn login(port: u16) -> Client {
    let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
    Client::login(port, &login).expect("connected").expect("logged in")
}

#[track_caller]
fn ok(client: &mut Client, sql: &str) -> Answer {
    let answer = client.query(sql).remove(0);
    assert!(matches!(answer, Answer::Ok(_) | Answer::Rows(_)), "{sql}: {answer:?}");
    answer
}

fn number(answer: &Answer) -> i64 {
    answer.text()[0][0].as_ref().expect("a value").parse().expect("a number")
}

/// What one writer knows to be there.
#[derive(Default)]
struct Written {
    /// id and key of each order.
    orders: BTreeMap<u64, i64>,
    coins: BTreeMap<i64, i64>,
    statements: u64,
    /// What failed, by the error's text.
    failed: Vec<String>,
    slowest: Duration,
}

impl Written {
    /// Runs a statement; `None`: it failed.
    fn run(&mut self, client: &mut Client, sql: &str) -> Option<Answer> {
        let since = Instant::now();
        let answer = client.query(sql).remove(0);
        self.slowest = self.slowest.max(since.elapsed());
        self.statements += 1;
        match answer {
            Answer::Err(error) => {
                self.failed.push(format!("{} {}: {sql}", error.code, error.text));
                None
            }
            answer => Some(answer),
        }
    }

    fn write(&mut self, client: &mut Client, writer: i64, round: i64) {
        let key = |at: i64| writer * KEYS + at % KEYS - 50;
        let (one, other) = (key(round), key(round * 7 + 1));
        match round % 5 {
            0 | 1 => {
                if let Some(Answer::Ok(done)) =
                    self.run(client, &format!("INSERT INTO orders (uid, n) VALUES ({one}, {round})"))
                {
                    self.orders.insert(done.insert_id, one);
                }
            }
            2 => {
                if self.run(client, &format!("UPDATE coin SET n = n + 1 WHERE uid = {one}")).is_some() {
                    *self.coins.entry(one).or_default() += 1;
                }
            }
            3 => {
                // Over two servers, mostly.
                let statements = [
                    "BEGIN".to_owned(),
                    format!("UPDATE coin SET n = n + 1 WHERE uid = {one}"),
                    format!("UPDATE coin SET n = n + 1 WHERE uid = {other}"),
                    "COMMIT".to_owned(),
                ];
                for sql in &statements {
                    if self.run(client, sql).is_none() {
                        let _ = client.query("ROLLBACK");
                        return;
                    }
                }
                *self.coins.entry(one).or_default() += 1;
                *self.coins.entry(other).or_default() += 1;
            }
            _ => {
                let Some((id, uid)) = self.orders.iter().next().map(|(id, uid)| (*id, *uid)) else { return };
                if self.run(client, &format!("DELETE FROM orders WHERE uid = {uid} AND id = {id}")).is_some() {
                    self.orders.remove(&id);
                }
            }
        }
    }
}

struct Closing<'a>(&'a AtomicBool);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Writers and readers on both proxies, while `work` is done; what the writers know afterwards.
fn under_traffic(site: &Site, work: impl FnOnce()) -> Vec<Written> {
    under_traffic_of(site, true, work)
}

/// `calm`: no read may fail.
fn under_traffic_of(site: &Site, calm: bool, work: impl FnOnce()) -> Vec<Written> {
    let open = AtomicBool::new(true);
    scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let mut client = site.client(usize::try_from(writer).expect("small"));
                let open = &open;
                scope.spawn(move || {
                    let mut written = Written::default();
                    let mut round = 0;
                    while open.load(Ordering::Relaxed) {
                        written.write(&mut client, writer, round);
                        round += 1;
                        sleep(Duration::from_millis(2));
                    }
                    written
                })
            })
            .collect();
        let readers: Vec<_> = (0..2)
            .map(|reader| {
                let mut client = site.client(reader);
                let open = &open;
                scope.spawn(move || {
                    let (mut slowest, mut count) = (Duration::ZERO, 0);
                    while open.load(Ordering::Relaxed) {
                        let since = Instant::now();
                        let n = count % FIXED;
                        for (sql, value) in [
                            ("SELECT COUNT(*) FROM fixed".to_owned(), FIXED),
                            ("SELECT SUM(n) FROM fixed WHERE n >= 0".to_owned(), FIXED * (FIXED - 1) / 2),
                            (format!("SELECT n FROM fixed WHERE name = 'name{n}'"), n),
                        ] {
                            match client.query(&sql).remove(0) {
                                answer @ Answer::Rows(_) => assert_eq!(number(&answer), value, "{sql}"),
                                other => assert!(!calm, "{sql}: {other:?}"),
                            }
                        }
                        slowest = slowest.max(since.elapsed());
                        count += 1;
                        sleep(Duration::from_millis(5));
                    }
                    println!("reader {reader}: {count} rounds, the slowest {slowest:?}");
                })
            })
            .collect();
        {
            // Also where it panics: the threads are waited for.
            let _closing = Closing(&open);
            work();
        }
        readers.into_iter().for_each(|reader| reader.join().expect("a reader's end"));
        writers.into_iter().map(|writer| writer.join().expect("a writer's end")).collect()
    })
}

/// The same where some statements failed, of which it is not known whether they were carried out: all that
/// was acknowledged is there, in its place, and no more than was asked for.
fn close_uncertain_books(site: &Site, written: &[Written]) {
    let stored: BTreeSet<String> =
        site.stored("orders", 4, "id", "CRC32(uid) % 8").into_iter().map(|row| row.concat()).collect();
    let failed: usize = written.iter().map(|one| one.failed.len()).sum();
    for id in written.iter().flat_map(|one| one.orders.keys()) {
        // A DELETE whose answer was lost may have taken it.
        assert!(stored.contains(&id.to_string()) || failed > 0, "order {id} is lost");
    }
    let lost = written.iter().flat_map(|one| one.orders.keys()).filter(|id| !stored.contains(&id.to_string())).count();
    assert!(lost <= failed, "{lost} orders are lost, {failed} statements failed");
    let coins: BTreeMap<i64, i64> = site
        .stored("coin", 2, "uid, n", "((uid % 8) + 8) % 8")
        .iter()
        .map(|row| (row[0].parse().expect("a key"), row[1].parse().expect("a number")))
        .collect();
    assert_eq!(coins.len(), usize::try_from(WRITERS * KEYS).expect("few"));
    for one in written {
        for (uid, n) in &one.coins {
            let there = coins[uid];
            assert!(
                there >= *n && there <= n + 2 * i64::try_from(one.failed.len()).expect("few"),
                "coin {uid}: {there}, acknowledged {n}"
            );
        }
    }
}

/// All that is known to be written is there, once, in its place, and nothing else.
fn close_the_books(site: &Site, written: &[Written]) {
    let orders: BTreeSet<(u64, i64)> = written.iter().flat_map(|one| one.orders.clone()).collect();
    let stored = site.stored("orders", 4, "id, uid", "CRC32(uid) % 8");
    assert_eq!(stored.len(), orders.len());
    let stored: BTreeSet<(u64, i64)> =
        stored.iter().map(|row| (row[0].parse().expect("an id"), row[1].parse().expect("a key"))).collect();
    assert_eq!(stored, orders);
    let mut coins: BTreeMap<i64, i64> = (0..WRITERS * KEYS).map(|uid| (uid - 50, 0)).collect();
    for (uid, n) in written.iter().flat_map(|one| &one.coins) {
        *coins.get_mut(uid).expect("a coin") += n;
    }
    let stored = site.stored("coin", 2, "uid, n", "((uid % 8) + 8) % 8");
    assert_eq!(stored.len(), coins.len());
    let stored: BTreeMap<i64, i64> =
        stored.iter().map(|row| (row[0].parse().expect("a key"), row[1].parse().expect("a number"))).collect();
    assert_eq!(stored, coins);
    assert_eq!(
        site.stored("fixed", 2, "name", "CRC32(TRIM(TRAILING X'0020' FROM WEIGHT_STRING(name))) % 8").len(),
        400
    );
    // And through each proxy.
    for number_of in 0..2 {
        let mut client = site.client(number_of);
        assert_eq!(number(&ok(&mut client, "SELECT COUNT(*) FROM orders")), i64::try_from(orders.len()).expect("few"));
        for (uid, n) in coins.iter().take(30) {
            assert_eq!(number(&ok(&mut client, &format!("SELECT n FROM coin WHERE uid = {uid}"))), *n);
        }
        ok(&mut client, "INSERT INTO product VALUES (3, 'three')");
        ok(&mut client, "DELETE FROM product WHERE id = 3");
    }
}

fn on_each_flavour(test: impl Fn(&Site)) {
    for program in Program::all() {
        let site = Site::start(&program);
        site.load();
        test(&site);
    }
}

#[test]
fn four_shards_become_eight_while_traffic_goes_on() {
    on_each_flavour(|site| {
        let replicas = site.replicas();
        let words = |first: &'static str| -> Vec<&str> {
            std::iter::once(first).chain(replicas.iter().map(String::as_str)).collect()
        };
        let plan = site.expanded(&words("plan"));
        assert!(plan.contains("4 shards become 8") && plan.contains("nothing stands against it"), "{plan}");
        let written = under_traffic(site, || {
            sleep(Duration::from_millis(800));
            println!("{}", site.expanded(&words("start")));
            sleep(Duration::from_millis(700));
            println!("{}", site.expanded(&["status"]));
            println!("{}", site.verified());
            println!("{}", site.expanded(&["clean", "--rate", "2000"]));
            assert!(!site.verified().contains("to be cleaned"));
            sleep(Duration::from_millis(500));
        });
        for one in &written {
            println!("{} statements, the slowest {:?}", one.statements, one.slowest);
            assert!(one.failed.is_empty(), "{:?}", one.failed);
        }
        close_the_books(site, &written);
        let file = std::fs::read_to_string(site.cluster.topology()).expect("the topology file");
        assert!(file.contains("s2/mall_0") && file.contains("name = \"s3\""), "{file}");
    });
}

/// The command's end after each step stands for its death there.
#[test]
fn a_command_that_ends_after_any_step_is_gone_on_with() {
    on_each_flavour(|site| {
        let replicas = site.replicas();
        let mut words: Vec<&str> = vec!["start", "--until", "caught-up"];
        words.extend(replicas.iter().map(String::as_str));
        let written = under_traffic(site, || {
            site.expanded(&words);
            let again = site.expand(&words);
            assert!(!again.status.success() && said(&again).contains("under way already"), "{}", said(&again));
            for step in ["proved", "gated", "promoted"] {
                site.expanded(&["resume", "--until", step]);
            }
            site.expanded(&["resume"]);
            let back = site.expand(&["abort"]);
            assert!(!back.status.success() && said(&back).contains("no way back"), "{}", said(&back));
            site.expanded(&["clean", "--rate", "0"]);
            assert!(site.expanded(&["clean"]).contains("0 rows deleted"));
        });
        for one in &written {
            assert!(one.failed.is_empty(), "{:?}", one.failed);
        }
        close_the_books(site, &written);
    });
}

#[test]
fn a_gate_left_shut_opens_by_itself_and_the_way_back_is_open() {
    let program = Program::all().remove(0);
    let site = Site::start(&program);
    site.load();
    let replicas = site.replicas();
    let start = |until: &'static str| -> Vec<&str> {
        ["start", "--until", until].into_iter().chain(replicas.iter().map(String::as_str)).collect()
    };
    let written = under_traffic(&site, || {
        site.expanded(&start("proved"));
        site.expanded(&["abort"]);
        assert!(site.expanded(&["status"]).contains("Aborted"));
        site.expanded(&start("gated"));
        // Nobody goes on: the proxies do.
        let mut client = site.client(0);
        let since = Instant::now();
        ok(&mut client, "UPDATE product SET title = 'held' WHERE id = 1");
        assert!(since.elapsed() > Duration::from_secs(5), "it was held");
        let status = site.expanded(&["status"]);
        assert!(status.contains("gate: Open") && status.contains("did not go on"), "{status}");
        site.expanded(&["resume"]);
        site.expanded(&["clean", "--rate", "0"]);
    });
    for one in &written {
        assert!(one.failed.is_empty(), "{:?}", one.failed);
    }
    close_the_books(&site, &written);
}

#[test]
fn a_transaction_that_does_not_end_is_ended() {
    let program = Program::all().remove(0);
    let site = Site::start(&program);
    site.load();
    let replicas = site.replicas();
    let words: Vec<&str> = ["start", "--drain", "1"].into_iter().chain(replicas.iter().map(String::as_str)).collect();
    let mut sleeper = site.client(0);
    let mut locker = site.client(1);
    let written = under_traffic_of(&site, false, || {
        ok(&mut sleeper, "BEGIN");
        ok(&mut sleeper, "UPDATE fixed SET n = n + 1000 WHERE name = 'name7'");
        ok(&mut locker, "SELECT GET_LOCK('mine', 1)");
        site.expanded(&words);
    });
    let ended = |client: &mut Client, sql: &str| match client.query(sql).remove(0) {
        Answer::Err(error) => assert!(error.code == 1213 && error.text.contains("Begin it again"), "{}", error.text),
        other => panic!("{other:?}"),
    };
    ended(&mut sleeper, "COMMIT");
    ended(&mut locker, "SELECT RELEASE_LOCK('mine')");
    assert_eq!(number(&ok(&mut sleeper, "SELECT n FROM fixed WHERE name = 'name7'")), 7);
    ok(&mut sleeper, "UPDATE fixed SET n = 7 WHERE name = 'name7'");
    site.expanded(&["clean", "--rate", "0"]);
    close_uncertain_books(&site, &written);
}

#[test]
fn a_proxy_that_sleeps_through_the_switch_writes_nothing_in_the_old_places() {
    let program = Program::all().remove(0);
    let site = Site::start(&program);
    site.load();
    let replicas = site.replicas();
    let words: Vec<&str> = std::iter::once("start").chain(replicas.iter().map(String::as_str)).collect();
    let mut sleeping = site.client(1);
    ok(&mut sleeping, "UPDATE coin SET n = n + 0 WHERE uid = 1");
    site.proxies[1].stall();
    let text = site.expanded(&words);
    println!("{text}");
    // Its answers come after it has woken up; by then others have written in the new places.
    let mut awake = site.client(0);
    for uid in 0..20 {
        ok(&mut awake, &format!("UPDATE coin SET n = 1 WHERE uid = {uid}"));
    }
    site.proxies[1].unstall();
    let mut acknowledged = BTreeSet::new();
    for uid in 0..20 {
        if let Answer::Ok(_) = sleeping.query(format!("UPDATE coin SET n = 2 WHERE uid = {uid}")).remove(0) {
            acknowledged.insert(uid);
        }
    }
    sleep(Duration::from_secs(2));
    for uid in 0..20 {
        let n = number(&ok(&mut awake, &format!("SELECT n FROM coin WHERE uid = {uid}")));
        assert_eq!(n, if acknowledged.contains(&uid) { 2 } else { 1 }, "coin {uid}");
    }
    // It goes by the new layout now.
    let mut woken = site.client(1);
    ok(&mut woken, "UPDATE coin SET n = 3 WHERE uid = 5");
    assert_eq!(number(&ok(&mut awake, "SELECT n FROM coin WHERE uid = 5")), 3);
    site.expanded(&["clean", "--rate", "0"]);
    assert_eq!(number(&ok(&mut awake, "SELECT COUNT(*) FROM coin")), WRITERS * KEYS);
}

/// One shard becomes two and then four: the second time each server is one that was a replica before, or has
/// given half of its rows away.
#[test]
fn doublings_follow_one_another() {
    for program in Program::all() {
        let arguments = arguments(program.flavour);
        let spec = ClusterSpec {
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            more: "[meta]\nserver = \"s0\"\n".to_owned(),
            servers: 1,
            shards: 1,
            ..ClusterSpec::new(&program, TABLES)
        };
        let cluster = Cluster::start(spec).unwrap_or_else(|error| panic!("{program}: {error}"));
        let proxy = Proxy::start(bifold_program(), cluster.topology(), 0).unwrap_or_else(|error| panic!("{error}"));
        let mut site = Site { proxies: vec![proxy], replicas: Vec::new(), cluster };
        site.load();
        let mut client = site.client(0);
        let mut orders = 0;
        for count in [1, 2] {
            let servers: Vec<&Server> = site.cluster.servers().iter().chain(&site.replicas).collect();
            let fresh: Vec<Server> = servers.iter().map(|server| replica_of(server, &program, arguments)).collect();
            let mut words = vec!["start".to_owned()];
            for (number, server) in fresh.iter().enumerate() {
                words.extend(["--replica".to_owned(), format!("s{number}=s{}@{}", number + count, server.address())]);
            }
            for round in 0..30 {
                ok(&mut client, &format!("INSERT INTO orders (uid, n) VALUES ({round}, {count})"));
                orders += 1;
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            site.expanded(&words);
            site.replicas.extend(fresh);
            assert!(site.verified().contains("to be cleaned"));
            assert_eq!(number(&ok(&mut client, "SELECT COUNT(*) FROM orders")), orders);
            ok(&mut client, "UPDATE coin SET n = n + 1");
            site.expanded(&["clean", "--rate", "0"]);
            let report = site.verified();
            let wanted = format!("mall.orders: sharded, {orders} rows");
            assert!(!report.contains("to be cleaned") && report.contains(&wanted), "{report}");
            assert_eq!(number(&ok(&mut client, "SELECT COUNT(*) FROM fixed")), FIXED);
        }
        assert_eq!(number(&ok(&mut client, "SELECT SUM(n) FROM coin")), 2 * WRITERS * KEYS);
    }
}
