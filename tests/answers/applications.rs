//! What frameworks, drivers and tools send to a schema without sharded tables, beside its DML:
//! the same answers as on a bare server.

use crate::common::{Both, Mask, differences, on_each_server};
use bifold::lab::Flavour;

/// Every difference at once.
#[track_caller]
fn all(both: &mut Both, statements: &[&str]) {
    let mut different = Vec::new();
    for sql in statements {
        let (plain, proxied) = both.answers(sql, &[]);
        let found = differences(sql, &plain, &proxied, &Mask::default());
        if !found.is_empty() {
            different.push(format!("{sql}\n    {}\n{plain:#?}\n{proxied:#?}", found.join("\n    ")));
        }
    }
    assert!(different.is_empty(), "{} {:?}:\n{}", both.flavour, both.protocol, different.join("\n"));
}

fn tables(both: &mut Both) {
    both.each(
        "CREATE TABLE author (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL COMMENT 'who', \
         email VARCHAR(60), data JSON, UNIQUE KEY by_email (email), CONSTRAINT named CHECK (name <> ''))",
    );
    both.each(
        "CREATE TABLE book (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, author_id BIGINT NOT NULL, title VARCHAR(60), \
         price DECIMAL(8,2) NOT NULL DEFAULT 0, twice DECIMAL(9,2) AS (price * 2) STORED, at DATETIME(6), \
         KEY by_title (title), CONSTRAINT of_author FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)",
    );
    both.each("INSERT INTO author VALUES (1, 'ann', 'a@x', '{\"tags\": [1, 2], \"n\": \"é\"}'), (2, 'bob', NULL, NULL), (3, 'cid', 'c@x', '{}')");
    both.each("INSERT INTO book (id, author_id, title, price, at) VALUES (1, 1, 'one', 1.5, '2024-02-03 04:05:06.789'), (2, 1, 'two', 2, NULL), (3, 2, NULL, 3, '2024-01-01')");
}

#[test]
fn what_drivers_ask_when_they_connect() {
    on_each_server("", |both| {
        all(
            both,
            &[
                "SELECT VERSION()",
                "SELECT @@version, @@lower_case_table_names, @@sql_mode, @@transaction_isolation",
                "SHOW VARIABLES LIKE 'sql_mode'",
                "SHOW VARIABLES LIKE 'lower_case_table_names'",
                "SELECT CAST('test plain returns' AS CHAR(60)) AS anon_1",
                "SELECT CONVERT('test collated returns' USING utf8mb4) COLLATE utf8mb4_bin AS anon_1",
                "SELECT @@default_storage_engine, @@auto_increment_increment, CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL",
                "SET sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), SESSION net_write_timeout = 60",
                "/* mysql-connector-java-8.0 */SELECT @@session.auto_increment_increment AS auto_increment_increment, \
                 @@character_set_client AS character_set_client, @@character_set_results AS character_set_results, \
                 @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, \
                 @@max_allowed_packet AS max_allowed_packet, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, \
                 @@wait_timeout AS wait_timeout",
                "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci, @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483",
                "SET autocommit=1, session_track_schema=1, sql_mode='STRICT_TRANS_TABLES'",
                "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                "SELECT @@session.transaction_isolation, @@session.transaction_read_only",
                "SET foreign_key_checks = 0",
                "SET unique_checks = 0",
                "SET SQL_SAFE_UPDATES = 0",
                "SET foreign_key_checks = 1",
                "SHOW COLLATION WHERE Charset = 'utf8mb4' AND Collation = 'utf8mb4_bin'",
                "SHOW FULL TABLES FROM information_schema LIKE 'TABLE_CON%'",
                "SHOW COLUMNS FROM information_schema.SCHEMATA",
                "SHOW ENGINES",
                "SELECT 1 AS ping FROM DUAL",
                "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */",
                "/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */",
                "SELECT @@sql_mode, @OLD_FOREIGN_KEY_CHECKS",
            ],
        );
    });
}

#[test]
fn what_frameworks_ask_of_their_tables() {
    on_each_server("", |both| {
        tables(both);
        all(
            both,
            &[
                "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'",
                "SHOW FULL COLUMNS FROM `book`",
                "SHOW FULL FIELDS FROM book FROM mall",
                "SHOW CREATE TABLE `author`",
                "SHOW CREATE TABLE mall.book",
                "DESCRIBE `mall`.`author`",
                "SHOW TABLES LIKE 'auth%'",
                "ALTER TABLE `book` ADD COLUMN `note` longtext DEFAULT NULL",
                "ALTER TABLE `book` MODIFY `title` varchar(80) NULL",
                "ALTER TABLE `book` ADD INDEX `i` (`title`(10) DESC), ALGORITHM=INPLACE",
                "ALTER TABLE `book` DROP FOREIGN KEY `of_author`",
                "ALTER TABLE `book` ADD CONSTRAINT `of_author` FOREIGN KEY (`author_id`) REFERENCES `author` (`id`)",
                "ALTER TABLE `book` RENAME INDEX `i` TO `j`",
                "ALTER TABLE `book` CHANGE `note` `notes` longtext COMMENT 'it''s'",
                "RENAME TABLE `book` TO `books`",
                "SHOW CREATE TABLE books",
                "ALTER TABLE `author` ADD CONSTRAINT `short` CHECK (CHAR_LENGTH(`name`) < 10)",
                "INSERT INTO author (name) VALUES ('')",
                "INSERT INTO author (name) VALUES ('much too long a name')",
                "INSERT INTO books (author_id, title) VALUES (99, 'x')",
                "INSERT INTO author (name, email) VALUES ('x', 'a@x')",
                "DELETE FROM author WHERE id = 1",
                "DROP TABLE author",
                "INSERT INTO author (name) VALUES (NULL)",
                "TRUNCATE TABLE `books`",
            ],
        );
    });
}

#[test]
fn queries_of_every_kind() {
    on_each_server("", |both| {
        tables(both);
        all(
            both,
            &[
                "SELECT JSON_VALUE(data, '$.n') AS n, JSON_EXTRACT(data, '$.tags[0]'), JSON_LENGTH(data) FROM author ORDER BY id",
                "SELECT id FROM author WHERE JSON_CONTAINS(data, '1', '$.tags') OR JSON_UNQUOTE(JSON_EXTRACT(data, '$.n')) = 'x'",
                "UPDATE author SET data = JSON_SET(COALESCE(data, '{}'), '$.seen', TRUE) WHERE id = 2",
                "SELECT a.name, t.tag FROM author a, JSON_TABLE(a.data, '$.tags[*]' COLUMNS (tag INT PATH '$')) t ORDER BY t.tag",
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT i, (SELECT COUNT(*) FROM book WHERE id <= i) c FROM n",
                "SELECT title, ROW_NUMBER() OVER (PARTITION BY author_id ORDER BY price DESC) rn, SUM(price) OVER () s FROM book ORDER BY id",
                "SELECT author_id, GROUP_CONCAT(title ORDER BY id SEPARATOR '|'), AVG(price), MAX(at) FROM book GROUP BY author_id WITH ROLLUP",
                "SELECT a.name, b.title FROM author a LEFT JOIN book b ON b.author_id = a.id AND b.price > 1.5 ORDER BY a.id, b.id",
                "SELECT EXISTS (SELECT 1 AS `a` FROM `book` WHERE `book`.`title` REGEXP BINARY '^o' LIMIT 1)",
                "(SELECT id FROM author ORDER BY id LIMIT 1) UNION (SELECT id FROM book ORDER BY id DESC LIMIT 1) ORDER BY 1",
                "SELECT id FROM author EXCEPT SELECT author_id FROM book",
                "SELECT SQL_CALC_FOUND_ROWS id FROM book ORDER BY id LIMIT 1",
                "SELECT FOUND_ROWS()",
                "SELECT CAST(price AS CHAR) c, CONVERT(title USING latin1), HEX(title), DATE_FORMAT(at, '%Y-%m') FROM book ORDER BY id",
                "SELECT twice, at FROM book WHERE twice > 3 ORDER BY id",
                "INSERT INTO book (author_id, title, twice) VALUES (1, 'x', DEFAULT)",
                "INSERT INTO book (author_id, twice) VALUES (1, 5)",
                "INSERT INTO author (id, name) VALUES (2, 'bobby') ON DUPLICATE KEY UPDATE name = VALUES(name), id = LAST_INSERT_ID(id)",
                "SELECT LAST_INSERT_ID(), ROW_COUNT()",
                "INSERT IGNORE INTO author (id, name) VALUES (2, 'x'), (9, 'new')",
                "REPLACE INTO author (id, name, email) VALUES (9, 'newer', 'n@x')",
                "UPDATE book b JOIN author a ON a.id = b.author_id SET b.title = CONCAT(a.name, '-', b.id) WHERE a.id < 3",
                "DELETE b FROM book b JOIN author a ON a.id = b.author_id WHERE a.name = 'bobby'",
                "SELECT * FROM book ORDER BY id",
                "UPDATE book SET price = price + 1 ORDER BY id DESC LIMIT 1",
                "DELETE FROM book ORDER BY id LIMIT 1",
                "EXPLAIN SELECT * FROM author WHERE id = 1",
                "CREATE TEMPORARY TABLE picked (id INT PRIMARY KEY) SELECT id FROM author",
                "SELECT COUNT(*) FROM picked JOIN author USING (id)",
                "DROP TEMPORARY TABLE picked",
                "SELECT BIN_TO_UUID(x'00112233445566778899aabbccddeeff') IS NULL",
                "SELECT 1/0, @x := 5, @x + 1",
            ],
        );
    });
}

#[test]
fn transactions_locks_and_savepoints() {
    on_each_server("", |both| {
        tables(both);
        let other = &mut both.another();
        all(
            both,
            &[
                "START TRANSACTION",
                "SAVEPOINT `s1`",
                "INSERT INTO author (id, name) VALUES (20, 'in')",
                "SAVEPOINT `s2`",
                "UPDATE author SET name = 'out' WHERE id = 20",
                "ROLLBACK TO SAVEPOINT `s2`",
                "RELEASE SAVEPOINT `s1`",
                "RELEASE SAVEPOINT `s1`",
                "SELECT name FROM author WHERE id = 20 FOR UPDATE",
            ],
        );
        all(
            other,
            &[
                "SET innodb_lock_wait_timeout = 1",
                "BEGIN",
                "SELECT name FROM author WHERE id IN (1, 20) ORDER BY id FOR UPDATE SKIP LOCKED",
                "SELECT name FROM author WHERE id = 20 FOR UPDATE NOWAIT",
                "SELECT name FROM author WHERE id = 20",
                "UPDATE author SET name = 'late' WHERE id = 20",
                "ROLLBACK",
            ],
        );
        all(
            both,
            &[
                "COMMIT AND CHAIN",
                "SELECT COUNT(*) FROM author",
                "ROLLBACK",
                "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
                "START TRANSACTION READ ONLY",
                "UPDATE author SET name = 'no' WHERE id = 1",
                "SELECT COUNT(*) FROM author",
                "COMMIT",
                "SET autocommit = 0",
                "DELETE FROM book",
                "ROLLBACK",
                "SET autocommit = 1",
                "SELECT COUNT(*) FROM book",
                "LOCK TABLES author WRITE, book READ",
                "INSERT INTO author (id, name) VALUES (30, 'locked')",
                "INSERT INTO book (author_id) VALUES (1)",
                "UNLOCK TABLES",
            ],
        );
        all(other, &["SELECT RELEASE_LOCK('migrations')", "DO RELEASE_ALL_LOCKS()"]);
        // What only one of the servers has.
        let own: &[&str] = match both.flavour {
            Flavour::MariaDb => &[
                "INSERT INTO author (name) VALUES ('r') RETURNING name",
                "DELETE FROM author WHERE name = 'r' RETURNING name",
                "ALTER TABLE author ADD COLUMN IF NOT EXISTS email VARCHAR(60)",
                "SELECT JSON_DETAILED('[1]')",
            ],
            Flavour::MySql => &[
                "INSERT INTO author (id, name) VALUES (3, 'x') AS new ON DUPLICATE KEY UPDATE name = new.name",
                "SELECT name FROM author WHERE id = 3 FOR SHARE OF author SKIP LOCKED",
                "SELECT REGEXP_LIKE('abc', 'B', 'i'), JSON_VALUE('{\"a\": 1}', '$.a' RETURNING SIGNED)",
                "ALTER TABLE author ALTER CHECK named NOT ENFORCED",
            ],
        };
        all(both, own);
    });
}
