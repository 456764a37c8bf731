//! A text of several statements, for a client that may send such ones: each is planned and run by
//! itself, its reply says whether another follows, and the first error ends it all.

use super::client::Client;
use super::engine::Engine;
use super::statement::{Flow, Scratch};
use crate::error::{Error, Result};
use crate::sql::fingerprint::Fingerprint;
use crate::sql::{Kind, Source, Token, lexer, parser};

pub(super) async fn run(engine: &Engine, client: &mut Client, scratch: &mut Scratch, text: &[u8]) -> Result<Flow> {
    let text = trimmed(text);
    let mut at = std::mem::take(&mut client.several.held_at);
    let mut cuts = Cuts::default();
    loop {
        // 1. Where the next statement ends; a SET before it may have changed how it reads
        cuts.follow(client, text, at);
        let end = cuts.next(at).unwrap_or(text.len());
        // 2. Carried out
        client.several.more = end < text.len();
        let flow = engine.run(client, scratch, &text[at..end], None).await;
        let more = std::mem::take(&mut client.several.more);
        match flow {
            Ok(Flow::Held) => {
                client.several.held_at = at;
                return Ok(Flow::Held);
            }
            Ok(Flow::Done) => {}
            Err(error) if matches!(error.code(), PARSE | EMPTY) && more => {
                return Err(with_rest(client, &text[at..], error));
            }
            Err(error) => return Err(error),
        }
        // 3. Up to the first error
        if client.memory.in_error || !more {
            return Ok(Flow::Done);
        }
        client.settle().await?;
        at = end + 1;
    }
}

const PARSE: u16 = 1064;
const EMPTY: u16 = 1065;

/// What follows the last statement is no statement, as servers have it.
fn trimmed(text: &[u8]) -> &[u8] {
    let is_nothing = |byte: &u8| *byte == b';' || byte.is_ascii_whitespace();
    let len = text.iter().rposition(|byte| !is_nothing(byte)).map_or(0, |last| last + 1);
    &text[..len]
}

/// The semicolons between statements.
#[derive(Default)]
struct Cuts {
    dialect: Option<crate::sql::Dialect>,
    at: Vec<usize>,
}

impl Cuts {
    fn follow(&mut self, client: &Client, text: &[u8], from: usize) {
        let dialect = client.dialect();
        if self.dialect == Some(dialect) {
            return;
        }
        let mut tokens: Vec<Token> = Vec::new();
        let text = &text[from..];
        lexer::lex(text, &dialect, &mut tokens);
        let starts = |at: usize| parser::defines_routine(&Source::new(text, &tokens[at..], dialect));
        self.at.clear();
        let mut first = 0;
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Semicolon) {
            // A routine takes the rest of the text.
            if starts(first) {
                break;
            }
            self.at.push(from + token.start as usize);
            first = at + 1;
        }
        self.dialect = Some(dialect);
    }

    fn next(&self, from: usize) -> Option<usize> {
        self.at.get(self.at.partition_point(|cut| *cut < from)).copied()
    }
}

/// A syntax error quotes what follows, be it another statement.
fn with_rest(client: &Client, text: &[u8], error: Error) -> Error {
    let dialect = client.dialect();
    let mut tokens = Vec::new();
    lexer::lex(text, &dialect, &mut tokens);
    let source = Source::new(text, &tokens, dialect);
    if source.kind(0) == Kind::Semicolon {
        return parser::syntax_error(&source, 0);
    }
    Fingerprint::new().take(&source, 0);
    match parser::parse(&source, 0) {
        Err(whole) if whole.code() == error.code() => whole,
        Ok(_) | Err(_) => error,
    }
}
