//! The live half of `bifold check`: asks every server what the topology file takes for granted,
//! and says what is missing, what differs, what is too small and what breaks a law, each with the
//! line of the key that it concerns. Reads only.

mod agreement;
mod grants;
mod probe;
mod report;
mod rows;
mod settings;
mod tables;

use crate::config::{Config, Findings};
use crate::context::States;
use crate::definition::reading_state;
use crate::shard::Servers;
use crate::topology::Topology;
use report::Report;

/// What is checked: the settings.
pub struct Subject<'a> {
    pub config: &'a Config,
    pub topology: &'a Topology,
    /// As the user named it.
    pub file: &'a str,
}

/// Everything that the servers have to say about a topology.
pub async fn check(subject: &Subject<'_>, servers: &Servers, states: &States) -> Findings {
    let reading = reading_state(states);
    let mut report = Report::new(subject);
    let probes = probe::all(subject, servers, &reading, &mut report).await;
    for probe in &probes {
        settings::check(subject, probe, &mut report);
        grants::check(subject, probe, &mut report);
    }
    agreement::check(subject, &probes, &mut report);
    tables::check(subject, servers, &reading, &probes, &mut report).await;
    report.finish()
}
