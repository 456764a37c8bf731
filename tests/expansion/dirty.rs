//! After a doubling, until it is cleaned: shards hold rows that they no longer own. Answers are those of
//! one server all the same.

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster};

use crate::common::{Both, Login, Protocol, bifold_program, with_cluster};

const TABLES: &str = r#"
[schema.mall.table.orders]
key = "uid"
tables = 2
id = "order_id"

[schema.mall.table.coin]
key = "uid"
hash = "identity"
tables = 2

[schema.mall.table.person]
key = "uid"
tables = 2
unique_per_place = ["email"]

[schema.mall.table.named]
key = "name"
tables = 2

[schema.mall.table.product]
kind = "reference"
"#;

/// The proxy before four shards, each with copies of the rows that its other half owns: as two shards
/// that were doubled.
fn on_dirty_shards(load: impl Fn(&mut Both), test: impl Fn(&mut Both)) {
    with_cluster(|cluster| {
        for protocol in [Protocol::Text, Protocol::Prepared] {
            for (server, database) in (0..4).map(|number| cluster.shard(number)) {
                let anew = [format!("DROP DATABASE `{database}`"), format!("CREATE DATABASE `{database}`")];
                server.run(&anew).expect("emptied");
            }
            cluster.servers()[0]
                .run(&["DROP DATABASE mall", "CREATE DATABASE mall", "DROP TABLE IF EXISTS bifold.meta"])
                .expect("emptied");
            cluster.set_tables(TABLES).expect("written");
            cluster.set_more("[meta]\nserver = \"s0\"\n").expect("written");
            load(&mut both(cluster, protocol));
            make_dirty(cluster);
            test(&mut both(cluster, protocol));
        }
        cluster.set_more("").expect("written");
    });
}

fn both(cluster: &mut Cluster, protocol: Protocol) -> Both {
    let proxy = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
    let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
    let server = &cluster.servers()[0];
    Both::new((server.port(), proxy), login, server.flavour(), protocol)
}

fn make_dirty(cluster: &Cluster) {
    for shard in 0..2 {
        let (server, one) = cluster.shard(shard);
        let (_, other) = cluster.shard(shard + 2);
        for table in ["orders", "coin", "person", "named"] {
            for subtable in 0..2 {
                let copy = |from: &str, to: &str| {
                    format!("INSERT IGNORE INTO {to}.{table}_{subtable:04} SELECT * FROM {from}.{table}_{subtable:04}")
                };
                server.run(&[copy(&one, &other), copy(&other, &one)]).expect("copied");
            }
        }
    }
    let dirty = "UPDATE bifold.meta SET value = REPLACE(value, '\"dirty\":false', '\"dirty\":true') WHERE name = 'bifold/layout'";
    cluster.servers()[0].run(&[dirty]).expect("the layout is dirty");
    let rows = cluster.servers()[0].run(&["SELECT value FROM bifold.meta WHERE name = 'bifold/layout'"]).expect("kept");
    assert!(rows[0][0].as_ref().is_some_and(|value| value.contains("\"dirty\":true")), "{rows:?}");
}

fn load(both: &mut Both) {
    both.run(
        "CREATE TABLE orders (order_id BIGINT PRIMARY KEY, uid BIGINT NOT NULL, amount INT, product INT, KEY (uid))",
    );
    both.run("CREATE TABLE coin (uid BIGINT PRIMARY KEY, n INT NOT NULL)");
    both.run("CREATE TABLE person (uid BIGINT PRIMARY KEY, email VARCHAR(50) UNIQUE, n INT NOT NULL DEFAULT 0)");
    both.run("CREATE TABLE named (name VARCHAR(30) COLLATE utf8mb4_general_ci PRIMARY KEY, n INT) CHARSET utf8mb4");
    both.run("CREATE TABLE product (id INT PRIMARY KEY, title VARCHAR(20))");
    both.run("INSERT INTO product VALUES (1, 'one'), (2, 'two')");
    for uid in 0..60 {
        order(both, &format!("({}, {uid}, {}, {})", uid + 1000, uid * 7 % 31, uid % 3));
        both.run(&format!("INSERT INTO coin VALUES ({}, {uid})", uid - 30));
        both.run(&format!("INSERT INTO person VALUES ({uid}, 'p{uid}@x', {uid})"));
        both.run(&format!("INSERT INTO named VALUES ('Käte{uid}', {uid})"));
    }
}

/// With an id given: the proxy tells it, a server without AUTO_INCREMENT does not.
fn order(both: &mut Both, row: &str) {
    both.each(&format!("INSERT INTO orders VALUES {row}"));
}

#[test]
fn rows_that_a_shard_no_longer_owns_are_not_seen() {
    on_dirty_shards(load, |both| {
        for table in ["orders", "coin", "person", "named"] {
            both.run(&format!("SELECT COUNT(*) FROM {table}"));
        }
        both.run("SELECT * FROM orders ORDER BY order_id");
        both.run("SELECT o.amount, o.uid FROM orders o WHERE o.amount > 10 ORDER BY o.uid LIMIT 7");
        both.run("SELECT SUM(n), MIN(n), MAX(uid) FROM coin WHERE n < 50");
        both.run(
            "SELECT o.order_id, p.title FROM orders o LEFT JOIN product p ON p.id = o.product ORDER BY o.order_id",
        );
        both.run("SELECT name, n FROM named WHERE n IN (3, 4, 5) ORDER BY name");
        both.run("SELECT * FROM orders WHERE uid IN (1, 2, 3, 4, 5, 6) ORDER BY uid");
        both.run("SELECT COUNT(*), SUM(o.amount) FROM orders o JOIN coin c ON c.n = o.amount WHERE o.amount > 3");
        both.run(
            "SELECT uid, (SELECT COUNT(*) FROM named) FROM orders WHERE uid IN (SELECT uid FROM coin) ORDER BY uid",
        );
        both.run("SELECT amount FROM orders WHERE uid = 5");
        both.run("SELECT product, COUNT(*), AVG(amount) FROM orders GROUP BY product ORDER BY product");
        both.run("SELECT COUNT(DISTINCT uid) FROM orders");
        both.run(
            "SELECT p.n, o.amount FROM person p LEFT JOIN orders o ON o.uid = p.uid AND o.amount > 10 ORDER BY p.n, o.amount",
        );
        both.run("SELECT uid FROM person WHERE uid IN (SELECT uid FROM orders WHERE amount > 20) ORDER BY uid");
        both.run("SELECT uid FROM person WHERE n < 3 UNION ALL SELECT uid FROM coin WHERE n > 57 ORDER BY uid");
        both.run("SELECT order_id FROM orders WHERE order_id = 1007");
    });
}

#[test]
fn changes_over_many_places_leave_them_alone() {
    on_dirty_shards(load, |both| {
        both.run("UPDATE orders SET amount = amount + 1");
        both.run("UPDATE orders o SET o.amount = 5 WHERE o.amount > 20 OR o.amount = 3");
        both.run("UPDATE coin SET n = n + 1 WHERE n IN (3, 40) OR n > 55");
        both.run("UPDATE orders SET amount = amount + 1 ORDER BY uid LIMIT 9");
        both.run("UPDATE orders SET amount = 7 WHERE amount > 2 OR uid < 9 ORDER BY uid DESC LIMIT 3");
        both.run("UPDATE orders SET amount = amount + 1 ORDER BY uid");
        both.run("SELECT uid, amount FROM orders ORDER BY uid");
        both.refused("UPDATE coin SET uid = uid + 1", "until the doubled databases are cleaned");
        both.run("DELETE FROM orders WHERE amount = 5 OR uid = 9");
        both.run("DELETE FROM named WHERE n % 2 = 0");
        both.run("UPDATE person SET n = n + 1 ORDER BY uid LIMIT 9");
        both.run("DELETE FROM person WHERE n > 20 ORDER BY uid DESC LIMIT 5");
        both.run("SELECT * FROM person ORDER BY uid");
        both.refused("UPDATE person SET uid = 200 WHERE uid = 4", "until the doubled databases are cleaned");
        both.refused("UPDATE orders SET order_id = 2000 WHERE uid = 4", "until the doubled databases are cleaned");
        both.run("DELETE FROM coin");
        both.run("INSERT INTO coin VALUES (5, 1), (6, 2), (-7, 3), (12, 4)");
        both.run("SELECT * FROM orders ORDER BY order_id");
        both.run("SELECT * FROM coin ORDER BY uid");
        both.run("SELECT * FROM named ORDER BY n");
    });
}

#[test]
fn they_block_nothing_and_come_back_with_nothing() {
    on_dirty_shards(load, |both| {
        // A row leaves its new home; its id and address come back under a key of the old one.
        for uid in 0..20 {
            both.run(&format!("DELETE FROM person WHERE uid = {uid}"));
            both.run(&format!("DELETE FROM orders WHERE uid = {uid}"));
        }
        both.run("SELECT COUNT(*) FROM person");
        for uid in 0..20 {
            let other = 100 + (uid * 7) % 20;
            match uid % 5 {
                0 => both.run(&format!("INSERT INTO person VALUES ({other}, 'p{uid}@x', 1)")),
                1 => both.run(&format!("INSERT IGNORE INTO person VALUES ({other}, 'p{uid}@x', 2)")),
                2 => both.run(&format!("REPLACE INTO person VALUES ({other}, 'p{uid}@x', 3)")),
                3 => both.run(&format!(
                    "INSERT INTO person VALUES ({other}, 'p{uid}@x', 4) ON DUPLICATE KEY UPDATE n = n + 100"
                )),
                _ => both.run(&format!("UPDATE person SET email = 'p{uid}@x' WHERE uid = {}", 40 + uid)),
            };
            both.run("BEGIN");
            order(both, &format!("({}, {other}, 1, 1)", uid + 1000));
            both.run(if uid % 2 == 0 { "COMMIT" } else { "ROLLBACK" });
        }
        both.run("SELECT * FROM person ORDER BY uid");
        both.run("SELECT * FROM orders ORDER BY order_id");
        // A live row with the value is a true duplicate.
        both.run("INSERT INTO person VALUES (59, 'p59@x', 1)");
    });
}
