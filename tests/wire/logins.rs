//! Drivers' logins to a listener of ours: each plugin, with the right password, a wrong one and
//! none, with and without TLS.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bifold::config::BackendTls;
use bifold::protocol::auth::Plugin;
use bifold::protocol::auth::login::Account;
use bifold::protocol::ok::OkPacket;
use bifold::protocol::result_set::{Format, ResultSet, text_column};
use bifold::protocol::{Capabilities, Command, Status};
use bifold::value::Value;
use bifold::wire::login::{Introduction, KeyCell, Offer, accept, connect};
use bifold::wire::tls::{Acceptor, Connector};
use bifold::wire::{Framed, Peer};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, SslOpts};

use crate::{MAX_PACKET, listener};

struct Case {
    /// The greeting's plugin.
    offered: Plugin,
    /// The account's own, where it insists.
    demanded: Option<Plugin>,
    always_full: bool,
    tls: bool,
}

const NATIVE: Plugin = Plugin::NativePassword;
const SHA2: Plugin = Plugin::CachingSha2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drivers_log_in_with_the_right_password_only() {
    let cases = [
        Case { offered: NATIVE, demanded: None, always_full: false, tls: false },
        Case { offered: NATIVE, demanded: None, always_full: false, tls: true },
        Case { offered: SHA2, demanded: None, always_full: false, tls: false },
        Case { offered: SHA2, demanded: None, always_full: false, tls: true },
        Case { offered: SHA2, demanded: None, always_full: true, tls: false },
        Case { offered: SHA2, demanded: None, always_full: true, tls: true },
        Case { offered: SHA2, demanded: Some(NATIVE), always_full: false, tls: false },
        Case { offered: NATIVE, demanded: Some(SHA2), always_full: false, tls: false },
        Case { offered: NATIVE, demanded: Some(SHA2), always_full: true, tls: true },
    ];
    let key = Arc::new(KeyCell::default());
    let files = Certificate::make();
    for case in cases {
        let name = format!("{:?} {:?} full {} tls {}", case.offered, case.demanded, case.always_full, case.tls);
        let offer = offer(&case, &files, key.clone());
        for (user, password, welcome) in [
            ("app", "s3cret ü", true),
            ("app", "s3cret", false),
            ("app", "", false),
            ("open", "", true),
            ("open", "x", false),
            ("nobody", "x", false),
            ("nobody", "", false),
        ] {
            let opts = serve_one(&offer, &case).await;
            let opts = opts.user(Some(user)).pass(Some(password)).db_name(Some("mall"));
            let outcome = Conn::new(Opts::from(opts)).await;
            match outcome {
                Ok(mut conn) => {
                    assert!(welcome, "{name}: {user} {password:?} was let in");
                    let who: Option<String> = conn.query_first("SELECT who").await.expect("an answer");
                    assert_eq!(who, Some(format!("{user}@mall tls={}", case.tls)), "{name}");
                }
                Err(mysql_async::Error::Server(error)) => {
                    assert!(!welcome, "{name}: {user} {password:?}: {error}");
                    let with = if password.is_empty() { "NO" } else { "YES" };
                    let text = format!("Access denied for user '{user}'@'127.0.0.1' (using password: {with})");
                    assert_eq!((error.code, error.message, error.state.as_str()), (1045, text, "28000"), "{name}");
                }
                Err(error) => panic!("{name}: {user} {password:?}: {error}"),
            }
        }
    }
}

#[tokio::test]
async fn a_login_without_tls_is_turned_away_where_tls_is_demanded() {
    let case = Case { offered: SHA2, demanded: None, always_full: false, tls: true };
    let files = Certificate::make();
    let mut offer = offer(&case, &files, Arc::default());
    offer.tls_required = true;
    let opts = serve_one(&offer, &case).await.user(Some("app")).pass(Some("s3cret ü")).ssl_opts(None);
    match Conn::new(Opts::from(opts)).await {
        Err(mysql_async::Error::Server(error)) => assert_eq!(error.code, 3159),
        other => panic!("{other:?}"),
    }
}

fn offer(case: &Case, files: &Certificate, key: Arc<KeyCell>) -> Offer {
    Offer {
        version: b"8.0.40-test".to_vec(),
        capabilities: Capabilities::LONG_PASSWORD
            | Capabilities::PROTOCOL_41
            | Capabilities::SECURE_CONNECTION
            | Capabilities::PLUGIN_AUTH
            | Capabilities::PLUGIN_AUTH_LENENC
            | Capabilities::CONNECT_WITH_DB
            | Capabilities::CONNECT_ATTRS
            | Capabilities::TRANSACTIONS
            | Capabilities::DEPRECATE_EOF,
        collation: 255,
        plugin: case.offered,
        tls: case.tls.then(|| Acceptor::load(&files.cert, &files.key).expect("a certificate")),
        tls_required: false,
        key,
    }
}

/// A listener that takes one client and answers its commands; the options that lead there.
async fn serve_one(offer: &Offer, case: &Case) -> OptsBuilder {
    let (listener, addr) = listener().await;
    let (offer, demanded, always_full) = (offer.clone(), case.demanded, case.always_full);
    tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.expect("a client");
        let account = |user: &[u8]| Account {
            password: match user {
                b"app" => Some("s3cret ü".as_bytes().to_vec()),
                b"open" => Some(Vec::new()),
                _ => None,
            },
            plugin: demanded,
            always_full,
        };
        let known = |user: &[u8]| Ok(account(user));
        let framed = Framed::new(tcp, Peer::Client, MAX_PACKET);
        let accepted = accept(framed, &offer, 42, known, async |_| {}).await;
        let Ok(Some(mut client)) = accepted else { return };
        let greeted = OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() };
        client.conn.queue_with(|out| greeted.write(client.capabilities, out));
        client.conn.flush().await.expect("sent");
        loop {
            client.conn.begin_command();
            client.conn.wait_readable().await.expect("a command");
            let Ok(Some(command)) = client.conn.read_packet().await else { return };
            if Command::from_byte(command[0]) == Some(Command::Quit) {
                return;
            }
            let schema = String::from_utf8_lossy(client.schema.as_deref().unwrap_or_default()).into_owned();
            let user = String::from_utf8_lossy(&client.user);
            let who = format!("{user}@{schema} tls={}", client.conn.is_tls());
            client.conn.queue_packets(|out, sequence| {
                let columns = [text_column(b"who", 255, 100)];
                let (capabilities, status) = (client.capabilities, Status::AUTOCOMMIT);
                let mut result = ResultSet::begin(out, sequence, capabilities, status, Format::Text, &columns);
                result.row(&[Value::Text { bytes: who.as_bytes(), charset: "utf8mb4" }]);
                result.finish(0)
            });
            client.conn.flush().await.expect("sent");
        }
    });
    OptsBuilder::default()
        .ip_or_hostname(addr.ip().to_string())
        .tcp_port(addr.port())
        .prefer_socket(false)
        .max_allowed_packet(Some(MAX_PACKET))
        .wait_timeout(Some(60))
        .ssl_opts(case.tls.then(|| SslOpts::default().with_danger_accept_invalid_certs(true)))
}

pub struct Certificate {
    _folder: tempfile::TempDir,
    pub cert: PathBuf,
    pub key: PathBuf,
}

impl Certificate {
    /// Signed by itself, for `localhost`.
    pub fn make() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, made.cert.pem()).expect("written");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
        Certificate { _folder: folder, cert, key }
    }
}

/// Both sides of ours, under TLS whose certificate is checked against its own file as the CA.
#[tokio::test]
async fn our_own_sides_speak_under_tls_and_only_to_whom_the_certificate_names() {
    let case = Case { offered: SHA2, demanded: None, always_full: true, tls: true };
    let files = Certificate::make();
    let offer = offer(&case, &files, Arc::default());
    let tls = Connector::new(&BackendTls::Verify { ca: files.cert.clone() }).expect("a CA");
    for (host, welcome) in [("localhost", true), ("127.0.0.1", false), ("elsewhere", false)] {
        let (listener, addr) = listener().await;
        let offer = offer.clone();
        let there = tokio::spawn(async move {
            let (tcp, _) = listener.accept().await.expect("a client");
            let account = |_: &[u8]| Ok(Account { password: Some(b"pw".to_vec()), plugin: None, always_full: true });
            accept(Framed::new(tcp, Peer::Client, MAX_PACKET), &offer, 1, account, async |_| {}).await
        });
        let introduction = Introduction {
            user: b"u",
            password: b"pw",
            schema: None,
            collation: 45,
            capabilities: Capabilities::NONE,
            attributes: &[],
            tls: &tls,
            host,
        };
        let tcp = tokio::net::TcpStream::connect(addr).await.expect("connected");
        let here = connect(Framed::new(tcp, Peer::Server, MAX_PACKET), &introduction);
        if !welcome {
            assert_eq!(here.await.expect_err("another name").code(), 1043, "{host}");
            assert!(there.await.expect("ended").is_err());
            continue;
        }
        let (here, there) = tokio::join!(here, async {
            let mut client = there.await.expect("ended").expect("let in").expect("still there");
            client.conn.queue_with(|out| OkPacket::default().write(client.capabilities, out));
            client.conn.flush().await.expect("sent");
            client.conn
        });
        under_tls(here.expect("let in").conn, there).await;
    }
}

async fn under_tls(mut here: Framed, mut there: Framed) {
    assert!(here.is_tls() && there.is_tls() && here.is_quiet() && there.is_quiet());
    let long: Vec<u8> = (0..3 << 20).map(|at: u32| at.to_le_bytes()[1]).collect();
    here.begin_command();
    there.begin_command();
    here.queue_packet(b"first");
    here.queue_packet(&long);
    let echo = async {
        there.wait_readable().await.expect("readable");
        let first = there.expect_packet().await.expect("the first");
        // Waiting anew must not overlook what TLS has deciphered already.
        there.wait_readable().await.expect("readable");
        (first, there.expect_packet().await.expect("the long one"))
    };
    let (sent, (first, second)) = tokio::join!(here.flush(), echo);
    sent.expect("sent");
    assert!(*first == b"first"[..] && *second == long[..]);
    there.queue_packet(&second);
    let (sent, back) = tokio::join!(there.flush(), async {
        // Reading is given up over and over, and loses nothing by it.
        loop {
            if let Ok(packet) = tokio::time::timeout(Duration::from_micros(50), here.expect_packet()).await {
                return packet.expect("whole");
            }
        }
    });
    sent.expect("sent");
    assert!(*back == long[..]);
    assert!(here.is_quiet());
    there.shutdown().await;
    here.wait_readable().await.expect("readable");
    assert!(!here.is_quiet());
    assert!(here.read_packet().await.expect("a clean end").is_none());
}
