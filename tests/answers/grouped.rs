//! Queries over many places that make one row of many: aggregates, GROUP BY, DISTINCT; and tables whose
//! rows of one key are in one place, joined and asked for in subqueries.

use super::scatter::{SORTED, TABLES, all, prepare};
use crate::common::{Both, Param, on_each_server};

/// Columns whose values are equal only where they are written alike.
const PLAIN: [&str; 20] =
    ["ti", "tu", "si", "mi", "i", "iz", "b", "bu", "d", "dd", "f", "db", "y", "dt", "dtm", "ts", "tm", "bi", "e", "st"];

/// Numbers of which sums are exact.
const EXACT: [&str; 8] = ["ti", "tu", "si", "mi", "i", "b", "bu", "d"];

fn each(columns: &[&str], forms: &[&str]) -> Vec<String> {
    columns.iter().flat_map(|column| forms.iter().map(move |form| form.replace('@', column))).collect()
}

#[test]
fn groups_of_every_type() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &each(
                &SORTED.map(|column| if column == "bt" { "st" } else { column }),
                &[
                    "SELECT COUNT(*), MIN(id), MAX(id), COUNT(@) FROM kinds GROUP BY @ ORDER BY MIN(id)",
                    "SELECT MIN(id) AS m, SUM(ti) FROM kinds k GROUP BY k.@ ORDER BY m DESC LIMIT 2, 5",
                    "SELECT COUNT(*) AS n, MIN(id) FROM kinds GROUP BY @, e ORDER BY n DESC, MIN(id) LIMIT 7",
                ],
            ),
        );
        all(
            both,
            &each(
                &PLAIN,
                &[
                    "SELECT @, COUNT(*) FROM kinds GROUP BY @",
                    "SELECT @ AS g, COUNT(*) FROM kinds GROUP BY g ORDER BY g DESC LIMIT 3",
                    "SELECT COUNT(*), @ FROM kinds GROUP BY 2 ORDER BY 2",
                ],
            ),
        );
    });
}

#[test]
fn aggregates_of_every_number() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &each(
                &EXACT,
                &[
                    "SELECT COUNT(@), SUM(@), AVG(@), MIN(@), MAX(@) FROM kinds",
                    "SELECT e, SUM(@), AVG(@), MIN(@), MAX(@) FROM kinds GROUP BY e ORDER BY AVG(@) DESC, e",
                    "SELECT AVG(@) FROM kinds WHERE id IN (-500, -469, 31)",
                    "SELECT SUM(@ + 1), SUM(-@), AVG(@ * 2), SUM(CASE WHEN i > 0 THEN @ ELSE 0 END) FROM kinds",
                    "SELECT st, SUM(@) AS s FROM kinds GROUP BY st ORDER BY s, st",
                ],
            ),
        );
        all(
            both,
            &[
                "SELECT SUM(n), AVG(n), SUM(d), AVG(d), COUNT(d) FROM sparse",
                "SELECT AVG(n), COUNT(*), SUM(n) FROM other",
                "SELECT n, COUNT(*) FROM other GROUP BY n",
                "SELECT COUNT(*), 'x', 7 AS seven FROM kinds",
                "SELECT COUNT(*) FROM kinds LIMIT 1",
                "SELECT COUNT(*) FROM kinds LIMIT 1 OFFSET 1",
                "SELECT COUNT(*) FROM kinds LIMIT 0",
                "SELECT COUNT(*) AS n FROM kinds ORDER BY n",
                "SELECT SUM(i > 3), SUM(v IS NULL), AVG(i BETWEEN 1 AND 5), SUM(LENGTH(v)), SUM(YEAR(dt)) FROM kinds",
                "SELECT SUM(i) FROM kinds WHERE dtm < NOW()",
                "SELECT COUNT(v), COUNT(i + ti), COUNT(NULL) FROM kinds",
                "SELECT SUM(1), SUM(1.50), AVG(2.25), MIN(7), MAX(id + 1) FROM kinds",
                "SELECT SUM(IF(i > 0, d, 0)), AVG(IFNULL(i, 0)), SUM(COALESCE(d, i, 1)) FROM kinds",
            ],
        );
    });
}

#[test]
fn averages_are_rounded_as_servers_round() {
    let table = "[schema.mall.table]\nscales = { key = \"id\", tables = 4 }\n";
    on_each_server(table, |both| {
        let columns: Vec<String> = (0..=20).map(|scale| format!("c{scale} DECIMAL(40,{scale})")).collect();
        both.each(&format!("CREATE TABLE scales (id BIGINT NOT NULL PRIMARY KEY, g INT, {})", columns.join(", ")));
        for id in 0..23_i64 {
            let sign = if id % 4 == 0 { "-" } else { "" };
            let values: Vec<String> = (0..=20_i64)
                .map(|scale| {
                    format!("{sign}{}.{:020}", id * 7919 % 1000, i128::from(id * 31 + scale) * 104_729 * 1_299_709)
                })
                .collect();
            both.each(&format!("INSERT IGNORE INTO scales VALUES ({id}, {}, {})", id % 3, values.join(", ")));
        }
        for increment in ["4", "0", "9", "12"] {
            both.each(&format!("SET div_precision_increment = {increment}"));
            let averages: Vec<String> = (0..=20).map(|scale| format!("AVG(c{scale})")).collect();
            both.run(&format!("SELECT {} FROM scales", averages.join(", ")));
            both.run(&format!("SELECT g, {} FROM scales GROUP BY g", averages.join(", ")));
        }
    });
}

#[test]
fn extremes_of_every_type() {
    on_each_server(TABLES, |both| {
        prepare(both);
        let columns = ["y", "dt", "dtm", "ts", "tm", "f", "db", "bi", "vbi"];
        all(
            both,
            &each(
                &columns,
                &[
                    "SELECT MIN(@), MAX(@) FROM kinds",
                    "SELECT i, MAX(@) AS m, MIN(@) FROM kinds GROUP BY i ORDER BY i",
                    "SELECT i, MAX(@) AS m FROM kinds GROUP BY i ORDER BY m DESC, i LIMIT 4",
                ],
            ),
        );
        all(
            both,
            &each(&["v", "vl", "vu", "vn"], &["SELECT MIN(@), MAX(@) FROM kinds WHERE @ IN ('b', 'z', 'ab', 'Zebra')"]),
        );
    });
}

#[test]
fn groups_by_expressions_and_what_orders_them() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT YEAR(dt) AS y, COUNT(*) FROM kinds GROUP BY YEAR(dt)",
                "SELECT YEAR(dt) AS yr, COUNT(*) FROM kinds GROUP BY yr ORDER BY yr DESC",
                "SELECT MONTH(dt), YEAR(dt), SUM(i) FROM kinds GROUP BY 1, 2 ORDER BY 2, 1",
                "SELECT i > 3, COUNT(*) FROM kinds GROUP BY i > 3",
                "SELECT v = 'a' AS is_a, COUNT(*) FROM kinds GROUP BY is_a ORDER BY is_a",
                "SELECT i % 3 AS m, COUNT(*), AVG(d) FROM kinds GROUP BY m ORDER BY COUNT(*) DESC, m",
                "SELECT DATE(dtm) AS day, COUNT(*) FROM kinds GROUP BY day ORDER BY day",
                "SELECT DATE_FORMAT(dtm, '%Y-%m-%d') AS day, COUNT(*) FROM kinds GROUP BY day ORDER BY day DESC",
                "SELECT DATE_FORMAT(dtm, '%H') AS h, COUNT(*) FROM kinds GROUP BY DATE_FORMAT(dtm, '%H')",
                "SELECT CASE WHEN i > 3 THEN 1 WHEN i < 0 THEN 2 END AS c, COUNT(*) FROM kinds GROUP BY c ORDER BY c",
                "SELECT e, COUNT(*) FROM kinds GROUP BY e ORDER BY COUNT(*), e",
                "SELECT e FROM kinds GROUP BY e ORDER BY SUM(d) DESC",
                "SELECT e FROM kinds GROUP BY e ORDER BY AVG(i), e LIMIT 1",
                "SELECT e, COUNT(*), COUNT(*) FROM kinds GROUP BY e ORDER BY e",
                "SELECT COUNT(*) FROM kinds GROUP BY e, st ORDER BY e, st DESC",
                "SELECT e AS x, i AS e, COUNT(*) FROM kinds GROUP BY e, i ORDER BY x, i",
                "SELECT l.title, COUNT(*), SUM(k.d) FROM kinds k JOIN label l ON l.e = k.i GROUP BY l.title ORDER BY l.title",
                "SELECT l.e, COUNT(k.id) FROM kinds k LEFT JOIN label l ON l.e = k.i GROUP BY l.e ORDER BY 1",
                "SELECT mall.kinds.e, MAX(mall.kinds.id) FROM mall.kinds GROUP BY mall.kinds.e",
                "SELECT e, 'x', 1.5 FROM kinds GROUP BY e",
                "SELECT e, (SELECT COUNT(*) FROM label) FROM kinds GROUP BY e",
                "SELECT e, COUNT(*) FROM kinds WHERE dtm < NOW() GROUP BY e",
            ],
        );
        both.run_with(
            "SELECT e, COUNT(*) FROM kinds WHERE i > ? GROUP BY e ORDER BY e LIMIT ?",
            &[Param::Int(-3), Param::Int(2)],
        );
        both.run_with(
            "SELECT COUNT(*), AVG(d) FROM kinds WHERE v = ? AND i IN (?, ?)",
            &[Param::Text("a".into()), Param::Int(1), Param::Int(7)],
        );
    });
}

#[test]
fn groups_that_are_in_one_place_are_its_own_affair() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT id, COUNT(*) FROM kinds GROUP BY id HAVING COUNT(*) > 0 ORDER BY id",
                "SELECT id, COUNT(DISTINCT v), GROUP_CONCAT(v) FROM kinds GROUP BY id",
                "SELECT id, SUM(f) / 3, STD(db) FROM kinds GROUP BY id ORDER BY id LIMIT 5",
                "SELECT COUNT(*) + 1, id % 7 FROM kinds GROUP BY id",
                "SELECT id FROM kinds GROUP BY id ORDER BY SUM(i) DESC, id LIMIT 9",
                "SELECT id AS k, MAX(d) - MIN(d) FROM kinds GROUP BY k ORDER BY 1",
                "SELECT id, v, COUNT(*) FROM kinds GROUP BY id, v HAVING MAX(i) > 2",
                "SELECT DISTINCT id FROM kinds",
                "SELECT DISTINCT id, v FROM kinds ORDER BY v, id",
                "SELECT DISTINCT id, COUNT(*) FROM kinds GROUP BY id",
            ],
        );
    });
}

#[test]
fn distinct_values_of_every_type() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &each(
                &PLAIN,
                &[
                    "SELECT DISTINCT @ FROM kinds",
                    "SELECT DISTINCT @, e FROM kinds ORDER BY @ DESC, e LIMIT 3, 5",
                    "SELECT DISTINCT @, 'x', 1 FROM kinds k ORDER BY 1",
                ],
            ),
        );
        all(
            both,
            &[
                "SELECT DISTINCT n FROM sparse",
                "SELECT DISTINCT * FROM other",
                "SELECT DISTINCT n, d FROM sparse",
                "SELECT DISTINCT k.e, l.* FROM kinds k JOIN label l ON l.e = k.i",
                "SELECT DISTINCT i % 3 AS m FROM kinds ORDER BY m",
                "SELECT DISTINCT YEAR(dt) FROM kinds",
                "SELECT DISTINCTROW e FROM kinds",
                "SELECT DISTINCT 1 FROM kinds",
                "SELECT DISTINCT 'x' FROM kinds WHERE 1 = 0",
            ],
        );
        let count = |both: &mut Both, sql: &str| {
            let (plain, proxied) = both.answers(sql, &[]);
            let rows = |answers: &[crate::common::Answer]| match answers {
                [crate::common::Answer::Rows(set)] => set.rows.len(),
                other => panic!("{sql}: {other:?}"),
            };
            assert_eq!(rows(&plain), rows(&proxied), "{sql}");
        };
        for column in ["v", "vb", "vl", "vu", "vn", "tx"] {
            count(both, &format!("SELECT DISTINCT {column} FROM kinds"));
            count(both, &format!("SELECT {column} FROM kinds GROUP BY {column}"));
            count(both, &format!("SELECT DISTINCT {column}, e FROM kinds"));
        }
    });
}

#[test]
fn orders_by_expressions() {
    on_each_server(TABLES, |both| {
        prepare(both);
        all(
            both,
            &[
                "SELECT id FROM kinds ORDER BY id + 1",
                "SELECT id + 1 AS x FROM kinds ORDER BY x DESC LIMIT 9",
                "SELECT id, i * d AS x FROM kinds ORDER BY x, id",
                "SELECT id FROM kinds ORDER BY i IS NULL, i, id",
                "SELECT id FROM kinds ORDER BY LENGTH(v) DESC, id LIMIT 5, 20",
                "SELECT id, YEAR(dt) FROM kinds ORDER BY YEAR(dt), MONTH(dt) DESC, id",
                "SELECT id FROM kinds ORDER BY FIELD(e, 'a', 'z'), id LIMIT 40",
                "SELECT id FROM kinds ORDER BY DATE(dtm) DESC, id",
                "SELECT id FROM kinds ORDER BY -id",
                "SELECT id, CASE WHEN i > 3 THEN 2 ELSE 1 END AS c FROM kinds ORDER BY c, 1",
                "SELECT id FROM kinds ORDER BY d / 3 DESC, id",
                "SELECT id FROM kinds ORDER BY db * f, id",
                "SELECT id, YEAR(dt), DATE(dtm), LENGTH(v) FROM kinds ORDER BY id",
                "SELECT id FROM kinds ORDER BY id LIMIT 2000",
                "SELECT id FROM kinds ORDER BY v, id LIMIT 1500 OFFSET 10",
            ],
        );
    });
}

#[test]
fn tables_with_the_same_key_are_joined_in_each_place() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.each("INSERT INTO other VALUES (31, 1), (62, 2), (-500, 3), (-469, 3), (1000000, 4)");
        both.each("INSERT INTO sparse VALUES (31, 9, 1.25, 'j'), (62, 8, 2.25, 'k'), (-500, NULL, NULL, 'l')");
        all(
            both,
            &[
                "SELECT k.id, o.n FROM kinds k JOIN other o ON o.id = k.id",
                "SELECT k.id, o.n FROM kinds k, other o WHERE o.id = k.id ORDER BY o.n DESC, k.id",
                "SELECT k.id, o.n FROM kinds k JOIN other o USING (id) ORDER BY k.id",
                "SELECT k.id, o.n FROM kinds k LEFT JOIN other o ON o.id = k.id WHERE k.id > 0",
                "SELECT o.id, k.v FROM other o LEFT JOIN kinds k ON k.id = o.id AND k.i > 0 ORDER BY o.id",
                "SELECT o.id, k.id FROM kinds k RIGHT JOIN other o ON k.id = o.id ORDER BY o.id",
                "SELECT COUNT(*), SUM(o.n), AVG(s.d) FROM kinds k JOIN other o ON o.id = k.id JOIN sparse s ON s.id = o.id",
                "SELECT o.n, COUNT(k.id) FROM other o LEFT JOIN kinds k ON k.id = o.id GROUP BY o.n ORDER BY o.n",
                "SELECT k.id, l.title, o.n FROM kinds k JOIN other o ON o.id = k.id LEFT JOIN label l ON l.e = o.n",
                "SELECT a.id FROM other a JOIN other b ON a.id = b.id ORDER BY a.id",
                "SELECT id FROM kinds k WHERE EXISTS (SELECT 1 FROM other o WHERE o.id = k.id)",
                "SELECT id FROM kinds k WHERE NOT EXISTS (SELECT 1 FROM other o WHERE o.id = k.id) ORDER BY id",
                "SELECT id, (SELECT o.n FROM other o WHERE o.id = k.id) AS n FROM kinds k ORDER BY id",
                "SELECT id FROM kinds k WHERE i < (SELECT MAX(o.n) FROM other o WHERE o.id = k.id) ORDER BY id",
                "SELECT COUNT(*), SUM(d) FROM kinds WHERE i IN (SELECT e FROM label)",
                "SELECT COUNT(*) FROM kinds WHERE i = (SELECT MAX(e) FROM label)",
                "SELECT k.id, COUNT(*) FROM kinds k JOIN other o ON o.id = k.id GROUP BY o.id HAVING COUNT(*) = 1",
                "SELECT k.id, o.n FROM kinds k JOIN other o ON o.id = k.id WHERE k.id IN (31, 62) ORDER BY k.id",
                "SELECT DISTINCT o.n FROM kinds k JOIN other o ON o.id = k.id",
            ],
        );
        // Not by their keys: gathered.
        all(
            both,
            &[
                "SELECT k.id FROM kinds k JOIN other o ON o.n = k.i",
                "SELECT k.id FROM kinds k JOIN other o ON o.id = k.i",
                "SELECT id FROM kinds k WHERE EXISTS (SELECT 1 FROM other o WHERE o.n = k.id)",
                "SELECT k.id FROM kinds k LEFT JOIN other o ON o.id = k.id AND o.n = 1 JOIN sparse s ON s.id = o.n",
            ],
        );
    });
}

#[test]
fn locking_reads_of_all_places_lock_what_they_return() {
    on_each_server(TABLES, |both| {
        prepare(both);
        both.run("BEGIN");
        both.run("SELECT id FROM kinds WHERE i = 1 ORDER BY id FOR UPDATE");
        both.run("UPDATE kinds SET si = 1 WHERE i = 1");
        both.run("COMMIT");
        both.run("SELECT id, si FROM kinds WHERE i = 1 ORDER BY id");
        both.refused("SELECT id FROM kinds WHERE i = 1 LIMIT 1 FOR UPDATE", "a locking read");
    });
}

#[test]
fn each_place_gets_its_own_of_a_list_of_keys() {
    on_each_server(TABLES, |both| {
        prepare(both);
        let keys: Vec<String> = (0..40).map(|n| (n * 31 - 500).to_string()).collect();
        let keys = keys.join(", ");
        all(
            both,
            &[
                format!("SELECT id, v FROM kinds WHERE id IN ({keys}) ORDER BY id"),
                format!("SELECT COUNT(*), SUM(i) FROM kinds WHERE i > 0 AND id IN ({keys}, 12345)"),
                format!("SELECT e, COUNT(*) FROM kinds WHERE id IN ({keys}) GROUP BY e"),
                format!("SELECT k.id FROM kinds k LEFT JOIN other o ON o.id = k.id WHERE k.id IN ({keys})"),
                format!("SELECT id FROM kinds WHERE id IN ({keys}, NULL) LIMIT 100"),
                format!("SELECT id FROM kinds WHERE id IN ('31', 62, 93.0, -500) AND id IN ({keys}) ORDER BY id"),
            ],
        );
        let route = both.proxied.query(format!("EXPLAIN ROUTE SELECT id FROM kinds WHERE id IN ({keys})"));
        let [crate::common::Answer::Rows(route)] = route.as_slice() else { panic!("{route:?}") };
        let texts: Vec<String> = route
            .rows
            .iter()
            .map(|row| String::from_utf8_lossy(row[3].as_ref().expect("a text")).into_owned())
            .collect();
        let all_texts = texts.join(" ");
        assert!(texts.len() < 10 && all_texts.matches("-500").count() == 1, "{texts:?}");
        let numbers = [31, -500, 62, -469, 1, 93, 124].map(Param::Int);
        both.run_with("SELECT id, v FROM kinds WHERE id IN (?, ?, ?, ?) AND i > ? AND id < ? + ?", &numbers);
        both.run_with(
            "SELECT SUM(i) FROM kinds WHERE i > ? AND id IN (?, ?, ?, ?) AND id < ? + ?",
            &[
                Param::Int(-3),
                Param::Int(31),
                Param::Int(-500),
                Param::Int(62),
                Param::Null,
                Param::Int(93),
                Param::Int(124),
            ],
        );
    });
}
