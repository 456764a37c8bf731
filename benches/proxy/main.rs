//! The whole proxy under sysbench, beside a byte-copying proxy that knows nothing of MySQL (the
//! null proxy) and a direct connection, interleaved in one run. What counts is the proxy's CPU per
//! query against the null proxy's: rates move with the machine, this does not.
//!
//! `cargo bench --bench proxy -- [WORKLOAD…] [direct|null|bifold…] [soak]`; BENCH_SECONDS (4),
//! BENCH_ROUNDS (2) and BENCH_THREADS (8) shape the run.

mod idle;
mod measure;
mod null_proxy;
#[path = "../../tests/common/packets.rs"]
#[allow(dead_code)]
mod packets;
#[path = "../../tests/common/raw.rs"]
#[allow(dead_code)]
mod raw;
mod setup;
mod soak;
mod sysbench;

use std::env;
use std::process::ExitCode;

use self::measure::{Measured, cpu_seconds, rss_mib};
use self::setup::{Bench, Path};
use self::sysbench::WORKLOADS;

pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let ran = match words.first().map(String::as_str) {
        Some("null-proxy") => null_proxy::run(&words[1..]),
        Some("soak") => soak::run(),
        _ => compare(&words),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// All workloads over all paths, the paths taking turns; then memory and the time to be ready.
fn compare(words: &[String]) -> Outcome<()> {
    let asked = |name: &str, among: &[&str]| {
        words.iter().any(|word| word == name) || !words.iter().any(|word| among.contains(&word.as_str()))
    };
    let paths: Vec<Path> = Path::ALL.into_iter().filter(|path| asked(path.name(), &Path::NAMES)).collect();
    let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
    let workloads: Vec<_> = WORKLOADS.iter().filter(|workload| asked(workload.name, &names)).collect();
    let (seconds, rounds) = (number("BENCH_SECONDS", 4), number("BENCH_ROUNDS", 2));

    idle::raise_the_limit_of_open_files();
    let bench = Bench::start(paths.contains(&Path::Bifold))?;
    let mut statements = bench.statements()?;
    println!("{}", measure::HEADING);
    for workload in workloads {
        let mut measured: Vec<Measured> = paths.iter().map(|_| Measured::default()).collect();
        for _ in 0..rounds {
            for (path, sum) in paths.iter().zip(&mut measured) {
                let proxy = bench.pid(*path);
                let before = (proxy.map_or(0.0, cpu_seconds), bench.servers_cpu());
                let ran = sysbench::run(workload, bench.port(*path), seconds)?;
                let after = (proxy.map_or(0.0, cpu_seconds), bench.servers_cpu());
                sum.add(&ran, after.0 - before.0, after.1 - before.1);
            }
        }
        let null = paths.iter().position(|path| *path == Path::Null).map(|at| measured[at].proxy_cpu_per_query());
        for (path, sum) in paths.iter().zip(&measured) {
            println!("{}", sum.line(workload.name, path.name(), null));
        }
        if let Some(rate) = bench.statement_hits_since(&mut statements)? {
            println!("{:<22}  statements found prepared on the servers' connections: {:.1} %", "", rate * 100.0);
        }
    }
    if let Some(pid) = bench.pid(Path::Bifold) {
        println!("\nBifold's memory after that: {:.1} MiB", rss_mib(pid));
        println!("{}", idle::clients(&bench)?);
        println!("{}", setup::large_topology()?);
    }
    Ok(())
}

fn number(name: &str, otherwise: u32) -> u32 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
