//! Worker numbers of several proxies: leased from the store, never shared, later ids after a change
//! of holder.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::Duration;

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, ClusterSpec, Program, Proxy};

use crate::common::{Answer, Client, Login, bifold_program};

const TABLES: &str = r#"
[schema.mall.table.t]
key = "uid"
tables = 2
id = "id"
"#;

fn cluster(program: &Program) -> Cluster {
    let more = "[meta]\nserver = \"s1\"\n\n[workers]\nrange = \"3-6\"\n".to_owned();
    let spec = ClusterSpec { more, ..ClusterSpec::new(program, TABLES) };
    Cluster::start(spec).unwrap_or_else(|error| panic!("{program}: {error}"))
}

fn proxy(cluster: &Cluster, wanted: u32) -> (Proxy, Client) {
    let proxy = Proxy::start(bifold_program(), cluster.topology(), wanted).unwrap_or_else(|error| panic!("{error}"));
    let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
    let client = Client::login(proxy.port(), &login).expect("connected").expect("logged in");
    (proxy, client)
}

/// The id that a new row was given, or the error's code.
fn insert(client: &mut Client) -> Result<u64, (u16, String)> {
    match client.query("INSERT INTO t (uid) VALUES (7)").remove(0) {
        Answer::Ok(ok) => Ok(ok.insert_id),
        Answer::Err(error) => Err((error.code, error.text)),
        other => panic!("{other:?}"),
    }
}

fn worker(id: u64) -> u64 {
    id >> 12 & 1023
}

#[test]
fn each_proxy_has_a_number_of_its_own_until_it_gives_it_back() {
    for program in Program::all() {
        let cluster = cluster(&program);
        // All ask for the same one.
        let mut proxies: Vec<(Proxy, Client)> = (0..5).map(|_| proxy(&cluster, 5)).collect();
        let create = proxies[0].1.query("CREATE TABLE t (id BIGINT PRIMARY KEY, uid BIGINT NOT NULL)").remove(0);
        assert!(matches!(create, Answer::Ok(_)), "{create:?}");
        let mut seen = HashSet::new();
        let numbers: Vec<u64> =
            proxies[..4].iter_mut().map(|(_, client)| worker(insert(client).expect("an id"))).collect();
        assert_eq!(numbers[0], 5);
        assert_eq!(numbers.iter().copied().collect::<HashSet<_>>(), HashSet::from([3, 4, 5, 6]));
        // The fifth serves, but issues none.
        let (code, text) = insert(&mut proxies[4].1).expect_err("no number is left");
        assert!(code == 1105 && text.contains("no worker number"), "{code} {text}");
        assert!(matches!(proxies[4].1.query("INSERT INTO t VALUES (1, 7)").remove(0), Answer::Ok(_)));
        // One that ends in order leaves its number to the next, whose ids are later.
        let last = (0..100).map(|_| insert(&mut proxies[0].1).expect("an id")).max().expect("some");
        let (mut stopped, _) = proxies.remove(0);
        stopped.stop();
        let (_next, mut client) = proxy(&cluster, 5);
        for _ in 0..100 {
            let id = insert(&mut client).expect("an id");
            assert!(worker(id) == 5 && id > last && seen.insert(id), "{id} after {last}");
        }
    }
}

#[test]
fn a_frozen_proxy_loses_its_number_and_its_times_are_not_used_again() {
    let program = Program::all().remove(0);
    let cluster = cluster(&program);
    let (frozen, mut old) = proxy(&cluster, 3);
    assert!(matches!(
        old.query("CREATE TABLE t (id BIGINT PRIMARY KEY, uid BIGINT NOT NULL)").remove(0),
        Answer::Ok(_)
    ));
    let last = (0..50).map(|_| insert(&mut old).expect("an id")).max().expect("some");
    frozen.stall();
    sleep(Duration::from_millis(10_500));
    let (_other, mut new) = proxy(&cluster, 3);
    let first = insert(&mut new).expect("an id");
    assert!(worker(first) == 3 && first > last);
    // Thawed, it may be refused, or have another number by now: it never repeats an id.
    frozen.unstall();
    let mut seen = HashSet::from([first]);
    for _ in 0..200 {
        let taken = [insert(&mut old), insert(&mut new)];
        for id in taken.into_iter().flatten() {
            assert!(id > last && seen.insert(id), "{id} twice");
        }
        sleep(Duration::from_millis(10));
    }
    assert!(insert(&mut old).is_ok_and(|id| worker(id) != 3), "it has another number by now");
}
