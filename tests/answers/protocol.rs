//! What the protocol allows and few clients use: huge packets, long data, old reply shapes, counts of
//! found rows, statements prepared once and run often.

use crate::common::{
    Answer, Both, Caps, Client, Login, Param, Protocol, differences, on_each_server, on_each_server_by,
};

const T: &str = "[schema.mall.table.t]\nkey = \"uid\"\ntables = 4\n";
const CREATE: &str = "CREATE TABLE t (uid BIGINT NOT NULL PRIMARY KEY, s VARCHAR(40), b LONGBLOB, d DECIMAL(12,3), \
    f FLOAT, g DOUBLE, at DATETIME(6), day DATE, clock TIME(6))";

#[test]
fn point_selects_and_inserts_answer_as_on_one_server() {
    on_each_server(T, |both| {
        both.run(CREATE);
        for uid in 1..=20 {
            both.run(&format!("INSERT INTO t (uid, s) VALUES ({uid}, 'row {uid}')"));
        }
        for uid in 1..=22 {
            both.run(&format!("SELECT * FROM t WHERE uid = {uid}"));
            both.run_with("SELECT uid, s FROM t WHERE uid = ?", &[Param::Int(uid)]);
        }
        both.run("INSERT INTO t (uid, s) VALUES (7, 'again')");
        both.run("INSERT INTO t (uid, s) VALUES (101, 'a'), (102, 'b'), (103, 'c'), (104, 'd')");
        both.run("UPDATE t SET s = 'changed' WHERE uid = 102");
        both.run("SELECT s FROM t WHERE uid = 102");
        both.run("DELETE FROM t WHERE uid = 103");
        both.run("SELECT s FROM t WHERE uid = 103");
        both.run("SELECT no_such_column FROM t WHERE uid = 1");
        both.run("SELECT * FROM no_such_table");
    });
}

#[test]
fn every_type_of_parameter_arrives() {
    on_each_server_by(&[Protocol::Prepared], T, |both| {
        both.run(CREATE);
        let insert = "INSERT INTO t (uid, s, b, d, f, g, at, day, clock) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let rest = [
            Param::Text("it's é 🙂".into()),
            Param::Bytes(vec![0, 1, 0x27, 0x5C, 0xFF]),
            Param::Decimal("-123456.789".into()),
            Param::Float(0.1),
            Param::Double(1e-300),
            Param::DateTime(2026, 2, 3, 4, 5, 6, 789),
            Param::Date(2026, 2, 28),
            Param::Time(true, 1, 2, 3, 4, 5),
        ];
        let keys = [Param::Tiny(-5), Param::Short(300), Param::Long(70_000), Param::Int(-9), Param::UInt(1 << 40)];
        for key in keys.iter().cloned() {
            let params: Vec<Param> = std::iter::once(key.clone()).chain(rest.iter().cloned()).collect();
            both.run_with(insert, &params);
            both.run_with("SELECT * FROM t WHERE uid = ?", &[key]);
        }
        let nulls: Vec<Param> = std::iter::once(Param::Int(77)).chain((0..8).map(|_| Param::Null)).collect();
        both.run_with(insert, &nulls);
        both.run_with("SELECT * FROM t WHERE uid = ?", &[Param::Text("77".into())]);
        both.run_with("UPDATE t SET b = ? WHERE uid = ?", &[Param::LongData(vec![b'x'; 100_000]), Param::Int(77)]);
        both.run_with("SELECT b FROM t WHERE uid = ?", &[Param::Int(77)]);
    });
}

#[test]
fn a_statement_prepared_once_runs_at_every_place() {
    on_each_server_by(&[Protocol::Prepared], T, |both| {
        both.each(CREATE);
        let prepare =
            |client: &mut Client, sql: &str| client.prepare(sql).unwrap_or_else(|answer| panic!("{answer:?}"));
        let insert = "INSERT INTO t (uid, s) VALUES (?, ?)";
        let select = "SELECT uid, s FROM t WHERE uid = ?";
        let plain = [prepare(&mut both.plain, insert), prepare(&mut both.plain, select)];
        let proxied = [prepare(&mut both.proxied, insert), prepare(&mut both.proxied, select)];
        for (a, b) in plain.iter().zip(&proxied) {
            assert_eq!((&a.columns, &a.params, a.warnings), (&b.columns, &b.params, b.warnings));
        }
        for uid in 0..50 {
            for (which, params) in
                [(0, vec![Param::Int(uid), Param::Text(format!("s{uid}"))]), (1, vec![Param::Int(uid)])]
            {
                let a = both.plain.execute(&plain[which], &params);
                let b = both.proxied.execute(&proxied[which], &params);
                assert_eq!(differences("", &a, &b, &Default::default()), Vec::<String>::new(), "{uid}");
            }
        }
        // Closed, it is no more.
        let [_, select] = proxied;
        let id = select.id;
        both.proxied.close(select);
        let again = both.proxied.simple(0x17, &[&id.to_le_bytes()[..], &[0, 1, 0, 0, 0]].concat());
        assert_eq!(again.err().code, 1243);
    });
}

#[test]
fn packets_above_16_mib_pass_both_ways() {
    on_each_server_by(&[Protocol::Text], T, |both| {
        both.each(CREATE);
        for (uid, length) in [(1, 0xFF_FFFF - 60), (2, 0xFF_FFFF), (3, 20 << 20)] {
            let blob = "x".repeat(length);
            let answers = both.proxied.query(format!("INSERT INTO t (uid, b) VALUES ({uid}, '{blob}')"));
            assert_eq!(answers[0].ok().affected, 1);
            let rows = both.proxied.query(format!("SELECT b FROM t WHERE uid = {uid}"));
            match &rows[0] {
                Answer::Rows(set) => assert!(set.rows[0][0].as_deref() == Some(blob.as_bytes()), "{length} bytes"),
                other => panic!("{length}: {other:?}"),
            }
        }
    });
}

#[test]
fn capabilities_shape_the_replies_as_the_client_asked() {
    on_each_server(T, |both| {
        both.each(CREATE);
        both.each("INSERT INTO t (uid, s) VALUES (1, 'a')");
        let shapes = [(0, Caps::DEPRECATE_EOF), (Caps::FOUND_ROWS, 0), (Caps::FOUND_ROWS, Caps::DEPRECATE_EOF)];
        for (add, remove) in shapes {
            let login = Login { add, remove, ..both.login.clone() };
            let mut shaped = Both::new(both.ports, login, both.flavour, both.protocol);
            shaped.run("UPDATE t SET s = 'a' WHERE uid = 1");
            shaped.run("SELECT uid, s FROM t WHERE uid = 1");
            shaped.run("SELECT uid, s FROM t WHERE uid = 2");
            shaped.run("SELECT nothing FROM t WHERE uid = 1");
        }
    });
}

#[test]
fn a_large_result_arrives_whole() {
    on_each_server(T, |both| {
        both.each("CREATE TABLE u (id INT PRIMARY KEY, c CHAR(120) NOT NULL)");
        for first in (0..10_000).step_by(2_000) {
            let rows: Vec<String> = (first..first + 2_000).map(|id| format!("({id},'{id:0>119}')")).collect();
            both.each(&format!("INSERT INTO u VALUES {}", rows.join(",")));
        }
        both.run("SELECT * FROM u ORDER BY id");
    });
}

#[test]
fn several_statements_in_one_text_answer_one_after_the_other() {
    on_each_server_by(&[Protocol::Text], T, |both| {
        both.each(CREATE);
        both.run("SELECT 1; SELECT 2");
        for remove in [0, Caps::DEPRECATE_EOF] {
            let login = Login { add: Caps::MULTI_STATEMENTS, remove, ..both.login.clone() };
            let mut several = Both::new(both.ports, login, both.flavour, both.protocol);
            for text in [
                "SELECT 1; SELECT 2",
                "SELECT 1;",
                "SELECT 1; ;",
                "SELECT 1;;SELECT 2",
                "; SELECT 1",
                ";",
                "",
                "SELECT 1; SELEC 2; SELECT 3",
                "SELECT 1; SELECT 2 FROM; SELECT 3",
                "SET @a = 1; SELECT @a; SELECT nosuch; SELECT 3",
                "DELETE FROM t WHERE uid < 100; INSERT INTO t (uid, s) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd;e'); SELECT s FROM t WHERE uid = 4",
                "BEGIN; UPDATE t SET s = 'x' WHERE uid = 1; SELECT s FROM t WHERE uid = 1; ROLLBACK; SELECT s FROM t WHERE uid = 1",
                "SELECT COUNT(*) FROM t; SELECT uid, s FROM t ORDER BY uid; SELECT 7",
                "SELECT 'a;b'; SELECT /* ; */ 2 -- ;\n; SELECT 3",
                "SET sql_mode = 'ANSI_QUOTES'; SELECT \"uid\" FROM t WHERE uid = 1; SET sql_mode = DEFAULT; SELECT \"uid\"",
                "USE mall; SELECT DATABASE(); SHOW TABLES",
                "INSERT INTO t (uid) VALUES (1); SELECT 1",
                "SELECT 1; INSERT INTO t (uid) VALUES (1); SELECT 1",
                "SELECT 1; SELECT CAST('x' AS SIGNED); SHOW WARNINGS; SELECT 2",
            ] {
                several.run(text);
            }
            // Switched off and on again.
            for option in [[1u8, 0], [0, 0]] {
                let ends = [&mut several.plain, &mut several.proxied].map(|side| side.simple(0x1B, &option));
                let status = |answer: &Answer| (answer.status(), matches!(answer, Answer::Ok(_)));
                assert_eq!(status(&ends[0]), status(&ends[1]));
                several.run("SELECT 1; SELECT 2");
            }
            several.run("SELECT 5; SELECT 6");
        }
    });
}

#[test]
fn a_cursor_gives_its_rows_as_they_are_fetched() {
    on_each_server_by(&[Protocol::Prepared], T, |both| {
        both.each(CREATE);
        both.each("CREATE TABLE u (id INT PRIMARY KEY, c LONGTEXT)");
        for uid in 1..=7 {
            both.each(&format!("INSERT INTO t (uid, s) VALUES ({uid}, 'row {uid}')"));
            both.each(&format!("INSERT INTO u VALUES ({uid}, REPEAT('x', {uid}))"));
        }
        for remove in [0, Caps::DEPRECATE_EOF] {
            let login = Login { remove, ..both.login.clone() };
            for (text, params) in [
                ("SELECT * FROM u ORDER BY id", vec![]),
                ("SELECT s FROM t WHERE uid = ?", vec![Param::Int(3)]),
                ("SELECT uid, s FROM t ORDER BY uid", vec![]),
                ("SELECT uid FROM t WHERE uid = 99", vec![]),
                ("SELECT COUNT(*) FROM t", vec![]),
                ("UPDATE t SET s = 'z' WHERE uid = ?", vec![Param::Int(2)]),
            ] {
                let mut pair = Both::new(both.ports, login.clone(), both.flavour, both.protocol);
                let replies = [&mut pair.plain, &mut pair.proxied].map(|side| {
                    let statement = side.prepare(text).unwrap_or_else(|answer| panic!("{answer:?}"));
                    let mut all = vec![side.open_cursor(&statement, &params)];
                    all.extend([3, 4, 1, 1].map(|count| side.fetch(&statement, count)));
                    // A new execution begins again; a reset ends it.
                    all.push(side.open_cursor(&statement, &params));
                    all.push(side.fetch(&statement, 2));
                    let reset = format!("{:?}", side.simple(0x1A, &statement.id.to_le_bytes()));
                    all.push(vec![reset.into_bytes()]);
                    all.push(side.fetch(&statement, 2));
                    // An error names the statement by each side's own number.
                    let number = format!("({})", statement.id);
                    let read = |packet: Vec<u8>| String::from_utf8_lossy(&packet).replace(&number, "(n)");
                    let all = all.into_iter().map(|packets| packets.into_iter().map(read).collect());
                    all.collect::<Vec<Vec<String>>>()
                });
                for (at, (plain, proxied)) in replies[0].iter().zip(&replies[1]).enumerate() {
                    let (mut plain, mut proxied) = (plain.clone(), proxied.clone());
                    if at % 5 == 0 && plain.len() > 2 {
                        // Servers describe the columns of a temporary table here, without its keys.
                        plain.drain(1..plain.len() - 1);
                        proxied.drain(1..proxied.len() - 1);
                    }
                    assert_eq!(plain, proxied, "{} {text}: reply {at}", both.flavour);
                }
            }
            // What is too much to hold comes at once, and says so.
            let mut client = Client::login(both.ports.1, &login).expect("a connection").expect("let in");
            client.query("UPDATE u SET c = REPEAT('y', 4000000)");
            let statement = client.prepare("SELECT * FROM u ORDER BY id").unwrap_or_else(|answer| panic!("{answer:?}"));
            let mut body = statement.execute_body(&[]);
            body[4] = 1;
            client.command(0x17, &body);
            match &client.answers(true)[..] {
                [Answer::Rows(set)] => assert_eq!((set.rows.len(), set.status & 0x40), (7, 0)),
                other => panic!("{other:?}"),
            }
            both.each("UPDATE u SET c = REPEAT('x', id)");
        }
    });
}

#[test]
fn texts_are_prepared_and_executed_by_name() {
    on_each_server_by(&[Protocol::Text], T, |both| {
        both.each(CREATE);
        both.each("CREATE TABLE u (id INT PRIMARY KEY, name VARCHAR(20))");
        for sql in [
            "PREPARE s FROM 'INSERT INTO t (uid, s) VALUES (?, ?)'",
            "SET @id = 5, @s = 'it''s \\\\ é', @n = NULL",
            "EXECUTE s USING @id, @s",
            "SET @id = 6",
            "EXECUTE S USING @id, @n",
            "EXECUTE s",
            "EXECUTE s USING @id, @s, @s",
            "SELECT uid, s FROM t WHERE uid IN (5, 6) ORDER BY uid",
            "PREPARE s FROM 'SELECT s FROM t WHERE uid = ? LIMIT ?'",
            "SET @id = 5, @one = 1",
            "EXECUTE s USING @id, @one",
            "EXECUTE s USING @id, @one",
            "DEALLOCATE PREPARE s",
            "DEALLOCATE PREPARE s",
            "EXECUTE s USING @id, @one",
            "SET @sql = 'UPDATE t SET s = ''changed'' WHERE uid = 6'",
            "PREPARE `a b` FROM @sql",
            "EXECUTE `a b`",
            "SELECT ROW_COUNT()",
            "SELECT s FROM t WHERE uid = 6",
            "SET @sql = CONCAT('CREATE TABLE v (id INT PRIMARY KEY, ', 'n INT)')",
            "PREPARE s FROM @sql",
            "EXECUTE s /* its note says where the table is */",
            "INSERT INTO v VALUES (1, 2)",
            "DROP PREPARE s",
            "PREPARE s FROM 'SELECT 1; SELECT 2'",
            "PREPARE s FROM 'SELEC'",
            "EXECUTE s",
            "PREPARE s FROM @nosuch",
            "PREPARE s FROM ''",
            "PREPARE s FROM 'SELECT nosuch FROM t WHERE uid = 1'",
            "PREPARE s FROM 'SELECT * FROM nosuch'",
            "PREPARE s FROM 'EXECUTE t'",
            "PREPARE s FROM 'PREPARE t FROM \"SELECT 1\"'",
            "PREPARE s FROM 'DEALLOCATE PREPARE t'",
            "PREPARE s FROM 'DO SLEEP(0)'",
            "EXECUTE s",
            "PREPARE s FROM 'SELECT COUNT(*) FROM t WHERE uid > ?'",
            "SET @id = 0",
            "EXECUTE s USING @id",
            "PREPARE s FROM 'DELETE FROM t WHERE uid = ?'",
            "SET @id = -3",
            "EXECUTE s USING @id",
            "PREPARE s FROM 'SELECT id - ? FROM u'",
        ] {
            match sql.contains("/*") {
                true => both.each(sql),
                false => drop(both.run(sql)),
            }
        }
        both.each("SET @id = 1");
        both.refused("EXECUTE s USING @id", "select list");
        both.each("PREPARE s FROM 'SELECT id FROM u ORDER BY ?'");
        both.refused("EXECUTE s USING @id", "ORDER BY");
        if both.flavour == bifold::lab::Flavour::MariaDb {
            both.run("EXECUTE IMMEDIATE 'SELECT s FROM t WHERE uid = ?' USING @id");
            both.each("SET @again = 'EXECUTE IMMEDIATE @again'");
            both.run("EXECUTE IMMEDIATE @again");
        } else {
            both.run("EXECUTE s USING 1");
        }
        // They are the session's own, and gone with a reset.
        both.another().run("EXECUTE s USING @id");
        for side in [&mut both.plain, &mut both.proxied] {
            assert!(matches!(side.simple(0x1F, &[]), Answer::Ok(_)));
        }
        both.run("EXECUTE s USING @id");
        // What may not be said may not be prepared either.
        both.run("PREPARE s FROM 'SELECT * FROM mysql.user'");
        // MySQL says so only when it is executed.
        let global = both.proxied.query("PREPARE s FROM 'SET GLOBAL sql_mode = DEFAULT'");
        assert!(matches!(&global[..], [Answer::Err(error)] if error.code == 1227), "{global:?}");
        both.refused("PREPARE s FROM 'XA RECOVER'", "XA");
    });
}
