//! Unsharded tables of two schemas, whose home shards are on one server: statements that name
//! both are answered as by one MySQL with two databases.

use bifold::lab::{APP_PASSWORD, BACKEND_PASSWORD, BACKEND_USER, Cluster, Flavour};

use crate::common::{Both, Login, Mask, Protocol, bifold_program, differences, with_cluster};
use crate::gather::is_of_the_plan;

/// `shop` beside `mall`, and `far` on the other server.
const SCHEMAS: &str = r#"
[schema.mall.table.orders]
key = "uid"
tables = 2
[schema.mall.table.product]
kind = "reference"
[schema.shop]
shards = ["s0/shop_0"]
[schema.far]
shards = ["s1/far_0"]
"#;

const USER: &str = r#"
[[user]]
name = "clerk"
password = "app-secret"
schemas = ["mall", "shop", "far"]
"#;

/// The same statements by a user of all schemas, over both protocols.
fn with_schemas(test: impl Fn(&mut Both)) {
    for protocol in [Protocol::Text, Protocol::Prepared] {
        with_cluster(|cluster| {
            let mut both = served(cluster, protocol);
            test(&mut both);
        });
    }
}

fn served(cluster: &mut Cluster, protocol: Protocol) -> Both {
    let plain = &cluster.servers()[0];
    for (server, name) in [(0, "shop"), (0, "shop_0"), (0, "far"), (1, "far_0")] {
        let sql = [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}")];
        cluster.servers()[server].run(&sql).expect("a database");
    }
    plain.grant("clerk", APP_PASSWORD, &["mall", "shop", "far"]).expect("the plain account");
    plain.grant(BACKEND_USER, BACKEND_PASSWORD, &["shop_0"]).expect("the proxy's account");
    cluster.servers()[1].grant(BACKEND_USER, BACKEND_PASSWORD, &["far_0"]).expect("the proxy's account");
    cluster.set_tables(SCHEMAS).expect("a topology");
    cluster.set_more(USER).expect("a topology");
    let proxy = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
    // The others of this binary go on without.
    cluster.set_more("").expect("a topology");
    let plain = &cluster.servers()[0];
    let login = Login::new("clerk", APP_PASSWORD, Some("mall"));
    Both::new((plain.port(), proxy), login, plain.flavour(), protocol)
}

/// Every difference at once.
#[track_caller]
fn all(both: &mut Both, statements: &[&str]) {
    all_but(both, |_| false, statements);
}

#[track_caller]
fn all_but(both: &mut Both, may_differ: impl Fn(&str) -> bool, statements: &[&str]) {
    let mut different = Vec::new();
    for sql in statements {
        let (plain, proxied) = both.answers(sql, &[]);
        let mut found = differences(sql, &plain, &proxied, &Mask::default());
        found.retain(|difference| !may_differ(difference));
        if !found.is_empty() {
            different.push(format!("{sql}\n    {}\n{plain:#?}\n{proxied:#?}", found.join("\n    ")));
        }
    }
    assert!(different.is_empty(), "{} {:?}:\n{}", both.flavour, both.protocol, different.join("\n"));
}

#[test]
fn a_foreign_key_may_point_to_a_table_of_another_schema() {
    with_schemas(|both| {
        both.each("CREATE TABLE shop.customer (id INT NOT NULL PRIMARY KEY, name VARCHAR(20))");
        both.each(
            "CREATE TABLE bill (id INT NOT NULL PRIMARY KEY, customer INT, \
             CONSTRAINT of_customer FOREIGN KEY (customer) REFERENCES shop.customer (id))",
        );
        both.each("CREATE TABLE shop.visit (id INT NOT NULL PRIMARY KEY, bill INT, note VARCHAR(20))");
        both.each("ALTER TABLE shop.visit ADD CONSTRAINT of_bill FOREIGN KEY (bill) REFERENCES mall.bill (id)");
        all(
            both,
            &[
                "SHOW CREATE TABLE bill",
                "SHOW CREATE TABLE shop.visit",
                "INSERT INTO bill VALUES (1, 7)",
                "SHOW WARNINGS",
                "INSERT IGNORE INTO bill VALUES (1, 7)",
                "SHOW WARNINGS",
                "INSERT INTO shop.customer VALUES (7, 'shop_0.customer')",
                "INSERT INTO bill VALUES (1, 7)",
                "INSERT INTO shop.visit VALUES (1, 1, NULL)",
                "DELETE FROM shop.customer WHERE id = 7",
                "SHOW WARNINGS",
                "UPDATE shop.customer SET id = 8",
                "DELETE FROM bill",
                "SELECT b.id, c.name, v.id FROM bill b JOIN shop.customer c ON c.id = b.customer JOIN shop.visit v ON v.bill = b.id",
                "SELECT mall.bill.id, shop.customer.name FROM mall.bill, shop.customer WHERE bill.customer = customer.id",
                "UPDATE bill b JOIN shop.visit v ON v.bill = b.id SET v.note = 'seen'",
                "DROP TABLE shop.customer",
                "TRUNCATE TABLE shop.customer",
                "DROP TABLE shop.visit, bill, shop.customer",
                "SHOW TABLES FROM shop",
                "DROP TABLE shop.visit, bill",
                "DROP TABLE IF EXISTS shop.visit, bill",
                "SHOW WARNINGS",
            ],
        );
    });
}

#[test]
fn tables_are_made_like_and_from_and_moved_to_those_of_another_schema() {
    with_schemas(|both| {
        both.each("CREATE TABLE setting (name VARCHAR(20) NOT NULL PRIMARY KEY, v INT)");
        both.each("INSERT INTO setting VALUES ('a', 1), ('b', 2)");
        both.each("CREATE TABLE shop.setting LIKE setting");
        both.each("CREATE TABLE shop.kept AS SELECT * FROM setting WHERE v > 1");
        both.each("CREATE TABLE shop.counted SELECT COUNT(*) AS n FROM shop.kept");
        both.each("CREATE TABLE shop.one SELECT 1 AS one");
        all(
            both,
            &[
                "SHOW CREATE TABLE shop.setting",
                "SELECT * FROM shop.kept",
                "SELECT * FROM shop.counted",
                "INSERT INTO shop.setting SELECT * FROM setting",
                "SELECT * FROM shop.one, shop.setting ORDER BY name",
                "SHOW TABLES FROM shop",
            ],
        );
        both.each("RENAME TABLE setting TO shop.old, shop.setting TO mall.setting");
        both.each("ALTER TABLE shop.old RENAME TO oldest");
        all(both, &["SHOW TABLES FROM shop", "SHOW TABLES", "SELECT * FROM oldest", "SELECT * FROM setting"]);
        both.each("CREATE TEMPORARY TABLE shop.passing LIKE oldest");
        all(both, &["INSERT INTO shop.passing VALUES ('x', 9)", "SELECT * FROM shop.passing", "USE shop"]);
        all(both, &["DROP TEMPORARY TABLE passing", "SELECT * FROM one", "CREATE TABLE mall.one SELECT 1 AS one"]);
    });
}

#[test]
fn no_statement_defines_tables_of_two_servers() {
    with_schemas(|both| {
        both.each("CREATE TABLE parent (id INT NOT NULL PRIMARY KEY)");
        both.each("CREATE TABLE far.other (id INT NOT NULL PRIMARY KEY)");
        both.refused("CREATE TABLE far.t (id INT, FOREIGN KEY (id) REFERENCES mall.parent (id))", "different servers");
        both.refused("DROP TABLE parent, far.other", "different servers");
        both.refused("RENAME TABLE parent TO far.parent", "different servers");
        both.refused("CREATE TABLE far.t LIKE parent", "different servers");
        both.refused("CREATE TABLE far.t SELECT * FROM parent", "different servers");
        both.refused("CREATE TABLE product (id INT, FOREIGN KEY (id) REFERENCES shop.t (id))", "both schema");
    });
}

#[test]
fn sequences_give_their_values() {
    with_schemas(|both| {
        if both.flavour == Flavour::MySql {
            return;
        }
        both.each("CREATE SEQUENCE bill_no START WITH 100 INCREMENT BY 10");
        both.each("CREATE OR REPLACE SEQUENCE shop.visit_no NOCACHE");
        both.each("CREATE TABLE bill (id INT NOT NULL PRIMARY KEY DEFAULT NEXTVAL(bill_no), n INT DEFAULT (NEXT VALUE FOR shop.visit_no))");
        all(
            both,
            &[
                "SHOW CREATE TABLE bill",
                "SELECT NEXTVAL(bill_no)",
                "SELECT NEXT VALUE FOR mall.bill_no AS n",
                "INSERT INTO bill (n) VALUES (1)",
                "INSERT INTO bill VALUES (NEXTVAL(bill_no), NEXTVAL(shop.visit_no))",
                "INSERT INTO bill VALUES ()",
                "SELECT * FROM bill",
                "SELECT SETVAL(bill_no, 500)",
                "SELECT NEXTVAL(bill_no) FROM bill",
                "SELECT next_not_cached_value, increment FROM shop.visit_no",
                "ALTER SEQUENCE bill_no RESTART 7",
                "SELECT NEXTVAL(bill_no)",
                "SHOW TABLES",
                "SHOW CREATE TABLE bill_no",
                "DROP TABLE bill",
                "DROP SEQUENCE bill_no, shop.visit_no",
                "DROP SEQUENCE bill_no",
                "DROP SEQUENCE IF EXISTS shop.visit_no",
                "SHOW WARNINGS",
                "SELECT NEXTVAL(bill_no)",
            ],
        );
        both.refused("SELECT LASTVAL(bill_no)", "keep what NEXTVAL gave");
        both.refused("CREATE SEQUENCE orders", "many places");
        both.refused("CREATE TABLE orders (uid INT NOT NULL DEFAULT NEXTVAL(s))", "home shard only");
    });
}

#[test]
fn tables_on_different_servers_are_brought_together() {
    with_schemas(|both| {
        both.each(
            "CREATE TABLE orders (uid INT NOT NULL, no INT NOT NULL, amount DECIMAL(8,2), PRIMARY KEY (uid, no))",
        );
        both.each("CREATE TABLE product (id INT NOT NULL PRIMARY KEY, title VARCHAR(20))");
        both.each(
            "CREATE TABLE far.stock (id INT NOT NULL PRIMARY KEY, k INT NOT NULL DEFAULT 5 CHECK (k > 0), name VARCHAR(20), \
             words TEXT, twice INT AS (k * 2) VIRTUAL, KEY by_name (name), FULLTEXT KEY (words), CHECK (id < 100))",
        );
        both.each(
            "CREATE TABLE shop.part (id INT NOT NULL PRIMARY KEY, v VARCHAR(9)) PARTITION BY HASH (id) PARTITIONS 3",
        );
        both.each("INSERT INTO orders VALUES (1, 1, 5), (2, 1, 7.5), (3, 2, NULL), (5, 9, 1)");
        both.each("INSERT INTO product VALUES (1, 'one'), (2, 'two')");
        both.each("INSERT INTO far.stock (id, k, name, words) VALUES (1, 3, 'a', 'it''s'), (2, 4, NULL, 'b'), (3, 5, 'c', NULL)");
        both.each("INSERT INTO shop.part VALUES (1, 'x'), (2, 'y'), (3, NULL)");
        all_but(
            both,
            is_of_the_plan,
            &[
                "SELECT p.id, s.k, s.twice, s.name FROM shop.part p JOIN far.stock s ON s.id = p.id ORDER BY p.id",
                "SELECT far.stock.id, shop.part.v FROM far.stock LEFT JOIN shop.part ON part.id = stock.id ORDER BY stock.id",
                "SELECT o.*, s.id, s.k, s.name, s.twice FROM orders o JOIN far.stock s ON s.id = o.uid ORDER BY o.uid",
                "SELECT o.uid, p.title, s.name, q.v FROM orders o LEFT JOIN product p ON p.id = o.uid LEFT JOIN far.stock s ON s.id = o.uid LEFT JOIN shop.part q ON q.id = o.uid ORDER BY o.uid",
                "SELECT o.uid, s.nope FROM orders o JOIN far.stock s ON s.id = o.uid",
                "SELECT s.id FROM far.stock s JOIN shop.part p ON p.id = s.id WHERE s.words LIKE 'it%'",
                "SELECT o.amount FROM orders o JOIN far.stock s ON s.id = o.uid WHERE o.uid = 2",
                "BEGIN",
                "UPDATE far.stock SET name = 'mine' WHERE id = 3",
                "INSERT INTO orders VALUES (3, 7, 9)",
                "SELECT o.uid, o.no, s.name FROM orders o JOIN far.stock s ON s.id = o.uid ORDER BY o.uid, o.no",
                "ROLLBACK",
                "SELECT o.uid, o.no, s.name FROM orders o JOIN far.stock s ON s.id = o.uid ORDER BY o.uid, o.no",
            ],
        );
    });
}
