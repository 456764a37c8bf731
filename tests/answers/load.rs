//! LOAD DATA LOCAL: the same rows, numbers and warnings as one server, wherever the lines go.

use bifold::lab::Flavour;

use crate::common::{Answer, Both, Caps, Login, Mask, Protocol, on_each_server_by};

const SHARDED: &str = "
[schema.mall.table.t]
key = \"uid\"
tables = 8
[schema.mall.table.s]
key = \"name\"
tables = 4
[schema.mall.table.c]
key = \"uid\"
tables = 4
id = \"id\"
[schema.mall.table.p]
key = \"uid\"
tables = 4
id = { column = \"id\", carries_key = true }
[schema.mall.table.r]
kind = \"reference\"
";

fn loading(test: impl Fn(&mut Both)) {
    on_each_server_by(&[Protocol::Text], SHARDED, |both| {
        let login = Login { add: Caps::LOCAL_FILES, ..both.login.clone() };
        test(&mut Both::new(both.ports, login, both.flavour, Protocol::Text));
    });
}

/// The same table unsharded, sharded and as a reference table.
const KINDS: [&str; 3] = ["u", "t", "r"];

const COLUMNS: &str = "(uid INT NOT NULL, n SMALLINT, v VARCHAR(10), d DATETIME DEFAULT CURRENT_TIMESTAMP, \
     e ENUM('a','b'), PRIMARY KEY (uid))";

fn made(both: &mut Both, table: &str) {
    both.each(&format!("CREATE TABLE {table} {COLUMNS}"));
}

fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("{n}\t{}\tv{n}\t2026-01-02 03:04:05\ta\n", n % 300)).collect()
}

#[test]
fn lines_of_a_file_are_rows() {
    loading(|both| {
        for table in KINDS {
            made(both, table);
            both.load(&format!("LOAD DATA LOCAL INFILE 'x.csv' INTO TABLE {table}"), lines(2000).as_bytes());
            both.run(&format!("SELECT * FROM {table} ORDER BY uid"));
            both.run("SELECT ROW_COUNT(), LAST_INSERT_ID()");
            both.load(&format!("LOAD DATA LOCAL INFILE 'x.csv' INTO TABLE {table}"), b"");
            both.load(&format!("LOAD DATA LOCAL INFILE 'x.csv' INTO TABLE mall.{table}"), b"5000\t1\tlast");
            both.load(
                &format!("LOAD DATA LOCAL INFILE 'x.csv' IGNORE INTO TABLE {table} (uid, v)"),
                b"5000\tagain\n5001\tnew\n",
            );
            both.load(
                &format!("LOAD DATA LOCAL INFILE 'x.csv' REPLACE INTO TABLE {table} (uid, v)"),
                b"5000\treplaced\n5002\tnew\n",
            );
            both.run(&format!("SELECT uid, n, v, e FROM {table} WHERE uid >= 5000 ORDER BY uid"));
        }
    });
}

#[test]
fn fields_and_lines_end_as_the_statement_says() {
    loading(|both| {
        for table in KINDS {
            made(both, table);
            let into = format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {table}");
            both.load(
                &format!(
                    "{into} FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n' \
                     IGNORE 2 LINES (uid, v, n)"
                ),
                b"a,\"b\r\nc\",d\r\n1,\"x,\"\"y\",7\r\n\"2\",\\N,NULL\r\n3,\"a\r\nb\",\"NULL\"\r\n4,'q',5,more,still\r\n5,six",
            );
            both.load(
                &format!(
                    "{into} FIELDS TERMINATED BY '||' ESCAPED BY '' LINES STARTING BY '>' TERMINATED BY ';' (uid,v)"
                ),
                b"junk>11||a\\nb;no>12||c|d||e;13||none",
            );
            both.load(
                &format!("{into} FIELDS TERMINATED BY ',' ENCLOSED BY '\"' ESCAPED BY '\"' (uid, v)"),
                b"21,\"a\"\"b\"\n22,\"c\n23,d\"\n24,e\"f\n",
            );
            both.load(&format!("{into} CHARACTER SET latin1 (uid, v)"), b"31\tcaf\xe9\n");
            both.load(&format!("{into} FIELDS TERMINATED BY 0x2C (v, uid)"), b"a,41\nb\\,c,42\n");
            both.run(&format!("SELECT uid, n, HEX(v) FROM {table} ORDER BY uid"));
            both.run(&format!("{into} FIELDS ENCLOSED BY 'ab'"));
        }
    });
}

#[test]
fn what_does_not_fit_is_warned_of_by_line() {
    loading(|both| {
        for table in KINDS {
            made(both, table);
            let into = format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {table}");
            let file =
                "1\tx\tlong enough to be cut\t2026-01-02\tc\n2\n3\t70000\tok\tno date\ta\tmore\n4\t\\N\t\\N\t\\N\tb\n";
            both.load(&into, file.as_bytes());
            let many: String = (10..400).map(|n| format!("{n}\tbad{n}\tv\t2026-01-02\ta\n")).collect();
            both.load(&into, many.as_bytes());
            // MySQL lets no ordinary user set it.
            if both.flavour == Flavour::MariaDb {
                both.each("SET max_error_count = 7");
                let many: String = (500..600).map(|n| format!("{n}\tbad{n}\tv\t2026-01-02\ta\n")).collect();
                both.load(&into, many.as_bytes());
                both.each("SET max_error_count = DEFAULT");
            }
            both.each("SET sql_mode = ''");
            both.load(&into, b"700\t99999\tlong enough to be cut\n");
            both.each("SET sql_mode = DEFAULT");
            both.run(&format!("SELECT uid, n, v, e FROM {table} ORDER BY uid"));
        }
    });
}

#[test]
fn replace_is_strict() {
    loading(|both| {
        for table in KINDS {
            made(both, table);
            let into = format!("LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE {table} (uid, n)");
            both.load(&into, b"1\t1\n2\t2\n");
            both.load(&into, b"3\t3\n4\tfour\n5\tfive\n");
            both.run(&format!("SELECT uid, n FROM {table} ORDER BY uid"));
        }
    });
}

#[test]
fn variables_and_set_compute_of_the_line() {
    loading(|both| {
        for table in KINDS {
            made(both, table);
            let into = format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {table}");
            both.each("SET @kept = 'kept', @b = 'before'");
            both.load(
                &format!("{into} (uid, @a, @b) SET n = @a * 2, v = CONCAT({table}.uid, '-', @b)"),
                b"1\t10\tx\n2\t20\ty\n3\t30\tz\n",
            );
            both.run("SELECT @a, @b, @kept");
            both.load(&format!("{into} (uid, @unused) SET d = NOW()"), b"11\tq\n12\tr\n");
            let spread = format!("SELECT MIN(d), MAX(d) FROM {table} WHERE uid > 10");
            let dates = both.proxied.query(spread)[0].text();
            assert_eq!(dates[0][0], dates[0][1], "one instant");
            both.run(&format!("SELECT uid, n, v FROM {table} ORDER BY uid"));
            both.run("SELECT @a, @unused, @b");
        }
        for set in ["n = @n := 5", "n = (SELECT MAX(n) FROM r)", "n = @other"] {
            both.refused(&format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (uid) SET {set}"), "");
        }
        both.refused("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (@k) SET uid = @k", "");
        both.refused("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (n)", "sharding key");
    });
}

#[test]
fn keys_of_strings_and_dates_are_found_again() {
    loading(|both| {
        both.each("CREATE TABLE s (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, n INT)");
        both.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE s", "anna\t1\nANNA\t2\nmüller\t3\n\t4\n東京\t5\n".as_bytes());
        for name in ["anna", "Müller", "", "東京"] {
            both.run(&format!("SELECT n FROM s WHERE name = '{name}'"));
        }
        for (file, words) in [("\\N\t1\n", "NULL"), ("123456789012345678901\t1\n", "not exactly")] {
            let answer = both.proxied.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE s", &[b"ok\t9\n", file.as_bytes()]);
            let Answer::Err(error) = answer else { panic!("{answer:?}") };
            assert!(error.code == 1235 && error.text.contains(words) && error.text.contains("line 2"), "{error:?}");
        }
        both.run("SELECT COUNT(*) FROM s");
    });
}

#[test]
fn ids_are_made_for_lines_without_one() {
    loading(|both| {
        for table in ["c", "p"] {
            both.each(&format!(
                "CREATE TABLE {table} (id BIGINT NOT NULL AUTO_INCREMENT, uid INT NOT NULL, v VARCHAR(10), PRIMARY KEY (id), KEY (uid))"
            ));
            let into = format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {table}");
            for (columns, file) in [
                ("(uid, v)", "1\ta\n2\tb\n3\tc\n"),
                ("(v, uid)", "d\t4\ne\t5\n"),
                ("(id, uid, v)", "\\N\t6\tf\n0\t7\tg\n"),
                ("", "\\N\t8\th\n"),
            ] {
                both.load(&format!("{into} {columns}"), file.as_bytes());
                both.run_masked("SELECT LAST_INSERT_ID() > 0", &[], &Mask::default());
            }
            both.run(&format!("SELECT uid, v, id > 0 FROM {table} ORDER BY uid"));
            both.run(&format!("SELECT COUNT(DISTINCT id) FROM {table} WHERE uid = 1"));
            both.load(
                &format!("{into} FIELDS TERMINATED BY ',' ENCLOSED BY '\"' (id, uid)"),
                b"\"0\",\"20\"\nNULL,21\n",
            );
            both.run(&format!("SELECT uid FROM {table} WHERE uid >= 20 ORDER BY uid"));
            let first = both.proxied.query("SELECT LAST_INSERT_ID()")[0].text()[0][0].clone().expect("an id");
            let found = both.proxied.query(format!("SELECT uid FROM {table} WHERE id = {first}"));
            assert_eq!(found[0].text(), [[Some("20".to_owned())]], "{table}");
        }
        both.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE c (id, uid)", b"77\t30\n78\t31\n");
        let answer = both.proxied.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE p (id, uid)", &[b"77\t30\n"]);
        assert!(matches!(&answer, Answer::Err(error) if error.text.contains("does not carry")), "{answer:?}");
        // AUTO_INCREMENT is Bifold's own affair, which the column's flags show.
        both.run_masked("SELECT id FROM c WHERE uid >= 30 ORDER BY id", &[], &Mask::default().and_metadata());
    });
}

#[test]
fn an_unsharded_table_counts_its_own_ids() {
    loading(|both| {
        both.each("CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10))");
        both.run("SELECT LAST_INSERT_ID()");
        both.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE u (v)", b"a\nb\nc\n");
        both.run("SELECT LAST_INSERT_ID(), ROW_COUNT()");
        both.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE u", b"77\td\n");
        both.run("SELECT LAST_INSERT_ID()");
        both.run("SELECT * FROM u ORDER BY id");
    });
}

#[test]
fn a_transaction_holds_a_load_and_its_undoing() {
    loading(|both| {
        for table in KINDS {
            made(both, table);
            let into = format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {table} (uid, n)");
            both.run("BEGIN");
            both.load(&into, b"1\t1\n2\t2\n3\t3\n4\t4\n");
            both.run(&format!("SELECT uid FROM {table} ORDER BY uid"));
            both.run("ROLLBACK");
            both.run(&format!("SELECT uid FROM {table} ORDER BY uid"));
            both.run("BEGIN");
            both.run(&format!("INSERT INTO {table} (uid) VALUES (9)"));
            let strict = format!("LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE {table} (uid, n)");
            both.load(&strict, b"1\t1\n2\t2\n3\tthree\n");
            both.load(&into, b"5\t5\n6\t6\n7\t7\n");
            both.run("COMMIT");
            both.run(&format!("SELECT uid FROM {table} ORDER BY uid"));
            both.each("SET autocommit = 0");
            both.load(&into, b"15\t5\n16\t6\n17\t7\n");
            both.run("ROLLBACK");
            both.each("SET autocommit = 1");
            both.run(&format!("SELECT uid FROM {table} ORDER BY uid"));
        }
    });
}

#[test]
fn errors_are_told_before_or_behind_the_file() {
    loading(|both| {
        for table in KINDS {
            made(both, table);
            both.load(&format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {table} (uid, nothing)"), b"1\t2\n");
            both.load(&format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {table} (uid) SET nothing = 1"), b"1\n");
            both.run("SELECT 1");
        }
        both.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE absent", b"1\t2\n");
        both.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE mall.t CHARACTER SET nonsense", b"1\t2\n");
        both.run("LOAD DATA INFILE 'x' INTO TABLE u");
        for file in ["x\t1\n", "\n", "1.5\t1\n", "99999999999\t1\n"] {
            let answer =
                both.proxied.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", &[b"1\t1\n", file.as_bytes(), b"2\t2\n"]);
            assert!(
                matches!(&answer, Answer::Err(error) if error.code == 1235 && error.text.contains("line 2")),
                "{answer:?}"
            );
        }
        both.run("SELECT COUNT(*) FROM t");
        both.refused("LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET sjis", "can't be parted");
        both.refused("LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ''", "delimiters");
        both.refused("LOAD XML LOCAL INFILE 'x' INTO TABLE t", "LOAD XML");
        let mut plain = both.another();
        plain.run("SELECT 1");
        let login = Login { add: 0, ..both.login.clone() };
        let mut without = Both::new(both.ports, login, both.flavour, Protocol::Text);
        without.run("LOAD DATA LOCAL INFILE 'x' INTO TABLE u");
        without.run("SELECT 1");
    });
}

#[test]
fn a_file_in_long_packets_passes() {
    loading(|both| {
        both.each("CREATE TABLE u (uid INT PRIMARY KEY, v LONGTEXT)");
        both.each("CREATE TABLE t (uid INT PRIMARY KEY, v LONGTEXT)");
        let long = "x".repeat(0x100_0010);
        let file = format!("1\t{long}\n2\tshort\n");
        for table in ["u", "t"] {
            let sql = format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {table}");
            for client in [&mut both.plain, &mut both.proxied] {
                let answer = client.load(&sql, &[file.as_bytes()]);
                assert!(matches!(&answer, Answer::Ok(ok) if ok.affected == 2), "{answer:?}");
            }
            both.run(&format!("SELECT uid, LENGTH(v), CRC32(v) FROM {table} ORDER BY uid"));
        }
    });
}

/// More lines than are held at a time go out in stretches, all of one statement.
#[test]
fn a_long_file_goes_out_in_stretches() {
    loading(|both| {
        both.each("CREATE TABLE t (uid INT NOT NULL, v VARCHAR(2000), KEY (uid))");
        let filler = "y".repeat(1000);
        let file: String = (0..34_000).map(|n| format!("{n}\t{filler}{n}\n")).collect();
        let packets: Vec<&[u8]> = file.as_bytes().chunks(60_000).collect();
        let answer = both.proxied.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", &packets);
        let info = "Records: 34000  Deleted: 0  Skipped: 0  Warnings: 0";
        assert!(matches!(&answer, Answer::Ok(ok) if ok.affected == 34_000 && ok.info.ends_with(info)), "{answer:?}");
        let sums = both.proxied.query("SELECT COUNT(*), SUM(uid) FROM t")[0].text();
        assert_eq!(sums, [[Some("34000".to_owned()), Some("577983000".to_owned())]]);
        let last = both.proxied.query("SELECT v FROM t WHERE uid = 33999")[0].text();
        assert_eq!(last, [[Some(format!("{filler}33999"))]]);
        // What fails behind the first stretch takes all of it back.
        let wrong = [file.as_bytes(), b"wrong\tx\n"].concat();
        let packets: Vec<&[u8]> = wrong.chunks(60_000).collect();
        let answer = both.proxied.load("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", &packets);
        assert!(matches!(&answer, Answer::Err(error) if error.text.contains("line 34001")), "{answer:?}");
        assert_eq!(both.proxied.query("SELECT COUNT(*) FROM t")[0].text(), [[Some("34000".to_owned())]]);
    });
}
