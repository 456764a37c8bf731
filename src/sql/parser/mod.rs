//! Tokens → tree: recursive descent with MySQL's precedence, one file per family of statements.
//! What parses is bound as a server binds it; what the grammar here does not hold is an error,
//! never a guess. Depth is bounded, so no text can exhaust the stack.

mod admin;
mod alter;
mod body;
mod create;
mod expr;
mod function;
mod object;
mod query;
mod set;
mod show;
mod statement;
mod table;
mod write;

use super::ast::{Name, Statement, TableName};
use super::{Charset, Flavour, Keyword, Kind, Source, Span, literal};
use crate::error::{Error, Result, code};

/// Parentheses, subqueries and operands inside each other.
const MAX_DEPTH: u32 = 64;
/// Height of a tree, which a chain such as `a + b + c` grows without parentheses.
const MAX_HEIGHT: u32 = 500;

/// Parses the statement that starts at token `from`; gives it and the token after it, which is a
/// `;` or the end. An empty one is error 1065.
pub fn parse(source: &Source, from: u32) -> Result<(Statement, u32)> {
    let mut parser = Parser::new(source, from);
    if parser.is_end() {
        return Err(Error::client((1065, b"42000"), "Query was empty"));
    }
    let statement = parser.statement()?;
    if !parser.is_end() {
        return parser.fail();
    }
    Ok((statement, parser.at))
}

/// Where the statement after the one that ends at `end` starts, if there is another.
pub fn next_statement(source: &Source, end: u32) -> Option<u32> {
    let mut at = end;
    while source.kind(at) == Kind::Semicolon {
        at += 1;
    }
    (source.kind(at) != Kind::End).then_some(at)
}

/// The text begins with the definition of a routine, a trigger or an event: the semicolons in it may
/// be those of its body, and only its parser can tell.
pub fn defines_routine(source: &Source) -> bool {
    const ACCOUNT: u32 = 8;
    let kinds = [Keyword::Procedure, Keyword::Function, Keyword::Trigger, Keyword::Event];
    let mut at = 1;
    if source.keyword(at) == Keyword::Or {
        at += 2;
    }
    if source.keyword(at) == Keyword::Definer {
        at = (at..at + ACCOUNT).find(|&token| kinds.contains(&source.keyword(token))).unwrap_or(at);
    }
    if source.keyword(at) == Keyword::Aggregate {
        at += 1;
    }
    source.keyword(0) == Keyword::Create && kinds.contains(&source.keyword(at))
}

struct Parser<'s, 'a> {
    source: &'s Source<'a>,
    at: u32,
    depth: u32,
    /// No less than the height of the highest tree finished inside the node being made.
    height: u32,
}

impl<'s, 'a> Parser<'s, 'a> {
    fn new(source: &'s Source<'a>, from: u32) -> Self {
        Parser { source, at: from, depth: 0, height: 0 }
    }

    fn kind(&self) -> Kind {
        self.source.kind(self.at)
    }
    fn kind_at(&self, ahead: u32) -> Kind {
        self.source.kind(self.at + ahead)
    }
    fn word(&self) -> Keyword {
        self.source.keyword(self.at)
    }
    fn word_at(&self, ahead: u32) -> Keyword {
        self.source.keyword(self.at + ahead)
    }
    fn is(&self, word: Keyword) -> bool {
        self.word() == word
    }
    fn is_end(&self) -> bool {
        matches!(self.kind(), Kind::End | Kind::Semicolon)
    }
    fn is_mariadb(&self) -> bool {
        self.source.dialect.flavour == Flavour::MariaDb
    }
    fn since(&self, start: u32) -> Span {
        Span::new(start, self.at)
    }
    fn empty(&self) -> Span {
        Span::new(self.at, self.at)
    }

    /// Takes the token, whatever it is.
    fn bump(&mut self) -> Name {
        self.at += 1;
        Name(self.at - 1)
    }
    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        self.at += u32::from(found);
        found
    }
    fn expect(&mut self, kind: Kind) -> Result<()> {
        if self.eat(kind) { Ok(()) } else { self.fail() }
    }
    fn eat_word(&mut self, word: Keyword) -> bool {
        let found = self.is(word);
        self.at += u32::from(found);
        found
    }
    fn expect_word(&mut self, word: Keyword) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { self.fail() }
    }
    fn eat_one_of(&mut self, words: &[Keyword]) -> Option<Keyword> {
        let word = self.word();
        let found = word != Keyword::None && words.contains(&word);
        self.at += u32::from(found);
        found.then_some(word)
    }
    fn are(&self, words: &[Keyword]) -> bool {
        words.iter().zip(0..).all(|(&w, n)| self.word_at(n) == w)
    }
    /// All of the words, or none.
    fn eat_words(&mut self, words: &[Keyword]) -> bool {
        let found = self.are(words);
        if found {
            self.at += words.len() as u32; // a handful
        }
        found
    }
    fn eat_hint(&mut self) {
        self.eat(Kind::Hint);
    }

    /// The server's syntax error, at the token to be read.
    fn fail<T>(&self) -> Result<T> {
        Err(syntax_error(self.source, self.at))
    }

    /// One level deeper for the time of `read`.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.height, 0);
        let result = read(self);
        self.depth -= 1;
        self.grow()?;
        self.height = outer.max(self.height);
        result
    }

    /// The node being made stands on top of what was read.
    fn grow(&mut self) -> Result<()> {
        self.height += 1;
        if self.height > MAX_HEIGHT { Err(too_deep()) } else { Ok(()) }
    }

    fn is_name(&self) -> bool {
        match self.kind() {
            Kind::QuotedName => true,
            Kind::Word | Kind::Introducer => !self.word().is_reserved(self.source.dialect.flavour),
            _ => false,
        }
    }

    fn name(&mut self) -> Result<Name> {
        if !self.is_name() {
            return self.fail();
        }
        self.readable()
    }

    /// Behind a dot every word is a name.
    fn name_after_dot(&mut self) -> Result<Name> {
        match self.kind() {
            Kind::QuotedName | Kind::Word | Kind::Introducer => self.readable(),
            _ => self.fail(),
        }
    }

    fn readable(&mut self) -> Result<Name> {
        if !literal::is_readable_name(self.source, self.at) {
            return Err(Error::refused(
                "A name outside ASCII is read only from clients that speak utf8mb4, utf8mb3 or latin1; use SET NAMES utf8mb4",
            ));
        }
        Ok(self.bump())
    }

    fn string(&mut self) -> Result<Name> {
        if self.kind() == Kind::String { Ok(self.bump()) } else { self.fail() }
    }

    fn name_or_string(&mut self) -> Result<Name> {
        if self.kind() == Kind::String { Ok(self.bump()) } else { self.name() }
    }

    fn table_name(&mut self) -> Result<TableName> {
        let start = self.at;
        let first = self.name()?;
        if self.kind() == Kind::Dot && self.kind_at(1) != Kind::Star {
            self.bump();
            let name = self.name_after_dot()?;
            return Ok(TableName { span: self.since(start), db: Some(first), name });
        }
        Ok(TableName { span: self.since(start), db: None, name: first })
    }

    fn table_names(&mut self) -> Result<Vec<TableName>> {
        self.list(Self::table_name)
    }

    /// `a, b, c`: one or more.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![read(self)?];
        while self.eat(Kind::Comma) {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// `(a, b, c)`: one or more.
    fn parenthesised<T>(&mut self, read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect(Kind::LParen)?;
        let items = self.list(read)?;
        self.expect(Kind::RParen)?;
        Ok(items)
    }

    /// `(…)` unread, parentheses matched; gives their span.
    fn skip_parens(&mut self) -> Result<Span> {
        let start = self.at;
        self.expect(Kind::LParen)?;
        self.skip_to_close()?;
        self.expect(Kind::RParen)?;
        Ok(self.since(start))
    }

    /// To the parenthesis that closes the one read last, which stays unread.
    fn skip_to_close(&mut self) -> Result<()> {
        let mut depth = 0u32;
        loop {
            match self.kind() {
                Kind::LParen => depth += 1,
                Kind::RParen if depth == 0 => return Ok(()),
                Kind::RParen => depth -= 1,
                Kind::Semicolon | Kind::End | Kind::Bad => return self.fail(),
                _ => {}
            }
            self.bump();
        }
    }

    /// To the end of the statement, unread.
    fn skip_rest(&mut self) -> Result<Span> {
        let start = self.at;
        while !self.is_end() {
            if self.kind() == Kind::Bad {
                return self.fail();
            }
            self.bump();
        }
        Ok(self.since(start))
    }
}

fn too_deep() -> Error {
    Error::refused("The statement is nested too deeply; write it with fewer levels")
}

/// Error 1064 as the servers word it: the text from the token on, 80 bytes of it, and its line.
pub fn syntax_error(source: &Source, token: u32) -> Error {
    let start = source.byte_range(Span::new(token, token)).start;
    // Servers cut these off before they read.
    let end = source.text.trim_ascii_end();
    let end = end.strip_suffix(b";").unwrap_or(end).trim_ascii_end().len().max(start);
    let near = near(&source.text[start..end], source);
    let line = 1 + source.text[..start].iter().filter(|&&b| b == b'\n').count();
    let server = match source.dialect.flavour {
        Flavour::MySql => "MySQL",
        Flavour::MariaDb => "MariaDB",
    };
    let mut text = format!(
        "You have an error in your SQL syntax; check the manual that corresponds to your {server} server version for \
         the right syntax to use near '"
    )
    .into_bytes();
    text.extend_from_slice(&near);
    text.extend_from_slice(format!("' at line {line}").as_bytes());
    Error::client(code::PARSE, text)
}

/// At most 80 bytes, without characters of four bytes. MariaDB marks what it cuts.
fn near(rest: &[u8], source: &Source) -> Vec<u8> {
    const SHOWN: usize = 80;
    let text = std::str::from_utf8(rest).ok().filter(|_| source.dialect.charset == Charset::Utf8);
    let Some(text) = text else { return rest[..rest.len().min(SHOWN)].to_vec() };
    let mut shown: String = text.chars().map(|char| if char.len_utf8() > 3 { '?' } else { char }).collect();
    if shown.len() > SHOWN {
        let mark = match source.dialect.flavour {
            Flavour::MySql => "",
            Flavour::MariaDb => "...",
        };
        let cut = (0..=SHOWN - mark.len()).rfind(|&at| shown.is_char_boundary(at)).unwrap_or(0);
        shown.truncate(cut);
        shown.push_str(mark);
    }
    shown.into_bytes()
}
