//! Runs of sysbench, and what its report says.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use bifold::lab::{APP_PASSWORD, APP_USER};

use crate::setup::ROWS;
use crate::{Outcome, number};

pub struct Workload {
    pub name: &'static str,
    script: &'static str,
    args: &'static [&'static str],
}

/// Keys are spread evenly, so the prepared point selects visit all subtables.
pub const WORKLOADS: &[Workload] = &[
    Workload { name: "point_select", script: "oltp_point_select", args: &["--db-ps-mode=disable"] },
    Workload { name: "point_select_prepared", script: "oltp_point_select", args: &["--db-ps-mode=auto"] },
    Workload { name: "update_non_index", script: "oltp_update_non_index", args: &["--db-ps-mode=disable"] },
    Workload { name: "insert", script: "oltp_insert", args: &["--db-ps-mode=disable", "--auto_inc=off"] },
    Workload { name: "insert_generated_id", script: "oltp_insert", args: &["--db-ps-mode=disable", "--auto_inc=on"] },
    Workload {
        name: "10000_rows",
        script: concat!(env!("CARGO_MANIFEST_DIR"), "/benches/proxy/ten_thousand_rows.lua"),
        args: &["--db-ps-mode=disable"],
    },
];

pub struct Run {
    pub queries: f64,
    pub seconds: f64,
    pub errors: f64,
    /// Milliseconds and how many queries took them.
    pub histogram: Vec<(f64, u64)>,
}

pub fn run(workload: &Workload, port: u16, seconds: u32) -> Outcome<Run> {
    run_script(workload.script, workload.args, port, seconds, number("BENCH_THREADS", 8))
}

pub fn run_script(script: &str, args: &[&str], port: u16, seconds: u32, threads: u32) -> Outcome<Run> {
    // Another seed each time: the ids that oltp_insert makes up must be new ones.
    static SEED: AtomicU32 = AtomicU32::new(1);
    let out = Command::new("sysbench")
        .arg(script)
        .args([
            "--mysql-host=127.0.0.1".to_owned(),
            format!("--mysql-port={port}"),
            format!("--mysql-user={APP_USER}"),
            format!("--mysql-password={APP_PASSWORD}"),
            "--mysql-db=mall".to_owned(),
            "--tables=1".to_owned(),
            format!("--table-size={ROWS}"),
            format!("--threads={threads}"),
            format!("--time={seconds}"),
            format!("--rand-seed={}", SEED.fetch_add(1, Ordering::Relaxed)),
        ])
        .args(["--rand-type=uniform", "--histogram=on", "--events=0", "--mysql-ignore-errors=1062,1213,1205"])
        .args(args)
        .arg("run")
        .output()
        .map_err(|cause| format!("sysbench does not run: {cause}"))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if !out.status.success() {
        return Err(format!("{script} failed:\n{text}{}", String::from_utf8_lossy(&out.stderr)).into());
    }
    parse(&text).ok_or_else(|| format!("sysbench's report is not understood:\n{text}").into())
}

fn parse(report: &str) -> Option<Run> {
    let after = |label: &str| {
        let line = report.lines().find_map(|line| line.trim().strip_prefix(label))?;
        line.trim().split(|c: char| c == 's' || c.is_whitespace()).next()?.parse::<f64>().ok()
    };
    Some(Run {
        queries: after("queries:")?,
        seconds: after("total time:")?,
        errors: after("ignored errors:")? + after("reconnects:")?,
        histogram: report.lines().filter_map(bucket).collect(),
    })
}

/// `   0.105 |*********  3512`
fn bucket(line: &str) -> Option<(f64, u64)> {
    let (value, rest) = line.split_once('|')?;
    Some((value.trim().parse().ok()?, rest.trim_start_matches('*').trim().parse().ok()?))
}
