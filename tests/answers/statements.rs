//! All kinds of statements that MySQL and MariaDB know, with the tables unsharded and sharded.

use std::collections::BTreeMap;

use crate::common::{Answer, Both, Mask, Protocol, differences, on_each_server_by};

const UNSHARDED: &str = "";
const SHARDED: &str = r#"
[schema.mall.table.t1]
key = "id"
tables = 2

[schema.mall.table.t2]
key = "id"
tables = 2
"#;

const TABLES: [&str; 5] = [
    "CREATE TABLE t1 (id INT NOT NULL PRIMARY KEY, k INT, name VARCHAR(64), a INT, b INT, c INT DEFAULT 0, d INT, \
     created DATETIME, j JSON, title VARCHAR(100), body TEXT, value INT, KEY k1 (k), KEY k2 (a), FULLTEXT KEY ft (title, body))",
    "CREATE TABLE t2 (id INT NOT NULL PRIMARY KEY, k INT, a INT, b INT)",
    "CREATE TABLE t3 (id INT NOT NULL PRIMARY KEY, b INT)",
    "INSERT INTO t1 (id, k, name, a, b, j) VALUES (5, 1, 'five', 1, 2, '{\"a\": 1}')",
    "INSERT INTO t2 VALUES (5, 1, 1, 2)",
];

fn set_up(both: &mut Both) {
    for table in ["t1", "t2", "t3", "t4", "t9", "t10"] {
        both.plain.query(format!("DROP TABLE IF EXISTS {table}"));
        both.proxied.query(format!("DROP TABLE IF EXISTS {table}"));
    }
    for statement in TABLES {
        both.each(statement);
    }
}

/// What became of a statement beside what a plain server answers.
fn verdict(both: &mut Both, statement: &str) -> String {
    let (plain, proxied) = both.answers(statement, &[]);
    match (plain.last(), proxied.last()) {
        (_, Some(Answer::Lost(why))) => format!("LOST {why}"),
        (Some(Answer::Err(plain)), Some(Answer::Err(proxied))) if plain.code == proxied.code => "same error".into(),
        (Some(Answer::Err(plain)), Some(Answer::Err(proxied))) => {
            format!("error {} for {}: {}", proxied.code, plain.code, proxied.text)
        }
        (Some(_), Some(Answer::Err(proxied))) => format!("REFUSED {}: {}", proxied.code, proxied.text),
        (Some(Answer::Err(plain)), Some(_)) => format!("TAKEN, plain {}: {}", plain.code, plain.text),
        (Some(_), Some(_)) => {
            let found = differences(statement, &plain, &proxied, &Mask::default());
            if found.is_empty() { "same".into() } else { format!("DIFFERS {}", found.join("; ")) }
        }
        (_, _) => "nothing".into(),
    }
}

#[test]
fn every_statement_is_answered_or_refused() {
    for (kind, tables) in [("unsharded", UNSHARDED), ("sharded", SHARDED)] {
        on_each_server_by(&[Protocol::Text], tables, |both| {
            let mut counts = BTreeMap::new();
            for statement in include_str!("../sql/statements.txt").lines() {
                let mut session = both.another();
                set_up(&mut session);
                let verdict = verdict(&mut session, statement);
                let first = verdict.split(' ').next().unwrap_or_default().to_owned();
                *counts.entry(first).or_insert(0) += 1;
                if verdict != "same" && verdict != "same error" {
                    println!("{} {kind} | {statement} | {verdict}", both.flavour);
                }
            }
            println!("{} {kind}: {counts:?}", both.flavour);
        });
    }
}
