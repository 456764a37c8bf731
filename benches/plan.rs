//! A statement's way up to the text for a server, its plan in the cache: reading, lookup, routing
//! and splicing. The bound for a point select is 2 µs in all.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bifold::catalog::{Catalog, ColumnDef, TableDef, TableName};
use bifold::config::{Surroundings, parse};
use bifold::error::Error;
use bifold::plan::cache::{PlanCache, Versions, put_prefix};
use bifold::plan::{self, Outcome, Scene};
use bifold::route::{Facts, Ids, Routed, Statement, route};
use bifold::sql::fingerprint::Fingerprint;
use bifold::sql::lexer::lex;
use bifold::sql::{Dialect, Flavour, Source, Token};
use bifold::topology::weight::Weights;
use bifold::topology::{Place, Schema, TableRule, Topology};
use bifold::value::Value;
use criterion::{Criterion, criterion_group, criterion_main};

const TOPOLOGY: &str = r#"
[listen]
mysql = "127.0.0.1:0"
[[user]]
name = "app"
password = "secret"
schemas = ["mall"]
[backend]
user = "bifold"
password = "secret"
[[server]]
name = "s0"
address = "127.0.0.1:3306"
[[server]]
name = "s1"
address = "127.0.0.1:3307"
[schema.mall]
shards = ["s0/mall_0", "s1/mall_1", "s0/mall_2", "s1/mall_3"]
[schema.mall.table]
sbtest1 = { key = "id", tables = 1024 }
coin = { key = "uid", tables = 1024, id = "id" }
"#;

const VERSIONS: Versions = Versions { topology: 1, catalog: 0 };

struct World {
    topology: Topology,
    catalog: Catalog,
    plans: PlanCache,
    weights: Weights,
    ids: Counting,
    dialect: Dialect,
}

/// What a session keeps from statement to statement.
#[derive(Default)]
struct Scratch {
    tokens: Vec<Token>,
    fingerprint: Fingerprint,
    key: Vec<u8>,
    routed: Routed,
}

struct Counting(AtomicU64);

impl Ids for Counting {
    fn take(
        &self,
        _: &Schema,
        _: &TableRule,
        _: Option<(u32, Place)>,
        count: u32,
        out: &mut Vec<u64>,
    ) -> Result<bool, Error> {
        let first = self.0.fetch_add(count.into(), Ordering::Relaxed);
        out.extend(first..first + u64::from(count));
        Ok(true)
    }
}

impl World {
    fn new() -> Self {
        let around = Surroundings { file: "bench", folder: Path::new("."), env: &|_| None, now_ms: 1_750_000_000_000 };
        let config = parse(TOPOLOGY, &around).unwrap_or_else(|findings| panic!("{findings}"));
        let catalog = Catalog::default();
        let tables = [("sbtest1", ["id", "k", "c"].as_slice()), ("coin", ["id", "uid", "amount", "reason"].as_slice())];
        for (table, columns) in tables {
            let column = |name: &&str| ColumnDef {
                name: (*name).into(),
                data_type: "bigint".into(),
                column_type: "bigint(20)".into(),
                ..ColumnDef::default()
            };
            let def = TableDef { columns: columns.iter().map(column).collect(), ..TableDef::default() };
            catalog.learn(TableName::new("mall", table), def);
        }
        World {
            topology: Topology::new(&config, 1),
            catalog,
            plans: PlanCache::default(),
            weights: Weights::default(),
            ids: Counting(AtomicU64::new(1)),
            dialect: Dialect::new(Flavour::MariaDb, 101119),
        }
    }

    /// Puts the plan of a statement into the cache.
    fn learn(&self, text: &str) {
        let mut scratch = Scratch::default();
        lex(text.as_bytes(), &self.dialect, &mut scratch.tokens);
        let source = Source::new(text.as_bytes(), &scratch.tokens, self.dialect);
        scratch.fingerprint.take(&source, 0);
        self.key(&scratch.fingerprint, &mut scratch.key);
        let allowed = ["mall".to_owned()];
        let scene = Scene {
            topology: &self.topology,
            catalog: &self.catalog,
            user: "app",
            host: "localhost",
            allowed: &allowed,
            schema: Some("mall"),
        };
        match plan::plan(source, &scratch.fingerprint, &scene) {
            Ok(Outcome::Planned(planned)) => self.plans.put(&scratch.key, VERSIONS, Arc::new(planned)),
            other => panic!("{other:?}"),
        }
    }

    fn key(&self, fingerprint: &Fingerprint, key: &mut Vec<u8>) {
        key.clear();
        put_prefix(key, "app", Some("mall"), "utf8mb4", &self.dialect);
        key.extend_from_slice(fingerprint.key());
    }

    fn run(&self, text: &str, params: Option<&[Value<'_>]>, scratch: &mut Scratch) -> usize {
        scratch.tokens.clear();
        lex(text.as_bytes(), &self.dialect, &mut scratch.tokens);
        let source = Source::new(text.as_bytes(), &scratch.tokens, self.dialect);
        scratch.fingerprint.take(&source, 0);
        self.key(&scratch.fingerprint, &mut scratch.key);
        let planned = self.plans.get(&scratch.key, VERSIONS).expect("the plan is there");
        let statement = Statement { source, fingerprint: &scratch.fingerprint, params };
        let facts = Facts {
            user: "app",
            host: "localhost",
            schema: Some("mall"),
            connection_id: 1,
            last_insert_id: 0,
            row_count: 0,
            found_rows: 0,
            charset: "utf8mb4",
            connection: "utf8mb4",
            keeps_zero_ids: false,
            strict: true,
            instant: Some((1_750_000_000, 0)),
            in_transaction: false,
            blocks: true,
            weights: &self.weights,
            ids: &self.ids,
        };
        assert!(route(&planned, &statement, &facts, &mut scratch.routed).is_ok());
        scratch.routed.buffer.len()
    }
}

fn ways(c: &mut Criterion) {
    let world = World::new();
    let rows: Vec<String> = (0..100).map(|n| format!("({n}, 5, 7)")).collect();
    let many = format!("INSERT INTO coin (uid, amount, reason) VALUES {}", rows.join(", "));
    let (seven, text) = (Value::Int(7), Value::Text { bytes: b"a text", charset: "utf8mb4" });
    let cases: [(&str, &str, Option<&[Value<'_>]>); 6] = [
        ("point select", "SELECT c FROM sbtest1 WHERE id=4711", None),
        ("point select, prepared", "SELECT c FROM sbtest1 WHERE id=?", Some(std::slice::from_ref(&seven))),
        ("update", "UPDATE sbtest1 SET k=k+1 WHERE id=4711", None),
        ("insert of a row", "INSERT INTO coin (uid, amount, reason) VALUES (42, 10, 'a reason')", None),
        (
            "insert of a row, prepared",
            "INSERT INTO coin (uid, amount, reason) VALUES (?, ?, ?)",
            Some(&[seven.clone(), seven.clone(), text]),
        ),
        ("insert of 100 rows", &many, None),
    ];
    for (name, text, params) in cases {
        world.learn(text);
        let mut scratch = Scratch::default();
        c.bench_function(name, |b| b.iter(|| world.run(black_box(text), params, &mut scratch)));
    }
}

fn short() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1))
}

criterion_group! { name = all; config = short(); targets = ways }
criterion_main!(all);
