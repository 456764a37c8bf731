//! Bytes → tokens, in one pass that cannot fail: what has no end or no meaning becomes a last
//! token of kind `Bad`. Comments are skipped, version comments read as the server would, and
//! characters of gbk, big5, sjis … stepped over whole, so that a trail byte `\` escapes nothing.
//!
//! The rules are those of the servers' own lexers: <https://dev.mysql.com/doc/refman/9.1/en/language-structure.html>.

use super::{Charset, Dialect, Flavour, Keyword, Kind, Token};

/// Reads the whole text, all its statements, into `tokens`, which is cleared first. The text may
/// have at most 4 GiB (a packet has at most 1).
pub fn lex(text: &[u8], dialect: &Dialect, tokens: &mut Vec<Token>) {
    tokens.clear();
    if u32::try_from(text.len()).is_err() {
        tokens.push(Token { start: 0, len: u32::MAX, keyword: Keyword::None, kind: Kind::Bad });
        return;
    }
    Lexer { text, dialect, tokens, in_code_comment: false }.run();
}

struct Lexer<'a> {
    text: &'a [u8],
    dialect: &'a Dialect,
    tokens: &'a mut Vec<Token>,
    /// Inside `/*! … */` whose content counts.
    in_code_comment: bool,
}

/// What a byte can start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Space,
    Letter,
    Digit,
    Quote,
    DoubleQuote,
    Backtick,
    At,
    Dot,
    Dash,
    Hash,
    Slash,
    Star,
    Other,
}

static START: [Start; 256] = {
    let mut table = [Start::Other; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => Start::Space,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..=0xff => Start::Letter,
            b'0'..=b'9' => Start::Digit,
            b'\'' => Start::Quote,
            b'"' => Start::DoubleQuote,
            b'`' => Start::Backtick,
            b'@' => Start::At,
            b'.' => Start::Dot,
            b'-' => Start::Dash,
            b'#' => Start::Hash,
            b'/' => Start::Slash,
            b'*' => Start::Star,
            _ => Start::Other,
        };
        b += 1;
    }
    table
};

/// Bytes that go on an unquoted name.
static NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = matches!(b as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | 0x80..=0xff);
        b += 1;
    }
    table
};

impl Lexer<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            let next = match START[self.text[at] as usize] {
                Start::Space => at + 1,
                Start::Letter => self.letter(at),
                Start::Digit => self.digit(at),
                Start::Quote => self.string(at, at, Kind::String),
                Start::DoubleQuote if self.dialect.mode.ansi_quotes => self.quoted_name(at, at, Kind::QuotedName),
                Start::DoubleQuote => self.string(at, at, Kind::String),
                Start::Backtick => self.quoted_name(at, at, Kind::QuotedName),
                Start::At => self.variable(at),
                Start::Dot => self.dot(at),
                Start::Dash => self.dash(at),
                Start::Hash => self.to_line_end(at),
                Start::Slash => self.slash(at),
                Start::Star => self.star(at),
                Start::Other => self.operator(at),
            };
            match next {
                BAD => return self.push_to_end(at),
                next => at = next,
            }
        }
        if self.in_code_comment {
            self.push_to_end(at);
        }
    }

    fn push(&mut self, start: usize, end: usize, kind: Kind) -> usize {
        self.push_word(start, end, kind, Keyword::None)
    }

    fn push_word(&mut self, start: usize, end: usize, kind: Kind, keyword: Keyword) -> usize {
        // `lex` has checked that positions fit
        self.tokens.push(Token { start: start as u32, len: (end - start) as u32, keyword, kind });
        end
    }

    fn push_to_end(&mut self, at: usize) {
        self.push(at, self.text.len(), Kind::Bad);
    }

    /// The byte there, or 0 past the end.
    fn peek(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// Space between tokens; in latin1 the no-break space too.
    fn is_space(&self, at: usize) -> bool {
        let byte = self.peek(at);
        START[byte as usize] == Start::Space || (byte == 0xa0 && self.dialect.charset == Charset::Latin1)
    }

    /// A word, or what a letter before a quote makes: `x'…'`, `b'…'`, `n'…'`.
    fn letter(&mut self, at: usize) -> usize {
        if self.peek(at + 1) == b'\'' {
            match self.text[at] {
                b'x' | b'X' => return self.digits_in_quotes(at, Kind::Hex, |b| b.is_ascii_hexdigit()),
                b'b' | b'B' => return self.digits_in_quotes(at, Kind::Bit, |b| matches!(b, b'0' | b'1')),
                b'n' | b'N' => return self.string(at, at + 1, Kind::NString),
                _ => {}
            }
        }
        if self.text[at] == 0xa0 && self.is_space(at) {
            return at + 1;
        }
        self.name(at, at)
    }

    /// A name or keyword that starts at `start` and is known to go on at least to `from`; a name
    /// right behind it after a dot is read too, since no word is a keyword there.
    fn name(&mut self, start: usize, from: usize) -> usize {
        let end = self.name_end(from);
        let word = &self.text[start..end];
        if self.peek(end) == b'.' && NAME[self.peek(end + 1) as usize] {
            self.push(start, end, Kind::Word); // no keyword stands before a dot either
            return self.name_after_dot(end);
        }
        if word[0] == b'_' && is_charset_introducer(word) {
            return self.push(start, end, Kind::Introducer);
        }
        self.push_word(start, end, Kind::Word, Keyword::find(word))
    }

    /// `.name` directly behind a name: there digits start a name and keywords are none.
    fn name_after_dot(&mut self, at: usize) -> usize {
        if self.peek(at) != b'.' || !NAME[self.peek(at + 1) as usize] {
            return at;
        }
        self.push(at, at + 1, Kind::Dot);
        let end = self.name_end(at + 1);
        self.push(at + 1, end, Kind::Word);
        self.name_after_dot(end)
    }

    fn name_end(&self, mut at: usize) -> usize {
        if self.dialect.charset.hides_ascii() {
            while at < self.text.len() && NAME[self.text[at] as usize] {
                at += if self.text[at] < 0x80 { 1 } else { self.dialect.charset.step(&self.text[at..]) };
            }
            return at;
        }
        let latin1 = self.dialect.charset == Charset::Latin1;
        while at < self.text.len() && NAME[self.text[at] as usize] && !(latin1 && self.text[at] == 0xa0) {
            at += 1;
        }
        at
    }

    /// A number; `12abc` is a name, `1e3x` a number and a name.
    fn digit(&mut self, at: usize) -> usize {
        let digits_from = |from: usize, ok: fn(u8) -> bool| {
            self.text[from..].iter().position(|&b| !ok(b)).map_or(self.text.len(), |n| from + n)
        };
        let radix = match (self.text[at], self.peek(at + 1)) {
            (b'0', b'x') => Some(Kind::Hex),
            (b'0', b'b') => Some(Kind::Bit),
            _ => None,
        };
        if let Some(kind) = radix {
            let end = match kind {
                Kind::Hex => digits_from(at + 2, |b| b.is_ascii_hexdigit()),
                _ => digits_from(at + 2, |b| matches!(b, b'0' | b'1')),
            };
            if end > at + 2 && !NAME[self.peek(end) as usize] {
                return self.push(at, end, kind);
            }
            return self.name(at, at);
        }
        let end = digits_from(at, |b| b.is_ascii_digit());
        match self.peek(end) {
            b'.' => self.fraction(at, end + 1),
            b'e' | b'E' => match self.exponent_end(end) {
                Some(end) => self.push(at, end, Kind::Float),
                None => self.name(at, end),
            },
            b if !NAME[b as usize] => self.push(at, end, Kind::Int),
            0xa0 if self.dialect.charset == Charset::Latin1 => self.push(at, end, Kind::Int),
            _ => self.name(at, end),
        }
    }

    /// What follows the dot of a number.
    fn fraction(&mut self, start: usize, from: usize) -> usize {
        let end = from + self.text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        if !matches!(self.peek(end), b'e' | b'E') {
            return self.push(start, end, Kind::Decimal);
        }
        match self.exponent_end(end) {
            Some(end) => self.push(start, end, Kind::Float),
            None => BAD, // the servers take `1.5e` for no number at all
        }
    }

    /// End of `e5`, `e-5`, `E+5` at `at`.
    fn exponent_end(&self, at: usize) -> Option<usize> {
        let digits = if matches!(self.peek(at + 1), b'+' | b'-') { at + 2 } else { at + 1 };
        let count = self.text.get(digits..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        (count > 0).then_some(digits + count)
    }

    fn digits_in_quotes(&mut self, at: usize, kind: Kind, ok: fn(u8) -> bool) -> usize {
        let from = at + 2;
        let digits = self.text[from..].iter().take_while(|&&b| ok(b)).count();
        if self.peek(from + digits) != b'\'' || (kind == Kind::Hex && digits % 2 == 1) {
            return BAD;
        }
        self.push(at, from + digits + 1, kind)
    }

    /// A string whose quote stands at `quote_at`.
    fn string(&mut self, start: usize, quote_at: usize, kind: Kind) -> usize {
        match self.string_end(quote_at) {
            Some(end) => self.push(start, end, kind),
            None => BAD,
        }
    }

    fn string_end(&self, quote_at: usize) -> Option<usize> {
        let quote = self.text[quote_at];
        let escapes = !self.dialect.mode.no_backslash_escapes;
        let mut at = quote_at + 1;
        if !self.dialect.charset.hides_ascii() {
            loop {
                at += memchr::memchr2(quote, if escapes { b'\\' } else { quote }, self.text.get(at..)?)?;
                if self.text[at] != quote || self.peek(at + 1) == quote {
                    at += 2;
                } else {
                    return Some(at + 1);
                }
            }
        }
        while at < self.text.len() {
            let b = self.text[at];
            at += match b {
                0x80..=0xff => self.dialect.charset.step(&self.text[at..]),
                b'\\' if escapes => 2, // one byte, be it half a character
                _ if b == quote && self.peek(at + 1) == quote => 2,
                _ if b == quote => return Some(at + 1),
                _ => 1,
            };
        }
        None
    }

    /// A name in backticks, or in double quotes; the quote stands at `quote_at`.
    fn quoted_name(&mut self, start: usize, quote_at: usize, kind: Kind) -> usize {
        let quote = self.text[quote_at];
        let mut at = quote_at + 1;
        while at < self.text.len() {
            let b = self.text[at];
            at += match b {
                0x80..=0xff => self.dialect.charset.step(&self.text[at..]),
                _ if b == quote && self.peek(at + 1) == quote => 2,
                _ if b == quote => {
                    self.push(start, at + 1, kind);
                    return if kind == Kind::QuotedName { self.name_after_dot(at + 1) } else { at + 1 };
                }
                _ => 1,
            };
        }
        BAD
    }

    fn variable(&mut self, at: usize) -> usize {
        match self.peek(at + 1) {
            b'@' => {
                if self.peek(at + 2) == b'`' {
                    return self.quoted_name(at, at + 2, Kind::SysVar);
                }
                let end = self.name_end(at + 2);
                if end == at + 2 {
                    return BAD;
                }
                self.push(at, end, Kind::SysVar);
                self.name_after_dot(end)
            }
            b'`' => self.quoted_name(at, at + 1, Kind::UserVar),
            b'"' if self.dialect.mode.ansi_quotes => self.quoted_name(at, at + 1, Kind::UserVar),
            b'\'' | b'"' => self.string(at, at + 1, Kind::UserVar),
            _ => {
                let mut end = at + 1;
                while self.peek(end) == b'.' || NAME[self.peek(end) as usize] {
                    end += 1;
                }
                self.push(at, end, Kind::UserVar)
            }
        }
    }

    fn dot(&mut self, at: usize) -> usize {
        if self.peek(at + 1).is_ascii_digit() {
            return self.fraction(at, at + 1);
        }
        self.push(at, at + 1, Kind::Dot)
    }

    fn dash(&mut self, at: usize) -> usize {
        match (self.peek(at + 1), self.text.get(at + 2)) {
            (b'-', None) => self.text.len(),
            (b'-', Some(b)) if b.is_ascii_control() || self.is_space(at + 2) => self.to_line_end(at),
            (b'>', Some(b'>')) => self.push(at, at + 3, Kind::LongArrow),
            (b'>', _) => self.push(at, at + 2, Kind::Arrow),
            _ => self.push(at, at + 1, Kind::Minus),
        }
    }

    fn to_line_end(&self, at: usize) -> usize {
        memchr::memchr(b'\n', &self.text[at..]).map_or(self.text.len(), |n| at + n + 1)
    }

    fn slash(&mut self, at: usize) -> usize {
        if self.peek(at + 1) != b'*' {
            return self.push(at, at + 1, Kind::Slash);
        }
        if let Some(content) = self.code_comment(at) {
            return content;
        }
        let Some(length) = memchr::memmem::find(&self.text[at + 2..], b"*/") else { return BAD };
        let end = at + 2 + length + 2;
        let hint = self.peek(at + 2) == b'+' && self.dialect.flavour == Flavour::MySql && self.after_hinted_word();
        if hint { self.push(at, end, Kind::Hint) } else { end }
    }

    fn after_hinted_word(&self) -> bool {
        matches!(
            self.tokens.last().map(|t| t.keyword),
            Some(Keyword::Select | Keyword::Insert | Keyword::Replace | Keyword::Update | Keyword::Delete)
        )
    }

    /// Where to read on when `/*!…` stands at `at`: its content when the server runs it, else what
    /// follows it. `None` for an ordinary comment.
    fn code_comment(&mut self, at: usize) -> Option<usize> {
        let mariadb_only = self.peek(at + 2) == b'M' && self.peek(at + 3) == b'!';
        if self.peek(at + 2) != b'!' && !(mariadb_only && self.dialect.flavour == Flavour::MariaDb) {
            return None;
        }
        if self.in_code_comment {
            return Some(BAD); // what nests here differs between servers
        }
        let content = if mariadb_only { at + 4 } else { at + 3 };
        let mut digits = self.text[content..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
        if digits < 5 {
            self.in_code_comment = true;
            return Some(content);
        }
        if digits == 6 && self.dialect.flavour == Flavour::MySql && !self.is_space(content + 6) {
            digits = 5; // so MySQL reads it: the sixth digit is the first of the content
        }
        let version = self.text[content..content + digits].iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
        let runs = version <= self.dialect.version
            && match self.dialect.flavour {
                Flavour::MySql => true,
                // numbers that MySQL gave to versions of its own after the two went apart
                Flavour::MariaDb => mariadb_only || !(50700..=99999).contains(&version),
            };
        if runs {
            self.in_code_comment = true;
            return Some(content + digits);
        }
        Some(self.end_of_skipped(content))
    }

    /// End of a version comment that the server skips; comments inside it are skipped too.
    fn end_of_skipped(&self, mut at: usize) -> usize {
        let mut depth = 1;
        while at + 1 < self.text.len() {
            match (self.text[at], self.text[at + 1]) {
                (b'*', b'/') => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return at;
                    }
                }
                (b'/', b'*') if depth == 1 => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        BAD
    }

    fn star(&mut self, at: usize) -> usize {
        if self.in_code_comment && self.peek(at + 1) == b'/' {
            self.in_code_comment = false;
            return at + 2;
        }
        self.push(at, at + 1, Kind::Star)
    }

    /// MySQL takes up to three comparison characters for one operator; of a run that is none it
    /// forgets all but the first (`!!5` is `!5`), so such a run is no token here.
    fn is_broken_comparison(&self, at: usize) -> bool {
        let comparing = |at| matches!(self.peek(at), b'<' | b'>' | b'=' | b'!');
        if self.dialect.flavour == Flavour::MariaDb || !comparing(at) || !comparing(at + 1) {
            return false;
        }
        let three = self.text[at] == b'<' && comparing(at + 2) && self.peek(at + 2) != b'<';
        let run = &self.text[at..at + if three { 3 } else { 2 }];
        !matches!(run, b"<=" | b"<>" | b"<<" | b"<=>" | b">=" | b">>" | b"!=")
    }

    fn operator(&mut self, at: usize) -> usize {
        if self.is_broken_comparison(at) {
            return BAD;
        }
        let (kind, len) = match (self.text[at], self.peek(at + 1), self.peek(at + 2)) {
            (b',', ..) => (Kind::Comma, 1),
            (b'(', ..) => (Kind::LParen, 1),
            (b')', ..) => (Kind::RParen, 1),
            (b'=', ..) => (Kind::Eq, 1),
            (b'?', ..) => (Kind::Param, 1),
            (b';', ..) => (Kind::Semicolon, 1),
            (b'<', b'=', b'>') => (Kind::NullSafeEq, 3),
            (b'<', b'=', _) => (Kind::Le, 2),
            (b'<', b'>', _) => (Kind::Ne, 2),
            (b'<', b'<', _) => (Kind::Shl, 2),
            (b'<', ..) => (Kind::Lt, 1),
            (b'>', b'=', _) => (Kind::Ge, 2),
            (b'>', b'>', _) => (Kind::Shr, 2),
            (b'>', ..) => (Kind::Gt, 1),
            (b'!', b'=', _) => (Kind::Ne, 2),
            (b'!', ..) => (Kind::Bang, 1),
            (b':', b'=', _) => (Kind::Assign, 2),
            (b':', ..) => (Kind::Colon, 1),
            (b'|', b'|', _) => (Kind::PipePipe, 2),
            (b'|', ..) => (Kind::Pipe, 1),
            (b'&', b'&', _) => (Kind::AmpAmp, 2),
            (b'&', ..) => (Kind::Amp, 1),
            (b'+', ..) => (Kind::Plus, 1),
            (b'%', ..) => (Kind::Percent, 1),
            (b'^', ..) => (Kind::Caret, 1),
            (b'~', ..) => (Kind::Tilde, 1),
            (b'{', ..) => (Kind::LBrace, 1),
            (b'}', ..) => (Kind::RBrace, 1),
            (b'\\', b'N', _) if self.dialect.flavour == Flavour::MariaDb => {
                return self.push_word(at, at + 2, Kind::Word, Keyword::Null);
            }
            _ => return BAD,
        };
        self.push(at, at + len, kind)
    }
}

/// In place of a position: no token can be made of what stands here.
const BAD: usize = usize::MAX;

/// `_utf8mb4` and the other names of character sets that a server has.
fn is_charset_introducer(word: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(&word[1..]) else { return false };
    Charset::from_name(name).is_some()
        || ["ucs2", "utf16", "utf16le", "utf32"].iter().any(|n| n.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Source;

    fn mysql() -> Dialect {
        Dialect::new(Flavour::MySql, 90704)
    }

    /// Kind and bytes of each token, `Word a|Comma ,|…`.
    fn show(text: &[u8], dialect: Dialect) -> String {
        let mut tokens = Vec::new();
        lex(text, &dialect, &mut tokens);
        let source = Source::new(text, &tokens, dialect);
        let shown = |n: u32| format!("{:?} {}", source.kind(n), String::from_utf8_lossy(source.bytes(n)));
        (0..tokens.len() as u32).map(shown).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn numbers_and_names_that_look_alike() {
        for (text, expected) in [
            ("1e3 .5 1.5E-2 1.", "Float 1e3|Decimal .5|Float 1.5E-2|Decimal 1."),
            ("12abc 1_000 1e3x 1e", "Word 12abc|Word 1_000|Float 1e3|Word x|Word 1e"),
            ("0x4D 0X4D 0xG 0b1 0b12", "Hex 0x4D|Word 0X4D|Word 0xG|Bit 0b1|Word 0b12"),
            ("X'4d' x'4' ", "Hex X'4d'|Bad x'4' "),
            ("b'01' N'x'", "Bit b'01'|NString N'x'"),
            (
                "t.12 t.select `t`.5 a .5",
                "Word t|Dot .|Word 12|Word t|Dot .|Word select|QuotedName `t`|Dot .|Word 5|Word a|Decimal .5",
            ),
            ("1.5e", "Bad 1.5e"),
            ("_utf8mb4'a' _id _binary 'x'", "Introducer _utf8mb4|String 'a'|Word _id|Introducer _binary|String 'x'"),
        ] {
            assert_eq!(show(text.as_bytes(), mysql()), expected, "{text}");
        }
    }

    #[test]
    fn comments_go_and_code_in_comments_stays() {
        let mariadb = Dialect::new(Flavour::MariaDb, 101119);
        for (text, for_mysql, for_mariadb) in [
            ("a -- x\nb", "Word a|Word b", "Word a|Word b"),
            ("5--1", "Int 5|Minus -|Minus -|Int 1", "Int 5|Minus -|Minus -|Int 1"),
            ("a --", "Word a", "Word a"),
            ("a # x\nb", "Word a|Word b", "Word a|Word b"),
            ("a /* ' */ b", "Word a|Word b", "Word a|Word b"),
            ("/*!40101 a */ b", "Word a|Word b", "Word a|Word b"),
            ("/*! a /* c */ */ b", "Word a|Word b", "Word a|Word b"),
            ("/*!99999 a /* c */ d */ b", "Word b", "Word b"),
            ("/*!80000 a */ b", "Word a|Word b", "Word b"),
            ("/*!100100 a */ b", "Word b", "Word a|Word b"),
            ("/*!100100a */ b", "Word 0a|Word b", "Word a|Word b"),
            ("/*!080000\ta */ b", "Word a|Word b", "Word b"),
            ("/*M! a */ b", "Word b", "Word a|Word b"),
            ("/*M!100000 a */ b", "Word b", "Word a|Word b"),
            ("select/*+ x */a/*+ y */", "Word select|Hint /*+ x */|Word a", "Word select|Word a"),
            ("a /* x", "Word a|Bad /* x", "Word a|Bad /* x"),
            ("/*! a", "Word a|Bad ", "Word a|Bad "),
            ("2*/*x*/3", "Int 2|Star *|Int 3", "Int 2|Star *|Int 3"),
        ] {
            assert_eq!(show(text.as_bytes(), mysql()), for_mysql, "{text}");
            assert_eq!(show(text.as_bytes(), mariadb), for_mariadb, "{text}");
        }
    }

    #[test]
    fn strings_end_where_the_mode_and_the_charset_say() {
        assert_eq!(show(br"'a\'b' 'c''d' 'e", mysql()), r"String 'a\'b'|String 'c''d'|Bad 'e");
        let mut plain = mysql();
        plain.mode.no_backslash_escapes = true;
        assert_eq!(show(br"'a\' b", plain), r"String 'a\'|Word b");
        let mut ansi = mysql();
        ansi.mode.ansi_quotes = true;
        assert_eq!(show(br#""a""b" @"c""#, ansi), r#"QuotedName "a""b"|UserVar @"c""#);
        assert_eq!(show(br#""a""#, mysql()), r#"String "a""#);
        for (charset, text) in [
            (Charset::Gbk, &b"'\xbf\\' x"[..]),
            (Charset::Sjis, b"'\x83\x5c' x"),
            (Charset::Big5, b"'\xa5\x5c' x"),
            (Charset::Gb18030, b"'\x81\x5c' x"),
        ] {
            let mut dialect = mysql();
            dialect.charset = charset;
            assert!(show(text, dialect).ends_with("|Word x"), "{charset:?}");
            assert!(show(text, mysql()).starts_with("Bad"), "{charset:?}");
        }
        let mut gbk = mysql();
        gbk.charset = Charset::Gbk;
        assert!(show(b"`\xbf`` x", gbk).ends_with("|Word x"));
        let mut latin1 = mysql();
        latin1.charset = Charset::Latin1;
        assert_eq!(show(b"5\xa0OR", latin1), "Int 5|Word OR");
    }

    #[test]
    fn variables_and_operators() {
        assert_eq!(
            show(b"@v @'a b' @`c` @@x @@session.y @a.b", mysql()),
            "UserVar @v|UserVar @'a b'|UserVar @`c`|SysVar @@x|SysVar @@session|Dot .|Word y|UserVar @a.b"
        );
        let kinds = |text: &str| {
            let mut tokens = Vec::new();
            lex(text.as_bytes(), &mysql(), &mut tokens);
            tokens.iter().map(|t| t.kind).collect::<Vec<_>>()
        };
        use Kind::*;
        assert_eq!(
            kinds(":= <=> -> ->> || && << >> <> != <= >= < > ! | & ^ ~ = ? ; : { }"),
            [
                Assign, NullSafeEq, Arrow, LongArrow, PipePipe, AmpAmp, Shl, Shr, Ne, Ne, Le, Ge, Lt, Gt, Bang, Pipe,
                Amp, Caret, Tilde, Eq, Param, Semicolon, Colon, LBrace, RBrace
            ]
        );
        assert_eq!(kinds("a < ! !b"), [Word, Lt, Bang, Bang, Word]);
        assert_eq!(kinds("a <!b"), [Word, Bad]);
        assert_eq!(kinds("!!a"), [Bad]);
        assert_eq!(kinds("a \0 b"), [Word, Bad]);
        assert_eq!(kinds("a [ b"), [Word, Bad]);
    }

    #[test]
    fn a_word_before_a_dot_is_no_keyword() {
        let mut tokens = Vec::new();
        lex(b"order.select select", &mysql(), &mut tokens);
        assert_eq!(
            tokens.iter().map(|t| t.keyword).collect::<Vec<_>>(),
            [Keyword::None, Keyword::None, Keyword::None, Keyword::Select]
        );
    }
}
