//! The plan cases in `tests/plans/*.case`: each a statement and, indented below it, what becomes of
//! it: how it runs, and every text with its server; or its refusal. `UPDATE=1` writes them anew;
//! the difference is to be read before it is committed.
//!
//! Lines with `@` before a statement set the scene: `@ schema none`, `@ mode ANSI_QUOTES`,
//! `@ server MySQL`, `@ params 5, 'x'`, `@ charset gbk`. Lines with `#` say what a case is about.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs};

use super::{Arg, Chosen, Facts, Ids, RouteError, Routed, Statement, route};
use crate::catalog::{Catalog, ColumnDef, TableDef, TableName};
use crate::config::{Surroundings, parse};
use crate::error::Error;
use crate::plan::{self, Effect, Outcome, Over, Plan, Planned, Scene, print};
use crate::snowflake::{Carried, Format, Parts};
use crate::sql::fingerprint::{self, Fingerprint};
use crate::sql::{Charset, Dialect, Flavour, Mode, Source, Span, lexer, literal};
use crate::topology::weight::Weights;
use crate::topology::{Place, Schema, TableRule, Topology};
use crate::value::Value;

/// T is 4, N is 4 on two servers; the second schema has its shards the other way round.
const TOPOLOGY: &str = r#"
[listen]
mysql = "127.0.0.1:0"

[[user]]
name = "app"
password = "secret"
schemas = ["mall", "side"]

[[user]]
name = "other"
password = "secret"
schemas = ["closed"]

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
orders = { key = "uid", tables = 4, hash = "identity", id = { column = "order_id", carries_key = true } }
item = { key = "uid", tables = 4, hash = "identity", id = "item_id" }
coin = { key = "uid", tables = 4, id = "id" }
member = { key = "name", tables = 4 }
daily = { key = "day", tables = 4 }
sbtest = { key = "id", tables = 4, id = "id", hash = "identity" }
product = { kind = "reference" }
counted = { kind = "reference" }
setting = { kind = "unsharded" }

[schema.side]
shards = ["s1/side_0", "s0/side_1"]

[schema.side.table]
visit = { key = "uid", tables = 4, hash = "identity" }
country = { kind = "reference" }

[schema.closed]
shards = ["s0/closed_0"]
"#;

const TABLES: &[(&str, &str, &str)] = &[
    ("mall", "orders", "order_id bigint, uid bigint, amount int, note varchar"),
    ("mall", "item", "item_id bigint, uid bigint, order_id bigint, title varchar"),
    ("mall", "coin", "id bigint, uid bigint, coins int"),
    ("mall", "member", "name varchar, age int, uid bigint"),
    ("mall", "daily", "day date, n int"),
    ("mall", "sbtest", "id bigint, k int, c varchar"),
    ("mall", "product", "sku int, title varchar, uid bigint"),
    ("mall", "counted", "id int auto_increment, title varchar"),
    ("mall", "setting", "name varchar, v varchar"),
    ("mall", "log", "id bigint, line varchar"),
    ("side", "visit", "uid bigint, page varchar"),
    ("side", "country", "code int, title varchar"),
];

#[test]
fn every_case_is_planned_and_routed_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "case"));
    files.sort();
    assert!(!files.is_empty());
    let world = World::new();
    let mut stale = Vec::new();
    for file in files {
        let written = fs::read_to_string(&file).unwrap();
        let made = world.cases(&written);
        if made != written {
            if env::var_os("UPDATE").is_some() {
                fs::write(&file, made).unwrap();
            } else {
                stale.push(difference(&file, &written, &made));
            }
        }
    }
    assert!(stale.is_empty(), "{}\n(UPDATE=1 writes them anew)", stale.join("\n"));
}

fn difference(file: &Path, written: &str, made: &str) -> String {
    let mut lines = written.lines().zip(made.lines()).enumerate();
    let first = lines.find(|(_, (a, b))| a != b);
    let (number, (a, b)) = first.unwrap_or((0, ("(length)", "(length)")));
    format!("{}:{}\n  written {a}\n  made    {b}", file.display(), number + 1)
}

struct World {
    topology: Topology,
    catalog: Catalog,
    weights: Weights,
}

/// What stands before a statement.
struct Setting {
    schema: Option<String>,
    dialect: Dialect,
    charset: String,
    params: Option<String>,
}

impl Default for Setting {
    fn default() -> Self {
        let dialect = Dialect::new(Flavour::MariaDb, 101119);
        Setting { schema: Some("mall".into()), dialect, charset: "utf8mb4".into(), params: None }
    }
}

impl Setting {
    fn read(&mut self, line: &str) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("schema", "none") => self.schema = None,
            ("schema", name) => self.schema = Some(name.into()),
            ("mode", mode) => self.dialect.mode = Mode::from_sql_mode(mode),
            ("server", "MySQL") => self.dialect = Dialect::new(Flavour::MySql, 90704),
            ("charset", name) => {
                self.charset = name.into();
                self.dialect.charset = Charset::from_name(name).unwrap();
            }
            ("params", values) => self.params = Some(values.into()),
            other => panic!("{other:?} is no setting of a case"),
        }
    }
}

impl World {
    fn new() -> Self {
        let around = Surroundings { file: "cases", folder: Path::new("."), env: &|_| None, now_ms: 1_750_000_000_000 };
        let config = parse(TOPOLOGY, &around).unwrap_or_else(|findings| panic!("{findings}"));
        let catalog = Catalog::default();
        for (schema, table, columns) in TABLES {
            // The first column is the primary key.
            let first = columns.split(' ').next().unwrap().to_owned();
            let columns = columns.split(", ").map(column).collect();
            let unique = vec![("PRIMARY".to_owned(), vec![first])];
            catalog.learn(TableName::new(schema, table), TableDef { columns, unique, bound: Vec::new() });
        }
        World { topology: Topology::new(&config, 1), catalog, weights: Weights::default() }
    }

    /// The text of a case file, its results made anew.
    fn cases(&self, text: &str) -> String {
        let mut out = String::new();
        let mut setting = Setting::default();
        let mut sql = String::new();
        for line in text.lines().chain([""]) {
            if line.starts_with("    ") {
                continue;
            }
            if line.is_empty() {
                if !sql.is_empty() {
                    let result = self.case(std::mem::take(&mut sql).trim_end(), &setting);
                    result.lines().for_each(|line| writeln!(out, "    {line}").unwrap());
                }
                setting = Setting::default();
            } else if let Some(line) = line.strip_prefix("@ ") {
                setting.read(line);
            } else if !line.starts_with('#') {
                writeln!(sql, "{line}").unwrap();
            }
            writeln!(out, "{line}").unwrap();
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }

    fn case(&self, sql: &str, setting: &Setting) -> String {
        let (mut tokens, mut fingerprint) = (Vec::new(), Fingerprint::new());
        lexer::lex(sql.as_bytes(), &setting.dialect, &mut tokens);
        let source = Source::new(sql.as_bytes(), &tokens, setting.dialect);
        fingerprint.take(&source, 0);
        let allowed = ["mall".to_owned(), "side".to_owned()];
        let scene = Scene {
            topology: &self.topology,
            catalog: &self.catalog,
            user: "app",
            host: "10.0.0.9",
            allowed: &allowed,
            schema: setting.schema.as_deref(),
        };
        let planned = match plan::plan(source, &fingerprint, &scene) {
            Ok(Outcome::Planned(planned)) => planned.on_one_server(),
            Ok(Outcome::Lacks(names)) => {
                return names.iter().map(|name| format!("lacks {}.{}\n", name.schema, name.table)).collect();
            }
            Err(error) => return refusal(&error),
        };
        if let Plan::Ddl(ddl) = &planned.plan {
            return format!("{ddl}\n");
        }
        if let Plan::Local(_) | Plan::Load(_) | Plan::InsertSelect(_) = &planned.plan {
            return print::print(&planned, print::Printed { source: &source, fingerprint: &fingerprint });
        }
        let mut bytes = Vec::new();
        let params = setting.params.as_ref().map(|values| with_values(values, &setting.dialect, &mut bytes));
        match params {
            None => self.routed(&planned, &Statement { source, fingerprint: &fingerprint, params: None }, setting),
            Some(values) => {
                let params = Some(values.as_slice());
                self.routed(&planned, &Statement { source, fingerprint: &fingerprint, params }, setting)
            }
        }
    }

    fn routed(&self, planned: &Planned, statement: &Statement<'_>, setting: &Setting) -> String {
        let mut out = how(planned);
        let ids = Counting(AtomicU64::new(1000));
        let facts = Facts {
            user: "app",
            host: "10.0.0.9",
            schema: setting.schema.as_deref(),
            connection_id: 77,
            last_insert_id: 88,
            row_count: -1,
            found_rows: 3,
            charset: &setting.charset,
            connection: &setting.charset,
            keeps_zero_ids: false,
            strict: true,
            instant: Some((1_750_000_000, 123_456)),
            in_transaction: false,
            blocks: true,
            weights: &self.weights,
            ids: &ids,
        };
        let mut routed = Routed::default();
        match route(planned, statement, &facts, &mut routed) {
            Ok(()) => {}
            Err(RouteError::Refused(error)) => return refusal(&error),
            Err(RouteError::Wait) => return "waits for ids".into(),
            Err(RouteError::Ask(question)) => return format!("asks {}", question.query()),
        }
        // Of a query over many places the first text stands for all.
        let shown = if routed.wide || routed.choosing { 1 } else { routed.parts.len() };
        if shown < routed.parts.len() {
            writeln!(out, "{} texts, window {:?}", routed.parts.len(), routed.window).unwrap();
        }
        for part in &routed.parts[..shown] {
            let server = &self.topology.server(part.server).name;
            let text = String::from_utf8_lossy(&routed.buffer[part.text.clone()]).replace('\n', "\\n");
            writeln!(out, "{server}: {text}").unwrap();
            if let Some(args) = &part.args {
                let args: Vec<String> = args.iter().map(arg).collect();
                writeln!(out, "    with {}", args.join(", ")).unwrap();
            }
        }
        if let Some(moving) = &routed.moving {
            let to = moving.to.as_ref().map(|(place, key)| format!("{place}, of {}", String::from_utf8_lossy(key)));
            writeln!(out, "rows may go to {}", to.unwrap_or_else(|| "any place".into())).unwrap();
        }
        if let (Plan::WriteScatter(plan), true) = (&planned.plan, routed.choosing) {
            let rows = [1, 0].map(|part| Chosen { part, key: format!("({part})") });
            super::change(plan, statement, &facts, &rows, &mut routed).unwrap();
            for part in &routed.parts {
                let text = String::from_utf8_lossy(&routed.buffer[part.text.clone()]);
                writeln!(out, "then {}: {text}", self.topology.server(part.server).name).unwrap();
            }
        }
        if let Some(id) = routed.generated_id {
            writeln!(out, "made id {id}").unwrap();
        } else if let Some(id) = routed.insert_id {
            writeln!(out, "given id {id}").unwrap();
        }
        out
    }
}

fn column(text: &str) -> ColumnDef {
    let mut words = text.split(' ');
    let (name, data_type) = (words.next().unwrap(), words.next().unwrap());
    let is_text = data_type == "varchar";
    ColumnDef {
        name: name.into(),
        data_type: data_type.into(),
        column_type: if is_text { "varchar(40)".into() } else { data_type.into() },
        length: is_text.then_some(40),
        charset: is_text.then(|| "utf8mb4".into()),
        collation: is_text.then(|| "utf8mb4_bin".into()),
        auto_increment: words.next() == Some("auto_increment"),
        ..ColumnDef::default()
    }
}

/// `5, 'x', NULL` as bound values.
fn with_values<'b>(text: &'b str, dialect: &Dialect, bytes: &'b mut Vec<Vec<u8>>) -> Vec<Value<'b>> {
    let mut tokens = Vec::new();
    let text = format!("({text})").leak().as_bytes();
    lexer::lex(text, dialect, &mut tokens);
    let source = Source::new(text, tokens.leak(), *dialect);
    let source: &'static Source<'static> = Box::leak(Box::new(source));
    let spans: Vec<Span> = fingerprint::values(source, Span::new(0, source.tokens.len() as u32)).collect();
    bytes.resize(spans.len(), Vec::new());
    bytes
        .iter_mut()
        .zip(spans)
        .map(|(scratch, span)| literal::value(source, span, "utf8mb4", scratch).unwrap())
        .collect()
}

fn how(planned: &Planned) -> String {
    let mut how = match &planned.plan {
        Plan::Single(single) => {
            let effect = match single.effect {
                Effect::Read => "read",
                Effect::Lock => "locking read",
                Effect::Write => "write",
            };
            let bind = single.bind.map(|bind| format!(", binds {bind:?}")).unwrap_or_default();
            format!("single {effect}{bind}")
        }
        Plan::Scatter(scatter) => return format!("scatter: {:?}\n", scatter.wide.recipe),
        Plan::Gather(_) => "gather".into(),
        Plan::InsertSelect(_) => print::name(&planned.plan).to_owned(),
        Plan::Insert(_) => "insert".into(),
        Plan::WriteScatter(write) => match write.over {
            Over::Places => "write".into(),
            Over::Shards => "write to all shards".into(),
        },
        Plan::Load(_) => "load".into(),
        Plan::Ddl(_) => "ddl".into(),
        Plan::Local(_) => "local".into(),
        Plan::Refusal(error) => return refusal(error),
    };
    for setting in &planned.assigns {
        write!(how, ", sets {setting:?}").unwrap();
    }
    how + "\n"
}

fn refusal(error: &Error) -> String {
    format!("error {}: {}\n", error.code(), String::from_utf8_lossy(error.text()))
}

fn arg(arg: &Arg) -> String {
    match arg {
        Arg::Client(number) => format!("?{number}"),
        Arg::Id(id) => format!("id {id}"),
    }
}

/// Ids from 1000 on; those that carry a place are real ones, of one moment.
struct Counting(AtomicU64);

impl Ids for Counting {
    fn take(
        &self,
        _schema: &Schema,
        table: &TableRule,
        at: Option<(u32, Place)>,
        count: u32,
        out: &mut Vec<u64>,
    ) -> Result<bool, Error> {
        for _ in 0..count {
            let next = self.0.fetch_add(1, Ordering::Relaxed);
            let Some((residue, place)) = at else {
                out.push(next);
                continue;
            };
            let layout = table.sharded().unwrap().id.as_ref().unwrap().layout;
            let carried = Some(Carried { subtable: place.subtable.0, residue });
            let parts = Parts {
                unix_ms: layout.epoch_ms + next / 4,
                worker: 0,
                tag: 0,
                carried,
                sequence: u32::try_from(next % 4).unwrap(),
            };
            out.push(Format::new(layout).compose(&parts).unwrap());
        }
        Ok(true)
    }
}
