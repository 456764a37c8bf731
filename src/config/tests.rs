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
