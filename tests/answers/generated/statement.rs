//! One random statement after another, over tables of each kind of key: `a_x` and `b_x` co-located,
//! `i_x` with an id column, the reference table `r` and the unsharded table `u`.

use super::random::Random;
use crate::common::Param;
use bifold::lab::Flavour;

pub struct Key {
    pub name: &'static str,
    column: &'static str,
    /// Each line one stored value, in spellings that MySQL takes for it.
    spellings: &'static [&'static [&'static str]],
    /// Values that are no stored key, or none that is provable.
    odd: &'static [&'static str],
    family: Family,
}

#[derive(Clone, Copy, PartialEq)]
enum Family {
    Integer,
    Text,
    Date,
    Bytes,
}

pub const KEYS: &[Key] = &[
    Key {
        name: "int",
        column: "INT",
        spellings: &[
            &["5", "'5'", "' 5'", "5.0", "05", "0x05", "5e0", "+5", "(5)", "5 /* five */"],
            &["-7", "'-7'", "-7.0", "- 7", "(-7)", "'-7.0'"],
            &["0", "'0'", "-0", "FALSE", "0.0"],
            &["1", "TRUE", "'01'", "b'1'"],
            &["2147483647", "'2147483647'"],
        ],
        odd: &["5.5", "'5x'", "'x'", "NULL", "2147483648", "''", "'5 '", "-7.4", "1e30", "X'35'"],
        family: Family::Integer,
    },
    Key {
        name: "big",
        column: "BIGINT UNSIGNED",
        spellings: &[
            &["5", "'5'", "5.0", "5e0"],
            &["18446744073709551615", "'18446744073709551615'"],
            &["9223372036854775808", "9223372036854775808.0"],
            &["9007199254740993", "'9007199254740993'"],
        ],
        odd: &["-1", "'-1'", "5.5", "NULL", "18446744073709551616", "-0.4"],
        family: Family::Integer,
    },
    Key {
        name: "ci",
        column: "VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        spellings: &[
            &["'ann'", "'ANN'", "'Ann '", "'änn'", "_utf8mb4'ann'", "'a' 'nn'", "N'ann'", "\"ann\"", "_latin1'ANN'"],
            &["''", "' '", "'  '"],
            &["'日本'", "'日本 '"],
            &["'😀'", "'😁'"],
            &["'it''s'", "'it\\'s'", "\"it's\"", "'IT''S'"],
            &["'a\\\\b'", "'A\\\\B'"],
        ],
        odd: &["5", "NULL", "'a\\tb'", "0", "X'616E6E'", "'ann' COLLATE utf8mb4_bin", "BINARY 'ann'"],
        family: Family::Text,
    },
    Key {
        name: "uni",
        column: "VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
        spellings: &[
            &["'strasse'", "'STRASSE'", "'Strasse '", "'straße'"],
            &["'ünal'", "'unal'", "'UNAL'"],
            &["''", "' '"],
            &["'x y'", "'X Y'"],
        ],
        odd: &["5", "NULL", "'x\\ty'", "'strasse\\0'"],
        family: Family::Text,
    },
    Key {
        name: "bin",
        column: "VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        spellings: &[&["'ann'", "'ann '"], &["'ANN'"], &["'änn'", "_latin1 X'E46E6E'"], &["''", "' '"]],
        odd: &["5", "NULL", "'ann\\0'", "X'616E6E'"],
        family: Family::Text,
    },
    Key {
        name: "lat",
        column: "CHAR(12) CHARACTER SET latin1",
        spellings: &[&["'ann'", "'ANN'", "'Ann '"], &["'ünal'", "'ÜNAL'"], &["''", "' '"]],
        odd: &["5", "NULL", "'日本'"],
        family: Family::Text,
    },
    Key {
        name: "day",
        column: "DATE",
        spellings: &[
            &["'2024-02-03'", "DATE '2024-02-03'", "'2024-2-3'", "20240203", "'20240203'"],
            &["'1999-12-31'", "'99-12-31'", "991231"],
            &["'2024-02-29'"],
        ],
        odd: &["'2024-02-30'", "'x'", "NULL", "'2024-02-03 10:00:00'", "TIMESTAMP '2024-02-03 00:00:00'", "0"],
        family: Family::Date,
    },
    Key {
        name: "raw",
        column: "VARBINARY(12)",
        spellings: &[
            &["'ab'", "X'6162'", "0x6162", "_binary'ab'"],
            &["'AB'"],
            &["'ab '"],
            &["''", "X''"],
            &["X'00FF'"],
        ],
        odd: &["5", "NULL", "25"],
        family: Family::Bytes,
    },
];

pub fn topology() -> String {
    let mut text = "[schema.mall.table]\nr = { kind = \"reference\" }\n".to_owned();
    for Key { name, .. } in KEYS {
        text += &format!(
            "a_{name} = {{ key = \"k\", tables = 3 }}\nb_{name} = {{ key = \"k\", tables = 3 }}\n\
             i_{name} = {{ key = \"k\", tables = 3, id = \"id\" }}\n"
        );
    }
    text
}

pub fn definitions() -> Vec<String> {
    let mut all = vec![
        "CREATE TABLE r (p INT NOT NULL PRIMARY KEY, q VARCHAR(20), g DECIMAL(8,2))".to_owned(),
        "CREATE TABLE u (p INT NOT NULL PRIMARY KEY, q VARCHAR(20), g DECIMAL(8,2) DEFAULT 1.5)".to_owned(),
    ];
    for Key { name, column, .. } in KEYS {
        all.push(format!(
            "CREATE TABLE a_{name} (k {column} NOT NULL, n INT NOT NULL, v VARCHAR(10), d DECIMAL(8,2) DEFAULT 2.25, \
             s TINYINT UNSIGNED NULL, PRIMARY KEY (k, n), KEY vv (v))"
        ));
        all.push(format!(
            "CREATE TABLE b_{name} (n INT NOT NULL DEFAULT 3, w VARCHAR(10), k {column} NOT NULL, t DATETIME NULL, \
             e ENUM('x', 'y', 'Z') NULL, PRIMARY KEY (k, n), UNIQUE KEY kw (k, w))"
        ));
        all.push(format!(
            "CREATE TABLE i_{name} (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, k {column} NOT NULL, v VARCHAR(10))"
        ));
    }
    all
}

pub struct Maker {
    random: Random,
    key: &'static Key,
    flavour: Flavour,
    /// The line of `spellings` that the statement is about.
    value: usize,
    params: Vec<Param>,
    explicit_id: u64,
}

impl Maker {
    pub fn new(mut random: Random, flavour: Flavour) -> Maker {
        let key = &KEYS[random.below(KEYS.len())];
        Maker { random, key, flavour, value: 0, params: Vec::new(), explicit_id: 0 }
    }

    pub fn emptying(&self) -> Vec<String> {
        let name = self.key.name;
        let mut all: Vec<String> =
            ["a_", "b_", "i_"].iter().map(|table| format!("DELETE FROM {table}{name}")).collect();
        all.extend(["DELETE FROM r".to_owned(), "DELETE FROM u".to_owned()]);
        all
    }

    pub fn next(&mut self, step: usize) -> (String, Vec<Param>) {
        if step >= 5000 || self.random.one_in(5000) || (step > 1000 && self.random.one_in(50)) {
            self.key = &KEYS[self.random.below(KEYS.len())];
        }
        self.value = self.random.below(self.key.spellings.len());
        self.params.clear();
        let sql = match if step < 30 { 10 + self.random.below(9) } else { self.random.below(40) } {
            0..=9 => self.select(),
            10..=18 => self.insert(),
            19..=23 => self.update(),
            24..=26 => self.delete(),
            27..=31 => self.session(),
            32..=34 => self.all_rows(),
            _ => self.select(),
        };
        let sql = if self.random.one_in(30) { sql + ";" } else { sql };
        (sql, std::mem::take(&mut self.params))
    }

    fn table(&self, kind: &str) -> String {
        format!("{kind}_{}", self.key.name)
    }

    /// A table's name as it may be written.
    fn written(&mut self, name: &str) -> String {
        match self.random.below(6) {
            0 => format!("`{name}`"),
            1 => format!("mall.{name}"),
            2 => format!("`mall` . `{name}`"),
            3 => format!("{name} /* t */"),
            _ => name.to_owned(),
        }
    }

    /// The statement's key, in some spelling.
    fn key(&mut self) -> String {
        let spellings = self.key.spellings[self.value];
        let text = spellings[self.random.below(spellings.len())];
        if self.random.one_in(3)
            && let Some(param) = self.param(text)
        {
            self.params.push(param);
            return "?".to_owned();
        }
        text.to_owned()
    }

    fn any_key(&mut self) -> String {
        if self.random.one_in(12) {
            return self.random.of(self.key.odd).to_owned();
        }
        self.value = self.random.below(self.key.spellings.len());
        self.key()
    }

    fn param(&mut self, text: &str) -> Option<Param> {
        let first = self.key.spellings[self.value][0];
        match self.key.family {
            Family::Integer => {
                let text = first.to_owned();
                Some(match self.random.below(8) {
                    0 => Param::Text(text),
                    1 => Param::Decimal(text),
                    2 => Param::Tiny(text.parse().ok()?),
                    3 => Param::Short(text.parse().ok()?),
                    4 => Param::Long(text.parse().ok()?),
                    5 => Param::UInt(text.parse().ok()?),
                    6 => Param::Double(text.parse::<i32>().ok()?.into()),
                    _ => Param::Int(text.parse().ok()?),
                })
            }
            Family::Text | Family::Bytes => {
                let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
                if inner.contains(['\'', '\\']) {
                    return None;
                }
                Some(match self.random.below(3) {
                    0 => Param::LongData(inner.as_bytes().to_vec()),
                    _ => Param::Text(inner.to_owned()),
                })
            }
            Family::Date => {
                let inner = first.trim_matches('\'');
                let mut parts = inner.split('-').map(|part| part.parse::<u16>().expect("a date's part"));
                let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
                let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
                Some(match self.random.below(3) {
                    0 => Param::Text(inner.to_owned()),
                    1 => Param::DateTime(year, month, day, 0, 0, 0, 0),
                    _ => Param::Date(year, month, day),
                })
            }
        }
    }

    /// A small number, as literal or parameter.
    fn number(&mut self) -> String {
        let number = i64::try_from(self.random.below(6)).expect("small");
        match self.random.below(8) {
            0 => {
                self.params.push(Param::Int(number));
                "?".to_owned()
            }
            1 => {
                self.params.push(Param::Text(number.to_string()));
                "?".to_owned()
            }
            2 => format!("'{number}'"),
            _ => number.to_string(),
        }
    }

    fn word(&mut self) -> String {
        if self.random.one_in(6) {
            let word = self.random.of(&["a", "B", "ü ", "", "it's"]).to_owned();
            self.params.push(match self.random.below(4) {
                0 => Param::Null,
                1 => Param::LongData(word.into_bytes()),
                _ => Param::Text(word),
            });
            return "?".to_owned();
        }
        self.random
            .of(&[
                "'a'",
                "'A'",
                "'b'",
                "'ä'",
                "NULL",
                "''",
                "'a '",
                "'it''s'",
                "\"q\"",
                "'x\\'y'",
                "7",
                "'😀'",
                "UPPER('c')",
                "CONCAT('a', 1)",
                "'a longer word'",
                "LEFT('xyz', 2)",
                "1 = 1",
                "DATABASE()",
                "_latin1'z'",
                "'_000'",
            ])
            .to_owned()
    }

    fn of_key(&mut self, alias: &str) -> String {
        let column = match self.random.below(4) {
            0 => format!("{alias}.`k`"),
            1 => format!("{alias}.K"),
            2 => format!("({alias}.k)"),
            _ => format!("{alias}.k"),
        };
        match self.random.below(14) {
            0 => format!("{} = {column}", self.key()),
            1 => format!("{column} IN ({}, {})", self.key(), self.key()),
            2 => format!("{column} IN ({})", self.key()),
            3 => format!("{column} <=> {}", self.key()),
            4 => format!("({column}, {alias}.n) = ({}, {})", self.key(), self.number()),
            5 => format!(
                "({alias}.n, {column}) IN (({}, {}), ({}, {}))",
                self.number(),
                self.key(),
                self.number(),
                self.key()
            ),
            6 => format!("({column} = {} OR {column} = {})", self.key(), self.key()),
            7 => format!("{column} = {} && {}", self.key(), self.condition(alias, 1)),
            8 => format!("({} AND ({column} = {}))", self.condition(alias, 1), self.key()),
            9 => {
                format!("({column} = {} AND {alias}.n = 1 OR {column} = {} AND {alias}.n = 2)", self.key(), self.key())
            }
            10 => format!("{column} BETWEEN {} AND {}", self.key(), self.key()),
            11 if self.random.one_in(3) => format!("{column} = {}", self.random.of(self.key.odd)),
            _ => format!("{column} = {}", self.key()),
        }
    }

    /// Of a row that has `n`.
    fn condition(&mut self, alias: &str, depth: usize) -> String {
        let (a, b) = (self.table("a"), self.table("b"));
        match self.random.below(if depth == 0 { 7 } else { 16 }) {
            0 => format!("{alias}.n > {}", self.number()),
            1 => format!("{alias}.n IN ({}, {}, 4)", self.number(), self.number()),
            2 => format!("{alias}.n % 2 = 1"),
            3 => format!("{alias}.n BETWEEN {} AND 4", self.number()),
            4 => format!("NOT {alias}.n = {}", self.number()),
            5 => format!("{alias}.n IS NOT NULL"),
            6 => "1".to_owned(),
            7 => format!("({} OR {})", self.condition(alias, depth - 1), self.condition(alias, depth - 1)),
            8 => format!("{} AND {}", self.condition(alias, depth - 1), self.condition(alias, depth - 1)),
            9 => format!("NOT ({} XOR {})", self.condition(alias, depth - 1), self.condition(alias, depth - 1)),
            10 => format!(
                "EXISTS (SELECT 1 FROM {} z WHERE z.k = {alias}.k AND {})",
                self.written(&b),
                self.condition("z", 0)
            ),
            11 => format!("{alias}.n IN (SELECT y.n FROM {} y WHERE y.k = {alias}.k)", self.written(&a)),
            12 => format!("{alias}.n <= ALL (SELECT p FROM r WHERE p > {})", self.number()),
            13 => format!(
                "(SELECT COUNT(*) FROM {} z WHERE {} AND z.n = {alias}.n) < 2",
                self.written(&a),
                self.of_key_plain("z")
            ),
            14 => format!("{alias}.n NOT IN (SELECT p FROM u)"),
            _ => format!("CASE {alias}.n WHEN {} THEN 0 ELSE 1 END", self.number()),
        }
    }

    fn of_key_plain(&mut self, alias: &str) -> String {
        format!("{alias}.k = {}", self.key())
    }

    fn select(&mut self) -> String {
        let (a, b, i) = (self.table("a"), self.table("b"), self.table("i"));
        let (wa, wb) = (self.written(&a), self.written(&b));
        let as_word = self.random.of(&["", "AS "]);
        match self.random.below(26) {
            0 => format!("SELECT * FROM {wa} {as_word}t WHERE {}", self.of_key("t")),
            1 => format!("SELECT {a}.* FROM {wa} WHERE {} AND {} ORDER BY n", self.of_key(&a), self.condition(&a, 2)),
            2 => format!(
                "SELECT mall.{a}.k, n + 1, `{a}`.v AS `a v`, mall.{a}.d*2 FROM mall.{a} WHERE {} ORDER BY mall.{a}.n DESC LIMIT {}",
                self.of_key(&format!("mall.{a}")),
                self.random.below(4)
            ),
            3 => format!(
                "SELECT COUNT(*), SUM(d), AVG(d), MIN(n), MAX(s), GROUP_CONCAT(n ORDER BY n) FROM {wa} t WHERE {}",
                self.of_key("t")
            ),
            4 => format!(
                "SELECT n % 2 AS h, COUNT(*) c FROM {wa} t WHERE {} GROUP BY n % 2 HAVING c > {} ORDER BY h",
                self.of_key("t"),
                self.random.below(2)
            ),
            5 => format!(
                "SELECT * FROM {wa} x JOIN {wb} y ON x.k = y.k AND x.n = y.n WHERE {} ORDER BY x.n",
                self.of_key("x")
            ),
            6 => format!(
                "SELECT * FROM {wa} x LEFT JOIN {wb} y ON x.k = y.k AND y.n > {} WHERE {} ORDER BY x.n, y.n",
                self.number(),
                self.of_key("x")
            ),
            7 => format!(
                "SELECT x.n, y.w FROM {wb} y RIGHT JOIN {wa} x ON x.k = y.k AND {} WHERE {} ORDER BY 1, 2",
                self.condition("y", 0),
                self.of_key("x")
            ),
            8 => format!(
                "SELECT * FROM {wa} x LEFT JOIN {wb} y ON x.k = y.k AND x.n = y.n WHERE {} ORDER BY x.n",
                self.of_key("y")
            ),
            9 => format!("SELECT * FROM {wa} x, r WHERE {} AND r.p = x.n ORDER BY x.n", self.of_key("x")),
            10 => format!(
                "SELECT r.q, x.v FROM r LEFT JOIN {wa} x ON x.n = r.p AND {} ORDER BY r.p, x.n",
                self.of_key_plain("x")
            ),
            11 => format!(
                "SELECT * FROM {wa} JOIN {wb} USING (k, n) WHERE {}.k = {} ORDER BY n",
                self.random.of(&[&a, &b]),
                self.key()
            ),
            12 => format!("SELECT * FROM {wa} NATURAL JOIN {wb} WHERE k = {} ORDER BY n", self.key()),
            13 => format!(
                "SELECT v FROM {wa} t WHERE {} UNION SELECT w FROM {wb} t WHERE {} ORDER BY 1 DESC",
                self.of_key("t"),
                self.of_key("t")
            ),
            14 => format!(
                "(SELECT n FROM {wa} t WHERE {} ORDER BY n LIMIT 2) UNION ALL (SELECT p FROM r) ORDER BY 1",
                self.of_key("t")
            ),
            15 => format!(
                "SELECT * FROM (SELECT k, n, v FROM {wa} t WHERE {} LIMIT 50) q WHERE {} ORDER BY n",
                self.of_key("t"),
                self.condition("q", 1)
            ),
            16 => format!(
                "WITH c AS (SELECT * FROM {wa} t WHERE {} LIMIT 50) SELECT c.n, y.w FROM c LEFT JOIN {wb} y ON y.k = c.k AND y.n = c.n ORDER BY c.n",
                self.of_key("t")
            ),
            17 => format!(
                "SELECT n, (SELECT MAX(z.w) FROM {wb} z WHERE z.k = t.k AND z.n = t.n) m, ROW_NUMBER() OVER (ORDER BY n) FROM {wa} t WHERE {} ORDER BY n",
                self.of_key("t")
            ),
            18 => format!("SELECT k, v FROM {} t WHERE t.k = {} ORDER BY v, k", self.written(&i), self.key()),
            19 => format!(
                "SELECT * FROM {wa} t WHERE {} ORDER BY n LIMIT 1 OFFSET 1 {}",
                self.of_key("t"),
                self.random.of(&["", "FOR UPDATE", "LOCK IN SHARE MODE"])
            ),
            20 => {
                format!("SELECT {} , t.n FROM {wa} t WHERE {} AND t.v = {}", self.word(), self.of_key("t"), self.word())
            }
            21 => "SELECT * FROM u JOIN r USING (p) ORDER BY p".to_owned(),
            22 => format!("SELECT {}, 1 FROM u WHERE p = {}", self.word(), self.number()),
            23 => format!(
                "SELECT DISTINCT t.s, {} FROM {wa} t WHERE {} ORDER BY 1",
                self.random.of(&["nothing", "t.nothing", "t.d", "z.k", "NOSUCH(1)", "1/0", "CAST('5x' AS SIGNED)"]),
                self.of_key("t")
            ),
            24 => format!(
                "SELECT * FROM {} t WHERE {}",
                self.random.of(&["nowhere", "mall.nowhere", "a_int_0000", "mall_0.a_int"]),
                self.of_key("t")
            ),
            _ => format!(
                "SELECT n{} FROM {wa} t WHERE {} {}",
                self.random.of(&["", ", e", ", `v`", ",k"]),
                self.of_key("t"),
                self.random.of(&["-- end", "# end", "/* end */", "", "GROUP", "AND"])
            ),
        }
    }

    fn all_rows(&mut self) -> String {
        let (table, order) = match self.random.below(4) {
            0 => (self.table("a"), "n"),
            1 => (self.table("b"), "n"),
            2 => (self.table("i"), "v, k"),
            _ => return self.random.of(&["SELECT * FROM r ORDER BY p", "SELECT * FROM u ORDER BY p"]).to_owned(),
        };
        format!("SELECT * FROM {table} t WHERE t.k = {} ORDER BY {order}", self.key())
    }

    fn insert(&mut self) -> String {
        let (a, b, i) = (self.table("a"), self.table("b"), self.table("i"));
        let verb = self.random.of(&[
            "INSERT INTO",
            "INSERT",
            "INSERT IGNORE INTO",
            "REPLACE INTO",
            "REPLACE",
            "INSERT INTO",
            "insert /* c */ into",
        ]);
        let upsert = !verb.starts_with("REPLACE") && self.random.one_in(3);
        let mut sql = match self.random.below(13) {
            0..=3 => {
                let columns = self.random.of(&["", "(k, n, v, d, s)"]);
                let table = self.written(&a);
                let rows = self.rows(|maker| {
                    format!(
                        "({}, {}, {}, {}, {})",
                        maker.any_key(),
                        maker.number(),
                        maker.word(),
                        maker.decimal(),
                        maker.small()
                    )
                });
                format!("{verb} {table} {columns} VALUES {rows}")
            }
            4 | 5 => {
                let columns = self.random.of(&["(n, w, k)", "(`n`, W, `k`)"]);
                let table = self.written(&b);
                let rows = self.rows(|maker| format!("({}, {}, {})", maker.number(), maker.word(), maker.any_key()));
                format!("{verb} {table} {columns} VALUE {rows}")
            }
            6 => format!(
                "{verb} {} SET n = {}, w = {}, k = {}, e = {}",
                self.written(&b),
                self.number(),
                self.word(),
                self.any_key(),
                self.random.of(&["'x'", "'Z'", "2", "NULL", "DEFAULT"])
            ),
            7 => format!("{verb} {} (k) VALUES ({})", self.written(&b), self.any_key()),
            8 | 9 => {
                let table = self.written(&i);
                let rows = self.rows(|maker| {
                    let id = maker.id();
                    format!("({id}, {}, {})", maker.any_key(), maker.word())
                });
                format!("{verb} {table} VALUES {rows}")
            }
            10 => {
                let table = self.written(&i);
                let rows = self.rows(|maker| format!("({}, {})", maker.any_key(), maker.word()));
                format!("{verb} {table} (k, v) VALUES {rows}")
            }
            11 => {
                let table = self.random.of(&["r", "u"]);
                let rows = self.rows(|maker| format!("({}, {}, {})", maker.number(), maker.word(), maker.decimal()));
                format!("{verb} {table} VALUES {rows}")
            }
            _ => {
                return format!(
                    "{verb} {} SELECT t.k, t.n + {}, t.v, t.d, t.s FROM {} t WHERE {}",
                    self.written(&a),
                    self.random.below(3),
                    self.written(&a),
                    self.of_key("t")
                );
            }
        };
        if upsert {
            let column = ["w", "v", "q"]
                .into_iter()
                .find(|column| sql.contains(&format!("{column},")) || sql.contains(&format!("{column} =")))
                .unwrap_or(if sql.contains("b_") { "w" } else { "v" });
            sql += &format!(
                " ON DUPLICATE KEY UPDATE {column} = {}",
                match self.random.below(3) {
                    0 => format!("VALUES({column})"),
                    1 => self.word(),
                    _ => format!("CONCAT({column}, 'x')"),
                }
            );
        }
        sql
    }

    fn rows(&mut self, mut row: impl FnMut(&mut Maker) -> String) -> String {
        let count = if self.random.one_in(2) { 1 } else { 1 + self.random.below(5) };
        (0..count).map(|_| row(self)).collect::<Vec<_>>().join(", ")
    }

    fn id(&mut self) -> String {
        self.explicit_id += 1;
        match self.random.below(6) {
            0 => "NULL".to_owned(),
            1 => "0".to_owned(),
            2 => "DEFAULT".to_owned(),
            3 => {
                self.params.push(Param::Null);
                "?".to_owned()
            }
            4 => {
                self.params.push(Param::Int(0));
                "?".to_owned()
            }
            _ => "'0'".to_owned(),
        }
    }

    fn decimal(&mut self) -> String {
        if self.random.one_in(5) {
            self.params.push(Param::Decimal("3.75".to_owned()));
            return "?".to_owned();
        }
        self.random
            .of(&["1.50", "NULL", "DEFAULT", "-2", "1e1", "'4.125'", "1 + 1", "99999999", "'x'", "2.005"])
            .to_owned()
    }

    fn small(&mut self) -> String {
        self.random.of(&["1", "255", "256", "-1", "NULL", "DEFAULT", "'7'", "3.5", "n + 1", "TRUE"]).to_owned()
    }

    fn update(&mut self) -> String {
        let (a, b, i) = (self.table("a"), self.table("b"), self.table("i"));
        let (wa, wb) = (self.written(&a), self.written(&b));
        let ignore = self.random.of(&["", "", "IGNORE ", "LOW_PRIORITY "]);
        match self.random.below(12) {
            0 | 1 => format!(
                "UPDATE {ignore}{wa} t SET t.v = {}, d = d + {} WHERE {}",
                self.word(),
                self.number(),
                self.of_key("t")
            ),
            2 => format!(
                "UPDATE {ignore}{wa} SET s = {} WHERE {} AND {}",
                self.small(),
                self.of_key(&a),
                self.condition(&a, 1)
            ),
            3 => format!(
                "UPDATE {ignore}{wa} SET n = n + {} WHERE {} ORDER BY n {} LIMIT {}",
                self.random.below(3),
                self.of_key(&a),
                self.random.of(&["", "DESC"]),
                self.random.below(3)
            ),
            4 => format!(
                "UPDATE {wa} x JOIN {wb} y ON x.k = y.k AND x.n = y.n SET x.v = y.w, y.t = '2024-01-01' WHERE {}",
                self.of_key("x")
            ),
            5 => format!(
                "UPDATE {ignore}{wb} t SET w = {}, e = {} WHERE {}",
                self.word(),
                self.random.of(&["'x'", "'bad'", "NULL"]),
                self.of_key("t")
            ),
            6 => format!("UPDATE {wa} x, r SET x.v = r.q WHERE r.p = x.n AND {}", self.of_key("x")),
            7 => format!("UPDATE {wa} SET v = {} WHERE n = {}", self.word(), self.number()),
            8 => format!("UPDATE {ignore}r SET q = {}, g = g + 1 WHERE p = {}", self.word(), self.number()),
            9 => format!("UPDATE {ignore}u SET q = {} WHERE p IN ({}, {})", self.word(), self.number(), self.number()),
            10 => format!("UPDATE {} SET v = {} WHERE k = {}", self.written(&i), self.word(), self.key()),
            _ => format!("UPDATE {ignore}{wa} SET k = {}, s = 1 WHERE {}", self.key(), self.of_key(&a)),
        }
    }

    fn delete(&mut self) -> String {
        let (a, b) = (self.table("a"), self.table("b"));
        let (wa, wb) = (self.written(&a), self.written(&b));
        match self.random.below(7) {
            0 => format!("DELETE FROM {wa} WHERE {} AND {}", self.of_key(&a), self.condition(&a, 1)),
            1 => format!("DELETE IGNORE FROM {wb} WHERE mall.{b}.n = {} AND {}", self.number(), self.of_key(&b)),
            2 => format!("DELETE x FROM {wa} x JOIN {wb} y ON x.k = y.k AND x.n = y.n WHERE {}", self.of_key("y")),
            3 => format!("DELETE FROM {wa} WHERE {} ORDER BY n LIMIT 1", self.of_key(&a)),
            4 => format!("DELETE FROM {wa} WHERE n = {}", self.number()),
            5 => format!("DELETE FROM {} WHERE p = {}", self.random.of(&["r", "u"]), self.number()),
            _ => format!(
                "DELETE FROM x, y USING {wa} x LEFT JOIN {wb} y ON x.k = y.k AND x.n = y.n WHERE {} AND x.n > 2",
                self.of_key("x")
            ),
        }
    }

    fn session(&mut self) -> String {
        let choice = self.random.of(&[
            "BEGIN",
            "START TRANSACTION",
            "COMMIT",
            "ROLLBACK",
            "COMMIT",
            "ROLLBACK",
            "SAVEPOINT s1",
            "SAVEPOINT S2",
            "ROLLBACK TO s1",
            "ROLLBACK TO s2",
            "RELEASE SAVEPOINT s1",
            "SET autocommit = 0",
            "SET autocommit = 1",
            "SELECT @@autocommit",
            "SELECT ROW_COUNT()",
            "SELECT LAST_INSERT_ID() > 0",
            "SET sql_mode = ''",
            "SET sql_mode = DEFAULT",
            "SET sql_mode = 'ANSI,STRICT_ALL_TABLES'",
            "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
            "SET sql_mode = 'PIPES_AS_CONCAT,STRICT_TRANS_TABLES'",
            "SET @x = 5",
            "SELECT @x",
            "DO 1",
            "SET NAMES latin1",
            "SET NAMES utf8mb4",
            "SET sql_safe_updates = 0",
            "/* nothing */ SELECT 1",
            "COMMIT AND CHAIN",
            "SET sql_mode = DEFAULT",
            "SET NAMES utf8mb4",
        ]);
        if choice.contains("S2") && self.flavour == Flavour::MySql {
            "SAVEPOINT s2".to_owned()
        } else {
            choice.to_owned()
        }
    }
}
