//! Random queries over many places, over rows full of ties, NULLs and strings that are equal under
//! their collation, compared with one plain server. How many of them the places answer, how many are
//! gathered and how many refused is printed. `SCATTERED_SEED=n` runs one seed alone,
//! `SCATTERED_SECONDS=n` runs longer.

use std::time::{Duration, Instant};

use super::generated::random::Random;
use super::scatter::{TABLES, prepare};
use crate::common::{Answer, Both, Mask, Param, differences, on_each_server};

const SECONDS: u64 = 5;
const SEEDS: u64 = 200;
/// Queries of one seed.
const ROUND: usize = 10;

/// Columns whose equal values are written alike.
const PLAIN: [&str; 15] = ["ti", "tu", "si", "mi", "i", "b", "bu", "d", "y", "dt", "dtm", "tm", "e", "st", "vbi"];
const EXACT: [&str; 7] = ["ti", "tu", "si", "i", "b", "bu", "d"];

#[derive(Default)]
struct Counts {
    all: usize,
    gathered: usize,
    refused: usize,
}

#[test]
fn random_queries_over_many_places_are_answered_as_by_one_server() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let longer = number("SCATTERED_SECONDS");
    let (seconds, seeds) = longer.map_or((SECONDS, SEEDS), |seconds| (seconds, u64::MAX));
    let only = number("SCATTERED_SEED");
    on_each_server(TABLES, |both| {
        prepare(both);
        both.each("INSERT INTO other VALUES (31, 1), (62, 2), (-500, 3), (-469, 3), (93, NULL), (1000000, 4)");
        let end = Instant::now() + Duration::from_secs(seconds);
        let (mut told, mut counts) = (Vec::new(), Counts::default());
        for seed in only.map_or(1..=seeds, |seed| seed..=seed) {
            told.extend(round(both, seed, &mut counts));
            if Instant::now() > end || told.len() > 5 {
                break;
            }
        }
        let Counts { all, gathered, refused } = counts;
        println!("{} {:?}: {all} queries, {gathered} gathered, {refused} refused", both.flavour, both.protocol);
        assert!(told.is_empty(), "{} {:?}:\n{}", both.flavour, both.protocol, told.join("\n"));
        assert!(refused * 50 <= all, "{refused} of {all} refused");
    });
}

fn round(both: &mut Both, seed: u64, counts: &mut Counts) -> Option<String> {
    let mut maker = Maker { random: Random::new(seed), params: Vec::new() };
    for step in 0..ROUND {
        let sql = maker.query();
        let params = std::mem::take(&mut maker.params);
        counts.all += 1;
        let Some((plain, proxied)) = both.unless_refused(&sql, &params) else {
            counts.refused += 1;
            continue;
        };
        // Flags and lengths tell of temporary tables, which servers make or not by the number of rows.
        let mask = Mask::default().and_metadata();
        let mut found = differences(&sql, &plain, &proxied, &mask);
        found.retain(|one| !(one.starts_with("column ") && (one.contains("org_name") || one.contains("org_table"))));
        let (_, route) = both.answers(&format!("EXPLAIN ROUTE {sql}"), &params);
        let route = short(&route);
        counts.gathered += usize::from(route.contains("gather: "));
        if matches!(plain.as_slice(), [Answer::Err(_)]) && matches!(proxied.as_slice(), [Answer::Err(_)]) {
            found.clear();
        }
        if !found.is_empty() {
            return Some(format!(
                "seed {seed} step {step}: {sql} {params:?}\n    {}\n    {route}",
                found.join("\n    ")
            ));
        }
    }
    None
}

fn short(answers: &[Answer]) -> String {
    format!("{answers:?}").chars().filter(|c| *c != '\n').skip(400).take(500).collect()
}

struct Maker {
    random: Random,
    params: Vec<Param>,
}

impl Maker {
    fn query(&mut self) -> String {
        match self.random.below(10) {
            0..=2 => self.rows(),
            3..=6 => self.groups(),
            7 => self.distinct(),
            8 => self.whole(),
            _ => self.joined(),
        }
    }

    fn plain(&mut self) -> &'static str {
        self.random.of(&PLAIN)
    }

    fn exact(&mut self) -> &'static str {
        self.random.of(&EXACT)
    }

    fn direction(&mut self) -> &'static str {
        self.random.of(&["", " ASC", " DESC"])
    }

    fn limit(&mut self) -> String {
        let count = self.random.below(12);
        match self.random.below(5) {
            0 => format!(" LIMIT {count}"),
            1 => format!(" LIMIT {}, {count}", self.random.below(9)),
            2 => {
                self.params.push(Param::Int(i64::try_from(count).expect("small")));
                " LIMIT ?".to_owned()
            }
            _ => String::new(),
        }
    }

    fn filter(&mut self) -> String {
        match self.random.below(9) {
            0 => " WHERE i > 0".to_owned(),
            1 => " WHERE v = 'a'".to_owned(),
            2 => " WHERE id IN (31, -500, 62, -469, 93, 5)".to_owned(),
            3 => " WHERE dt IS NOT NULL AND d < 10".to_owned(),
            4 => " WHERE i IN (SELECT e FROM label)".to_owned(),
            5 => " WHERE 1 = 0".to_owned(),
            6 => {
                self.params.push(Param::Int(3));
                " WHERE ti > ?".to_owned()
            }
            _ => String::new(),
        }
    }

    fn rows(&mut self) -> String {
        let (a, b, c) = (self.plain(), self.plain(), self.plain());
        let items = match self.random.below(4) {
            0 => "*".to_owned(),
            1 => format!("id, {a}, {b} AS x"),
            2 => format!("id + 1 AS n, {a}, kinds.{b}"),
            _ => format!("{a}, id, i % 3, v"),
        };
        let by = match self.random.below(4) {
            0 => format!("{c}{}, v, ", self.direction()),
            1 => format!("{c} IS NULL, {c}{}, ", self.direction()),
            2 => format!("i * 2{}, ", self.direction()),
            _ => String::new(),
        };
        let filter = self.filter();
        format!("SELECT {items} FROM kinds{filter} ORDER BY {by}id{}{}", self.direction(), self.limit())
    }

    fn aggregate(&mut self) -> String {
        let (exact, plain) = (self.exact(), self.plain());
        match self.random.below(12) {
            0 => "COUNT(*)".to_owned(),
            1 => format!("COUNT({plain})"),
            2 => format!("SUM({exact})"),
            3 => format!("AVG({exact})"),
            4 => format!("MIN({exact})"),
            5 => format!("MAX({exact})"),
            6 => format!("SUM({exact} + 1)"),
            7 => format!("SUM(CASE WHEN i > 2 THEN {exact} ELSE 0 END)"),
            8 => format!("COUNT(DISTINCT {plain})"),
            9 => format!("SUM({exact}) + COUNT(*)"),
            10 => "MAX(dtm)".to_owned(),
            _ => "AVG(i > 2)".to_owned(),
        }
    }

    fn groups(&mut self) -> String {
        let key = match self.random.below(5) {
            0 => "i % 4".to_owned(),
            1 => "YEAR(dt)".to_owned(),
            2 => "v".to_owned(),
            _ => self.plain().to_owned(),
        };
        let (one, other) = (self.aggregate(), self.aggregate());
        let shown = if key == "v" { "MIN(id)".to_owned() } else { format!("{key} AS g") };
        let filter = self.filter();
        let having = if self.random.one_in(4) { " HAVING COUNT(*) > 1" } else { "" };
        let order = match self.random.below(3) {
            0 => format!(" ORDER BY {one}{}, 1", self.direction()),
            1 => format!(" ORDER BY 1{}", self.direction()),
            _ => return format!("SELECT {shown}, {one}, {other} AS x FROM kinds{filter} GROUP BY {key}{having}"),
        };
        let limit = self.limit();
        format!("SELECT {shown}, {one}, {other} AS x FROM kinds{filter} GROUP BY {key}{having}{order}{limit}")
    }

    fn distinct(&mut self) -> String {
        let (a, b) = (self.plain(), self.plain());
        let filter = self.filter();
        match self.random.below(3) {
            0 => format!("SELECT DISTINCT {a} FROM kinds{filter}"),
            1 => {
                format!("SELECT DISTINCT {a}, {b} FROM kinds{filter} ORDER BY 1{}, 2{}", self.direction(), self.limit())
            }
            _ => format!("SELECT DISTINCT i % 3 AS m, {a} FROM kinds{filter} ORDER BY m, {a}{}", self.limit()),
        }
    }

    fn whole(&mut self) -> String {
        let (a, b, c) = (self.aggregate(), self.aggregate(), self.aggregate());
        let filter = self.filter();
        format!("SELECT {a}, {b} AS x, {c} FROM kinds{filter}")
    }

    fn joined(&mut self) -> String {
        let plain = self.plain();
        let kind = self.random.of(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        let on = self.random.of(&["o.id = k.id", "k.id = o.id AND o.n > 1", "o.n = k.i"]);
        match self.random.below(4) {
            0 => format!("SELECT k.id, o.n, k.{plain} FROM kinds k {kind} other o ON {on} ORDER BY k.id, o.id"),
            1 => format!("SELECT COUNT(*), SUM(o.n), MAX(k.{plain}) FROM kinds k {kind} other o ON {on}"),
            2 => format!("SELECT o.n, COUNT(k.id) FROM kinds k {kind} other o ON {on} GROUP BY o.n ORDER BY o.n"),
            _ => format!(
                "SELECT id, {plain} FROM kinds k WHERE EXISTS (SELECT 1 FROM other o WHERE {on}) ORDER BY {plain}, id{}",
                self.limit()
            ),
        }
    }
}
