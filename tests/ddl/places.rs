//! DDL over all places of a table, on real servers: what is made, what is completed when asked
//! again, what is refused, and what an interruption leaves.

use std::sync::Arc;
use std::time::Instant;

use crate::common::with_cluster;
use bifold::catalog::Catalog;
use bifold::config::{Config, load};
use bifold::context::{Setting, State, States};
use bifold::error::{Error, Result};
use bifold::execute::ddl::{Actor, Outcome, Turns, run};
use bifold::lab::{self, Cluster, ClusterSpec, Durability, Program};
use bifold::plan::ddl::Ddl;
use bifold::plan::{Outcome as Planning, Plan, Planned, Scene};
use bifold::shard::Servers;
use bifold::sql::fingerprint::Fingerprint;
use bifold::sql::{Dialect, Flavour, Source, lexer};
use bifold::topology::Topology;
use tokio::runtime::Runtime;

const TABLES: &str = "[schema.mall.table.orders]\nkey = \"uid\"\ntables = 4\nid = \"id\"\n\n\
                      [schema.mall.table.refund]\nkey = \"uid\"\ntables = 4\nid = \"id\"\n\n\
                      [schema.mall.table.other]\nkey = \"uid\"\ntables = 2\nid = \"id\"\n\n\
                      [schema.mall.table.product]\nkind = \"reference\"\n";

/// Servers and what the execution of DDL needs of the proxy.
struct Stage<'c> {
    cluster: &'c mut Cluster,
    topology: Topology,
    servers: Servers,
    states: States,
    turns: Turns,
    flavour: Flavour,
    runtime: Runtime,
}

impl<'c> Stage<'c> {
    fn new(cluster: &'c mut Cluster, tables: &str) -> Self {
        Stage::with(cluster, tables, |_| {})
    }

    fn with(cluster: &'c mut Cluster, tables: &str, change: impl Fn(&mut Config)) -> Self {
        cluster.set_tables(tables).unwrap();
        let mut config = load(cluster.topology()).unwrap();
        change(&mut config);
        let topology = Topology::new(&config, 1);
        let states = States::default();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let servers = runtime.block_on(async { Servers::new(&topology, &config.backend, &states).unwrap() });
        let flavour = match cluster.spec().program.flavour {
            lab::Flavour::MariaDb => Flavour::MariaDb,
            lab::Flavour::MySql => Flavour::MySql,
        };
        Stage { cluster, topology, servers, states, turns: Turns::default(), flavour, runtime }
    }

    /// Planned and carried out, as a session in schema `mall` would.
    fn run(&self, text: &str) -> Result<Outcome> {
        self.act(&self.plan(text)?)
    }

    fn plan(&self, text: &str) -> Result<Ddl> {
        let dialect = Dialect::new(self.flavour, 0);
        let mut tokens = Vec::new();
        lexer::lex(text.as_bytes(), &dialect, &mut tokens);
        let source = Source::new(text.as_bytes(), &tokens, dialect);
        let mut fingerprint = Fingerprint::default();
        fingerprint.take(&source, 0);
        let allowed = ["mall".to_owned()];
        let scene = Scene {
            topology: &self.topology,
            catalog: &Catalog::default(),
            user: "app",
            host: "127.0.0.1",
            allowed: &allowed,
            schema: Some("mall"),
        };
        match bifold::plan::plan(source, &fingerprint, &scene)? {
            Planning::Planned(Planned { plan: Plan::Ddl(ddl), .. }) => Ok(*ddl),
            Planning::Planned(Planned { plan: Plan::Refusal(error), .. }) => Err(error),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn act(&self, ddl: &Ddl) -> Result<Outcome> {
        let actor = Actor {
            servers: &self.servers,
            states: &self.states,
            flavour: self.flavour,
            state: &self.session(),
            turns: &self.turns,
        };
        self.runtime.block_on(run(&actor, ddl))
    }

    fn session(&self) -> Arc<State> {
        self.states.of([
            (Setting::System("character_set_client".into()), "'utf8mb4'".to_owned()),
            (Setting::System("character_set_results".into()), "'utf8mb4'".to_owned()),
            (Setting::System("collation_connection".into()), "'utf8mb4_general_ci'".to_owned()),
        ])
    }

    /// Physical tables whose names begin so, by shard.
    fn tables(&self, prefix: &str) -> Vec<Vec<String>> {
        (0..4)
            .map(|number| {
                let (server, database) = self.cluster.shard(number);
                let sql = format!(
                    "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{database}' AND TABLE_NAME LIKE '{prefix}%' ORDER BY 1"
                );
                server.run(&[sql]).unwrap().into_iter().flatten().flatten().collect()
            })
            .collect()
    }

    fn count(&self, prefix: &str) -> usize {
        self.tables(prefix).iter().map(Vec::len).sum()
    }

    /// As root, on the server of a shard; `{}` is its database.
    fn on_shard(&self, number: usize, sql: &str) -> Vec<Vec<Option<String>>> {
        let (server, database) = self.cluster.shard(number);
        server.run(&[sql.replace("{}", &database)]).unwrap()
    }

    /// Columns of a physical table.
    fn columns(&self, shard: usize, table: &str) -> Vec<String> {
        self.on_shard(shard, &format!("SHOW COLUMNS FROM {{}}.{table}"))
            .into_iter()
            .map(|row| row[0].clone().unwrap())
            .collect()
    }
}

fn text(error: &Error) -> String {
    String::from_utf8_lossy(error.text()).into_owned()
}

fn notes(outcome: &Outcome) -> String {
    outcome.diagnostics.iter().map(|it| format!("{} {}\n", it.code, String::from_utf8_lossy(&it.text))).collect()
}

const CREATE: &str = "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, uid INT NOT NULL, n INT, KEY (uid))";

fn each(test: impl Fn(Stage<'_>)) {
    with_cluster(|cluster| test(Stage::new(cluster, TABLES)));
}

#[test]
fn a_table_is_made_in_every_place_and_dropped_from_every_place() {
    each(|stage| {
        stage.run(CREATE).unwrap();
        let all: Vec<String> = (0..4).map(|n| format!("orders_000{n}")).collect();
        assert_eq!(stage.tables("orders"), vec![all.clone(), all.clone(), all.clone(), all]);
        assert_eq!(stage.count("bifold"), 0);

        let error = stage.run(CREATE).unwrap_err();
        assert_eq!((error.code(), text(&error).as_str()), (1050, "Table 'orders' already exists"));
        let outcome = stage.run(&CREATE.replace("TABLE", "TABLE IF NOT EXISTS")).unwrap();
        assert_eq!(notes(&outcome), "1050 Table 'orders' already exists\n");

        stage.run("DROP TABLE orders").unwrap();
        assert_eq!(stage.count("orders"), 0);
        let error = stage.run("DROP TABLE orders").unwrap_err();
        assert_eq!((error.code(), text(&error).as_str()), (1051, "Unknown table 'mall.orders'"));
        let outcome = stage.run("DROP TABLE IF EXISTS orders").unwrap();
        assert_eq!(notes(&outcome), "1051 Unknown table 'mall.orders'\n");
    });
}

#[test]
fn what_a_server_says_of_a_statement_comes_through_and_touches_nothing() {
    each(|stage| {
        let error = stage.run("CREATE TABLE orders (id BIGINT, uid INT, d INT DEFAULT 'x')").unwrap_err();
        assert_eq!((error.code(), text(&error).as_str()), (1067, "Invalid default value for 'd'"));
        assert_eq!((stage.count("orders"), stage.count("bifold")), (0, 0));

        for statement in ["ALTER TABLE orders ADD x INT", "TRUNCATE orders", "CREATE INDEX i ON orders (n)"] {
            let error = stage.run(statement).unwrap_err();
            assert_eq!(
                (error.code(), text(&error).as_str()),
                (1146, "Table 'mall.orders' doesn't exist"),
                "{statement}"
            );
        }

        stage.run(CREATE).unwrap();
        let error = stage.run("ALTER TABLE orders ADD n INT").unwrap_err();
        assert_eq!((error.code(), text(&error).as_str()), (1060, "Duplicate column name 'n'"));
        assert_eq!(stage.count("bifold"), 0);
    });
}

#[test]
fn an_interrupted_create_is_completed_by_the_next() {
    each(|stage| {
        stage.run(CREATE).unwrap();
        stage.on_shard(1, "DROP TABLE {}.orders_0001, {}.orders_0003");
        stage.on_shard(3, "DROP TABLE {}.orders_0000");
        let outcome = stage.run(CREATE).unwrap();
        assert_eq!(stage.count("orders"), 16);
        assert!(notes(&outcome).contains("3 of 16 places of `orders` were missing and were made"), "{outcome:?}");

        // Of another form it is not completed.
        stage.on_shard(2, "DROP TABLE {}.orders_0002");
        let error = stage.run(&CREATE.replace("n INT", "n BIGINT")).unwrap_err();
        assert!(text(&error).contains("some places of `orders` are different"), "{error}");
        assert!(text(&error).contains("shard 0: 0–3; shard 1: 0–3; shard 2: 0–1, 3"), "{error}");
        assert_eq!(stage.count("orders"), 15);

        // ALTER and TRUNCATE want it whole.
        let error = stage.run("ALTER TABLE orders ADD x INT").unwrap_err();
        assert!(text(&error).contains("1 of 16 places are missing (shard 2: 2)"), "{error}");
        // DROP takes what there is.
        stage.run("DROP TABLE orders").unwrap();
        assert_eq!(stage.count("orders"), 0);
    });
}

#[test]
fn an_interrupted_alter_is_completed_by_the_same_statement() {
    each(|stage| {
        stage.run(CREATE).unwrap();
        stage.run("ALTER TABLE orders ADD x INT DEFAULT 5").unwrap();
        for shard in [0, 3] {
            for table in 0..4 {
                assert_eq!(stage.columns(shard, &format!("orders_000{table}")), ["id", "uid", "n", "x"]);
            }
        }
        // As if the next had been cut off after two places.
        for table in ["orders_0000", "orders_0001"] {
            stage.on_shard(0, &format!("ALTER TABLE {{}}.{table} ADD y INT"));
        }
        let error = stage.run("ALTER TABLE orders ADD z INT").unwrap_err();
        assert!(text(&error).contains("`y` int") && text(&error).contains("shard 0: 0–1"), "{error}");
        stage.run("ALTER TABLE orders ADD y INT").unwrap();
        for shard in 0..4 {
            assert_eq!(stage.columns(shard, "orders_0001"), ["id", "uid", "n", "x", "y"]);
        }
        // Or taken back by the opposite one.
        stage.on_shard(0, "ALTER TABLE {}.orders_0000 DROP y");
        stage.run("ALTER TABLE orders DROP y").unwrap();
        for shard in 0..4 {
            assert_eq!(stage.columns(shard, "orders_0003"), ["id", "uid", "n", "x"]);
        }
        assert_eq!(stage.count("bifold"), 0);
    });
}

#[test]
fn what_rows_refuse_is_told_with_how_far_it_came() {
    each(|stage| {
        stage.run(CREATE).unwrap();
        stage.on_shard(0, "INSERT INTO {}.orders_0000 VALUES (1, 1, NULL)");
        let alter = "ALTER TABLE orders ADD UNIQUE KEY u (uid, n), MODIFY n INT NOT NULL";
        let error = stage.run(alter).unwrap_err();
        assert!(matches!(error.code(), 1138 | 1265), "{error}");
        assert!(!text(&error).contains("places"), "{error}");

        stage.on_shard(0, "UPDATE {}.orders_0000 SET n = 1");
        stage.on_shard(1, "INSERT INTO {}.orders_0002 VALUES (1, 1, 7), (2, 1, 7)");
        let error = stage.run(alter).unwrap_err();
        assert_eq!(error.code(), 1062);
        assert!(text(&error).starts_with("Duplicate entry '1-7' for key '"), "{error}");
        assert!(text(&error).contains("shard 1: ") && text(&error).contains("again to complete it"), "{error}");
        assert!(!text(&error).contains("orders_0002"), "{error}");
        stage.on_shard(1, "DELETE FROM {}.orders_0002 WHERE id = 2");
        stage.run(alter).unwrap();
        stage.run("DROP INDEX u ON orders").unwrap();
    });
}

#[test]
fn one_table_is_defined_by_one_statement_at_a_time_and_others_beside_it() {
    each(|stage| {
        let create = |table: &str| stage.run(&CREATE.replace("orders", table));
        let (first, second, other) = std::thread::scope(|scope| {
            let first = scope.spawn(|| create("orders"));
            let second = scope.spawn(|| create("orders"));
            let other = scope.spawn(|| create("refund"));
            (first.join().unwrap(), second.join().unwrap(), other.join().unwrap())
        });
        other.unwrap();
        let late = [first, second].into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert!(late.len() == 1 && late[0].code() == 1050, "{late:?}");
        assert_eq!((stage.count("orders"), stage.count("refund"), stage.count("bifold")), (16, 16, 0));
    });
}

#[test]
fn one_connection_to_a_server_is_enough() {
    with_cluster(|cluster| {
        let stage = Stage::with(cluster, TABLES, |config| config.backend.connections = 1);
        stage.timed(CREATE);
        stage.timed("ALTER TABLE orders ADD x INT");
        stage.timed("DROP TABLE orders");
    });
}

#[test]
fn laws_are_kept_by_create_and_by_alter() {
    each(|stage| {
        let refused = |statement: &str, says: &str| {
            let error = stage.run(statement).unwrap_err();
            assert_eq!(error.code(), 1235, "{statement}: {error}");
            assert!(text(&error).contains(says), "{statement}: {error}");
            assert_eq!(stage.count("bifold"), 0);
        };
        refused("CREATE TABLE orders (id BIGINT PRIMARY KEY, n INT)", "no column `uid`");
        refused("CREATE TABLE orders (id BIGINT PRIMARY KEY, uid DOUBLE)", "can't be a sharding key");
        refused("CREATE TABLE orders (id INT PRIMARY KEY, uid INT)", "make it BIGINT");
        refused("CREATE TABLE orders (id BIGINT, uid INT AS (id + 1) STORED)", "generated");
        refused("CREATE TABLE orders (id BIGINT, uid INT, n INT UNIQUE)", "the unique key `n`");
        refused("CREATE TABLE orders (id BIGINT, uid INT, n INT PRIMARY KEY)", "the primary key");
        refused("CREATE TABLE orders (id BIGINT, uid VARCHAR(9), UNIQUE (uid(3)))", "the unique key `uid`");
        refused(
            "CREATE TABLE orders (id BIGINT, uid INT, n BIGINT AUTO_INCREMENT, KEY (n))",
            "`n` of table `orders` is AUTO_INCREMENT",
        );
        refused("CREATE TABLE orders (id BIGINT, uid INT) ENGINE=MyISAM", "MyISAM");
        assert_eq!(stage.count("orders"), 0);

        stage.run(CREATE).unwrap();
        refused("ALTER TABLE orders MODIFY uid BIGINT NOT NULL", "cannot become bigint");
        refused("ALTER TABLE orders MODIFY uid INT UNSIGNED NOT NULL", "unsigned");
        refused("ALTER TABLE orders ADD UNIQUE KEY u (n)", "the unique key `u`");
        refused("ALTER TABLE orders MODIFY id INT NOT NULL", "make it BIGINT");
        stage.run("ALTER TABLE orders MODIFY uid INT NULL COMMENT 'c'").unwrap();
        stage.run("ALTER TABLE orders ADD UNIQUE KEY u (n, uid)").unwrap();
    });
}

#[test]
fn auto_increment_goes_out_of_the_id_and_stays_refused_elsewhere() {
    each(|stage| {
        stage
            .run("CREATE TABLE orders (`Id` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, uid INT NOT NULL) ENGINE=InnoDB, AUTO_INCREMENT=100, COMMENT='c'")
            .unwrap();
        let shown = stage.on_shard(1, "SHOW CREATE TABLE {}.orders_0002")[0][1].clone().unwrap();
        assert!(!shown.contains("AUTO_INCREMENT") && shown.contains("COMMENT='c'"), "{shown}");
        stage.run("ALTER TABLE orders MODIFY id BIGINT AUTO_INCREMENT NOT NULL, ADD n INT").unwrap();
        let shown = stage.on_shard(1, "SHOW CREATE TABLE {}.orders_0002")[0][1].clone().unwrap();
        assert!(!shown.contains("AUTO_INCREMENT") && !shown.contains("unsigned"), "{shown}");
        stage.run("DROP TABLE orders").unwrap();
        stage.run("CREATE TABLE orders (id SERIAL, uid INT)").unwrap();
        stage.run("DROP TABLE orders").unwrap();
        let error = stage.run("CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, uid INT)").unwrap_err();
        assert!(text(&error).contains("63 bits; make it BIGINT"), "{error}");
    });
}

#[test]
fn like_takes_the_definition_of_a_table_of_the_same_layout() {
    each(|stage| {
        stage.run("CREATE TABLE orders (id BIGINT PRIMARY KEY, uid INT, CONSTRAINT c CHECK (uid > 0))").unwrap();
        stage.run("CREATE TABLE refund LIKE orders").unwrap();
        assert_eq!(stage.count("refund"), 16);
        stage.run("ALTER TABLE refund ADD n INT").unwrap();
        stage.run("CREATE TABLE product (id INT)").unwrap();
        let error = stage.run("CREATE TABLE other LIKE product").unwrap_err();
        assert!(text(&error).contains("no column `uid`"), "{error}");
        let error = stage.run("CREATE TABLE other LIKE orders").unwrap_err();
        assert!(text(&error).contains("lays out in another way"), "{error}");
        let error = stage.run("CREATE TABLE refund LIKE orders").unwrap_err();
        assert_eq!(error.code(), 1050, "{error}");
        stage.run("DROP TABLE orders, refund, product").unwrap();
        assert_eq!(stage.count(""), 0);
        let error = stage.run("CREATE TABLE refund LIKE orders").unwrap_err();
        assert_eq!((error.code(), text(&error).as_str()), (1146, "Table 'mall.orders' doesn't exist"));
    });
}

#[test]
fn several_tables_are_dropped_as_each_server_does_it() {
    each(|stage| {
        stage.run(CREATE).unwrap();
        let error = stage.run("DROP TABLE refund, orders, product").unwrap_err();
        assert_eq!((error.code(), text(&error).as_str()), (1051, "Unknown table 'mall.refund,mall.product'"));
        let left = if stage.flavour == Flavour::MySql { 16 } else { 0 };
        assert_eq!(stage.count("orders"), left);
        stage.run("DROP TABLE IF EXISTS refund, orders, product").unwrap();
        assert_eq!(stage.count(""), 0);
    });
}

#[test]
fn what_the_topology_forbids_is_refused_before_a_server_is_asked() {
    each(|stage| {
        let refused = |statement: &str, code: u16, says: &str| {
            let error = stage.plan(statement).map(|ddl| ddl.to_string()).unwrap_err();
            assert_eq!(error.code(), code, "{statement}: {error}");
            assert!(text(&error).contains(says), "{statement}: {error}");
        };
        refused(
            "CREATE TABLE product (id INT, FOREIGN KEY (id) REFERENCES orders (id))",
            1235,
            "does not stand beside",
        );
        refused("CREATE TABLE orders AS SELECT 1 AS uid", 1235, "CREATE TABLE … SELECT into `orders`");
        refused("CREATE TEMPORARY TABLE orders (a INT)", 1235, "would hide a table");
        refused("CREATE TABLE orders_0001 (a INT)", 1235, "taken by a subtable");
        refused("DROP TABLE orders_0001", 1051, "Unknown table 'mall.orders_0001'");
        refused("ALTER TABLE orders_0001 ADD a INT", 1146, "Table 'mall.orders_0001' doesn't exist");
        refused("TRUNCATE elsewhere.t", 1142, "DROP command denied to user 'app'@'127.0.0.1'");
        refused("ALTER TABLE orders DROP COLUMN UID", 1235, "`UID` is the sharding key");
        refused("ALTER TABLE orders RENAME COLUMN n TO uid", 1235, "given to another column");
        refused("ALTER TABLE orders CHANGE id other BIGINT", 1235, "`id` is the id of table");
        refused("ALTER TABLE orders RENAME TO t", 1235, "cannot be renamed");
        refused("RENAME TABLE t TO orders", 1235, "where `orders` lives");
        refused("ALTER TABLE orders ENGINE=CONNECT", 1235, "ENGINE=connect");
        let plan = stage.plan("CREATE TABLE t9 (a INT) -- all").unwrap().to_string();
        assert!(
            plan.contains("CREATE TABLE `mall_0`.`t9` (a INT)") && plan.contains("no rule for table `t9`"),
            "{plan}"
        );
    });
}

#[test]
fn constraints_have_a_name_of_their_own_in_each_place() {
    each(|stage| {
        stage
            .run("CREATE TABLE orders (id BIGINT PRIMARY KEY, uid INT, n INT CHECK (n < 100), CONSTRAINT positive CHECK (n > 0))")
            .unwrap();
        stage.run("ALTER TABLE orders ADD CONSTRAINT small CHECK (n < 50)").unwrap();
        let shown = stage.on_shard(2, "SHOW CREATE TABLE {}.orders_0003")[0][1].clone().unwrap();
        assert!(shown.contains("`positive_0003`") && shown.contains("`small_0003`"), "{shown}");
        stage.run("ALTER TABLE orders DROP CONSTRAINT positive").unwrap();
        let shown = stage.on_shard(3, "SHOW CREATE TABLE {}.orders_0001")[0][1].clone().unwrap();
        assert!(!shown.contains("positive") && shown.contains("`small_0001`"), "{shown}");
        let error = stage.run("ALTER TABLE orders DROP CONSTRAINT positive").unwrap_err();
        assert!(
            matches!(error.code(), 1091 | 3940) && text(&error).contains("positive") && !text(&error).contains("_0"),
            "{error}"
        );
    });
}

#[test]
fn a_reference_table_stands_on_every_shard() {
    each(|stage| {
        stage.run("CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(20) UNIQUE)").unwrap();
        assert_eq!(stage.tables("product"), vec![vec!["product".to_owned()]; 4]);
        stage.run("ALTER TABLE product ADD price DECIMAL(10,2)").unwrap();
        assert_eq!(stage.columns(3, "product"), ["id", "name", "price"]);
        stage.on_shard(1, "INSERT INTO {}.product VALUES (1, 'a', 1)");
        stage.run("TRUNCATE TABLE product").unwrap();
        assert_eq!(stage.on_shard(1, "SELECT COUNT(*) FROM {}.product")[0][0].as_deref(), Some("0"));
        stage.run("DROP TABLE product").unwrap();
        assert_eq!(stage.count("product"), 0);
    });
}

#[test]
fn shards_of_different_default_collations_are_not_created_on() {
    each(|stage| {
        stage.on_shard(2, "ALTER DATABASE {} CHARACTER SET latin1");
        let error = stage.run(CREATE).unwrap_err();
        assert!(text(&error).contains("different default collations"), "{error}");
        assert_eq!(stage.count("orders"), 0);
    });
}

#[test]
fn a_server_killed_in_the_middle_of_a_large_create_leaves_what_the_next_one_completes() {
    each_durable("tables = 1024", |stage| {
        let made = "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{}'";
        let error = stage.killed_while(CREATE, made, 100);
        assert!(text(&error).contains("of 4096 places, not in shard"), "{error}");
        assert!(text(&error).contains("Run the statement again"), "{error}");
        stage.timed(CREATE);
        assert_eq!(stage.count("orders"), 4096);
    });
}

#[test]
fn a_server_killed_in_the_middle_of_an_alter_leaves_what_the_next_one_completes() {
    each_durable("tables = 256", |stage| {
        stage.timed(CREATE);
        let alter = "ALTER TABLE orders ADD x INT, ADD KEY (n)";
        let altered = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{}' AND COLUMN_NAME = 'x'";
        let error = stage.killed_while(alter, altered, 20);
        assert!(text(&error).contains("of 1024 places, not in shard"), "{error}");
        let error = stage.run("ALTER TABLE orders ADD y INT").unwrap_err();
        assert!(text(&error).contains("some places of `orders` are different"), "{error}");
        stage.timed(alter);
        for shard in 0..4 {
            let columns =
                "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{}' AND COLUMN_NAME = 'x'";
            assert_eq!(stage.on_shard(shard, columns)[0][0].as_deref(), Some("256"));
        }
        assert_eq!(stage.count("bifold"), 0);
    });
}

/// On servers of its own, which lose nothing when they are killed.
fn each_durable(tables: &str, test: impl Fn(&mut Stage<'_>)) {
    for program in Program::all() {
        let spec = ClusterSpec { durability: Durability::Full, ..ClusterSpec::new(&program, "") };
        let mut cluster = Cluster::start(spec).unwrap();
        test(&mut Stage::new(&mut cluster, &TABLES.replacen("tables = 4", tables, 1)));
    }
}

impl Stage<'_> {
    /// Kills the server of shard 1 when the count there has come so far, starts it again, and
    /// gives the error that the statement ended with.
    fn killed_while(&mut self, statement: &str, count: &str, enough: u32) -> Error {
        let started = Instant::now();
        let stage = &*self;
        let killed = std::thread::scope(|scope| {
            let running = scope.spawn(|| stage.run(statement));
            while stage.on_shard(1, count)[0][0].as_deref().is_none_or(|n| n.parse::<u32>().unwrap() < enough) {
                assert!(started.elapsed().as_secs() < 120 && !running.is_finished());
            }
            let pid = stage.cluster.servers()[1].pid();
            std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
            running.join().unwrap()
        });
        self.cluster.server_mut(1).restart().unwrap();
        killed.unwrap_err()
    }

    /// It must work; how long it took is printed.
    #[track_caller]
    fn timed(&self, statement: &str) {
        let started = Instant::now();
        self.run(statement).unwrap();
        println!("{:?}: {statement}: {:?}", self.flavour, started.elapsed());
    }
}
