//! Queries over many places: the rows, in the order asked for, and the metadata of one server, over
//! a table of all types full of NULLs, ties and strings that are equal under their collation.

use bifold::lab::Flavour;

use crate::common::{Answer, Both, Mask, Param, differences, on_each_server};

pub(super) const TABLES: &str = r#"
[schema.mall.table]
kinds = { key = "id", tables = 4 }
sparse = { key = "id", tables = 4 }
other = { key = "id", tables = 4 }
label = { kind = "reference" }
"#;

/// Columns that can be sorted by.
pub(super) const SORTED: [&str; 27] = [
    "ti", "tu", "si", "mi", "i", "iz", "b", "bu", "d", "dd", "f", "db", "bt", "y", "dt", "dtm", "ts", "tm", "v", "vb",
    "vl", "vu", "vn", "bi", "vbi", "e", "st",
];

/// Strings that some collation holds equal, or orders by more than bytes.
const WORDS: [&str; 16] = ["a", "A", "a ", "a\\t", "ä", "ab", "b", "B ", "", " ", "ß", "ss", "Zebra", "z", "a b", "éa"];

pub(super) fn prepare(both: &mut Both) {
    let own = match both.flavour {
        Flavour::MySql => "utf8mb4_0900_ai_ci",
        Flavour::MariaDb => "utf8mb4_uca1400_ai_ci",
    };
    both.each(&format!(
        "CREATE TABLE kinds (id BIGINT NOT NULL PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT, \
         i INT, iz INT(8) ZEROFILL, b BIGINT, bu BIGINT UNSIGNED, d DECIMAL(20,6), dd DECIMAL(65,30), f FLOAT, db DOUBLE, \
         bt BIT(40), y YEAR, dt DATE, dtm DATETIME(6), ts TIMESTAMP(3) NULL, tm TIME(6), \
         v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, \
         vb VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, \
         vl CHAR(40) CHARACTER SET latin1 COLLATE latin1_swedish_ci, \
         vu VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, \
         vn VARCHAR(40) CHARACTER SET utf8mb4 COLLATE {own}, \
         bi BINARY(4), vbi VARBINARY(20), e ENUM('z','a','m'), st SET('x','y','b'), tx TEXT, bl BLOB, j JSON, \
         KEY by_i (i))"
    ));
    both.each("CREATE TABLE sparse (id BIGINT NOT NULL PRIMARY KEY, n INT, d DECIMAL(10,2), w VARCHAR(20))");
    both.each("CREATE TABLE other (id BIGINT NOT NULL PRIMARY KEY, n INT)");
    both.each("CREATE TABLE label (e INT NOT NULL PRIMARY KEY, title VARCHAR(20))");
    both.each("CREATE TABLE setting (e INT NOT NULL PRIMARY KEY)");
    both.each("INSERT INTO label VALUES (0, 'none'), (1, 'one'), (2, 'two'), (9, 'unused')");
    both.each("INSERT INTO sparse VALUES (3, 1, 2.50, 'x'), (4, NULL, -0.25, NULL)");
    let rows: Vec<String> = (0..96_i64).map(row).collect();
    both.each(&format!("INSERT INTO kinds VALUES {}", rows.join(", ")));
}

/// Every seventh value is NULL, each column at other rows; few different values, so that there are ties.
fn row(n: i64) -> String {
    let word = WORDS[(n as usize * 5 + 3) % WORDS.len()];
    let sign = if n % 3 == 0 { "-" } else { "" };
    let values = [
        format!("{sign}{}", n % 5 * 30),
        format!("{}", n % 4 * 80),
        format!("{sign}{}", n * 77 % 300),
        format!("{sign}{}", n * 991 % 5000),
        format!("{sign}{}", n * 7919 % 11),
        format!("{}", n * 13 % 120),
        format!("{sign}{}", n % 6 * 1_500_000_000_000_000_000),
        format!("{}", 18_446_744_073_709_551_615_u64 - (n % 6) as u64 * 3_000_000_000_000_000_000),
        format!("{sign}{}.{:06}", n * 37 % 20, n * 1001 % 4000),
        format!("{sign}{}.{}", "9".repeat((n % 35) as usize + 1), n % 7),
        format!("{sign}{}.1234567e{}", n % 4, n % 9 - 4),
        format!("{sign}{}.12345678901234567e{}", n % 4, n % 60 - 30),
        format!("{}", n * 99_991 % 1_000_000_000),
        format!("{}", 1990 + n % 20),
        format!("'20{:02}-{:02}-{:02}'", n % 20, n % 12 + 1, n % 28 + 1),
        format!("'2024-02-{:02} {:02}:00:{:02}.{:06}'", n % 3 + 1, n % 24, n % 60, n * 7 % 11),
        format!("'2024-0{}-15 12:00:00.{:03}'", n % 9 + 1, n % 5),
        format!("'{sign}{:02}:{:02}:01.{:06}'", n * 11 % 200, n % 60, n % 3 * 500),
        format!("'{word}'"),
        format!("'{word}'"),
        format!("'{word}'"),
        format!("'{word}'"),
        format!("'{word}'"),
        format!("X'{:02X}00'", n % 7 * 40),
        format!("X'{}'", ["", "00", "0000", "0001", "FF", "41", "4100"][n as usize % 7]),
        format!("'{}'", ["z", "a", "m"][n as usize % 3]),
        format!("'{}'", ["", "x", "x,y", "b", "x,b"][n as usize % 5]),
        format!("'text {n}'"),
        format!("X'{:04X}'", n),
        format!("'{{\"n\": {n}}}'"),
    ];
    let nullable = values.iter().zip(0..).map(|(value, at)| if (n + at) % 7 == 0 { "NULL" } else { value });
    format!("({}, {})", n * 31 - 500, nullable.collect::<Vec<_>>().join(", "))
}

/// Runs all of them, and tells every difference at once.
#[track_caller]
pub(super) fn all<S: AsRef<str>>(both: &mut Both, statements: &[S]) {
    let mut different = Vec::new();
    for sql in statements.iter().map(AsRef::as_ref) {
        let (plain, proxied) = both.answers(sql, &[]);
        let found = differences(sql, &plain, &proxied, &Mask::default());
        if !found.is_empty() {
            let refusal = proxied.iter().find_map(|answer| match answer {
                Answer::Err(error) => Some(error.text.clone()),
                _ => None,
            });
            different.push(format!("{sql}\n    {}\n    {}", found.join("\n    "), refusal.unwrap_or_default()));
        }
    }
    assert!(different.is_empty(), "{} {:?}:\n{}", both.flavour, both.protocol, different.join("\n"));
}

#[test]
fn rows_of_all_places() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT * FROM kinds",
                "SELECT k.* FROM kinds k",
                "SELECT mall.kinds.id, v FROM mall.kinds",
                "SELECT id, v AS word, i + 1, UPPER(v), e, st, j, bt FROM kinds WHERE i > 0",
                "SELECT id FROM kinds WHERE id > 100",
                "SELECT id FROM kinds WHERE id BETWEEN -100 AND 100 AND v = 'a'",
                "SELECT id FROM kinds WHERE id IN (-500, -469, 31, 12345)",
                "SELECT id, v FROM kinds WHERE id = -500 OR id = -469",
                "SELECT id FROM kinds WHERE NOT id = 31",
                "SELECT id FROM kinds WHERE 1 = 0",
                "SELECT * FROM kinds WHERE v LIKE 'a%' AND vb IS NOT NULL",
                "SELECT n, d FROM sparse",
                "SELECT * FROM other",
                "SELECT 1 FROM kinds",
                "SELECT NULL, 'x' AS c, 1.5 FROM kinds WHERE i = 1",
                "SELECT DATE(dtm), YEAR(dt), CAST(d AS CHAR), f * 2, db / 3 FROM kinds",
                "SELECT DATABASE(), id FROM kinds WHERE i = 1",
                "SELECT NOW() > '2020-01-01', id FROM kinds WHERE dtm < NOW()",
                "SELECT CASE WHEN i > 3 THEN 'big' ELSE 'small' END AS size, id FROM kinds",
                "SELECT k.id, l.title FROM kinds k JOIN label l ON l.e = k.ti",
                "SELECT k.id, l.* FROM kinds k, label l WHERE l.e = k.i",
                "SELECT k.id, l.title FROM kinds k LEFT JOIN label l ON l.e = k.i",
                "SELECT k.id, l.title FROM label l RIGHT JOIN kinds k ON l.e = k.i",
                "SELECT k.id, title FROM kinds k JOIN (label l, label m) ON l.e = k.i AND m.e = l.e",
                "SELECT nothing FROM kinds",
                "SELECT id FROM kinds WHERE nothing = 1",
            ],
        );
    });
}

#[test]
fn rows_come_in_the_order_of_every_type() {
    on_each_server(TABLES, |both| {
        prepare(both);
        let statements: Vec<String> = SORTED
            .iter()
            .flat_map(|column| {
                [
                    format!("SELECT id, {column} FROM kinds ORDER BY {column}, id"),
                    format!("SELECT {column}, k.id FROM kinds k ORDER BY {column} DESC, k.id DESC"),
                    format!("SELECT id FROM kinds ORDER BY kinds.{column} DESC, id LIMIT 7, 12"),
                ]
            })
            .collect();
        all(both, &statements);
    });
}

#[test]
fn order_and_limit_in_all_spellings() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT * FROM kinds ORDER BY id",
                "SELECT * FROM kinds ORDER BY id LIMIT 2,3",
                "SELECT * FROM kinds ORDER BY id DESC LIMIT 3 OFFSET 2",
                "SELECT id FROM kinds ORDER BY id LIMIT 1000, 5",
                "SELECT id FROM kinds ORDER BY id LIMIT 0",
                "SELECT id FROM kinds ORDER BY id LIMIT 18446744073709551615 OFFSET 90",
                "SELECT id AS x, v FROM kinds ORDER BY x",
                "SELECT b AS i, i AS b, id FROM kinds ORDER BY b, id",
                "SELECT i, id FROM kinds ORDER BY 1 DESC, 2",
                "SELECT v, id FROM kinds ORDER BY 2",
                "SELECT v, id FROM kinds ORDER BY `V` DESC, `id`",
                "SELECT id FROM mall.kinds ORDER BY mall.kinds.i, mall.kinds.id",
                "SELECT v FROM kinds WHERE i = 1 ORDER BY i, id DESC LIMIT 4",
                "SELECT id FROM kinds WHERE id IN (31, -500, 62, -469) ORDER BY v, id LIMIT 3",
                "SELECT k.id, l.title FROM kinds k JOIN label l ON l.e = k.i ORDER BY l.title DESC, k.id LIMIT 5",
                "SELECT k.id, l.title FROM kinds k LEFT JOIN label l ON l.e = k.i ORDER BY l.e, k.id",
                "SELECT CONCAT(v, '`x`'), id FROM kinds ORDER BY i, id DESC LIMIT 9",
                "SELECT DATABASE(), id FROM kinds ORDER BY i, id LIMIT 9",
                "SELECT id FROM kinds WHERE dtm < NOW() ORDER BY dtm, id",
                "SELECT n FROM sparse ORDER BY n",
                "SELECT n FROM other ORDER BY n LIMIT 3",
            ],
        );
        for (sql, rows) in [
            ("SELECT id FROM kinds LIMIT 5", 5),
            ("SELECT id FROM kinds LIMIT 90, 20", 6),
            ("SELECT id FROM kinds LIMIT 0", 0),
            ("SELECT id FROM kinds LIMIT 3 OFFSET 50", 3),
            ("SELECT id FROM kinds WHERE i = 1 LIMIT 1000", 8),
        ] {
            let (plain, proxied) = both.answers(sql, &[]);
            let count = |answers: &[Answer]| match answers {
                [Answer::Rows(set)] => set.rows.len(),
                other => panic!("{sql}: {other:?}"),
            };
            assert_eq!(count(&plain), count(&proxied), "{sql}");
            assert!(count(&plain) == rows || sql.contains("i = 1"), "{sql}");
        }
    });
}

#[test]
fn parameters_reach_every_place() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.run_with("SELECT id, v FROM kinds WHERE v = ? AND i > ?", &[Param::Text("A".into()), Param::Int(-3)]);
        both.run_with("SELECT id FROM kinds WHERE id IN (?, ?) ORDER BY id", &[Param::Int(31), Param::Int(-500)]);
        let page = [Param::Int(2), Param::Int(10), Param::Int(5)];
        both.run_with("SELECT id, i FROM kinds WHERE i > ? ORDER BY i DESC, id LIMIT ? OFFSET ?", &page);
        both.run_with("SELECT id, i FROM kinds WHERE i > ? ORDER BY i, id LIMIT ?, ?", &page);
        both.run_with("SELECT COUNT(*), SUM(b) FROM kinds WHERE dt > ?", &[Param::Text("2005-01-01".into())]);
        both.run_with("SELECT id FROM kinds WHERE tx = ?", &[Param::LongData(b"text 7".to_vec())]);
    });
}

#[test]
fn aggregates_of_all_places() {
    on_each_server(TABLES, |both| {
        prepare(both);
        let numbers = ["ti", "tu", "si", "mi", "i", "b", "bu", "d"];
        let mut statements: Vec<String> = numbers
            .iter()
            .map(|column| format!("SELECT COUNT({column}), SUM({column}), MIN({column}), MAX({column}) FROM kinds"))
            .collect();
        statements.extend(
            [
                "SELECT COUNT(*) FROM kinds",
                "SELECT COUNT(*) AS n, COUNT(1), COUNT(v), COUNT(*) FROM kinds WHERE i > 0",
                "SELECT COUNT(*), SUM(i), MIN(i), MAX(d) FROM kinds WHERE 1 = 0",
                "SELECT COUNT(n), SUM(n), SUM(d), MIN(n), MAX(d) FROM sparse",
                "SELECT COUNT(*), MIN(n) FROM other",
                "SELECT MIN(dt), MAX(dt), MIN(dtm), MAX(dtm) FROM kinds",
                "SELECT MIN(k.dt), MAX(k.id), COUNT(k.id + 1) FROM kinds k JOIN label l ON l.e = k.i",
                "SELECT COUNT(*) FROM kinds WHERE id IN (31, -500, 62)",
                "SELECT SUM(d) FROM kinds WHERE id > 0 AND dtm < NOW()",
            ]
            .map(str::to_owned),
        );
        all(both, &statements);
    });
}

#[test]
fn what_can_not_be_split_is_gathered_or_refused() {
    on_each_server(TABLES, |both| {
        prepare(both);
        // What can't be split is gathered.
        all(
            both,
            &[
                "SELECT COUNT(*) FROM kinds HAVING COUNT(*) > 1",
                "SELECT COUNT(DISTINCT v) FROM kinds",
                "SELECT AVG(i) FROM kinds",
                "SELECT SUM(f) FROM kinds",
                "SELECT COUNT(*) + 1 FROM kinds",
                "SELECT COUNT(*) FROM kinds LIMIT 1",
                "SELECT id FROM kinds ORDER BY id + 1",
                "SELECT id + 1 AS x FROM kinds ORDER BY x",
                "SELECT id FROM kinds ORDER BY tx",
                "SELECT id FROM kinds ORDER BY j",
                "SELECT *, ti AS i FROM kinds ORDER BY i",
                "SELECT id FROM kinds UNION SELECT 1",
                "SELECT id FROM kinds WHERE i = (SELECT MAX(e) FROM label)",
                "SELECT id FROM (SELECT id FROM kinds) d",
                "WITH d AS (SELECT id FROM kinds) SELECT id FROM d",
                "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM kinds",
                "SELECT id, @a FROM kinds",
                "SELECT k.id FROM kinds k JOIN other o ON o.id = k.id",
                "SELECT k.id FROM kinds k JOIN setting s ON s.e = k.i",
                "SELECT l.e, k.id FROM label l LEFT JOIN kinds k ON k.i = l.e",
                "SELECT l.e, k.id FROM kinds k RIGHT JOIN label l ON k.i = l.e",
                "SELECT SQL_CALC_FOUND_ROWS id FROM kinds ORDER BY id LIMIT 1",
            ],
        );
        both.refused("SELECT id FROM kinds LIMIT 1 FOR UPDATE", "a locking read");
        match both.flavour {
            Flavour::MySql => all(both, &["SELECT /*+ SET_VAR(sql_select_limit=100) */ id FROM kinds"]),
            Flavour::MariaDb => all(both, &["SET STATEMENT sql_select_limit=100 FOR SELECT id FROM kinds"]),
        }
        both.each("SET sql_select_limit = 3");
        both.run("SELECT id FROM kinds ORDER BY id");
        both.run("SELECT COUNT(*) FROM kinds");
        both.run("SELECT id FROM kinds ORDER BY v, id LIMIT 5");
        both.run("SELECT id FROM kinds WHERE id = 31 ORDER BY id");
        both.run("SELECT i, COUNT(*) FROM kinds GROUP BY i ORDER BY i");
        both.each("SET sql_select_limit = DEFAULT");
        both.each("SET max_sort_length = 64");
        both.refused("SELECT id FROM kinds ORDER BY id", "max_sort_length");
        both.run("SELECT id FROM kinds");
    });
}

#[test]
fn within_transactions_and_after_errors() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.run("BEGIN");
        both.run("SELECT COUNT(*) FROM sparse");
        both.run("INSERT INTO sparse VALUES (5, 7, 1.00, 'own')");
        both.run("SELECT * FROM sparse ORDER BY id");
        both.run("SELECT nothing FROM sparse");
        both.run("SELECT COUNT(*), SUM(n) FROM sparse");
        both.run("ROLLBACK");
        both.run("SELECT * FROM sparse ORDER BY id");
        both.run("SET autocommit = 0");
        both.run("SELECT COUNT(*) FROM sparse");
        both.run("COMMIT");
        both.run("SET autocommit = 1");
        both.run("SELECT id FROM kinds ORDER BY id LIMIT 4");
        both.run("SELECT FOUND_ROWS(), ROW_COUNT()");
        both.run("SET time_zone = '+05:00'");
        both.run("SELECT ts, id FROM kinds ORDER BY ts, id");
        both.run("SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'");
        both.run("SELECT \"v\", id FROM kinds ORDER BY \"v\", \"id\"");
        both.run("SET NAMES latin1");
        both.run("SELECT v, id FROM kinds ORDER BY v, id");
    });
}

#[test]
fn rows_without_an_order_come_in_the_order_of_places() {
    on_each_server(TABLES, |both| {
        prepare(both);
        let ids = |both: &mut Both| match both.proxied.query("SELECT id FROM kinds").as_slice() {
            [Answer::Rows(set)] => set.rows.clone(),
            other => panic!("{other:?}"),
        };
        let first = ids(both);
        let mut place_by_place = Vec::new();
        let Answer::Rows(route) = &both.proxied.query("EXPLAIN ROUTE SELECT id FROM kinds")[0] else { panic!("rows") };
        // One place alone, then the others of each shard together.
        assert_eq!(route.rows.len(), 5);
        for row in &first {
            let id = String::from_utf8(row[0].clone().expect("an id")).expect("digits");
            let route = both.proxied.query(format!("EXPLAIN ROUTE SELECT id FROM kinds WHERE id = {id}"));
            let [Answer::Rows(set)] = route.as_slice() else { panic!("{route:?}") };
            place_by_place.push(set.rows[0][2].clone());
        }
        assert!(place_by_place.is_sorted());
        assert_eq!(ids(both), first);
    });
}

#[test]
fn a_wide_row_and_many_rows_pass() {
    on_each_server(TABLES, |both| {
        prepare(both);
        let rows: Vec<String> =
            (10..2010).map(|id| format!("({id}, {}, 1.00, '{}')", id % 17, "x".repeat(20))).collect();
        both.each(&format!("INSERT INTO sparse VALUES {}", rows.join(", ")));
        both.run("SELECT * FROM sparse");
        both.run("SELECT REPEAT(w, 500) FROM sparse ORDER BY n, id");
        both.run("SELECT REPEAT(w, 500) FROM sparse WHERE id < 100 ORDER BY n DESC, id LIMIT 50");
        both.run("SELECT SUM(n), SUM(d), COUNT(w) FROM sparse");
    });
}

#[test]
fn warnings_are_those_of_all_places() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.run("SELECT id, CAST(v AS SIGNED) FROM kinds WHERE v = 'ab'");
        both.run("SELECT id, CAST(v AS SIGNED) FROM kinds WHERE v = 'ab' ORDER BY id");
        both.run("SELECT SQL_NO_CACHE id FROM kinds WHERE i = 1");
        both.run("SELECT SQL_NO_CACHE id FROM kinds WHERE i = 1 AND CAST(v AS SIGNED) = 0");
        both.run("SELECT SQL_NO_CACHE COUNT(*) FROM kinds");
        both.run("SELECT COUNT(*) FROM kinds WHERE b > '3x'");
        both.run("SELECT id FROM kinds WHERE d > '3x' ORDER BY id");
        both.run("SELECT e, COUNT(*) FROM kinds WHERE b < '5 x' GROUP BY e");
        both.run("SELECT id FROM kinds WHERE i = 1");
    });
}
