//! Counters and gauges by name and labels. Whoever counts holds on to its counter, so that
//! counting is one atomic addition; reading goes over all of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;

/// All metrics of a proxy; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<BTreeMap<&'static str, Family>>>);

/// Only rises.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

/// Rises and falls.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

/// The metrics of one name, by their labels.
#[derive(Debug)]
struct Family {
    help: &'static str,
    members: Members,
}

#[derive(Debug)]
enum Members {
    Counters(BTreeMap<Labels, Arc<Counter>>),
    Gauges(BTreeMap<Labels, Arc<Gauge>>),
}

/// `server="s0",pool="text"`; empty without labels.
type Labels = String;

impl Metrics {
    /// The counter of this name and these labels, made on the first call. Counters end in `_total`.
    pub fn counter(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Arc<Counter> {
        let mut families = self.0.lock();
        let family =
            families.entry(name).or_insert_with(|| Family { help, members: Members::Counters(BTreeMap::new()) });
        match &mut family.members {
            Members::Counters(counters) => counters.entry(text(labels)).or_default().clone(),
            Members::Gauges(_) => unreachable!("{name} is a gauge elsewhere: one name is one kind"),
        }
    }

    /// The gauge of this name and these labels, made on the first call.
    pub fn gauge(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Arc<Gauge> {
        let mut families = self.0.lock();
        let family = families.entry(name).or_insert_with(|| Family { help, members: Members::Gauges(BTreeMap::new()) });
        match &mut family.members {
            Members::Gauges(gauges) => gauges.entry(text(labels)).or_default().clone(),
            Members::Counters(_) => unreachable!("{name} is a counter elsewhere: one name is one kind"),
        }
    }

    /// All of them in the Prometheus text format, in the order of their names.
    pub fn render(&self) -> String {
        let mut out = String::new();
        for (name, family) in &*self.0.lock() {
            let (kind, samples) = match &family.members {
                Members::Counters(counters) => ("counter", samples(counters, |counter| counter.get().to_string())),
                Members::Gauges(gauges) => ("gauge", samples(gauges, |gauge| gauge.get().to_string())),
            };
            let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}", family.help);
            for (labels, value) in samples {
                let _ = match labels.is_empty() {
                    true => writeln!(out, "{name} {value}"),
                    false => writeln!(out, "{name}{{{labels}}} {value}"),
                };
            }
        }
        out
    }
}

impl Counter {
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Gauge {
    pub fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub fn add(&self, difference: i64) {
        self.0.fetch_add(difference, Ordering::Relaxed);
    }

    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn samples<M>(members: &BTreeMap<Labels, Arc<M>>, value: impl Fn(&M) -> String) -> Vec<(Labels, String)> {
    members.iter().map(|(labels, member)| (labels.clone(), value(member))).collect()
}

fn text(labels: &[(&str, &str)]) -> Labels {
    let mut out = String::new();
    for (name, value) in labels {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(out, "{}{name}=\"{value}\"", if out.is_empty() { "" } else { "," });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_and_labels_are_one_counter() {
        let metrics = Metrics::default();
        let refused = || metrics.counter("bifold_refused_total", "Statements refused.", &[]);
        refused().add(2);
        refused().add(1);
        assert_eq!(refused().get(), 3);
        let open = |server| metrics.gauge("bifold_connections", "Connections to a server.", &[("server", server)]);
        open("s0").add(2);
        open("s\"1").set(7);
        open("s0").add(-1);
        assert_eq!(
            metrics.render(),
            "# HELP bifold_connections Connections to a server.\n# TYPE bifold_connections gauge\n\
             bifold_connections{server=\"s0\"} 1\nbifold_connections{server=\"s\\\"1\"} 7\n\
             # HELP bifold_refused_total Statements refused.\n# TYPE bifold_refused_total counter\nbifold_refused_total 3\n"
        );
    }
}
