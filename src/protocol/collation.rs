//! Collations by the numbers that handshakes and column definitions carry, and the character
//! sets that they belong to: those of MySQL 9.7 and of MariaDB 10.11 (`collations.txt`, as the
//! servers' own information_schema lists them).
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_character_set.html>

use std::collections::HashMap;
use std::sync::LazyLock;

/// Where the servers agree on a number, its charset is the same; MariaDB calls five of them by
/// other names, which come second.
static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("collations.txt")));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collation {
    pub id: u16,
    pub charset: &'static str,
    pub name: &'static str,
}

impl Collation {
    pub fn by_id(id: u16) -> Option<Self> {
        let at = TABLE.all.partition_point(|collation| collation.id < id);
        TABLE.all.get(at).copied().filter(|collation| collation.id == id)
    }

    /// In any letter case; `utf8_…` is utf8mb3's.
    pub fn by_name(name: &str) -> Option<Self> {
        let mut name = name.to_ascii_lowercase();
        if let Some(rest) = name.strip_prefix("utf8_") {
            name = format!("utf8mb3_{rest}");
        }
        TABLE.by_name.get(name.as_str()).map(|&at| TABLE.all[at])
    }
}

/// A character set, with MySQL 9.7's default collation for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    pub name: &'static str,
    pub default_collation: u16,
    /// Bytes of its longest character.
    pub max_len: u8,
}

impl Charset {
    /// In any letter case; `utf8` is utf8mb3.
    pub fn by_name(name: &str) -> Option<Self> {
        let name = if name.eq_ignore_ascii_case("utf8") { "utf8mb3" } else { name };
        CHARSETS.iter().copied().find(|charset| charset.name.eq_ignore_ascii_case(name))
    }

    pub fn all() -> &'static [Charset] {
        &CHARSETS
    }

    /// A statement can't be sent in it: not every ASCII character is one byte of its own.
    pub fn is_wide(&self) -> bool {
        matches!(self.name, "ucs2" | "utf16" | "utf16le" | "utf32")
    }
}

struct Table {
    all: Vec<Collation>,
    by_name: HashMap<&'static str, usize>,
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let mut table = Table { all: Vec::new(), by_name: HashMap::new() };
        for line in text.lines() {
            let mut words = line.split(' ');
            let (Some(id), Some(charset), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let id = id.parse().expect("collations.txt: numbers of 16 bits");
            table.by_name.entry(name).or_insert(table.all.len());
            table.all.push(Collation { id, charset, name });
        }
        table
    }
}

const fn charset(name: &'static str, default_collation: u16, max_len: u8) -> Charset {
    Charset { name, default_collation, max_len }
}

const CHARSETS: [Charset; 41] = [
    charset("armscii8", 32, 1),
    charset("ascii", 11, 1),
    charset("big5", 1, 2),
    charset("binary", 63, 1),
    charset("cp1250", 26, 1),
    charset("cp1251", 51, 1),
    charset("cp1256", 57, 1),
    charset("cp1257", 59, 1),
    charset("cp850", 4, 1),
    charset("cp852", 40, 1),
    charset("cp866", 36, 1),
    charset("cp932", 95, 2),
    charset("dec8", 3, 1),
    charset("eucjpms", 97, 3),
    charset("euckr", 19, 2),
    charset("gb18030", 248, 4),
    charset("gb2312", 24, 2),
    charset("gbk", 28, 2),
    charset("geostd8", 92, 1),
    charset("greek", 25, 1),
    charset("hebrew", 16, 1),
    charset("hp8", 6, 1),
    charset("keybcs2", 37, 1),
    charset("koi8r", 7, 1),
    charset("koi8u", 22, 1),
    charset("latin1", 8, 1),
    charset("latin2", 9, 1),
    charset("latin5", 30, 1),
    charset("latin7", 41, 1),
    charset("macce", 38, 1),
    charset("macroman", 39, 1),
    charset("sjis", 13, 2),
    charset("swe7", 10, 1),
    charset("tis620", 18, 1),
    charset("ucs2", 35, 2),
    charset("ujis", 12, 3),
    charset("utf16", 54, 4),
    charset("utf16le", 56, 4),
    charset("utf32", 60, 4),
    charset("utf8mb3", 33, 3),
    charset("utf8mb4", 255, 4),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collation_is_found_by_number_and_by_name() {
        for (id, charset, name) in [
            (8, "latin1", "latin1_swedish_ci"),
            (33, "utf8mb3", "utf8mb3_general_ci"),
            (45, "utf8mb4", "utf8mb4_general_ci"),
            (63, "binary", "binary"),
            (255, "utf8mb4", "utf8mb4_0900_ai_ci"),
            (2304, "utf8mb4", "utf8mb4_uca1400_ai_ci"),
        ] {
            let collation = Collation { id, charset, name };
            assert_eq!(Collation::by_id(id), Some(collation));
            assert_eq!(Collation::by_name(name), Some(collation));
        }
        assert_eq!(Collation::by_name("UTF8_General_CI").map(|collation| collation.id), Some(33));
        assert_eq!(Collation::by_id(0), None);
        assert_eq!(Collation::by_name("nope"), None);
    }

    #[test]
    fn every_charset_and_its_default_collation_belong_together() {
        for charset in CHARSETS {
            let collation = Collation::by_id(charset.default_collation).expect(charset.name);
            assert_eq!(collation.charset, charset.name);
        }
        for collation in &TABLE.all {
            assert!(Charset::by_name(collation.charset).is_some(), "{collation:?}");
        }
        assert_eq!(Charset::by_name("UTF8").map(|charset| charset.max_len), Some(3));
    }
}
