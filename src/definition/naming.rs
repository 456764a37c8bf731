//! The names that differ from subtable to subtable: the table's own, and those of its named
//! constraints, which a server wants unique within a database. Above the servers they are logical.

use std::borrow::Cow;

use crate::topology::{NamePattern, Siblings, SubtableNo};

/// Names of tables in which a definition is tried begin so.
pub const SCRATCH_PREFIX: &str = "bifold_scratch_";

/// How one physical table of a logical table, and its constraints, are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    pub logical: String,
    pub physical: String,
    /// 0 where the table is whole.
    pub subtable: SubtableNo,
    /// Put behind a constraint's name: `positive` → `positive_0007`.
    suffix: String,
    /// The sharded tables that foreign keys may point to.
    beside: Siblings,
}

impl Naming {
    pub fn subtable(logical: &str, pattern: &NamePattern, subtable: SubtableNo) -> Self {
        Naming {
            logical: logical.to_owned(),
            physical: pattern.physical_name(subtable),
            subtable,
            suffix: format!("_{:04}", subtable.0),
            beside: Siblings::default(),
        }
    }

    /// A table that is whole in its database and keeps its name.
    pub fn whole(logical: &str) -> Self {
        let logical = logical.to_owned();
        Naming {
            physical: logical.clone(),
            logical,
            subtable: SubtableNo(0),
            suffix: String::new(),
            beside: Siblings::default(),
        }
    }

    /// A table of another name that stands for the logical one while its definition is tried.
    pub fn scratch(logical: &str, number: u64) -> Self {
        Naming {
            logical: logical.to_owned(),
            physical: format!("{SCRATCH_PREFIX}{number:016x}"),
            subtable: SubtableNo(0),
            suffix: "_scratch".to_owned(),
            beside: Siblings::default(),
        }
    }

    /// With the tables that stand beside it.
    pub fn among(self, beside: &Siblings) -> Self {
        Naming { beside: beside.clone(), ..self }
    }

    /// What the application calls the table that a foreign key of this one points to.
    pub fn logical_parent<'a>(&'a self, physical: &'a str) -> &'a str {
        if physical == self.physical {
            return &self.logical;
        }
        let is_of = |pattern: &NamePattern| pattern.logical_of(physical.as_bytes()) == Some(self.subtable);
        self.beside.iter().find(|(_, pattern)| is_of(pattern)).map_or(physical, |(name, _)| name)
    }

    /// The table that a foreign key of this one points to.
    pub fn parent(&self, logical: &str) -> String {
        if logical == self.logical {
            return self.physical.clone();
        }
        let found = self.beside.iter().find(|(name, _)| name == logical);
        found.map_or_else(|| logical.to_owned(), |(_, pattern)| pattern.physical_name(self.subtable))
    }

    /// A constraint's name in this physical table.
    pub fn constraint(&self, logical: &str) -> String {
        match (self.numbered_by_server(&self.logical, logical), is_anonymous(logical)) {
            (Some(rest), _) => format!("{}{rest}", self.physical),
            (None, true) => logical.to_owned(),
            (None, false) => format!("{logical}{}", self.suffix),
        }
    }

    /// The name as the application gave it.
    pub fn logical_constraint<'a>(&self, physical: &'a str) -> Cow<'a, str> {
        match self.numbered_by_server(&self.physical, physical) {
            Some(rest) => format!("{}{rest}", self.logical).into(),
            None => physical.strip_suffix(self.suffix.as_str()).unwrap_or(physical).into(),
        }
    }

    /// A server's text with the names of this table made logical: `mall_0.orders_0007` and
    /// `orders_0007` become `mall.orders` and `orders`. A value that the text quotes stays.
    pub fn logical_text(&self, text: &[u8], database: &str, schema: &str) -> Vec<u8> {
        let (value, rest) = text.split_at(end_of_value(text));
        let rest = replace_word(rest, self.physical.as_bytes(), self.logical.as_bytes());
        let rest = replace_word(&rest, database.as_bytes(), schema.as_bytes());
        let rest = if self.suffix.is_empty() {
            rest
        } else {
            let suffix = self.suffix.as_bytes();
            without_suffixes(&rest, |name| name.ends_with(suffix).then(|| name.len() - suffix.len()))
        };
        [value, &rest].concat()
    }

    /// `_chk_1` of `orders_chk_1`, `_ibfk_2` of `orders_ibfk_2`: names that a server makes.
    fn numbered_by_server<'a>(&self, table: &str, name: &'a str) -> Option<&'a str> {
        let rest = name.strip_prefix(table)?;
        let number = rest.strip_prefix("_chk_").or_else(|| rest.strip_prefix("_ibfk_"))?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
    }
}

/// A server's text with the names of constraints as the application gave them, where the subtable
/// is not at hand: ``CONSTRAINT `positive_0007` `` loses its suffix.
pub fn without_constraint_suffix(text: &[u8]) -> Vec<u8> {
    without_suffixes(text, |name| {
        let at = name.iter().rposition(|byte| *byte == b'_')?;
        let digits = &name[at + 1..];
        (digits.len() >= 4 && digits.iter().all(u8::is_ascii_digit)).then_some(at)
    })
}

/// Names of constraints in a text are cut at the length that `cut` gives.
fn without_suffixes(text: &[u8], cut: impl Fn(&[u8]) -> Option<usize>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.iter().position(|byte| matches!(byte, b'`' | b'\'')) {
        let (before, quoted) = rest.split_at(open + 1);
        let length = quoted.iter().position(|byte| *byte == rest[open]).unwrap_or(quoted.len());
        out.extend_from_slice(before);
        let name = &quoted[..length];
        let kept = if names_constraint(before) { cut(name).unwrap_or(length) } else { length };
        out.extend_from_slice(&name[..kept]);
        // The closing quote is none that opens.
        let end = (length + 1).min(quoted.len());
        out.extend_from_slice(&quoted[length..end]);
        rest = &quoted[end..];
    }
    out.extend_from_slice(rest);
    out
}

/// Does the quote that this text ends in follow the word "constraint"?
fn names_constraint(text: &[u8]) -> bool {
    let before = text[..text.len().saturating_sub(1)].to_ascii_lowercase();
    before.ends_with(b"constraint ") || before.ends_with(b"constraint name ")
}

/// `Duplicate entry '…' for key …`: what stands before the key is a value, whatever it looks like.
fn end_of_value(text: &[u8]) -> usize {
    if !text.starts_with(b"Duplicate entry '") {
        return 0;
    }
    memchr::memmem::rfind(text, b"' for key ").unwrap_or(0)
}

/// `CONSTRAINT_1`: what MariaDB calls a constraint without a name, within the table.
fn is_anonymous(name: &str) -> bool {
    name.strip_prefix("CONSTRAINT_").is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Replaces `from` where it stands as a whole word.
fn replace_word(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    if from == to || from.is_empty() {
        return text.to_vec();
    }
    let in_word =
        |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | 0x80..));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = find(&text[at..], from) {
        let (start, end) = (at + found, at + found + from.len());
        out.extend_from_slice(&text[at..start]);
        let whole = !in_word(start.checked_sub(1).and_then(|before| text.get(before))) && !in_word(text.get(end));
        out.extend_from_slice(if whole { to } else { from });
        at = end;
    }
    out.extend_from_slice(&text[at..]);
    out
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders_7() -> Naming {
        let pattern = crate::config::NamePattern::parse("orders_{n:04}", 8, 0).unwrap();
        Naming::subtable("orders", &NamePattern::new(pattern), SubtableNo(7))
    }

    #[test]
    fn a_constraint_gets_the_suffix_and_loses_it() {
        let naming = orders_7();
        assert_eq!(naming.constraint("positive"), "positive_0007");
        assert_eq!(naming.logical_constraint("positive_0007"), "positive");
        assert_eq!(Naming::whole("t").constraint("positive"), "positive");
    }

    #[test]
    fn names_that_a_server_makes_follow_the_table() {
        let naming = orders_7();
        assert_eq!(naming.constraint("orders_chk_2"), "orders_0007_chk_2");
        assert_eq!(naming.logical_constraint("orders_0007_chk_2"), "orders_chk_2");
        assert_eq!(naming.constraint("CONSTRAINT_1"), "CONSTRAINT_1");
        assert_eq!(naming.logical_constraint("CONSTRAINT_1"), "CONSTRAINT_1");
    }

    #[test]
    fn no_physical_name_stays_in_a_text() {
        let naming = orders_7();
        let logical = |text: &str| String::from_utf8(naming.logical_text(text.as_bytes(), "mall_0", "mall")).unwrap();
        assert_eq!(logical("Table 'mall_0.orders_0007' doesn't exist"), "Table 'mall.orders' doesn't exist");
        assert_eq!(
            logical("CONSTRAINT `c_0007` failed for `mall_0`.`orders_0007`"),
            "CONSTRAINT `c` failed for `mall`.`orders`"
        );
        assert_eq!(logical("Duplicate check constraint name 'c_0007'."), "Duplicate check constraint name 'c'.");
        assert_eq!(
            logical("Duplicate entry 'orders_0007-mall_0' for key 'orders_0007.u_0007'"),
            "Duplicate entry 'orders_0007-mall_0' for key 'orders.u_0007'"
        );
        assert_eq!(
            logical("Unknown column 'xorders_00071' in 'field list'"),
            "Unknown column 'xorders_00071' in 'field list'"
        );
    }
}
