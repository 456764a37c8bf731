//! `bifold verify` finds each kind of thing that can be wrong, and nothing where nothing is.

use std::process::Command;

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, ClusterSpec, Program};

use crate::common::{Answer, Client, Login, bifold_program};

const TABLES: &str = r#"
[schema.mall.table.orders]
key = "uid"
tables = 2
id = { column = "id", carries_key = true }

[schema.mall.table.coin]
key = "uid"
hash = "identity"
tables = 3
id = "id"

[schema.mall.table.product]
kind = "reference"
"#;

/// Whether all is well, and the report.
fn verify(cluster: &Cluster) -> (bool, String) {
    let mut command = Command::new(bifold_program());
    command.args(["verify", "--json", "--rate", "0", "--config"]).arg(cluster.topology());
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with('{'), "{text}{}", String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text)
}

#[test]
fn what_is_wrong_is_found() {
    for program in Program::all() {
        let mut cluster = Cluster::start(ClusterSpec::new(&program, TABLES)).unwrap_or_else(|error| panic!("{error}"));
        let port = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
        let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
        let mut client = Client::login(port, &login).expect("connected").expect("logged in");
        let mut run = |sql: &str| {
            let answer = client.query(sql).remove(0);
            assert!(matches!(answer, Answer::Ok(_)), "{sql}: {answer:?}");
        };
        run("CREATE TABLE orders (id BIGINT PRIMARY KEY, uid BIGINT NOT NULL, note VARCHAR(20))");
        run("CREATE TABLE coin (id BIGINT, uid INT PRIMARY KEY)");
        run("CREATE TABLE product (id INT PRIMARY KEY, title VARCHAR(20), price DOUBLE)");
        run("INSERT INTO product VALUES (1, 'one', 1.25), (2, NULL, 2)");
        for uid in 0..40 {
            run(&format!("INSERT INTO orders (uid, note) VALUES ({uid}, 'n'), ({uid}, 'm')"));
            run(&format!("INSERT INTO coin (uid) VALUES ({})", uid - 20));
        }
        let (ok, report) = verify(&cluster);
        assert!(ok && report.contains("\"rows\": 80") && report.contains("\"rows\": 40"), "{report}");
        // Each is done and undone: what, how, how back, and what is said.
        let (server, database) = cluster.shard(0);
        let on = |shard: usize, sql: &str| {
            let (server, database) = cluster.shard(shard);
            server.run(&[sql.replace("$db", &database)]).unwrap_or_else(|error| panic!("{error}"));
        };
        let wrong: [(&str, &str, &str); 7] = [
            ("INSERT INTO $db.coin_0000 VALUES (77, 1)", "DELETE FROM $db.coin_0000 WHERE id = 77", "\"misplaced\": 1"),
            (
                "INSERT INTO $db.coin_0001 VALUES (78, 12)",
                "DELETE FROM $db.coin_0001 WHERE id = 78",
                "\"misplaced\": 1",
            ),
            (
                "UPDATE $db.product SET price = 1.26 WHERE id = 1",
                "UPDATE $db.product SET price = 1.25 WHERE id = 1",
                "\"other_copies\": [\n",
            ),
            (
                "UPDATE $db.product SET title = '' WHERE id = 2",
                "UPDATE $db.product SET title = NULL WHERE id = 2",
                "\"other_copies\": [\n",
            ),
            (
                "ALTER TABLE $db.orders_0001 ADD KEY k (note)",
                "ALTER TABLE $db.orders_0001 DROP KEY k",
                "\"other_definitions\": [\n",
            ),
            (
                "RENAME TABLE $db.orders_0001 TO $db.away",
                "RENAME TABLE $db.away TO $db.orders_0001",
                "\"missing\": [\n",
            ),
            (
                "UPDATE $db.orders_0000 SET id = id + 4 LIMIT 1",
                "UPDATE $db.orders_0000 SET id = id - 4 ORDER BY id LIMIT 0",
                "\"wrong_ids\": 1",
            ),
        ];
        for (how, back, said) in wrong {
            on(0, how);
            let (ok, report) = verify(&cluster);
            assert!(!ok && report.contains(said), "{program}: {how}: {report}");
            on(0, back);
        }
        let first = server.run(&[format!("SELECT id FROM {database}.coin_0000 LIMIT 1")]).expect("an id");
        let id = first[0][0].clone().expect("an id");
        on(1, &format!("UPDATE $db.coin_0001 SET id = {id} LIMIT 1"));
        let (ok, report) = verify(&cluster);
        assert!(!ok && report.contains("\"double_ids\": 1"), "{report}");
    }
}
