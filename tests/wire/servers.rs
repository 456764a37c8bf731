//! Real servers: they let us in by each way, and each of their replies is found to end where it
//! ends.

use bifold::config::BackendTls;
use bifold::lab::{Durability, Flavour, Program, Server};
use bifold::protocol::reply::{Kind, Piece, Reply};
use bifold::protocol::{Capabilities, Command, Status};
use bifold::wire::login::{self, Introduction, connect};
use bifold::wire::tls::Connector;
use bifold::wire::{Framed, Peer};
use tokio::net::TcpStream;

use crate::MAX_PACKET;

const USER: &[u8] = b"wire";
const PASSWORD: &[u8] = b"wired up";

async fn log_in(
    server: &Server,
    tls: &BackendTls,
    capabilities: Capabilities,
    password: &[u8],
) -> bifold::error::Result<login::Server> {
    let tcp = TcpStream::connect(server.address()).await.expect("connected");
    let tls = Connector::new(tls)?;
    let introduction = Introduction {
        user: USER,
        password,
        schema: Some(b"wire"),
        collation: 45,
        capabilities,
        attributes: &[(b"program_name", b"bifold")],
        tls: &tls,
        host: "127.0.0.1",
    };
    connect(Framed::new(tcp, Peer::Server, MAX_PACKET), &introduction).await
}

fn start(program: &Program) -> Server {
    let server = Server::start(program, Durability::Light).expect("a server");
    server
        .run(&[
            "CREATE DATABASE wire",
            "CREATE USER wire@'%' IDENTIFIED BY 'wired up'",
            "GRANT ALL ON wire.* TO wire@'%'",
            "CREATE TABLE wire.t (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), at DATETIME(6), much LONGTEXT)",
            "INSERT INTO wire.t (name, at) VALUES ('a', NULL), ('bb', '2024-01-02 03:04:05.6')",
            "CREATE PROCEDURE wire.two() BEGIN SELECT 1; SELECT * FROM wire.t; END",
        ])
        .expect("set up");
    server
}

#[tokio::test]
async fn servers_let_us_in_and_their_replies_end_where_they_end() {
    for program in Program::all() {
        let server = start(&program);
        let has_tls = program.flavour == Flavour::MySql;
        // Full and RSA the first time on MySQL, fast from then on; full over TLS after a FLUSH.
        for tls in [BackendTls::Off, BackendTls::Off, BackendTls::Preferred, BackendTls::Required] {
            let wanted = Capabilities::CONNECT_WITH_DB.with(Capabilities::CONNECT_ATTRS);
            let outcome = log_in(&server, &tls, wanted, PASSWORD).await;
            if tls == BackendTls::Required && !has_tls {
                assert!(outcome.expect_err("no TLS there").to_string().contains("no TLS"));
                continue;
            }
            let there = outcome.expect("let in");
            assert_eq!(there.conn.is_tls(), has_tls && tls != BackendTls::Off, "{program:?} {tls:?}");
            assert!(there.status.has(Status::AUTOCOMMIT));
            assert_eq!(there.greeting.is_mariadb(), program.flavour == Flavour::MariaDb);
        }
        server.run(&["FLUSH PRIVILEGES"]).expect("flushed");
        log_in(&server, &BackendTls::Preferred, Capabilities::NONE, PASSWORD).await.expect("full over TLS");
        let refused = log_in(&server, &BackendTls::Off, Capabilities::NONE, b"wrong").await.expect_err("refused");
        assert_eq!(refused.code(), 1045);
        for eof in [Capabilities::NONE, Capabilities::DEPRECATE_EOF] {
            for tls in [BackendTls::Off, BackendTls::Preferred] {
                let wanted = eof | Capabilities::MULTI_STATEMENTS | Capabilities::MULTI_RESULTS;
                let wanted = wanted | Capabilities::PS_MULTI_RESULTS | Capabilities::CONNECT_WITH_DB;
                let there = log_in(&server, &tls, wanted, PASSWORD).await.expect("let in");
                replies(there).await;
            }
        }
    }
}

async fn replies(mut there: login::Server) {
    let deprecate = there.capabilities.has(Capabilities::DEPRECATE_EOF);
    let long = 17 << 20;
    let insert_long = format!("INSERT INTO t (name, much) VALUES ('long', REPEAT('x', {long}))");
    for (statement, results, rows) in [
        ("SELECT * FROM t WHERE name <> 'long'", 1, 2),
        ("SELECT nothing FROM t", 0, 0),
        ("DO 1", 0, 0),
        ("SELECT 1; DO 1; SELECT * FROM t WHERE 1 = 0; SELECT 2", 3, 2),
        ("SELECT 1; SELECT nope; SELECT 2", 1, 1),
        ("CALL two()", 2, 3),
        ("SELECT a.id, b.name FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k", 1, 2048),
        (insert_long.as_str(), 0, 0),
        ("SELECT much, id FROM t ORDER BY id", 1, 3),
        ("SELECT id, much FROM t ORDER BY id", 1, 3),
        ("DELETE FROM t WHERE name = 'long'", 0, 0),
    ] {
        let command = [&[Command::Query.byte()], statement.as_bytes()].concat();
        let pieces = exchange(&mut there.conn, &command, Kind::Results, deprecate).await;
        assert_eq!(count(&pieces, |piece| matches!(piece, Piece::ColumnCount { .. })), results, "{statement}");
        assert_eq!(pieces.rows, rows, "{statement}");
    }
    for (statement, params, columns, rows) in [
        ("SELECT * FROM t", 0, 4, Some(2)),
        ("SELECT ?, id FROM t WHERE id = ?", 2, 2, Some(1)),
        ("UPDATE t SET name = name WHERE id = ?", 1, 0, Some(0)),
        ("CALL two()", 0, 0, Some(3)),
        ("SELECT nothing", 0, 0, None),
    ] {
        let command = [&[Command::StmtPrepare.byte()], statement.as_bytes()].concat();
        let pieces = exchange(&mut there.conn, &command, Kind::Prepare, deprecate).await;
        assert_eq!(count(&pieces, |piece| matches!(piece, Piece::Param { .. })), params, "{statement}");
        assert_eq!(count(&pieces, |piece| matches!(piece, Piece::Column { .. })), columns, "{statement}");
        let Some(rows) = rows else { continue };
        let Some(Piece::Prepared { id, .. }) = pieces.all.first() else { panic!("{statement}: {pieces:?}") };
        let values = vec![bifold::value::Value::Int(1); params];
        let mut command = Vec::new();
        bifold::protocol::execute::write_values(*id, 0, &values, &mut command);
        let pieces = exchange(&mut there.conn, &command, Kind::Results, deprecate).await;
        assert_eq!(pieces.rows, rows, "{statement}");
        // With a cursor the rows stay there until they are fetched.
        if rows == 2 {
            bifold::protocol::execute::write_values(*id, 1, &values, {
                command.clear();
                &mut command
            });
            let pieces = exchange(&mut there.conn, &command, Kind::Results, deprecate).await;
            assert_eq!(pieces.rows, 0, "{statement}");
            let mut fetch = vec![Command::StmtFetch.byte()];
            fetch.extend_from_slice(&id.to_le_bytes());
            fetch.extend_from_slice(&100u32.to_le_bytes());
            let pieces = exchange(&mut there.conn, &fetch, Kind::Rows, deprecate).await;
            assert_eq!(pieces.rows, 2, "{statement}");
        }
    }
    for command in [&[Command::Ping.byte()][..], b"\x02wire", &[Command::ResetConnection.byte()], b"\x1B\x00\x00"] {
        exchange(&mut there.conn, command, Kind::Single, deprecate).await;
    }
    assert!(there.conn.is_quiet());
}

#[derive(Debug)]
struct Pieces {
    all: Vec<Piece>,
    rows: u64,
}

fn count(pieces: &Pieces, of: impl Fn(&Piece) -> bool) -> usize {
    pieces.all.iter().filter(|piece| of(piece)).count()
}

/// Sends a command and scans its reply, which must end where the bytes end.
async fn exchange(conn: &mut Framed, command: &[u8], kind: Kind, deprecate: bool) -> Pieces {
    conn.begin_command();
    conn.queue_packet(command);
    conn.flush().await.expect("sent");
    let mut reply = Reply::new(kind, deprecate, conn.sequence());
    let mut all = Vec::new();
    loop {
        let piece = reply.next(conn.buffered()).expect("a reply");
        let len = match piece {
            Piece::Done => break,
            Piece::NeedMore(bytes) => {
                conn.fill_to(bytes).await.expect("more");
                continue;
            }
            _ => piece.len(),
        };
        conn.consume(len);
        all.push(piece);
    }
    assert!(conn.buffered().is_empty(), "{:?}", String::from_utf8_lossy(command));
    Pieces { all, rows: reply.rows() }
}
