//! The three ways to the rows: a plain database, the null proxy before it, and Bifold before four
//! shards of 1024 subtables on two servers.

use std::path::Path as FilePath;
use std::time::Instant;

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, ClusterSpec, Program, Proxy};

use crate::measure::{cpu_seconds, rss_mib};
use crate::null_proxy::NullProxy;
use crate::packets::Answer;
use crate::raw::{Client, Login};
use crate::{Outcome, measure};

pub const ROWS: u32 = 40_000;

const TABLES: &str = "\
[schema.mall.table.sbtest1]\nkey = \"id\"\nid = \"id\"\n\n\
[schema.mall.table.ten_thousand]\nkey = \"uid\"\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    Direct,
    Null,
    Bifold,
}

impl Path {
    pub const ALL: [Path; 3] = [Path::Direct, Path::Null, Path::Bifold];
    pub const NAMES: [&str; 3] = ["direct", "null", "bifold"];

    pub fn name(self) -> &'static str {
        Path::NAMES[self as usize]
    }
}

pub struct Bench {
    null: NullProxy,
    pub cluster: Cluster,
}

impl Bench {
    pub fn start(with_bifold: bool) -> Outcome<Bench> {
        let program = Program::preferred()?;
        println!("{program}, {} processors", std::thread::available_parallelism()?);
        let mut cluster = Cluster::start(ClusterSpec::new(&program, TABLES))?;
        let plain = &cluster.servers()[0];
        plain.run(&["CREATE DATABASE mall"])?;
        plain.grant(APP_USER, APP_PASSWORD, &["mall"])?;
        fill(plain.port())?;
        let null = NullProxy::start(plain.port())?;
        if with_bifold {
            let started = Instant::now();
            let proxy = cluster.serve(bifold())?;
            println!("Bifold is ready after {:.2} s, {:.1} MiB", started.elapsed().as_secs_f32(), rss_mib(proxy.pid()));
            fill(proxy.port())?;
        }
        Ok(Bench { null, cluster })
    }

    pub fn port(&self, path: Path) -> u16 {
        match path {
            Path::Direct => self.cluster.servers()[0].port(),
            Path::Null => self.null.port,
            Path::Bifold => self.cluster.proxy().map_or(0, Proxy::port),
        }
    }

    /// The process between client and servers.
    pub fn pid(&self, path: Path) -> Option<u32> {
        match path {
            Path::Direct => None,
            Path::Null => Some(self.null.pid()),
            Path::Bifold => self.cluster.proxy().map(Proxy::pid),
        }
    }

    /// Statements prepared and executed so far on the second server, which only Bifold reaches.
    pub fn statements(&self) -> Outcome<(f64, f64)> {
        let rows = self.cluster.servers()[1].run(&["SHOW GLOBAL STATUS LIKE 'Com\\_stmt\\_%'"])?;
        let value = |name: &str| {
            let row = rows.iter().find(|row| row[0].as_deref() == Some(name));
            row.and_then(|row| row[1].as_deref()?.parse::<f64>().ok()).unwrap_or(0.0)
        };
        Ok((value("Com_stmt_prepare"), value("Com_stmt_execute")))
    }

    /// The part of the executions since then that found their statement prepared; `None` without any.
    pub fn statement_hits_since(&self, before: &mut (f64, f64)) -> Outcome<Option<f64>> {
        let now = self.statements()?;
        let (prepared, executed) = (now.0 - before.0, now.1 - before.1);
        *before = now;
        Ok((executed > 0.0).then(|| 1.0 - prepared / executed))
    }

    pub fn servers_cpu(&self) -> f64 {
        self.cluster.servers().iter().map(|server| cpu_seconds(server.pid())).sum()
    }
}

pub fn bifold() -> &'static FilePath {
    FilePath::new(env!("CARGO_BIN_EXE_bifold"))
}

/// The time until a proxy of 64 shards × 20 tables × 1024 subtables serves, and its memory then.
pub fn large_topology() -> Outcome<String> {
    let tables: String = (0..20).map(|n| format!("[schema.mall.table.table_{n}]\nkey = \"uid\"\n\n")).collect();
    let mut spec = ClusterSpec::new(&Program::preferred()?, tables);
    spec.shards = 64;
    let mut cluster = Cluster::start(spec)?;
    let started = Instant::now();
    let pid = cluster.serve(bifold())?.pid();
    let ready = started.elapsed().as_secs_f32();
    Ok(format!("64 shards x 20 tables x 1024 subtables: ready in {ready:.2} s, {:.1} MiB", measure::rss_mib(pid)))
}

fn fill(port: u16) -> Outcome<()> {
    let started = Instant::now();
    let mut client = Client::login(port, &Login::new(APP_USER, APP_PASSWORD, Some("mall")))?
        .map_err(|error| format!("login: {error:?}"))?;
    let mut run = |sql: String| match client.query(&sql).as_slice() {
        [Answer::Ok(_)] => Ok(()),
        other => Err(format!("{}…: {other:?}", sql.chars().take(80).collect::<String>())),
    };
    run("CREATE TABLE sbtest1 (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0, \
         c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', KEY k_1 (k))"
        .to_owned())?;
    run("CREATE TABLE ten_thousand (uid BIGINT NOT NULL, id INT NOT NULL, k INT NOT NULL, c CHAR(120) NOT NULL, \
         PRIMARY KEY (uid, id))"
        .to_owned())?;
    for first in (1..=ROWS).step_by(500) {
        let rows: Vec<String> =
            (first..first + 500).map(|id| format!("({id},{},'{id:0>119}','{id:0>59}')", id % 9973)).collect();
        run(format!("INSERT INTO sbtest1 (id, k, c, pad) VALUES {}", rows.join(",")))?;
    }
    for first in (1..=10_000).step_by(1000) {
        let rows: Vec<String> = (first..first + 1000).map(|id| format!("(7,{id},{},'{id:0>119}')", id % 97)).collect();
        run(format!("INSERT INTO ten_thousand (uid, id, k, c) VALUES {}", rows.join(",")))?;
    }
    println!("loaded through port {port} in {:.1} s", started.elapsed().as_secs_f32());
    Ok(())
}
