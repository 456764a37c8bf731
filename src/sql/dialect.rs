//! What changes the reading of a text: the server's flavour and version, the sql_mode bits that
//! the grammar asks for, and the client character sets whose characters hide ASCII bytes.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    MySql,
    MariaDb,
}

/// The sql_mode bits that change how a text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// `"x"` is an identifier.
    pub ansi_quotes: bool,
    /// `\` in a string is a character like others.
    pub no_backslash_escapes: bool,
    /// `||` joins strings instead of being OR.
    pub pipes_as_concat: bool,
    /// `count (x)` is a call of the built-in function.
    pub ignore_space: bool,
    /// NOT binds as `!` does.
    pub high_not_precedence: bool,
}

impl Mode {
    /// From the value of `@@sql_mode`; names that don't change reading are passed over.
    pub fn from_sql_mode(value: &str) -> Mode {
        let mut mode = Mode::default();
        for name in value.split(',') {
            match name.trim().to_ascii_uppercase().as_str() {
                "ANSI_QUOTES" => mode.ansi_quotes = true,
                "NO_BACKSLASH_ESCAPES" => mode.no_backslash_escapes = true,
                "PIPES_AS_CONCAT" => mode.pipes_as_concat = true,
                "IGNORE_SPACE" => mode.ignore_space = true,
                "HIGH_NOT_PRECEDENCE" => mode.high_not_precedence = true,
                "ANSI" | "DB2" | "MAXDB" | "MSSQL" | "ORACLE" | "POSTGRESQL" => {
                    mode.ansi_quotes = true;
                    mode.pipes_as_concat = true;
                    mode.ignore_space = true;
                }
                "MYSQL323" | "MYSQL40" => mode.high_not_precedence = true,
                _ => {}
            }
        }
        mode
    }
}

/// The client character set, as far as reading needs it: which bytes belong to one character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Charset {
    /// utf8mb4 and utf8mb3.
    #[default]
    Utf8,
    /// latin1: U+00A0 is a space between tokens.
    Latin1,
    /// `ascii`, `binary` and the other sets of one byte a character.
    SingleByte,
    Gbk,
    Gb18030,
    Gb2312,
    Big5,
    /// sjis and cp932.
    Sjis,
    /// ujis and eucjpms.
    Eucjp,
    Euckr,
}

impl Charset {
    /// The set of this name; `None` for those that no client may use (ucs2, utf16, utf32) and for
    /// names that are not known.
    pub fn from_name(name: &str) -> Option<Charset> {
        Some(match name.to_ascii_lowercase().as_str() {
            "utf8mb4" | "utf8mb3" | "utf8" => Charset::Utf8,
            "latin1" => Charset::Latin1,
            "gbk" => Charset::Gbk,
            "gb18030" => Charset::Gb18030,
            "gb2312" => Charset::Gb2312,
            "big5" => Charset::Big5,
            "sjis" | "cp932" => Charset::Sjis,
            "ujis" | "eucjpms" => Charset::Eucjp,
            "euckr" => Charset::Euckr,
            "ascii" | "binary" | "armscii8" | "cp1250" | "cp1251" | "cp1256" | "cp1257" | "cp850" | "cp852"
            | "cp866" | "dec8" | "geostd8" | "greek" | "hebrew" | "hp8" | "keybcs2" | "koi8r" | "koi8u" | "latin2"
            | "latin5" | "latin7" | "macce" | "macroman" | "swe7" | "tis620" => Charset::SingleByte,
            _ => return None,
        })
    }

    /// Whether a character's later bytes may be ASCII (`\`, `` ` ``, letters).
    pub(crate) fn hides_ascii(self) -> bool {
        match self {
            Charset::Utf8 | Charset::Latin1 | Charset::SingleByte => false,
            Charset::Gb2312 | Charset::Eucjp => false,
            Charset::Gbk | Charset::Gb18030 | Charset::Big5 | Charset::Sjis | Charset::Euckr => true,
        }
    }

    /// Length of the character at the start of `bytes`: 1 unless a whole multi-byte character of a
    /// set that hides ASCII stands there (a lead byte without its trail counts alone, as in MySQL).
    pub(crate) fn step(self, bytes: &[u8]) -> usize {
        let (Some(&lead), Some(&trail)) = (bytes.first(), bytes.get(1)) else { return 1 };
        let two = match self {
            Charset::Utf8 | Charset::Latin1 | Charset::SingleByte | Charset::Gb2312 | Charset::Eucjp => false,
            Charset::Gbk => matches!(lead, 0x81..=0xfe) && matches!(trail, 0x40..=0x7e | 0x80..=0xfe),
            Charset::Gb18030 => {
                if matches!(lead, 0x81..=0xfe) && matches!(bytes, [_, 0x30..=0x39, 0x81..=0xfe, 0x30..=0x39, ..]) {
                    return 4;
                }
                matches!(lead, 0x81..=0xfe) && matches!(trail, 0x40..=0x7e | 0x80..=0xfe)
            }
            Charset::Big5 => matches!(lead, 0xa1..=0xf9) && matches!(trail, 0x40..=0x7e | 0xa1..=0xfe),
            Charset::Sjis => matches!(lead, 0x81..=0x9f | 0xe0..=0xfc) && matches!(trail, 0x40..=0x7e | 0x80..=0xfc),
            Charset::Euckr => matches!(lead, 0x81..=0xfe) && matches!(trail, 0x41..=0x5a | 0x61..=0x7a | 0x81..=0xfe),
        };
        if two { 2 } else { 1 }
    }
}

/// Everything the lexer and the parser need to know besides the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    pub flavour: Flavour,
    /// As the version comments have it: 90704 for MySQL 9.7.4, 101119 for MariaDB 10.11.19.
    pub version: u32,
    pub mode: Mode,
    pub charset: Charset,
}

impl Dialect {
    pub fn new(flavour: Flavour, version: u32) -> Dialect {
        Dialect { flavour, version, mode: Mode::default(), charset: Charset::default() }
    }

    /// Flavour and version from what a server calls itself: `9.7.4`, `10.11.19-MariaDB-log`,
    /// `5.5.5-10.11.19-MariaDB`. `None` when no three numbers lead it.
    pub fn from_server_version(text: &str) -> Option<Dialect> {
        let flavour = if text.to_ascii_lowercase().contains("mariadb") { Flavour::MariaDb } else { Flavour::MySql };
        let text = if flavour == Flavour::MariaDb { text.strip_prefix("5.5.5-").unwrap_or(text) } else { text };
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let mut next = || numbers.next().and_then(|n| n.ok()).filter(|&n| n < 10_000);
        let (major, minor, patch) = (next()?, next()?, next()?);
        Some(Dialect::new(flavour, major * 10_000 + minor * 100 + patch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_the_servers_write_them() {
        let read = |t| Dialect::from_server_version(t).map(|d| (d.flavour, d.version));
        assert_eq!(read("9.7.4-2"), Some((Flavour::MySql, 90704)));
        assert_eq!(read("10.11.19-MariaDB-0+deb12u1"), Some((Flavour::MariaDb, 101119)));
        assert_eq!(read("5.5.5-10.11.19-MariaDB"), Some((Flavour::MariaDb, 101119)));
        assert_eq!(read("nine"), None);
    }

    #[test]
    fn a_lead_byte_without_its_trail_stands_alone() {
        assert_eq!(Charset::Gbk.step(b"\xbf\\'"), 2);
        assert_eq!(Charset::Gbk.step(b"\xbf'"), 1);
        assert_eq!(Charset::Sjis.step(b"\x83\x5c"), 2);
        assert_eq!(Charset::Utf8.step(b"\xbf\\"), 1);
        assert_eq!(Charset::Gb18030.step(b"\x81\x30\x81\x30"), 4);
    }
}
