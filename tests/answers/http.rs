//! The port for machines that look after the proxy.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use bifold::lab::{APP_PASSWORD, APP_USER};

use crate::common::{Answer, Client, Login, bifold_program, with_cluster};

fn get(port: u16, request: &str) -> (String, String) {
    let mut tcp = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    tcp.write_all(format!("{request}\r\nHost: x\r\n\r\n").as_bytes()).expect("sent");
    let mut reply = String::new();
    tcp.read_to_string(&mut reply).expect("a reply");
    let (head, body) = reply.split_once("\r\n\r\n").expect("a head and a body");
    (head.lines().next().expect("a status").to_owned(), body.to_owned())
}

fn value(metrics: &str, name: &str) -> i64 {
    let line = metrics.lines().find(|line| line.starts_with(name) && line[name.len()..].starts_with(' '));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{metrics}"));
    line.rsplit(' ').next().and_then(|value| value.parse().ok()).expect("a number")
}

#[test]
fn metrics_and_health_are_told_over_http() {
    with_cluster(|cluster| {
        cluster.set_tables("").expect("written");
        let http = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let topology = std::fs::read_to_string(cluster.topology()).expect("a topology file");
        let listening = topology.replace("[listen]\n", &format!("[listen]\nhttp = \"127.0.0.1:{http}\"\n"));
        std::fs::write(cluster.topology(), listening).expect("written");
        let proxy = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
        let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
        let mut client = Client::login(proxy, &login).expect("a connection").expect("let in");
        assert!(matches!(client.query("SELECT 1")[..], [Answer::Rows(_)]));
        assert!(matches!(client.query("SELEC 1")[..], [Answer::Err(_)]));
        let wrong = Login { password: "wrong".into(), ..login };
        assert!(Client::login(proxy, &wrong).expect("a connection").is_err());

        let (status, metrics) = get(http, "GET /metrics HTTP/1.1");
        assert_eq!(status, "HTTP/1.1 200 OK");
        assert_eq!(value(&metrics, "bifold_sessions"), 1);
        assert_eq!(value(&metrics, "bifold_commands_total"), 2);
        assert_eq!(value(&metrics, "bifold_errors_total{blame=\"client\"}"), 1);
        assert_eq!(value(&metrics, "bifold_logins_refused_total"), 1);
        assert!(value(&metrics, "bifold_connections{server=\"s0\",state=\"idle\"}") >= 1);
        // Every metric has its line in the docs.
        let docs = std::fs::read_to_string("docs/operations.md").expect("docs/operations.md");
        for name in metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()) {
            assert!(docs.contains(&format!("`{name}`")), "{name} is not in docs/operations.md");
        }

        assert_eq!(get(http, "GET /healthz HTTP/1.1").0, "HTTP/1.1 200 OK");
        assert_eq!(get(http, "GET /readyz HTTP/1.0"), ("HTTP/1.1 200 OK".into(), "ready\n".into()));
        assert_eq!(get(http, "HEAD /readyz HTTP/1.1"), ("HTTP/1.1 200 OK".into(), String::new()));
        assert_eq!(get(http, "GET / HTTP/1.1").0, "HTTP/1.1 404 Not Found");
        assert_eq!(get(http, "POST /metrics HTTP/1.1").0, "HTTP/1.1 405 Method Not Allowed");
    });
}
