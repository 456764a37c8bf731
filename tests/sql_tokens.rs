//! Tokens end where the servers' own end: a text with its comments gone and its tokens put apart
//! gives what the text itself gives, in every mode and character set that changes reading; and a
//! string literal is the bytes that the server takes it for.

use bifold::lab::{Durability, Program, Server};
use bifold::sql::{Charset, Dialect, Kind, Mode, Source, Span, Token, lexer, literal};
use mysql_async::prelude::Queryable;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Pieces that end each other's tokens.
const PIECES: &[&[u8]] = &[
    b"'",
    b"'",
    b"''",
    b"\"",
    b"`",
    b"\\",
    b"\\'",
    b"\\n",
    b"a",
    b"1",
    b" ",
    b" ",
    b"--",
    b"-- ",
    b"--\t",
    b"#",
    b"\n",
    b"/*",
    b"*/",
    b"/*!",
    b"/*!40101",
    b"/*!40101 ",
    b"/*!99999",
    b"/*!100100",
    b"/*!50700 ",
    b"/*M!",
    b"/* x */",
    b".",
    b"..",
    b"1.",
    b".5",
    b"1e1",
    b"1e",
    b"e5",
    b"0x41",
    b"0x4",
    b"0X4",
    b"x'41'",
    b"x'4'",
    b"b'1'",
    b"b'2'",
    b"0b1",
    b"N'a'",
    b"_latin1",
    b"_utf8mb4",
    b"_x",
    b"@",
    b"@a",
    b"@@",
    b"@@version",
    b":=",
    b"+",
    b"-",
    b"*",
    b"/",
    b"<",
    b"=",
    b">",
    b"!",
    b"|",
    b"&",
    b"(",
    b")",
    b",",
    b"AS",
    b" AS b",
    b"NULL",
    b"NOT ",
    b"\\N",
    b"$",
    b"_",
    b"\xc3\xa4",
    b"\xbf",
    b"\\",
    b"\x83",
    b"\xa0",
    b"\x81\x30",
    b";",
    b"/*!50001 1 */",
    b"/*!080000 +1*/",
    b"/*!80000+1*/",
];

const MODES: &[&str] =
    &["", "", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"];

const CHARSETS: &[&str] =
    &["utf8mb4", "utf8mb4", "latin1", "gbk", "sjis", "big5", "gb18030", "ujis", "euckr", "gb2312"];

/// The tokens with a space between them, but where adjacency counts.
fn apart(text: &[u8], tokens: &[Token]) -> Vec<u8> {
    let mut out = Vec::new();
    for (n, token) in tokens.iter().enumerate() {
        let before = n.checked_sub(1).map(|b| tokens[b]);
        let adjacent = before.is_some_and(|b| b.end() == token.start as usize);
        let joined =
            token.kind == Kind::LParen || token.kind == Kind::Dot || before.is_some_and(|b| b.kind == Kind::Dot);
        if !(adjacent && joined) {
            out.push(b' ');
        }
        out.extend_from_slice(&text[token.range()]);
    }
    out
}

type Answer = Result<Option<Vec<u8>>, u16>;

async fn ask(conn: &mut mysql_async::Conn, sql: &[u8]) -> Answer {
    let row: Result<Option<mysql_async::Row>, _> = conn.query_first(sql).await;
    match row {
        Ok(row) => Ok(row.and_then(|mut r| r.take::<Option<Vec<u8>>, _>(0)).flatten()),
        Err(mysql_async::Error::Server(error)) => Err(error.code),
        Err(other) => panic!("{}: {other}", sql.escape_ascii()),
    }
}

/// A session, unless the server lacks the character set.
async fn connect(server: &Server, version: &str, charset: &str, mode: &str) -> Option<(mysql_async::Conn, Dialect)> {
    let mut conn = mysql_async::Conn::new(server.root()).await.expect("a login");
    conn.query_drop(format!("SET NAMES {charset}, sql_mode = '{mode}'")).await.ok()?;
    let dialect = Dialect::from_server_version(version).expect("a version");
    let charset = Charset::from_name(charset).expect("a charset");
    Some((conn, Dialect { mode: Mode::from_sql_mode(mode), charset, ..dialect }))
}

/// MySQL forgets characters of `!!`, `1.5e` and the like; Bifold refuses them.
fn drops_characters(text: &[u8], bad: &Token) -> bool {
    let number = text[bad.range()].first().is_some_and(|b| b.is_ascii_digit() || *b == b'.');
    number || text.windows(2).any(|w| w.iter().all(|b| b"<>=!".contains(b)))
}

/// Not where a `;` ends the statement, and not where version comments stand inside each other,
/// which servers read differently and Bifold refuses.
fn is_comparable(text: &[u8], tokens: &[Token]) -> bool {
    let nested = text.windows(3).filter(|w| *w == b"/*!" || *w == b"/*M").count() > 1;
    !nested && tokens.iter().all(|t| t.kind != Kind::Semicolon)
}

#[tokio::test]
async fn tokens_end_where_the_servers_end_them() {
    let mut rng = StdRng::seed_from_u64(7);
    for program in Program::all() {
        let server = Server::start(&program, Durability::Light).expect("a server");
        let (mut answered, mut wrong) = (0, Vec::new());
        for _ in 0..150 {
            let charset = CHARSETS[rng.random_range(0..CHARSETS.len())];
            let mode = MODES[rng.random_range(0..MODES.len())];
            let Some((mut conn, dialect)) = connect(&server, &program.version, charset, mode).await else { continue };
            for _ in 0..40 {
                let mut text = b"SELECT ".to_vec();
                (0..rng.random_range(1..7))
                    .for_each(|_| text.extend_from_slice(PIECES[rng.random_range(0..PIECES.len())]));
                let mut tokens = Vec::new();
                lexer::lex(&text, &dialect, &mut tokens);
                if !is_comparable(&text, &tokens) {
                    continue;
                }
                let plain = ask(&mut conn, &text).await;
                if let Some(bad) = tokens.last().filter(|t| t.kind == Kind::Bad) {
                    if plain.is_ok() && !drops_characters(&text, bad) {
                        wrong.push(format!("{charset} {mode} {}: Bad here, {plain:?} there", text.escape_ascii()));
                    }
                    continue;
                }
                let again = ask(&mut conn, &apart(&text, &tokens)).await;
                answered += usize::from(plain.is_ok());
                if plain != again {
                    let apart = apart(&text, &tokens);
                    wrong.push(format!(
                        "{charset} {mode} {}: {plain:?}, but {}: {again:?}",
                        text.escape_ascii(),
                        apart.escape_ascii()
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{} on {}:\n{}", wrong.len(), program.version, wrong.join("\n"));
        assert!(answered > 300, "only {answered} texts were taken by {}", program.version);
    }
}

#[tokio::test]
async fn strings_are_the_bytes_that_the_servers_take_them_for() {
    let pieces: &[&[u8]] = &[
        b"a",
        b"''",
        b"\"",
        b"\\'",
        b"\\\\",
        b"\\n",
        b"\\0",
        b"\\%",
        b"\\_",
        b"\\x",
        b"\\Z",
        b"\xc3\xa4",
        b"\xb0\xa1",
        b"\\b",
        b"\x95\x5c",
        b"\xa5\x5c",
        b"\xb5\x5c",
        b"\x81\x5c",
    ];
    let mut rng = StdRng::seed_from_u64(11);
    for program in Program::all() {
        let server = Server::start(&program, Durability::Light).expect("a server");
        let mut compared = 0;
        for charset in CHARSETS {
            for mode in MODES {
                let Some((mut conn, dialect)) = connect(&server, &program.version, charset, mode).await else {
                    continue;
                };
                for _ in 0..12 {
                    let mut quoted = b"'".to_vec();
                    (0..rng.random_range(0..5))
                        .for_each(|_| quoted.extend_from_slice(pieces[rng.random_range(0..pieces.len())]));
                    quoted.push(b'\'');
                    let mut tokens = Vec::new();
                    lexer::lex(&quoted, &dialect, &mut tokens);
                    let source = Source::new(&quoted, &tokens, dialect);
                    if source.kind(0) != Kind::String || tokens.len() != 1 {
                        continue;
                    }
                    let bytes = literal::string(&source, Span::new(0, 1));
                    let hex = ask(&mut conn, &[b"SELECT HEX(", &quoted[..], b")"].concat()).await;
                    let Ok(Some(hex)) = hex else { continue };
                    let ours = bytes.iter().map(|b| format!("{b:02X}")).collect::<String>();
                    assert_eq!(ours, String::from_utf8_lossy(&hex), "{charset} {mode} {}", quoted.escape_ascii());
                    compared += 1;
                    let mut again = Vec::new();
                    literal::quote_string(&bytes, dialect.mode, dialect.charset, &mut again);
                    let round = ask(&mut conn, &[b"SELECT HEX(", &again[..], b")"].concat()).await;
                    assert_eq!(round, Ok(Some(hex)), "{charset} {mode} {}", again.escape_ascii());
                }
            }
        }
        assert!(compared > 300, "only {compared} strings were taken by {}", program.version);
    }
}
