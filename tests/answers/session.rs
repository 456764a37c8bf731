//! Statements about the session: transactions, SET, USE, SHOW, EXPLAIN, as on one MySQL.

use crate::common::{
    Answer, Both, Cell, Mask, Protocol, bifold_program, on_each_server, on_each_server_by, with_cluster,
};

const TABLES: &str = r#"
[schema.mall.table.orders]
key = "uid"
tables = 4

[schema.mall.table.product]
kind = "reference"
"#;

fn set_up(both: &mut Both) {
    both.each("CREATE TABLE orders (uid BIGINT NOT NULL, no INT NOT NULL, note VARCHAR(20), PRIMARY KEY (uid, no))");
    both.each("CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(20))");
    both.each("CREATE TABLE setting (id INT PRIMARY KEY, v VARCHAR(20))");
    both.each("INSERT INTO orders VALUES (5, 1, 'a')");
    both.each("INSERT INTO setting VALUES (1, 'x'), (2, 'y')");
}

fn with_tables(test: impl Fn(&mut Both)) {
    on_each_server(TABLES, |both| {
        set_up(both);
        test(both);
    });
}

/// Each runs alike on both sides.
fn all(both: &mut Both, statements: &[&str]) {
    for statement in statements {
        both.run(statement);
    }
}

#[test]
fn transactions_begin_end_and_go_on_alike() {
    with_tables(|both| {
        all(
            both,
            &[
                "BEGIN",
                "UPDATE orders SET note = 'b' WHERE uid = 5",
                "SELECT note FROM orders WHERE uid = 5",
                "ROLLBACK",
                "SELECT note FROM orders WHERE uid = 5",
                "START TRANSACTION",
                "UPDATE orders SET note = 'c' WHERE uid = 5",
                "COMMIT",
                "SELECT note FROM orders WHERE uid = 5",
                "START TRANSACTION READ ONLY",
                "UPDATE orders SET note = 'd' WHERE uid = 5",
                "COMMIT AND CHAIN",
                "UPDATE orders SET note = 'd' WHERE uid = 5",
                "ROLLBACK",
                "UPDATE orders SET note = 'e' WHERE uid = 5",
                "BEGIN WORK",
                "DELETE FROM orders WHERE uid = 5",
                "BEGIN",
                "ROLLBACK",
                "SELECT COUNT(*) FROM orders WHERE uid = 5",
                "COMMIT",
                "START TRANSACTION WITH CONSISTENT SNAPSHOT",
                "SELECT * FROM setting",
                "ROLLBACK AND CHAIN",
                "COMMIT AND NO CHAIN",
            ],
        );
    });
}

#[test]
fn savepoints_are_kept_and_lost_alike() {
    with_tables(|both| {
        all(
            both,
            &[
                "SAVEPOINT nowhere",
                "ROLLBACK TO nowhere",
                "RELEASE SAVEPOINT nowhere",
                "BEGIN",
                "SAVEPOINT a",
                "INSERT INTO orders VALUES (5, 2, 'p')",
                "SAVEPOINT b",
                "INSERT INTO orders VALUES (5, 3, 'q')",
                "ROLLBACK TO SAVEPOINT B",
                "SELECT no FROM orders WHERE uid = 5 ORDER BY no",
                "ROLLBACK TO a",
                "SELECT no FROM orders WHERE uid = 5 ORDER BY no",
                "ROLLBACK TO b",
                "SAVEPOINT `we``ird`",
                "RELEASE SAVEPOINT `we``ird`",
                "RELEASE SAVEPOINT `we``ird`",
                "RELEASE SAVEPOINT a",
                "COMMIT",
                "ROLLBACK TO a",
                "SET autocommit = 0",
                "SAVEPOINT c",
                "INSERT INTO orders VALUES (5, 4, 'r')",
                "ROLLBACK TO c",
                "SELECT no FROM orders WHERE uid = 5 ORDER BY no",
                "ROLLBACK",
                "SET autocommit = 1",
            ],
        );
    });
}

#[test]
fn autocommit_is_followed_in_every_spelling() {
    with_tables(|both| {
        all(
            both,
            &[
                "SET autocommit = 0",
                "SELECT @@autocommit, @@session.autocommit",
                "UPDATE orders SET note = 'f' WHERE uid = 5",
                "ROLLBACK",
                "SELECT note FROM orders WHERE uid = 5",
                "UPDATE orders SET note = 'g' WHERE uid = 5",
                "SET autocommit = 1",
                "ROLLBACK",
                "SELECT note FROM orders WHERE uid = 5",
                "SET @@autocommit = OFF, @x = 1",
                "SELECT @@autocommit, @x",
                "SET SESSION autocommit = DEFAULT",
                "SELECT @@autocommit",
                "SET autocommit = 'off'",
                "SET @old = @@autocommit, autocommit = 1",
                "SELECT @old, @@autocommit",
                "SET autocommit = @old",
                "SELECT @@autocommit",
                "SET autocommit = TRUE",
                "SET autocommit = 2",
                "SET autocommit = -1",
                "SET autocommit = 1.0",
                "SET autocommit = '1'",
                "SET autocommit = NULL",
                "SET autocommit = nonsense",
                "SET autocommit = @nothing",
                "SET @b = 7, autocommit = 'wrong'",
                "SELECT @@autocommit",
            ],
        );
    });
}

#[test]
fn variables_are_set_and_read_back() {
    with_tables(|both| {
        all(
            both,
            &[
                "SET @a = 1, @b = @a + 1, @c := 'text', @d = 1.50, @e = 1e0, @f = NULL, @g = X'00ff', @h = _utf8mb4'ä'",
                "SELECT @A, CHARSET(@h), COLLATION(@c)",
            ],
        );
        // The type of a variable that is NULL is not brought over.
        both.run_masked("SELECT @a, @b, @c, @d, @e, @f, @g, @h", &[], &Mask::default().and_metadata());
        all(
            both,
            &[
                "SET @a = @a + 5",
                "SELECT @a",
                "SET @n = (SELECT note FROM orders WHERE uid = 5)",
                "SELECT @n",
                "SET sql_mode = ''",
                "SELECT @@sql_mode",
                "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')",
                "SELECT @@sql_mode",
                "SET sql_mode = 'ANSI'",
                "SELECT \"note\" FROM \"orders\" WHERE uid = 5",
                "SET sql_mode = DEFAULT",
                "SELECT @@sql_mode",
                "SET time_zone = '+05:00'",
                "SELECT @@time_zone",
                "SET timestamp = 1000000000",
                "SELECT NOW(), UNIX_TIMESTAMP()",
                "SET timestamp = 0",
                "SELECT NOW() > '2020-01-01'",
                "SET timestamp = 1000000000, @z = 1",
                "SET timestamp = DEFAULT",
                "SELECT NOW() > '2020-01-01'",
                "SET sql_select_limit = 1",
                "SELECT id FROM setting ORDER BY id",
                "SET sql_select_limit = DEFAULT",
                "SELECT id FROM setting ORDER BY id",
                "SET nosuch = 1",
                "SET @@session.nosuch = 1",
                "SET sql_mode = 'nosuch'",
                "SET @k = 5, nosuch = 1",
                "SELECT @k",
                "SET max_connections = 1",
                "SET version = 'x'",
                "SET wait_timeout = 100, net_read_timeout = 20",
                "SELECT @@wait_timeout, @@net_read_timeout",
                "SET foreign_key_checks = OFF",
                "SELECT @@foreign_key_checks",
                "SET LOCAL unique_checks = 0, @@local.foreign_key_checks = 1",
                "SELECT @@unique_checks, @@foreign_key_checks",
                "SET sql_auto_is_null = 0",
                "/*!40101 SET @OLD_SQL_MODE = @@SQL_MODE, SQL_MODE = 'NO_AUTO_VALUE_ON_ZERO' */",
                "SELECT @@sql_mode",
                "/*!40101 SET SQL_MODE = @OLD_SQL_MODE */",
                "SELECT @@sql_mode",
            ],
        );
    });
}

#[test]
fn character_sets_are_set_in_every_form() {
    with_tables(|both| {
        let shown = "SELECT @@character_set_client, @@character_set_results, @@character_set_connection, @@collation_connection";
        for statement in [
            "SET NAMES utf8mb4",
            "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'",
            "SET NAMES latin1",
            "SET NAMES DEFAULT",
            "SET CHARACTER SET utf8mb4",
            "SET CHARSET latin1",
            "SET character_set_results = NULL",
            "SET NAMES utf8mb4, @x = 1",
            "SET collation_connection = utf8mb4_bin",
            "SET character_set_connection = latin1",
            "SET NAMES nosuch",
            "SET NAMES utf8mb4 COLLATE latin1_bin",
            "SET NAMES ucs2",
            "SET CHARACTER SET nosuch",
            "SET NAMES binary",
            "SET NAMES utf8mb4",
        ] {
            both.run(statement);
            // Whether results are sent in the collation named or in the default one is not kept.
            both.run_masked(shown, &[], &Mask::default().and_metadata());
        }
    });
}

#[test]
fn isolation_is_of_the_session_or_of_the_next_transaction() {
    with_tables(|both| {
        let variable = match both.flavour {
            bifold::lab::Flavour::MySql => "transaction_isolation",
            bifold::lab::Flavour::MariaDb => "tx_isolation",
        };
        let shown = format!("SELECT @@{variable}");
        for statement in [
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SELECT * FROM setting",
            "SET TRANSACTION READ ONLY",
            "INSERT INTO setting VALUES (9, 'z')",
            "INSERT INTO setting VALUES (9, 'z')",
            "SET TRANSACTION READ ONLY",
            "BEGIN",
            "INSERT INTO setting VALUES (10, 'z')",
            "SET TRANSACTION READ WRITE",
            "COMMIT",
            "INSERT INTO setting VALUES (10, 'z')",
        ] {
            both.run(statement);
            both.run(&shown);
        }
        both.run(&format!("SET {variable} = 'SERIALIZABLE'"));
        both.run(&shown);
        both.run(&format!("SET @@{variable} = 'READ-COMMITTED'"));
        both.run(&shown);
        both.run("SELECT * FROM setting");
        both.run(&format!("SET @@{variable} = 'nonsense'"));
        both.run(&shown);
    });
}

#[test]
fn last_insert_id_can_be_set() {
    with_tables(|both| {
        let shown = Mask::default().and_metadata();
        both.run("SET last_insert_id = 5");
        both.run_masked("SELECT LAST_INSERT_ID(), @@last_insert_id, @@identity", &[], &shown);
        both.run("SET identity = 6, @x = 1");
        both.run_masked("SELECT LAST_INSERT_ID(), @x", &[], &shown);
        all(both, &["SET last_insert_id = 'a'", "SET last_insert_id = DEFAULT"]);
    });
}

#[test]
fn schemas_are_used_and_denied() {
    with_tables(|both| {
        all(both, &["USE mall", "USE nosuch", "USE mysql", "USE mall_0"]);
        both.run_masked("SELECT DATABASE()", &[], &Mask::default().and_metadata());
    });
}

#[test]
fn tables_are_shown_with_logical_names() {
    with_tables(|both| {
        all(
            both,
            &[
                "SHOW TABLES",
                "SHOW FULL TABLES",
                "SHOW TABLES FROM mall LIKE 'o%'",
                "SHOW TABLES LIKE 'O%'",
                "SHOW FULL TABLES LIKE '%s%'",
                "SHOW TABLES WHERE Tables_in_mall LIKE 'prod%'",
                "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE' AND Tables_in_mall LIKE 'p%'",
                "SHOW TABLES FROM mysql",
                "SHOW CREATE TABLE setting",
                "SHOW CREATE TABLE orders",
                "SHOW CREATE TABLE mall.product",
                "SHOW CREATE TABLE nosuch",
                "SHOW CREATE TABLE orders_0001",
                "SHOW CREATE TABLE mall_0.orders_0001",
                "SHOW COLUMNS FROM orders",
                "SHOW FULL COLUMNS FROM orders FROM mall",
                "SHOW FIELDS IN setting LIKE 'v%'",
                "SHOW COLUMNS FROM orders WHERE Field = 'uid'",
                "SHOW COLUMNS FROM orders_0000",
                "DESCRIBE orders",
                "DESC product name",
                "EXPLAIN setting",
                "DESCRIBE nosuch",
            ],
        );
        let guessed = Mask::columns(&["Cardinality"]);
        for statement in
            ["SHOW INDEX FROM orders", "SHOW KEYS FROM orders WHERE Key_name = 'PRIMARY'", "SHOW INDEX FROM nosuch"]
        {
            both.run_masked(statement, &[], &guessed);
        }
    });
}

#[test]
fn definitions_lose_physical_names_and_keep_what_looks_like_one() {
    with_tables(|both| {
        both.each(
            "CREATE TABLE setting2 (id INT PRIMARY KEY, v VARCHAR(60) DEFAULT 'REFERENCES `orders_0000`' \
             COMMENT 'CREATE TABLE `mall_0`.`orders_0000`', CONSTRAINT big CHECK (id > 0)) COMMENT 'of mall_0'",
        );
        both.run("SHOW CREATE TABLE setting2");
        both.run("SHOW FULL COLUMNS FROM setting2");
        both.each("ALTER TABLE orders ADD CONSTRAINT much CHECK (no > 0), COMMENT = 'like orders_0000'");
        both.run("SHOW CREATE TABLE orders");
        both.run("SET sql_mode = 'ANSI_QUOTES'");
        both.run("SHOW CREATE TABLE orders");
        both.run("SET sql_quote_show_create = 0");
        both.run("SHOW CREATE TABLE orders");
    });
}

#[test]
fn the_schema_is_shown_by_its_logical_name() {
    with_tables(|both| {
        both.run("SHOW CREATE DATABASE mall");
        both.run("SHOW CREATE DATABASE mysql");
        both.run("SHOW TRIGGERS");
        both.run("SHOW TRIGGERS FROM mall LIKE 'x'");
    });
}

#[test]
fn table_status_is_summed_over_subtables() {
    with_tables(|both| {
        let sizes = Mask::columns(&[
            "Rows",
            "Avg_row_length",
            "Data_length",
            "Index_length",
            "Data_free",
            "Create_time",
            "Update_time",
        ]);
        both.run_masked("SHOW TABLE STATUS", &[], &sizes.clone().and_metadata());
        both.run_masked("SHOW TABLE STATUS LIKE 'o%'", &[], &sizes.clone().and_metadata());
        both.run_masked(
            "SHOW TABLE STATUS FROM mall WHERE Engine = 'InnoDB' AND Name LIKE 's%'",
            &[],
            &sizes.and_metadata(),
        );
    });
}

#[test]
fn warnings_stay_for_show_warnings() {
    with_tables(|both| {
        all(
            both,
            &[
                "SELECT 1/0, CAST('12x' AS SIGNED)",
                "SHOW WARNINGS",
                "SHOW WARNINGS LIMIT 1",
                "SHOW ERRORS",
                "SHOW COUNT(*) WARNINGS",
                "SHOW COUNT(*) ERRORS",
                "SELECT * FROM nosuch",
                "SHOW WARNINGS",
                "SHOW ERRORS",
                "SHOW COUNT(*) ERRORS",
                "SELECT 1 FROM setting",
                "SHOW WARNINGS",
            ],
        );
    });
}

#[test]
fn what_servers_say_of_themselves_is_passed_on() {
    with_tables(|both| {
        all(
            both,
            &[
                "SHOW VARIABLES LIKE 'sql_mode'",
                "SHOW SESSION VARIABLES WHERE Variable_name IN ('autocommit', 'time_zone')",
                "SHOW CHARACTER SET",
                "SHOW COLLATION WHERE Charset = 'utf8mb4'",
                "SHOW ENGINES",
                "SHOW PRIVILEGES",
                "DO 1, 2",
                "DO SLEEP(0)",
            ],
        );
        both.run_masked("SHOW GLOBAL STATUS LIKE 'Threads_conn%'", &[], &Mask::columns(&["Value"]));
        let rows = both.proxied.query("SHOW DATABASES");
        assert_eq!(first_column(&rows), ["information_schema", "mall"]);
        let rows = both.proxied.query("SHOW DATABASES LIKE 'm%'");
        assert_eq!(first_column(&rows), ["mall"]);
        let rows = both.proxied.query("SHOW GRANTS");
        assert_eq!(
            first_column(&rows),
            ["GRANT USAGE ON *.* TO `app`@`%`", "GRANT ALL PRIVILEGES ON `mall`.* TO `app`@`%`"]
        );
    });
}

fn text(cell: &Cell) -> String {
    cell.as_deref().map_or("NULL".into(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn first_column(answers: &[Answer]) -> Vec<String> {
    let [Answer::Rows(result)] = answers else { panic!("no rows: {answers:?}") };
    result.rows.iter().map(|row| text(&row[0])).collect()
}

#[test]
fn statements_are_explained_with_logical_names() {
    with_tables(|both| {
        let guessed = Mask::columns(&["rows", "filtered", "key_len", "Extra", "EXPLAIN"]);
        for statement in [
            "EXPLAIN SELECT * FROM orders WHERE uid = 5",
            "EXPLAIN SELECT * FROM setting s JOIN setting t ON s.id = t.id",
            "EXPLAIN UPDATE orders SET note = 'x' WHERE uid = 5 AND no = 1",
            "EXPLAIN DELETE FROM orders WHERE uid = 5 AND no = 1",
            "EXPLAIN INSERT INTO orders VALUES (5, 9, 'x')",
        ] {
            both.run_masked(statement, &[], &guessed);
        }
        both.refused("EXPLAIN SELECT * FROM orders", "");
    });
}

#[test]
fn explain_route_shows_plan_place_and_text() {
    on_each_server_by(&[Protocol::Text], TABLES, |both| {
        set_up(both);
        let rows = both.proxied.query("EXPLAIN ROUTE SELECT note FROM orders WHERE uid = 5");
        let [Answer::Rows(result)] = rows.as_slice() else { panic!("no rows: {rows:?}") };
        let cells: Vec<String> = result.rows[0].iter().map(text).collect();
        assert!(cells[0].contains("single: read") && cells[0].contains("uid is 5"), "{cells:?}");
        assert!(cells[2].starts_with("mall_") && cells[3].contains(&cells[2].replace('.', "`.`")), "{cells:?}");
        for statement in [
            "INSERT INTO orders VALUES (5, 8, 'x'), (6, 8, 'y'), (7, 8, 'z'), (8, 8, 'a')",
            "UPDATE orders SET note = 'x'",
        ] {
            let rows = both.proxied.query(format!("EXPLAIN ROUTE {statement}"));
            let [Answer::Rows(result)] = rows.as_slice() else { panic!("no rows: {rows:?}") };
            assert!(result.rows.len() > 1, "{rows:?}");
            for row in &result.rows {
                let shown = text(&row[3]);
                assert!(shown.contains(&statement[..6]) && !shown.contains("EXPLAIN"), "{shown}");
            }
        }
        let rows = both.proxied.query("EXPLAIN ROUTE SELECT note FROM orders ORDER BY uid LIMIT 3");
        assert!(first_column(&rows)[0].starts_with("scatter: rows sorted by `orders`.`uid`+0, 3 taken"), "{rows:?}");
        let rows = both.proxied.query("EXPLAIN ROUTE SELECT COUNT(DISTINCT note) FROM orders");
        assert!(first_column(&rows)[0].starts_with("gather: "), "{rows:?}");
        let rows = both.proxied.query("EXPLAIN ROUTE SELECT note FROM orders LIMIT 1 FOR UPDATE");
        assert!(first_column(&rows)[0].starts_with("refusal: 1235"), "{rows:?}");
    });
}

#[test]
fn tables_are_locked_and_unlocked() {
    with_tables(|both| {
        all(
            both,
            &[
                "LOCK TABLES setting READ",
                "SELECT v FROM setting WHERE id = 1",
                "UPDATE setting SET v = 'w' WHERE id = 1",
                "UNLOCK TABLES",
                "LOCK TABLES setting AS s WRITE, product READ",
                "SELECT s.v FROM setting s WHERE s.id = 1",
                "UNLOCK TABLES",
                "UPDATE setting SET v = 'w' WHERE id = 1",
                "LOCK TABLES mysql.user READ",
                "LOCK TABLES nosuch READ",
            ],
        );
        both.refused("LOCK TABLES orders READ", "sharded");
    });
}

#[test]
fn unsharded_tables_are_checked_and_analysed() {
    with_tables(|both| {
        for statement in [
            "CHECK TABLE setting",
            "ANALYZE TABLE setting, product",
            "CHECKSUM TABLE mall.setting",
            "OPTIMIZE TABLE setting",
        ] {
            both.run(statement);
        }
    });
}

#[test]
fn a_set_to_default_and_back_reaches_the_connection() {
    with_tables(|both| {
        let read = "SELECT note, 'x\\'  FROM orders WHERE uid = 5";
        all(both, &["SET sql_mode = 'NO_BACKSLASH_ESCAPES'", read, "SET sql_mode = DEFAULT"]);
        // Known by now, so that no server is asked; the connection was set to DEFAULT.
        all(
            both,
            &["SET sql_mode = 'NO_BACKSLASH_ESCAPES'", read, "SET sql_mode = DEFAULT, autocommit = 'wrong'", read],
        );
        all(both, &["SET sql_mode = DEFAULT", "SELECT note FROM orders WHERE uid = 5", "SELECT @@sql_mode"]);
    });
}

#[test]
fn a_set_is_remembered_and_right_for_the_next_session() {
    with_tables(|both| {
        for _ in 0..3 {
            let mut session = both.another();
            all(
                &mut session,
                &[
                    "SET sql_mode = 'ANSI_QUOTES', sql_safe_updates = 0",
                    "SELECT \"note\" FROM orders WHERE uid = 5",
                    "SELECT @@sql_mode, @@sql_safe_updates",
                    "SET sql_mode = 'nosuch'",
                    "SET NAMES latin1",
                    "SELECT @@character_set_client, @@collation_connection",
                    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                    "SET sql_mode = ''",
                    "SELECT \"note\" FROM orders WHERE uid = 5",
                ],
            );
        }
    });
}

#[test]
fn bifold_route_prints_what_explain_route_shows() {
    with_cluster(|cluster| {
        cluster.set_tables(TABLES).expect("the topology file is written");
        for (server, database) in (0..4).map(|number| cluster.shard(number)) {
            let subtables = (0..4).map(|n| format!("CREATE TABLE {database}.orders_{n:04} (uid BIGINT PRIMARY KEY)"));
            server.run(&subtables.collect::<Vec<_>>()).expect("subtables");
        }
        let route = |statement: &str| {
            let output = std::process::Command::new(bifold_program())
                .args(["--log", "error", "route", "--config"])
                .arg(cluster.topology())
                .arg(statement)
                .output()
                .expect("bifold runs");
            (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let (ok, shown) = route("SELECT * FROM orders WHERE uid = 5");
        assert!(ok && shown.contains("single: read") && shown.contains("uid is 5"), "{shown}");
        assert!(shown.contains(": SELECT * FROM `mall_"), "{shown}");
        let (ok, shown) = route("SELECT * FROM mysql.user");
        assert!(ok && shown.starts_with("refusal: 1142"), "{shown}");
        assert!(!route("SELEC 1").0);
    });
}

const RESET_CONNECTION: u8 = 0x1F;

#[test]
fn a_reset_connection_is_as_after_its_login() {
    on_each_server_by(&[Protocol::Text], TABLES, |both| {
        set_up(both);
        all(
            both,
            &[
                "SET @a = 5, sql_mode = 'ANSI_QUOTES', time_zone = '+05:00', autocommit = 0",
                "SET NAMES latin1 COLLATE latin1_bin",
                "SELECT LAST_INSERT_ID(7)",
                "UPDATE orders SET note = 'lost' WHERE uid = 5",
            ],
        );
        let known = [&mut both.plain, &mut both.proxied].map(|side| side.prepare("SELECT 1").expect("prepared"));
        let [plain, proxied] = [&mut both.plain, &mut both.proxied].map(|side| side.simple(RESET_CONNECTION, &[]));
        assert_eq!(plain, proxied);
        all(
            both,
            &[
                "SELECT @a IS NULL, @@sql_mode, @@time_zone, @@autocommit, DATABASE(), LAST_INSERT_ID()",
                "SELECT @@character_set_client, @@character_set_results, @@collation_connection",
                "SELECT note FROM orders WHERE uid = 5",
            ],
        );
        let [plain, proxied] = known;
        let gone = |answers: Vec<Answer>| answers.last().expect("an answer").err().code;
        assert_eq!(gone(both.plain.execute(&plain, &[])), gone(both.proxied.execute(&proxied, &[])));
    });
}
