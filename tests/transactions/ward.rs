//! What every test here needs: accounts on four shards of two servers, with the proxy before
//! them, and the questions asked at the end.

use std::time::{Duration, Instant};

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, ClusterSpec, Durability, Program, Row};

use crate::common::{Answer, Client, Login, bifold_program};

pub const TABLES: &str = r#"
[schema.mall.table.account]
key = "uid"
tables = 2

[schema.mall.table.product]
kind = "reference"

[schema.mall.table.entry]
key = "uid"
tables = 2

[schema.mall.table.many]
key = "uid"
tables = 8
"#;

pub const ACCOUNTS: i64 = 64;
pub const MONEY: i64 = 1000;

/// A cluster of each flavour, ready to serve; each test has its own, since it may break it.
pub fn on_each_flavour(durability: Durability, test: impl Fn(&mut Cluster)) {
    let programs = Program::all();
    assert!(!programs.is_empty(), "no server program on this machine: see `make test`");
    for program in programs {
        let spec = ClusterSpec { durability, ..ClusterSpec::new(&program, TABLES) };
        test(&mut Cluster::start(spec).unwrap_or_else(|error| panic!("{program}: {error}")));
    }
}

/// Starts the proxy and opens the accounts through it.
pub fn serve(cluster: &mut Cluster) -> Client {
    let port = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
    let mut client = login(port);
    ok(&mut client, "CREATE TABLE account (uid BIGINT PRIMARY KEY, money BIGINT NOT NULL)");
    let rows: Vec<String> = (0..ACCOUNTS).map(|uid| format!("({uid}, {MONEY})")).collect();
    ok(&mut client, &format!("INSERT INTO account (uid, money) VALUES {}", rows.join(", ")));
    client
}

#[track_caller]
pub fn login(port: u16) -> Client {
    try_login(port).expect("logged in")
}

pub fn try_login(port: u16) -> Option<Client> {
    Client::login(port, &Login::new(APP_USER, APP_PASSWORD, Some("mall"))).ok()?.ok()
}

#[track_caller]
pub fn ok(client: &mut Client, sql: &str) -> Answer {
    let mut answers = client.query(sql);
    let answer = answers.remove(0);
    assert!(matches!(answer, Answer::Ok(_) | Answer::Rows(_)), "{sql}: {answer:?}");
    answer
}

/// Error code and text.
#[track_caller]
pub fn fails(client: &mut Client, sql: &str) -> (u16, String) {
    match client.query(sql).remove(0) {
        Answer::Err(error) => (error.code, error.text),
        other => panic!("{sql}: {other:?}"),
    }
}

#[track_caller]
pub fn money(client: &mut Client, uid: i64) -> i64 {
    let answer = ok(client, &format!("SELECT money FROM account WHERE uid = {uid}"));
    answer.text()[0][0].as_ref().expect("money").parse().expect("a number")
}

/// An account on each of the servers: of the first, of the second.
pub fn apart(cluster: &Cluster) -> (i64, i64) {
    (on_server(cluster, 0)[0], on_server(cluster, 1)[0])
}

pub fn on_server(cluster: &Cluster, server: usize) -> Vec<i64> {
    (0..cluster.spec().shards)
        .filter(|shard| shard % cluster.servers().len() == server)
        .flat_map(|shard| {
            let (server, database) = cluster.shard(shard);
            let select =
                format!("SELECT uid FROM {database}.account_0000 UNION SELECT uid FROM {database}.account_0001");
            server.run(&[select]).expect("accounts").into_iter().map(|row| number(&row))
        })
        .collect()
}

fn number(row: &Row) -> i64 {
    row[0].as_deref().unwrap_or("0").parse().expect("a number")
}

/// As the servers have it, whatever the proxy says.
pub fn stored(cluster: &Cluster, uid: i64) -> i64 {
    let places = (0..cluster.spec().shards).flat_map(|shard| {
        let (server, database) = cluster.shard(shard);
        let of = |table: &str| format!("SELECT money FROM {database}.{table} WHERE uid = {uid}");
        let select = format!("{} UNION ALL {}", of("account_0000"), of("account_0001"));
        server.run(&[select]).expect("an account")
    });
    places.map(|row| number(&row)).next().expect("the account is there")
}

pub fn sum(cluster: &Cluster) -> i64 {
    (0..cluster.spec().shards)
        .map(|shard| {
            let (server, database) = cluster.shard(shard);
            let of = |table: &str| format!("SELECT money FROM {database}.{table}");
            let select = format!("SELECT SUM(money) FROM ({} UNION ALL {}) a", of("account_0000"), of("account_0001"));
            number(&server.run(&[select]).expect("a sum")[0])
        })
        .sum()
}

/// Nothing is left prepared on any server, at the latest after 30 seconds.
#[track_caller]
pub fn wait_until_none_is_prepared(cluster: &Cluster) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let left: Vec<Row> =
            cluster.servers().iter().flat_map(|server| server.run(&["XA RECOVER"]).expect("listed")).collect();
        if left.is_empty() {
            return;
        }
        let log = cluster.proxy().map(|proxy| proxy.log()).unwrap_or_default();
        assert!(Instant::now() < end, "still prepared: {left:?}\n{log}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub fn transfer(client: &mut Client, from: i64, to: i64, amount: i64) {
    ok(client, "BEGIN");
    ok(client, &format!("UPDATE account SET money = money - {amount} WHERE uid = {from}"));
    ok(client, &format!("UPDATE account SET money = money + {amount} WHERE uid = {to}"));
}
