//! One real server: started on a copied data folder and a free loopback port, killed, stalled,
//! restarted, granted to, and ended with its folder on drop.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mysql_async::OptsBuilder;
use rustix::process::{Pid, Signal, kill_process};

use super::folder::Folder;
use super::program::{Flavour, Program};
use super::sql::{Row, probe, run_sql};
use super::{template, watchdog};
use crate::error::{Error, Result};
use crate::transaction::grants;

/// What a crash may lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Fast, for tests that kill no server: a crash loses acknowledged commits.
    Light,
    /// Each commit is on the disk before it is acknowledged: for fault tests.
    Full,
}

const STARTED_WITHIN: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// Another process may take the port between its choice and its use.
const PORT_TRIES: usize = 5;

/// A running server. `root` with an empty password may log in over loopback TCP.
#[derive(Debug)]
pub struct Server {
    program: Program,
    durability: Durability,
    extra: Vec<String>,
    folder: Folder,
    port: u16,
    child: Child,
}

impl Server {
    pub fn start(program: &Program, durability: Durability) -> Result<Server> {
        Server::start_with(program, durability, &[])
    }

    /// As `start`, with further arguments (`--log-bin`), which beat the ones chosen here.
    pub fn start_with(program: &Program, durability: Durability, extra: &[&str]) -> Result<Server> {
        let extra: Vec<String> = extra.iter().map(|arg| (*arg).to_owned()).collect();
        let mut last = Error::operator("no port was tried");
        for _ in 0..PORT_TRIES {
            let folder = Folder::new("server")?;
            template::copy_to(program, &folder.path().join("data"))?;
            write_file(&folder.path().join("init.sql"), INIT_SQL)?;
            fs::create_dir(folder.path().join("tmp"))
                .map_err(|cause| Error::operator("cannot make a folder").because(cause))?;
            let port = free_port()?;
            let child = spawn(program, durability, &extra, folder.path(), port)?;
            watchdog::watch(&child);
            let mut server = Server { program: program.clone(), durability, extra: extra.clone(), folder, port, child };
            match server.wait_for_login() {
                Ok(()) => return Ok(server),
                Err(cause) if server.log().contains("ddress already in use") => last = cause,
                Err(cause) => return Err(cause),
            }
        }
        Err(last)
    }

    pub fn flavour(&self) -> Flavour {
        self.program.flavour
    }
    pub fn program(&self) -> &Program {
        &self.program
    }
    pub fn port(&self) -> u16 {
        self.port
    }
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
    /// `127.0.0.1:3306`, as a topology file has it.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// How `root` logs in.
    pub fn root(&self) -> OptsBuilder {
        OptsBuilder::default().ip_or_hostname("127.0.0.1").tcp_port(self.port).user(Some("root")).prefer_socket(false)
    }

    /// Runs statements as root on a connection of their own; the last one's rows.
    pub fn run(&self, statements: &[impl AsRef<str>]) -> Result<Vec<Row>> {
        run_sql(&self.root(), statements)
    }

    /// An account that may do anything within the named databases and nothing beside.
    pub fn grant(&self, user: &str, password: &str, databases: &[&str]) -> Result<()> {
        let mut statements = vec![format!("CREATE USER IF NOT EXISTS '{user}'@'%' IDENTIFIED BY '{password}'")];
        for database in databases {
            // `_` and `%` are patterns in a GRANT.
            let pattern = database.replace('_', "\\_").replace('%', "\\%");
            statements.push(format!("GRANT {DATABASE_PRIVILEGES} ON `{pattern}`.* TO '{user}'@'%'"));
        }
        self.run(&statements).map(|_| ())
    }

    /// What the proxy's account needs besides, for transactions over several servers.
    pub fn grant_decisions(&self, user: &str) -> Result<()> {
        self.run(&grants(user, self.flavour() == Flavour::MariaDb)).map(|_| ())
    }

    /// kill -9, and the process is reaped.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        if self.child.wait().is_ok() {
            watchdog::forget(&self.child);
        }
    }

    /// SIGSTOP: connections stay open and nothing answers.
    pub fn stall(&self) {
        self.signal(Signal::STOP);
    }
    /// SIGCONT after [`Server::stall`].
    pub fn unstall(&self) {
        self.signal(Signal::CONT);
    }

    /// Starts again on the same data and port; kills it first where it still runs.
    pub fn restart(&mut self) -> Result<()> {
        self.kill();
        self.child = spawn(&self.program, self.durability, &self.extra, self.folder.path(), self.port)?;
        watchdog::watch(&self.child);
        self.wait_for_login()
    }

    /// The server's error log so far.
    pub fn log(&self) -> String {
        fs::read(self.folder.path().join("error.log"))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The child is not reaped yet, so the number is still its own.
            let _ = kill_process(pid, signal);
        }
    }

    /// Waits until a login works *on this data folder*: the port may be another server's.
    fn wait_for_login(&mut self) -> Result<()> {
        let deadline = Instant::now() + STARTED_WITHIN;
        let mut last = Error::operator("not asked yet");
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(Error::operator(format!("{} ended at once: {status}", self.program)).because(self.log()));
            }
            match probe(&self.root(), "SELECT @@datadir", Duration::from_secs(5)) {
                Ok(rows) if self.is_ours(&rows) => return Ok(()),
                Ok(_) => last = Error::operator("another server answers on the port"),
                Err(cause) => last = cause,
            }
            sleep(POLL);
        }
        Err(Error::operator(format!("{} takes no login", self.program)).because(format!("{last}\n{}", self.log())))
    }

    fn is_ours(&self, rows: &[Row]) -> bool {
        let data = self.folder.path().join("data");
        matches!(rows, [row] if matches!(row.as_slice(), [Some(dir)] if Path::new(dir) == data))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

const INIT_SQL: &str = "\
CREATE USER IF NOT EXISTS root@'%' IDENTIFIED BY '';\n\
GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n";

const DATABASE_PRIVILEGES: &str = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, \
     CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, \
     EVENT, TRIGGER";

fn spawn(program: &Program, durability: Durability, extra: &[String], folder: &Path, port: u16) -> Result<Child> {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut command = Command::new(&program.path);
    command.arg("--no-defaults").args([
        format!("--datadir={}", at("data")),
        format!("--tmpdir={}", at("tmp")),
        format!("--socket={}", at("socket")),
        format!("--pid-file={}", at("pid")),
        format!("--log-error={}", at("error.log")),
        format!("--init-file={}", at("init.sql")),
        format!("--port={port}"),
        format!("--server-id={port}"),
    ]);
    if rustix::process::geteuid().is_root() {
        command.arg("--user=root");
    }
    command.args(COMMON_ARGS).args(file_format_args(program.flavour)).args(flavour_args(program.flavour));
    command.args(match durability {
        Durability::Light => LIGHT_ARGS,
        Durability::Full => FULL_ARGS,
    });
    // A process group of its own: Ctrl-C is for the process that started it.
    command
        .args(extra)
        .process_group(0)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().map_err(|cause| Error::operator(format!("{program} does not start")).because(cause))
}

/// Thousands of subtables need caches that hold them; one instance, since a connection uses one.
const COMMON_ARGS: &[&str] = &[
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--performance-schema=OFF",
    "--innodb-buffer-pool-size=64M",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
    "--innodb-buffer-pool-load-at-startup=OFF",
    "--max-connections=1000",
    "--max-allowed-packet=64M",
    "--open-files-limit=65535",
    "--table-open-cache=20000",
    "--table-open-cache-instances=1",
    "--table-definition-cache=20000",
    "--log-bin-trust-function-creators=1",
    "--character-set-server=utf8mb4",
    "--local-infile=ON",
];
const LIGHT_ARGS: &[&str] = &[
    "--innodb-flush-method=nosync",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=OFF",
    "--sync-binlog=0",
];
const FULL_ARGS: &[&str] = &["--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=ON", "--sync-binlog=1"];

fn flavour_args(flavour: Flavour) -> &'static [&'static str] {
    match flavour {
        Flavour::MariaDb => &[],
        Flavour::MySql => &["--mysqlx=OFF", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"],
    }
}

/// Settings that the data folder is made with and must be started with.
pub(super) fn file_format_args(flavour: Flavour) -> &'static [&'static str] {
    match flavour {
        Flavour::MariaDb => &["--innodb-log-file-size=8M"],
        Flavour::MySql => &["--innodb-redo-log-capacity=16M"],
    }
}

/// Below the ports that the system gives to outgoing connections: a server that is killed and
/// started again must find its own port free.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

fn free_port() -> Result<u16> {
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    std::iter::repeat_with(|| rand::random_range(PORTS))
        .take(1000)
        .find(is_free)
        .ok_or_else(|| Error::operator("no free loopback port"))
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|cause| Error::operator(format!("cannot write {}", path.display())).because(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_each_server(test: impl Fn(Server)) {
        let programs = Program::all();
        assert!(!programs.is_empty(), "no server program on this machine");
        for program in programs {
            test(Server::start(&program, Durability::Full).expect("a server starts"));
        }
    }

    #[test]
    fn a_server_keeps_its_data_and_port_over_a_kill() {
        with_each_server(|mut server| {
            server
                .run(&["CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "INSERT INTO d.t VALUES (7)"])
                .expect("SQL runs");
            let port = server.port();
            server.restart().expect("it starts again");
            assert_eq!(server.port(), port);
            assert_eq!(server.run(&["SELECT a FROM d.t"]).expect("SQL runs"), [[Some("7".to_owned())]]);
        });
    }

    #[test]
    fn a_granted_account_reaches_its_databases_only() {
        with_each_server(|server| {
            server.run(&["CREATE DATABASE a_1", "CREATE DATABASE ax1"]).expect("SQL runs");
            server.grant("u", "p", &["a_1"]).expect("granted");
            let account = server.root().user(Some("u")).pass(Some("p"));
            run_sql(&account, &["CREATE TABLE a_1.t (a INT)"]).expect("its own database");
            run_sql(&account, &["CREATE TABLE ax1.t (a INT)"]).expect_err("`_` is no pattern in its grant");
            run_sql(&account, &["SELECT * FROM mysql.user"]).expect_err("the accounts are not its own");
        });
    }

    #[test]
    fn a_dropped_server_is_gone_with_its_folder() {
        with_each_server(|server| {
            let (pid, folder) = (server.pid(), server.folder().to_owned());
            assert!(Path::new(&format!("/proc/{pid}")).exists());
            drop(server);
            assert!(!Path::new(&format!("/proc/{pid}")).exists());
            assert!(!folder.exists());
        });
    }
}
