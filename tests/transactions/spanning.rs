//! Nothing breaks: what transactions over servers keep, undo and refuse.

use std::thread;
use std::time::Duration;

use bifold::lab::{Cluster, Durability, Flavour};

use crate::common::{Answer, bifold_program};
use crate::ward::*;

fn with_accounts(test: impl Fn(&mut Cluster, &mut crate::common::Client)) {
    on_each_flavour(Durability::Light, |cluster| {
        let mut client = serve(cluster);
        test(cluster, &mut client);
        wait_until_none_is_prepared(cluster);
    });
}

#[test]
fn a_transfer_between_servers_is_kept_or_undone_on_both() {
    with_accounts(|cluster, client| {
        let (a, b) = apart(cluster);
        transfer(client, a, b, 10);
        assert_eq!((money(client, a), money(client, b)), (MONEY - 10, MONEY + 10), "its own writes are seen");
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY, MONEY), "not yet by others");
        ok(client, "COMMIT");
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY - 10, MONEY + 10));
        transfer(client, b, a, 7);
        ok(client, "ROLLBACK");
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY - 10, MONEY + 10));
        // Without BEGIN
        ok(client, "SET autocommit = 0");
        ok(client, &format!("UPDATE account SET money = money - 1 WHERE uid = {b}"));
        ok(client, &format!("UPDATE account SET money = money + 1 WHERE uid = {a}"));
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY - 10, MONEY + 10));
        ok(client, "COMMIT");
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY - 9, MONEY + 9));
        ok(client, "SET autocommit = 1");
        // The client leaves in the middle.
        transfer(client, a, b, 10);
        drop(std::mem::replace(client, login(cluster.proxy().expect("serving").port())));
        transfer(client, a, b, 1);
        ok(client, "COMMIT AND CHAIN");
        ok(client, &format!("UPDATE account SET money = money + 100 WHERE uid = {b}"));
        ok(client, "ROLLBACK");
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY - 10, MONEY + 10));
    });
}

#[test]
fn nothing_is_decided_where_one_server_wrote() {
    with_accounts(|cluster, client| {
        let (a, b) = apart(cluster);
        let decisions = |cluster: &Cluster| -> usize {
            cluster.servers().iter().map(|s| s.run(&["SELECT * FROM bifold.decision"]).expect("rows").len()).sum()
        };
        let before = decisions(cluster);
        for (first, second) in [(a, b), (b, a)] {
            ok(client, "BEGIN");
            money(client, first);
            ok(client, &format!("SELECT * FROM account WHERE uid = {first} FOR UPDATE"));
            ok(client, &format!("UPDATE account SET money = money + 1 WHERE uid = {second}"));
            ok(client, "COMMIT");
            ok(client, "BEGIN");
            ok(client, &format!("UPDATE account SET money = money + 1 WHERE uid = {first}"));
            money(client, second);
            ok(client, "COMMIT");
        }
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY + 2, MONEY + 2));
        assert_eq!(decisions(cluster), before);
        transfer(client, a, b, 1);
        ok(client, "COMMIT");
        assert_eq!(decisions(cluster), before + 1);
    });
}

#[test]
fn statements_over_servers_are_kept_or_undone_as_one() {
    with_accounts(|cluster, client| {
        // By itself
        ok(client, "UPDATE account SET money = money + 1");
        assert_eq!(sum(cluster), ACCOUNTS * (MONEY + 1));
        let (a, b) = apart(cluster);
        let (code, text) =
            fails(client, &format!("INSERT INTO account VALUES (1000, 0), (1001, 0), (1002, 0), (1003, 0), ({b}, 0)"));
        assert_eq!(code, 1062, "{text}");
        assert_eq!(sum(cluster), ACCOUNTS * (MONEY + 1));
        // Within a transaction, of which only the failed statement is undone
        ok(client, "BEGIN");
        ok(client, &format!("UPDATE account SET money = money - 1 WHERE uid = {a}"));
        let (code, text) =
            fails(client, &format!("INSERT INTO account VALUES (1000, 0), (1001, 0), (1002, 0), (1003, 0), ({b}, 0)"));
        assert_eq!(code, 1062, "{text}");
        ok(client, "INSERT INTO account VALUES (2000, 5), (2001, 5), (2002, 5), (2003, 5), (2004, 5), (2005, 5)");
        ok(client, "COMMIT");
        assert_eq!(sum(cluster), ACCOUNTS * (MONEY + 1) - 1 + 30);
        assert_eq!(fails(client, "INSERT INTO account VALUES (2000, 5)").0, 1062);
        ok(client, "INSERT INTO account VALUES (1000, 0), (1001, 0), (1002, 0), (1003, 0)");
        // Without autocommit it begins one
        ok(client, "SET autocommit = 0");
        ok(client, "UPDATE account SET money = 0");
        ok(client, "ROLLBACK");
        assert_eq!(sum(cluster), ACCOUNTS * (MONEY + 1) - 1 + 30);
        ok(client, "DELETE FROM account");
        ok(client, "COMMIT");
        assert_eq!(sum(cluster), 0);
    });
}

#[test]
fn nothing_is_kept_of_texts_behind_a_deadlock() {
    with_accounts(|cluster, client| {
        ok(client, "CREATE TABLE many (uid BIGINT PRIMARY KEY, v INT NOT NULL)");
        ok(client, "CREATE TABLE ballast (id INT PRIMARY KEY)");
        let rows: Vec<String> = (0..400).map(|uid| format!("({uid}, 0)")).collect();
        ok(client, &format!("INSERT INTO many VALUES {}", rows.join(", ")));
        let (server, database) = cluster.shard(0);
        let in_subtable = |number: u8| {
            let rows = server.run(&[format!("SELECT uid FROM {database}.many_000{number} LIMIT 1")]).expect("rows");
            rows[0][0].clone().expect("a uid")
        };
        let (early, middle) = (in_subtable(1), in_subtable(4));
        // Whoever changed more rows of a server wins there.
        let heavy: Vec<String> = (0..2000).map(|id| format!("({id})")).collect();
        ok(client, "BEGIN");
        ok(client, &format!("INSERT INTO ballast VALUES {}", heavy.join(", ")));
        ok(client, &format!("UPDATE many SET v = 1 WHERE uid = {middle}"));
        let mut other = login(cluster.proxy().expect("serving").port());
        let updating = thread::spawn(move || {
            let outcome = other.query("UPDATE many SET v = v + 10").remove(0);
            let after = ok(&mut other, "SELECT v, @@autocommit FROM many WHERE uid = 0").text();
            (outcome, after)
        });
        thread::sleep(Duration::from_millis(300));
        ok(client, &format!("UPDATE many SET v = 1 WHERE uid = {early}"));
        let (outcome, after) = updating.join().expect("ended");
        assert!(matches!(&outcome, Answer::Err(error) if error.code == 1213), "{outcome:?}");
        assert_eq!(after, [[Some("0".to_owned()), Some("1".to_owned())]]);
        ok(client, "ROLLBACK");
        assert_eq!(ok(client, "SELECT SUM(v) FROM many").text(), [[Some("0".to_owned())]]);
        ok(client, "UPDATE many SET v = v + 10");
        assert_eq!(ok(client, "SELECT SUM(v) FROM many").text(), [[Some("4000".to_owned())]]);
    });
}

#[test]
fn writers_of_one_key_leave_connections_to_others() {
    with_accounts(|cluster, client| {
        let hot = on_server(cluster, 0)[0];
        let other = on_server(cluster, 0)[1];
        ok(client, "BEGIN");
        ok(client, &format!("UPDATE account SET money = money + 1 WHERE uid = {hot}"));
        let port = cluster.proxy().expect("serving").port();
        let waiting: Vec<_> = (0..40)
            .map(|_| {
                let mut writer = login(port);
                let sql = format!("UPDATE account SET money = money + 1 WHERE uid = {hot}");
                thread::spawn(move || drop(ok(&mut writer, &sql)))
            })
            .collect();
        // The holder is the fourth.
        let at_server = || {
            let running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'UPDATE%account%'";
            cluster.servers()[0].run(&[running]).expect("listed")[0][0].clone().expect("a count")
        };
        let end = std::time::Instant::now() + Duration::from_secs(10);
        while at_server() != "3" && std::time::Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(100));
        assert_eq!(at_server(), "3");
        // Other keys feel nothing, and who holds the row passes.
        let mut beside = login(port);
        ok(&mut beside, &format!("UPDATE account SET money = money + 1 WHERE uid = {other}"));
        ok(client, &format!("UPDATE account SET money = money + 1 WHERE uid = {hot}"));
        ok(client, "COMMIT");
        waiting.into_iter().for_each(|writer| writer.join().expect("its turn came"));
        assert_eq!(stored(cluster, hot), MONEY + 42);
    });
}

#[test]
fn savepoints_are_of_the_whole_transaction() {
    with_accounts(|cluster, client| {
        let (a, b) = apart(cluster);
        ok(client, "BEGIN");
        ok(client, "SAVEPOINT before_all");
        ok(client, &format!("UPDATE account SET money = 1 WHERE uid = {a}"));
        ok(client, "SAVEPOINT one");
        ok(client, &format!("UPDATE account SET money = 2 WHERE uid = {b}"));
        ok(client, "SAVEPOINT two");
        ok(client, "UPDATE account SET money = 3");
        ok(client, "ROLLBACK TO two");
        assert_eq!((money(client, a), money(client, b)), (1, 2));
        ok(client, "ROLLBACK TO one");
        assert_eq!((money(client, a), money(client, b)), (1, MONEY));
        assert_eq!(fails(client, "ROLLBACK TO two").0, 1305);
        ok(client, &format!("UPDATE account SET money = 4 WHERE uid = {b}"));
        ok(client, "COMMIT");
        assert_eq!((stored(cluster, a), stored(cluster, b)), (1, 4));
    });
}

#[test]
fn a_deadlock_on_one_server_rolls_back_on_all() {
    with_accounts(|cluster, client| {
        let (a, b) = (on_server(cluster, 0), on_server(cluster, 1));
        // The victim is the smaller transaction: on its second server once, on its first once.
        for (near, far) in [(a[0], &b), (b[0], &a)] {
            let mut other = login(cluster.proxy().expect("serving").port());
            ok(&mut other, "BEGIN");
            for uid in &far[2..8] {
                ok(&mut other, &format!("UPDATE account SET money = money + 5 WHERE uid = {uid}"));
            }
            ok(&mut other, &format!("UPDATE account SET money = money + 5 WHERE uid = {}", far[0]));
            ok(client, "BEGIN");
            ok(client, &format!("UPDATE account SET money = 0 WHERE uid = {near}"));
            ok(client, &format!("UPDATE account SET money = 0 WHERE uid = {}", far[1]));
            let waiting = {
                let sql = format!("UPDATE account SET money = money + 5 WHERE uid = {}", far[1]);
                thread::spawn(move || (ok(&mut other, &sql), ok(&mut other, "ROLLBACK")))
            };
            thread::sleep(Duration::from_millis(300));
            let (code, text) = fails(client, &format!("UPDATE account SET money = 0 WHERE uid = {}", far[0]));
            assert_eq!(code, 1213, "{text}");
            waiting.join().expect("the other goes on");
            // It is over: this is outside of it.
            ok(client, &format!("UPDATE account SET money = money WHERE uid = {near}"));
            ok(client, "ROLLBACK");
            assert_eq!(sum(cluster), ACCOUNTS * MONEY);
        }
    });
}

#[test]
fn characteristics_hold_on_every_server() {
    with_accounts(|cluster, client| {
        let (a, b) = apart(cluster);
        ok(client, "START TRANSACTION READ ONLY");
        money(client, a);
        money(client, b);
        for uid in [a, b] {
            assert_eq!(fails(client, &format!("UPDATE account SET money = 0 WHERE uid = {uid}")).0, 1792);
        }
        ok(client, "COMMIT");
        // A snapshot is of the moment of its BEGIN, everywhere.
        ok(client, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
        let mut other = login(cluster.proxy().expect("serving").port());
        transfer(&mut other, a, b, 10);
        ok(&mut other, "COMMIT");
        assert_eq!((money(client, a), money(client, b)), (MONEY, MONEY));
        ok(client, "COMMIT");
        assert_eq!((money(client, a), money(client, b)), (MONEY - 10, MONEY + 10));
        // Read committed on the second server too
        ok(client, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        ok(client, "BEGIN");
        assert_eq!((money(client, a), money(client, b)), (MONEY - 10, MONEY + 10));
        transfer(&mut other, a, b, 10);
        ok(&mut other, "COMMIT");
        assert_eq!((money(client, a), money(client, b)), (MONEY - 20, MONEY + 20));
        ok(client, "COMMIT");
    });
}

#[test]
fn locks_are_waited_for_as_long_as_the_topology_says() {
    on_each_flavour(Durability::Light, |cluster| {
        cluster.set_more("[cluster]\nlock_wait = \"3s\"\n").expect("written");
        let mut client = serve(cluster);
        let (a, b) = apart(cluster);
        let waits = |client: &mut crate::common::Client, uid: i64| {
            ok(client, &format!("SELECT @@innodb_lock_wait_timeout FROM account WHERE uid = {uid}")).text()[0][0]
                .clone()
        };
        let own = waits(&mut client, a);
        transfer(&mut client, a, b, 1);
        assert_eq!([waits(&mut client, a), waits(&mut client, b)], [Some("3".to_owned()), Some("3".to_owned())]);
        ok(&mut client, "COMMIT");
        assert_eq!([waits(&mut client, a), waits(&mut client, b)], [own.clone(), own]);
    });
}

#[test]
fn single_refuses_a_second_writing_server() {
    on_each_flavour(Durability::Light, |cluster| {
        serve(cluster);
        let (a, b) = apart(cluster);
        cluster.set_more("[cluster]\ntransactions = \"single\"\n").expect("the topology is written");
        let mut client = login(cluster.serve(bifold_program()).expect("served").port());
        ok(&mut client, "BEGIN");
        ok(&mut client, &format!("UPDATE account SET money = money + 1 WHERE uid = {a}"));
        money(&mut client, b);
        let (code, text) = fails(&mut client, &format!("UPDATE account SET money = money - 1 WHERE uid = {b}"));
        assert!(code == 1235 && text.contains("transactions = \"single\""), "{text}");
        ok(&mut client, "COMMIT");
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY + 1, MONEY));
        assert_eq!(fails(&mut client, "UPDATE account SET money = 0").0, 1235);
        assert_eq!(sum(cluster), ACCOUNTS * MONEY + 1);
    });
}

#[test]
fn without_its_grants_a_second_server_is_refused_with_the_remedy() {
    on_each_flavour(Durability::Light, |cluster| {
        let user = bifold::lab::BACKEND_USER;
        cluster.servers()[1].run(&[format!("REVOKE CREATE ON bifold.* FROM '{user}'@'%'")]).expect("revoked");
        let port = cluster.serve(bifold_program()).expect("it serves all the same").port();
        let mut client = login(port);
        ok(&mut client, "CREATE TABLE account (uid BIGINT PRIMARY KEY, money BIGINT NOT NULL)");
        let rows: Vec<String> = (0..ACCOUNTS).map(|uid| format!("({uid}, {MONEY})")).collect();
        let insert = format!("INSERT INTO account (uid, money) VALUES {}", rows.join(", "));
        let (code, text) = fails(&mut client, &insert);
        assert!(
            code == 1235
                && text.contains("server s1")
                && text.contains("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `bifold`"),
            "{text}"
        );
        let recovers = text.contains("XA_RECOVER_ADMIN");
        assert_eq!(recovers, cluster.servers()[1].flavour() == Flavour::MySql, "{text}");
        // Granted, it is noticed without a restart.
        cluster.servers()[1].grant_decisions(user).expect("granted");
        let done = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(100));
            matches!(client.query(insert.as_str())[0], Answer::Ok(_))
        });
        assert!(done, "{}", cluster.proxy().expect("serving").log());
        assert_eq!(sum(cluster), ACCOUNTS * MONEY);
    });
}

#[test]
fn routines_beside_other_servers_are_refused() {
    with_accounts(|cluster, client| {
        let (_, b) = apart(cluster);
        let (home, database) = cluster.shard(0);
        home.run(&[format!("CREATE PROCEDURE {database}.p() COMMIT")]).expect("a procedure");
        ok(client, "BEGIN");
        ok(client, &format!("UPDATE account SET money = 0 WHERE uid = {b}"));
        assert_eq!(fails(client, "CALL p()").0, 1235);
        ok(client, "ROLLBACK");
        assert_eq!(sum(cluster), ACCOUNTS * MONEY);
        ok(client, "CALL p()");
    });
}

#[test]
fn what_commits_on_its_server_commits_on_all() {
    with_accounts(|cluster, client| {
        let (a, b) = apart(cluster);
        ok(client, "CREATE TABLE unsharded (a INT)");
        for commits in ["ANALYZE TABLE unsharded", "CREATE TABLE another (a INT)", "BEGIN", "SET autocommit = 1"] {
            let before = stored(cluster, b);
            ok(client, "SET autocommit = 0");
            ok(client, &format!("UPDATE account SET money = money + 1 WHERE uid = {a}"));
            ok(client, &format!("UPDATE account SET money = money + 1 WHERE uid = {b}"));
            ok(client, commits);
            ok(client, "ROLLBACK");
            assert_eq!(stored(cluster, b), before + 1, "{commits}");
            ok(client, "SET autocommit = 1");
        }
        assert_eq!((stored(cluster, a), stored(cluster, b)), (MONEY + 4, MONEY + 4));
    });
}

#[test]
fn decisions_of_the_day_before_yesterday_are_deleted() {
    on_each_flavour(Durability::Light, |cluster| {
        serve(cluster);
        let put = "INSERT INTO bifold.decision VALUES ('old', 1, UNIX_TIMESTAMP() - 90000), ('new', 1, UNIX_TIMESTAMP() - 80000)";
        let look = "SELECT gtrid FROM bifold.decision WHERE gtrid IN ('old', 'new')";
        cluster.servers()[1].run(&[put]).expect("rows");
        cluster.serve(bifold_program()).expect("served");
        let gone = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(100));
            cluster.servers()[1].run(&[look]).expect("rows") == [[Some("new".to_owned())]]
        });
        assert!(gone, "{}", cluster.proxy().expect("serving").log());
    });
}

#[test]
fn writers_of_one_reference_row_do_not_meet_crosswise() {
    with_accounts(|cluster, client| {
        ok(client, "CREATE TABLE product (id INT PRIMARY KEY, n INT NOT NULL)");
        ok(client, "INSERT INTO product VALUES (1, 0), (2, 0)");
        let port = cluster.proxy().expect("serving").port();
        let add = || {
            let mut client = login(port);
            (0..25).for_each(|_| drop(ok(&mut client, "UPDATE product SET n = n + 1 WHERE id = 1")));
        };
        thread::scope(|scope| [(); 4].map(|()| scope.spawn(add)).map(|adding| adding.join().expect("added")));
        for shard in 0..4 {
            let (server, database) = cluster.shard(shard);
            let copy = server.run(&[format!("SELECT n FROM {database}.product WHERE id = 1")]).expect("a copy");
            assert_eq!(copy, [[Some("100".to_owned())]], "shard {shard}");
        }
    });
}
