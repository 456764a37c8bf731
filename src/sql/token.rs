//! A token, and a text with its tokens. Tokens carry byte positions and nothing of the text, so
//! one reusable vector serves every statement of a session.

use std::ops::Range;

use super::{Dialect, Keyword};

/// What a token is. Words are split no further here: `keyword` says which word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// An unquoted word, keyword or not (`12abc` too).
    Word,
    /// `` `x` ``, and `"x"` under ANSI_QUOTES.
    QuotedName,
    /// `'x'`, and `"x"` without ANSI_QUOTES. One piece: adjacent strings are tokens of their own.
    String,
    /// `N'x'`.
    NString,
    /// `_utf8mb4`, `_binary`: the name of a character set, before a string.
    Introducer,
    Int,
    /// `1.5`, `.5`, `1.`.
    Decimal,
    /// `1e3`.
    Float,
    /// `0x1f`, `X'1f'`.
    Hex,
    /// `0b01`, `b'01'`.
    Bit,
    /// `?`.
    Param,
    /// `@v`, `@'v'`, `` @`v` ``, also the host part of an account.
    UserVar,
    /// `@@name`: the first name only, so `@@session` of `@@session.sql_mode`.
    SysVar,
    /// `/*+ … */` after SELECT, INSERT, REPLACE, UPDATE or DELETE (MySQL).
    Hint,
    Comma,
    Dot,
    Semicolon,
    Colon,
    LParen,
    RParen,
    LBrace,
    RBrace,
    Eq,
    /// `<=>`
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Amp,
    AmpAmp,
    Pipe,
    PipePipe,
    Caret,
    Tilde,
    Bang,
    Shl,
    Shr,
    /// `:=`
    Assign,
    /// `->`
    Arrow,
    /// `->>`
    LongArrow,
    /// What no token starts with, or a string, name or comment without an end: reaches to the end
    /// of the text and is the last token.
    Bad,
    /// Past the last token; never in the vector.
    End,
}

impl Kind {
    /// A value as written, without sign: what a fingerprint takes out.
    pub fn is_literal(self) -> bool {
        matches!(self, Kind::Int | Kind::Decimal | Kind::Float | Kind::String | Kind::NString | Kind::Hex | Kind::Bit)
    }
}

/// 12 bytes: where in the text, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub start: u32,
    pub len: u32,
    pub keyword: Keyword,
    pub kind: Kind,
}

impl Token {
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end()
    }
    pub fn end(&self) -> usize {
        self.start as usize + self.len as usize
    }
}

/// A range of tokens, half open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
    pub fn contains(self, token: u32) -> bool {
        self.start <= token && token < self.end
    }
    pub fn tokens(self) -> Range<u32> {
        self.start..self.end
    }
}

/// A text, its tokens and the dialect they were read in.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub text: &'a [u8],
    pub tokens: &'a [Token],
    pub dialect: Dialect,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a [u8], tokens: &'a [Token], dialect: Dialect) -> Source<'a> {
        Source { text, tokens, dialect }
    }

    pub fn kind(&self, token: u32) -> Kind {
        self.tokens.get(token as usize).map_or(Kind::End, |t| t.kind)
    }

    /// `Keyword::None` for anything but an unquoted word that is one.
    pub fn keyword(&self, token: u32) -> Keyword {
        self.tokens.get(token as usize).map_or(Keyword::None, |t| t.keyword)
    }

    /// The token's bytes as written; empty past the end.
    pub fn bytes(&self, token: u32) -> &'a [u8] {
        self.tokens.get(token as usize).map_or(&[], |t| &self.text[t.range()])
    }

    /// The bytes from the first token of the span to its last, with all between them.
    pub fn span_bytes(&self, span: Span) -> &'a [u8] {
        &self.text[self.byte_range(span)]
    }

    /// Byte positions of a span; for an empty one, the place before its first token.
    pub fn byte_range(&self, span: Span) -> Range<usize> {
        let start = self.tokens.get(span.start as usize).map_or(self.text.len(), |t| t.start as usize);
        if span.is_empty() {
            return start..start;
        }
        let end = self.tokens.get(span.end as usize - 1).map_or(self.text.len(), |t| t.end());
        start..end
    }

    /// Whether nothing stands between this token and the one before it.
    pub fn is_adjacent(&self, token: u32) -> bool {
        match (token.checked_sub(1).and_then(|t| self.tokens.get(t as usize)), self.tokens.get(token as usize)) {
            (Some(before), Some(this)) => before.end() == this.start as usize,
            _ => false,
        }
    }
}
