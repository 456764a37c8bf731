//! information_schema shows logical tables, whatever is asked of it: what drivers and tools ask.

use crate::common::{Answer, Both, Param, Protocol, on_each_server, on_each_server_by};

const TABLES: &str = "[schema.mall.table.orders]\nkey = \"uid\"\ntables = 4\n\
    [schema.mall.table.product]\nkind = \"reference\"\n";

fn set_up(both: &mut Both) {
    both.each(
        "CREATE TABLE orders (uid BIGINT NOT NULL, no INT UNSIGNED NOT NULL, note VARCHAR(40) NOT NULL DEFAULT 'x' COMMENT 'a note', \
         at DATETIME(3) NULL, amount DECIMAL(12,2), PRIMARY KEY (uid, no), KEY by_note (note, at)) COMMENT = 'what was bought'",
    );
    both.each("CREATE TABLE product (id INT NOT NULL PRIMARY KEY, name VARCHAR(20), UNIQUE KEY name (name))");
    both.each("CREATE TABLE setting (name VARCHAR(20) NOT NULL PRIMARY KEY, value TEXT)");
    both.each("CREATE TABLE child (id INT NOT NULL PRIMARY KEY, name VARCHAR(20), CONSTRAINT to_setting FOREIGN KEY (name) REFERENCES setting (name) ON DELETE CASCADE)");
    for uid in 1..=9 {
        both.each(&format!("INSERT INTO orders VALUES ({uid}, 1, 'n', NOW(), 1)"));
    }
}

/// Rows, and the columns' names and types.
fn same(both: &mut Both, sql: &str) {
    let (plain, proxied) = both.answers(sql, &[]);
    let seen = |answers: &[Answer]| match answers {
        [Answer::Rows(set)] => {
            // MySQL computes some columns: stored, they are wider.
            let wide = |kind| match kind {
                3 => 8,
                249..=251 => 252,
                other => other,
            };
            let columns: Vec<_> = set.columns.iter().map(|column| (column.name.clone(), wide(column.kind))).collect();
            let mut rows: Vec<String> = set.rows.iter().map(|row| format!("{row:?}")).collect();
            if !sql.contains("ORDER BY") {
                rows.sort();
            }
            (columns, rows)
        }
        other => panic!("{}: {sql}: {other:?}", both.flavour),
    };
    assert_eq!(seen(&plain), seen(&proxied), "{}: {sql}", both.flavour);
}

#[test]
fn what_tools_ask_of_information_schema_is_answered_of_logical_tables() {
    on_each_server(TABLES, |both| {
        set_up(both);
        for sql in [
            // Connector/J, Hibernate
            "SELECT TABLE_SCHEMA AS TABLE_CAT, NULL AS TABLE_SCHEM, TABLE_NAME, CASE WHEN TABLE_TYPE='BASE TABLE' THEN 'TABLE' ELSE TABLE_TYPE END AS TABLE_TYPE, TABLE_COMMENT AS REMARKS FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'mall' AND TABLE_NAME LIKE '%' ORDER BY TABLE_TYPE, TABLE_SCHEMA, TABLE_NAME",
            "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA LIKE 'mall' AND TABLE_NAME LIKE 'orders' AND COLUMN_NAME LIKE '%' ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
            "SELECT TABLE_NAME, NON_UNIQUE, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION FROM information_schema.statistics WHERE TABLE_SCHEMA = 'mall' ORDER BY TABLE_NAME, NON_UNIQUE, INDEX_NAME, SEQ_IN_INDEX",
            "SELECT A.CONSTRAINT_SCHEMA, A.TABLE_NAME, A.COLUMN_NAME, A.CONSTRAINT_NAME, A.REFERENCED_TABLE_SCHEMA, A.REFERENCED_TABLE_NAME, A.REFERENCED_COLUMN_NAME, B.UPDATE_RULE, B.DELETE_RULE FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE A JOIN INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS B USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME, TABLE_NAME) WHERE A.TABLE_SCHEMA = 'mall' ORDER BY 1, 2, 4",
            // Rails
            "SELECT table_name FROM (SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = database()) _subquery WHERE _subquery.table_type = 'BASE TABLE' ORDER BY table_name",
            "SELECT column_name FROM information_schema.statistics WHERE index_name = 'PRIMARY' AND table_schema = database() AND table_name = 'orders' ORDER BY seq_in_index",
            "SELECT fk.referenced_table_name AS 'to_table', fk.column_name AS 'column', fk.constraint_name AS 'name', rc.update_rule AS 'on_update' FROM information_schema.referential_constraints rc JOIN information_schema.key_column_usage fk USING (constraint_schema, constraint_name) WHERE fk.referenced_column_name IS NOT NULL AND fk.table_schema = database() AND fk.table_name = 'child'",
            // Django
            "SELECT column_name, data_type, character_maximum_length, numeric_precision, numeric_scale, extra, column_default FROM information_schema.columns WHERE table_name = 'orders' AND table_schema = DATABASE()",
            "SELECT kc.constraint_name, kc.column_name, kc.referenced_table_name, kc.referenced_column_name, c.constraint_type FROM information_schema.key_column_usage AS kc, information_schema.table_constraints AS c WHERE kc.table_schema = DATABASE() AND c.table_schema = kc.table_schema AND c.constraint_name = kc.constraint_name AND c.constraint_type != 'CHECK' AND kc.table_name = 'child' AND c.table_name = 'child' ORDER BY kc.ordinal_position, kc.constraint_name",
            "SELECT engine FROM information_schema.tables WHERE table_name = 'orders' AND table_schema = DATABASE()",
            // SQLAlchemy, phpMyAdmin, mysqldump, Navicat
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mall' AND TABLE_NAME IN ('orders', 'orders_0000')",
            "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ('mall', 'information_schema') ORDER BY SCHEMA_NAME",
            "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'mall'",
            "SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'mall'",
            "SELECT CHARACTER_SET_NAME, DEFAULT_COLLATE_NAME FROM information_schema.CHARACTER_SETS WHERE CHARACTER_SET_NAME LIKE 'utf8mb%' ORDER BY 1",
            "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = 'mall' AND EXISTS (SELECT 1 FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME AND c.COLUMN_NAME = 'uid')",
            "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'mall'",
            "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = 'mall'",
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME LIKE 'orders\\_%'",
        ] {
            same(both, sql);
        }
        same(both, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'nothing'");
        both.run("SELECT no_such_column FROM information_schema.TABLES");
    });
}

#[test]
fn rows_of_all_places_are_counted() {
    on_each_server_by(&[Protocol::Text], TABLES, |both| {
        set_up(both);
        both.each("ANALYZE TABLE setting");
        let (_, proxied) = both.answers(
            "SELECT TABLE_ROWS >= 0, AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'orders'",
            &[],
        );
        match &proxied[..] {
            [Answer::Rows(set)] => assert_eq!((set.rows.len(), set.rows[0][1].clone()), (1, None)),
            other => panic!("{other:?}"),
        }
        let (plain, proxied) = both.answers("SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mall'", &[]);
        match (&plain[..], &proxied[..]) {
            ([Answer::Rows(plain)], [Answer::Rows(proxied)]) => {
                assert_eq!((plain.rows.len(), plain.columns.len()), (proxied.rows.len(), proxied.columns.len()));
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_parameter_may_name_the_table() {
    on_each_server_by(&[Protocol::Prepared], TABLES, |both| {
        set_up(both);
        let sql = "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION";
        let params = [Param::Text("mall".into()), Param::Text("orders".into())];
        let (plain, proxied) = both.answers(sql, &params);
        let rows = |answers: &[Answer]| match answers {
            [Answer::Rows(set)] => set.rows.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(rows(&plain), rows(&proxied));
    });
}

#[test]
fn what_is_not_made_logical_is_refused() {
    on_each_server_by(&[Protocol::Text], TABLES, |both| {
        set_up(both);
        both.refused("SELECT * FROM information_schema.PROCESSLIST", "PROCESSLIST");
        both.refused("SELECT * FROM information_schema.INNODB_TABLESPACES", "INNODB_TABLESPACES");
        both.refused("SELECT * FROM information_schema.TABLES t JOIN setting s ON s.name = t.TABLE_NAME", "own");
        let denied = both.proxied.query("DELETE FROM information_schema.TABLES");
        assert!(matches!(&denied[..], [Answer::Err(error)] if error.code == 1044), "{denied:?}");
    });
}
