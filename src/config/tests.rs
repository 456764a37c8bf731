//! Topology files with mistakes (`tests/topology/*.toml`) and what is said of them (`*.findings`;
//! `UPDATE=1` rewrites them), and the example of config/, which must have none.

use std::path::{Path, PathBuf};
use std::{env, fs};

use super::*;

/// 2026-01-01T00:00:00Z
const NOW_MS: u64 = 1_767_225_600_000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str, text: &str) -> Result<Config, Findings> {
    let env = |name: &str| ["APP_PASSWORD", "BACKEND_PASSWORD"].contains(&name).then(|| format!("secret of {name}"));
    parse(text, &Surroundings { file, folder: Path::new("tests/topology"), env: &env, now_ms: NOW_MS })
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

#[test]
fn every_mistake_is_told_with_line_and_remedy() {
    let files = files("tests/topology");
    assert!(files.len() >= 8);
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy();
        let said = match read(&name, &fs::read_to_string(&file).unwrap()) {
            Ok(config) => config.warnings.to_string(),
            Err(findings) => findings.to_string(),
        };
        assert!(!said.is_empty(), "{name} has no mistake");
        let expected = file.with_extension("findings");
        if env::var_os("UPDATE").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        assert_eq!(
            said,
            fs::read_to_string(&expected).unwrap_or_default(),
            "{name}: run with UPDATE=1 and read the difference"
        );
    }
}

#[test]
fn the_example_is_read_as_meant() {
    let config = read("bifold.toml", &fs::read_to_string(root().join("config/bifold.toml")).unwrap())
        .unwrap_or_else(|findings| panic!("{findings}"));
    assert!(config.warnings.is_empty(), "{}", config.warnings);
    assert_eq!(config.listen.mysql, "0.0.0.0:3307");
    assert_eq!(config.limits.idle, Duration::from_secs(8 * 3600));
    assert_eq!(config.limits.max_packet, 64 << 20);
    assert_eq!(config.users[0].password.reveal(), "secret of APP_PASSWORD");
    assert_eq!(config.backend.tls, BackendTls::Off);
    assert_eq!(config.servers[1], Server { name: "s1".into(), host: "10.0.0.20".into(), port: 3306 });
    let mall = &config.schemas[0];
    assert_eq!(mall.shards[3], Shard { server: 1, database: "mall_3".into() });
    let orders = mall.tables.iter().find(|table| table.name == "orders").unwrap();
    let TableKind::Sharded(orders) = &orders.kind else { panic!("{orders:?}") };
    assert_eq!(orders.pattern.to_string(), "orders_0000 … orders_1023");
    let id = orders.id.as_ref().unwrap();
    assert_eq!((id.layout.bits, id.layout.carries), (IdBits::CARRIES_KEY, Some(64)));
    assert_eq!(config.workers, Workers { first: 0, last: 15 });
    let line = |key| config.lines.finding(Severity::Mistake, key, "", "").line;
    assert_eq!(line("schema.mall.table.orders.key"), Some(45));
    assert_eq!(line("schema.mall.table.orders.unique_per_place"), line("schema.mall.table.orders"));
    assert_eq!((line("schema.mall.table.orders"), line("workers.range")), (Some(44), None));
    assert!(!format!("{config:?}").contains("secret of"), "a password is printed");
}

/// Where the subtables do not fill a power of two, M is still what the place field holds.
#[test]
fn the_modulus_is_the_largest_that_fits() {
    for (shards, subtables, bits, modulus) in [
        (4, 1024, 16, Some(64)),
        (3, 1024, 16, Some(48)),
        (4, 1000, 16, Some(64)),
        (65, 1024, 16, None),
        (1, 1, 0, Some(1)),
        (64, 1024, 16, Some(64)),
    ] {
        assert_eq!(largest_modulus(shards, subtables, bits), modulus, "{shards} × {subtables} in {bits}");
    }
}

/// The table of keys in docs/topology.md is printed from `keys::KEYS`; `UPDATE=1` rewrites it.
#[test]
fn the_reference_lists_every_key() {
    let file = root().join("docs/topology.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) =
        text.split_once("<!-- keys: printed from src/config/keys.rs -->\n").expect("the mark before the keys");
    let (_, behind) = rest.split_once("<!-- end of keys -->").expect("the mark behind the keys");
    let fresh =
        format!("{before}<!-- keys: printed from src/config/keys.rs -->\n{}<!-- end of keys -->{behind}", reference());
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, &fresh).unwrap();
    }
    assert!(fresh == text || env::var_os("UPDATE").is_some(), "docs/topology.md is stale: run with UPDATE=1");
}

/// A heading and a table for each section.
fn reference() -> String {
    let mut out = String::new();
    for section in keys::KEYS.iter().filter(|key| heading(key).is_some()) {
        let parent = match section.kind {
            keys::Kind::Sections => format!("{}[]", section.path),
            _ => section.path.to_owned(),
        };
        let rows: Vec<String> =
            keys::KEYS.iter().filter(|key| rows_of(key, &parent)).map(|key| row(key, &parent)).collect();
        out += &format!("\n### {}\n\n", heading(section).expect("filtered"));
        let meaning = if section.path == "schema.*" || section.path == "schema.*.table.*" {
            parent_meaning(section)
        } else {
            section.meaning
        };
        out += &format!("{meaning}{}\n\n", left_out(section));
        out += "| key | takes | left out | refused | meaning |\n| --- | --- | --- | --- | --- |\n";
        out += &rows.concat();
    }
    out + "\n"
}

/// Sections that have a heading of their own; those within `id` and `tables` are rows of their table.
fn heading(key: &keys::Key) -> Option<String> {
    let named = key.path.replace("schema.*", "schema.NAME").replace("table.*", "table.TABLE");
    match key.kind {
        keys::Kind::Sections => Some(format!("`[[{named}]]`")),
        keys::Kind::Section if !key.path.contains(".id.") => Some(format!("`[{named}]`")),
        _ => None,
    }
}

fn rows_of(key: &keys::Key, section: &str) -> bool {
    let within = key.path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
    within.is_some_and(|rest| {
        let own = !rest.contains('.') && heading(key).is_none() && key.kind != keys::Kind::Named;
        own || rest.starts_with("id.") || rest.starts_with("tables.")
    })
}

fn row(key: &keys::Key, section: &str) -> String {
    let default = match key.default {
        keys::LeftOut::Required => "required".to_owned(),
        keys::LeftOut::Absent => "—".to_owned(),
        keys::LeftOut::Value("{}") => "the defaults below".to_owned(),
        keys::LeftOut::Value(text) => format!("`{text}`"),
        keys::LeftOut::Depends(text) => text.to_owned(),
    };
    let refused = if key.refused.is_empty() { "—" } else { key.refused };
    format!(
        "| `{}` | {} | {default} | {refused} | {} |\n",
        &key.path[section.len() + 1..],
        key.kind.describe(),
        key.meaning
    )
}

fn parent_meaning(section: &keys::Key) -> &'static str {
    keys::find(section.parent()).expect("a named section stands in its list").meaning
}

fn left_out(section: &keys::Key) -> String {
    let refused = if section.refused.is_empty() { String::new() } else { format!(" Refused: {}.", section.refused) };
    match section.default {
        keys::LeftOut::Required => format!(" Required.{refused}"),
        _ => refused,
    }
}
