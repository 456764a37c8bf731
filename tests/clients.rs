//! Clients that others wrote: the mysql command line, Python's drivers, sysbench with 64 threads,
//! and the demo as a user starts it. Those that this machine lacks are named and left out; `make
//! test` installs them.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, Program};

use common::{bifold_program, with_cluster};

const TABLES: &str = r#"
[schema.mall.table.coin_record]
key = "uid"
tables = 16
id = "id"

[schema.mall.table.sbtest1]
key = "id"
tables = 64
"#;

const COIN_RECORD: &str = "CREATE TABLE coin_record (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, \
    uid BIGINT NOT NULL, amount INT NOT NULL, reason VARCHAR(40) NOT NULL, price DECIMAL(10,2), \
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, KEY by_user (uid))";

/// The proxy's port, on each flavour.
fn behind_the_proxy(test: impl Fn(u16)) {
    with_cluster(|cluster: &mut Cluster| {
        cluster.set_tables(TABLES).expect("a topology");
        let port = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
        test(port);
    });
}

fn must_succeed(what: &str, ran: std::io::Result<Output>) -> String {
    let out = ran.unwrap_or_else(|error| panic!("{what} does not run: {error}"));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let end: String = text.chars().skip(text.chars().count().saturating_sub(3_000)).collect();
    assert!(out.status.success(), "{what}: {}\n{end}{}", out.status, String::from_utf8_lossy(&out.stderr));
    text
}

/// MariaDB's client from PATH, and MySQL's where `BIFOLD_MYSQLD` has one beside it.
fn command_lines() -> Vec<PathBuf> {
    let beside = std::env::var_os("BIFOLD_MYSQLD").and_then(|path| Some(Path::new(&path).parent()?.join("mysql")));
    let in_path = ["mariadb", "mysql"].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let found: Vec<PathBuf> =
        in_path.map(PathBuf::from).into_iter().chain(beside.filter(|path| path.exists())).collect();
    if found.is_empty() {
        eprintln!("left out: no mysql command line on this machine");
    }
    found
}

fn say(client: &Path, port: u16, sql: &str) -> String {
    let mut command = Command::new(client);
    command.args(["--no-defaults", "-h127.0.0.1", &format!("-P{port}"), &format!("-u{APP_USER}")]);
    command.args([&format!("-p{APP_PASSWORD}"), "--default-character-set=utf8mb4", "-N", "mall", "-e", sql]);
    must_succeed(&format!("{} -e '{sql}'", client.display()), command.output())
}

#[test]
fn the_mysql_command_line_works() {
    behind_the_proxy(|port| {
        for client in command_lines() {
            say(&client, port, "DROP TABLE IF EXISTS coin_record");
            say(&client, port, COIN_RECORD);
            let sql = "INSERT INTO coin_record (uid, amount, reason) VALUES (1, 5, 'é'), (2, 6, 'b'); SELECT LAST_INSERT_ID() > 1";
            assert_eq!(say(&client, port, sql), "1\n");
            assert_eq!(say(&client, port, "SELECT uid, amount, reason FROM coin_record WHERE uid = 1"), "1\t5\té\n");
            assert_eq!(say(&client, port, "SHOW TABLES"), "coin_record\n");
            assert!(say(&client, port, "SHOW CREATE TABLE coin_record").contains("CREATE TABLE `coin_record`"));
            assert_eq!(say(&client, port, "SELECT DATABASE()"), "mall\n");
        }
    });
}

#[test]
fn compressed_connections_work() {
    behind_the_proxy(|port| {
        for client in command_lines() {
            // MySQL's own client then takes no connection that is not compressed.
            let mysqls = client.is_absolute();
            let compress = if mysqls { "--compression-algorithms=zlib" } else { "--compress" };
            let say = |sql: &str| {
                let mut command = Command::new(&client);
                command.args(["--no-defaults", "-h127.0.0.1", &format!("-P{port}"), &format!("-u{APP_USER}")]);
                command.args([&format!("-p{APP_PASSWORD}"), compress, "-N", "mall", "-e", sql]);
                must_succeed(
                    &format!("{} {compress} -e '{}'", client.display(), &sql[..sql.len().min(80)]),
                    command.output(),
                )
            };
            assert_eq!(say("SELECT 1"), "1\n");
            say("DROP TABLE IF EXISTS big");
            say("CREATE TABLE big (id INT PRIMARY KEY, c LONGTEXT)");
            let text: String =
                (0..100_000).map(|at: u32| char::from(b'a' + ((at % 7 * 31 + at / 13) % 26) as u8)).collect();
            say(&format!("INSERT INTO big VALUES (1, '{text}')"));
            assert_eq!(say("SELECT c FROM big"), format!("{text}\n"));
            assert_eq!(say("SELECT LENGTH(REPEAT(c, 30)), REPEAT(c, 30) = REPEAT('x', 10) FROM big"), "3000000\t0\n");
            assert_eq!(say("SELECT REPEAT(c, 30) FROM big").len(), 3_000_001);
            assert!(say("SELECT 1; SELECT 2; SELECT nosuch IS NULL FROM (SELECT NULL AS nosuch) x").ends_with("1\n"));
            if !mysqls {
                assert!(say("\\s").contains("Compressed"));
            }
        }
    });
}

#[test]
fn the_python_drivers_work() {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/python/pymysql").exists();
    if !installed {
        eprintln!("left out: no Python drivers in target/python (`make test` installs them)");
        return;
    }
    behind_the_proxy(|port| {
        for client in command_lines().iter().take(1) {
            say(client, port, COIN_RECORD);
        }
        for driver in ["pymysql", "connector", "connector-pure", "connector-prepared"] {
            let mut python = Command::new("python3");
            python.current_dir(env!("CARGO_MANIFEST_DIR")).arg("tests/tools/clients.py");
            python.arg(driver).arg(port.to_string());
            // The C extension brings an OpenSSL that the system's may be too old for.
            python.env("LD_LIBRARY_PATH", "target/python/mysql/vendor");
            assert_eq!(must_succeed(driver, python.output()), "fine\n");
        }
    });
}

#[test]
fn sysbench_runs_with_64_threads_without_an_error() {
    if Command::new("sysbench").arg("--version").output().is_err() {
        eprintln!("left out: no sysbench on this machine");
        return;
    }
    behind_the_proxy(|port| {
        let sysbench = |script: &str, args: &[&str]| {
            let mut command = Command::new("sysbench");
            command.arg(script).args(["--mysql-host=127.0.0.1", "--mysql-db=mall", "--tables=1", "--table-size=10000"]);
            command.arg(format!("--mysql-port={port}")).arg(format!("--mysql-user={APP_USER}"));
            command.arg(format!("--mysql-password={APP_PASSWORD}"));
            // Deadlocks and lock waits, which sysbench repeats as every application has to.
            command.arg("--mysql-ignore-errors=1213,1205,1020");
            command.args(["--range_selects=off", "--auto_inc=off"]).args(args);
            must_succeed(&format!("sysbench {script} {args:?}"), command.output())
        };
        sysbench("oltp_read_write", &["prepare"]);
        for script in ["oltp_point_select", "oltp_write_only", "oltp_read_write"] {
            for mode in ["--db-ps-mode=disable", "--db-ps-mode=auto"] {
                let report = sysbench(script, &["--threads=64", "--time=1", mode, "run"]);
                assert!(!report.contains("FATAL"), "{report}");
            }
        }
    });
}

#[test]
fn the_demo_shows_a_working_mall_and_leaves_nothing() {
    for program in Program::all() {
        let mut demo = Command::new(bifold_program());
        demo.args(["demo", "--once", "--users", "300"]).env("BIFOLD_MYSQLD", &program.path);
        let shown = must_succeed(&format!("demo on {program}"), demo.output());
        for expected in ["mysql://app:app-secret@127.0.0.1:", "mysql> SELECT LAST_INSERT_ID();", "| welcome", "| EUR"] {
            assert!(shown.contains(expected), "{program}: no {expected:?} in\n{shown}");
        }
        assert!(!shown.contains("ERROR"), "{program}: {shown}");
    }
}
