//! Random statements of one place over random rows, compared with one plain server: rows, counts,
//! errors, warnings. What the proxy refuses is not run on the plain side. A run is given by its
//! seed: `GENERATED_SEED=n` runs that one alone, `GENERATED_SECONDS=n` runs longer.

use std::time::{Duration, Instant};

use crate::common::{Answer, Both, Mask, differences, on_each_server};

pub(super) mod random;
mod statement;

use random::Random;
use statement::{KEYS, Maker};

const SECONDS: u64 = 5;
/// The same on each machine that is fast enough.
const SEEDS: u64 = 25;
/// Statements after which tables are emptied and another seed begins.
const ROUND: usize = 120;

#[test]
fn random_statements_are_answered_as_by_one_server() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let longer = number("GENERATED_SECONDS");
    let (seconds, seeds) = longer.map_or((SECONDS, SEEDS), |seconds| (seconds, u64::MAX));
    let only = number("GENERATED_SEED");
    on_each_server(&statement::topology(), |both| {
        for sql in statement::definitions() {
            both.each(&sql);
        }
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut told = Vec::new();
        for seed in only.map_or(1..=seeds, |seed| seed..=seed) {
            told.extend(round(both, seed));
            if Instant::now() > end || told.len() > 5 {
                break;
            }
        }
        assert!(told.is_empty(), "{} {:?}:\n{}", both.flavour, both.protocol, told.join("\n"));
    });
}

/// The differences that the statements of one seed showed.
fn round(both: &mut Both, seed: u64) -> Option<String> {
    let mut maker = Maker::new(Random::new(seed), both.flavour);
    both.each("ROLLBACK");
    both.each("SET autocommit = 1, sql_mode = DEFAULT");
    both.each("SET NAMES utf8mb4");
    for sql in maker.emptying() {
        both.each(&sql);
    }
    let mut before = String::new();
    for step in 0..ROUND {
        let (sql, params) = maker.next(step);
        let after = std::mem::replace(&mut before, sql.clone());
        let Some((plain, proxied)) = both.unless_refused(&sql, &params) else {
            if std::env::var_os("GENERATED_REFUSALS").is_some() {
                eprintln!("refused: {sql} {params:?}: {:?}", both.proxied.query("SHOW ERRORS"));
            }
            // So that ROW_COUNT() and its like are alike again.
            both.each("SELECT p FROM u WHERE p = 0");
            continue;
        };
        if failed_with(&plain, 1093) && !failed_with(&proxied, 1093) {
            // Read and written at once on one server; with two keys these are two subtables.
            return None;
        }
        let mask = Mask::ids(&["id"]);
        // Servers count the rows that they look at, which are fewer in a subtable; where they cut
        // what is no SQL is a matter of their own character set.
        let mask = if sql.starts_with("UPDATE") || failed_with(&proxied, 1064) { mask.and_error_text() } else { mask };
        let mask = if sql.contains("i_") || joins(&sql) { mask.and_metadata() } else { mask };
        let chosen = sql.contains(" LIMIT ") && (sql.starts_with("UPDATE") || sql.starts_with("DELETE"));
        let selected = sql.starts_with("INSERT") && sql.contains(" SELECT ");
        let warns = |answers: &[Answer]| answers.iter().any(|answer| answer.warnings() > 0);
        if (chosen || selected) && warns(&plain) && !warns(&proxied) {
            // What conditions warn of while the rows are chosen in several places is not told; and
            // servers warn of the rows that they look at, which are fewer in a subtable.
            both.each("SELECT p FROM u WHERE p = 0");
            continue;
        }
        let mut found = differences(&sql, &plain, &proxied, &mask);
        let failed = |answers: &[Answer]| matches!(answers, [Answer::Err(_)]);
        let several_rows = sql.contains("), (");
        if failed(&plain) && failed(&proxied) && several_rows {
            // Which of several wrong rows is told depends on what servers say of theirs.
            both.each("SELECT p FROM u WHERE p = 0");
            continue;
        }
        // MariaDB says here "Unknown error" besides.
        let is_null_key = failed_with(&proxied, 1048);
        let warned = plain.iter().chain(&proxied).any(|answer| answer.warnings() > 0);
        // A failed statement over several places tells its error alone.
        if warned || (failed(&plain) && !several_rows && !is_null_key && !failed_with(&proxied, 1064)) {
            let (mut plain, mut proxied) = (both.plain.query("SHOW WARNINGS"), both.proxied.query("SHOW WARNINGS"));
            comparable(&mut plain);
            comparable(&mut proxied);
            // Places come in their own order, and so do duplicates, whose row is not said.
            let shown = if sql.starts_with("UPDATE") { Mask::columns(&["Message"]) } else { Mask::default() };
            let shown = shown.and_order();
            found.extend(differences("SHOW WARNINGS /* ORDER BY */", &plain, &proxied, &shown));
        }
        if failed(&plain) && several_rows {
            both.each("SELECT p FROM u WHERE p = 0");
        }
        if leaks(&proxied) && !leaks(&plain) {
            found.push("a physical name".to_owned());
        }
        if !found.is_empty() {
            let (_, route) = both.answers(&format!("EXPLAIN ROUTE {sql}"), &params);
            found.push(short(&route));
            return Some(format!(
                "seed {seed} step {step}, after {after}:\n    {sql} {params:?}\n    {}\n    plain {}\n    proxied {}",
                found.join("\n    "),
                short(&plain),
                short(&proxied)
            ));
        }
    }
    None
}

/// MySQL says when it reads a text what is deprecated in it; beside an error or the warnings of
/// rows, where that stands depends on how many texts were read.
const DEPRECATED: [&[u8]; 5] = [b"1287", b"3720", b"3778", b"4095", b"4096"];

/// MariaDB goes on looking for errors in a row of an INSERT that has a column list, and so do
/// texts of the proxy's.
fn comparable(answers: &mut [Answer]) {
    for answer in answers {
        if let Answer::Rows(set) = answer {
            set.rows.retain(|row| !DEPRECATED.iter().any(|code| row[1].as_deref() == Some(*code)));
            let error = set.rows.iter().position(|row| row[0].as_deref() == Some(b"Error"));
            set.rows.truncate(error.map_or(usize::MAX, |at| at + 1));
        }
    }
}

fn failed_with(answers: &[Answer], code: u16) -> bool {
    matches!(answers, [Answer::Err(error)] if error.code == code)
}

fn short(answers: &[Answer]) -> String {
    format!("{answers:?}").chars().take(600).collect()
}

/// Flags of columns tell how an empty table was found to be empty.
fn joins(sql: &str) -> bool {
    ["JOIN", ", r", "(SELECT", "UNION", "WITH", "DATABASE()"].iter().any(|word| sql.contains(word))
}

fn leaks(answers: &[Answer]) -> bool {
    let text = format!("{answers:?}");
    ["mall_", "_0000", "_0001", "_0002", "_0003"].iter().any(|name| text.contains(name))
}

#[test]
fn each_key_kind_is_generated() {
    let mut maker = Maker::new(Random::new(7), bifold::lab::Flavour::MariaDb);
    let all: String = (0..5000).map(|step| maker.next(step).0 + "\n").collect();
    for key in KEYS {
        assert!(all.contains(&format!("a_{}", key.name)), "{}", key.name);
    }
}
