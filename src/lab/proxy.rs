//! The proxy as a child process: started with a topology file, waited for, killed, measured.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::folder::Folder;
use super::watchdog;
use crate::error::{Error, Result};

const READY_WITHIN: Duration = Duration::from_secs(60);

/// A running `bifold serve`.
#[derive(Debug)]
pub struct Proxy {
    child: Child,
    port: u16,
    folder: Folder,
}

impl Proxy {
    /// Starts `program serve` and waits for its `ready: mysql HOST:PORT` line.
    pub fn start(program: &Path, config: &Path, worker: u32) -> Result<Proxy> {
        let folder = Folder::new("proxy")?;
        let failed = |cause| Error::operator(format!("{} does not start", program.display())).because(cause);
        let log = File::create(log_of(&folder)).map_err(failed)?;
        let mut child = Command::new(program)
            .args(["serve", "--worker", &worker.to_string(), "--config"])
            .arg(config)
            // Ctrl-C is for the process that started it.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(failed)?;
        watchdog::watch(&child);
        let out = BufReader::new(child.stdout.take().expect("stdout was piped"));
        let mut proxy = Proxy { child, port: 0, folder };
        match ready_port(out) {
            Some(port) => proxy.port = port,
            None => return Err(Error::operator("the proxy did not become ready").because(proxy.log())),
        }
        Ok(proxy)
    }

    /// Where applications connect, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the proxy wrote to its log so far.
    pub fn log(&self) -> String {
        fs::read(log_of(&self.folder)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// kill -9, and the process is reaped.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        if self.child.wait().is_ok() {
            watchdog::forget(&self.child);
        }
    }

    /// SIGSTOP: it keeps its connections and does nothing.
    pub fn stall(&self) {
        self.signal(Signal::STOP);
    }
    /// SIGCONT after [`Proxy::stall`].
    pub fn unstall(&self) {
        self.signal(Signal::CONT);
    }
    /// SIGTERM: it ends by itself, and is reaped.
    pub fn stop(&mut self) {
        self.signal(Signal::TERM);
        if self.child.wait().is_ok() {
            watchdog::forget(&self.child);
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The child is not reaped yet, so the number is still its own.
            let _ = kill_process(pid, signal);
        }
    }

    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.kill();
    }
}

fn log_of(folder: &Folder) -> PathBuf {
    folder.path().join("log")
}

/// The port of the ready line; later lines are read and thrown away, so that the proxy never waits
/// for a full pipe.
fn ready_port(out: impl BufRead + Send + 'static) -> Option<u16> {
    let (ready, port) = mpsc::channel();
    thread::spawn(move || {
        for line in out.lines().map_while(|line| line.ok()) {
            if let Some(address) = line.strip_prefix("ready: mysql ") {
                let port = address.trim().rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
                let _ = ready.send(port);
            }
        }
    });
    port.recv_timeout(READY_WITHIN).ok().flatten()
}
