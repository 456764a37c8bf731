//! What a user may not touch is refused as a server refuses it to an account with rights on its
//! own schema only; what is not supported has a sentence.

use crate::common::{Both, Mask, Protocol, on_each_server_by};

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
        ] {
            both.run_masked(statement, &[], &Mask::default().and_error_text());
        }
        both.run("SELECT 1");
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
            ("KILL 5", "KILL"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", "LOAD DATA LOCAL"),
            ("CREATE PROCEDURE p() SELECT 1", "procedure"),
            ("CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1", "function"),
            ("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 1", "trigger"),
            ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t", "event"),
            ("CREATE VIEW v AS SELECT 1", "view"),
            ("PREPARE s FROM 'SELECT 1'", "PREPARE"),
            ("SHOW PROCESSLIST", "PROCESSLIST"),
            ("SELECT MASTER_POS_WAIT('x', 1)", "MASTER_POS_WAIT"),
            ("SET sql_auto_is_null = 1", "sql_auto_is_null"),
            ("SET insert_id = 5", "insert_id"),
            ("SET pseudo_thread_id = 5", "pseudo_thread_id"),
            ("SET character_set_database = latin1", "character_set_database"),
            ("SHOW TABLES WHERE Tables_in_mall IN (SELECT 1)", "subquery"),
            ("DROP DATABASE mall", "topology"),
            ("CREATE TABLE x (id INT) ENGINE=MRG_MyISAM UNION=(t)", ""),
        ] {
            both.refused(statement, words);
        }
    });
}
