//! Numbers of processes, and sums of several runs.

use std::fs;

use crate::sysbench::Run;

/// Ticks of /proc/PID/stat: 100 a second on Linux for every architecture that matters here.
const TICKS: f64 = 100.0;

/// User and system time of a process so far.
pub fn cpu_seconds(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The second field, the name, may hold spaces; what counts starts behind it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / TICKS
}

pub fn rss_mib(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

pub fn open_files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).unwrap_or(0)
}

pub const HEADING: &str = "\
workload                path         QPS   p50 ms   p99 ms   proxy µs/query   to null   servers µs/query";

#[derive(Default)]
pub struct Measured {
    queries: f64,
    seconds: f64,
    histogram: Vec<(f64, u64)>,
    proxy_cpu: f64,
    servers_cpu: f64,
}

impl Measured {
    pub fn add(&mut self, run: &Run, proxy_cpu: f64, servers_cpu: f64) {
        self.queries += run.queries;
        self.seconds += run.seconds;
        self.histogram.extend(&run.histogram);
        self.proxy_cpu += proxy_cpu;
        self.servers_cpu += servers_cpu;
    }

    /// In microseconds.
    pub fn proxy_cpu_per_query(&self) -> f64 {
        self.proxy_cpu * 1e6 / self.queries.max(1.0)
    }

    pub fn line(&self, workload: &str, path: &str, null: Option<f64>) -> String {
        let own = self.proxy_cpu_per_query();
        let (shown, ratio) = match null {
            _ if path == "direct" => (String::new(), String::new()),
            Some(null) => (format!("{own:.1}"), format!("{:.2}", own / null)),
            None => (format!("{own:.1}"), String::new()),
        };
        format!(
            "{workload:<22}  {path:<7} {qps:>9.0} {p50:>8.2} {p99:>8.2}   {shown:>14}   {ratio:>7}   {servers:>16.1}",
            qps = self.queries / self.seconds.max(1e-9),
            p50 = self.percentile(0.50),
            p99 = self.percentile(0.99),
            servers = self.servers_cpu * 1e6 / self.queries.max(1.0),
        )
    }

    fn percentile(&self, part: f64) -> f64 {
        let mut histogram = self.histogram.clone();
        histogram.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: u64 = histogram.iter().map(|(_, count)| count).sum();
        let mut seen = 0;
        for (value, count) in histogram {
            seen += count;
            if seen as f64 >= all as f64 * part {
                return value;
            }
        }
        0.0
    }
}
