//! Writes over many places: after each statement not only its reply is one server's, but the rows
//! are too.

use crate::common::{Answer, Both, Mask, Param, on_each_server};

const TABLES: &str = r#"
[schema.mall.table]
coin = { key = "uid", tables = 4 }
wide = { key = "name", tables = 4, unique_per_place = true }
order = { key = "uid", tables = 4, id = { column = "id", carries_key = true } }
item = { key = "uid", tables = 4, unique_per_place = true, id = "id" }
loose = { key = "uid", tables = 4 }
label = { kind = "reference" }
"#;

fn prepare(both: &mut Both) {
    both.each(
        "CREATE TABLE coin (uid BIGINT NOT NULL, no INT NOT NULL, coins INT NOT NULL DEFAULT 0, note VARCHAR(20), \
         PRIMARY KEY (uid, no), KEY by_coins (coins))",
    );
    both.each("CREATE TABLE loose (uid BIGINT NOT NULL, v INT)");
    both.each("CREATE TABLE label (k INT NOT NULL PRIMARY KEY, title VARCHAR(20))");
    both.each("CREATE TABLE plain (k INT NOT NULL PRIMARY KEY, v INT)");
    both.each("INSERT INTO label VALUES (1, 'one'), (2, 'two'), (3, 'three')");
    let rows: Vec<String> =
        (0..60).map(|n| format!("({}, {}, {}, 'n{}')", n * 37 % 50, n, n * 7 % 60, n % 4)).collect();
    both.each(&format!("INSERT INTO coin VALUES {}", rows.join(", ")));
    both.each("INSERT INTO loose VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)");
}

/// The statement's reply, what the session says of it afterwards, and the rows of the table.
#[track_caller]
fn same(both: &mut Both, sql: &str, params: &[Param], table: &str) {
    // Which row an error names first may differ: rows come in another order.
    both.run_masked(sql, params, &Mask::default());
    both.run("SELECT ROW_COUNT()");
    both.run(&format!("SELECT * FROM {table}"));
}

#[track_caller]
fn all(both: &mut Both, table: &str, statements: &[&str]) {
    for sql in statements {
        same(both, sql, &[], table);
    }
}

#[test]
fn limit_takes_the_rows_that_one_server_takes() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            "coin",
            &[
                "UPDATE coin SET note = 'first' ORDER BY coins LIMIT 7",
                "UPDATE coin SET coins = coins + 100 ORDER BY coins DESC, no LIMIT 5",
                "UPDATE coin AS c SET c.note = CONCAT(c.note, '!') WHERE c.coins > 20 ORDER BY c.coins LIMIT 4",
                "UPDATE coin SET note = 'first' ORDER BY coins LIMIT 7",
                "UPDATE mall.coin SET note = 'x' WHERE mall.coin.no > 10 ORDER BY mall.coin.no LIMIT 3",
                "UPDATE coin SET note = 'nobody' WHERE coins < 0 ORDER BY coins LIMIT 3",
                "UPDATE coin SET note = 'nobody' ORDER BY coins LIMIT 0",
                "UPDATE coin SET note = DATABASE() WHERE note = (SELECT 'n1' FROM label WHERE k = 1) ORDER BY no LIMIT 2",
                "UPDATE coin SET no = no + 1000 ORDER BY no DESC LIMIT 10",
                "UPDATE coin SET note = 'few' WHERE uid IN (1, 2, 3, 4, 37) ORDER BY no LIMIT 2",
                "UPDATE coin SET note = 'one' WHERE uid = 37 ORDER BY no LIMIT 1",
                "UPDATE coin SET note = 'all' WHERE coins > 3 ORDER BY no LIMIT 1000",
                "UPDATE coin SET note = 'sorted' WHERE coins > 40 ORDER BY no DESC",
                "DELETE FROM coin WHERE coin.coins > 5 ORDER BY coin.coins, coin.no LIMIT 6",
                "DELETE FROM coin WHERE mall.coin.coins > 5 ORDER BY no LIMIT 1",
                "DELETE FROM coin ORDER BY no DESC LIMIT 3",
                "DELETE FROM coin WHERE coins < 0 ORDER BY no LIMIT 3",
                "DELETE FROM coin WHERE uid IN (1, 2, 3, 4, 37) ORDER BY no LIMIT 2",
                "DELETE FROM coin WHERE coins > 30 ORDER BY no",
                "UPDATE coin SET nothing = 1 ORDER BY no LIMIT 3",
                "UPDATE coin SET coins = 'much' ORDER BY no LIMIT 1",
                "SET sql_mode = ''",
            ],
        );
        // Rows are counted in each place.
        both.run_masked("UPDATE coin SET coins = 'much' ORDER BY no LIMIT 2", &[], &Mask::columns(&["Message"]));
        both.run("SELECT * FROM coin");
        for count in [0, 2, 100] {
            let params = [Param::Int(3), Param::Text("n2".into()), Param::Int(count)];
            same(both, "UPDATE coin SET coins = ? WHERE note <> ? ORDER BY no LIMIT ?", &params, "coin");
        }
    });
}

#[test]
fn limit_without_an_order_takes_as_many_rows() {
    on_each_server(TABLES, |both| {
        prepare(both);
        for sql in [
            "UPDATE coin SET note = 'some' LIMIT 9",
            "UPDATE coin SET note = 'more' WHERE note = 'some' LIMIT 100",
            "DELETE FROM coin LIMIT 9",
            "DELETE FROM coin LIMIT 1000",
        ] {
            both.run(sql);
            both.run("SELECT COUNT(*) FROM coin");
            both.run("SELECT COUNT(*) FROM coin WHERE note IN ('some', 'more')");
        }
    });
}

#[test]
fn rows_that_nothing_tells_apart_are_not_chosen() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.refused("UPDATE loose SET v = 1 LIMIT 2", "needs a primary key");
        both.refused("DELETE FROM loose ORDER BY v LIMIT 2", "needs a primary key");
        both.refused("DELETE FROM coin ORDER BY coins + 1 LIMIT 2", "can be ordered by columns");
        both.run("SELECT * FROM loose");
    });
}

#[test]
fn statements_over_all_places_are_undone_alone() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.run("BEGIN");
        both.run("UPDATE coin SET coins = 1 WHERE uid = 37");
        all(both, "coin", &["UPDATE coin SET note = 'all'", "UPDATE coin SET coins = coins + 1 ORDER BY no LIMIT 9"]);
        let mask = Mask::default().and_error_text();
        for sql in [
            "UPDATE coin SET coins = 3000000000",
            "UPDATE coin SET coins = 3000000000 ORDER BY no LIMIT 5",
            "UPDATE coin SET no = 1",
        ] {
            // Several subtables may each meet an error first.
            both.run_masked(sql, &[], &mask);
            both.run("SELECT * FROM coin");
        }
        both.run("SAVEPOINT a");
        all(
            both,
            "coin",
            &["DELETE FROM coin WHERE coins > 5 ORDER BY no LIMIT 6", "ROLLBACK TO a", "DELETE FROM coin"],
        );
        all(both, "coin", &["ROLLBACK", "SET autocommit = 0", "DELETE FROM coin ORDER BY no LIMIT 6", "ROLLBACK"]);
        all(both, "coin", &["UPDATE coin SET note = 'kept'", "COMMIT", "SET autocommit = 1", "ROLLBACK"]);
    });
}

#[test]
fn what_many_places_warn_of_is_told() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.run("SET sql_mode = ''");
        let shown = Mask::columns(&["Message"]);
        for sql in
            ["UPDATE coin SET note = 'much longer than twenty letters' WHERE no < 9", "DELETE FROM coin WHERE note = 5"]
        {
            both.run_masked(sql, &[], &shown);
            both.run("SELECT * FROM coin");
        }
        both.run("UPDATE IGNORE coin SET coins = 5 WHERE no < 9");
    });
}

#[test]
fn a_changed_key_takes_its_row_along() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            "coin",
            &[
                "UPDATE coin SET uid = 37 WHERE uid = 37",
                "UPDATE coin SET uid = 1001 WHERE uid = 37",
                "SELECT no FROM coin WHERE uid = 1001 ORDER BY no",
                "SELECT no FROM coin WHERE uid = 37",
                "UPDATE coin SET uid = 1002, note = 'moved' WHERE coins > 30",
                "UPDATE coin SET uid = '1003' WHERE uid = 1002 AND no < 30",
                "UPDATE coin SET uid = uid + 5000 WHERE no > 20",
                "UPDATE coin SET coins = uid, uid = coins + 100000 WHERE no < 10",
                "UPDATE coin SET uid = 7 ORDER BY no LIMIT 5",
                "UPDATE coin SET uid = uid * 2, no = no + 500 ORDER BY no DESC LIMIT 5",
                "UPDATE coin SET uid = 9 WHERE uid = 123456789",
                "UPDATE coin SET uid = -5 WHERE uid = 7",
                "UPDATE coin SET uid = (SELECT k FROM label WHERE title = 'two') WHERE uid = -5",
                "BEGIN",
                "UPDATE coin SET uid = 4242 WHERE no > 0",
                "UPDATE coin SET uid = 4243 WHERE uid = 4242",
                "ROLLBACK",
                "SELECT uid, no FROM coin WHERE uid = 4243",
            ],
        );
        for (new, old) in [(77, 2), (78, 77), (78, 78), (79, 12345)] {
            let params = [Param::Int(new), Param::Int(old)];
            same(both, "UPDATE coin SET uid = ? WHERE uid = ?", &params, "coin");
        }
        // Taken already
        both.each("DELETE FROM coin");
        both.each("INSERT INTO coin (uid, no) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 2)");
        all(both, "coin", &["UPDATE coin SET uid = 2 WHERE uid = 1", "UPDATE coin SET uid = 5 WHERE uid = 3"]);
        all(both, "coin", &["BEGIN", "UPDATE coin SET coins = 1", "UPDATE coin SET uid = 2 WHERE uid = 1", "COMMIT"]);
        both.refused("UPDATE IGNORE coin SET uid = 2 WHERE uid = 1", "Leave IGNORE out");
        both.refused(
            "INSERT INTO coin (uid, no) VALUES (1, 1) ON DUPLICATE KEY UPDATE uid = 9",
            "is the sharding key of table coin",
        );
        both.run("SELECT * FROM coin");
    });
}

#[test]
fn rows_of_all_types_are_carried_as_they_are() {
    on_each_server(TABLES, |both| {
        both.each(
            "CREATE TABLE wide (name VARCHAR(20) COLLATE utf8mb4_general_ci NOT NULL, id BIGINT NOT NULL, \
             ti TINYINT, bu BIGINT UNSIGNED, iz INT(8) ZEROFILL, d DECIMAL(30,10), f FLOAT, db DOUBLE, bt BIT(40), \
             y YEAR, dt DATE, dtm DATETIME(6), ts TIMESTAMP(3) NULL, tm TIME(6), l1 VARCHAR(20) CHARACTER SET latin1, \
             tx TEXT, bi BINARY(4), bl BLOB, e ENUM('z','a','m'), st SET('x','y','b'), j JSON, \
             g INT GENERATED ALWAYS AS (ti + 1) STORED, \
             changed TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00', PRIMARY KEY (id), KEY (name))",
        );
        both.each("SET time_zone = 'SYSTEM', sql_mode = 'NO_AUTO_VALUE_ON_ZERO'");
        both.each(
            "INSERT INTO wide (name, id, ti, bu, iz, d, f, db, bt, y, dt, dtm, ts, tm, l1, tx, bi, bl, e, st, j) VALUES \
             ('ann', 0, -128, 18446744073709551615, 42, -1.0000000001, 1.1, 1.7976931348623157e308, b'1011', 1999, \
              '0000-00-00', '2024-02-29 01:02:03.456789', '2024-10-27 02:30:00.125', '-838:59:58.5', 'ä€', 'it''s \\\\ \\n', \
              X'00FF', X'0001FF', 'm', 'x,b', '{\"a\": [1, 2.5, \"ü\"]}'), \
             ('Bob', 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
              NULL, NULL), \
             ('zoë', 6, 127, 0, 0, 0, 3.4e38, 5e-324, 0, 2155, '9999-12-31', '0000-00-00 00:00:00', '0000-00-00 00:00:00', \
              '00:00:00', '', '', '', '', '', '', 'null')",
        );
        all(
            both,
            "wide",
            &[
                "UPDATE wide SET name = 'carl' WHERE name = 'ann'",
                "UPDATE wide SET name = CONCAT(name, '-', id)",
                "UPDATE wide SET name = UPPER(name)",
                "SET time_zone = '-08:00'",
                "UPDATE wide SET name = 'x', ti = 1 WHERE id = 0",
                "SET sql_mode = DEFAULT",
                "UPDATE wide SET name = REVERSE(name)",
                "UPDATE wide SET name = 'dora ' ORDER BY id LIMIT 2",
                "SELECT id FROM wide WHERE name = 'DORA'",
            ],
        );
    });
}

#[test]
fn a_row_stays_where_its_id_leads() {
    on_each_server(TABLES, |both| {
        both.each("CREATE TABLE `order` (id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, v INT)");
        let id = |both: &mut Both| {
            let answers = both.proxied.query("INSERT INTO `order` (uid, v) VALUES (5, 1)");
            let [Answer::Ok(ok)] = answers.as_slice() else { panic!("{answers:?}") };
            ok.insert_id
        };
        let id = id(both);
        let ok = |both: &mut Both, sql: &str| {
            let answers = both.proxied.query(sql);
            assert!(matches!(answers.as_slice(), [Answer::Ok(_)]), "{sql}: {answers:?}");
        };
        both.refused("UPDATE `order` SET uid = 6 WHERE uid = 5", "carries the place of its row");
        both.refused(&format!("UPDATE `order` SET uid = 6 WHERE id = {id}"), "carries the place of its row");
        both.refused("UPDATE `order` SET uid = uid + 1 WHERE uid = 5", "carries the place of its row");
        ok(both, "UPDATE `order` SET uid = 5, v = 2 WHERE uid = 5");
        ok(both, &format!("UPDATE `order` SET uid = 5, v = 3 WHERE id = {id}"));
        let rows = both.proxied.query(format!("SELECT uid, v FROM `order` WHERE id = {id}"));
        let [Answer::Rows(set)] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!(set.rows, [[Some(b"5".to_vec()), Some(b"3".to_vec())]]);
    });
}

#[test]
fn rows_of_a_query_go_from_anywhere_to_anywhere() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.each(
            "CREATE TABLE item (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL, title VARCHAR(20), UNIQUE KEY (uid, title))",
        );
        both.each("INSERT INTO plain VALUES (1, 10), (2, 20), (3, 30)");
        for (table, sql) in [
            ("coin", "INSERT INTO coin (uid, no, coins) SELECT uid + 1000, no, coins FROM coin WHERE coins > 30"),
            ("coin", "INSERT INTO coin SELECT uid, no + 100, coins, note FROM coin ORDER BY no LIMIT 5"),
            ("coin", "INSERT INTO coin SELECT k, v, k + v, 'plain' FROM plain"),
            ("coin", "INSERT INTO coin (coins, uid, no) SELECT 1, k, 7777 FROM label WHERE k > 1"),
            ("coin", "INSERT INTO coin (uid, no) SELECT 37, no + 5000 FROM coin WHERE uid = 37"),
            ("coin", "INSERT INTO coin (uid, no) SELECT uid, no FROM coin WHERE no < 3"),
            ("coin", "INSERT IGNORE INTO coin (uid, no) SELECT uid, no FROM coin WHERE no < 9"),
            ("coin", "REPLACE INTO coin (uid, no, note) SELECT uid, no, 'replaced' FROM coin WHERE coins < 20"),
            (
                "coin",
                "INSERT INTO coin (uid, no, coins) SELECT uid, no, 5 FROM coin WHERE no < 9 \
                 ON DUPLICATE KEY UPDATE coins = VALUES(coins) + 1, note = 'met'",
            ),
            (
                "coin",
                "INSERT INTO coin (uid, no, coins) SELECT k, 7777, v FROM plain \
                 ON DUPLICATE KEY UPDATE coins = coin.coins + VALUES(coins)",
            ),
            ("coin", "INSERT INTO coin (uid, no) SELECT k, k FROM plain WHERE k < 0"),
            ("plain", "INSERT INTO plain SELECT no + 1000, coins FROM coin WHERE coins > 40"),
            ("plain", "INSERT INTO plain (k) SELECT no + 9000 FROM coin WHERE uid = 37"),
            ("plain", "INSERT INTO plain SELECT k + 100, v FROM plain"),
            ("label", "INSERT INTO label SELECT no + 100, note FROM coin WHERE no < 10"),
            ("label", "INSERT INTO label SELECT k + 1000, v FROM plain WHERE k < 3"),
            ("label", "REPLACE INTO label SELECT k, 'again' FROM label WHERE k < 3"),
            ("coin", "INSERT INTO coin (uid, no) SELECT uid FROM coin"),
            ("coin", "INSERT INTO coin (uid, nothing) SELECT uid, no FROM coin"),
            (
                "coin",
                "INSERT INTO coin (uid, no, note) SELECT uid, no + 70000, 'much longer than twenty letters' FROM coin",
            ),
            ("coin", "INSERT INTO coin (uid, no) SELECT uid, COUNT(*) + 100000 FROM coin GROUP BY uid"),
            ("coin", "BEGIN"),
            ("coin", "INSERT INTO coin (uid, no) SELECT uid + 1, no + 200000 FROM coin"),
            ("coin", "INSERT INTO coin (uid, no) SELECT uid, no FROM coin WHERE no > 200000"),
            ("coin", "ROLLBACK"),
        ] {
            // Which of several duplicates is met first is a matter of order.
            both.run_masked(sql, &[], &Mask::default().and_error_text().and_order());
            both.run("SELECT ROW_COUNT()");
            both.run(&format!("SELECT * FROM {table}"));
        }
        let params = [Param::Int(5), Param::Text("bound".into()), Param::Int(30)];
        same(
            both,
            "INSERT INTO coin (uid, no, note) SELECT uid, no + 300000 + ?, ? FROM coin WHERE coins > ?",
            &params,
            "coin",
        );
        // Ids are made for rows that leave them out.
        let ids = Mask::ids(&["id"]);
        both.run_masked("INSERT INTO item (uid, title) SELECT k, title FROM label WHERE k < 4", &[], &ids);
        both.run("SELECT uid, title FROM item");
        both.run("SELECT COUNT(*) FROM item WHERE id > 0");
    });
}

#[test]
fn queries_keep_their_values_on_the_way() {
    const KINDS: &str = r#"
[schema.mall.table]
kinds = { key = "id", tables = 4 }
copy = { key = "id", tables = 4 }
"#;
    on_each_server(KINDS, |both| {
        let columns = "id BIGINT NOT NULL PRIMARY KEY, ti TINYINT, bu BIGINT UNSIGNED, iz INT(8) ZEROFILL, d DECIMAL(30,10), \
             db DOUBLE, bt BIT(40), y YEAR, dt DATE, dtm DATETIME(6), ts TIMESTAMP(3) NULL, tm TIME(6), \
             l1 VARCHAR(20) CHARACTER SET latin1, tx TEXT, bi BINARY(4), bl BLOB, e ENUM('z','a','m'), st SET('x','y','b'), \
             j JSON";
        both.each(&format!("CREATE TABLE kinds ({columns})"));
        both.each(&format!("CREATE TABLE copy ({columns})"));
        both.each(
            "INSERT INTO kinds VALUES \
             (1, -128, 18446744073709551615, 42, -1.0000000001, 1.7976931348623157e308, b'1011', 1999, '2024-02-29', \
              '2024-02-29 01:02:03.456789', '2024-10-27 02:30:00.125', '-838:59:58.5', 'ä', 'it''s \\\\ \\n€', X'00FF', X'0001FF', \
              'm', 'x,b', '{\"a\": [1, 2.5, \"ü\"]}'), \
             (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), \
             (3, 127, 0, 0, 0, 5e-324, 0, 2155, '9999-12-31', '1000-01-01', '1971-01-01', '00:00:00', '', '', '', '', 'z', '', \
              'null')",
        );
        all(
            both,
            "copy",
            &[
                "INSERT INTO copy SELECT * FROM kinds",
                "INSERT INTO copy (id, ti, d, tx) SELECT id + 10, dt IS NULL, dt, dtm FROM kinds WHERE id = 1 OR id > 1",
                "INSERT INTO copy (id, tx, bl) SELECT id + 20, bl, tx FROM kinds WHERE id IN (2, 3)",
                "INSERT INTO copy (id, db, bu) SELECT id + 30, d, dt FROM kinds WHERE id > 0",
                "INSERT INTO copy (id, tx) SELECT id + 40, e FROM kinds WHERE id > 0",
                "INSERT INTO copy (id, tx) SELECT id + 50, bt + 0 FROM kinds WHERE id > 0",
            ],
        );
        both.refused("INSERT INTO copy (id, ti) SELECT id + 60, e FROM kinds WHERE id > 0", "an ENUM for a number");
        both.each("SET NAMES latin1");
        both.refused("INSERT INTO copy (id, tx) SELECT id + 70, tx FROM kinds WHERE id > 0", "SET NAMES utf8mb4");
    });
}

#[test]
fn reference_tables_get_the_home_shards_rows() {
    const COUNTED: &str = r#"
[schema.mall.table]
counted = { kind = "reference" }
label = { kind = "reference" }
bare = { kind = "reference" }
coin = { key = "uid", tables = 4 }
"#;
    on_each_server(COUNTED, |both| {
        both.each(
            "CREATE TABLE counted (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, title VARCHAR(20) UNIQUE, n INT, f FLOAT)",
        );
        both.each("CREATE TABLE label (k VARCHAR(20) NOT NULL PRIMARY KEY, n INT)");
        both.each("CREATE TABLE bare (n INT)");
        both.each("CREATE TABLE coin (uid BIGINT NOT NULL PRIMARY KEY, v INT)");
        both.each("INSERT INTO label VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4)");
        let coins: Vec<String> = (0..40).map(|uid| format!("({uid}, {})", uid % 9 + 1)).collect();
        both.each(&format!("INSERT INTO coin VALUES {}", coins.join(", ")));
        for sql in [
            "INSERT INTO counted (title) VALUES ('one')",
            "INSERT INTO counted (title, n, f) VALUES ('two', 2, 1.1), ('three', 3, 2.3)",
            "INSERT INTO counted SET title = 'four'",
            "INSERT INTO counted VALUES (NULL, 'five', 5, NULL), (0, 'six', 6, NULL)",
            "INSERT INTO counted VALUES (20, 'twenty', 20, NULL), (NULL, 'next', 21, NULL)",
            "INSERT INTO counted (title) VALUES ('two')",
            "INSERT IGNORE INTO counted (title) VALUES ('two'), ('seven')",
            "INSERT INTO counted (title, n) VALUES ('two', 22), ('eight', 8) ON DUPLICATE KEY UPDATE n = VALUES(n)",
            "REPLACE INTO counted (title, n) VALUES ('three', 33)",
            "UPDATE counted SET n = n + 1 ORDER BY id DESC LIMIT 2",
            "DELETE FROM counted ORDER BY id LIMIT 1",
            "UPDATE label SET n = n + 100 ORDER BY n LIMIT 2",
            "UPDATE label SET k = UPPER(k) ORDER BY k DESC LIMIT 3",
            "DELETE FROM label LIMIT 0",
            "BEGIN",
            "INSERT INTO counted (title) VALUES ('in a transaction')",
            "INSERT INTO counted (title) VALUES ('in a transaction')",
            "UPDATE label SET n = 0 LIMIT 4",
            "ROLLBACK",
            "INSERT INTO counted (title) VALUES ('after it')",
        ] {
            let mask = if sql.contains("VALUES(n)") { Mask::default().and_order() } else { Mask::default() };
            both.run_masked(sql, &[], &mask);
            both.run("SELECT ROW_COUNT()");
            both.run("SELECT LAST_INSERT_ID()");
            both.run("SELECT * FROM counted ORDER BY id");
            both.run("SELECT * FROM label ORDER BY n");
            // Each place asks the copy on its own shard.
            both.run("SELECT c.uid, t.title, t.n, t.f FROM coin c JOIN counted t ON t.id = c.v");
            both.run("SELECT c.uid, l.k FROM coin c JOIN label l ON l.n = c.v");
        }
        both.each("SET @n = 7");
        both.run("INSERT INTO label VALUES ('x', @n)");
        both.run("SELECT c.uid, l.k FROM coin c JOIN label l ON l.n = c.v");
        // What is made by chance is the same on all shards.
        both.each("UPDATE counted SET title = LEFT(UUID(), 18), n = RAND() * 1000000");
        let count = "SELECT COUNT(*) FROM coin c JOIN counted t ON t.id = c.v WHERE t.n = (SELECT n FROM counted u WHERE u.id = t.id)";
        both.run(count);
        both.refused("DELETE FROM bare LIMIT 1", "say which with WHERE");
        both.refused("INSERT INTO counted (title) VALUES (@t := 'x')", "with a variable");
    });
}
