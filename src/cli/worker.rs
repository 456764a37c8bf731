//! The worker number of this process: given at start, or the pod's number in a StatefulSet.
//! Never from the topology file, which all proxies share: two of one number would issue the same ids.

use crate::config::Workers;
use crate::error::{Error, Result};

/// The option of commands that issue ids.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct WorkerArgument {
    /// This proxy's worker number: no other proxy of the cluster may have it
    #[arg(long, env = "BIFOLD_WORKER", value_name = "N")]
    worker: Option<u32>,
}

/// Where a process can see that it is a pod of a StatefulSet.
#[derive(Clone, Debug, Default)]
pub struct Pod {
    /// Kubernetes sets `KUBERNETES_SERVICE_HOST` in every pod. Elsewhere a host called `db-1`
    /// says nothing of a number that nobody else has.
    pub in_kubernetes: bool,
    pub host: Option<String>,
}

impl Pod {
    pub fn of_this_process() -> Self {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
        Pod {
            in_kubernetes: std::env::var_os("KUBERNETES_SERVICE_HOST").is_some(),
            host: kernel.map(|name| name.trim().to_owned()).or_else(|| std::env::var("HOSTNAME").ok()),
        }
    }

    /// `bifold-3` → 3
    fn ordinal(&self) -> Option<u32> {
        let (name, ordinal) = self.host.as_deref()?.rsplit_once('-')?;
        let plain = !name.is_empty()
            && ordinal.bytes().all(|byte| byte.is_ascii_digit())
            && (ordinal == "0" || !ordinal.starts_with('0'));
        ordinal.parse().ok().filter(|_| plain && self.in_kubernetes)
    }
}

impl WorkerArgument {
    pub fn given(worker: u32) -> Self {
        WorkerArgument { worker: Some(worker) }
    }

    /// The number to ask for where the store gives them out; `None`: any.
    pub fn wanted(self, pod: &Pod, allowed: Workers) -> Result<Option<u32>> {
        match self.worker.is_some() || pod.ordinal().is_some() {
            true => self.worker(pod, allowed).map(Some),
            false => Ok(None),
        }
    }

    /// The number, within what the topology allows. A pod's number counts from the first of them.
    pub fn worker(self, pod: &Pod, allowed: Workers) -> Result<u32> {
        let (worker, whose) = match (self.worker, pod.ordinal()) {
            (Some(given), _) => (given, "--worker or BIFOLD_WORKER"),
            (None, Some(ordinal)) => {
                (ordinal.saturating_add(allowed.first), "the StatefulSet ordinal in the host name")
            }
            (None, None) => return Err(Error::operator(format!("no worker number: {}", remedy(allowed)))),
        };
        if !allowed.contains(worker) {
            return Err(Error::operator(format!(
                "worker number {worker} (from {whose}) is not allowed here: {}",
                remedy(allowed)
            )));
        }
        Ok(worker)
    }
}

fn remedy(allowed: Workers) -> String {
    format!(
        "start each proxy with its own --worker N (or BIFOLD_WORKER=N), N from {} to {}; two proxies of one number would issue the same ids. With a section [meta] they are leased",
        allowed.first, allowed.last
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: Workers = Workers { first: 512, last: 767 };

    fn worker(given: Option<u32>, in_kubernetes: bool, host: &str) -> std::result::Result<u32, String> {
        let pod = Pod { in_kubernetes, host: Some(host.to_owned()) };
        WorkerArgument { worker: given }.worker(&pod, ALLOWED).map_err(|error| error.to_string())
    }

    #[test]
    fn a_given_number_goes_before_the_pods() {
        assert_eq!(worker(Some(600), true, "bifold-3"), Ok(600));
        assert_eq!(worker(None, true, "bifold-3"), Ok(515));
        assert_eq!(worker(None, true, "my-bifold-0"), Ok(512));
    }

    #[test]
    fn no_number_is_guessed() {
        for host in ["bifold", "bifold-", "bifold-7d9f-x2x9k", "bifold-03", "-3", "bifold-99999999999"] {
            assert!(worker(None, true, host).unwrap_err().contains("no worker number"), "{host}");
        }
        assert!(worker(None, false, "db-1").unwrap_err().contains("--worker N"));
    }

    #[test]
    fn a_number_outside_the_range_is_refused() {
        for (given, host) in [(Some(511), "x"), (Some(768), "x"), (None, "bifold-256"), (None, "bifold-4294967295")] {
            assert!(worker(given, true, host).unwrap_err().contains("N from 512 to 767"), "{given:?} {host}");
        }
    }
}
