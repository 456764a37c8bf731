//! DDL through the proxy and on one plain server: the same answers, errors and warnings, and
//! afterwards the same tables.

use crate::common::{Answer, Both, Client, Login, Mask, Protocol, on_each_server, on_each_server_by};

const TABLES: &str = "[schema.mall.table.orders]\nkey = \"uid\"\ntables = 4\n\n\
                      [schema.mall.table.item]\nkey = \"uid\"\ntables = 4\nid = \"id\"\n\n\
                      [schema.mall.table.product]\nkind = \"reference\"\n\n\
                      [schema.mall.table.setting]\nkind = \"unsharded\"\n\n\
                      [schema.mall.table.other]\nkind = \"unsharded\"\n";

#[test]
fn a_table_in_many_places_is_made_altered_and_dropped_as_one() {
    on_each_server(TABLES, |both| {
        both.run("CREATE TABLE orders (uid INT NOT NULL, n INT, d DATE DEFAULT '2024-01-02', PRIMARY KEY (uid, n), KEY k (d)) COMMENT 'it''s'");
        both.run("CREATE TABLE orders (uid INT)");
        both.run("CREATE TABLE IF NOT EXISTS orders (uid INT)");
        both.run("INSERT INTO orders (uid, n) VALUES (1, 1), (2, 2), (3, 3)");
        both.run("ALTER TABLE orders ADD COLUMN s VARCHAR(20) NOT NULL DEFAULT 'x' AFTER uid, ADD INDEX ks (s)");
        both.run("SELECT * FROM orders WHERE uid = 2");
        both.run("ALTER TABLE orders ADD COLUMN s INT");
        both.run("ALTER TABLE orders DROP COLUMN nope");
        both.run("ALTER TABLE orders MODIFY s VARCHAR(30) NULL, ALTER COLUMN d SET DEFAULT '2025-01-01'");
        both.run("ALTER TABLE orders CHANGE s t VARCHAR(30), DROP INDEX k");
        both.run("ALTER TABLE orders ADD (a INT, b INT), ALGORITHM=INPLACE");
        both.run("ALTER TABLE orders COMMENT = 'abc', ROW_FORMAT=DYNAMIC");
        both.run("CREATE INDEX i1 ON orders (t DESC, uid)");
        both.run("CREATE INDEX i1 ON orders (t)");
        both.run("CREATE UNIQUE INDEX u1 ON orders (uid, t)");
        both.run("DROP INDEX i1 ON orders");
        both.run("DROP INDEX i1 ON orders");
        both.run("INSERT INTO orders (uid, n, t) VALUES (7, 1, 'q')");
        both.run("SELECT uid, n, t, d, a FROM orders WHERE uid = 7");
        both.run("TRUNCATE TABLE orders");
        both.run("SELECT * FROM orders WHERE uid = 7");
        both.run("DROP TABLE orders");
        both.run("DROP TABLE orders");
        both.run("DROP TABLE IF EXISTS orders, item");
        both.run("SELECT * FROM orders WHERE uid = 7");
        both.run("TRUNCATE orders");
        both.run("ALTER TABLE orders ADD x INT");
    });
}

#[test]
fn what_a_server_finds_wrong_is_said_in_its_words() {
    on_each_server(TABLES, |both| {
        for statement in [
            "CREATE TABLE orders (uid INT, uid INT)",
            "CREATE TABLE orders (uid INT, d INT DEFAULT 'x')",
            "CREATE TABLE orders (uid INT, KEY (nope))",
            "CREATE TABLE orders (uid INT, v VARCHAR(70000))",
            "CREATE TABLE orders (uid INT PRIMARY KEY, n INT PRIMARY KEY)",
            "CREATE TABLE orders ()",
            "DROP TABLE orders, item, product",
        ] {
            both.run(statement);
        }
        both.run("CREATE TABLE orders (uid INT, n INT CHECK (n > 0), CONSTRAINT small CHECK (n < 9), CONSTRAINT u UNIQUE (uid))");
        both.run("INSERT INTO orders VALUES (1, 10)");
        both.run("INSERT INTO orders VALUES (1, 1)");
        both.run("INSERT INTO orders VALUES (1, 2)");
        both.run("ALTER TABLE orders ADD CONSTRAINT small CHECK (n < 8)");
        both.run("ALTER TABLE orders DROP CONSTRAINT nope");
        both.run("ALTER TABLE orders DROP CONSTRAINT small");
        both.run("ALTER TABLE orders DROP CONSTRAINT u");
        both.run("INSERT INTO orders VALUES (1, 10)");
        both.run("DROP TABLE orders");
    });
}

#[test]
fn reference_and_unsharded_tables_are_defined_as_on_one_server() {
    on_each_server(TABLES, |both| {
        both.run("CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(20), KEY (name))");
        both.run("ALTER TABLE product ADD price DECIMAL(10,2) NOT NULL DEFAULT 1");
        both.run("CREATE TABLE setting (id INT AUTO_INCREMENT PRIMARY KEY, product INT, CONSTRAINT fk FOREIGN KEY (product) REFERENCES product (id) ON DELETE CASCADE, CONSTRAINT c CHECK (id > 0))");
        both.run("INSERT INTO setting (product) VALUES (1)");
        both.run("DROP TABLE product");
        both.run("INSERT INTO setting (product) VALUES (NULL), (NULL)");
        both.run("SELECT * FROM setting ORDER BY id");
        both.run("CREATE TABLE other LIKE setting");
        both.run("DROP TABLE other");
        both.run("CREATE TABLE other (a INT) AS SELECT id, id + 1 AS b FROM setting s WHERE mall.s.id > 0");
        both.run("SELECT * FROM other ORDER BY id");
        both.run("CREATE TABLE mall.other (a INT)");
        both.run("ALTER TABLE mall.other ADD c INT, RENAME COLUMN b TO d");
        both.run("SELECT a, c, d FROM mall.other ORDER BY d");
        both.run("TRUNCATE other");
        both.run("DROP TABLE other, setting, product");
        both.run("CREATE TABLE setting (id INT NOT NULL, d DATE NOT NULL) PARTITION BY RANGE (YEAR(d)) (PARTITION p0 VALUES LESS THAN (2020), PARTITION p1 VALUES LESS THAN (2030))");
        both.run("ALTER TABLE setting ADD PARTITION (PARTITION p2 VALUES LESS THAN (2040))");
        both.run("INSERT INTO setting VALUES (1, '2035-01-01'), (2, '2045-01-01')");
        both.run("ALTER TABLE setting DROP PARTITION p2");
        both.run("RENAME TABLE setting TO other");
        both.run("SELECT * FROM other");
        both.run("RENAME TABLE setting TO other");
        both.run("DROP TABLE other");
    });
}

#[test]
fn the_id_that_bifold_fills_needs_no_counter() {
    on_each_server(TABLES, |both| {
        both.run("CREATE TABLE item (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid INT NOT NULL, n INT) AUTO_INCREMENT = 50");
        both.run_masked("INSERT INTO item (uid, n) VALUES (1, 1)", &[], &Mask::ids(&[]));
        both.run("SELECT n FROM item WHERE uid = 1");
        both.run("ALTER TABLE item MODIFY id BIGINT UNSIGNED AUTO_INCREMENT");
        both.run_masked("INSERT INTO item (uid, n) VALUES (1, 2)", &[], &Mask::ids(&[]));
        both.run("SELECT n FROM item WHERE uid = 1 ORDER BY n");
        both.run("DROP TABLE item");
        both.refused("CREATE TABLE item (id INT AUTO_INCREMENT PRIMARY KEY, uid INT)", "BIGINT");
        both.refused("CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, uid INT)", "the primary key");
        both.refused("CREATE TABLE orders (id BIGINT AUTO_INCREMENT, uid INT, KEY (id))", "`id = \"id\"`");
    });
}

#[test]
fn ddl_commits_the_transaction_before_it() {
    on_each_server_by(&[Protocol::Text], TABLES, |both| {
        both.run("CREATE TABLE orders (uid INT PRIMARY KEY, n INT)");
        both.run("CREATE TABLE setting (id INT)");
        both.run("BEGIN");
        both.run("INSERT INTO orders VALUES (1, 1)");
        both.run("ALTER TABLE orders ADD x INT");
        both.run("ROLLBACK");
        both.run("SELECT * FROM orders WHERE uid = 1");
        both.run("SET autocommit = 0");
        both.run("INSERT INTO orders VALUES (2, 1, 1)");
        both.run("CREATE INDEX i ON setting (id)");
        both.run("ROLLBACK");
        both.run("SELECT * FROM orders WHERE uid = 2");
        both.run("DROP TABLE orders, setting");
    });
}

#[test]
fn the_sessions_sql_mode_and_names_in_any_quotes_are_followed() {
    on_each_server_by(&[Protocol::Text], TABLES, |both| {
        both.run("SET sql_mode = 'ANSI_QUOTES'");
        both.run("CREATE TABLE \"orders\" (\"uid\" INT PRIMARY KEY, d DATE DEFAULT '0000-00-00', \"a`b\" INT)");
        both.run("ALTER TABLE mall.\"orders\" /* c */ ADD (\"x y\" INT) # end");
        both.run("SET sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'");
        both.run("ALTER TABLE `orders` ADD e DATE DEFAULT '0000-00-00'");
        both.run("ALTER TABLE `orders` ADD f INT");
        // Prepared, MySQL warns of the widths at the preparation.
        both.run("ALTER TABLE orders MODIFY f TINYINT(1) NULL, ADD x INT(5) ZEROFILL");
        both.run("INSERT INTO orders (uid) VALUES (1)");
        both.run("SELECT `x y`, `a``b`, f FROM orders WHERE uid = 1");
        both.run("DROP TABLE `orders`");
    });
}

#[test]
fn definitions_of_unlisted_tables_say_where_they_live() {
    on_each_server(TABLES, |both| {
        let (plain, proxied) = both.answers("CREATE TABLE t9 (id INT AUTO_INCREMENT PRIMARY KEY)", &[]);
        assert_eq!((plain[0].warnings(), proxied[0].warnings()), (0, 1), "{proxied:?}");
        both.run("INSERT INTO t9 VALUES (NULL), (NULL)");
        both.run("SELECT * FROM t9 ORDER BY id");
        both.run("CREATE TEMPORARY TABLE tmp (id INT)");
        both.run("INSERT INTO tmp VALUES (1)");
        both.run("SELECT * FROM tmp");
        both.run("DROP TEMPORARY TABLE tmp");
        both.run("DROP TABLE t9");
        rows_of_one_definition(both);
    });
}

/// Sessions on other connections see a new definition at once.
fn rows_of_one_definition(both: &mut Both) {
    let mut second = both.another();
    both.run("CREATE TABLE orders (uid INT PRIMARY KEY)");
    second.run("INSERT INTO orders VALUES (1)");
    both.run("ALTER TABLE orders ADD n INT DEFAULT 7 FIRST");
    second.run("INSERT INTO orders VALUES (2, 2)");
    second.run("SELECT * FROM orders WHERE uid = 2");
    both.run("DROP TABLE orders");
    second.run("INSERT INTO orders VALUES (2, 2)");
}

/// Some subtables are altered and some are not, as in the middle of an ALTER: rows are right or there
/// is an error, and no value stands in another's column.
#[test]
fn columns_are_read_by_name_while_subtables_differ() {
    on_each_server(TABLES, |both| {
        both.each("CREATE TABLE orders (uid INT NOT NULL, a INT, b INT, c VARCHAR(9))");
        both.each(
            "INSERT INTO orders VALUES (1, 10, 100, 'x'), (2, 20, 200, 'y'), (3, 30, 300, 'z'), (4, 40, 400, NULL)",
        );
        both.run("SELECT * FROM orders ORDER BY uid");
        let root = Login::new("root", "", Some("mall_0"));
        let mut root = Client::login(both.ports.0, &root).expect("connected").expect("root");
        let altered = |root: &mut Client, change: &str| {
            for n in 0..2 {
                let answer = root.query(format!("ALTER TABLE orders_000{n} {change}"));
                assert!(matches!(answer[0], Answer::Ok(_)), "{change}: {answer:?}");
            }
        };
        altered(&mut root, "MODIFY b INT FIRST");
        for query in [
            "SELECT * FROM orders",
            "SELECT o.*, o.a FROM orders o ORDER BY b DESC",
            "SELECT * FROM orders ORDER BY uid LIMIT 3",
        ] {
            both.run(query);
        }
        altered(&mut root, "ADD COLUMN d INT DEFAULT 5 AFTER a");
        both.run("SELECT * FROM orders ORDER BY uid");
        altered(&mut root, "DROP COLUMN c");
        let answer = both.proxied.query("SELECT * FROM orders ORDER BY uid");
        assert!(matches!(&answer[0], Answer::Err(error) if error.code == 1054), "{answer:?}");
    });
}

const TWINS: &str = "[schema.mall.table.orders]\nkey = \"uid\"\ntables = 4\n\n\
                     [schema.mall.table.orders_old]\nkey = \"uid\"\ntables = 4\n\n\
                     [schema.mall.table.narrow]\nkey = \"uid\"\ntables = 2\n\n\
                     [schema.mall.table.product]\nkind = \"reference\"\n\n\
                     [schema.mall.table.article]\nkind = \"reference\"\n";

#[test]
fn a_table_goes_by_the_name_of_another_of_its_layout() {
    on_each_server(TWINS, |both| {
        both.each("CREATE TABLE orders (uid INT PRIMARY KEY, n INT, CONSTRAINT small CHECK (n < 100))");
        both.each("INSERT INTO orders VALUES (1, 1), (2, 2), (3, 3)");
        both.run("RENAME TABLE orders TO orders_old");
        both.run("SELECT * FROM orders_old ORDER BY uid");
        both.run("SELECT * FROM orders WHERE uid = 1");
        both.run("RENAME TABLE orders TO orders_old");
        both.run("INSERT INTO orders_old VALUES (4, 400)");
        both.each("CREATE TABLE orders (uid INT PRIMARY KEY)");
        both.run("RENAME TABLE orders TO orders_old");
        both.run("DROP TABLE orders");
        both.run("ALTER TABLE orders_old RENAME TO orders");
        both.run("SELECT * FROM orders ORDER BY uid");
        both.each("CREATE TABLE product (sku INT PRIMARY KEY)");
        both.each("INSERT INTO product VALUES (1)");
        both.run("RENAME TABLE product TO article");
        both.run("SELECT * FROM article");
        for to in ["narrow", "article", "unknown"] {
            both.refused(&format!("RENAME TABLE orders TO {to}"), "cannot be renamed");
        }
    });
}
