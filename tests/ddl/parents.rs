//! Foreign keys: between subtables of one number, to reference tables, and what is refused.

use crate::common::{Both, Mask, Protocol, on_each_server_by};

const TABLES: &str = "[schema.mall.table.customer]\nkey = \"uid\"\ntables = 4\n\n\
                      [schema.mall.table.orders]\nkey = \"uid\"\ntables = 4\n\n\
                      [schema.mall.table.wide]\nkey = \"uid\"\ntables = 8\n\n\
                      [schema.mall.table.by_number]\nkey = \"uid\"\ntables = 4\nhash = \"identity\"\n\n\
                      [schema.mall.table.product]\nkind = \"reference\"\n";

fn with_parents(test: impl Fn(&mut Both)) {
    on_each_server_by(&[Protocol::Text], TABLES, |both| {
        both.each(
            "CREATE TABLE customer (uid INT NOT NULL, n INT NOT NULL DEFAULT 0, PRIMARY KEY (uid), KEY (uid, n))",
        );
        both.each("CREATE TABLE product (sku INT NOT NULL PRIMARY KEY, title VARCHAR(20))");
        test(both);
    });
}

fn shown(both: &mut Both, table: &str) {
    both.run_masked(&format!("SHOW CREATE TABLE {table}"), &[], &Mask::default().and_metadata());
}

#[test]
fn rows_of_one_key_are_held_together() {
    with_parents(|both| {
        both.run(
            "CREATE TABLE orders (uid INT NOT NULL, order_no INT NOT NULL, sku INT, PRIMARY KEY (uid, order_no), \
             CONSTRAINT owner FOREIGN KEY (uid) REFERENCES customer (uid) ON DELETE CASCADE, \
             CONSTRAINT article FOREIGN KEY (sku) REFERENCES product (sku))",
        );
        shown(both, "orders");
        both.run("INSERT INTO customer (uid) VALUES (1), (2), (3), (4), (5)");
        both.run("INSERT INTO product VALUES (10, 'a'), (11, 'b')");
        both.run("INSERT INTO orders VALUES (1, 1, 10)");
        both.run("INSERT INTO orders VALUES (1, 2, 10), (2, 1, NULL), (3, 1, 11)");
        both.run("INSERT INTO orders VALUES (9, 1, 10)");
        both.run("INSERT INTO orders VALUES (4, 1, 10), (9, 1, 10), (5, 1, 10)");
        both.run("INSERT INTO orders VALUES (4, 1, 99)");
        both.run("INSERT IGNORE INTO orders VALUES (9, 1, 10)");
        both.run("UPDATE orders SET sku = 99 WHERE uid = 1");
        both.run("DELETE FROM product WHERE sku = 11");
        both.run("DELETE FROM customer WHERE uid = 1");
        both.run("SELECT * FROM orders ORDER BY uid, order_no");
        both.run("UPDATE customer SET uid = 8 WHERE uid = 2");
        both.refused("UPDATE orders SET uid = 5 WHERE uid = 2", "held by a foreign key");
        both.run("TRUNCATE TABLE customer");
        both.run("DROP TABLE customer");
        both.run("ALTER TABLE orders ADD COLUMN x INT");
        both.run("ALTER TABLE orders DROP FOREIGN KEY owner");
        shown(both, "orders");
        both.run("INSERT INTO orders VALUES (9, 1, 10, 1)");
        // Told with how far it came.
        both.run_masked(
            "ALTER TABLE orders ADD CONSTRAINT again FOREIGN KEY (uid) REFERENCES customer (uid)",
            &[],
            &Mask::default().and_error_text(),
        );
        both.run("DELETE FROM orders WHERE uid = 9");
        // Completed, with the rows of what was left.
        both.run_masked(
            "ALTER TABLE orders ADD CONSTRAINT again FOREIGN KEY (uid) REFERENCES customer (uid)",
            &[],
            &Mask::default().and_affected().and_info(),
        );
        shown(both, "orders");
        both.run("DROP TABLE orders");
        both.run("DROP TABLE customer");
    });
}

#[test]
fn foreign_keys_without_a_name_and_to_the_table_itself() {
    with_parents(|both| {
        both.run(
            "CREATE TABLE orders (uid INT NOT NULL, order_no INT NOT NULL, before_no INT, PRIMARY KEY (uid, order_no), \
             FOREIGN KEY (uid) REFERENCES customer (uid), \
             FOREIGN KEY (uid, before_no) REFERENCES orders (uid, order_no))",
        );
        shown(both, "orders");
        both.run("INSERT INTO customer (uid) VALUES (1), (2)");
        both.run("INSERT INTO orders VALUES (1, 1, NULL), (1, 2, 1)");
        both.run("INSERT INTO orders VALUES (2, 1, 7)");
        both.run("DELETE FROM orders WHERE uid = 1 AND order_no = 1");
        both.run("ALTER TABLE orders ADD COLUMN y INT");
        shown(both, "orders");
    });
}

#[test]
fn what_servers_cannot_hold_together_is_refused() {
    with_parents(|both| {
        both.each("CREATE TABLE wide (uid INT PRIMARY KEY)");
        both.each("CREATE TABLE by_number (uid INT PRIMARY KEY)");
        both.each("CREATE TABLE single (id INT PRIMARY KEY)");
        let made =
            |parent: &str| format!("CREATE TABLE orders (uid INT NOT NULL, n INT, KEY (n), FOREIGN KEY {parent})");
        for (parent, words) in [
            ("(uid) REFERENCES wide (uid)", "does not stand beside"),
            ("(uid) REFERENCES by_number (uid)", "one hash"),
            ("(uid) REFERENCES single (id)", "does not stand beside"),
            ("(uid) REFERENCES customer (uid) ON UPDATE CASCADE", "leave ON UPDATE"),
            ("(n) REFERENCES customer (uid)", "sharding keys"),
            ("(uid) REFERENCES product (sku) ON UPDATE CASCADE", "leave ON UPDATE"),
        ] {
            both.refused(&made(parent), words);
        }
        both.run(&made("(n) REFERENCES product (sku) ON UPDATE CASCADE ON DELETE SET NULL"));
        both.each("INSERT INTO product VALUES (1, 'a'), (2, 'b')");
        both.each("INSERT INTO orders VALUES (1, 1), (2, 2), (3, 1)");
        both.run("UPDATE product SET sku = 7 WHERE sku = 1");
        both.run("DELETE FROM product WHERE sku = 2");
        both.run("SELECT * FROM orders ORDER BY uid");
        both.refused("CREATE TABLE product2 (id INT, FOREIGN KEY (id) REFERENCES orders (n))", "does not stand beside");
    });
}

/// MySQL's `SET foreign_key_checks = DEFAULT` turns them off.
#[test]
fn checks_that_one_session_turned_off_are_on_in_the_next() {
    with_parents(|both| {
        both.each("CREATE TABLE single (id INT PRIMARY KEY)");
        both.each("CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES single (id))");
        both.run("SET foreign_key_checks = 0, unique_checks = 0");
        both.run("INSERT INTO child VALUES (5)");
        let mut next = both.another();
        next.run("SELECT @@foreign_key_checks, @@unique_checks");
        next.run("INSERT INTO child VALUES (6)");
        next.run("SELECT @@foreign_key_checks, @@unique_checks, COUNT(*) FROM child");
    });
}
