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
