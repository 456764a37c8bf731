//! Rows go where the server's own functions say: 100,000 rows with keys of every kind, written
//! through the proxy, each found in the subtable that `CRC32()` on the server names.

mod common;

use std::fmt::Write;

use bifold::lab::{APP_PASSWORD, APP_USER, Cluster, Flavour};

use common::{Answer, Client, Login, bifold_program, with_cluster};

const SUBTABLES: usize = 4;
const ROWS: usize = 10_000;

/// A table by the type of its key: how to write the n-th key, and h in SQL, as the documentation
/// has it.
struct Kind {
    table: &'static str,
    column: &'static str,
    hash: &'static str,
    key: fn(usize) -> String,
}

const KINDS: &[Kind] = &[
    Kind { table: "by_int", column: "BIGINT", hash: "CRC32(k)", key: |n| (n * 37).to_string() },
    Kind { table: "by_negative", column: "INT", hash: "CRC32(k)", key: |n| format!("-{}", n * 1013) },
    Kind {
        table: "by_unsigned",
        column: "BIGINT UNSIGNED",
        hash: "CRC32(k)",
        key: |n| (u64::MAX - n as u64 * 64).to_string(),
    },
    Kind { table: "by_zerofill", column: "INT(8) ZEROFILL", hash: "CRC32(k + 0)", key: |n| n.to_string() },
    Kind { table: "by_date", column: "DATE", hash: "CRC32(k)", key: date },
    Kind { table: "by_binary", column: "VARBINARY(20)", hash: "CRC32(k)", key: |n| format!("X'00{n:06X}20'") },
    Kind {
        table: "by_bin",
        column: "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        hash: "CRC32(TRIM(TRAILING ' ' FROM k))",
        key: word,
    },
    Kind {
        table: "by_latin1_bin",
        column: "VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_bin",
        hash: "CRC32(TRIM(TRAILING ' ' FROM CONVERT(k USING utf8mb4)))",
        key: |n| format!("'{}{n}'", ["é", "Ñ", "x", "ß"][n % 4]),
    },
    Kind {
        table: "by_general_ci",
        column: "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        hash: "CRC32(TRIM(TRAILING x'0020' FROM WEIGHT_STRING(k)))",
        key: word,
    },
    Kind {
        table: "by_unicode_ci",
        column: "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
        hash: "CRC32(TRIM(TRAILING x'0209' FROM WEIGHT_STRING(k)))",
        key: word,
    },
];

/// Case, accents, trailing spaces, other scripts, characters beyond the basic plane.
fn word(n: usize) -> String {
    let word = ["apple", "Apple", "ÄPFEL", "äpfel", "straße", "привет", "東京", "🙂", "a b"][n % 9];
    let spaces = ["", "", " ", "   "][n / 9 % 4];
    format!("'{word}{n}{spaces}'")
}

fn date(n: usize) -> String {
    format!("'{:04}-{:02}-{:02}'", 1000 + n / 336, n / 28 % 12 + 1, n % 28 + 1)
}

#[test]
fn every_row_lies_where_the_server_says() {
    let rules: String = KINDS.iter().fold(String::new(), |mut rules, kind| {
        write!(rules, "[schema.mall.table.{}]\nkey = \"k\"\ntables = {SUBTABLES}\n\n", kind.table).expect("text");
        rules
    });
    with_cluster(|cluster| {
        cluster.set_tables(&rules).expect("a topology");
        let port = cluster.serve(bifold_program()).unwrap_or_else(|error| panic!("{error}")).port();
        let login = Login::new(APP_USER, APP_PASSWORD, Some("mall"));
        let mut app = Client::login(port, &login).expect("connected").expect("logged in");
        for kind in KINDS {
            load(&mut app, kind);
            look(cluster, kind);
        }
    });
}

fn load(app: &mut Client, kind: &Kind) {
    let mut run = |sql: &str| {
        for answer in app.query(sql) {
            assert!(matches!(answer, Answer::Ok(_)), "{}…: {answer:?}", sql.chars().take(150).collect::<String>());
        }
    };
    run(&format!("CREATE TABLE {} (k {} NOT NULL, n INT NOT NULL, PRIMARY KEY (k, n))", kind.table, kind.column));
    for first in (0..ROWS).step_by(1000) {
        let rows: Vec<String> = (first..first + 1000).map(|n| format!("({}, {n})", (kind.key)(n))).collect();
        run(&format!("INSERT INTO {} (k, n) VALUES {}", kind.table, rows.join(", ")));
    }
}

/// Each physical table, looked at from behind the proxy.
fn look(cluster: &Cluster, kind: &Kind) {
    let shards = cluster.spec().shards;
    let mut counts = Vec::new();
    for shard in 0..shards {
        let (server, database) = cluster.shard(shard);
        for subtable in 0..SUBTABLES {
            let table = format!("{database}.{}_{subtable:04}", kind.table);
            let hash = kind.hash;
            let sql = format!(
                "SELECT COUNT(*), COALESCE(SUM({hash} % {shards} <> {shard} OR ({hash} >> 16) % {SUBTABLES} <> {subtable}), 0) \
                 FROM {table}"
            );
            let rows = server.run(&["SET NAMES utf8mb4".to_owned(), sql]).expect("the subtable is there");
            let [Some(count), Some(strangers)] = rows[0].as_slice() else { panic!("{rows:?}") };
            assert_eq!(strangers, "0", "{}: {table} has rows of other places", server.flavour());
            counts.push(count.parse::<usize>().expect("a count"));
        }
    }
    let flavour = cluster.servers()[0].flavour();
    assert_eq!(counts.iter().sum::<usize>(), ROWS, "{flavour}: {} lost or doubled rows", kind.table);
    let places = counts.len();
    assert!(counts.iter().all(|count| *count > ROWS / places / 2), "{flavour}: {} is uneven: {counts:?}", kind.table);
    assert!(matches!(flavour, Flavour::MariaDb | Flavour::MySql));
}
