//! Every statement of `tests/sql/statements.txt`, on one plain server and through the proxy, with
//! `t1` unsharded and with `t1` sharded. What the plain server takes must give the same answer, or
//! be refused: by the allow-list or by a sentence. The table in docs/compatibility.md is what was
//! seen; `UPDATE=1` writes it anew, and the diff is read.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::common::{Answer, Both, Mask, Protocol, differences, on_each_server_by};

/// Tables that no rule names are created with a note; these have rules.
const UNSHARDED: &str = r#"[schema.mall.table]
t1 = { kind = "unsharded" }
t9 = { kind = "unsharded" }
t10 = { kind = "unsharded" }
"#;
const SHARDED: &str = r#"[schema.mall.table]
t1 = { key = "id", tables = 2 }
t9 = { kind = "unsharded" }
t10 = { kind = "unsharded" }
"#;

const TABLES: [(&str, &str); 3] = [
    (
        "t1",
        "CREATE TABLE t1 (id INT NOT NULL, k INT NOT NULL DEFAULT 0, name VARCHAR(64), title VARCHAR(64), body TEXT, \
         a INT, b INT, c INT, created DATETIME, j JSON, PRIMARY KEY (id), KEY k1 (k), KEY k2 (name), KEY k8 (c), \
         FULLTEXT KEY ft (title, body))",
    ),
    ("t2", "CREATE TABLE t2 (id INT NOT NULL PRIMARY KEY, k INT, a INT, b INT)"),
    ("t3", "CREATE TABLE t3 (id INT NOT NULL PRIMARY KEY, a INT, b INT)"),
];

const ROWS: [&str; 3] = [
    "INSERT INTO t1 (id, k, name, title, body, a, b, c, created, j) VALUES \
     (5, 3, 'abc', 'foo', 'foo bar', 1, 2, 3, '2024-01-02 03:04:05', '{\"a\": 1, \"tags\": [17]}'), \
     (6, 4, 'Abd', 'bar', 'x', 2, 2, 4, '2024-02-03 00:00:00', '{\"a\": 2}'), \
     (7, 3, NULL, NULL, NULL, NULL, 1, 5, NULL, NULL)",
    "INSERT INTO t2 VALUES (5, 1, 1, 1), (8, 2, 2, 2)",
    "INSERT INTO t3 VALUES (5, 1, 1), (9, 2, 2)",
];

/// Answers that no two servers, or no two moments, give alike: there it counts that both succeed.
const VARYING: &[&str] = &[
    "NOW()",
    "SELECT FOUND_ROWS()",
    "CURRENT_TIMESTAMP",
    "SHOW GLOBAL STATUS",
    "SHOW ENGINE",
    "SHOW PROCESSLIST",
    "SHOW FULL PROCESSLIST",
    "SHOW TABLE STATUS",
    "SHOW GRANTS",
    "EXPLAIN",
    "ANALYZE SELECT",
    "SHOW DATABASES",
    "DISTINCT",
    "SHOW INDEX",
    "SHOW KEYS",
    // Which row is counted first.
    "@rn := @rn + 1",
];

/// Temporary tables have no fulltext indexes, so where rows are brought together a text column of one is
/// part of no key. It is a flag that servers keep for themselves.
const PART_OF_A_KEY: &str = "column `body`: flags: \"0x4010\" against \"0x0010\"";

/// What became of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Works,
    Refused(String),
    /// The plain server itself refuses it.
    NotTaken,
}

#[test]
fn what_one_server_takes_works_or_is_refused_with_a_sentence() {
    let unsharded = fates(UNSHARDED);
    let sharded = fates(SHARDED);
    let page = page(&unsharded, &sharded);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/compatibility.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).expect("docs/compatibility.md is written");
    }
    let written = std::fs::read_to_string(&path).expect("docs/compatibility.md");
    let rows = |page: &str| page.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect::<Vec<_>>();
    let (seen, known) = (rows(&page), rows(&written));
    // A flavour that is not on this machine takes statements that the others don't.
    let unknown: Vec<_> = seen.iter().filter(|row| !known.contains(row)).collect();
    assert!(unknown.is_empty(), "not so in docs/compatibility.md (UPDATE=1 writes it): {unknown:#?}");
    let works = |fates: &BTreeMap<usize, Fate>| fates.values().filter(|fate| **fate == Fate::Works).count();
    println!("they work unsharded: {}, sharded: {}", works(&unsharded), works(&sharded));
    assert!(works(&unsharded) > 100 && works(&sharded) > 80, "most of them work");
}

fn statements() -> impl Iterator<Item = &'static str> {
    include_str!("../sql/statements.txt").lines()
}

/// By line: what became of each statement on all flavours together.
fn fates(tables: &str) -> BTreeMap<usize, Fate> {
    let seen = std::cell::RefCell::new(BTreeMap::new());
    let wrong = std::cell::RefCell::new(Vec::new());
    on_each_server_by(&[Protocol::Text], tables, |both| {
        set_up(both);
        for (line, sql) in statements().enumerate() {
            match fate(both, sql) {
                Ok(fate) => {
                    let mut seen = seen.borrow_mut();
                    let known = seen.entry(line).or_insert(Fate::NotTaken);
                    match (&*known, fate) {
                        (_, Fate::NotTaken) | (Fate::Refused(_), Fate::Refused(_)) => {}
                        (Fate::NotTaken, fate) => *known = fate,
                        (Fate::Works, Fate::Works) => {}
                        (Fate::Works | Fate::Refused(_), fate) => {
                            wrong
                                .borrow_mut()
                                .push(format!("{}: {sql}: {known:?} elsewhere, {fate:?} here", both.flavour));
                        }
                    }
                }
                Err(found) => wrong.borrow_mut().push(format!("{}: {sql}\n    {found}", both.flavour)),
            }
            if changes(sql) {
                set_up(both);
            }
        }
    });
    let wrong = wrong.into_inner();
    assert!(wrong.is_empty(), "{tables:?}: {} wrong:\n{}", wrong.len(), wrong.join("\n"));
    seen.into_inner()
}

/// One statement in sessions of its own.
fn fate(both: &Both, sql: &str) -> Result<Fate, String> {
    let mut both = both.another();
    let (plain, proxied) = match sql.starts_with("SET PASSWORD") {
        // The plain server would do it, and let nobody in again.
        true => (Vec::new(), both.proxied.query(sql)),
        false => both.answers(sql, &[]),
    };
    let error = |answers: &[Answer]| match answers.last() {
        Some(Answer::Err(error)) => Some(error.clone()),
        _ => None,
    };
    match (error(&plain), error(&proxied)) {
        (Some(_), _) => return Ok(Fate::NotTaken),
        (None, Some(refused)) => {
            let after = both.proxied.query("SELECT 1");
            if !matches!(after.as_slice(), [Answer::Rows(_)]) {
                return Err(format!("after the refusal the session is lost: {after:?}"));
            }
            // 1235: not supported, with a sentence; the others are the allow-list's.
            return match refused.code {
                1235 | 1044 | 1045 | 1142 | 1227 => Ok(Fate::Refused(refused.text)),
                code => Err(format!("error {code}: {}", refused.text)),
            };
        }
        (None, None) => {}
    }
    let mut found = differences(sql, &plain, &proxied, &Mask::default());
    found.retain(|difference| difference != PART_OF_A_KEY);
    let varies = VARYING.iter().any(|words| sql.contains(words)) && !proxied.is_empty();
    if found.is_empty() || varies { Ok(Fate::Works) } else { Err(found.join("\n    ")) }
}

/// Anything but a look.
fn changes(sql: &str) -> bool {
    ![
        "SELECT", "SHOW", "SET", "DESC", "EXPLAIN", "WITH", "USE", "VALUES", "TABLE", "BEGIN", "START", "COMMIT",
        "ROLLBACK", "DO", "(",
    ]
    .iter()
    .any(|word| sql.starts_with(word))
}

/// The tables as they were at the beginning, in both.
fn set_up(both: &mut Both) {
    for side in [&mut both.plain, &mut both.proxied] {
        for table in ["t1", "t2", "t3", "t9", "t10"] {
            drop(side.query(format!("DROP TABLE IF EXISTS {table}")));
        }
        drop(side.query("DROP VIEW IF EXISTS v1"));
    }
    for (_, create) in TABLES {
        both.each(create);
    }
    for rows in ROWS {
        both.each(rows);
    }
}

fn page(unsharded: &BTreeMap<usize, Fate>, sharded: &BTreeMap<usize, Fate>) -> String {
    let mut page = String::from(HEAD);
    for (line, sql) in statements().enumerate() {
        let fate = |fates: &BTreeMap<usize, Fate>| fates.get(&line).cloned().unwrap_or(Fate::NotTaken);
        let (plain, split) = (fate(unsharded), fate(sharded));
        if plain == Fate::NotTaken && split == Fate::NotTaken {
            continue;
        }
        let cell = |fate: &Fate| match fate {
            Fate::Works => "works".to_owned(),
            Fate::Refused(sentence) => sentence.replace('|', "\\|"),
            Fate::NotTaken => "–".to_owned(),
        };
        let sql = sql.replace('|', "\\|").replace('`', "'");
        writeln!(page, "| `{sql}` | {} | {} |", cell(&plain), cell(&split)).expect("a string grows");
    }
    page
}

const HEAD: &str = "# Compatibility

Made by a test (`tests/answers/compatibility.rs`, rewritten with `UPDATE=1`) that runs each statement
on one plain server and through Bifold, on MariaDB 10.11 and MySQL 9.7, and compares everything: rows,
column metadata, affected rows, insert ids, warnings, errors. *Works* means: the same answer. Otherwise
the refusal's text stands here. Statements that the plain server refuses itself are left out.

`t1` is unsharded in the second column and sharded by `id` in the third; `t2` and `t3` are unsharded.

| statement | `t1` unsharded | `t1` sharded |
| --- | --- | --- |
";
