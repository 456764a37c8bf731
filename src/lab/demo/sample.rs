//! The points mall: its rules in the topology, its tables and its rows.

use std::fmt::Write;

/// Coin records and orders by user, products everywhere, settings once, and sysbench's table.
pub(super) const TABLES: &str = r#"
[schema.mall.table.coin_record]
key = "uid"
id = "id"

[schema.mall.table.orders]
key = "uid"
id = { column = "order_id", carries_key = true }

[schema.mall.table.product]
kind = "reference"

[schema.mall.table.sbtest1]
key = "id"
"#;

pub(super) struct SampleTable {
    pub(super) name: &'static str,
    /// Physical tables over the four shards.
    pub(super) subtables: u64,
    pub(super) create: &'static str,
}

pub(super) const CREATES: &[SampleTable] = &[
    SampleTable {
        name: "coin_record",
        subtables: 4096,
        create: "CREATE TABLE coin_record (\
                 id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, \
                 uid BIGINT NOT NULL, \
                 amount INT NOT NULL, \
                 reason VARCHAR(40) NOT NULL, \
                 created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, \
                 KEY by_user (uid, created_at))",
    },
    SampleTable {
        name: "orders",
        subtables: 4096,
        create: "CREATE TABLE orders (\
                 order_id BIGINT NOT NULL PRIMARY KEY, \
                 uid BIGINT NOT NULL, \
                 product_id INT NOT NULL, \
                 price DECIMAL(10,2) NOT NULL, \
                 KEY by_user (uid))",
    },
    SampleTable {
        name: "product",
        subtables: 4,
        create: "CREATE TABLE product (\
                 product_id INT NOT NULL PRIMARY KEY, \
                 name VARCHAR(60) NOT NULL, \
                 price DECIMAL(10,2) NOT NULL)",
    },
    SampleTable {
        name: "setting",
        subtables: 1,
        create: "CREATE TABLE setting (name VARCHAR(60) NOT NULL PRIMARY KEY, value VARCHAR(200) NOT NULL)",
    },
    SampleTable {
        name: "sbtest1",
        subtables: 4096,
        create: "CREATE TABLE sbtest1 (\
                 id INT NOT NULL PRIMARY KEY, \
                 k INT NOT NULL DEFAULT 0, \
                 c CHAR(120) NOT NULL DEFAULT '', \
                 pad CHAR(60) NOT NULL DEFAULT '', \
                 KEY k_1 (k))",
    },
];

pub(super) const SMALL_ROWS: &[&str] = &[
    "INSERT INTO product (product_id, name, price) VALUES \
     (1, 'tea', 3.50), (2, 'coffee', 4.20), (3, 'mug', 12.00), (4, 'kettle', 39.90), (5, 'biscuits', 2.75)",
    "INSERT INTO setting (name, value) VALUES ('currency', 'EUR'), ('coins_per_order', '10'), ('open', 'yes')",
];

const PRICES: [&str; 5] = ["3.50", "4.20", "12.00", "39.90", "2.75"];
const REASONS: [&str; 3] = ["welcome", "daily visit", "friend invited"];

/// Three coin records for each of the users.
pub(super) fn coin_records(users: std::ops::Range<u32>) -> String {
    let mut sql = String::from("INSERT INTO coin_record (uid, amount, reason) VALUES ");
    for uid in users {
        for (nth, reason) in (1..).zip(REASONS) {
            comma(&mut sql);
            write(&mut sql, format_args!("({uid}, {}, '{reason}')", (uid * 7 + nth * 5) % 50 + 1));
        }
    }
    sql
}

/// An order for each of the users.
pub(super) fn orders(users: std::ops::Range<u32>) -> String {
    let mut sql = String::from("INSERT INTO orders (uid, product_id, price) VALUES ");
    for uid in users {
        let product = uid % 5;
        comma(&mut sql);
        write(&mut sql, format_args!("({uid}, {}, {})", product + 1, PRICES[product as usize]));
    }
    sql
}

/// Rows as sysbench itself prepares them, but for the randomness.
pub(super) fn sysbench_rows(ids: std::ops::Range<u32>) -> String {
    let mut sql = String::from("INSERT INTO sbtest1 (id, k, c, pad) VALUES ");
    for id in ids {
        comma(&mut sql);
        let k = id.wrapping_mul(2_654_435_761) % 10_000 + 1;
        write(&mut sql, format_args!("({id}, {k}, '{id:0>119}', '{k:0>59}')"));
    }
    sql
}

fn comma(sql: &mut String) {
    if sql.ends_with(')') {
        sql.push_str(", ");
    }
}

fn write(sql: &mut String, what: std::fmt::Arguments<'_>) {
    sql.write_fmt(what).expect("writing to a string does not fail");
}
