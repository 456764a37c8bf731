//! What the proxy counts as it goes, and all that it measures when it is asked.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use super::engine::Engine;
use crate::error::{Blame, Error};
use crate::telemetry::metrics::{Counter, Metrics};

/// Counted as it happens, for the whole life of the process.
#[derive(Debug, Default)]
pub struct Counts {
    pub commands: Counter,
    /// Clients turned away since there were too many.
    pub turned_away: Counter,
    pub logins_refused: Counter,
    pub kills: Counter,
    /// Statements whose rows were brought together on one server; those rows, and their bytes.
    pub gathers: Counter,
    pub gathered_rows: Counter,
    pub gathered_bytes: Counter,
    errors: [Counter; 4],
}

const BLAMES: [&str; 4] = ["client", "server", "proxy", "operator"];

impl Counts {
    /// An error that a client was told.
    pub fn error(&self, error: &Error) {
        let at = match error.blame() {
            Blame::Client => 0,
            Blame::Shard => 1,
            Blame::Proxy => 2,
            Blame::Operator => 3,
        };
        self.errors[at].add(1);
    }
}

/// A server that takes longer to answer is not there.
const READY: Duration = Duration::from_secs(2);

impl Engine {
    pub fn metrics(&self) -> Metrics {
        let metrics = Metrics::default();
        let gauge = |name, help, labels: &[(&str, &str)], value: usize| {
            metrics.gauge(name, help, labels).set(i64::try_from(value).unwrap_or(i64::MAX));
        };
        let counter = |name, help, labels: &[(&str, &str)], value: u64| metrics.counter(name, help, labels).add(value);
        let uptime = usize::try_from(self.started.elapsed().as_secs()).unwrap_or(usize::MAX);
        gauge("bifold_uptime_seconds", "Seconds since the start.", &[], uptime);
        gauge("bifold_layout_version", "Version of the layout that is served.", &[], self.topology.version as usize);
        gauge("bifold_sessions", "Clients that are logged in.", &[], self.registry.count());
        gauge(
            "bifold_fan_outs_free",
            "Statements over many places that could begin at once.",
            &[],
            self.fan_outs.available_permits(),
        );
        let counts = &self.counts;
        counter("bifold_commands_total", "Commands of clients.", &[], counts.commands.get());
        counter("bifold_clients_turned_away_total", "Clients told error 1040.", &[], counts.turned_away.get());
        counter("bifold_logins_refused_total", "Logins that failed.", &[], counts.logins_refused.get());
        counter("bifold_kills_total", "Statements and sessions that were killed.", &[], counts.kills.get());
        let help = "Statements run over rows that were brought together on one server.";
        counter("bifold_gathers_total", help, &[], counts.gathers.get());
        counter("bifold_gathered_rows_total", "Rows brought together for them.", &[], counts.gathered_rows.get());
        counter("bifold_gathered_bytes_total", "The bytes of these rows.", &[], counts.gathered_bytes.get());
        for (blame, errors) in BLAMES.iter().zip(&counts.errors) {
            counter(
                "bifold_errors_total",
                "Errors before a reply, by whose fault they are.",
                &[("blame", blame)],
                errors.get(),
            );
        }
        for server in self.servers.iter() {
            let (idle, used) = server.counts();
            let name = server.name.as_str();
            let help = "Connections to a server.";
            gauge("bifold_connections", help, &[("server", name), ("state", "idle")], idle);
            gauge("bifold_connections", help, &[("server", name), ("state", "used")], used);
            gauge("bifold_connections_limit", "The bound of the server's pool.", &[("server", name)], server.bound());
            let (waits, timeouts) = server.waits();
            counter(
                "bifold_connection_waits_total",
                "Statements that waited for a connection.",
                &[("server", name)],
                waits,
            );
            counter(
                "bifold_connection_timeouts_total",
                "Statements refused since no connection became free in time.",
                &[("server", name)],
                timeouts,
            );
        }
        metrics
    }

    /// The servers that don't answer.
    pub async fn unready(&self) -> Vec<String> {
        let asked = self.servers.iter().map(|server| async {
            let answer = timeout(READY, self.servers.run(server.no, "SELECT 1")).await;
            (!matches!(answer, Ok(Ok(_)))).then(|| server.name.clone())
        });
        join_all(asked).await.into_iter().flatten().collect()
    }
}
