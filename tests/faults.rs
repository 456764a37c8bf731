//! Servers, the proxy and clients that go away at the wrong moment: what was acknowledged is there,
//! what was not is gone, and the proxy goes on. With full durability.

mod common;

use std::time::{Duration, Instant};

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, ClusterSpec, Durability, Program};

use common::{Answer, Client, Login, bifold_program};

const TABLES: &str = "[schema.mall.table.t]\nkey = \"uid\"\ntables = 4\n";

/// A cluster of its own for each flavour, with the proxy and the table t; n is 0 in 100 rows.
fn with_durable_cluster(test: impl Fn(&mut Cluster)) {
    with_cluster(Durability::Full, TABLES, test);
}

fn with_cluster(durability: Durability, tables: &str, test: impl Fn(&mut Cluster)) {
    for program in Program::all() {
        let spec = ClusterSpec { durability, ..ClusterSpec::new(&program, tables) };
        let mut cluster = Cluster::start(spec).unwrap_or_else(|error| panic!("{program}: {error}"));
        cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}"));
        let mut app = enter(&cluster);
        run(&mut app, "CREATE TABLE t (uid BIGINT NOT NULL PRIMARY KEY, n INT NOT NULL)");
        let rows: Vec<String> = (0..100).map(|uid| format!("({uid}, 0)")).collect();
        run(&mut app, &format!("INSERT INTO t (uid, n) VALUES {}", rows.join(", ")));
        test(&mut cluster);
    }
}

fn enter(cluster: &Cluster) -> Client {
    let port = cluster.proxy().expect("it serves").port();
    Client::login(port, &Login::new(APP_USER, APP_PASSWORD, Some("mall"))).expect("connected").expect("logged in")
}

#[track_caller]
fn run(app: &mut Client, sql: &str) {
    for answer in app.query(sql) {
        assert!(matches!(answer, Answer::Ok(_) | Answer::Rows(_)), "{sql}: {answer:?}");
    }
}

fn value(app: &mut Client, uid: u32) -> Result<String, Answer> {
    match app.query(format!("SELECT n FROM t WHERE uid = {uid}")).remove(0) {
        answer @ Answer::Rows(_) => Ok(answer.text()[0][0].clone().expect("n is not NULL")),
        other => Err(other),
    }
}

/// A key of each server: the server of a key is found by asking behind the proxy.
fn a_key_on_each(cluster: &Cluster) -> [u32; 2] {
    let on = |server: usize| {
        (0..100)
            .find(|uid| {
                (server..4).step_by(2).any(|shard| {
                    let (server, database) = cluster.shard(shard);
                    (0..4).any(|subtable| {
                        let sql = format!("SELECT 1 FROM {database}.t_{subtable:04} WHERE uid = {uid}");
                        !server.run(&[sql]).expect("the subtable is there").is_empty()
                    })
                })
            })
            .expect("100 keys reach both servers")
    };
    [on(0), on(1)]
}

/// Asks until there is an answer, as an application that tries again.
fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_killed_server_costs_errors_and_no_acknowledged_row() {
    with_durable_cluster(|cluster| {
        let [here, there] = a_key_on_each(cluster);
        let mut app = enter(cluster);
        run(&mut app, &format!("UPDATE t SET n = 1 WHERE uid = {here}"));
        run(&mut app, &format!("UPDATE t SET n = 2 WHERE uid = {there}"));
        cluster.server_mut(0).kill();
        let asked = Instant::now();
        assert!(matches!(value(&mut app, here), Err(Answer::Err(_))), "an error, and the session goes on");
        assert!(asked.elapsed() < Duration::from_secs(15), "it took {:?}", asked.elapsed());
        assert_eq!(value(&mut app, there), Ok("2".to_owned()), "the other server is served");
        cluster.server_mut(0).restart().expect("it starts again");
        assert_eq!(eventually("served again", || value(&mut app, here).ok()), "1");
    });
}

#[test]
fn a_transaction_whose_server_died_is_not_half_there() {
    with_durable_cluster(|cluster| {
        let [here, _] = a_key_on_each(cluster);
        let mut app = enter(cluster);
        run(&mut app, "BEGIN");
        run(&mut app, &format!("UPDATE t SET n = 5 WHERE uid = {here}"));
        cluster.server_mut(0).restart().expect("it starts again");
        let answer = app.query(format!("UPDATE t SET n = 6 WHERE uid = {here}")).remove(0);
        assert!(matches!(answer, Answer::Err(_) | Answer::Lost(_)), "the loss is told: {answer:?}");
        let mut other = enter(cluster);
        assert_eq!(eventually("served again", || value(&mut other, here).ok()), "0");
    });
}

#[test]
fn a_client_that_goes_away_leaves_no_lock_and_no_row() {
    with_durable_cluster(|cluster| {
        let [here, _] = a_key_on_each(cluster);
        let mut app = enter(cluster);
        run(&mut app, "BEGIN");
        run(&mut app, &format!("UPDATE t SET n = 7 WHERE uid = {here}"));
        drop(app);
        let mut other = enter(cluster);
        run(&mut other, "SET SESSION innodb_lock_wait_timeout = 1");
        eventually("the lock is free", || {
            let answer = other.query(format!("UPDATE t SET n = n + 1 WHERE uid = {here}")).remove(0);
            matches!(answer, Answer::Ok(_)).then_some(())
        });
        assert_eq!(value(&mut other, here), Ok("1".to_owned()));
    });
}

#[test]
fn a_stalled_server_holds_up_its_own_rows_only() {
    with_durable_cluster(|cluster| {
        let [_, there] = a_key_on_each(cluster);
        let mut app = enter(cluster);
        cluster.servers()[0].stall();
        let asked = Instant::now();
        for _ in 0..20 {
            assert_eq!(value(&mut app, there), Ok("0".to_owned()));
        }
        assert!(asked.elapsed() < Duration::from_secs(2), "it took {:?}", asked.elapsed());
        let mut newcomer = enter(cluster);
        assert_eq!(value(&mut newcomer, there), Ok("0".to_owned()));
        cluster.servers()[0].unstall();
    });
}

#[test]
fn a_killed_proxy_loses_nothing_that_was_acknowledged() {
    with_durable_cluster(|cluster| {
        let mut app = enter(cluster);
        for uid in 0..100 {
            run(&mut app, &format!("UPDATE t SET n = {} WHERE uid = {uid}", uid + 1));
        }
        run(&mut app, "BEGIN");
        run(&mut app, "UPDATE t SET n = 1000 WHERE uid = 3");
        cluster.proxy_mut().expect("it serves").kill();
        assert!(matches!(app.query("SELECT 1").remove(0), Answer::Lost(_)));
        cluster.serve(bifold_program()).expect("it starts again");
        let mut app = enter(cluster);
        for uid in 0..100 {
            let found = eventually("the row is there", || value(&mut app, uid).ok());
            assert_eq!(found, (uid + 1).to_string());
        }
    });
}

#[test]
fn an_insert_over_servers_says_what_was_written_when_one_is_down() {
    with_durable_cluster(|cluster| {
        cluster.server_mut(1).kill();
        let mut app = enter(cluster);
        let rows: Vec<String> = (1000..1040).map(|uid| format!("({uid}, 9)")).collect();
        let answer = app.query(format!("INSERT INTO t (uid, n) VALUES {}", rows.join(", "))).remove(0);
        let told = answer.err().text.clone();
        cluster.server_mut(1).restart().expect("it starts again");
        let written = (1000..1040)
            .filter(|uid| {
                let sql = format!("SELECT n FROM t WHERE uid = {uid}");
                eventually("served again", || match app.query(&sql).remove(0) {
                    Answer::Rows(set) => Some(!set.rows.is_empty()),
                    Answer::Ok(_) | Answer::Err(_) | Answer::Lost(_) => None,
                })
            })
            .count();
        assert!(written < 40, "a server was down");
        assert!(!told.is_empty() && told.contains("t"), "the error names what was not written: {told}");
    });
}

const BOUNDED: &str = "[schema.mall.table.t]\nkey = \"uid\"\ntables = 4\n[gather]\nrows = 150\ntimeout = \"1s\"\n";

/// A join across keys: 100 rows of each side.
const JOIN: &str = "SELECT COUNT(*) FROM t a JOIN t b ON a.uid + 1 = b.uid";

fn answers(app: &mut Client, sql: &str) -> Option<String> {
    match app.query(sql).remove(0) {
        answer @ Answer::Rows(_) => answer.text()[0][0].clone(),
        Answer::Ok(_) | Answer::Err(_) | Answer::Lost(_) => None,
    }
}

#[test]
fn a_gathered_statement_ends_at_its_bounds_and_leaves_nothing() {
    with_cluster(Durability::Light, BOUNDED, |cluster| {
        let mut app = enter(cluster);
        let told = app.query(JOIN).remove(0);
        assert_eq!(told.err().code, 1104, "{told:?}");
        assert!(told.err().text.contains("more than 150 rows"), "{told:?}");
        // Fewer rows by a condition: they count after it.
        assert_eq!(answers(&mut app, &format!("{JOIN} WHERE a.uid < 20")).as_deref(), Some("20"));
    });
}

#[test]
fn a_server_that_stalls_or_dies_while_rows_are_gathered_costs_that_statement() {
    with_cluster(Durability::Full, &BOUNDED.replace("150", "10000"), |cluster| {
        let mut app = enter(cluster);
        assert_eq!(answers(&mut app, JOIN).as_deref(), Some("99"));
        cluster.servers()[1].stall();
        let asked = Instant::now();
        let told = app.query(JOIN).remove(0);
        assert!(told.err().text.contains("gather.timeout"), "{told:?}");
        assert!(asked.elapsed() < Duration::from_secs(10), "it took {:?}", asked.elapsed());
        cluster.servers()[1].unstall();
        eventually("it answers again", || answers(&mut app, JOIN).filter(|count| count == "99"));

        cluster.server_mut(1).kill();
        assert!(matches!(app.query(JOIN).remove(0), Answer::Err(_)));
        cluster.server_mut(1).restart().expect("it starts again");
        eventually("it answers again", || answers(&mut app, JOIN).filter(|count| count == "99"));

        // The server where the statement runs.
        let mut waiting = enter(cluster);
        let asking =
            std::thread::spawn(move || waiting.query("SELECT COUNT(DISTINCT n) FROM t WHERE SLEEP(0.1) = 0").remove(0));
        let running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT COUNT(DISTINCT n)%'";
        let is_running = |cluster: &Cluster| {
            let rows = cluster.servers()[0].run(&[running]).unwrap_or_default();
            rows.first().is_some_and(|row| row[0].as_deref() != Some("0"))
        };
        eventually("it runs", || is_running(cluster).then_some(()));
        cluster.server_mut(0).kill();
        let told = asking.join().expect("it ends");
        assert!(matches!(told, Answer::Err(_)), "{told:?}");
        cluster.server_mut(0).restart().expect("it starts again");
        eventually("it answers again", || answers(&mut app, JOIN).filter(|count| count == "99"));

        // A client that leaves ends it.
        let mut leaving = enter(cluster);
        leaving.command(0x03, b"SELECT COUNT(DISTINCT n) FROM t WHERE SLEEP(1) = 0");
        eventually("it runs", || is_running(cluster).then_some(()));
        drop(leaving);
        eventually("it is ended", || (!is_running(cluster)).then_some(()));
        assert_eq!(answers(&mut app, JOIN).as_deref(), Some("99"));
    });
}

#[test]
fn a_server_that_dies_under_a_query_over_all_places_ends_it_with_an_error() {
    with_durable_cluster(|cluster| {
        for sql in [
            "SELECT uid, n FROM t ORDER BY n, uid",
            "SELECT uid, n FROM t",
            "SELECT n, COUNT(*) FROM t GROUP BY n",
            "SELECT uid FROM t ORDER BY uid LIMIT 5",
        ] {
            let mut app = enter(cluster);
            let whole = eventually("served", || match app.query(sql).remove(0) {
                Answer::Rows(set) => Some(set.rows),
                Answer::Ok(_) | Answer::Err(_) | Answer::Lost(_) => None,
            });
            cluster.servers()[0].stall();
            app.command(3, sql.as_bytes());
            // A newcomer's login is served behind it: by then it hangs on what is stalled.
            drop(enter(cluster));
            cluster.server_mut(0).kill();
            let asked = Instant::now();
            let answers = app.answers(false);
            match answers.as_slice() {
                [Answer::Err(_)] => {}
                // It had answered already.
                [Answer::Rows(set)] => assert_eq!(set.rows, whole, "{sql}"),
                other => panic!("{sql}: {other:?}"),
            }
            assert!(asked.elapsed() < Duration::from_secs(15), "{sql}: it took {:?}", asked.elapsed());
            cluster.server_mut(0).restart().expect("it starts again");
            let again = eventually("served again", || match app.query(sql).remove(0) {
                Answer::Rows(set) => Some(set.rows),
                Answer::Ok(_) | Answer::Err(_) | Answer::Lost(_) => None,
            });
            assert_eq!(again, whole, "{sql}");
        }
    });
}

#[test]
fn a_client_that_leaves_a_query_over_all_places_ends_it_everywhere() {
    with_durable_cluster(|cluster| {
        // More than fits into all buffers on the way.
        let sql = "SELECT uid, REPEAT('leaving', 100000) AS long_text FROM t ORDER BY n, uid";
        let mut app = enter(cluster);
        app.command(3, sql.as_bytes());
        app.read_packet().expect("it begins");
        drop(app);
        for server in cluster.servers() {
            eventually("its query is gone", || {
                let sql = "SELECT 1 FROM information_schema.processlist WHERE info LIKE '%leaving%' AND \
                           info NOT LIKE '%processlist%'";
                server.run(&[sql]).expect("it answers").is_empty().then_some(())
            });
        }
        let mut next = enter(cluster);
        let answer = next.query("SELECT COUNT(*), SUM(n) FROM t").remove(0);
        assert_eq!(answer.text(), [[Some("100".to_owned()), Some("0".to_owned())]]);
    });
}
