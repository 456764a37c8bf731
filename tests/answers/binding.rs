//! Parameters of all types, one after the other, for statements that the proxy prepares once for all its clients.

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster};

use crate::common::{Both, Login, Param, Protocol, bifold_program, with_cluster};

const TABLES: &str = r#"
[schema.mall.table.coin]
key = "uid"
tables = 2
[schema.mall.table.name]
key = "name"
tables = 2
"#;

#[test]
fn how_one_client_binds_a_parameter_changes_no_other_clients_answer() {
    with_cluster(|cluster| {
        let both = &mut served(cluster);
        let text = |text: &str| Param::Text(text.into());
        both.run_with("INSERT INTO name (name, n) VALUES (?, ?)", &[text("a"), Param::Double(5.0)]);
        both.run_with("INSERT INTO name (name, n) VALUES (?, ?)", &[text("a"), text("9007199254740993")]);
        both.run_with("SELECT n FROM name WHERE name = ? ORDER BY n", &[text("a")]);
        both.run_with("SELECT n FROM name WHERE name = 'a' AND n = ?", &[Param::Double(5.0)]);
        both.run_with("SELECT n FROM name WHERE name = 'a' AND n = ?", &[Param::Int(9_007_199_254_740_993)]);

        both.run_with("INSERT INTO coin (uid, n) VALUES (?, 1)", &[Param::Double(5.0)]);
        both.run_with("INSERT INTO coin (uid, n) VALUES (?, 1)", &[text("9007199254740993")]);
        both.run_with("INSERT INTO coin (uid, n) VALUES (?, 2)", &[text("9007199254740992")]);
        for uid in [Param::Double(5.0), Param::Int(9_007_199_254_740_993), text("9007199254740993")] {
            both.run_with("SELECT n FROM coin WHERE uid = ?", &[uid]);
        }
    });
}

/// The tables on both sides, and clients before them.
fn served(cluster: &mut Cluster) -> Both {
    let coin = |name: &str| format!("CREATE TABLE {name} (uid BIGINT NOT NULL, n INT NOT NULL)");
    let name = |name: &str| {
        format!("CREATE TABLE {name} (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, n BIGINT)")
    };
    cluster.servers()[0].run(&["USE mall".into(), coin("coin"), name("name")]).expect("plain tables");
    for shard in 0..cluster.spec().shards {
        let (server, database) = cluster.shard(shard);
        let subtables = [coin("coin_0000"), coin("coin_0001"), name("name_0000"), name("name_0001")];
        server.run(&[&[format!("USE {database}")][..], &subtables].concat()).expect("subtables");
    }
    cluster.set_tables(TABLES).expect("a topology");
    let proxy = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
    let plain = &cluster.servers()[0];
    let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
    Both::new((plain.port(), proxy), login, plain.flavour(), Protocol::Prepared)
}
