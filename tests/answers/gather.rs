//! Queries that can't be split over places: joins across keys, subqueries, CTEs, set operations,
//! windows, aggregates of all kinds. Their rows are brought together on one server, and the answer is
//! that of one server in every field.

use bifold::lab::Flavour;

use crate::common::{Answer, Both, Mask, Param, differences, on_each_server};

const TABLES: &str = r#"
[schema.mall.table]
orders = { key = "uid", tables = 4 }
item = { key = "item_id", tables = 2 }
customer = { key = "uid", tables = 4 }
label = { kind = "reference" }
"#;

fn prepare(both: &mut Both) {
    both.each(
        "CREATE TABLE orders (order_id BIGINT NOT NULL, uid BIGINT NOT NULL, amount DECIMAL(10,2), state VARCHAR(10), \
         made DATETIME, note TEXT, PRIMARY KEY (uid, order_id), KEY by_state (state))",
    );
    both.each("CREATE TABLE item (item_id BIGINT NOT NULL PRIMARY KEY, order_id BIGINT, name VARCHAR(20), price DOUBLE, n INT)");
    both.each(
        "CREATE TABLE customer (uid BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20), city VARCHAR(20), boss BIGINT)",
    );
    both.each("CREATE TABLE label (state VARCHAR(10) NOT NULL PRIMARY KEY, title VARCHAR(20))");
    both.each("CREATE TABLE setting (id INT NOT NULL PRIMARY KEY, uid BIGINT, value VARCHAR(20))");
    both.each("INSERT INTO label VALUES ('new', 'New'), ('paid', 'Paid'), ('gone', 'Gone')");
    both.each("INSERT INTO setting VALUES (1, 3, 'a'), (2, 5, 'b'), (3, NULL, 'c'), (4, 99, NULL)");
    let cities = ["'Rome'", "'rome'", "'Bern'", "NULL", "'Oslo'"];
    let customers: Vec<String> = (1..=12)
        .map(|n| {
            let boss = if n % 4 == 1 { "NULL".to_owned() } else { (n / 2).to_string() };
            format!("({n}, 'c{}', {}, {boss})", n % 5, cities[n % 5])
        })
        .collect();
    both.each(&format!("INSERT INTO customer VALUES {}", customers.join(", ")));
    let states = ["'new'", "'paid'", "'NEW'", "NULL", "'gone'", "'odd'"];
    let orders: Vec<String> = (1..=40)
        .map(|n| {
            let amount = if n % 9 == 0 { "NULL".to_owned() } else { format!("{}.{:02}", n * 7 % 30, n * 13 % 100) };
            let (state, note) =
                (states[n % 6], if n % 5 == 0 { "NULL".to_owned() } else { format!("'it''s \\\\ {n}'") });
            format!("({}, {}, {amount}, {state}, '2024-01-{:02} 10:00:00', {note})", 100 + n, n % 14 + 1, n % 28 + 1)
        })
        .collect();
    both.each(&format!("INSERT INTO orders VALUES {}", orders.join(", ")));
    let items: Vec<String> = (1..=70)
        .map(|n| {
            let order = if n % 11 == 0 { "NULL".to_owned() } else { (100 + n * 3 % 45).to_string() };
            format!("({n}, {order}, 'i{}', {}.1, {})", n % 7, n % 13, n % 4)
        })
        .collect();
    both.each(&format!("INSERT INTO item VALUES {}", items.join(", ")));
}

/// Runs all of them, and tells every difference at once.
#[track_caller]
fn all<S: AsRef<str>>(both: &mut Both, statements: &[S]) {
    all_but(both, statements, |_| false);
}

/// Whether a column that is sorted or joined through a table of the server's own is still called part of
/// a key, or filled by the clock, depends on the way that the optimizer goes.
pub fn is_of_the_plan(difference: &str) -> bool {
    const FLAGS: u32 = 0x0002 | 0x0004 | 0x0008 | 0x0400 | 0x2000 | 0x4000;
    let Some((_, flags)) = difference.split_once(": flags: ") else { return false };
    let bits = |text: &str| u32::from_str_radix(text.trim_matches('"').trim_start_matches("0x"), 16).ok();
    match flags.split_once(" against ").map(|(a, b)| (bits(a), bits(b))) {
        Some((Some(a), Some(b))) => (a ^ b) & !FLAGS == 0,
        _ => false,
    }
}

#[track_caller]
fn all_but<S: AsRef<str>>(both: &mut Both, statements: &[S], may_differ: impl Fn(&str) -> bool) {
    let mut different = Vec::new();
    for sql in statements.iter().map(AsRef::as_ref) {
        let (plain, proxied) = both.answers(sql, &[]);
        let mut found = differences(sql, &plain, &proxied, &Mask::default());
        found.retain(|difference| !may_differ(difference));
        if !found.is_empty() {
            let refusal = proxied.iter().find_map(|answer| match answer {
                Answer::Err(error) => Some(error.text.clone()),
                _ => None,
            });
            different.push(format!("{sql}\n    {}\n    {}", found.join("\n    "), refusal.unwrap_or_default()));
        }
    }
    assert!(different.is_empty(), "{} {:?}:\n{}", both.flavour, both.protocol, different.join("\n"));
}

#[test]
fn joins_across_keys() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(both, JOINS);
    });
}

const JOINS: &[&str] = &[
    "SELECT o.order_id, i.item_id, i.name, o.amount FROM orders o JOIN item i ON i.order_id = o.order_id",
    "SELECT * FROM orders o JOIN item i ON i.order_id = o.order_id ORDER BY i.item_id",
    "SELECT * FROM orders o JOIN item i USING (order_id) WHERE o.amount > 5 AND i.n = 2 ORDER BY i.item_id",
    "SELECT orders.order_id, mall.item.name FROM orders, item WHERE orders.order_id = mall.item.order_id",
    "SELECT o.*, i.name FROM orders o LEFT JOIN item i ON i.order_id = o.order_id AND i.n > 1 WHERE o.uid < 9",
    "SELECT o.order_id, i.item_id FROM orders o RIGHT JOIN item i ON i.order_id = o.order_id WHERE o.order_id IS NULL",
    "SELECT o.order_id, i.item_id FROM orders o LEFT JOIN item i ON i.order_id = o.order_id WHERE i.n IS NULL",
    "SELECT o.order_id, i.item_id FROM orders o LEFT JOIN item i ON i.order_id = o.order_id WHERE i.n = 1 OR i.n IS NULL",
    "SELECT o.order_id, i.item_id FROM item i LEFT JOIN orders o ON i.order_id = o.order_id AND o.state = 'new' WHERE i.n > 2",
    "SELECT a.uid, b.uid FROM customer a JOIN customer b ON a.boss = b.uid ORDER BY a.uid",
    "SELECT a.name, b.name, c.name FROM customer a LEFT JOIN customer b ON a.boss = b.uid LEFT JOIN customer c ON b.boss = c.uid ORDER BY a.uid",
    "SELECT c.name, l.title, COUNT(*) FROM customer c JOIN orders o ON o.uid = c.uid JOIN item i ON i.order_id = o.order_id LEFT JOIN label l ON l.state = o.state GROUP BY c.name, l.title ORDER BY c.name, l.title",
    "SELECT s.value, o.order_id FROM setting s LEFT JOIN orders o ON o.uid = s.uid ORDER BY s.id, o.order_id",
    "SELECT s.value, o.order_id FROM setting s JOIN orders o ON o.uid = s.uid WHERE s.value <> 'b' ORDER BY o.order_id",
    "SELECT l.state, o.order_id FROM label l LEFT JOIN orders o ON o.state = l.state ORDER BY l.state, o.order_id",
    "SELECT l.state, COUNT(o.order_id) FROM orders o RIGHT JOIN label l ON o.state = l.state GROUP BY l.state ORDER BY 1",
    "SELECT * FROM customer NATURAL JOIN setting ORDER BY uid",
    "SELECT * FROM customer NATURAL LEFT JOIN label ORDER BY uid, state LIMIT 4",
    "SELECT STRAIGHT_JOIN c.uid, i.item_id FROM customer c STRAIGHT_JOIN item i ON i.item_id = c.uid ORDER BY 1, 2",
    "SELECT c.uid, o.order_id, i.item_id FROM (customer c, label l) JOIN (orders o JOIN item i ON i.order_id = o.order_id) ON c.uid = o.uid AND l.state = o.state ORDER BY 1, 2, 3",
    "SELECT COUNT(*) FROM orders CROSS JOIN customer",
    "SELECT o.uid, i.n FROM orders o JOIN item i ON o.order_id = i.order_id AND o.uid = 5 ORDER BY i.item_id",
    "SELECT o.order_id, i.item_id FROM orders o JOIN item i ON o.order_id = i.order_id WHERE o.uid IN (3, 4) AND i.item_id BETWEEN 10 AND 40 ORDER BY 1, 2",
    "SELECT o.order_id, i.item_id FROM orders o JOIN item i ON o.order_id = i.order_id WHERE o.uid = 3 AND i.item_id = 7",
    "SELECT o.order_id, i.item_id FROM orders o, item i WHERE o.uid = 3 AND i.item_id = 9",
    "SELECT o.order_id FROM orders o, customer c WHERE o.uid = 3 AND c.uid = 4 AND o.amount > 1 ORDER BY 1",
    "SELECT o.order_id AS n, o.state s FROM orders o JOIN item i ON o.order_id = i.order_id WHERE o.state = 'new' AND i.name LIKE 'i%' ORDER BY n DESC, i.item_id LIMIT 3, 4",
    "SELECT o.order_id, i.item_id FROM orders o USE INDEX (by_state) JOIN item i IGNORE INDEX (PRIMARY) ON o.order_id = i.order_id WHERE o.state = 'paid' ORDER BY 1, 2",
    "SELECT o.note, i.name FROM orders o JOIN item i ON o.order_id = i.order_id WHERE o.note LIKE '%\\\\%' ORDER BY i.item_id",
    "SELECT o.order_id FROM orders o LEFT JOIN item i ON o.order_id = i.order_id AND i.n = 3 AND o.state = 'new' WHERE o.amount < 9 ORDER BY o.order_id, i.item_id",
    "SELECT o.order_id, i.item_id FROM orders o JOIN item i ON o.order_id = i.order_id AND o.amount > i.price ORDER BY 1, 2",
    "SELECT c.city, c2.city FROM customer c JOIN customer c2 ON c.city = c2.city AND c.uid < c2.uid ORDER BY c.uid, c2.uid",
    "SELECT o.order_id, 1 + i.n x FROM orders o JOIN item i ON o.order_id = i.order_id WHERE COALESCE(i.n, 0) > 1 AND NOT o.state <=> NULL ORDER BY 1, i.item_id",
];

#[test]
fn subqueries_and_derived_tables() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(both, SUBQUERIES);
        all_but(both, SEMIJOINS, is_of_the_plan);
        let own: &[&str] = match both.flavour {
            Flavour::MySql => &[
                "SELECT c.uid, d.order_id FROM customer c JOIN LATERAL (SELECT order_id FROM orders o WHERE o.uid = c.uid ORDER BY order_id DESC LIMIT 1) d ON TRUE ORDER BY 1",
                "SELECT c.uid, d.k FROM customer c, LATERAL (SELECT COUNT(*) FROM orders o WHERE o.uid = c.uid AND o.amount > 5) d (k) ORDER BY 1",
                "TABLE customer ORDER BY uid LIMIT 2",
                "SELECT * FROM (TABLE item) i ORDER BY item_id LIMIT 2",
                "SELECT uid FROM customer INTERSECT SELECT uid FROM orders ORDER BY uid",
            ],
            Flavour::MariaDb => &[
                "SELECT uid FROM customer INTERSECT ALL SELECT uid FROM orders ORDER BY uid",
                "SELECT order_id FROM orders ORDER BY order_id OFFSET 3 ROWS FETCH NEXT 4 ROWS ONLY",
                "SELECT order_id, MEDIAN(amount) OVER (PARTITION BY state) FROM orders ORDER BY 1",
            ],
        };
        all(both, own);
    });
}

/// What flags a column has here depends on the way that the optimizer goes.
const SEMIJOINS: &[&str] = &[
    "SELECT order_id FROM orders WHERE (uid, state) IN (SELECT uid, 'new' FROM customer WHERE city = 'rome') ORDER BY 1",
    "SELECT uid, name FROM customer WHERE uid IN (SELECT uid FROM orders WHERE amount > 20) ORDER BY uid",
    "SELECT uid FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.uid = c.uid AND o.amount > 20) ORDER BY uid",
    "SELECT uid FROM orders WHERE uid = 3 AND order_id IN (SELECT order_id FROM item WHERE n > 1) ORDER BY order_id",
];

const SUBQUERIES: &[&str] = &[
    "SELECT uid, name FROM customer WHERE uid NOT IN (SELECT uid FROM orders WHERE state = 'new') ORDER BY uid",
    "SELECT uid FROM customer WHERE boss NOT IN (SELECT boss FROM customer WHERE uid > 5)",
    "SELECT uid FROM customer c WHERE NOT EXISTS (SELECT * FROM item i WHERE i.item_id = c.uid AND i.order_id IS NULL) ORDER BY uid",
    "SELECT uid, (SELECT COUNT(*) FROM orders o WHERE o.uid = c.uid) FROM customer c ORDER BY uid",
    "SELECT uid, (SELECT MAX(i.price) FROM item i JOIN orders o USING (order_id) WHERE o.uid = c.uid) m FROM customer c ORDER BY m, uid",
    "SELECT order_id FROM orders WHERE amount > ALL (SELECT amount FROM orders WHERE uid = 3 AND amount IS NOT NULL) ORDER BY 1",
    "SELECT order_id FROM orders WHERE amount >= ANY (SELECT price FROM item WHERE n = 3) ORDER BY 1",
    "SELECT order_id FROM orders WHERE (uid, order_id) = (SELECT uid, order_id FROM orders ORDER BY made, order_id LIMIT 1)",
    "SELECT * FROM (SELECT uid, SUM(amount) total FROM orders GROUP BY uid) d WHERE total > 40 ORDER BY uid",
    "SELECT d.city, COUNT(*) FROM (SELECT DISTINCT city, boss FROM customer) d GROUP BY d.city ORDER BY 2, 1",
    "SELECT c.name, d.total FROM customer c LEFT JOIN (SELECT uid, SUM(amount) total FROM orders GROUP BY uid) d ON d.uid = c.uid ORDER BY c.uid",
    "SELECT A.a / A.b FROM (SELECT SUM(amount) a, COUNT(amount) b, state FROM orders GROUP BY state) A ORDER BY A.state",
    "SELECT 1 FROM orders WHERE order_id = (SELECT order_id FROM orders)",
    "SELECT (SELECT uid, name FROM customer)",
    "SELECT x.n FROM (SELECT COUNT(*) n FROM item WHERE order_id IN (SELECT order_id FROM orders WHERE uid = 4)) x",
    "SELECT order_id FROM orders o WHERE amount = (SELECT MAX(amount) FROM orders WHERE uid = o.uid) ORDER BY order_id",
    "SELECT order_id FROM orders o WHERE 2 > (SELECT COUNT(*) FROM orders p WHERE p.state = o.state AND p.amount > o.amount) ORDER BY order_id",
    "SELECT (SELECT title FROM label l WHERE l.state = o.state) t, COUNT(*) FROM orders o JOIN item USING (order_id) GROUP BY t ORDER BY t",
    "SELECT uid FROM customer UNION SELECT uid FROM orders ORDER BY uid",
    "SELECT uid FROM customer UNION ALL SELECT uid FROM orders ORDER BY uid LIMIT 5, 7",
    "(SELECT name, uid FROM customer ORDER BY uid LIMIT 2) UNION ALL (SELECT name, n FROM item ORDER BY item_id DESC LIMIT 2) ORDER BY 2, 1",
    "SELECT uid FROM customer WHERE uid < 4 UNION SELECT uid FROM setting UNION SELECT 1000 ORDER BY 1",
    "SELECT uid FROM customer EXCEPT SELECT uid FROM orders WHERE amount > 9 ORDER BY uid",
    "SELECT uid FROM customer INTERSECT SELECT n FROM item ORDER BY uid",
    "SELECT state FROM orders UNION SELECT state FROM label",
    "WITH d AS (SELECT uid, COUNT(*) k FROM orders GROUP BY uid) SELECT c.name, d.k FROM customer c JOIN d ON d.uid = c.uid ORDER BY c.uid",
    "WITH a AS (SELECT * FROM orders WHERE amount > 10), b (x, y) AS (SELECT a.uid, i.n FROM a JOIN item i ON i.order_id = a.order_id) SELECT x, SUM(y) FROM b GROUP BY x ORDER BY x",
    "WITH RECURSIVE up AS (SELECT uid, boss, 0 depth FROM customer WHERE uid = 12 UNION ALL SELECT c.uid, c.boss, depth + 1 FROM customer c JOIN up ON c.uid = up.boss) SELECT * FROM up ORDER BY depth",
    "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 14) SELECT n.i, COUNT(o.order_id) FROM n LEFT JOIN orders o ON o.uid = n.i GROUP BY n.i ORDER BY n.i",
    "WITH orders AS (SELECT 1 AS one) SELECT orders.one, c.uid FROM orders, customer c ORDER BY 2",
    "WITH a AS (SELECT uid FROM orders WHERE uid = 5) SELECT COUNT(*) FROM a",
];

#[test]
fn common_tables_named_more_than_once() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(both, COMMONS);
        let sql = "WITH d AS (SELECT uid, amount + ? AS a FROM orders WHERE state = ?), e AS (SELECT d.uid, SUM(a) s FROM d WHERE a > ? GROUP BY d.uid) \
                   SELECT x.uid, x.s, ?, (SELECT MAX(s) FROM e) FROM e x WHERE x.s >= (SELECT AVG(s) FROM e) AND x.uid IN (SELECT uid FROM d) ORDER BY 1";
        both.run_with(sql, &[Param::Int(1), Param::Text("new".into()), Param::Int(3), Param::Int(4)]);
    });
}

const COMMONS: &[&str] = &[
    "WITH d AS (SELECT uid, COUNT(*) k FROM orders GROUP BY uid) SELECT a.uid, b.uid FROM d a JOIN d b ON a.k = b.k AND a.uid < b.uid ORDER BY 1, 2",
    "WITH d (u, t) AS (SELECT uid, SUM(amount) FROM orders GROUP BY uid) SELECT u, t FROM d WHERE t = (SELECT MAX(t) FROM d)",
    "WITH d AS (SELECT * FROM customer), e AS (SELECT d.uid, o.amount FROM d JOIN orders o ON o.uid = d.uid) SELECT d.name, SUM(e.amount), (SELECT COUNT(*) FROM e x WHERE x.amount > 9) FROM d LEFT JOIN e ON e.uid = d.uid GROUP BY d.uid, d.name ORDER BY d.uid",
    "WITH a AS (SELECT uid FROM orders), b AS (SELECT uid FROM a UNION SELECT uid FROM customer), c AS (SELECT x.uid FROM a x JOIN b y ON x.uid = y.uid) SELECT COUNT(*) FROM c c1 JOIN c c2 ON c1.uid = c2.uid JOIN b ON b.uid = c1.uid",
    "WITH RECURSIVE up AS (SELECT uid, boss, 0 depth FROM customer WHERE boss IS NULL UNION ALL SELECT c.uid, c.boss, depth + 1 FROM customer c JOIN up ON c.boss = up.uid) SELECT a.uid, b.uid FROM up a JOIN up b ON a.depth = b.depth AND a.uid < b.uid ORDER BY 1, 2",
    "SELECT * FROM (WITH d AS (SELECT uid, city FROM customer) SELECT x.uid, y.city FROM d x JOIN d y ON x.uid = y.uid) z ORDER BY uid",
    "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT a.i, b.i, (SELECT COUNT(*) FROM orders o WHERE o.uid = a.i) k FROM n a JOIN n b ON a.i = b.i + 1 ORDER BY 1",
    "WITH d AS (SELECT uid, city FROM customer), e AS (SELECT city FROM d), f AS (SELECT city FROM d WHERE uid > 3) SELECT e.city FROM e WHERE e.city IN (SELECT city FROM f) ORDER BY 1",
    "WITH d AS (SELECT uid, (WITH i AS (SELECT n FROM item) SELECT MAX(n) FROM i) m FROM customer) SELECT d.m, x.uid FROM d JOIN d x USING (uid) ORDER BY 2",
];

#[test]
fn groups_aggregates_and_windows() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.each("SET sql_mode = ''");
        all(both, GROUPS);
        both.each("SET sql_mode = 'ONLY_FULL_GROUP_BY'");
        all(both, &["SELECT state, amount FROM orders GROUP BY state", "SELECT uid, COUNT(*) FROM customer"]);
    });
}

const GROUPS: &[&str] = &[
    "SELECT LOWER(state), COUNT(*), SUM(amount), AVG(amount), MIN(made), MAX(note) FROM orders GROUP BY state ORDER BY state",
    "SELECT COUNT(DISTINCT state), COUNT(DISTINCT uid, state), SUM(DISTINCT amount), AVG(DISTINCT amount) FROM orders",
    "SELECT uid, COUNT(DISTINCT state) FROM orders GROUP BY uid ORDER BY 2 DESC, 1 LIMIT 5",
    "SELECT state, GROUP_CONCAT(order_id ORDER BY order_id DESC SEPARATOR '; ') FROM orders GROUP BY state ORDER BY state",
    "SELECT GROUP_CONCAT(DISTINCT name ORDER BY name) FROM item",
    "SELECT STD(amount), STDDEV_SAMP(amount), VARIANCE(amount), VAR_SAMP(amount), BIT_AND(uid), BIT_OR(uid), BIT_XOR(uid) FROM orders",
    "SELECT n, SUM(price), AVG(price) FROM item GROUP BY n HAVING COUNT(*) > 16 ORDER BY n",
    "SELECT state s, COUNT(*) c FROM orders GROUP BY s HAVING c > 5 AND MAX(amount) > 20 ORDER BY c, s",
    "SELECT state, uid, COUNT(*) FROM orders GROUP BY state, uid WITH ROLLUP",
    "SELECT YEAR(made) y, MONTH(made) m, COUNT(*), SUM(amount) / COUNT(*) FROM orders GROUP BY y, m",
    "SELECT state = 'new', COUNT(*) FROM orders GROUP BY state = 'new' ORDER BY 1",
    "SELECT uid % 3, MAX(amount) - MIN(amount) FROM orders GROUP BY 1 ORDER BY 2, 1",
    "SELECT COUNT(*) + 1, SUM(amount) * 2, CONCAT(MIN(state), '!') FROM orders",
    "SELECT COUNT(*) FROM orders HAVING COUNT(*) > 100",
    "SELECT MIN(state), MAX(state) FROM orders WHERE uid > 100",
    "SELECT COUNT(*), COUNT(*) FROM orders GROUP BY uid ORDER BY uid",
    "SELECT COUNT(t2.n) FROM item t2, orders t1 WHERE t1.uid < 4 GROUP BY t1.state ORDER BY t1.state LIMIT 3",
    "SELECT uid, SUM(amount) m FROM orders GROUP BY uid ORDER BY m DESC, uid DESC LIMIT 10",
    "SELECT DISTINCT state FROM orders",
    "SELECT DISTINCT city, boss FROM customer ORDER BY city, boss",
    "SELECT DISTINCT UPPER(state) u FROM orders ORDER BY u LIMIT 2",
    "SELECT DISTINCT amount > 10 FROM orders ORDER BY 1",
    "SELECT SQL_CALC_FOUND_ROWS DISTINCT uid FROM orders ORDER BY uid LIMIT 3",
    "SELECT FOUND_ROWS()",
    "SELECT order_id, ROW_NUMBER() OVER (ORDER BY order_id) FROM orders ORDER BY order_id",
    "SELECT order_id, RANK() OVER w, DENSE_RANK() OVER w, SUM(amount) OVER w FROM orders WINDOW w AS (PARTITION BY state ORDER BY uid) ORDER BY order_id",
    "SELECT uid, LAG(order_id) OVER (PARTITION BY uid ORDER BY order_id) l, FIRST_VALUE(amount) OVER (PARTITION BY uid ORDER BY order_id) f FROM orders ORDER BY uid, order_id",
    "SELECT order_id, SUM(amount) OVER (ORDER BY order_id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders ORDER BY order_id",
    "SELECT * FROM (SELECT order_id, uid, ROW_NUMBER() OVER (PARTITION BY uid ORDER BY amount DESC, order_id) r FROM orders) d WHERE r = 1 ORDER BY uid",
    "SELECT order_id FROM orders ORDER BY amount * -1, order_id LIMIT 5",
    "SELECT order_id FROM orders ORDER BY FIELD(state, 'paid', 'new') DESC, order_id LIMIT 6",
    "SELECT order_id FROM orders ORDER BY (SELECT COUNT(*) FROM item i WHERE i.order_id = orders.order_id) DESC, order_id LIMIT 6",
    "SELECT uid FROM orders GROUP BY uid ORDER BY AVG(amount), uid LIMIT 5",
    "SELECT state, amount FROM orders WHERE amount IS NULL GROUP BY state, amount ORDER BY state",
    "SELECT JSON_ARRAYAGG(uid) FROM (SELECT uid FROM customer ORDER BY uid LIMIT 3) d",
    "SELECT JSON_OBJECTAGG(uid, name) FROM customer WHERE uid = 3",
    "SELECT SUM(uid) / SUM(boss), SUM(uid) % 7, -SUM(amount) FROM customer JOIN orders USING (uid)",
    "SELECT IF(COUNT(*) > 3, 'many', 'few') k, state FROM orders GROUP BY state ORDER BY state",
    "SELECT n, COUNT(*) FROM item WHERE name IN ('i1', 'i2') AND (n = 1 OR price > 6) GROUP BY n ORDER BY n",
];

#[test]
fn errors_are_those_of_one_server() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT o.nope FROM orders o JOIN item i ON i.order_id = o.order_id",
                "SELECT order_id FROM orders o JOIN item i ON i.order_id = o.order_id",
                "SELECT o.order_id FROM orders o JOIN item i ON i.order_id = o.order_id WHERE o.nope = 1",
                "SELECT o.order_id FROM orders o JOIN item i ON i.order_id = x.order_id",
                "SELECT orders.order_id FROM orders o JOIN item i ON i.order_id = o.order_id",
                "SELECT mall.o.order_id FROM orders o JOIN item i ON i.order_id = o.order_id",
                "SELECT SUM(SUM(amount)) FROM orders GROUP BY state",
                "SELECT uid FROM orders GROUP BY uid ORDER BY 3",
                "SELECT uid FROM customer UNION SELECT uid, name FROM customer",
                "SELECT * FROM orders o JOIN nothing n ON n.id = o.uid",
                "SELECT DISTINCT uid FROM nothing",
                "SELECT o.order_id FROM orders o JOIN orders o ON o.uid = o.uid",
                "SELECT DISTINCT 1 / 0, state + 1 FROM orders WHERE uid = 3 OR uid = 4",
                "SELECT o.uid FROM orders o JOIN item i USING (order_id) WHERE o.state = 5",
                "SELECT o.uid FROM orders o JOIN item i USING (order_id) WHERE o.order_id = '105x'",
                "SELECT i.n FROM orders o JOIN item i USING (order_id) WHERE o.uid = 9223372036854775807 + o.order_id",
            ],
        );
    });
}

#[test]
fn statements_with_parameters() {
    on_each_server(TABLES, |both| {
        prepare(both);
        let text = |text: &str| Param::Text(text.into());
        let cases: Vec<(&str, Vec<Param>)> = vec![
            (
                "SELECT o.order_id, i.item_id FROM orders o JOIN item i USING (order_id) WHERE o.uid = ? AND i.n > ? ORDER BY 1, 2",
                vec![Param::Int(3), Param::Int(0)],
            ),
            (
                "SELECT o.order_id, i.item_id FROM orders o JOIN item i USING (order_id) WHERE o.uid IN (?, ?) AND i.item_id IN (?, ?, 12) ORDER BY 1, 2",
                vec![Param::Int(3), Param::Int(4), Param::Int(8), Param::Int(9)],
            ),
            (
                "SELECT COUNT(DISTINCT state) FROM orders WHERE state <> ? AND amount > ?",
                vec![text("new"), text("3.5")],
            ),
            (
                "SELECT o.state, COUNT(*) FROM orders o JOIN item i USING (order_id) WHERE i.name = ? AND o.made < ? GROUP BY o.state ORDER BY 1 LIMIT ?",
                vec![text("i1"), text("2024-01-20"), Param::Int(3)],
            ),
            (
                "SELECT ?, order_id FROM orders WHERE uid IN (SELECT uid FROM customer WHERE city = ?) ORDER BY order_id",
                vec![text("it's"), text("ROME")],
            ),
            (
                "WITH d AS (SELECT * FROM orders WHERE amount > ?) SELECT COUNT(*) FROM d WHERE uid > ?",
                vec![Param::Double(12.5), Param::Int(3)],
            ),
            (
                "SELECT uid FROM customer WHERE uid = ? UNION SELECT uid FROM orders WHERE order_id = ? ORDER BY 1",
                vec![Param::Int(3), Param::Int(110)],
            ),
            (
                "SELECT o.uid FROM orders o LEFT JOIN item i ON i.order_id = o.order_id AND i.n = ? WHERE o.note = ? ORDER BY 1",
                vec![Param::Int(2), text("it's \\ 7")],
            ),
            ("SELECT DISTINCT LOWER(state) FROM orders WHERE uid = ? OR state = ?", vec![Param::Null, text("NEW")]),
        ];
        for (sql, params) in &cases {
            both.run_with(sql, params);
            both.run_with(sql, params);
        }
    });
}

#[test]
fn settings_and_variables_of_the_session() {
    on_each_server(TABLES, |both| {
        prepare(both);
        for sql in [
            "SET @low = 9, @city = 'rome'",
            "SELECT o.order_id FROM orders o JOIN item i USING (order_id) WHERE o.amount > @low AND i.n = 2 ORDER BY 1, i.item_id",
            "SELECT DISTINCT city FROM customer WHERE city = @city AND uid < 9",
            "SELECT COUNT(DISTINCT state), MAX(amount) INTO @k, @m FROM orders",
            "SELECT @k, @m",
            "SELECT DISTINCT uid INTO @u FROM orders WHERE order_id = 104",
            "SELECT @u, ROW_COUNT()",
            "SELECT DISTINCT uid INTO @u FROM orders",
            "SELECT @x := MAX(uid) FROM customer c JOIN item i ON i.item_id = c.uid",
            "SELECT @x",
            "SET sql_select_limit = 3",
            "SELECT DISTINCT uid FROM orders ORDER BY uid",
            "SELECT o.order_id FROM orders o JOIN item i USING (order_id) ORDER BY 1, i.item_id",
            "SELECT o.order_id FROM orders o JOIN item i USING (order_id) WHERE i.n > 0 ORDER BY 1, i.item_id LIMIT 5",
            "SET sql_select_limit = DEFAULT",
            "SET group_concat_max_len = 20",
            "SELECT state, GROUP_CONCAT(order_id ORDER BY order_id) FROM orders GROUP BY state ORDER BY state",
            "SET group_concat_max_len = DEFAULT",
            "SET div_precision_increment = 9",
            "SELECT AVG(amount), SUM(amount) / 3 FROM orders WHERE amount / 3 > 1.1111112",
            "SELECT state, AVG(amount) FROM orders GROUP BY state ORDER BY state",
            "SET div_precision_increment = DEFAULT",
            "SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'",
            "SELECT DISTINCT \"state\" || 'x' FROM orders WHERE \"note\" <> 'it''s \\ 4' ORDER BY 1",
            "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'",
            "SELECT DISTINCT city FROM customer ORDER BY city",
            "SET sql_mode = DEFAULT",
            "SET time_zone = '+05:30'",
            "SELECT DISTINCT made FROM orders WHERE made > '2024-01-20 12:00:00' ORDER BY made",
            "SELECT COUNT(DISTINCT uid) FROM orders WHERE made < NOW() AND uid > 3",
            "SELECT COUNT(DISTINCT NOW(6)), COUNT(DISTINCT SYSDATE() > made) FROM orders WHERE made < NOW(6)",
            "SET timestamp = 1704844800",
            "SELECT DISTINCT made, NOW() FROM orders WHERE made < NOW() ORDER BY made",
            "SET timestamp = DEFAULT",
            "SET NAMES latin1",
            "SELECT DISTINCT city FROM customer WHERE city <> 'é' ORDER BY city",
            "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
            "SELECT DISTINCT city FROM customer WHERE city = 'rome' ORDER BY city",
            "SELECT 'ROME' = 'rome', COUNT(DISTINCT city) FROM customer",
            "SET NAMES utf8mb4",
            "SELECT DISTINCT DATABASE(), USER() IS NULL, LAST_INSERT_ID() FROM customer",
            "SELECT LAST_INSERT_ID(77), COUNT(DISTINCT uid) FROM customer",
            "SELECT LAST_INSERT_ID()",
            "SELECT SQL_CALC_FOUND_ROWS o.uid FROM orders o JOIN item i USING (order_id) ORDER BY 1 LIMIT 2",
            "SELECT FOUND_ROWS(), ROW_COUNT()",
            "SELECT DISTINCT uid FROM orders ORDER BY uid LIMIT 4",
            "SELECT FOUND_ROWS(), ROW_COUNT()",
            "SELECT DISTINCT state + 0 FROM orders ORDER BY 1",
            "SHOW WARNINGS",
            "SELECT COUNT(*) FROM (SELECT DISTINCT RAND() r FROM orders) d",
        ] {
            both.run(sql);
        }
    });
}

#[test]
fn transactions_see_their_own_rows() {
    on_each_server(TABLES, |both| {
        prepare(both);
        let look = "SELECT c.name, COUNT(o.order_id), SUM(o.amount), l.title, s.value FROM customer c \
                    LEFT JOIN orders o ON o.uid = c.uid LEFT JOIN label l ON l.state = o.state \
                    LEFT JOIN setting s ON s.uid = c.uid WHERE c.uid < 6 GROUP BY c.uid, c.name, l.title, s.value ORDER BY 1, 2, 3, 4, 5";
        let other = both.another();
        let mut other = other;
        for sql in [
            "BEGIN",
            look,
            "UPDATE customer SET name = 'changed' WHERE uid = 3",
            "INSERT INTO orders (order_id, uid, amount, state) VALUES (900, 3, 5, 'new'), (901, 4, 6, 'paid')",
            "UPDATE setting SET value = 'mine' WHERE id = 1",
            "INSERT INTO label VALUES ('odd', 'Odd')",
            look,
        ] {
            both.run(sql);
        }
        other.run(look);
        for sql in ["ROLLBACK", look, "SET autocommit = 0", look, "DELETE FROM customer WHERE uid = 4", look, "COMMIT"]
        {
            both.run(sql);
        }
        for sql in
            ["SET autocommit = 1", "START TRANSACTION READ ONLY", look, "SELECT @a := COUNT(DISTINCT uid) FROM orders"]
        {
            both.run(sql);
        }
        for sql in ["COMMIT", "SELECT @a", look] {
            both.run(sql);
        }
        other.run(look);
    });
}

/// Every type, at its ends.
fn prepare_types(both: &mut Both) {
    let own = match both.flavour {
        Flavour::MySql => "utf8mb4_0900_as_cs",
        Flavour::MariaDb => "utf8mb4_uca1400_as_cs",
    };
    both.each("SET sql_mode = 'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00'");
    both.each(&format!(
        "CREATE TABLE kinds (id BIGINT NOT NULL, ti TINYINT, tu TINYINT UNSIGNED NOT NULL DEFAULT 7, si SMALLINT, \
         mi MEDIUMINT, i INT NOT NULL, iz INT(8) ZEROFILL, b BIGINT, bu BIGINT UNSIGNED, d DECIMAL(20,6), \
         dd DECIMAL(65,30), f FLOAT, fd FLOAT(10,3), db DOUBLE, dbd DOUBLE(30,2), bt BIT(64), b1 BIT(1), y YEAR, dt DATE, \
         dtm DATETIME(6) NOT NULL, ts TIMESTAMP(3) NULL, tm TIME(6), \
         v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, vb VARCHAR(40) CHARACTER SET utf8mb4 COLLATE {own}, \
         vl CHAR(40) CHARACTER SET latin1, vu VARCHAR(40) CHARACTER SET ucs2, v16 VARCHAR(40) CHARACTER SET utf16, \
         bi BINARY(4), vbi VARBINARY(20) NOT NULL, e ENUM('z','','3') CHARACTER SET latin1, st SET('x','y','b'), tx TEXT, \
         bl BLOB, j JSON, g GEOMETRY, gv INT AS (i + 1) VIRTUAL, gs VARCHAR(50) AS (CONCAT(v, '!')) STORED, \
         made TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, \
         PRIMARY KEY (id), KEY by_i (i), UNIQUE KEY by_v (id, v), KEY by_tx (tx(3)), CHECK (i < 1000000))"
    ));
    for row in KINDS {
        both.each(&format!(
            "INSERT INTO kinds (id, ti, tu, si, mi, i, iz, b, bu, d, dd, f, fd, db, dbd, bt, b1, y, dt, dtm, ts, tm, v, vb, vl, \
             vu, v16, bi, vbi, e, st, tx, bl, j, g, made) VALUES {row}"
        ));
    }
    both.each("SET sql_mode = DEFAULT, time_zone = DEFAULT");
}

const KINDS: [&str; 5] = [
    "(1, -128, 0, -32768, -8388608, -7, 42, -9223372036854775808, 0, -1.5, \
     -99999999999999999999999999999999999.999999999999999999999999999999, 0.1, -1.2345, 0.1, -5.55, 0, b'0', 1901, \
     '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '-838:59:59', '', ' a ', 'ä', 'ä€', '€', X'', X'', 0, '', \
     '', '', 'null', NULL, '2024-03-31 00:30:00')",
    "(2, 127, 255, 32767, 8388607, 7, 0, 9223372036854775807, 18446744073709551615, 12345678901234.123456, \
     99999999999999999999999999999999999.999999999999999999999999999999, 3.402823e38, 1234567.125, 1.7976931348623157e308, \
     1e25, 18446744073709551615, b'1', 2155, '9999-12-31', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07.999', \
     '838:59:59', 'it''s \\\\ a \\\"q\\\" \\n', 'É', 'ÿ', 'x', 'xyz', X'FFFFFFFF', X'0027005C', 'z', 'x,y,b', 'text', \
     X'00FF27', '{\"a\": [1, 2.5, \"ü\", null], \"b\": {\"c\": true}}', ST_GeomFromText('POINT(1 2)'), '2024-10-27 00:30:00')",
    "(0, 0, 1, 0, 0, 0, 99999999, 0, 1, 0, 0.000000000000000000000000000001, 1.17549e-38, 0.001, 2.2250738585072014e-308, \
     0.01, 1, b'1', 0, '2020-02-31', '2020-00-10 00:00:00.000001', '1970-01-01 00:00:01', '00:00:00.000001', 'a', 'a ', \
     'a', 'a', 'a', X'61', X'61', '', 'b', 'A', 'A', '\"x\"', ST_GeomFromText('LINESTRING(0 0, 1 1)'), '2024-10-27 01:30:00')",
    "(3, NULL, 3, NULL, NULL, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
     '2024-01-01', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, X'FB', NULL, NULL, NULL, NULL, NULL, NULL, '2024-01-01')",
    "(4, 1, 3, 1, 1, 5, 1, 1, 1, 0.1, 0.1, 16777217, 0.5, 9007199254740993, 3, 3, b'0', 2024, '2024-02-29', '2024-02-29', \
     '2024-02-29 00:00:00.5', '12:00:00', '😀', '😀', 'A', 'A', '😀', X'0102', X'00', '3', 'x', 'a\\0b', 'a\\0b', '[]', \
     ST_GeomFromText('POLYGON((0 0,0 1,1 1,0 0))'), '2024-01-01')",
];

#[test]
fn values_of_every_type_arrive_as_they_are() {
    let tables = "[schema.mall.table]\nkinds = { key = \"id\", tables = 4 }\nother = { key = \"id\", tables = 4 }\nodd = { key = \"id\", tables = 4 }\n";
    on_each_server(tables, |both| {
        prepare_types(both);
        both.each("CREATE TABLE other (id BIGINT NOT NULL PRIMARY KEY, k BIGINT)");
        both.each("INSERT INTO other VALUES (10, 0), (11, 1), (12, 2), (13, 3), (14, 4)");
        let columns = [
            "ti", "tu", "si", "mi", "i", "iz", "b", "bu", "d", "dd", "f", "fd", "db", "dbd", "bt", "b1", "y", "dt",
            "dtm", "ts", "tm", "v", "vb", "vl", "vu", "v16", "bi", "vbi", "e", "st", "tx", "bl", "j", "g", "gv", "gs",
            "made",
        ];
        let mut statements = vec![
            "SELECT * FROM kinds k JOIN other o ON o.k = k.id ORDER BY o.id".to_owned(),
            "SELECT k.*, o.id FROM other o LEFT JOIN kinds k ON o.k = k.id AND k.i > 0 ORDER BY o.id".to_owned(),
            "SELECT k.id, e + 0, st + 0, HEX(bt), HEX(vbi), HEX(v16), LENGTH(vl), f + 0e0, db * 1e0, HEX(WEIGHT_STRING(vb)), \
             UNIX_TIMESTAMP(ts), UNIX_TIMESTAMP(made), ST_AsText(g), JSON_TYPE(j) FROM kinds k JOIN other o ON o.k = k.id \
             ORDER BY k.id"
                .to_owned(),
        ];
        let own = match both.flavour {
            Flavour::MySql => "v VECTOR(3)",
            Flavour::MariaDb => "v UUID, w INET6, x INET4",
        };
        both.each(&format!("CREATE TABLE odd (id BIGINT NOT NULL PRIMARY KEY, {own})"));
        match both.flavour {
            Flavour::MySql => both.each("INSERT INTO odd VALUES (1, TO_VECTOR('[1,-2.5,3]')), (2, NULL)"),
            Flavour::MariaDb => both.each(
                "INSERT INTO odd VALUES (1, '123e4567-e89b-12d3-a456-426655440000', '2001:db8::ff00:42:8329', '192.0.2.1'), \
                 (2, NULL, NULL, NULL), (3, '00000000-0000-0000-0000-000000000000', '::', '0.0.0.0')",
            ),
        }
        statements.push("SELECT * FROM odd d JOIN other o ON o.k = d.id ORDER BY d.id".to_owned());
        for column in columns {
            statements.push(format!("SELECT {column} FROM kinds k JOIN other o ON o.k = k.id ORDER BY o.id"));
            if column != "g" && column != "j" {
                statements.push(format!(
                    "SELECT {column}, COUNT(*), MAX({column}) FROM kinds GROUP BY {column} ORDER BY {column}"
                ));
            }
        }
        // A server that sorts through a table of its own lets no other dates into it.
        both.each("SET sql_mode = 'ALLOW_INVALID_DATES'");
        for zone in ["DEFAULT", "'+09:30'"] {
            both.each(&format!("SET time_zone = {zone}"));
            all_but(both, &statements, is_of_the_plan);
        }
        both.each("SET NAMES latin1");
        all_but(both, &statements, is_of_the_plan);
        both.each("SET NAMES utf8mb4, character_set_results = latin1");
        all_but(both, &statements[..3], is_of_the_plan);
        both.each("SET character_set_results = NULL");
        all_but(both, &statements[..3], is_of_the_plan);
        both.each(
            "SET NAMES utf8mb4, sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,REAL_AS_FLOAT,ANSI_QUOTES,ALLOW_INVALID_DATES'",
        );
        all_but(both, &statements, is_of_the_plan);
    });
}
