//! Which statements parse: just those that the servers' own parsers take, but for a list of
//! exceptions, each with its reason. A server is asked by preparing the statement: error 1064 means
//! that its parser refused it.

use bifold::lab::{Durability, Program, Server};
use bifold::sql::{Dialect, Flavour, Source, lexer, parser};
use mysql_async::prelude::Queryable;

/// Taken by a server and refused here.
const REFUSED: &[(&str, &str)] = &[
    ("SELECT * FROM t1 PROCEDURE ANALYSE()", "a refusal with a sentence of its own"),
    ("PREPARE s FROM CONCAT('a')", "a refusal with a sentence of its own"),
];

/// Taken here and refused by a server, which then answers itself.
const LENIENT: &[(Flavour, &str, &str)] = &[
    (
        Flavour::MariaDb,
        "SELECT IF(a > 1, 'x', 'y'), IFNULL(a, 0), LEFT(name, 3), RIGHT(name, 2), REPEAT('a', 2), REPLACE(name,'a','b'), INSERT(name,1,1,'z'), CHAR(65 USING utf8mb4), VALUES(a) FROM t1",
        "VALUES(c) is read wherever an expression is",
    ),
    (
        Flavour::MariaDb,
        "SELECT AVG(a) OVER (ORDER BY d RANGE INTERVAL 1 DAY PRECEDING) FROM t1",
        "a bound is any expression",
    ),
    (Flavour::MySql, "SHOW MASTER STATUS", "what replication shows is not read"),
    (Flavour::MySql, "RESET QUERY CACHE", "what is reset is not read"),
    (Flavour::MariaDb, "SET DEFAULT ROLE ALL TO a", "roles are not read"),
    (Flavour::MariaDb, "XA RECOVER CONVERT XID", "the words behind RECOVER are not read"),
    (
        Flavour::MariaDb,
        "CREATE TABLE t9 (id INT INVISIBLE, k INT, KEY kk (k), KEY inv (k) INVISIBLE)",
        "options of keys are not read",
    ),
];

fn parses(text: &str, dialect: Dialect) -> Result<(), String> {
    let mut tokens = Vec::new();
    lexer::lex(text.as_bytes(), &dialect, &mut tokens);
    let source = Source::new(text.as_bytes(), &tokens, dialect);
    let (_, end) = parser::parse(&source, 0).map_err(|e| e.to_string())?;
    match parser::next_statement(&source, end) {
        None => Ok(()),
        Some(_) => Err("a second statement".to_string()),
    }
}

fn statements() -> impl Iterator<Item = &'static str> {
    include_str!("sql/statements.txt").lines().chain(include_str!("sql/more_statements.txt").lines())
}

#[tokio::test]
async fn what_parses_is_what_the_servers_take() {
    let programs = Program::all();
    assert!(!programs.is_empty(), "no server on this machine");
    for program in programs {
        let server = Server::start(&program, Durability::Light).expect("a server");
        let dialect = Dialect::from_server_version(&program.version).expect("a version");
        let mut conn = mysql_async::Conn::new(server.root()).await.expect("a login");
        conn.query_drop("CREATE DATABASE db").await.expect("a database");
        conn.query_drop("USE db").await.expect("the database");
        let (mut wrong, mut parsed) = (Vec::new(), 0);
        for statement in statements() {
            let taken = match conn.prep(statement).await {
                Ok(_) => true,
                Err(mysql_async::Error::Server(error)) => error.code != 1064,
                Err(other) => panic!("{statement}: {other}"),
            };
            let here = parses(statement, dialect);
            parsed += usize::from(here.is_ok());
            let excepted = match taken {
                true => REFUSED.iter().any(|(s, _)| *s == statement),
                false => LENIENT.iter().any(|(f, s, _)| *f == dialect.flavour && *s == statement),
            };
            if (taken == here.is_ok()) == excepted {
                wrong.push(format!("{statement}\n    server takes it: {taken}, here {here:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), program.version, wrong.join("\n"));
        assert!(parsed > 250, "only {parsed} statements parsed for {}", program.version);
    }
}
