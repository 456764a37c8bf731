//! The names of a table's subtables: `orders_{n:04}`, how many, from which number on. A name is
//! computed in both directions and never stored.

use std::fmt;

/// A prefix, a number with leading zeros up to a width, a suffix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    prefix: String,
    suffix: String,
    width: u8,
    first: u32,
    count: u16,
}

/// The longest name of a table, in characters, on MySQL and MariaDB.
pub const MAX_NAME: usize = 64;

impl NamePattern {
    /// Reads `coin_{n}` or `coin_{n:04}`; the error says what is wrong with it.
    pub fn parse(text: &str, count: u16, first: u32) -> Result<Self, String> {
        let (prefix, rest) = text.split_once('{').ok_or_else(|| format!("\"{text}\" has no {{n}}"))?;
        let (number, suffix) = rest.split_once('}').ok_or_else(|| format!("\"{text}\" has a {{ without its }}"))?;
        if suffix.contains(['{', '}']) || prefix.contains('}') {
            return Err(format!("\"{text}\" has more than one {{n}}"));
        }
        let width = match number.split_once(':') {
            None if number == "n" => 1,
            Some(("n", digits)) if digits.len() == 2 && digits.starts_with('0') => digits
                .parse::<u8>()
                .ok()
                .filter(|width| (1..=9).contains(width))
                .ok_or_else(|| wrong_number(text, number))?,
            None | Some(_) => return Err(wrong_number(text, number)),
        };
        let pattern = NamePattern { prefix: prefix.to_owned(), suffix: suffix.to_owned(), width, first, count };
        let longest = pattern.name(pattern.count.saturating_sub(1));
        let length = longest.chars().count();
        if length > MAX_NAME {
            return Err(format!("\"{longest}\" has {length} characters, a table name at most {MAX_NAME}"));
        }
        Ok(pattern)
    }

    /// `orders` → `orders_0000` and on.
    pub fn default_text(table: &str) -> String {
        format!("{table}_{{n:04}}")
    }

    pub fn count(&self) -> u16 {
        self.count
    }

    pub fn first(&self) -> u32 {
        self.first
    }

    /// Appends the name of the subtable at this position.
    pub fn append(&self, position: u16, out: &mut Vec<u8>) {
        let mut digits = [b'0'; 10];
        let mut at = digits.len();
        let mut rest = self.first + u32::from(position);
        while rest > 0 || at == digits.len() {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8; // below 10
            rest /= 10;
        }
        at = at.min(digits.len() - usize::from(self.width));
        out.extend_from_slice(self.prefix.as_bytes());
        out.extend_from_slice(&digits[at..]);
        out.extend_from_slice(self.suffix.as_bytes());
    }

    pub fn name(&self, position: u16) -> String {
        let mut out = Vec::with_capacity(self.prefix.len() + self.suffix.len() + 10);
        self.append(position, &mut out);
        String::from_utf8(out).expect("made of two strings and digits")
    }

    /// The position whose name this is, exactly.
    pub fn position(&self, name: &[u8]) -> Option<u16> {
        let digits = name.strip_prefix(self.prefix.as_bytes())?.strip_suffix(self.suffix.as_bytes())?;
        let canonical =
            digits.len() == usize::from(self.width) || (digits.len() > usize::from(self.width) && digits[0] != b'0');
        if !canonical || digits.is_empty() || digits.len() > 10 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = digits.iter().fold(0u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        let position = number.checked_sub(self.first.into())?;
        u16::try_from(position).ok().filter(|position| *position < self.count)
    }

    /// A name that both patterns give.
    pub fn collision(&self, other: &NamePattern) -> Option<String> {
        if !(self.prefix.starts_with(&other.prefix) || other.prefix.starts_with(&self.prefix)) {
            return None;
        }
        let mut name = Vec::new();
        (0..self.count).find_map(|position| {
            name.clear();
            self.append(position, &mut name);
            other.position(&name).map(|_| self.name(position))
        })
    }
}

fn wrong_number(text: &str, number: &str) -> String {
    format!("\"{text}\": {{{number}}} is neither {{n}} nor {{n:0W}} with W from 1 to 9")
}

/// First and last name.
impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "{}", self.name(0)),
            count => write!(f, "{} … {}", self.name(0), self.name(count - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_its_position_agree_in_both_directions() {
        for (text, count, first) in
            [("orders_{n:04}", 1024, 0), ("coin_{n}", 5, 0), ("t{n:02}_x", 300, 98), ("{n}", 4096, u32::MAX - 4096)]
        {
            let pattern = NamePattern::parse(text, count, first).unwrap();
            for position in 0..count {
                assert_eq!(pattern.position(pattern.name(position).as_bytes()), Some(position), "{text} {position}");
            }
            assert_eq!(pattern.position(pattern.name(0).to_uppercase().as_bytes()).is_some(), text == "{n}");
        }
    }

    #[test]
    fn only_the_exact_spelling_is_a_subtable() {
        let padded = NamePattern::parse("orders_{n:04}", 1024, 0).unwrap();
        for stranger in [
            "orders_1024",
            "orders_007",
            "orders_00007",
            "orders_",
            "orders",
            "orders_000x",
            "orders_0007 ",
            "order_0007",
        ] {
            assert_eq!(padded.position(stranger.as_bytes()), None, "{stranger}");
        }
        let plain = NamePattern::parse("coin_{n}", 5, 1).unwrap();
        assert_eq!(plain.to_string(), "coin_1 … coin_5");
        for stranger in ["coin_0", "coin_01", "coin_6", "coin_99999999999999999999"] {
            assert_eq!(plain.position(stranger.as_bytes()), None, "{stranger}");
        }
    }

    #[test]
    fn patterns_that_meet_in_a_name_are_found() {
        let a = NamePattern::parse("t_{n}", 2000, 0).unwrap();
        let b = NamePattern::parse("t_{n:04}", 1024, 0).unwrap();
        assert_eq!(a.collision(&b).as_deref(), Some("t_1000"));
        assert_eq!(b.collision(&a).as_deref(), Some("t_1000"));
        let c = NamePattern::parse("t_1{n}", 2, 0).unwrap();
        assert_eq!(a.collision(&c).as_deref(), Some("t_10"));
        assert_eq!(NamePattern::parse("t_{n}", 1000, 0).unwrap().collision(&b), None);
    }

    #[test]
    fn a_pattern_says_what_is_wrong_with_it() {
        for (text, reason) in [
            ("orders", "no {n}"),
            ("orders_{n", "without its }"),
            ("orders_{n}_{n}", "more than one"),
            ("orders_{x}", "neither {n}"),
            ("orders_{n:4}", "neither {n}"),
            ("orders_{n:00}", "neither {n}"),
        ] {
            let error = NamePattern::parse(text, 4, 0).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(
            NamePattern::parse(&format!("{}_{{n:04}}", "x".repeat(60)), 4, 0).unwrap_err().contains("65 characters")
        );
        assert!(NamePattern::parse(&format!("{}_{{n:04}}", "é".repeat(59)), 4, 0).is_ok());
    }
}
