//! Collation weights: the proxy adds them up itself for the characters it has learned of a server at its start;
//! whatever else a string holds is asked of a server once, and the answer kept.
//!
//! No I/O: `Lesson` and `Question` are texts for whoever has a connection; `learn` and `answer` take what came back.

use std::collections::HashMap;
use std::sync::OnceLock;

use parking_lot::Mutex;

use super::charset::Charset;
use super::collation::{Collation, LEARNED, Order};

/// All that is known about weights; shared by all sessions.
#[derive(Debug, Default)]
pub struct Weights {
    tables: [OnceLock<WeightTable>; LEARNED.len()],
    asked: Mutex<Asked>,
}

/// What a server must say about one key value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// An SQL expression: the CRC-32, or NULL where the value does not convert exactly. Means the same on any
    /// connection.
    pub expression: String,
    /// Under which the answer is kept.
    pub key: Vec<u8>,
}

/// What a server is asked about a collation at the start: one query, one row.
#[derive(Clone, Debug)]
pub struct Lesson {
    pub query: String,
    learned: usize,
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

impl Question {
    pub fn query(&self) -> String {
        format!("SELECT {}", self.expression)
    }

    /// One query for several: a column each, in their order.
    pub fn query_for(questions: &[Question]) -> String {
        let columns: Vec<_> = questions.iter().map(|question| question.expression.as_str()).collect();
        format!("SELECT {}", columns.join(", "))
    }
}

impl Weights {
    /// What to ask before keys of this collation can be weighed here; `None`: known already, or not to be learned.
    pub fn lesson(&self, collation: &Collation) -> Option<Lesson> {
        let learned = position(collation)?;
        match self.tables[learned].get() {
            Some(_) => None,
            None => Some(Lesson { query: lesson_query(collation.name()), learned }),
        }
    }

    /// Takes the lesson's one row. An error says what is odd about this server's collation: then its strings are
    /// asked one by one, which is slower and as right.
    pub fn learn(&self, lesson: &Lesson, row: &[Option<Vec<u8>>]) -> Result<(), String> {
        let table = WeightTable::read(charset_of(LEARNED[lesson.learned]), row)
            .map_err(|odd| format!("collation {}: {odd}", LEARNED[lesson.learned]))?;
        // A second proxy task may have been quicker; both learned the same.
        let _ = self.tables[lesson.learned].set(table);
        Ok(())
    }

    /// The text's weights joined, as WEIGHT_STRING() has them; `None`: a character that was not learned.
    pub(super) fn weigh(&self, learned: usize, text: &str) -> Option<Vec<u8>> {
        self.tables[learned].get()?.weigh(text)
    }

    /// Takes the answer to a question: the CRC-32 as a decimal number, or `None` for NULL.
    pub fn answer(&self, key: Vec<u8>, crc: Option<u32>) {
        self.asked.lock().put(key, crc);
    }

    /// `None`: not asked yet. `Some(None)`: the value does not convert exactly.
    pub(super) fn answered(&self, key: &[u8]) -> Option<Option<u32>> {
        self.asked.lock().get(key)
    }
}

fn charset_of(collation: &str) -> Charset {
    let charset = collation.split_once('_').and_then(|(charset, _)| Charset::named(charset));
    charset.expect("the list has collations of known character sets")
}

fn position(collation: &Collation) -> Option<usize> {
    match collation.order() {
        Order::Binary { .. } => None,
        Order::Weights { learned, .. } => learned,
    }
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
fn lesson_query(collation: &str) -> String {
    let charset = charset_of(collation);
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

    /// A server whose collation weighs every character as its own code, ASCII letters as capitals.
    fn row(lesson: &Lesson, weigh: impl Fn(&str) -> String) -> Vec<Option<Vec<u8>>> {
        let texts = lesson.query.split("_utf8mb4 X'").skip(1).map(|rest| rest.split_once('\'').expect("a literal").0);
        texts
            .map(|hex| {
                let text = String::from_utf8(unhex(hex.as_bytes()).expect("hexadecimal")).expect("utf8mb4");
                Some(weigh(&text).into_bytes())
            })
            .collect()
    }

    fn upper(text: &str) -> String {
        text.chars().map(|c| format!("{:04X}", u32::from(c.to_ascii_uppercase()))).collect()
    }

    fn general() -> (Weights, Collation, Lesson) {
        let (weights, collation) = (Weights::default(), Collation::named("utf8mb4_general_ci").unwrap());
        let lesson = weights.lesson(&collation).unwrap();
        (weights, collation, lesson)
    }

    #[test]
    fn learned_characters_are_weighed_and_others_are_not() {
        let (weights, collation, lesson) = general();
        assert_eq!(weights.weigh(0, "ab"), None);
        weights.learn(&lesson, &row(&lesson, upper)).unwrap();
        assert!(weights.lesson(&collation).is_none());
        assert_eq!(weights.weigh(0, "aB").unwrap(), b"\0A\0B");
        assert_eq!(weights.weigh(0, "日я").unwrap(), b"\x65\xe5\x04\x4f");
        for unknown in ["a\u{301}", "😀", "a\0", "\u{4dff}", "\u{a000}"] {
            assert_eq!(weights.weigh(0, unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn a_collation_that_contracts_is_not_learned() {
        let (weights, collation, lesson) = general();
        let contracted = row(&lesson, |text| upper(&text.replace("ch", "ÿ")));
        assert!(weights.learn(&lesson, &contracted).is_err());
        assert!(weights.learn(&lesson, &contracted[1..]).is_err());
        assert!(weights.lesson(&collation).is_some());
    }

    #[test]
    fn the_last_answers_are_always_there() {
        let weights = Weights::default();
        for n in 0..3 * ASKED {
            weights.answer(n.to_string().into_bytes(), u32::try_from(n).ok());
        }
        assert_eq!(weights.answered(b"0"), None);
        for n in 2 * ASKED..3 * ASKED {
            assert_eq!(weights.answered(n.to_string().as_bytes()), Some(u32::try_from(n).ok()));
        }
        assert!(weights.asked.lock().young.len() <= ASKED);
    }
}
