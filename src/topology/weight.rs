//! Collation weights: the proxy adds them up itself for the characters that it learns of a server when a key first
//! needs the collation; whatever else a string holds is asked of a server once, and the answer kept.
//!
//! No I/O: a `Question` is a text for whoever has a connection, and `Weights` takes the answer.

use std::collections::HashMap;
use std::sync::OnceLock;

use parking_lot::Mutex;

use super::charset::Charset;
use super::collation::LEARNED;

/// All that is known about weights; shared by all sessions.
#[derive(Debug, Default)]
pub struct Weights {
    /// `None` within: the server's collation is odd, and its strings are asked one by one.
    tables: [OnceLock<Option<WeightTable>>; LEARNED.len()],
    asked: Mutex<Asked>,
}

/// What a server must say before a key can be hashed. Its text means the same on any connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    query: String,
    about: About,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum About {
    /// The weights of a collation's characters; its position in `LEARNED`.
    Collation(usize),
    /// The CRC-32 of one value, or NULL where it does not convert exactly; under which the answer is kept.
    Value(Vec<u8>),
}

/// What is known of a text's weights.
pub(super) enum Weighed {
    /// Joined, as WEIGHT_STRING() has them.
    Known(Vec<u8>),
    /// Ask about the collation first.
    Unlearned(Question),
    /// It holds a character that is not among those learned.
    Unknown,
}

impl Question {
    /// `expression` is the CRC-32 of one value, or NULL; its answer is kept under `key`.
    pub(super) fn about_value(expression: &str, key: Vec<u8>) -> Self {
        Question { query: format!("SELECT {expression}"), about: About::Value(key) }
    }

    /// One query that gives one row.
    pub fn query(&self) -> &str {
        &self.query
    }
}

impl Weights {
    /// Takes the row that a question's query gave, values as text; `None`: it gave none. An error says what is odd
    /// about the server's collation: its strings are asked one by one then, which is slower and as right.
    pub fn answer(&self, question: Question, row: Option<&[Option<Vec<u8>>]>) -> Result<(), String> {
        let row = row.unwrap_or_default();
        match question.about {
            About::Value(key) => {
                let crc = row.first().and_then(|cell| std::str::from_utf8(cell.as_ref()?).ok()?.parse().ok());
                self.asked.lock().put(key, crc);
                Ok(())
            }
            About::Collation(learned) => {
                let name = LEARNED[learned];
                let (table, odd) = match WeightTable::read(charset_of(name), row) {
                    Ok(table) => (Some(table), Ok(())),
                    Err(odd) => (None, Err(format!("collation {name}: {odd}"))),
                };
                // Another session may have been quicker: it learned the same.
                let _ = self.tables[learned].set(table);
                odd
            }
        }
    }

    /// `learned`: the collation's position in `LEARNED`; `collation`: its name as the server has it.
    pub(super) fn weigh(&self, learned: usize, collation: &str, text: &str) -> Weighed {
        match self.tables[learned].get() {
            None => Weighed::Unlearned(Question {
                query: lesson(collation, charset_of(LEARNED[learned])),
                about: About::Collation(learned),
            }),
            Some(table) => match table.as_ref().and_then(|table| table.weigh(text)) {
                Some(weights) => Weighed::Known(weights),
                None => Weighed::Unknown,
            },
        }
    }

    /// `None`: not asked yet. `Some(None)`: the value does not convert exactly.
    pub(super) fn answered(&self, key: &[u8]) -> Option<Option<u32>> {
        self.asked.lock().get(key)
    }
}

/// The weights of the characters learned, of one collation.
#[derive(Debug)]
struct WeightTable {
    /// By code point below `DENSE`: where in `pool`; `UNKNOWN` where not learned.
    dense: Vec<(u32, u8)>,
    pool: Vec<u8>,
    /// The Han block: all of one width.
    han: Vec<u8>,
    han_width: usize,
}

const DENSE: u32 = 0x530;
const UNKNOWN: (u32, u8) = (0, u8::MAX);
const HAN: std::ops::RangeInclusive<u32> = 0x4e00..=0x9fff;
/// Answers kept, in each of two generations.
const ASKED: usize = 1 << 16;

fn charset_of(collation: &str) -> Charset {
    let charset = collation.split_once('_').and_then(|(charset, _)| Charset::named(charset));
    charset.expect("the list has collations of known character sets")
}

/// The characters learned one by one: ASCII, Latin, Greek and Cyrillic, without combining marks (contractions
/// are made of those).
fn characters(charset: Charset) -> Vec<char> {
    let ranges = [0x20..=0x7e, 0xa0..=0x24f, 0x370..=0x3ff, 0x400..=0x482, 0x48a..=0x52f];
    let code_points = ranges.into_iter().flatten();
    code_points.filter_map(char::from_u32).filter(|c| charset.holds(c.encode_utf8(&mut [0; 4]))).collect()
}

/// A text that has every two printable ASCII characters side by side, and all learned ones forwards and backwards:
/// where its weights are not those of its characters joined, the collation contracts, and is not learned.
fn probe(characters: &[char]) -> String {
    let ascii: Vec<char> = characters.iter().copied().filter(char::is_ascii).collect();
    let pairs = ascii.iter().flat_map(|&a| ascii.iter().flat_map(move |&b| [a, b]));
    pairs.chain(characters.iter().copied()).chain(characters.iter().rev().copied()).collect()
}

/// Columns: each character's weight, the probe's, the Han block's (empty where the character set has none), and
/// those of some Han characters alone. All in hexadecimal digits.
fn lesson(collation: &str, charset: Charset) -> String {
    let characters = characters(charset);
    let mut texts: Vec<String> = characters.iter().map(char::to_string).collect();
    texts.push(probe(&characters));
    texts.extend(han_texts(charset));
    let columns = texts.iter().map(|text| format!("HEX(WEIGHT_STRING({} COLLATE {collation}))", charset.literal(text)));
    format!("SELECT {}", columns.collect::<Vec<_>>().join(", "))
}

/// The whole block, then every 997th character of it.
fn han_texts(charset: Charset) -> Vec<String> {
    let han = || HAN.filter_map(char::from_u32);
    match charset {
        Charset::Utf8mb4 | Charset::Utf8mb3 => {
            let samples = han().step_by(HAN_STEP).map(String::from);
            std::iter::once(han().collect()).chain(samples).collect()
        }
        Charset::Latin1 | Charset::Ascii => Vec::new(),
    }
}

const HAN_STEP: usize = 997;

impl WeightTable {
    fn read(charset: Charset, row: &[Option<Vec<u8>>]) -> Result<Self, String> {
        let (characters, han) = (characters(charset), han_texts(charset).len());
        let columns = row.iter().map(|cell| cell.as_deref().and_then(unhex)).collect::<Option<Vec<_>>>();
        let columns = columns.ok_or("a weight is NULL or no hexadecimal number")?;
        if columns.len() != characters.len() + 1 + han {
            return Err("the row does not have the columns asked for".into());
        }
        let mut table =
            WeightTable { dense: vec![UNKNOWN; DENSE as usize], pool: Vec::new(), han: vec![], han_width: 0 };
        for (&c, weight) in characters.iter().zip(&columns) {
            table.put(c, weight)?;
        }
        let text = probe(&characters);
        if table.weigh(&text).as_deref() != Some(&columns[characters.len()]) {
            return Err("the weights of a text are not those of its characters joined".into());
        }
        if han > 0 {
            table.put_han(&columns[characters.len() + 1..])?;
        }
        Ok(table)
    }

    fn put(&mut self, c: char, weight: &[u8]) -> Result<(), String> {
        let at = u32::try_from(self.pool.len()).map_err(|_| "too many weights")?;
        let length =
            u8::try_from(weight.len()).ok().filter(|&length| length < UNKNOWN.1).ok_or("a weight is too long")?;
        self.dense[u32::from(c) as usize] = (at, length);
        self.pool.extend_from_slice(weight);
        Ok(())
    }

    fn put_han(&mut self, columns: &[Vec<u8>]) -> Result<(), String> {
        let (block, samples) = columns.split_first().ok_or("no Han block")?;
        let count = HAN.count();
        if block.is_empty() || block.len() % count != 0 {
            return Err("Han characters have weights of different lengths".into());
        }
        let width = block.len() / count;
        let alone = (0..count).step_by(HAN_STEP).map(|n| &block[n * width..(n + 1) * width]);
        if !alone.eq(samples.iter().map(Vec::as_slice)) {
            return Err("the weights of Han characters are not theirs alone".into());
        }
        (self.han, self.han_width) = (block.clone(), width);
        Ok(())
    }

    fn weigh(&self, text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(text.len() * 2);
        for c in text.chars() {
            out.extend_from_slice(self.weight(c)?);
        }
        Some(out)
    }

    fn weight(&self, c: char) -> Option<&[u8]> {
        let code = u32::from(c);
        if code < DENSE {
            let (at, length) = *self.dense.get(code as usize).filter(|&&slot| slot != UNKNOWN)?;
            return self.pool.get(at as usize..at as usize + usize::from(length));
        }
        let n = code.checked_sub(*HAN.start())? as usize;
        self.han.get(n * self.han_width..(n + 1) * self.han_width).filter(|weight| !weight.is_empty())
    }
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then_some(())?;
    pairs.iter().map(|&[high, low]| Some(nibble(high)? << 4 | nibble(low)?)).collect()
}

/// Answers in two generations: when the young one is full the old one is forgotten. So the last `ASKED` answers
/// used are always there, which a statement's second try counts on.
#[derive(Debug, Default)]
struct Asked {
    young: HashMap<Vec<u8>, Option<u32>>,
    old: HashMap<Vec<u8>, Option<u32>>,
}

impl Asked {
    fn get(&mut self, key: &[u8]) -> Option<Option<u32>> {
        if let Some(&answer) = self.young.get(key) {
            return Some(answer);
        }
        let (key, answer) = self.old.remove_entry(key)?;
        self.put(key, answer);
        Some(answer)
    }

    fn put(&mut self, key: Vec<u8>, answer: Option<u32>) {
        if self.young.len() >= ASKED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server's row: each literal of the query weighed.
    fn row(question: &Question, weigh: impl Fn(&str) -> String) -> Vec<Option<Vec<u8>>> {
        let texts =
            question.query().split("_utf8mb4 X'").skip(1).map(|rest| rest.split_once('\'').expect("a literal").0);
        texts
            .map(|hex| {
                let text = String::from_utf8(unhex(hex.as_bytes()).expect("hexadecimal")).expect("utf8mb4");
                Some(weigh(&text).into_bytes())
            })
            .collect()
    }

    /// Every character weighs its own code, ASCII letters that of their capitals.
    fn upper(text: &str) -> String {
        text.chars().map(|c| format!("{:04X}", u32::from(c.to_ascii_uppercase()))).collect()
    }

    fn weigh(weights: &Weights, text: &str) -> Weighed {
        weights.weigh(0, "utf8mb4_general_ci", text)
    }

    fn lesson_of(weights: &Weights) -> Question {
        let Weighed::Unlearned(question) = weigh(weights, "a") else { panic!("nothing to learn") };
        question
    }

    #[test]
    fn learned_characters_are_weighed_and_others_are_not() {
        let weights = Weights::default();
        let lesson = lesson_of(&weights);
        weights.answer(lesson.clone(), Some(&row(&lesson, upper))).unwrap();
        for (text, expected) in [("aB", &b"\0A\0B"[..]), ("日я", b"\x65\xe5\x04\x4f"), ("", b"")] {
            assert!(matches!(weigh(&weights, text), Weighed::Known(known) if known == expected), "{text}");
        }
        for unknown in ["a\u{301}", "😀", "a\0", "\u{4dff}", "\u{a000}"] {
            assert!(matches!(weigh(&weights, unknown), Weighed::Unknown), "{unknown:?}");
        }
    }

    #[test]
    fn a_collation_that_contracts_is_never_weighed_here() {
        let contracts = |text: &str| upper(&text.replace("ch", "ÿ"));
        let (weights, short) = (Weights::default(), Weights::default());
        let lesson = lesson_of(&weights);
        assert!(weights.answer(lesson.clone(), Some(&row(&lesson, contracts))).is_err());
        assert!(short.answer(lesson.clone(), Some(&row(&lesson, upper)[1..])).is_err());
        for weights in [weights, short] {
            assert!(matches!(weigh(&weights, "a"), Weighed::Unknown));
        }
    }

    #[test]
    fn the_last_answers_are_always_there() {
        let weights = Weights::default();
        for n in 0..3 * ASKED {
            let digits = n.to_string().into_bytes();
            let question = Question::about_value("1", digits.clone());
            weights.answer(question, Some(&[Some(digits)])).unwrap();
        }
        assert_eq!(weights.answered(b"0"), None);
        for n in 2 * ASKED..3 * ASKED {
            assert_eq!(weights.answered(n.to_string().as_bytes()), Some(u32::try_from(n).ok()));
        }
        assert!(weights.asked.lock().young.len() <= ASKED);
    }
}
