//! The character sets that keys are converted between here: bytes to text, and whether a text fits, only where nothing is lost.
//! Whatever is in doubt is `None`, and the caller asks a server or does without.

use std::borrow::Cow;
use std::fmt::Write;

/// A character set that the proxy itself can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    Utf8mb4,
    Utf8mb3,
    /// MySQL's latin1: Windows-1252.
    Latin1,
    Ascii,
}

/// What Windows-1252 has at 0x80…0x9F. MySQL maps the five gaps to control characters; here they are in doubt.
const C1: [Option<char>; 32] = [
    Some('€'),
    None,
    Some('‚'),
    Some('ƒ'),
    Some('„'),
    Some('…'),
    Some('†'),
    Some('‡'),
    Some('ˆ'),
    Some('‰'),
    Some('Š'),
    Some('‹'),
    Some('Œ'),
    None,
    Some('Ž'),
    None,
    None,
    Some('‘'),
    Some('’'),
    Some('“'),
    Some('”'),
    Some('•'),
    Some('–'),
    Some('—'),
    Some('˜'),
    Some('™'),
    Some('š'),
    Some('›'),
    Some('œ'),
    None,
    Some('ž'),
    Some('Ÿ'),
];

/// Character sets of clients whose bytes below 0x80 are ASCII, all of them. (In the Japanese ones the backslash and
/// the tilde may mean others, swe7 has letters for brackets.)
const ASCII_BELOW_80: [&str; 21] = [
    "gbk", "gb2312", "gb18030", "big5", "euckr", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257",
    "greek", "hebrew", "koi8r", "koi8u", "cp850", "cp852", "cp866", "tis620", "geostd8",
];

impl Charset {
    /// By its name in any letter case; `None`: one that is not read here.
    pub fn named(name: &str) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match () {
            () if is("utf8mb4") => Some(Charset::Utf8mb4),
            () if is("utf8mb3") || is("utf8") => Some(Charset::Utf8mb3),
            () if is("latin1") => Some(Charset::Latin1),
            () if is("ascii") => Some(Charset::Ascii),
            () => None,
        }
    }

    pub fn decode(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match self {
            Charset::Utf8mb4 => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Charset::Utf8mb3 => std::str::from_utf8(bytes).ok().filter(|text| self.holds(text)).map(Cow::Borrowed),
            Charset::Ascii => ascii(bytes).map(Cow::Borrowed),
            Charset::Latin1 => match ascii(bytes) {
                Some(text) => Some(Cow::Borrowed(text)),
                None => bytes.iter().map(|&byte| latin1(byte)).collect::<Option<String>>().map(Cow::Owned),
            },
        }
    }

    /// Can this character set say the text without loss?
    pub fn holds(self, text: &str) -> bool {
        match self {
            Charset::Utf8mb4 => true,
            Charset::Utf8mb3 => text.chars().all(|c| u32::from(c) <= 0xffff),
            Charset::Ascii => text.is_ascii(),
            Charset::Latin1 => text.is_ascii() || text.chars().all(|c| latin1_byte(c).is_some()),
        }
    }

    /// A text as an SQL literal of this character set.
    pub fn literal(self, text: &str) -> String {
        format!("CONVERT({} USING {})", introduced("utf8mb4", text.as_bytes()), self.name())
    }

    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Latin1 => "latin1",
            Charset::Ascii => "ascii",
        }
    }
}

/// Bytes as an SQL literal of a character set, the same under any sql_mode and on any connection.
pub fn introduced(charset: &str, bytes: &[u8]) -> String {
    let mut text = format!("_{charset} X'");
    for byte in bytes {
        write!(text, "{byte:02X}").expect("writing to a string");
    }
    text + "'"
}

/// Bytes of a client's character set that is not read here, where they can only be ASCII.
pub fn plainly_ascii<'a>(bytes: &'a [u8], charset: &str) -> Option<&'a str> {
    ASCII_BELOW_80.iter().any(|known| charset.eq_ignore_ascii_case(known)).then(|| ascii(bytes)).flatten()
}

fn ascii(bytes: &[u8]) -> Option<&str> {
    bytes.is_ascii().then(|| std::str::from_utf8(bytes).expect("ASCII is UTF-8"))
}

fn latin1(byte: u8) -> Option<char> {
    match byte {
        0x80..=0x9f => C1[usize::from(byte - 0x80)],
        _ => Some(char::from(byte)),
    }
}

fn latin1_byte(c: char) -> Option<u8> {
    match u32::from(c) {
        code @ (0..=0x7f | 0xa0..=0xff) => u8::try_from(code).ok(),
        _ => C1.iter().position(|&known| known == Some(c)).and_then(|at| u8::try_from(0x80 + at).ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_latin1_comes_back_but_the_five_in_doubt() {
        let doubtful = (0..=255u8).filter(|&byte| match Charset::Latin1.decode(&[byte]) {
            Some(text) => {
                assert_eq!(text.chars().map(latin1_byte).collect::<Vec<_>>(), [Some(byte)]);
                assert!(Charset::Latin1.holds(&text));
                false
            }
            None => true,
        });
        assert_eq!(doubtful.collect::<Vec<_>>(), [0x81, 0x8d, 0x8f, 0x90, 0x9d]);
    }

    #[test]
    fn what_a_character_set_lacks_is_refused() {
        assert!(Charset::Utf8mb3.decode("😀".as_bytes()).is_none());
        assert!(Charset::Utf8mb4.decode(&[0xc3]).is_none());
        assert!(Charset::Ascii.decode(b"\x80").is_none());
        assert!(!Charset::Latin1.holds("日"));
        assert_eq!(Charset::named("UTF8"), Some(Charset::Utf8mb3));
        assert_eq!(Charset::named("gbk"), None);
        assert_eq!(plainly_ascii(b"u1", "GBK"), Some("u1"));
        assert_eq!(plainly_ascii(b"u1", "swe7"), None);
        assert_eq!(plainly_ascii(b"u\xb0\xa1", "gbk"), None);
    }
}
