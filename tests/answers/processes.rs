//! Sessions that look at each other and end each other: SHOW PROCESSLIST, KILL, and clients that
//! leave in the middle.

use std::thread;
use std::time::{Duration, Instant};

use bifold::lab::{APP_PASSWORD, APP_USER};

use crate::common::{Answer, Both, Client, Login, Protocol, ResultSet, on_each_server_by, with_cluster};

const T: &str = "[schema.mall.table.t]\nkey = \"uid\"\ntables = 4\n";

fn at_both(test: impl Fn(&mut Both)) {
    on_each_server_by(&[Protocol::Text], T, |both| {
        both.each("CREATE TABLE t (uid BIGINT NOT NULL PRIMARY KEY, n INT)");
        both.each("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8)");
        test(both);
    });
}

fn enter(port: u16, login: &Login) -> Client {
    Client::login(port, login).expect("a connection").unwrap_or_else(|error| panic!("{error:?}"))
}

fn rows(answers: &[Answer]) -> &ResultSet {
    match answers {
        [Answer::Rows(rows)] => rows,
        other => panic!("{other:?}"),
    }
}

fn text(set: &ResultSet, row: usize, column: usize) -> String {
    set.rows[row][column].as_ref().map_or("NULL".into(), |cell| String::from_utf8_lossy(cell).into_owned())
}

/// Waits until one of the user's sessions runs a statement with these words.
fn await_running(client: &mut Client, words: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        let list = client.query("SHOW FULL PROCESSLIST");
        let set = rows(&list);
        if (0..set.rows.len()).any(|row| text(set, row, 7).starts_with(words)) {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("nobody runs {words}");
}

#[test]
fn the_list_shows_the_users_sessions_as_a_server_does() {
    at_both(|both| {
        let mut sides = Vec::new();
        for (port, watcher) in [(both.ports.0, &mut both.plain), (both.ports.1, &mut both.proxied)] {
            let mut other = enter(port, &both.login);
            let id = other.greeting.thread;
            let running = thread::spawn(move || other.query("SELECT SLEEP(60) /* watched */"));
            await_running(watcher, "SELECT SLEEP(60)");
            let list = watcher.query("SHOW PROCESSLIST");
            let set = rows(&list);
            let found: Vec<Vec<String>> =
                (0..set.rows.len()).map(|row| [1, 3, 4, 7].map(|column| text(set, row, column)).to_vec()).collect();
            assert!(text(set, 0, 2).starts_with("127.0.0.1:") || text(set, 0, 2).starts_with("localhost"), "{list:?}");
            assert!((0..set.rows.len()).any(|row| text(set, row, 0) == id.to_string()));
            watcher.query(format!("KILL {id}"));
            running.join().expect("ended");
            sides.push((set.columns.clone(), set.warnings, found));
        }
        assert_eq!(sides[0], sides[1]);
    });
}

#[test]
fn kill_query_ends_the_statement_and_nothing_else() {
    at_both(|both| {
        for (statement, code) in [
            ("SELECT n FROM t WHERE uid = 1 AND SLEEP(60) = 7", None),
            ("UPDATE t SET n = n + 1 WHERE uid = 2 AND SLEEP(60) = 0", Some(1317)),
            ("DELETE FROM t WHERE SLEEP(60) = 0", Some(1317)),
            ("SELECT COUNT(*) FROM t WHERE BENCHMARK(2000000000, SHA2(n, 512)) = 7", Some(1317)),
            ("DO SLEEP(60)", None),
        ] {
            for (port, watcher) in [(both.ports.0, &mut both.plain), (both.ports.1, &mut both.proxied)] {
                let mut victim = enter(port, &both.login);
                let id = victim.greeting.thread;
                victim.query("BEGIN");
                victim.query("UPDATE t SET n = 100 WHERE uid = 8");
                let running = thread::spawn(move || {
                    let answer = victim.query(statement);
                    (victim, answer)
                });
                await_running(watcher, statement);
                assert!(matches!(watcher.query(format!("KILL QUERY {id}"))[..], [Answer::Ok(_)]));
                let (mut victim, answer) = running.join().expect("ended");
                match (&answer[..], code) {
                    ([Answer::Err(error)], _) if error.code == 1317 && error.state == "70100" => {}
                    // Some say that SLEEP() was broken off by its value.
                    ([Answer::Rows(_) | Answer::Ok(_)], None) => {}
                    (other, _) => panic!("{statement}: {other:?}"),
                }
                // The session and its transaction stand.
                let n = victim.query("SELECT n FROM t WHERE uid = 8");
                assert_eq!(text(rows(&n), 0, 0), "100", "after {statement}");
                victim.query("ROLLBACK");
                let n = victim.query("SELECT n FROM t WHERE uid = 8");
                assert_eq!(text(rows(&n), 0, 0), "8");
            }
        }
    });
}

#[test]
fn kill_connection_ends_the_session_whatever_it_does() {
    at_both(|both| {
        for (port, watcher) in [(both.ports.0, &mut both.plain), (both.ports.1, &mut both.proxied)] {
            // In the middle of a statement, with a row locked.
            let mut busy = enter(port, &both.login);
            let id = busy.greeting.thread;
            busy.query("BEGIN");
            busy.query("UPDATE t SET n = 100 WHERE uid = 3");
            let running = thread::spawn(move || busy.query("SELECT SLEEP(60) /* to be ended */"));
            await_running(watcher, "SELECT SLEEP(60)");
            assert!(matches!(watcher.query(format!("KILL CONNECTION {id}"))[..], [Answer::Ok(_)]));
            assert!(matches!(running.join().expect("ended")[..], [Answer::Lost(_)]));
            watcher.query("SET innodb_lock_wait_timeout = 10");
            assert!(matches!(watcher.query("UPDATE t SET n = 3 WHERE uid = 3")[..], [Answer::Ok(_)]));
            // Between two statements.
            let mut idle = enter(port, &both.login);
            watcher.query(format!("KILL {}", idle.greeting.thread));
            // A server sees to it in its own time.
            let gone = (0..200).any(|_| {
                thread::sleep(Duration::from_millis(5));
                matches!(idle.query("SELECT 1")[..], [Answer::Lost(_)])
            });
            assert!(gone);
        }
        both.run("KILL 4000000000");
        both.run("KILL QUERY 4000000000");
        both.run("KILL 'x'");
        both.run("KILL 1 + 1");
        both.run("KILL QUERY CONNECTION_ID()");
        both.run("SELECT 1");
        let mut last = both.another();
        last.run("KILL CONNECTION_ID()");
        for side in [&mut last.plain, &mut last.proxied] {
            assert!(matches!(side.query("SELECT 1")[..], [Answer::Lost(_)]));
        }
    });
}

#[test]
fn who_waits_for_a_connection_can_be_killed_too() {
    with_cluster(|cluster| {
        cluster.set_tables(T).expect("written");
        let topology = std::fs::read_to_string(cluster.topology()).expect("a topology file");
        let narrow = topology.replace("[backend]\n", "[backend]\nconnections = 1\nwait = \"60s\"\n");
        std::fs::write(cluster.topology(), narrow).expect("written");
        let proxy = cluster.serve(crate::common::bifold_program()).unwrap_or_else(|error| panic!("{error}"));
        let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
        let mut holder = enter(proxy.port(), &login);
        assert!(matches!(holder.query("DO GET_LOCK('a', 1)")[..], [Answer::Ok(_)]));
        let mut waiter = enter(proxy.port(), &login);
        let mut watcher = enter(proxy.port(), &login);
        let id = waiter.greeting.thread;
        let waiting = thread::spawn(move || {
            let answer = waiter.query("DO GET_LOCK('b', 1)");
            (waiter, answer)
        });
        thread::sleep(Duration::from_millis(200));
        // Needs no connection itself.
        assert!(matches!(watcher.query(format!("KILL QUERY {id}"))[..], [Answer::Ok(_)]));
        let (mut waiter, answer) = waiting.join().expect("ended");
        assert!(matches!(&answer[..], [Answer::Err(error)] if error.code == 1317), "{answer:?}");
        assert!(matches!(waiter.simple(0x0E, &[]), Answer::Ok(_)));
    });
}
