//! A table's definition as `SHOW CREATE TABLE` prints it, with logical names and without the
//! AUTO_INCREMENT counter: equal for all subtables of a table that are alike.

use std::fmt;

use super::facts::same_name;
use super::naming::Naming;

/// Compared byte for byte; made a physical table again by [`Definition::create`].
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Definition(String);

impl Definition {
    /// From the second column of `SHOW CREATE TABLE`, asked with `sql_mode=''`: names in
    /// backticks, strings in quotes.
    pub fn new(shown: &str, naming: &Naming) -> Self {
        let mut out = String::with_capacity(shown.len());
        let mut before = Before::Nothing;
        for piece in Pieces(shown) {
            before = match (piece, before) {
                (Piece::Name(_), Before::CreateTable) => push_name(&mut out, &naming.logical),
                (Piece::Name(name), Before::Constraint) => push_name(&mut out, &naming.logical_constraint(&name)),
                (Piece::Name(name), Before::References) => push_name(&mut out, naming.logical_parent(&name)),
                (Piece::Name(name), Before::Nothing) => push_name(&mut out, &name),
                (Piece::Other(text), _) => {
                    push_without_counter(&mut out, text);
                    Before::ending(text)
                }
                (Piece::Quoted(text), _) => {
                    out.push_str(text);
                    Before::Nothing
                }
            };
        }
        Definition(out)
    }

    /// The statement that makes a table of this definition in a database; to be run with
    /// `sql_mode=''`, since what stands may not be what a strict mode lets in.
    pub fn create(&self, database: &str, naming: &Naming) -> String {
        let mut out = String::with_capacity(self.0.len() + 64);
        let mut before = Before::Nothing;
        for piece in Pieces(&self.0) {
            before = match (piece, before) {
                (Piece::Name(_), Before::CreateTable) => {
                    push_name(&mut out, database);
                    out.push('.');
                    push_name(&mut out, &naming.physical)
                }
                (Piece::Name(name), Before::Constraint) => push_name(&mut out, &naming.constraint(&name)),
                (Piece::Name(name), Before::References) => {
                    push_name(&mut out, database);
                    out.push('.');
                    push_name(&mut out, &naming.parent(&name))
                }
                (Piece::Name(name), Before::Nothing) => push_name(&mut out, &name),
                (Piece::Other(text), _) => {
                    out.push_str(text);
                    Before::ending(text)
                }
                (Piece::Quoted(text), _) => {
                    out.push_str(text);
                    Before::Nothing
                }
            };
        }
        out
    }

    /// The statement that makes a temporary table for its rows; to be run likewise. It has the keys that
    /// decide what a column's metadata says, and of what temporary tables can't have nothing: foreign keys,
    /// CHECKs, partitions; a plain key stands for a fulltext one.
    pub fn create_temporary(&self, database: &str, table: &str) -> String {
        let plain = Naming::whole(table);
        let whole = self.create(database, &plain);
        let whole = whole.split_once("\n/*!50100 PARTITION BY").map_or(&*whole, |(before, _)| before);
        let whole = whole.split_once("\n PARTITION BY").map_or(whole, |(before, _)| before);
        let mut lines: Vec<String> = Vec::new();
        for line in whole.lines() {
            let trimmed = line.trim_start();
            if trimmed.starts_with("CONSTRAINT ") || trimmed.starts_with("CHECK ") {
                continue;
            }
            lines.push(match trimmed.strip_prefix("FULLTEXT KEY ") {
                Some(key) => format!("  KEY {}", first_letter(key)),
                None => line.replacen("CREATE TABLE ", "CREATE TEMPORARY TABLE ", usize::from(lines.is_empty())),
            });
        }
        // Between the parentheses the last line has no comma.
        let end = lines.iter().rposition(|line| line.starts_with(')')).unwrap_or(lines.len());
        for (at, line) in lines[..end].iter_mut().enumerate().skip(1) {
            let bare = line.trim_end_matches(',').len();
            line.truncate(bare);
            if at + 1 < end {
                line.push(',');
            }
        }
        lines.join("\n")
    }

    /// Is there a CHECK or a foreign key of this name? Those carry a suffix below, keys do not.
    pub fn has_constraint(&self, name: &str) -> bool {
        let mut before = Before::Nothing;
        Pieces(&self.0).any(|piece| {
            let found = matches!((&piece, before), (Piece::Name(it), Before::Constraint) if same_name(it, name));
            before = match piece {
                Piece::Other(text) => Before::ending(text),
                Piece::Name(_) | Piece::Quoted(_) => Before::Nothing,
            };
            found
        })
    }

    /// Is there a key that begins with these columns?
    pub fn has_key_on(&self, columns: &[String]) -> bool {
        let list: Vec<String> = columns.iter().map(|column| identifier(column).to_lowercase()).collect();
        let list = format!("({}", list.join(","));
        self.0.lines().map(|line| line.trim_start().to_lowercase()).any(|line| {
            let is_key = ["primary key ", "unique key ", "key "].iter().any(|word| line.starts_with(word));
            let behind = line.find(&list).map(|at| &line[at + list.len()..]);
            is_key && behind.is_some_and(|rest| rest.starts_with([')', ',']))
        })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first line that one has and the other has not, for a message.
    pub fn first_difference<'a>(&'a self, other: &'a Definition) -> Option<(&'a str, &'a str)> {
        let mut mine = self.0.lines();
        let mut theirs = other.0.lines();
        loop {
            match (mine.next(), theirs.next()) {
                (None, None) => return None,
                (a, b) if a == b => {}
                (a, b) => {
                    let tidy = |line: Option<&'a str>| line.unwrap_or("nothing").trim().trim_end_matches(',');
                    return Some((tidy(a), tidy(b)));
                }
            }
        }
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the name that follows is.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    CreateTable,
    Constraint,
    References,
}

impl Before {
    fn ending(text: &str) -> Self {
        if text.ends_with("CREATE TABLE ") {
            Before::CreateTable
        } else if text.ends_with("CONSTRAINT ") {
            Before::Constraint
        } else if text.ends_with(" REFERENCES ") {
            Before::References
        } else {
            Before::Nothing
        }
    }
}

enum Piece<'a> {
    /// A name, unquoted.
    Name(String),
    /// A string with its quotes.
    Quoted(&'a str),
    Other(&'a str),
}

/// The pieces of a printed definition.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let text = self.0;
        let first = *text.as_bytes().first()?;
        let end = match first {
            b'`' | b'\'' => end_of_quoted(text.as_bytes(), first),
            _ => text.find(['`', '\'']).unwrap_or(text.len()),
        };
        let (piece, rest) = text.split_at(end);
        self.0 = rest;
        Some(match first {
            b'`' => Piece::Name(piece[1..].strip_suffix('`').unwrap_or(&piece[1..]).replace("``", "`")),
            b'\'' => Piece::Quoted(piece),
            _ => Piece::Other(piece),
        })
    }
}

/// Past the closing quote; doubled quotes, and escapes in strings, belong to the content.
fn end_of_quoted(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' if quote == b'\'' => at += 2,
            byte if byte == quote && text.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// `` `k` (`a`,`b`) WITH … `` → `` `k` (`a`(1)) ``: the first column of a key, by its first letter.
fn first_letter(key: &str) -> String {
    let mut names = 0;
    let mut out = String::new();
    for piece in Pieces(key) {
        match piece {
            Piece::Name(name) => {
                push_name(&mut out, &name);
                names += 1;
                if names == 2 {
                    break;
                }
            }
            Piece::Other(text) | Piece::Quoted(text) => out.push_str(text),
        }
    }
    out + "(1))"
}

fn push_name(out: &mut String, name: &str) -> Before {
    out.push_str(&identifier(name));
    Before::Nothing
}

/// The counter moves with the rows; the definition does not.
fn push_without_counter(out: &mut String, text: &str) {
    const COUNTER: &str = " AUTO_INCREMENT=";
    match text.split_once(COUNTER) {
        None => out.push_str(text),
        Some((before, after)) => {
            out.push_str(before);
            out.push_str(after.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
    }
}

/// A name in backticks.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::SubtableNo;

    const SHOWN: &str = "CREATE TABLE `a_0003` (\n  `id` bigint unsigned NOT NULL AUTO_INCREMENT,\n  `d` int DEFAULT NULL COMMENT 'it''s `a_0003`',\n  PRIMARY KEY (`id`),\n  CONSTRAINT `a_0003_chk_1` CHECK ((`d` < 9)),\n  CONSTRAINT `nm_0003` CHECK ((`d` < 8))\n) ENGINE=InnoDB AUTO_INCREMENT=100 DEFAULT CHARSET=utf8mb4 COMMENT='x AUTO_INCREMENT=4'";

    fn naming(subtable: u16) -> Naming {
        let pattern = crate::config::NamePattern::parse("a_{n:04}", 8, 0).unwrap();
        Naming::subtable("a", &crate::topology::NamePattern::new(pattern), SubtableNo(subtable))
    }

    #[test]
    fn the_names_become_logical_and_the_counter_goes() {
        let definition = Definition::new(SHOWN, &naming(3));
        assert_eq!(
            definition.as_str(),
            "CREATE TABLE `a` (\n  `id` bigint unsigned NOT NULL AUTO_INCREMENT,\n  `d` int DEFAULT NULL COMMENT 'it''s `a_0003`',\n  PRIMARY KEY (`id`),\n  CONSTRAINT `a_chk_1` CHECK ((`d` < 9)),\n  CONSTRAINT `nm` CHECK ((`d` < 8))\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='x AUTO_INCREMENT=4'"
        );
    }

    #[test]
    fn a_definition_made_a_table_again_shows_the_same_definition() {
        let definition = Definition::new(SHOWN, &naming(3));
        let create = definition.create("mall_1", &naming(5));
        assert!(create.starts_with("CREATE TABLE `mall_1`.`a_0005` ("), "{create}");
        assert!(create.contains("CONSTRAINT `a_0005_chk_1`") && create.contains("CONSTRAINT `nm_0005`"), "{create}");
        let shown = create.replace("`mall_1`.", "");
        assert_eq!(Definition::new(&shown, &naming(5)), definition);
    }

    #[test]
    fn a_temporary_table_has_the_keys_and_nothing_that_it_can_not_have() {
        let shown = "CREATE TABLE `a_0003` (\n  `id` int NOT NULL,\n  `v` text COMMENT 'CREATE TABLE ,',\n  PRIMARY KEY (`id`),\n  FULLTEXT KEY `f` (`v`,`w`) /*!50100 WITH PARSER `ngram` */ ,\n  CONSTRAINT `a_0003_chk_1` CHECK ((`id` < 9))\n) ENGINE=InnoDB\n/*!50100 PARTITION BY HASH (`id`)\nPARTITIONS 2 */";
        let create = Definition::new(shown, &naming(3)).create_temporary("mall_0", "t");
        assert_eq!(
            create,
            "CREATE TEMPORARY TABLE `mall_0`.`t` (\n  `id` int NOT NULL,\n  `v` text COMMENT 'CREATE TABLE ,',\n  PRIMARY KEY (`id`),\n  KEY `f` (`v`(1))\n) ENGINE=InnoDB"
        );
    }

    #[test]
    fn the_first_difference_is_named() {
        let a = Definition::new(SHOWN, &naming(3));
        let b = Definition::new(&SHOWN.replace("`d` int", "`d` bigint"), &naming(3));
        let (mine, theirs) = a.first_difference(&b).unwrap();
        assert_eq!(mine, "`d` int DEFAULT NULL COMMENT 'it''s `a_0003`'");
        assert_eq!(theirs, "`d` bigint DEFAULT NULL COMMENT 'it''s `a_0003`'");
    }
}
