//! The canonical form of a key against real servers: what a server stores must hash in SQL as the literal or
//! parameter hashes here, and no row that a server finds equal to a value may lie elsewhere than the value says.
//! Every key type, the collations that the server has and we know, several sessions; text and prepared.

use std::collections::HashSet;

use bifold::lab::{Durability, Flavour, Program, Server};
use bifold::topology::collation::Collation;
use bifold::topology::key::Definition;
use bifold::topology::{Canonical, Hash, Key, KeyHash, KeyType, Purpose, Reading, Weights};
use bifold::value::Value;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

#[tokio::test]
async fn keys_are_hashed_as_mariadb_hashes_them() {
    examine(Flavour::MariaDb, &|collation| SOME.contains(&collation)).await;
}

#[tokio::test]
async fn keys_are_hashed_as_mysql_hashes_them() {
    examine(Flavour::MySql, &|collation| SOME.contains(&collation)).await;
}

#[test]
fn places_are_computed_in_sql_as_here() {
    for program in programs() {
        let server = Server::start(&program, Durability::Light).expect("a server");
        for (data_type, column_type) in
            [("bigint", "bigint(20)"), ("bigint", "bigint(20) unsigned"), ("int", "int(9) zerofill")]
        {
            let definition = Definition { data_type, column_type, length: None, charset: None, collation: None };
            let KeyType::Integer(integer) = KeyType::from_column(&definition).expect("a key") else { unreachable!() };
            let key = KeyType::Integer(integer);
            let (least, greatest) = integer.range();
            let numbers = [least, least + 1, -7, -1, 0, 1, 42, greatest / 3, greatest - 1, greatest];
            let numbers: Vec<i128> = numbers.into_iter().filter(|n| (least..=greatest).contains(n)).collect();
            let values: Vec<String> = numbers.iter().map(|n| format!("({n})")).collect();
            for (hash, shards, subtables) in
                [(Hash::Crc32, 6, 1000), (Hash::Identity, 6, 1000), (Hash::Identity, 1024, 4096)]
            {
                let (shard, subtable) = (key.sql_shard("k", shards, hash), key.sql_subtable("k", subtables, hash));
                let statements = [
                    "DROP DATABASE IF EXISTS p".to_owned(),
                    "CREATE DATABASE p".to_owned(),
                    format!("CREATE TABLE p.t (k {column_type})"),
                    format!("INSERT INTO p.t VALUES {}", values.join(", ")),
                    format!("SELECT k+0, {shard}, {subtable} FROM p.t"),
                ];
                let mut there = server.run(&statements).expect("places");
                let mut here: Vec<_> = numbers
                    .iter()
                    .map(|&n| {
                        let place = Key::Integer(n).hash(hash).place(shards, subtables);
                        [n.to_string(), place.shard.0.to_string(), place.subtable.0.to_string()].map(Some).to_vec()
                    })
                    .collect();
                there.sort_unstable();
                here.sort_unstable();
                assert_eq!(there, here, "{column_type} {hash:?} on {}", program.version);
            }
        }
    }
}

#[tokio::test]
#[ignore = "takes many minutes: for changes of the list of collations"]
async fn keys_of_every_collation_are_hashed_as_servers_hash_them() {
    examine(Flavour::MariaDb, &|_| true).await;
    examine(Flavour::MySql, &|_| true).await;
}

/// The collations that are looked at each time: those learned, those by characters, a few of the others.
const SOME: [&str; 22] = [
    "utf8mb4_bin",
    "utf8mb4_0900_bin",
    "utf8mb4_nopad_bin",
    "utf8mb3_bin",
    "latin1_bin",
    "ascii_bin",
    "utf8mb4_general_ci",
    "utf8mb4_general_nopad_ci",
    "utf8mb4_unicode_ci",
    "utf8mb4_unicode_520_ci",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_uca1400_ai_ci",
    "utf8mb4_uca1400_nopad_ai_ci",
    "utf8mb3_general_ci",
    "latin1_swedish_ci",
    "latin1_general_cs",
    "ascii_general_ci",
    "utf8mb4_spanish2_ci",
    "utf8mb4_german2_ci",
    "utf8mb4_unicode_nopad_ci",
    "utf8mb4_0900_as_cs",
    "utf8mb4_de_pb_0900_ai_ci",
];

/// Those of them that CHAR is looked at with each time.
const CHAR: [&str; 8] = [
    "utf8mb4_bin",
    "utf8mb4_0900_bin",
    "utf8mb4_nopad_bin",
    "utf8mb4_unicode_ci",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_uca1400_nopad_ai_ci",
    "latin1_swedish_ci",
    "utf8mb4_unicode_nopad_ci",
];

/// One of each flavour: those found, and the one that `BIFOLD_MYSQLD` names before them.
fn programs() -> Vec<Program> {
    [Flavour::MariaDb, Flavour::MySql].into_iter().filter_map(program).collect()
}

fn program(flavour: Flavour) -> Option<Program> {
    let named = Program::preferred().ok().filter(|program| program.flavour == flavour);
    named.or_else(|| Program::of(flavour))
}

/// Where this machine has such a server.
async fn examine(flavour: Flavour, wanted: &dyn Fn(&str) -> bool) {
    let Some(program) = program(flavour) else {
        eprintln!("no {flavour} here: nothing was examined");
        return;
    };
    let server = Server::start(&program, Durability::Light).expect("a server");
    let mut bench = Bench::new(&server).await;
    let mut wrong = Vec::new();
    for column in bench.columns(program.flavour, wanted).await {
        bench.examine(&column, &mut wrong).await;
    }
    assert!(bench.exact > 1000 && bench.matched > 1000, "{} exact, {} matched", bench.exact, bench.matched);
    let shown: Vec<_> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{}: {} wrong\n{}", program.version, wrong.len(), shown.join("\n"));
}

/// How a client is connected.
struct Session {
    client: &'static str,
    connection: &'static str,
    setup: &'static [&'static str],
}

static SESSIONS: [Session; 6] = [
    Session {
        client: "utf8mb4",
        connection: "utf8mb4",
        setup: &["SET NAMES utf8mb4", "SET sql_mode = 'STRICT_ALL_TABLES'"],
    },
    Session { client: "latin1", connection: "latin1", setup: &["SET NAMES latin1", "SET sql_mode = ''"] },
    Session {
        client: "utf8mb4",
        connection: "utf16",
        setup: &["SET NAMES utf8mb4", "SET time_zone = '+05:30'", "SET character_set_connection = utf16"],
    },
    Session {
        client: "utf8mb4",
        connection: "latin1",
        setup: &["SET NAMES utf8mb4", "SET character_set_connection = latin1", "SET time_zone = '-08:00'"],
    },
    Session { client: "gbk", connection: "gbk", setup: &["SET NAMES gbk", "SET sql_mode = ''"] },
    Session {
        client: "utf8mb3",
        connection: "utf8mb3",
        setup: &["SET NAMES utf8mb3", "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'"],
    },
];

struct Column {
    table: String,
    key: KeyType,
    values: Vec<Written>,
}

/// A value as the client writes it. Texts are in utf8mb4 here, and sent in the session's character set.
#[derive(Clone, Debug)]
enum Written {
    /// A quoted string and a string parameter.
    Text(String),
    /// A literal that is no quoted string, and what the lexer makes of it.
    Literal(String, Owned),
    /// A parameter of another type than string.
    Parameter(mysql_async::Value),
}

/// A question longer than this is about a whole collation.
const LESSON: usize = 20_000;

/// A cell as the text protocol has it.
fn text(cell: &mysql_async::Value) -> Option<Vec<u8>> {
    match cell {
        mysql_async::Value::NULL => None,
        mysql_async::Value::Bytes(bytes) => Some(bytes.clone()),
        other => Some(other.as_sql(true).into_bytes()),
    }
}

/// A `Value` that owns its text.
#[derive(Clone, Debug)]
enum Owned {
    Int(i64),
    UInt(u64),
    Decimal(String),
    Double(f64),
    Binary(Vec<u8>),
    Hex { bytes: Vec<u8>, quoted: bool },
    Introduced(String),
}

/// A value ready for one session: statement text, parameter, and the value that the router sees.
struct Sent<'v> {
    literal: Option<Vec<u8>>,
    parameter: Option<mysql_async::Value>,
    value: Value<'v>,
}

struct Bench {
    sessions: Vec<Conn>,
    asker: Conn,
    learned: Weights,
    /// Nothing is ever learned here, so that all weights are asked.
    asking: Weights,
    exact: usize,
    matched: usize,
}

impl Bench {
    async fn new(server: &Server) -> Self {
        let connect = || Conn::new(server.root());
        let mut sessions = Vec::new();
        for session in &SESSIONS {
            let mut conn = connect().await.expect("a login");
            for statement in [&["CREATE DATABASE IF NOT EXISTS k", "USE k"], session.setup].concat() {
                conn.query_drop(statement).await.expect("a session");
            }
            sessions.push(conn);
        }
        let asker = connect().await.expect("a login");
        Bench { sessions, asker, learned: Weights::default(), asking: Weights::default(), exact: 0, matched: 0 }
    }

    /// Makes the tables.
    async fn columns(&mut self, flavour: Flavour, wanted: &dyn Fn(&str) -> bool) -> Vec<Column> {
        let mut types: Vec<(String, Vec<Written>)> = Vec::new();
        for integer in INTEGERS {
            types.push((integer.to_owned(), integers()));
        }
        types.push(("DATE".into(), dates()));
        let strings = strings();
        for bytes in ["BINARY(6)", "VARBINARY(8)"] {
            types.push((bytes.into(), strings.clone()));
        }
        let collations: Vec<String> = self
            .asker
            .query("SELECT COLLATION_NAME FROM information_schema.COLLATIONS ORDER BY 1")
            .await
            .expect("collations");
        // MariaDB lists its newest collations without their character set.
        let uca1400 =
            ["utf8mb4_uca1400_ai_ci", "utf8mb3_uca1400_ai_ci", "utf8mb4_uca1400_nopad_ai_ci"].map(String::from);
        let newest = uca1400.into_iter().filter(|_| flavour == Flavour::MariaDb);
        for collation in collations.into_iter().chain(newest) {
            if !wanted(&collation) || Collation::named(&collation).is_none() {
                continue;
            }
            let (charset, _) = collation.split_once('_').expect("a collation's name");
            for kind in ["CHAR(7)", "VARCHAR(9)"] {
                if kind.starts_with("CHAR") && SOME.contains(&&*collation) && !CHAR.contains(&&*collation) {
                    continue;
                }
                types.push((format!("{kind} CHARACTER SET {charset} COLLATE {collation}"), strings.clone()));
            }
        }
        let mut columns = Vec::new();
        for (number, (definition, values)) in types.into_iter().enumerate() {
            let table = format!("k{number}");
            let create =
                format!("CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, k {definition} NULL, KEY (k))");
            self.sessions[0].query_drop(&create).await.unwrap_or_else(|error| panic!("{create}: {error}"));
            let key = self.key_of(&table).await;
            columns.push(Column { table, key, values });
        }
        columns
    }

    async fn key_of(&mut self, table: &str) -> KeyType {
        let query = "SELECT DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_SET_NAME, COLLATION_NAME \
                     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'k' AND COLUMN_NAME = 'k' AND TABLE_NAME = ";
        type Described = (String, String, Option<u64>, Option<String>, Option<String>);
        let described: Option<Described> = self.asker.query_first(format!("{query}'{table}'")).await.expect("columns");
        let (data_type, column_type, length, charset, collation) = described.expect("the column");
        let definition = Definition {
            data_type: &data_type,
            column_type: &column_type,
            length,
            charset: charset.as_deref(),
            collation: collation.as_deref(),
        };
        KeyType::from_column(&definition).unwrap_or_else(|refusal| panic!("{column_type}: {refusal}"))
    }

    /// Stores every value in every session, then compares every value in every session with all that is stored.
    async fn examine(&mut self, column: &Column, wrong: &mut Vec<String>) {
        for purpose in [Purpose::Store, Purpose::Compare] {
            for (number, session) in SESSIONS.iter().enumerate() {
                // All values by two sessions; the others differ in strings only, and take a share of them each.
                for written in &column.values {
                    if number > 1
                        && !matches!(
                            (written, &column.key),
                            (Written::Text(_), KeyType::Characters(_) | KeyType::Bytes { .. })
                        )
                    {
                        continue;
                    }
                    let Some(text) = written.text_for(session) else { continue };
                    for sent in written.sent(session, &text) {
                        self.check(column, number, purpose, &sent, wrong).await;
                    }
                }
            }
        }
    }

    async fn check(
        &mut self,
        column: &Column,
        session: usize,
        purpose: Purpose,
        sent: &Sent<'_>,
        wrong: &mut Vec<String>,
    ) {
        let here = self.hash_of(column, session, purpose, &sent.value).await;
        let hash = column.key.sql_hash("k");
        let table = &column.table;
        let conn = &mut self.sessions[session];
        // A statement for each type of parameter: MySQL makes doubles of all later numbers and strings of a statement
        // that was once executed with a double, and stores 9007199254740993 as ...992 then.
        let kind = sent.parameter.as_ref().map(kind).unwrap_or_default();
        let there = match (purpose, &sent.literal, &sent.parameter) {
            (Purpose::Store, literal, parameter) => {
                let done = match (literal, parameter) {
                    (Some(literal), _) => {
                        conn.query_drop(
                            [format!("INSERT INTO {table} (k) VALUES (").as_bytes(), literal, b")"].concat(),
                        )
                        .await
                    }
                    (None, Some(parameter)) => {
                        let params = Params::Positional(vec![parameter.clone()]);
                        conn.exec_drop(format!("INSERT INTO {table} (k) VALUES (?) -- {kind}"), params).await
                    }
                    (None, None) => return,
                };
                match done {
                    Ok(()) => {
                        let id = conn.last_insert_id().expect("an id");
                        conn.query(format!("SELECT {hash} FROM {table} WHERE id = {id}")).await
                    }
                    Err(error) => Err(error),
                }
            }
            (Purpose::Compare, Some(literal), _) => {
                let select = format!("SELECT DISTINCT {hash} FROM {table} WHERE k = ");
                conn.query([select.as_bytes(), literal].concat()).await
            }
            (Purpose::Compare, None, Some(parameter)) => {
                let params = Params::Positional(vec![parameter.clone()]);
                conn.exec(format!("SELECT DISTINCT {hash} FROM {table} WHERE k = ? -- {kind}"), params).await
            }
            (Purpose::Compare, None, None) => return,
        };
        let Some(here) = here else { return };
        self.exact += 1;
        let said = |what: String| {
            let literal = sent.literal.as_deref().map_or("parameter".into(), String::from_utf8_lossy);
            let (client, connection) = (SESSIONS[session].client, SESSIONS[session].connection);
            format!("{:?} {purpose:?} {literal} {:?} in {client}/{connection}: {what}", column.key, sent.value)
        };
        let there: Vec<u32> = match (there, purpose) {
            (Ok(there), _) => there,
            (Err(error), Purpose::Store) => return wrong.push(said(format!("exact here, but {error}"))),
            // A server that refuses the comparison finds no row elsewhere.
            (Err(_), Purpose::Compare) => return,
        };
        self.matched += there.len();
        if there.iter().any(|&there| KeyHash::Crc32(there) != here) {
            wrong.push(said(format!("{here:?} here, {there:?} there")));
        }
    }

    /// The hash here; the same whether weights were learned or asked.
    async fn hash_of(
        &mut self,
        column: &Column,
        session: usize,
        purpose: Purpose,
        value: &Value<'_>,
    ) -> Option<KeyHash> {
        let Bench { asker, learned, asking, .. } = self;
        let mut hashes = Vec::new();
        for (weights, odd) in [(&*learned, false), (&*asking, true)] {
            let reading = Reading { purpose, connection: SESSIONS[session].connection, weights };
            hashes.push(loop {
                match column.key.canonical(value, &reading) {
                    Canonical::Exact(key) => break Some(key.hash(Hash::Crc32)),
                    Canonical::Null | Canonical::NotExact => break None,
                    Canonical::Ask(question) if odd && question.query().len() > LESSON => {
                        weights.answer(question, None).expect_err("a lesson without a row");
                    }
                    Canonical::Ask(question) => {
                        // A string that is none in its character set is an error, and so not exact.
                        let row: Option<mysql_async::Row> =
                            asker.query_first(question.query()).await.unwrap_or_default();
                        let cells = row.map(|row| (0..row.len()).map(|at| text(&row[at])).collect::<Vec<_>>());
                        weights.answer(question, cells.as_deref()).expect("a collation whose weights add up");
                    }
                }
            });
        }
        assert_eq!(hashes[0], hashes[1], "learned and asked weights of {value:?} differ, {:?}", column.key);
        hashes[0]
    }
}

impl Written {
    /// The text's bytes in the session's character set; `None`: it can't be said there.
    fn text_for(&self, session: &Session) -> Option<Vec<u8>> {
        let Written::Text(text) = self else { return Some(Vec::new()) };
        encoded(text, session.client)
    }

    /// The forms it is sent in.
    fn sent<'v>(&'v self, session: &Session, text: &'v [u8]) -> Vec<Sent<'v>> {
        match self {
            Written::Text(_) => {
                let value = Value::Text { bytes: text, charset: session.client };
                let parameter = Some(mysql_async::Value::Bytes(text.to_vec()));
                let mut sent = vec![Sent { literal: Some(quoted(text)), parameter: None, value: value.clone() }];
                if std::ptr::eq(session, &SESSIONS[0]) || session.client == "gbk" {
                    sent.push(Sent { literal: None, parameter, value });
                }
                sent
            }
            Written::Literal(literal, owned) => {
                vec![Sent { literal: Some(literal.clone().into_bytes()), parameter: None, value: owned.value() }]
            }
            Written::Parameter(parameter) => {
                let value = parameter_value(parameter);
                vec![Sent { literal: None, parameter: Some(parameter.clone()), value }]
            }
        }
    }
}

impl Owned {
    fn value(&self) -> Value<'_> {
        match self {
            Owned::Int(n) => Value::Int(*n),
            Owned::UInt(n) => Value::UInt(*n),
            Owned::Decimal(text) => Value::Decimal(text),
            Owned::Double(n) => Value::Double(*n),
            Owned::Binary(bytes) => Value::Binary(bytes),
            Owned::Hex { bytes, quoted } => Value::Hex { bytes, quoted: *quoted },
            Owned::Introduced(text) => Value::Text { bytes: text.as_bytes(), charset: "utf8mb4" },
        }
    }
}

fn parameter_value(parameter: &mysql_async::Value) -> Value<'_> {
    match *parameter {
        mysql_async::Value::NULL => Value::Null,
        mysql_async::Value::Int(n) => Value::Int(n),
        mysql_async::Value::UInt(n) => Value::UInt(n),
        mysql_async::Value::Float(n) => Value::Float(n),
        mysql_async::Value::Double(n) => Value::Double(n),
        mysql_async::Value::Date(year, month, day, 0, 0, 0, 0) => Value::Date { year, month, day },
        mysql_async::Value::Date(year, month, day, hour, minute, second, micro) => {
            Value::DateTime { year, month, day, hour, minute, second, micro }
        }
        mysql_async::Value::Bytes(_) | mysql_async::Value::Time(..) => unreachable!("not made here"),
    }
}

fn kind(parameter: &mysql_async::Value) -> &'static str {
    match parameter {
        mysql_async::Value::NULL => "null",
        mysql_async::Value::Bytes(_) => "string",
        mysql_async::Value::Int(_) => "signed",
        mysql_async::Value::UInt(_) => "unsigned",
        mysql_async::Value::Float(_) => "float",
        mysql_async::Value::Double(_) => "double",
        mysql_async::Value::Date(..) => "date",
        mysql_async::Value::Time(..) => "time",
    }
}

fn encoded(text: &str, charset: &str) -> Option<Vec<u8>> {
    let gbk = |c: char| match c {
        '\0'..='\x7f' => Some(vec![u8::try_from(c).expect("ASCII")]),
        '日' => Some(vec![0xc8, 0xd5]),
        '本' => Some(vec![0xb1, 0xbe]),
        'é' => Some(vec![0xa8, 0xa6]),
        'я' => Some(vec![0xa7, 0xf1]),
        _ => None,
    };
    let latin1 = |c: char| match c {
        '\0'..='\x7f' | '\u{a0}'..='\u{ff}' => u8::try_from(c).ok().map(|byte| vec![byte]),
        '€' => Some(vec![0x80]),
        'Œ' => Some(vec![0x8c]),
        '\u{81}' => Some(vec![0x81]),
        _ => None,
    };
    match charset {
        "gbk" => text.chars().map(gbk).collect::<Option<Vec<_>>>().map(|bytes| bytes.concat()),
        "latin1" => text.chars().map(latin1).collect::<Option<Vec<_>>>().map(|bytes| bytes.concat()),
        "utf8mb3" => text.chars().all(|c| c <= '\u{ffff}').then(|| text.as_bytes().to_vec()),
        _ => Some(text.as_bytes().to_vec()),
    }
}

fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = b"'".to_vec();
    for &byte in text {
        match byte {
            b'\'' | b'\\' => out.extend([b'\\', byte]),
            0 => out.extend(b"\\0"),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

const INTEGERS: [&str; 10] = [
    "TINYINT",
    "BOOLEAN",
    "SMALLINT UNSIGNED",
    "MEDIUMINT",
    "INT",
    "INT UNSIGNED",
    "INT(8) ZEROFILL",
    "BIGINT",
    "BIGINT UNSIGNED",
    "BIGINT UNSIGNED ZEROFILL",
];

/// Bounds of all sizes, numbers about 2^53, and each in many spellings.
fn integers() -> Vec<Written> {
    let bounds = [8, 16, 24, 32, 53, 63, 64].into_iter().flat_map(|bits| {
        let top = 1i128 << bits;
        [top - 2, top - 1, top, top + 1, top / 2, top / 2 - 1, -top / 2, -top / 2 - 1, -top]
    });
    let mut numbers: Vec<i128> = (-3..12).chain([42, 20_240_102]).chain(bounds).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut all = vec![Written::Literal("TRUE".into(), Owned::Int(1)), Written::Literal("FALSE".into(), Owned::Int(0))];
    for text in ["", " ", "abc", "1e1", "0x2a", "-0", "4 2", "--1"] {
        all.push(Written::Text(text.into()));
    }
    for n in numbers {
        let magnitude = n.unsigned_abs();
        let sign = if n < 0 { "-" } else { "" };
        if let Ok(n) = i64::try_from(n) {
            all.push(Written::Literal(n.to_string(), Owned::Int(n)));
            all.push(Written::Parameter(mysql_async::Value::Int(n)));
        } else if let Ok(n) = u64::try_from(n) {
            all.push(Written::Literal(n.to_string(), Owned::UInt(n)));
            all.push(Written::Parameter(mysql_async::Value::UInt(n)));
        } else {
            all.push(Written::Literal(n.to_string(), Owned::Decimal(n.to_string())));
        }
        for form in [format!("{n}.0"), format!("{n}.00"), format!("{n}.5"), format!("{sign}0{magnitude}.0")] {
            all.push(Written::Literal(form.clone(), Owned::Decimal(form)));
        }
        let forms = [
            format!("{n}"),
            format!(" {n}"),
            format!("{n} "),
            format!("{n}.0"),
            format!("{n}."),
            format!("{n}.5"),
            format!("{sign}00{magnitude}"),
            format!("{n}abc"),
            format!("{n}\t"),
            format!("{n}e0"),
        ];
        all.extend(forms.map(Written::Text));
        #[allow(clippy::cast_precision_loss)]
        let double = n as f64;
        all.push(Written::Literal(format!("{double:e}"), Owned::Double(double)));
        all.push(Written::Parameter(mysql_async::Value::Double(double)));
        all.push(Written::Parameter(mysql_async::Value::Double(double + 0.5)));
        #[allow(clippy::cast_precision_loss)]
        all.push(Written::Parameter(mysql_async::Value::Float(n as f32)));
        all.push(Written::Literal(format!("_binary'{n}'"), Owned::Binary(n.to_string().into_bytes())));
        if let Ok(n) = u64::try_from(n) {
            let bytes = n.to_be_bytes().to_vec();
            all.push(Written::Literal(
                format!("0x{}", hex(&bytes)),
                Owned::Hex { bytes: bytes.clone(), quoted: false },
            ));
            all.push(Written::Literal(
                format!("X'{}'", hex(&bytes)),
                Owned::Hex { bytes: bytes.clone(), quoted: true },
            ));
            all.push(Written::Literal(format!("b'{n:b}'"), Owned::Hex { bytes, quoted: false }));
        }
    }
    all
}

fn dates() -> Vec<Written> {
    let mut all: Vec<Written> = [
        "2024-01-02",
        "2024-1-2",
        "2024-01-2",
        "20240102",
        "240102",
        "24-01-02",
        "2024/01/02",
        "2024-02-29",
        "2023-02-29",
        "2023-02-31",
        "0000-00-00",
        "2024-00-00",
        "2024-01-00",
        "0001-01-01",
        "1000-01-01",
        "9999-12-31",
        "2024-01-02 00:00:00",
        "2024-01-02 10:00:00",
        "2024-01-02 23:59:59.999999",
        "2024-01-02T00:00:00",
        " 2024-01-02",
        "2024-01-02 ",
        "2024-01-02x",
        "2024.01.02",
        "20240102000000",
        "20241302",
        "",
        "x",
        "2024-1-2 00:00:00",
        "20240102 00:00:00",
        "1999-12-31",
        "0999-01-01",
    ]
    .into_iter()
    .map(|text| Written::Text(text.into()))
    .collect();
    for n in [
        20_240_102i64,
        240_102,
        20_240_229,
        20_230_229,
        10_000_101,
        99_991_231,
        9_991_231,
        0,
        20_240_102_000_000,
        -20_240_102,
    ] {
        all.push(Written::Literal(n.to_string(), Owned::Int(n)));
        all.push(Written::Parameter(mysql_async::Value::Int(n)));
    }
    for (hour, micro) in [(0, 0), (10, 0), (0, 1)] {
        all.push(Written::Parameter(mysql_async::Value::Date(2024, 1, 2, hour, 0, 0, micro)));
    }
    all.push(Written::Literal("20240102.0".into(), Owned::Decimal("20240102.0".into())));
    all.push(Written::Literal("20240102e0".into(), Owned::Double(20_240_102.0)));
    all
}

/// Pieces whose equality collations see differently: case, accents, expansions, contractions, ignorables, spaces.
const PIECES: [&str; 62] = [
    "a",
    "A",
    "ä",
    "Ä",
    "á",
    "e",
    "E",
    "é",
    "e\u{301}",
    "\u{301}",
    "ß",
    "ss",
    "S",
    "æ",
    "ae",
    "Œ",
    "ø",
    "o",
    "Ö",
    "ñ",
    "n",
    "ch",
    "c",
    "h",
    "ll",
    "lj",
    "ǆ",
    "ı",
    "I",
    "İ",
    "i",
    "½",
    "1",
    "⁄",
    "2",
    "я",
    "Я",
    "й",
    "и\u{306}",
    "ς",
    "σ",
    "日",
    "本",
    "\u{9fff}",
    "\u{4e00}",
    "😀",
    "😁",
    "\0",
    "\t",
    "\u{a0}",
    "\u{ad}",
    "ａ",
    "ﬁ",
    "fi",
    "€",
    " ",
    "  ",
    "'",
    "_",
    "%",
    "0",
    "\u{81}",
];

fn strings() -> Vec<Written> {
    let mut runner = TestRunner::deterministic();
    let strategy = proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 1..4);
    let random = (0..80).map(|_| strategy.new_tree(&mut runner).expect("a tree").current().concat());
    let pieces = PIECES.iter().flat_map(|&piece| [piece.to_owned(), format!("{piece} "), format!("a{piece}")]);
    let fixed = [
        "",
        "abc   ",
        "5",
        "5.0",
        "05",
        "straße",
        "STRASSE",
        "2024-01-02",
        "longer than it",
        "exactly8",
        "aaaaaaa  ",
        "日本日本日本日",
    ];
    let texts: HashSet<String> = random.chain(pieces).chain(fixed.map(String::from)).collect();
    let mut texts: Vec<String> = texts.into_iter().collect();
    texts.sort_unstable();
    let mut all = Vec::new();
    for text in texts.iter().step_by(7) {
        let bytes = text.as_bytes().to_vec();
        all.push(Written::Literal(format!("_binary X'{}'", hex(&bytes)), Owned::Binary(bytes.clone())));
        all.push(Written::Literal(format!("X'{}'", hex(&bytes)), Owned::Hex { bytes: bytes.clone(), quoted: true }));
        all.push(Written::Literal(format!("_utf8mb4 X'{}'", hex(&bytes)), Owned::Introduced(text.clone())));
    }
    for n in [0i64, 5, -5, 42] {
        all.push(Written::Literal(n.to_string(), Owned::Int(n)));
        all.push(Written::Parameter(mysql_async::Value::Int(n)));
        all.push(Written::Literal(format!("{n}.0"), Owned::Decimal(format!("{n}.0"))));
        all.push(Written::Parameter(mysql_async::Value::Double(5.0)));
    }
    all.push(Written::Literal("0xE9".into(), Owned::Hex { bytes: vec![0xe9], quoted: false }));
    all.push(Written::Literal("0xFF00".into(), Owned::Hex { bytes: vec![0xff, 0], quoted: false }));
    all.push(Written::Parameter(mysql_async::Value::Date(2024, 1, 2, 0, 0, 0, 0)));
    all.extend(texts.into_iter().map(Written::Text));
    all
}
