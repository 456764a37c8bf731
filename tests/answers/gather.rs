//! Queries that can't be split over places: joins across keys, subqueries, CTEs, set operations,
//! windows, aggregates of all kinds. Their rows are brought together on one server, and the answer is
//! that of one server in every field.

use crate::common::{Answer, Both, Mask, differences, on_each_server};

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
    let mut different = Vec::new();
    for sql in statements.iter().map(AsRef::as_ref) {
        let (plain, proxied) = both.answers(sql, &[]);
        let found = differences(sql, &plain, &proxied, &Mask::default());
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
        all(
            both,
            &[
                "SELECT o.order_id, i.item_id, i.name, o.amount FROM orders o JOIN item i ON i.order_id = o.order_id",
                "SELECT * FROM orders o JOIN item i ON i.order_id = o.order_id ORDER BY i.item_id",
                "SELECT * FROM orders o JOIN item i USING (order_id) WHERE o.amount > 5 AND i.n = 2 ORDER BY i.item_id",
                "SELECT orders.order_id, mall.item.name FROM orders, item WHERE orders.order_id = mall.item.order_id",
                "SELECT o.*, i.name FROM orders o LEFT JOIN item i ON i.order_id = o.order_id AND i.n > 1 WHERE o.uid < 9",
                "SELECT o.order_id, i.item_id FROM orders o RIGHT JOIN item i ON i.order_id = o.order_id WHERE o.order_id IS NULL",
            ],
        );
    });
}
