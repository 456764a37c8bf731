//! Views of unsharded and reference tables; ANALYZE, CHECK and the like of tables in many places.

use bifold::lab::Flavour;

use crate::common::{Mask, on_each_server};

const TABLES: &str = "[schema.mall.table.orders]\nkey = \"uid\"\ntables = 4\n\n\
                      [schema.mall.table.product]\nkind = \"reference\"\n";

#[test]
fn a_view_of_tables_that_are_whole_is_as_on_one_server() {
    on_each_server(TABLES, |both| {
        both.each("CREATE TABLE setting (name VARCHAR(20) PRIMARY KEY, v INT)");
        both.each("CREATE TABLE product (sku INT PRIMARY KEY, title VARCHAR(20))");
        both.each("CREATE TABLE orders (uid INT PRIMARY KEY, sku INT)");
        both.each("INSERT INTO setting VALUES ('a', 1), ('b', 2), ('c', 3)");
        both.each("INSERT INTO product VALUES (1, 'one'), (2, 'two')");
        both.run("CREATE VIEW big AS SELECT name, v * 2 AS w FROM setting WHERE v > 1");
        both.run("CREATE VIEW big AS SELECT 1");
        both.run("SELECT * FROM big ORDER BY name");
        both.run("SELECT b.name, p.title FROM mall.big b JOIN product p ON p.sku * 4 = b.w");
        both.run("CREATE OR REPLACE VIEW big (n, w) AS SELECT s.name, s.v FROM mall.setting s WHERE s.v > 2 WITH CHECK OPTION");
        both.run("SELECT n, w FROM big");
        both.run("INSERT INTO big VALUES ('d', 9)");
        both.run("INSERT INTO big VALUES ('e', 1)");
        both.run("UPDATE big SET w = w + 1 WHERE n = 'd'");
        both.run("SELECT * FROM setting ORDER BY name");
        both.run("CREATE VIEW titles AS WITH c AS (SELECT sku, title FROM product) SELECT title FROM c WHERE sku = (SELECT MAX(sku) FROM product)");
        both.run("SELECT * FROM titles");
        both.run("SHOW FULL TABLES");
        both.run_masked("SHOW CREATE VIEW titles", &[], &Mask::default().and_metadata());
        both.run_masked("SHOW CREATE VIEW big", &[], &Mask::default().and_metadata());
        both.run("DESCRIBE big");
        both.run("SHOW CREATE VIEW setting");
        both.run("ALTER VIEW titles AS SELECT COUNT(*) AS n FROM product");
        both.run("SELECT n FROM titles");
        both.run("CREATE VIEW wrong AS SELECT nothing FROM setting");
        both.run("CREATE VIEW wrong AS SELECT * FROM absent");
        both.run("BEGIN");
        both.run("INSERT INTO setting VALUES ('z', 9)");
        both.run("DROP VIEW titles, big");
        both.run("ROLLBACK");
        both.run("SELECT name FROM setting WHERE name = 'z'");
        both.run("DROP VIEW titles");
        both.run("DROP VIEW IF EXISTS titles, big");
        both.run("DROP VIEW setting");
        both.run("SELECT * FROM big");
        both.refused("CREATE VIEW v AS SELECT * FROM orders", "a view of `orders`");
        both.refused(
            "CREATE VIEW v AS SELECT 1 FROM setting WHERE v IN (SELECT sku FROM orders)",
            "a view of `orders`",
        );
        both.refused("CREATE VIEW orders AS SELECT 1", "no view can be called so");
        both.run("DROP VIEW orders");
    });
}

#[test]
fn what_is_asked_of_a_table_is_asked_of_all_its_places() {
    on_each_server(TABLES, |both| {
        both.each("CREATE TABLE setting (name VARCHAR(20) PRIMARY KEY, v INT)");
        both.each("CREATE TABLE product (sku INT PRIMARY KEY, title VARCHAR(20))");
        both.each("CREATE TABLE orders (uid INT PRIMARY KEY, sku INT, v VARCHAR(20), KEY (sku))");
        both.each("INSERT INTO orders VALUES (1, 1, 'a'), (2, 2, NULL), (3, 3, 'c'), (4, 4, 'd'), (5, 5, 'e')");
        both.run("CHECK TABLE orders");
        both.run("ANALYZE TABLE setting, orders, product");
        both.run("OPTIMIZE TABLE orders");
        both.run("REPAIR TABLE orders");
        both.run("CHECK TABLE orders EXTENDED");
        both.run("CHECKSUM TABLE orders, setting");
        both.run("CHECK TABLE absent, orders");
        both.run("ANALYZE LOCAL TABLE mall.orders");
        if both.flavour == Flavour::MySql {
            both.run("ANALYZE TABLE orders UPDATE HISTOGRAM ON sku WITH 4 BUCKETS");
            both.run("ANALYZE TABLE orders UPDATE HISTOGRAM ON nothing");
        }
        both.run("BEGIN");
        both.run("INSERT INTO orders VALUES (6, 6, 'f')");
        both.run("ANALYZE TABLE orders");
        both.run("ROLLBACK");
        both.run("SELECT COUNT(*) FROM orders");
    });
}
