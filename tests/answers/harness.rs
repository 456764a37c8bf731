//! The harness itself: it finds no difference where there is none, and each kind where there is one.

use bifold::lab::{Durability, Program, Server};

use crate::common::{Answer, Both, Caps, Client, Login, Mask, Param, Protocol, differences};

fn two_plain_servers(test: impl Fn(&mut Both)) {
    for program in Program::all() {
        let servers = [(); 2].map(|()| Server::start(&program, Durability::Light).expect("a server"));
        for server in &servers {
            server.run(&["CREATE DATABASE mall"]).expect("a database");
            server.grant("app", "app-secret", &["mall"]).expect("an account");
        }
        for protocol in [Protocol::Text, Protocol::Prepared] {
            let login = Login::new("app", "app-secret", Some("mall"));
            let mut both = Both::new((servers[0].port(), servers[1].port()), login, program.flavour, protocol);
            both.each("DROP TABLE IF EXISTS t");
            test(&mut both);
        }
    }
}

#[test]
fn two_equal_servers_show_no_difference() {
    two_plain_servers(|both| {
        both.run("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(20), d DECIMAL(10,2), f FLOAT, at DATETIME(6))");
        both.run("INSERT INTO t (s, d) VALUES ('a', 1.5), (NULL, 2)");
        both.run("INSERT INTO t (id) VALUES (1)");
        both.run("SELECT * FROM t ORDER BY id");
        both.run("SELECT CAST('12x' AS SIGNED), 1/0");
        both.run("SELEC 1");
        both.run("SELECT * FROM mall.nothing");
        both.run("BEGIN");
        both.run("UPDATE t SET f = 1.25, at = '2026-01-02 03:04:05.678'");
        both.run("SELECT f, at FROM t");
        both.run("ROLLBACK");
        let params = [Param::Int(7), Param::Text("it's".into()), Param::Decimal("3.25".into()), Param::Float(0.1)];
        both.run_with("INSERT INTO t (id, s, d, f, at) VALUES (?, ?, ?, ?, NULL)", &params);
        both.run_with("SELECT * FROM t WHERE id = ? AND s = ?", &params[..2]);
        both.run_with("INSERT INTO t (s) VALUES (?)", &[Param::LongData(b"long".to_vec())]);
        both.run_with("SELECT id FROM t WHERE at < ?", &[Param::DateTime(2030, 1, 2, 3, 4, 5, 6)]);
    });
}

#[test]
fn each_kind_of_difference_is_found() {
    two_plain_servers(|both| {
        let differs = |both: &mut Both, sql: &str, mask: &Mask| {
            let (plain, proxied) = both.answers(sql, &[]);
            differences(sql, &plain, &proxied, mask).join("; ")
        };
        let only_second = |both: &mut Both, sql: &str| both.proxied.query(sql);
        let none = Mask::default();
        both.each("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(20))");
        both.each("INSERT INTO t (s) VALUES ('a'), ('b')");
        only_second(both, "INSERT INTO t (s) VALUES ('c')");
        assert!(differs(both, "SELECT * FROM t", &none).contains("rows: 2 against 3"));
        assert!(differs(both, "UPDATE t SET s = CONCAT(s, 'x')", &none).contains("affected rows: 2 against 3"));
        let ids = differs(both, "INSERT INTO t (s) VALUES ('d')", &none);
        assert_eq!(ids, "insert id: 3 against 4");
        assert_eq!(differs(both, "INSERT INTO t (s) VALUES ('d')", &Mask::ids(&[])), "");
        only_second(both, "ALTER TABLE t MODIFY s VARCHAR(21) NOT NULL");
        let column = differs(both, "SELECT s FROM t WHERE id = 1", &none);
        assert!(column.contains("length: 80 against 84") && column.contains("flags"), "{column}");
        assert_eq!(differs(both, "SELECT s FROM t WHERE id = 1", &none.clone().and_metadata()), "");
        only_second(both, "BEGIN");
        assert!(differs(both, "SELECT 1", &none).contains("status flags"));
        only_second(both, "DROP TABLE t");
        assert!(differs(both, "SELECT 1 FROM t", &none).contains("another kind of answer"));
        let order = differs(both, "SELECT 1 UNION SELECT 2 ORDER BY 1", &none);
        assert_eq!(order, "");
    });
}

#[test]
fn rows_in_another_order_differ_only_where_an_order_was_asked_for() {
    two_plain_servers(|both| {
        let plain = both.plain.query("SELECT 1 AS a UNION ALL SELECT 2");
        let proxied = both.proxied.query("SELECT 2 AS a UNION ALL SELECT 1");
        assert_eq!(differences("SELECT a", &plain, &proxied, &Mask::default()), Vec::<String>::new());
        let found = differences("SELECT a ORDER BY a", &plain, &proxied, &Mask::default());
        assert_eq!(found, ["rows: 2 against 2", "  the same rows in another order"]);
    });
}

#[test]
fn the_client_speaks_with_and_without_deprecate_eof_and_to_each_plugin() {
    for program in Program::all() {
        let server = Server::start(&program, Durability::Light).expect("a server");
        server.grant("app", "app-secret", &["mall"]).expect("an account");
        for plugin in ["mysql_native_password", "caching_sha2_password"] {
            for remove in [0, Caps::DEPRECATE_EOF] {
                let login = Login { plugin: plugin.into(), remove, ..Login::new("app", "app-secret", None) };
                let mut client = Client::login(server.port(), &login).expect("connected").expect("logged in");
                assert_eq!(client.query("SELECT 7")[0].text(), [[Some("7".to_owned())]]);
                let statement = client.prepare("SELECT ?").expect("prepared");
                let answers = client.execute(&statement, &[Param::Long(8)]);
                assert_eq!(answers[0].text(), [[Some("8".to_owned())]]);
            }
        }
        let wrong = Login::new("app", "wrong", None);
        let error = Client::login(server.port(), &wrong).expect("connected").err().expect("refused");
        assert_eq!(error.code, 1045);
    }
}

#[test]
fn packets_of_16_mib_are_split_and_joined() {
    for program in Program::all() {
        let server = Server::start(&program, Durability::Light).expect("a server");
        let mut client = Client::login(server.port(), &Login::new("root", "", None)).expect("connected").expect("in");
        for length in [0xFF_FFFF - 20, 0xFF_FFFF, 0x100_0010] {
            let text = "x".repeat(length);
            match &client.query(format!("SELECT '{text}' AS a"))[0] {
                Answer::Rows(set) => assert!(set.rows[0][0].as_deref() == Some(text.as_bytes())),
                other => panic!("{length}: {other:?}"),
            }
        }
    }
}
