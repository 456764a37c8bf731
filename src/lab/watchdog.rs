//! One small shell per process that outlives it by a moment: it reads which servers run, and when
//! its input ends, because this process ended in whatever way, kills them and removes the folders.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;

use parking_lot::Mutex;

use crate::error::{Error, Result};

/// Lines are `run PID` and `end PID`. It stands in a process group of its own and ignores the
/// signals of the terminal, so that Ctrl-C leaves the order of things to this process.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT
pids=' '
while read -r what pid; do
  case $what in
    run) pids="$pids$pid " ;;
    # Told again of one that it has forgotten, it would keep the whole list twice.
    end) case $pids in *" $pid "*) pids="${pids%% $pid *} ${pids#* $pid }" ;; esac ;;
  esac
done
for pid in $pids; do kill -9 "$pid"; done
for again in 1 2 3 4 5; do rm -rf "$1" && exit; sleep 0.2; done
"#;

static INPUT: OnceLock<Mutex<ChildStdin>> = OnceLock::new();

/// Starts the watchdog over `root`; called once, by the maker of the root folder.
pub(super) fn start(root: &Path) -> Result<()> {
    let mut shell = Command::new("sh")
        .args(["-c", SCRIPT, "bifold-lab"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        .process_group(0)
        .spawn()
        .map_err(|cause| Error::operator("cannot start sh").because(cause))?;
    let input = shell.stdin.take().expect("stdin was piped");
    // The input must stay open for as long as this process lives, so it is never dropped.
    INPUT.set(Mutex::new(input)).map_err(|_| Error::proxy("a second watchdog"))
}

/// From now on the child is killed when this process ends.
pub(super) fn watch(child: &Child) {
    tell("run", child.id());
}

/// The child was reaped: its number may belong to another process by now.
pub(super) fn forget(child: &Child) {
    tell("end", child.id());
}

fn tell(what: &str, pid: u32) {
    if let Some(input) = INPUT.get() {
        // A watchdog that is gone can't be told; the children still end by their owners' Drop.
        let _ = writeln!(input.lock(), "{what} {pid}");
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::time::{Duration, Instant};
    use std::{env, thread};

    use super::*;
    use crate::lab::{Durability, Program, Server};

    /// A server that is killed by a test and dropped later is told of twice.
    #[test]
    fn what_ended_already_may_end_again() {
        let folder = crate::lab::Folder::new("watched").expect("a folder");
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "bifold-lab"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let mut input = shell.stdin.take().expect("piped");
        // No process has such a number.
        input.write_all(b"run 99999999\nend 99999999\n").expect("told");
        for _ in 0..40 {
            input.write_all(b"end 99999999\n").expect("told");
        }
        drop(input);
        let deadline = Instant::now() + Duration::from_secs(10);
        while shell.try_wait().expect("a child").is_none() {
            if Instant::now() > deadline {
                shell.kill().expect("killed");
                panic!("the watchdog is busy with what has ended");
            }
            thread::sleep(Duration::from_millis(20));
        }
        assert!(!folder.path().exists());
    }

    #[test]
    #[ignore = "the child of the test below"]
    fn holds_a_stalled_server() {
        let program = Program::preferred().expect("a program");
        let server = Server::start(&program, Durability::Light).expect("a server");
        server.stall();
        println!("holding {} {}", server.pid(), server.folder().display());
        thread::sleep(Duration::from_secs(60));
    }

    #[test]
    fn a_killed_process_leaves_no_server_and_no_folder() {
        let mut holder = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "lab::watchdog::tests::holds_a_stalled_server", "--ignored", "--nocapture"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the child starts");
        let out = BufReader::new(holder.stdout.take().expect("piped"));
        let held = out
            .lines()
            .map_while(|line| line.ok())
            .find_map(|line| line.split_once("holding ").map(|(_, held)| held.to_owned()));
        let held = held.expect("the child holds a server");
        let (pid, folder) = held.split_once(' ').expect("pid and folder");
        let process = Path::new("/proc").join(pid);
        assert!(process.exists() && Path::new(folder).exists());
        holder.kill().expect("killed");
        holder.wait().expect("reaped");
        let deadline = Instant::now() + Duration::from_secs(10);
        while process.exists() || Path::new(folder).exists() {
            assert!(Instant::now() < deadline, "{held} is still there");
            thread::sleep(Duration::from_millis(20));
        }
    }
}
