//! Stored procedures, functions and triggers of unsharded tables, made and called through the proxy
//! as on one MySQL; and those that reach further than they may.

use crate::common::{Both, Mask, differences, on_each_server};

const TABLES: &str = r#"
[schema.mall.table]
orders = { key = "uid", tables = 2 }
product = { kind = "reference" }
"#;

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
    both.each("CREATE TABLE account (id INT NOT NULL PRIMARY KEY, name VARCHAR(20), balance INT NOT NULL DEFAULT 0)");
    both.each("CREATE TABLE journal (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40))");
    both.each("INSERT INTO account VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'cid', 30)");
}

#[test]
fn procedures_with_bodies_of_every_kind() {
    on_each_server(TABLES, |both| {
        tables(both);
        all(
            both,
            &[
                "DROP PROCEDURE IF EXISTS nobody",
                "SHOW WARNINGS",
                "CREATE PROCEDURE two() BEGIN SELECT COUNT(*) FROM account; SELECT name FROM mall.account ORDER BY id; END",
                "CALL two()",
                "CALL mall.two()",
                "CREATE PROCEDURE two() SELECT 1",
                "CREATE PROCEDURE `foo.bar` (arg1 INT) BEGIN SELECT arg1 * 2; END",
                "CALL `foo.bar`(21)",
                "CREATE PROCEDURE pay(IN who INT, IN amount INT, OUT rest INT) MODIFIES SQL DATA COMMENT 'pays; all'\n\
                 BEGIN\n\
                   DECLARE had INT DEFAULT 0;\n\
                   DECLARE short CONDITION FOR SQLSTATE '45000';\n\
                   DECLARE EXIT HANDLER FOR NOT FOUND, 1146 BEGIN SET rest = -1; END;\n\
                   SELECT balance INTO had FROM mall.account a WHERE a.id = who FOR UPDATE;\n\
                   IF had < amount THEN SIGNAL short SET MESSAGE_TEXT = 'too little';\n\
                   ELSEIF amount = 0 THEN SET rest = had;\n\
                   ELSE UPDATE mall.account SET mall.account.balance = balance - amount WHERE id = who; SET rest = had - amount; END IF;\n\
                   INSERT INTO journal (what) VALUES (CONCAT('paid ', amount));\n\
                 END",
                "CALL pay(2, 5, @rest)",
                "SELECT @rest",
                "CALL pay(2, 500, @rest)",
                "CALL pay(9, 5, @rest)",
                "SELECT @rest",
                "SELECT * FROM account ORDER BY id",
                "CREATE PROCEDURE sums(INOUT total INT)\n\
                 outer_block: BEGIN\n\
                   DECLARE done INT DEFAULT FALSE; DECLARE b, n INT;\n\
                   DECLARE c CURSOR FOR SELECT balance FROM account ORDER BY id;\n\
                   DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;\n\
                   OPEN c;\n\
                   reading: LOOP FETCH c INTO b; IF done THEN LEAVE reading; END IF; SET total = total + b; END LOOP reading;\n\
                   CLOSE c;\n\
                   SET n = 3; WHILE n > 0 DO SET n = n - 1; CASE n WHEN 0 THEN SET total = total + 1; ELSE BEGIN END; END CASE; END WHILE;\n\
                   REPEAT SET n = n + 1; UNTIL n >= 2 END REPEAT;\n\
                   SET @seen = n;\n\
                 END outer_block",
                "SET @total = 100",
                "CALL sums(@total)",
                "SELECT @total, @seen",
                "DROP PROCEDURE sums",
                "CALL sums(@total)",
                "CREATE PROCEDURE broken() SELECT * FROM nowhere",
                "CALL broken()",
                "DROP PROCEDURE broken",
                "DROP PROCEDURE broken",
            ],
        );
        for name in ["two", "`foo.bar`", "pay"] {
            both.each(&format!("DROP PROCEDURE {name}"));
        }
    });
}

#[test]
fn functions_are_called_in_statements() {
    on_each_server(TABLES, |both| {
        tables(both);
        all(
            both,
            &[
                "CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN n * 2",
                "CREATE FUNCTION thrice(n INT) RETURNS INT DETERMINISTIC RETURN twice(n) + mall.twice(n) - n",
                "SELECT twice(4), mall.thrice(5) AS x",
                "SELECT name FROM account WHERE balance = twice(10)",
                "UPDATE account SET balance = twice(balance) WHERE id = 1",
                "SELECT balance FROM account WHERE id = 1",
                "DROP FUNCTION thrice",
                "SELECT thrice(1)",
                "DROP FUNCTION mall.twice",
                "DROP FUNCTION IF EXISTS twice",
                "SHOW WARNINGS",
            ],
        );
    });
}

#[test]
fn triggers_see_the_rows_of_unsharded_tables() {
    on_each_server(TABLES, |both| {
        tables(both);
        all(
            both,
            &[
                "CREATE TRIGGER named BEFORE INSERT ON account FOR EACH ROW SET NEW.name = UPPER(NEW.name)",
                "CREATE TRIGGER mall.kept AFTER UPDATE ON mall.account FOR EACH ROW BEGIN\n\
                   IF OLD.balance <> NEW.balance THEN INSERT INTO mall.journal (what) VALUES (CONCAT(OLD.balance, ' to ', NEW.balance)); END IF;\n\
                 END",
                "CREATE TRIGGER later AFTER DELETE ON account FOR EACH ROW INSERT INTO journal (what) VALUES ('gone')",
                "INSERT INTO account VALUES (4, 'dan', 40)",
                "SELECT LAST_INSERT_ID()",
                "UPDATE account SET balance = balance + 1 WHERE id > 2",
                "DELETE FROM account WHERE id = 3",
                "SELECT * FROM account ORDER BY id",
                "SELECT * FROM journal ORDER BY id",
                "CREATE TRIGGER named BEFORE UPDATE ON account FOR EACH ROW SET NEW.name = 'x'",
            ],
        );
        all(
            both,
            &["DROP TRIGGER named", "DROP TRIGGER mall.kept", "DROP TRIGGER kept", "DROP TRIGGER IF EXISTS kept"],
        );
        all(both, &["SHOW WARNINGS", "INSERT INTO account VALUES (5, 'eve', 50)", "SELECT * FROM account ORDER BY id"]);
    });
}

#[test]
fn no_routine_reaches_further_than_its_user() {
    on_each_server(TABLES, |both| {
        tables(both);
        let refusals = [
            ("CREATE TRIGGER t BEFORE INSERT ON orders FOR EACH ROW SET NEW.amount = 1", "many places"),
            ("CREATE TRIGGER t BEFORE INSERT ON account FOR EACH ROW SET @x = 1", "variable of the session"),
            ("CREATE PROCEDURE p() DELETE FROM orders", "cannot reach `orders`"),
            (
                "CREATE PROCEDURE p() BEGIN IF EXISTS (SELECT 1 FROM orders) THEN SELECT 1; END IF; END",
                "cannot reach `orders`",
            ),
            ("CREATE PROCEDURE p() INSERT INTO product VALUES (1)", "cannot reach `product`"),
            ("CREATE PROCEDURE p() SELECT DATABASE()", "DATABASE() within a routine"),
            ("CREATE PROCEDURE p() SELECT CURRENT_USER", "CURRENT_USER() within a routine"),
            ("CREATE PROCEDURE p() DO GET_LOCK('a', 1)", "GET_LOCK() within a routine"),
            ("CREATE PROCEDURE p() BEGIN SET SESSION sql_mode = ''; END", "variable of the session"),
            ("CREATE PROCEDURE p() BEGIN START TRANSACTION; COMMIT; END", "START within a routine"),
            (
                "CREATE PROCEDURE p() BEGIN SET @s = 'DROP TABLE account'; PREPARE s FROM @s; EXECUTE s; END",
                "PREPARE within",
            ),
            ("CREATE PROCEDURE p() CREATE TABLE mysql.t (a INT)", "CREATE within a routine"),
            ("CREATE PROCEDURE p() GRANT ALL ON *.* TO x", "GRANT within a routine"),
            ("CREATE DEFINER = 'root'@'%' PROCEDURE p() SELECT 1", "DEFINER"),
            ("CREATE FUNCTION f RETURNS STRING SONAME 'lib.so'", "could not be read"),
            ("CREATE FUNCTION f() RETURNS INT LANGUAGE JAVASCRIPT AS 'return 1'", "could not be read"),
            ("CREATE PROCEDURE p() BEGIN SELECT 1; END; DROP TABLE account", "could not be read"),
        ];
        for (sql, words) in refusals {
            let text = both.proxied.query(sql);
            let text = format!("{text:?}");
            assert!(text.contains("1235") && text.contains(words), "{sql}: {text}");
        }
        for sql in [
            "CREATE PROCEDURE p() SELECT * FROM mysql.user",
            "CREATE PROCEDURE p() BEGIN DELETE FROM mall_0.account; END",
            "CREATE PROCEDURE p() SELECT * FROM orders_0001",
            "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN (SELECT COUNT(*) FROM mysql.user)",
            "CREATE PROCEDURE p() BEGIN DECLARE n INT DEFAULT (SELECT COUNT(*) FROM mysql.user); END",
            "CREATE PROCEDURE p() BEGIN DECLARE c CURSOR FOR SELECT 1 FROM bifold.decision; OPEN c; END",
            "CREATE PROCEDURE p() CALL mysql.x()",
            "CREATE PROCEDURE p() SELECT sys.version_major()",
            "CREATE PROCEDURE p() SELECT LOAD_FILE('/etc/passwd')",
            "CREATE PROCEDURE p() SELECT 1 INTO OUTFILE '/tmp/bifold_routine'",
            "CREATE PROCEDURE mysql.p() SELECT 1",
            "CREATE TRIGGER t BEFORE INSERT ON mysql.user FOR EACH ROW SET @x = 1",
            "DROP PROCEDURE mysql.p",
        ] {
            let answer = both.proxied.query(sql);
            let text = format!("{answer:?}");
            let denied = ["1142", "1044", "1370", "1146", "1227"];
            assert!(denied.iter().any(|code| text.contains(code)), "{sql}: {text}");
        }
        // Nothing of all this was made.
        let made = both.proxied.query("CALL p()");
        assert!(format!("{made:?}").contains("1305"), "{made:?}");
        all(both, &["SELECT COUNT(*) FROM account"]);
    });
}
