//! What is written beside the code stays true: links lead somewhere, the example topologies are
//! good ones, and the compose file, its init SQL and its topology fit each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bifold::config::{self, Config, Surroundings};
use bifold::lab::{Durability, Flavour, Program, Server, run_sql};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn topology(path: &str) -> Config {
    let around = Surroundings {
        file: path,
        folder: &root().join("config"),
        env: &|name| {
            Some(format!("{}-secret", name.to_lowercase().replace("_password", "").replace("backend", "bifold")))
        },
        now_ms: 1_790_000_000_000,
    };
    config::parse(&read(path), &around).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

#[test]
fn links_in_the_documentation_lead_to_files() {
    let mut pages: Vec<PathBuf> = ["README.md", "CHANGELOG.md"].iter().map(|name| root().join(name)).collect();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    let mut broken = Vec::new();
    for page in pages.iter().filter(|page| page.exists()) {
        let text = fs::read_to_string(page).expect("a page");
        for target in links(&text) {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !page.parent().expect("a folder").join(file).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links to nowhere:\n{}", broken.join("\n"));
}

/// The targets of `[…](…)` that are no URLs.
fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .collect()
}

#[test]
fn the_example_topologies_are_good_ones() {
    assert_eq!(topology("config/bifold.toml").schemas[0].shards.len(), 4);
    assert_eq!(topology("config/compose.toml").servers.len(), 4);
}

#[test]
fn the_compose_file_fits_its_topology() {
    let compose = read("docker/compose.yaml");
    assert!(!compose.contains('\t'), "YAML takes no tabs");
    let services: BTreeSet<&str> = compose
        .split_once("\nservices:\n")
        .expect("services")
        .1
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?.strip_suffix(':'))
        .collect();
    let topology = topology("config/compose.toml");
    let mut wanted = BTreeSet::from(["bifold".to_owned()]);
    for server in &topology.servers {
        let host = &server.host;
        assert_eq!(server.port, 3306);
        wanted.insert(host.clone());
        assert!(compose.contains(&format!("      {host}: {{condition: service_healthy}}")), "Bifold waits for {host}");
    }
    assert_eq!(services, wanted.iter().map(String::as_str).collect());
    for line in compose.lines().filter(|line| line.trim_start().starts_with("- .")) {
        let host_path = line.trim_start().trim_start_matches("- ").split(':').next().expect("a path");
        assert!(root().join("docker").join(host_path).is_file(), "{line}");
    }
    for copied in read("docker/Dockerfile").lines().filter_map(|line| line.strip_prefix("COPY ")) {
        for path in copied.split(' ').filter(|_| !copied.starts_with("--from")).rev().skip(1) {
            assert!(root().join(path).exists(), "the Dockerfile copies {path}");
            assert!(read(".dockerignore").lines().any(|line| line == format!("!{path}")), "{path} is ignored");
        }
    }
}

#[test]
fn the_compose_account_works_on_each_server_and_nowhere_else() {
    let topology = topology("config/compose.toml");
    for program in Program::all() {
        let server = Server::start(&program, Durability::Light).expect("a server");
        let init = read("docker/init.sql");
        // The compose file's servers are MySQL.
        let is_known = |text: &&str| server.flavour() == Flavour::MySql || !text.contains("XA_RECOVER_ADMIN");
        let statements = init.split(';').map(str::trim).filter(|text| !text.is_empty());
        let statements: Vec<&str> = statements.filter(is_known).collect();
        server.run(&["CREATE DATABASE mall_0", "CREATE DATABASE other"]).expect("databases");
        server.run(&statements).expect("init.sql runs");
        let account = server.root().user(Some(&topology.backend.user)).pass(Some("bifold-secret"));
        run_sql(&account, &["CREATE TABLE mall_0.t (a INT)", "DROP TABLE mall_0.t"]).expect("within a shard");
        run_sql(&account, &["CREATE TABLE other.t (a INT)"]).expect_err("beside the shards");
    }
}
