//! The collations that a key may have: how equality under each becomes equality of bytes.
//!
//! A closed list: a collation is here because its equal strings, and only they, have equal weight strings once
//! trailing weights of the space are cut where it pads (`tests/keys.rs` holds it against real servers).

/// A key column's collation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collation {
    /// As the server spells it.
    name: String,
    order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Equal characters only; trailing spaces count unless it pads.
    Binary { pads: bool },
    /// By weights. `space`: the space's weight where the collation pads. `learned`: the position in `LEARNED`.
    Weights { space: Option<&'static [u8]>, learned: Option<usize> },
}

/// Single-level collations without contractions among the characters that are learned: the proxy adds up weights
/// itself. Names with `utf8mb3` stand for their older spelling with `utf8` too.
pub const LEARNED: [&str; 16] = [
    "utf8mb4_general_ci",
    "utf8mb4_unicode_ci",
    "utf8mb4_unicode_520_ci",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_uca1400_ai_ci",
    "utf8mb4_uca1400_nopad_ai_ci",
    "utf8mb4_general_nopad_ci",
    "utf8mb3_general_ci",
    "utf8mb3_unicode_ci",
    "utf8mb3_unicode_520_ci",
    "utf8mb3_uca1400_ai_ci",
    "latin1_swedish_ci",
    "latin1_swedish_nopad_ci",
    "latin1_general_ci",
    "latin1_general_cs",
    "ascii_general_ci",
];

/// Tailored for a language, single-level, padding: weights with contractions, asked of a server.
const LANGUAGES: [&str; 24] = [
    "icelandic",
    "latvian",
    "romanian",
    "slovenian",
    "polish",
    "estonian",
    "spanish",
    "swedish",
    "turkish",
    "czech",
    "danish",
    "lithuanian",
    "slovak",
    "spanish2",
    "roman",
    "persian",
    "esperanto",
    "hungarian",
    "sinhala",
    "german2",
    "croatian",
    "vietnamese",
    "myanmar",
    "croatian_mysql561",
];

impl Collation {
    /// `None`: not on the list.
    pub fn named(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let full = match lower.strip_prefix("utf8_") {
            Some(rest) => format!("utf8mb3_{rest}"),
            None => lower,
        };
        Some(Collation { name: name.to_owned(), order: order(&full)? })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn order(&self) -> Order {
        self.order
    }
}

fn order(name: &str) -> Option<Order> {
    let (charset, rest) = name.split_once('_')?;
    let unicode = match charset {
        "utf8mb4" | "utf8mb3" => true,
        "latin1" | "ascii" => false,
        _ => return None,
    };
    let pads = !(rest.contains("nopad") || rest.contains("0900"));
    if matches!(rest, "bin" | "nopad_bin" | "0900_bin") {
        return Some(Order::Binary { pads });
    }
    let learned = LEARNED.iter().position(|known| *known == name);
    let space = match (learned.is_some(), unicode) {
        (true, false) => b" ".as_slice(),
        (false, false) => one_byte(charset, rest).then_some(b" ")?,
        (true, true) => unicode_space(rest),
        (false, true) => asked(rest).then(|| unicode_space(rest))?,
    };
    Some(Order::Weights { space: pads.then_some(space), learned })
}

/// Collations by a table of one weight a byte, all of them simple.
fn one_byte(charset: &str, rest: &str) -> bool {
    charset == "latin1" && matches!(rest, "german1_ci" | "danish_ci" | "spanish_ci")
}

fn asked(rest: &str) -> bool {
    let language = rest.strip_suffix("_ci").is_some_and(|language| LANGUAGES.contains(&language));
    // Several levels there, but they do not pad: the weight string as it is says what is equal.
    let levels = rest.contains("0900_a") || (rest.contains("uca1400") && rest.contains("nopad"));
    let single_level = rest.contains("uca1400") && rest.ends_with("_ai_ci");
    language || levels || single_level || matches!(rest, "unicode_nopad_ci" | "unicode_520_nopad_ci")
}

/// The space's primary weight: of general_ci, of Unicode's table 5.2.0, of its tables 4.0.0, 9.0.0 and 14.0.0.
fn unicode_space(rest: &str) -> &'static [u8] {
    match rest {
        "general_ci" | "general_nopad_ci" => b"\x00\x20",
        "unicode_520_ci" | "unicode_520_nopad_ci" | "myanmar_ci" => b"\x02\x0a",
        _ => b"\x02\x09",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(name: &str) -> Option<Order> {
        Collation::named(name).map(|collation| collation.order())
    }

    #[test]
    fn the_list_knows_what_pads() {
        assert_eq!(order_of("utf8mb4_bin"), Some(Order::Binary { pads: true }));
        assert_eq!(order_of("utf8mb4_0900_bin"), Some(Order::Binary { pads: false }));
        assert_eq!(order_of("latin1_nopad_bin"), Some(Order::Binary { pads: false }));
        let general = Order::Weights { space: Some(b"\0 "), learned: Some(7) };
        assert_eq!(order_of("utf8_general_ci"), Some(general));
        assert_eq!(order_of("utf8mb3_general_ci"), Some(general));
        assert_eq!(order_of("utf8mb4_0900_ai_ci"), Some(Order::Weights { space: None, learned: Some(3) }));
        assert_eq!(order_of("utf8mb4_spanish_ci"), Some(Order::Weights { space: Some(b"\x02\x09"), learned: None }));
    }

    #[test]
    fn other_collations_are_not_on_the_list() {
        for name in ["gbk_chinese_ci", "latin1_german2_ci", "utf8mb4_uca1400_as_cs", "utf8mb4_thai_520_w2", "x", ""] {
            assert_eq!(order_of(name), None, "{name}");
        }
    }
}
