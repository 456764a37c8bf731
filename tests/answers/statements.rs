//! Statements of one place, the same on one plain server and through the proxy.

use crate::common::{Answer, Both, Mask, Param, differences, on_each_server};
use bifold::lab::Flavour;

const TABLES: &str = r#"
[schema.mall.table]
orders = { key = "uid", tables = 4 }
item = { key = "uid", tables = 4, id = "item_id" }
member = { key = "name", tables = 4 }
folk = { key = "name", tables = 4 }
daily = { key = "day", tables = 4 }
product = { kind = "reference" }
bill = { key = "uid", tables = 4, id = { column = "bill_id", carries_key = true } }
counter = { key = "uid", tables = 4, id = "id" }
post = { key = "id", tables = 4, id = "id" }
"#;

const CREATE: &[&str] = &[
    "CREATE TABLE orders (order_id INT NOT NULL, uid BIGINT NOT NULL, amount INT, note VARCHAR(40), \
     PRIMARY KEY (uid, order_id), KEY k (amount))",
    "CREATE TABLE item (item_id BIGINT NOT NULL AUTO_INCREMENT, uid BIGINT NOT NULL, order_id INT, \
     title VARCHAR(40), PRIMARY KEY (item_id), KEY (uid))",
    "CREATE TABLE member (name VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, age INT, uid BIGINT)",
    "CREATE TABLE folk (name VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL PRIMARY KEY, age INT)",
    "CREATE TABLE daily (day DATE NOT NULL PRIMARY KEY, n INT)",
    "CREATE TABLE product (sku INT NOT NULL PRIMARY KEY, title VARCHAR(40), uid BIGINT)",
    "CREATE TABLE bill (bill_id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL, total DECIMAL(10,2))",
    "CREATE TABLE counter (id BIGINT NOT NULL AUTO_INCREMENT, uid BIGINT NOT NULL, n INT NOT NULL DEFAULT 1, \
     PRIMARY KEY (id), UNIQUE KEY (uid))",
    "CREATE TABLE post (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, title VARCHAR(40), at TIMESTAMP NULL)",
    "CREATE TABLE setting (name VARCHAR(40) NOT NULL PRIMARY KEY, v VARCHAR(40))",
];

const FILL: &[&str] = &[
    "INSERT INTO orders VALUES (1, 5, 10, 'a'), (2, 5, 20, 'b'), (3, 5, NULL, NULL), (1, 6, 30, 'c'), (1, -7, 40, 'd')",
    "INSERT INTO item (item_id, uid, order_id, title) VALUES (101, 5, 1, 'pen'), (102, 5, 1, 'ink'), (103, 5, 2, 'pen'), (104, 6, 1, 'cup')",
    "INSERT INTO member VALUES ('ann', 30, 5), ('Bob', 40, 6), ('ünal', 50, 5)",
    "INSERT INTO folk VALUES ('ann', 30), ('Bob', 40), ('ünal', 50)",
    "INSERT INTO daily VALUES ('2024-02-03', 1), ('2024-02-04', 2)",
    "INSERT INTO product VALUES (1, 'pen', 5), (10, 'ink', 6), (20, 'cup', 5)",
    "INSERT INTO setting VALUES ('a', '1'), ('b', 'x')",
];

fn prepare(both: &mut Both) {
    for sql in CREATE.iter().chain(FILL) {
        both.each(sql);
    }
}

/// Runs all of them, and tells every difference at once.
#[track_caller]
fn all(both: &mut Both, statements: &[&str]) {
    all_masked(both, statements, &Mask::default());
}

#[track_caller]
fn all_masked(both: &mut Both, statements: &[&str], mask: &Mask) {
    let mut different = Vec::new();
    for sql in statements {
        let (plain, proxied) = both.answers(sql, &[]);
        let found = differences(sql, &plain, &proxied, mask);
        if !found.is_empty() {
            different.push(format!("{sql}\n    {}", found.join("\n    ")));
            if std::env::var_os("ANSWERS").is_some() {
                different.push(format!("plain {plain:#?}\nproxied {proxied:#?}"));
            }
        }
    }
    assert!(different.is_empty(), "{} {:?}:\n{}", both.flavour, both.protocol, different.join("\n"));
}

#[test]
fn selects_by_key() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT * FROM orders WHERE uid = 5 ORDER BY order_id",
                "SELECT * FROM orders WHERE uid = '5'",
                "SELECT * FROM orders WHERE uid = ' 5'",
                "SELECT * FROM orders WHERE uid = 5.0",
                "SELECT * FROM orders WHERE uid = 5e0",
                "SELECT * FROM orders WHERE uid = 05",
                "SELECT * FROM orders WHERE uid = -7",
                "SELECT * FROM orders WHERE uid = '-7'",
                "SELECT * FROM orders WHERE uid = 0x05",
                "SELECT * FROM orders WHERE uid = TRUE",
                "SELECT * FROM orders WHERE uid = NULL",
                "SELECT * FROM orders WHERE uid <=> 5",
                "SELECT * FROM orders WHERE 5 = uid AND amount > 10",
                "SELECT * FROM orders WHERE uid = 99",
                "SELECT * FROM orders WHERE uid IN (5)",
                "SELECT * FROM orders WHERE uid IN (5, '5', 5.0)",
                "SELECT * FROM orders WHERE (uid, order_id) = (5, 2)",
                "SELECT * FROM orders WHERE (order_id, uid) IN ((1, 5), (2, 5))",
                "SELECT * FROM orders WHERE uid = 5 OR uid = 5",
                "SELECT COUNT(*), SUM(amount), AVG(amount), MAX(note) FROM orders WHERE uid = 5",
                "SELECT COUNT(*) FROM orders WHERE uid = 98",
                "SELECT amount, COUNT(*) c FROM orders WHERE uid = 5 GROUP BY amount WITH ROLLUP",
                "SELECT DISTINCT note FROM orders WHERE uid = 5 ORDER BY note DESC LIMIT 2",
                "SELECT * FROM orders WHERE uid = 5 ORDER BY order_id LIMIT 1 OFFSET 1",
                "SELECT * FROM orders WHERE uid = 5 ORDER BY order_id LIMIT 1, 2",
                "SELECT SQL_NO_CACHE STRAIGHT_JOIN * FROM orders WHERE uid = 5",
                "SELECT * FROM member WHERE name = 'ann'",
                "SELECT * FROM member WHERE name = 'ANN'",
                "SELECT * FROM member WHERE name = 'ünal'",
                "SELECT * FROM member WHERE name = 'ann '",
                "SELECT * FROM folk WHERE name = 'ANN'",
                "SELECT * FROM folk WHERE name = 'unal'",
                "SELECT * FROM folk WHERE name = 'bob  '",
                "SELECT * FROM daily WHERE day = '2024-02-03'",
                "SELECT * FROM daily WHERE day = DATE '2024-02-04'",
                "SELECT * FROM orders WHERE uid = 5 FOR UPDATE",
                "SELECT * FROM orders WHERE uid = 5 LOCK IN SHARE MODE",
            ],
        );
    });
}

#[test]
fn names_in_every_spelling() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT mall.orders.uid, orders.amount, note FROM mall.orders WHERE mall.orders.uid = 5",
                "SELECT mall.orders.amount + 1 FROM mall.orders WHERE mall.orders.uid = 5",
                "SELECT mall.orders.* FROM mall.orders WHERE uid = 5",
                "SELECT orders.* FROM orders WHERE uid = 5",
                "SELECT o.* FROM orders AS o WHERE o.uid = 5",
                "SELECT `o`.`uid` FROM `mall`.`orders` `o` WHERE `o`.`uid` = 5",
                "SELECT UID, oRdEr_Id FROM orders WHERE Uid = 5",
                "SELECT /* c1 */ uid /* c2 */ FROM orders /* c3 */ WHERE uid = 5 -- the end",
                "SELECT uid FROM orders WHERE uid = 5 # the end",
                "SELECT uid FROM orders WHERE uid = 5;",
                "SELECT /*! STRAIGHT_JOIN */ uid FROM orders WHERE uid = 5",
                "SELECT * FROM orders USE INDEX (k) WHERE uid = 5",
                "SELECT * FROM orders o FORCE INDEX (PRIMARY) WHERE uid = 5",
                "SELECT uid AS 'a key', amount \"an amount\" FROM orders WHERE uid = 5",
                "SELECT (uid), ((orders.amount)), -amount, amount*2 FROM orders WHERE uid = 5",
                "SELECT nothing FROM orders WHERE uid = 5",
                "SELECT orders.nothing FROM orders WHERE uid = 5",
                "SELECT x.uid FROM orders WHERE uid = 5",
                "SELECT * FROM nowhere",
                "SELECT * FROM mall.nowhere WHERE uid = 5",
                "SELECT * FROM orders JOIN nowhere USING (uid) WHERE uid = 5",
                "SELECT uid FROM orders o WHERE orders.amount = 5 AND uid = 5",
                "SELECT * FROM setting",
                "SELECT setting.name, mall.setting.v FROM mall.setting WHERE setting.name = 'a'",
                "SELECT * FROM product WHERE sku = 10",
                "TABLE setting ORDER BY name",
            ],
        );
        both.each("SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')");
        all(
            both,
            &[
                "SELECT \"uid\", 'uid' FROM \"orders\" WHERE \"uid\" = 5",
                "SELECT \"mall\".\"orders\".\"uid\" + 1 FROM orders WHERE uid = 5",
            ],
        );
    });
}

#[test]
fn joins_and_subqueries_that_stay_in_a_place() {
    on_each_server(TABLES, |both| {
        prepare(both);
        // The id column is no AUTO_INCREMENT column of the servers: its flags differ.
        all_masked(
            both,
            &[
                "SELECT * FROM orders o JOIN item i ON o.uid = i.uid AND o.order_id = i.order_id WHERE o.uid = 5",
                "SELECT * FROM orders o, item i WHERE o.uid = i.uid AND i.uid = 5",
                "SELECT * FROM orders JOIN item USING (uid, order_id) WHERE uid = 5",
                "SELECT * FROM orders NATURAL JOIN item WHERE orders.uid = 5",
                "SELECT * FROM orders o LEFT JOIN item i ON o.uid = i.uid AND o.order_id = i.order_id WHERE o.uid = 5",
                "SELECT * FROM orders o LEFT JOIN item i ON o.uid = i.uid AND i.title = 'cup' WHERE o.uid = 5",
                "SELECT * FROM orders o LEFT JOIN item i ON o.uid = i.uid AND i.title = 'cup' WHERE i.uid = 5",
                "SELECT * FROM item i RIGHT JOIN orders o ON o.uid = i.uid AND i.title = 'pen' WHERE o.uid = 5",
                "SELECT * FROM orders o LEFT JOIN item i ON i.uid = 5 AND i.order_id = o.order_id WHERE o.uid = 5",
                "SELECT * FROM orders a JOIN orders b ON a.uid = b.uid AND a.amount < b.amount WHERE b.uid = 5",
                "SELECT * FROM orders o JOIN product p ON p.sku = o.amount WHERE o.uid = 5",
                "SELECT * FROM product p LEFT JOIN orders o ON o.amount = p.sku AND o.uid = 5",
                "SELECT * FROM product p LEFT JOIN orders o ON o.amount = p.sku AND o.uid = p.uid WHERE p.uid = 5",
                "SELECT * FROM product JOIN setting ON sku = v",
                "SELECT * FROM (SELECT uid, COUNT(*) c FROM orders WHERE uid = 5 GROUP BY uid) d JOIN item i ON i.uid = d.uid",
                "WITH mine AS (SELECT * FROM orders WHERE uid = 5) SELECT * FROM mine m LEFT JOIN item i ON i.uid = m.uid AND i.order_id = m.order_id",
                "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r LEFT JOIN orders ON order_id = n AND uid = 5",
                "SELECT * FROM orders o WHERE o.uid = 5 AND EXISTS (SELECT 1 FROM item i WHERE i.uid = o.uid AND i.order_id = o.order_id)",
                "SELECT * FROM orders WHERE uid = 5 AND NOT EXISTS (SELECT 1 FROM item WHERE item.uid = orders.uid AND item.order_id = orders.order_id)",
                "SELECT * FROM orders WHERE uid = 5 AND order_id IN (SELECT order_id FROM item WHERE item.uid = orders.uid)",
                "SELECT order_id, (SELECT COUNT(*) FROM item i WHERE i.uid = o.uid AND i.order_id = o.order_id) FROM orders o WHERE uid = 5",
                "SELECT (SELECT mall.orders.amount FROM mall.orders WHERE uid = 5 AND order_id = 2)",
                "SELECT * FROM setting WHERE v = (SELECT MIN(order_id) FROM orders WHERE uid = 6)",
                "SELECT amount FROM orders WHERE uid = 5 UNION SELECT order_id FROM item WHERE uid = 5 ORDER BY 1",
                "(SELECT amount FROM orders WHERE uid = 5 LIMIT 1) UNION ALL (SELECT 7) ORDER BY 1",
                "SELECT uid, RANK() OVER (ORDER BY amount) FROM orders WHERE uid = 5",
                "SELECT * FROM orders o WHERE uid = 5 AND amount = (SELECT MAX(amount) FROM orders WHERE uid = o.uid)",
                "SELECT * FROM orders WHERE uid = 5 HAVING amount > 10 ORDER BY amount",
            ],
            &Mask::default().and_metadata(),
        );
    });
}

#[test]
fn session_values_are_those_of_one_server() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all_masked(
            both,
            &[
                "SELECT DATABASE(), SCHEMA()",
                "SELECT DATABASE() AS d, CONCAT(SCHEMA(), '.x')",
                "SELECT DATABASE(), uid FROM orders WHERE uid = 5",
            ],
            &Mask::default(),
        );
        all_masked(
            both,
            &["SELECT USER(), CURRENT_USER(), CURRENT_USER, SESSION_USER(), SYSTEM_USER()"],
            &Mask::default(),
        );
        all_masked(both, &["SELECT CONNECTION_ID()"], &Mask::columns(&["CONNECTION_ID()"]));
        all_masked(
            both,
            &[
                "SELECT LAST_INSERT_ID(), @@last_insert_id, @@identity",
                "SELECT ROW_COUNT()",
                "UPDATE orders SET amount = amount + 1 WHERE uid = 5",
                "SELECT ROW_COUNT()",
                "SELECT * FROM orders WHERE uid = 5",
                "SELECT FOUND_ROWS()",
                "SELECT SQL_CALC_FOUND_ROWS * FROM orders WHERE uid = 5 ORDER BY order_id LIMIT 1",
                "SELECT FOUND_ROWS() AS f",
                "SELECT 1 FROM orders WHERE ROW_COUNT() = -1 AND uid = 5 AND LAST_INSERT_ID() = 0",
                "SELECT LAST_INSERT_ID() + 1, ROW_COUNT() + 1",
            ],
            &Mask::default(),
        );
    });
}

#[test]
fn rows_go_in_by_every_form() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "INSERT INTO orders VALUES (9, 5, 1, 'x')",
                "INSERT orders (uid, order_id) VALUES (5, 10)",
                "INSERT INTO mall.orders (orders.uid, mall.orders.order_id, note) VALUE (5, 11, 'it''s')",
                "INSERT INTO orders SET uid = 5, order_id = 12, amount = order_id + 1",
                "INSERT INTO orders (uid, order_id, note) VALUES (5, 13, DATABASE()), (5, 14, CONCAT(DATABASE(), 'x'))",
                "INSERT INTO orders (uid, order_id) VALUES (5, 9)",
                "INSERT IGNORE INTO orders (uid, order_id) VALUES (5, 9), (5, 15)",
                "INSERT INTO orders (uid, order_id, amount) VALUES (5, 9, 3) ON DUPLICATE KEY UPDATE amount = VALUES(amount) + orders.amount",
                "INSERT INTO orders (uid, order_id, amount) VALUES (5, 9, 3), (5, 16, 4) ON DUPLICATE KEY UPDATE mall.orders.amount = 77",
                "REPLACE INTO orders (uid, order_id, amount) VALUES (5, 9, 4)",
                "REPLACE orders SET uid = 5, order_id = 9, amount = 5",
                "INSERT INTO orders VALUES (17, 8, 1, 'p'), (17, 9, 2, 'q'), (18, 8, 3, 'r')",
                "INSERT INTO orders (uid) VALUES (5, 6)",
                "INSERT INTO orders (uid, nothing) VALUES (5, 6)",
                "INSERT INTO orders (uid, uid) VALUES (5, 6)",
                "INSERT INTO orders (uid, order_id) VALUES (NULL, 6)",
                "INSERT INTO orders (uid, order_id) VALUES (5, 'x')",
                "INSERT INTO orders (uid, order_id, note) VALUES (5, 20, REPEAT('x', 50))",
                "INSERT INTO orders SELECT order_id + 50, uid, amount, note FROM orders WHERE uid = 5",
                "INSERT INTO orders (uid, order_id) SELECT 5, 200",
                "INSERT INTO member VALUES ('eve', 1, 2), ('bär', 2, 3)",
                "INSERT INTO daily VALUES ('2024-03-01', 3)",
                "INSERT INTO setting VALUES ('c', DATABASE()), ('d', USER())",
                "INSERT INTO setting SET setting.name = 'e' ON DUPLICATE KEY UPDATE mall.setting.v = setting.name",
                "INSERT INTO setting (name, v) SELECT 'f', COUNT(*) FROM product",
                "INSERT INTO product (sku, title) VALUES (30, 'bag'), (31, 'hat')",
                "SELECT * FROM orders WHERE uid = 5 ORDER BY order_id",
                "SELECT * FROM orders WHERE uid = 8 ORDER BY order_id",
                "SELECT * FROM orders WHERE uid = 9 ORDER BY order_id",
                "SELECT * FROM member WHERE name = 'bär'",
                "SELECT * FROM setting ORDER BY name",
                "SELECT * FROM product ORDER BY sku",
            ],
        );
        if both.flavour == Flavour::MariaDb {
            all(both, &["INSERT INTO orders (uid, order_id) VALUES (5, 300) RETURNING uid, orders.order_id + 1"]);
        } else {
            all(
                both,
                &[
                    "INSERT INTO orders (uid, order_id, amount) VALUES (5, 9, 4) AS new ON DUPLICATE KEY UPDATE amount = new.amount + orders.amount",
                ],
            );
        }
    });
}

#[test]
fn ids_are_made_where_they_are_missing() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all_masked(
            both,
            &[
                "INSERT INTO item (uid, title) VALUES (5, 'one')",
                "SELECT LAST_INSERT_ID() > 0",
                "INSERT INTO item VALUES (NULL, 5, 1, 'two'), (0, 5, 1, 'three'), (DEFAULT, 5, 1, 'four')",
                "SELECT title FROM item WHERE uid = 5 AND item_id IN (LAST_INSERT_ID(), LAST_INSERT_ID() + 1, LAST_INSERT_ID() + 2) ORDER BY item_id",
                "INSERT INTO item (uid, title) VALUES (5, 'a'), (6, 'b'), (7, 'c'), (5, 'd')",
                "SELECT title FROM item WHERE uid = 6 AND item_id = LAST_INSERT_ID() + 1",
                "SELECT title FROM item WHERE uid = 5 AND item_id = LAST_INSERT_ID() + 3",
                "INSERT INTO item SET uid = 5, title = 'five'",
                "INSERT INTO item SET item_id = NULL, uid = 5, title = 'six'",
                "REPLACE INTO item (uid, title) VALUES (5, 'seven')",
                "INSERT INTO item (uid, order_id, title) VALUES (5, LAST_INSERT_ID() > 0, 'eight')",
                "SELECT title, order_id FROM item WHERE uid = 5 ORDER BY item_id",
            ],
            &Mask::ids(&[]),
        );
        all(both, &["INSERT INTO item (item_id, uid, title) VALUES (9999999999999999, 5, 'given')", "SELECT 1"]);
        let protocol = both.protocol;
        both.run_masked(
            "INSERT INTO item (uid, title) VALUES (?, ?)",
            &[Param::Int(5), Param::Text("p".into())],
            &Mask::ids(&[]),
        );
        both.run_masked(
            "INSERT INTO item (item_id, uid, title) VALUES (?, ?, ?), (?, ?, ?)",
            &[Param::Null, Param::Int(5), Param::Text("q".into()), Param::Null, Param::Int(6), Param::Text("r".into())],
            &Mask::ids(&[]),
        );
        both.run("SELECT title FROM item WHERE uid = 6 ORDER BY item_id");
        let text = |text: &str| Param::Text(text.into());
        both.run_with(
            "INSERT INTO orders VALUES (?, 5, 1, ?), (61, 6, 1, ?), (62, ?, 1, 'x'), (63, 8, ?, NULL)",
            &[Param::Int(60), text("a"), text("b"), Param::Int(7), Param::Int(9)],
        );
        both.run("SELECT * FROM orders WHERE uid = 8");
        // Keys on both servers, beside a table that is on the first one only.
        for uid in 5..9 {
            let (plain, proxied) = both.answers(
                &format!(
                    "SELECT note FROM orders WHERE uid = {uid} AND amount NOT IN (SELECT v FROM setting) AND note <> ?"
                ),
                &[text("x")],
            );
            match proxied.as_slice() {
                [Answer::Err(error)] if error.code == 1235 => {}
                // Which conditions meet a row first, and so what they warn of, is the server's affair.
                answers => {
                    let mut found = differences("", &plain, answers, &Mask::default().and_metadata());
                    found.retain(|difference| !difference.starts_with("warnings: "));
                    assert_eq!(found, [""; 0]);
                }
            }
        }
        assert_eq!(protocol, both.protocol);
    });
}

#[test]
fn rows_are_changed_and_deleted() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "UPDATE orders SET amount = amount + 1 WHERE uid = 5",
                "UPDATE orders SET amount = amount WHERE uid = 5",
                "UPDATE orders AS o SET o.amount = 1 WHERE o.uid = 5 AND o.order_id = 1",
                "UPDATE mall.orders SET mall.orders.note = 'n' WHERE mall.orders.uid = 5",
                "UPDATE orders SET note = 'z' WHERE uid = 5 ORDER BY order_id DESC LIMIT 1",
                "UPDATE orders SET note = (SELECT title FROM product WHERE sku = 1) WHERE uid = 5 AND order_id = 2",
                "UPDATE orders SET note = (SELECT MAX(title) FROM item WHERE item.uid = orders.uid) WHERE uid = 5 AND order_id = 2",
                "UPDATE orders o JOIN item i ON i.uid = o.uid SET o.note = i.title, i.title = 'used' WHERE o.uid = 5 AND i.item_id = 101",
                "UPDATE orders o JOIN product p ON p.sku = o.amount SET o.note = p.title WHERE o.uid = 5",
                "UPDATE setting SET v = DATABASE() WHERE setting.name = 'a'",
                "UPDATE product SET title = 'pens' WHERE sku = 1",
                "UPDATE orders SET amount = 0 WHERE note = 'c'",
                "UPDATE orders SET amount = 3 WHERE uid IN (5, 6, 7)",
                "UPDATE orders SET nothing = 1 WHERE uid = 5",
                "UPDATE nowhere SET a = 1",
                "SELECT * FROM orders WHERE uid = 5 ORDER BY order_id",
                "SELECT * FROM orders WHERE uid = 6 ORDER BY order_id",
                "DELETE FROM orders WHERE uid = 5 AND order_id = 1",
                "DELETE FROM orders WHERE orders.uid = 5 AND mall.orders.order_id = 2",
                "DELETE FROM orders WHERE uid = 5 ORDER BY order_id LIMIT 1",
                "DELETE o FROM orders o JOIN item i ON i.uid = o.uid WHERE o.uid = 6",
                "DELETE orders, item FROM orders JOIN item ON orders.uid = item.uid WHERE orders.uid = 6",
                "DELETE FROM item USING item JOIN product ON product.title = item.title WHERE item.uid = 5",
                "DELETE FROM mall.item WHERE uid = 5 AND order_id IN (SELECT amount FROM orders WHERE orders.uid = item.uid)",
                "DELETE FROM item WHERE title = 'pen'",
                "DELETE FROM product WHERE sku = 1",
                "DELETE FROM daily",
                "SELECT uid, order_id, title FROM item WHERE uid = 5 ORDER BY item_id",
                "SELECT * FROM product ORDER BY sku",
                "SELECT * FROM daily WHERE day = '2024-02-03'",
            ],
        );
        for (sql, words) in [
            ("INSERT INTO orders (order_id, uid) VALUES (1, 1 + 1)", "exactly"),
            ("INSERT INTO orders (order_id, uid) VALUES (1, 42.5)", "exactly"),
            ("INSERT INTO orders (order_id) VALUES (1)", "sharding key"),
            ("INSERT INTO orders (order_id, uid) VALUES (1, 5) ON DUPLICATE KEY UPDATE uid = 6", "sharding key"),
            ("SELECT amount FROM orders LIMIT 1 FOR UPDATE", "a locking read"),
        ] {
            both.refused(sql, words);
        }
    });
}

#[test]
fn ids_that_carry_the_place_find_it_again() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all_masked(
            both,
            &[
                "INSERT INTO bill (uid, total) VALUES (5, 1.50)",
                "SELECT uid, total FROM bill WHERE bill_id = LAST_INSERT_ID()",
                "UPDATE bill SET total = total + 1 WHERE bill_id = LAST_INSERT_ID()",
                "SELECT uid, total FROM bill WHERE uid = 5",
                "INSERT INTO bill (uid, total) VALUES (6, 2.50), (7, 3.50)",
                "SELECT uid, total FROM bill WHERE bill_id = LAST_INSERT_ID() AND uid = 6",
                "DELETE FROM bill WHERE bill_id = LAST_INSERT_ID()",
                "SELECT uid, total FROM bill WHERE uid = 6",
                "INSERT INTO post (title) VALUES ('one')",
                "SELECT title FROM post WHERE id = LAST_INSERT_ID()",
                "INSERT INTO post (title, at) VALUES ('two', NOW()), ('three', NOW())",
                "SELECT title FROM post WHERE id = LAST_INSERT_ID()",
                "INSERT INTO post () VALUES ()",
                "SELECT title FROM post WHERE id = LAST_INSERT_ID()",
                "INSERT INTO post SET title = 'four'",
                "UPDATE post SET title = 'five' WHERE id = LAST_INSERT_ID()",
                "SELECT title FROM post WHERE id = LAST_INSERT_ID()",
            ],
            &Mask::ids(&[]),
        );
        both.refused("INSERT INTO bill (bill_id, uid) VALUES (3, 5)", "does not carry");
    });
}

#[test]
fn upserts_count_and_tell_the_touched_row() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all_masked(
            both,
            &[
                "INSERT INTO counter (uid) VALUES (5) ON DUPLICATE KEY UPDATE n = n + 1",
                "INSERT INTO counter (uid) VALUES (5) ON DUPLICATE KEY UPDATE n = n + 1, id = LAST_INSERT_ID(id)",
                "SELECT n FROM counter WHERE uid = 5 AND id = LAST_INSERT_ID()",
                "INSERT INTO counter (uid, n) VALUES (5, 7) ON DUPLICATE KEY UPDATE n = IF(n IN (1, 2), VALUES(n), n)",
                "INSERT INTO counter (uid, n) VALUES (5, 7) ON DUPLICATE KEY UPDATE n = n",
                "INSERT INTO counter (uid, n) VALUES (5, 8), (6, 9), (7, 10) ON DUPLICATE KEY UPDATE n = n + VALUES(n)",
                "SELECT n FROM counter WHERE uid = 5",
                "SELECT n FROM counter WHERE uid = 6",
                "REPLACE INTO counter (uid, n) VALUES (5, 1)",
                "SELECT n FROM counter WHERE uid = 5",
                "UPDATE counter SET n = LAST_INSERT_ID(n + 41) WHERE uid = 5",
                "SELECT LAST_INSERT_ID()",
            ],
            &Mask::ids(&[]),
        );
    });
}

#[test]
fn literals_in_other_character_sets() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT age FROM member WHERE name = _utf8mb4'ann'",
                "SELECT age FROM member WHERE name = _latin1'ann'",
                "SELECT age FROM member WHERE name = _latin1 X'FC6E616C'",
                "SELECT age FROM member WHERE name = N'ann'",
                "SELECT age FROM member WHERE name = 'a' 'nn'",
                "SELECT age FROM member WHERE name = 'a\\nn'",
                "SET NAMES latin1",
                "SELECT age FROM member WHERE name = 'ann'",
                "SELECT age FROM member WHERE name = _utf8mb4'ann'",
                "INSERT INTO member (name, age) VALUES ('z', 1)",
                "SET NAMES utf8mb4",
                "SELECT age FROM member WHERE name = 'z'",
            ],
        );
    });
}

#[test]
fn rows_of_split_inserts_are_called_by_their_numbers() {
    on_each_server(TABLES, |both| {
        prepare(both);
        for sql in [
            "INSERT IGNORE INTO orders VALUES (1, 21, 1, 'a'), (1, 22, 99999999999, REPEAT('x', 50)), (1, 23, 2, 'c'), (1, 24, 'x', 'd')",
            "INSERT IGNORE INTO orders VALUES (1, 25, 99999999999, 'a'), (2, 25, 1, 'b'), (1, 26, 1, REPEAT('x', 50)), (3, 25, 'x', 'd')",
            "REPLACE INTO orders VALUES (1, 31, 1, 'a'), (1, 32, 1, 'b'), (1, 33, 1, REPEAT('x', 50))",
            "INSERT INTO orders VALUES (1, 31, 1, 'a'), (1, 32, 1, REPEAT('x', 50)), (1, 33, 99999999999, 'b'), (1, 31, 'y', 'b')",
        ] {
            let mut found = Vec::new();
            let (plain, proxied) = both.answers(sql, &[]);
            found.extend(differences(sql, &plain, &proxied, &Mask::default()));
            let (plain, proxied) = both.answers("SHOW WARNINGS", &[]);
            found.extend(differences("SHOW WARNINGS /* ORDER BY */", &plain, &proxied, &Mask::default()));
            assert!(found.is_empty(), "{} {:?}: {sql}\n{}", both.flavour, both.protocol, found.join("\n"));
        }
        both.run("INSERT INTO orders (order_id, uid) VALUES (1, NULL)");
        both.refused("INSERT INTO orders (order_id, uid) VALUES (1, NULL), (1, 5)", "NULL for uid");
        both.refused("INSERT IGNORE INTO orders (order_id, uid) VALUES (1, NULL)", "NULL for uid");
    });
}

#[test]
fn what_was_said_before_an_error_and_how_texts_are_cut() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "INSERT INTO bill (bill_id, uid, total) VALUES (DEFAULT, NULL, 1.234)",
                "UPDATE orders SET amount = amount + 1, note = REPEAT('x', 50) WHERE uid = 5",
                "SHOW WARNINGS",
                "SELECT note FROM orders WHERE uid = 5 AND ; ",
                "SELECT no_such(1) FROM orders WHERE uid = 5",
                "SELECT note FROM orders WHERE uid = = 5 AND note <> '0123456789 0123456789 0123456789 0123456789 0123456789 ä'",
                "SELECT note FROM orders WHERE uid = = 5 AND note <> '0123456789 0123456789 0123456789 0123456789 0日日日日日日'",
                "SELECT note FROM orders WHERE uid = = 5 AND note <> '0123456789 0123456789 0123456789 0123456789 0123456😀'",
                "SET NAMES latin1",
                "SELECT 1 + 'x'",
                "SHOW WARNINGS",
                "COMMIT",
                "SHOW WARNINGS",
                "SELECT 1",
                "SHOW WARNINGS",
                "SET @x = 1, autocommit = 1",
                "DO 1",
                "SHOW WARNINGS",
                "SELECT 1 + 'y'",
                "LOCK TABLES setting READ",
                "UNLOCK TABLES",
                "SHOW WARNINGS",
                "SELECT * FROM orders WHERE uid = 5 AND GROUP",
                "SHOW WARNINGS",
            ],
        );
    });
}
