//! What a client that does nothing costs.

use std::thread::sleep;
use std::time::Duration;

use bifold::lab::{APP_PASSWORD, APP_USER};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Outcome;
use crate::measure::rss_mib;
use crate::raw::{Client, Login};
use crate::setup::{Bench, Path};

const CLIENTS: usize = 5_000;

/// Memory with many clients logged in, each after one query, all silent.
pub fn clients(bench: &Bench) -> Outcome<String> {
    let (port, pid) = (bench.port(Path::Bifold), bench.pid(Path::Bifold).ok_or("Bifold does not run")?);
    let room = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(500);
    let count = CLIENTS.min(usize::try_from(room)?);
    let before = rss_mib(pid);
    let mut clients = Vec::with_capacity(count);
    for _ in 0..count {
        let mut client = Client::login(port, &Login::new(APP_USER, APP_PASSWORD, Some("mall")))?
            .map_err(|error| format!("login: {error:?}"))?;
        client.query("SELECT c FROM sbtest1 WHERE id = 1");
        clients.push(client);
    }
    sleep(Duration::from_secs(2));
    let after = rss_mib(pid);
    let each = (after - before) * 1024.0 / count as f64;
    Ok(format!("{count} idle clients: {before:.1} -> {after:.1} MiB, {each:.1} KiB each"))
}

pub fn raise_the_limit_of_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // Where it can't be raised, fewer idle clients are opened.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
