//! What a user may not touch is refused as a server refuses it to an account with rights on its
//! own schema only; what is not supported has a sentence.

use crate::common::{Answer, Both, Mask, Protocol, on_each_server_by};

const TABLES: &str = "[schema.mall.table.orders]\nkey = \"uid\"\ntables = 4\n";

fn confined(test: impl Fn(&mut Both)) {
    on_each_server_by(&[Protocol::Text], TABLES, |both| {
        both.each("CREATE TABLE orders (uid BIGINT NOT NULL PRIMARY KEY, note VARCHAR(20))");
        both.each("CREATE TABLE t (id INT PRIMARY KEY, v INT)");
        test(both);
    });
}

#[test]
fn what_is_not_the_users_is_refused_as_a_server_does() {
    confined(|both| {
        for statement in [
            "SET GLOBAL max_connections = 100",
            "SET @@global.sql_mode = ''",
            "SET GLOBAL TRANSACTION READ ONLY",
            "FLUSH TABLES",
            "FLUSH PRIVILEGES",
            "FLUSH TABLES t WITH READ LOCK",
            "CREATE USER u2 IDENTIFIED BY 'x'",
            "DROP USER app@'%'",
            "RENAME USER app@'%' TO b",
            "GRANT SELECT ON *.* TO app@'%'",
            "CREATE DATABASE d1",
            "CREATE DATABASE mall",
            "DROP DATABASE mysql",
            "ALTER DATABASE mysql CHARACTER SET utf8mb4",
            "SELECT 1 INTO OUTFILE 'x.txt'",
            "SELECT id FROM t INTO OUTFILE 'x.txt'",
            "SELECT 1 INTO DUMPFILE 'x.txt'",
            "LOAD DATA INFILE 'x' INTO TABLE t",
            "SELECT * FROM mysql.user",
            "SELECT * FROM nosuch.x",
            "SELECT (SELECT 1 FROM mysql.user)",
            "SELECT 1 FROM t WHERE id IN (SELECT 1 FROM mysql.user)",
            "INSERT INTO mysql.user VALUES (1)",
            "INSERT INTO t SELECT 1, 2 FROM mysql.user",
            "UPDATE mysql.user SET a = 1",
            "DELETE FROM mysql.user",
            "SHOW TABLES FROM mysql",
            "SHOW CREATE TABLE mysql.user",
            "SHOW COLUMNS FROM mysql.user",
            "SHOW INDEX FROM mysql.user",
            "DESCRIBE mysql.user",
            "SHOW TABLE STATUS FROM mysql",
            "SHOW CREATE DATABASE mysql",
            "SHOW TRIGGERS FROM mysql",
            "LOCK TABLES mysql.user READ",
            "CALL mysql.p()",
            "SHOW ENGINE INNODB STATUS",
            "CHECK TABLE mysql.user",
            "CHECKSUM TABLE mysql.user",
            "SHOW COLUMNS FROM user FROM mysql",
            "EXPLAIN SELECT * FROM mysql.user",
            "WITH x AS (SELECT * FROM mysql.user) SELECT * FROM x",
            "SELECT * FROM t JOIN mysql.user u ON t.id = u.id",
            "SELECT 1 UNION SELECT 1 FROM mysql.user",
            "UPDATE t, mysql.user SET t.v = 1",
            "UPDATE t SET v = (SELECT 1 FROM mysql.user)",
            "DELETE t FROM t JOIN mysql.user u",
            "INSERT INTO t VALUES (1, (SELECT 1 FROM mysql.user))",
            "INSERT INTO t (id) VALUES (1) ON DUPLICATE KEY UPDATE v = (SELECT 1 FROM mysql.user)",
            "SET @a = (SELECT 1 FROM mysql.user)",
            "DO (SELECT 1 FROM mysql.user)",
            "CREATE TABLE mysql.y (a INT)",
            "CREATE TABLE t4 LIKE mysql.user",
            "CREATE TABLE t4 AS SELECT * FROM mysql.user",
            "DROP TABLE mysql.user",
            "ALTER TABLE mysql.user ADD b INT",
            "TRUNCATE mysql.user",
            "RENAME TABLE t TO mysql.t",
            "CREATE INDEX i ON mysql.user (a)",
            "DROP INDEX i ON mysql.user",
            "SELECT mysql.f()",
            "GRANT SELECT ON mall.* TO app@'%'",
            "GRANT SELECT ON mysql.* TO app@'%'",
        ] {
            both.run_masked(statement, &[], &Mask::default().and_error_text());
        }
        both.run("SELECT 1");
        for statement in [
            "SELECT LOAD_FILE('/etc/passwd')",
            "SELECT 1 FROM t WHERE v = LOAD_FILE('/etc/passwd')",
            "INSERT INTO t VALUES (9, LOAD_FILE('/etc/passwd'))",
            "UPDATE t SET v = LENGTH(LOAD_FILE('/etc/passwd'))",
            "SET @a = LOAD_FILE('/etc/passwd')",
            "SET autocommit = LOAD_FILE('/etc/passwd')",
            "DO LOAD_FILE('/etc/passwd')",
            "SHOW TABLES WHERE LOAD_FILE('/etc/passwd') IS NULL",
        ] {
            let answers = both.proxied.query(statement);
            assert!(matches!(&answers[..], [Answer::Err(error)] if error.code == 1227), "{statement}: {answers:?}");
        }
    });
}

#[test]
fn physical_names_are_as_if_they_were_not_there() {
    confined(|both| {
        for statement in [
            "SELECT * FROM orders_0001",
            "INSERT INTO orders_0001 VALUES (1, 'x')",
            "UPDATE orders_0001 SET note = 'x' WHERE uid = 1",
            "DELETE FROM orders_0001 WHERE uid = 1",
            "SELECT * FROM mall_0.orders_0001",
            "SELECT * FROM mall_0.t",
            "SHOW CREATE TABLE orders_0001",
            "DESCRIBE orders_0001",
            "USE mall_0",
            "SHOW TABLES FROM mall_1 LIKE 'x'",
            "ANALYZE TABLE mall_0.t",
            "DROP TABLE orders_0001",
            "ALTER TABLE orders_0001 ADD b INT",
            "TRUNCATE orders_0001",
            "CREATE INDEX i ON orders_0001 (note)",
            "DROP TABLE mall_0.t",
            "CREATE TABLE mall_0.x (a INT)",
            "SELECT mall_0.f()",
            "CALL mall_0.p()",
            "INSERT INTO t SELECT 1, 2 FROM mall_1.orders_0000",
        ] {
            both.run_masked(statement, &[], &Mask::default().and_error_text());
        }
    });
}

#[test]
fn what_is_not_supported_has_a_sentence() {
    confined(|both| {
        for (statement, words) in [
            ("XA START 'x'", "XA"),
            ("XA RECOVER", "XA"),
            ("HANDLER t OPEN", "HANDLER"),
            ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t", "event"),
            ("SELECT MASTER_POS_WAIT('x', 1)", "MASTER_POS_WAIT"),
            ("SET sql_auto_is_null = 1", "sql_auto_is_null"),
            ("SET insert_id = 5", "insert_id"),
            ("SET pseudo_thread_id = 5", "pseudo_thread_id"),
            ("SET character_set_database = latin1", "character_set_database"),
            ("SHOW TABLES WHERE Tables_in_mall IN (SELECT 1)", "subquery"),
            ("DROP DATABASE mall", "topology"),
            ("CREATE TABLE x (id INT) ENGINE=MRG_MyISAM UNION=(t)", ""),
            ("CREATE TABLE orders_0001 (id INT)", ""),
            ("ALTER PROCEDURE p SQL SECURITY INVOKER", "ALTER PROCEDURE"),
        ] {
            both.refused(statement, words);
        }
    });
}
