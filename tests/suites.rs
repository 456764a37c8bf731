//! Test suites that the authors of drivers and libraries wrote for MySQL, run through the proxy on
//! unsharded schemas: what a bare server passes has to pass here. `make test-clients` fetches and
//! runs them; what fails by design stands in tests/tools/suites.expected.

use std::path::{Path, PathBuf};
use std::process::Command;

use bifold::lab::{BACKEND_PASSWORD, BACKEND_USER, Cluster, ClusterSpec, Program};

/// The schemas that SQLAlchemy's tests want, on one server.
const SCHEMAS: &str = r#"
[schema.test_schema]
shards = ["s0/test_schema_0"]
[schema.test_schema_2]
shards = ["s0/test_schema_2_0"]
"#;

const USER: &str = r#"
[[user]]
name = "suites"
password = "suites-secret"
schemas = ["test", "test_schema", "test_schema_2"]
"#;

#[test]
#[ignore = "needs suites from PyPI: make test-clients"]
fn the_tests_of_sqlalchemy_pass() {
    passes("sqlalchemy", Path::new("target/suites/sqlalchemy-2.1.9"));
}

#[test]
#[ignore = "needs suites from PyPI: make test-clients"]
fn the_tests_of_mysqlclient_pass() {
    passes("mysqlclient", Path::new("target/suites/mysqlclient-2.3.2"));
}

fn passes(suite: &str, folder: &Path) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if !root.join(folder).exists() {
        eprintln!("left out: no {} (`make test-clients` fetches it)", folder.display());
        return;
    }
    for program in Program::all() {
        let mut cluster = cluster(&program);
        let port =
            cluster.serve(Path::new(env!("CARGO_BIN_EXE_bifold"))).unwrap_or_else(|error| panic!("{error}")).port();
        let mut python = Command::new("python3");
        python.current_dir(&root).args(["tests/tools/suites.py", suite, &port.to_string()]);
        let ran = python.output().expect("python3 runs");
        let (said, why) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        println!("{program}: {said}");
        assert!(ran.status.success(), "{program}: {said}\n{why}");
    }
}

fn cluster(program: &Program) -> Cluster {
    let spec = ClusterSpec {
        servers: 1,
        shards: 1,
        schema: "test".into(),
        more: USER.into(),
        ..ClusterSpec::new(program, SCHEMAS)
    };
    let cluster = Cluster::start(spec).unwrap_or_else(|error| panic!("{program}: {error}"));
    let server = &cluster.servers()[0];
    let databases = ["test_schema_0", "test_schema_2_0"];
    let made = databases.map(|name| format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"));
    server.run(&made).expect("the databases");
    server.run(&["ALTER DATABASE test_0 CHARACTER SET utf8mb4"]).expect("the database");
    server.grant(BACKEND_USER, BACKEND_PASSWORD, &databases).expect("the proxy's account");
    cluster
}
