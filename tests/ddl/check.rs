//! `bifold check` on real servers with a layout that is broken in one way after the other: each
//! is named, with the line of the key that it concerns.

use crate::common::{bifold_program, with_cluster};
use bifold::check::{Subject, check};
use bifold::config::{Findings, Severity, load};
use bifold::context::States;
use bifold::lab::{BACKEND_USER, Cluster, ClusterSpec, Flavour, Program, Server};
use bifold::shard::Servers;
use bifold::topology::Topology;

const TABLES: &str = "[schema.mall.table.orders]\nkey = \"uid\"\ntables = 4\nid = \"id\"\n\n\
                      [schema.mall.table.product]\nkind = \"reference\"\n";

const ORDERS: &str = "(id BIGINT NOT NULL PRIMARY KEY, uid INT NOT NULL, n INT)";

struct Layout<'c> {
    cluster: &'c mut Cluster,
}

impl<'c> Layout<'c> {
    /// All that the topology names is there and right.
    fn whole(cluster: &'c mut Cluster, tables: &str) -> Self {
        cluster.set_tables(tables).unwrap();
        let layout = Layout { cluster };
        for shard in 0..4 {
            for table in 0..4 {
                layout.on(shard, &format!("CREATE TABLE {{}}.orders_000{table} {ORDERS}"));
            }
            layout.on(shard, "CREATE TABLE {}.product (id INT PRIMARY KEY)");
        }
        layout
    }

    /// As root, on the server of a shard; `{}` is its database.
    fn on(&self, shard: usize, sql: &str) {
        let (server, database) = self.cluster.shard(shard);
        server.run(&[sql.replace("{}", &database)]).unwrap();
    }

    fn every(&self, sql: &str) {
        for shard in 0..4 {
            for table in 0..4 {
                self.on(shard, &sql.replace("{t}", &format!("{{}}.orders_000{table}")));
            }
        }
    }

    fn server(&self, index: usize) -> &Server {
        &self.cluster.servers()[index]
    }

    fn findings(&self) -> Findings {
        let config = load(self.cluster.topology()).unwrap();
        let topology = Topology::new(&config, 1);
        let states = States::default();
        let subject = Subject { config: &config, topology: &topology, file: "bifold.toml" };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let servers = Servers::new(&topology, &config.backend, &states).unwrap();
            check(&subject, &servers, &states).await
        })
    }

    /// One finding of this severity says all of this, at a line that holds `at`.
    #[track_caller]
    fn says(&self, severity: Severity, at: &str, parts: &[&str]) {
        let findings = self.findings();
        let file = std::fs::read_to_string(self.cluster.topology()).unwrap();
        let line = |line: Option<u32>| line.and_then(|line| file.lines().nth(line as usize - 1)).unwrap_or_default();
        let found = findings.iter().any(|finding| {
            let said = format!("{}; {}", finding.what, finding.remedy);
            finding.severity == severity
                && line(finding.line).contains(at)
                && parts.iter().all(|part| said.contains(part))
        });
        assert!(found, "no {severity:?} at a line with {at:?} says {parts:?}:\n{findings}");
    }

    #[track_caller]
    fn mistake(&self, at: &str, parts: &[&str]) {
        self.says(Severity::Mistake, at, parts);
    }

    #[track_caller]
    fn warning(&self, at: &str, parts: &[&str]) {
        self.says(Severity::Warning, at, parts);
    }
}

/// On the servers that all tests use one after the other.
fn each(test: impl Fn(Layout<'_>)) {
    with_cluster(|cluster| test(Layout::whole(cluster, TABLES)));
}

/// On servers of the test's own, since it changes them.
fn each_own(tables: &str, test: impl Fn(Layout<'_>)) {
    for program in Program::all() {
        let mut cluster = Cluster::start(ClusterSpec::new(&program, tables)).unwrap();
        test(Layout::whole(&mut cluster, tables));
    }
}

const ORDERS_SECTION: &str = "[schema.mall.table.orders]";

#[test]
fn a_whole_layout_has_no_mistakes() {
    each(|layout| {
        let findings = layout.findings();
        assert!(!findings.has_mistakes(), "{findings}");
        // The light servers are warned of.
        layout.warning("[[server]]", &["innodb_flush_log_at_trx_commit = 0", "a crash"]);
    });
}

#[test]
fn the_command_prints_the_layout_and_ends_with_1_on_a_mistake() {
    each(|layout| {
        let run = |more: &[&str]| {
            let mut command = std::process::Command::new(bifold_program());
            let output =
                command.args(["check", "--config"]).arg(layout.cluster.topology()).args(more).output().unwrap();
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            (output.status.code(), text(&output.stdout), text(&output.stderr))
        };
        let (code, out, _) = run(&[]);
        assert!(code == Some(0) && out.contains("orders"), "{out}");
        layout.on(0, "DROP TABLE {}.orders_0000");
        let (code, _, errors) = run(&[]);
        assert!(code == Some(1) && errors.contains("bifold.toml:") && errors.contains("lacks 1 of 4"), "{errors}");
        assert_eq!(run(&["--offline"]).0, Some(0));
    });
}

#[test]
fn tables_that_are_missing_or_too_many_are_named() {
    each(|layout| {
        layout.on(2, "DROP TABLE {}.orders_0001");
        layout.on(2, "DROP TABLE {}.orders_0003");
        layout.on(1, "DROP TABLE {}.product");
        layout.mistake("tables = 4", &["s0/mall_2 lacks 2 of 4", "orders_0001, orders_0003", "CREATE TABLE"]);
        layout.mistake("[schema.mall.table.product]", &["s1/mall_1 lacks 1 of 1"]);

        layout.on(0, &format!("CREATE TABLE {{}}.orders_0004 {ORDERS}"));
        layout.mistake("tables = 4", &["`orders_0004` on s0/mall_0", "one more than `tables` says"]);
        layout.on(3, &format!("CREATE TABLE {{}}.orders {ORDERS}"));
        layout.warning(ORDERS_SECTION, &["`orders` on s1/mall_3 is reached by no statement"]);
        layout.on(3, "CREATE TABLE {}.bifold_scratch_1 (a INT)");
        layout.warning("shards = [", &["1 scratch tables", "s1/mall_3"]);

        layout.every("DROP TABLE IF EXISTS {t}");
        layout.warning(ORDERS_SECTION, &["`orders` does not exist yet", "CREATE TABLE through Bifold"]);
    });
}

#[test]
fn rows_that_lie_elsewhere_are_named() {
    each(|layout| {
        // CRC32(42) is 0 modulo 4, and so is its upper half.
        layout.on(0, "INSERT INTO {}.orders_0000 VALUES (1, 42, 0)");
        let findings = layout.findings();
        assert!(!findings.has_mistakes(), "{findings}");
        layout.on(1, "INSERT INTO {}.orders_0003 VALUES (2, 42, 0)");
        layout.mistake(
            "key = \"uid\"",
            &["1 of 1 rows looked at", "one in s1/mall_1.orders_0003 that belongs to s0/mall_0.orders_0000", "shards"],
        );
    });
}

#[test]
fn subtables_that_differ_are_named_with_the_difference() {
    each(|layout| {
        layout.on(3, "ALTER TABLE {}.orders_0002 ADD x INT");
        layout.on(1, "ALTER TABLE {}.product MODIFY id BIGINT");
        layout.mistake(ORDERS_SECTION, &["1 of `orders` differ", "`x` int", "s1/mall_3.orders_0002"]);
        layout.mistake("[schema.mall.table.product]", &["`product` differ", "bigint", "s1/mall_1.product"]);
    });
}

#[test]
fn laws_that_tables_break_are_named_at_their_key() {
    each(|layout| {
        layout.every("ALTER TABLE {t} ADD UNIQUE KEY u (n), MODIFY id BIGINT NOT NULL AUTO_INCREMENT");
        layout.mistake(ORDERS_SECTION, &["the unique key `u` of table `orders`", "unique_per_place"]);
        layout.mistake("id = \"id\"", &["`id` of table `orders` is still AUTO_INCREMENT"]);
        layout.every("ALTER TABLE {t} MODIFY uid DOUBLE");
        layout.mistake("key = \"uid\"", &["double can't be a sharding key"]);
        layout.every("ALTER TABLE {t} CHANGE uid user INT, MODIFY id INT");
        layout.mistake("key = \"uid\"", &["no column `uid`"]);
        layout.mistake("id = \"id\"", &["63 bits"]);
        layout.every("ALTER TABLE {t} ADD uid INT AS (n + 1) STORED");
        layout.mistake("key = \"uid\"", &["generated column"]);
        layout.every("ALTER TABLE {t} ENGINE=MyISAM");
        layout.mistake(ORDERS_SECTION, &["engine MyISAM"]);
        layout.every("CREATE TRIGGER {t}_tr BEFORE INSERT ON {t} FOR EACH ROW SET NEW.n = 1");
        layout.mistake(ORDERS_SECTION, &["trigger `orders_000", "change a key unseen"]);
    });
}

#[test]
fn a_server_that_cannot_be_used_is_named_with_what_to_do() {
    each_own(TABLES, |layout| {
        layout.server(0).run(&[format!("ALTER USER '{BACKEND_USER}'@'%' IDENTIFIED BY 'other'")]).unwrap();
        layout.cluster.server_mut(1).kill();
        layout.mistake(
            "user = \"bifold\"",
            &["server s0 can't be used: Access denied", "CREATE USER 'bifold'@'%'", "GRANT SELECT"],
        );
        layout.mistake("address = ", &["server s1 can't be used", "start it"]);
        layout.cluster.server_mut(1).restart().unwrap();
        layout.server(1).run(&["SET GLOBAL read_only = 1"]).unwrap();
        layout.mistake("[[server]]", &["s1 has read_only = ON"]);
    });
}

#[test]
fn databases_that_are_missing_or_different_are_named() {
    each(|layout| {
        layout.on(2, "DROP DATABASE {}");
        layout.on(3, "ALTER DATABASE {} COLLATE utf8mb4_bin");
        layout.mistake("shards = [", &["s0/mall_2", "no such database", "CREATE DATABASE `mall_2`", "`mall\\_2`.*"]);
        layout.warning("shards = [", &["utf8mb4_bin on s1/mall_3", "ALTER DATABASE"]);
    });
}

#[test]
fn rights_too_wide_and_too_narrow_are_named() {
    each_own(TABLES, |layout| {
        let grant = |server: usize, rights: &str| {
            layout.server(server).run(&[format!("{rights} TO '{BACKEND_USER}'@'%'")]).unwrap();
        };
        grant(0, "GRANT FILE, PROCESS ON *.*");
        layout.warning("", &["more rights than it needs on server s0", "FILE"]);
        grant(1, "GRANT SELECT ON mysql.*");
        layout.warning("", &["more rights than it needs on server s1", "SELECT ON mysql.*"]);
        grant(0, "GRANT SUPER ON *.*");
        layout.mistake("", &["`bifold` has SUPER on server s0", "an account with nothing but: GRANT SELECT"]);
        grant(1, "GRANT ALL PRIVILEGES ON *.*");
        layout.mistake("", &["on server s1", "see every database there"]);
        let revoke = |rights: &str| {
            let sql = format!("REVOKE {rights} ON `mall\\_2`.* FROM '{BACKEND_USER}'@'%'");
            layout.server(0).run(&[sql]).unwrap();
        };
        revoke("CREATE, INDEX");
        layout.warning("", &["lacks CREATE, INDEX on s0/mall_2", "GRANT SELECT"]);
        revoke("DELETE");
        layout.mistake("", &["lacks DELETE, CREATE, INDEX on s0/mall_2"]);
    });
}

#[test]
fn settings_that_are_too_small_or_unequal_are_named() {
    each_own(&TABLES.replace("tables = 4", "tables = 400"), |layout| {
        layout.server(0).run(&["SET GLOBAL table_open_cache = 8", "SET GLOBAL max_prepared_stmt_count = 5"]).unwrap();
        layout.warning("[[server]]", &["server s0 keeps", "table_open_cache ="]);
        layout.warning("", &["prepared statements", "server s0 allows 5"]);
        layout.server(1).run(&["SET GLOBAL max_connections = 12", "SET GLOBAL sql_mode = ''"]).unwrap();
        layout.mistake("", &["does not fit server s1", "max_connections is 12"]);
        layout.warning("[[server]]", &["differ in sql_mode", "'' on s1"]);
        layout.server(1).run(&["SET GLOBAL time_zone = '+05:00'", "SET GLOBAL max_allowed_packet = 1048576"]).unwrap();
        layout.warning("[[server]]", &["differ in time_zone", "+05:00 on s1"]);
        layout.warning("", &["server s1 takes 1048576"]);
    });
}

#[test]
fn two_flavours_side_by_side_are_a_mistake() {
    let (Some(maria), Some(mysql)) = (Program::of(Flavour::MariaDb), Program::of(Flavour::MySql)) else { return };
    let mut cluster = Cluster::start(ClusterSpec::new(&maria, TABLES)).unwrap();
    let layout = Layout::whole(&mut cluster, TABLES);
    let other = Cluster::start(ClusterSpec::new(&mysql, TABLES)).unwrap();
    let file = std::fs::read_to_string(layout.cluster.topology()).unwrap();
    let mixed = file.replace(&layout.server(1).address(), &other.servers()[1].address());
    std::fs::write(layout.cluster.topology(), mixed).unwrap();
    layout.mistake("[[server]]", &["MySQL and MariaDB side by side", "MariaDB on s0, MySQL on s1"]);
}
