//! PREPARE, EXECUTE and DEALLOCATE PREPARE as SQL text. The session keeps the texts; an execution is
//! the text as a statement, with the values of its variables written in.

use super::done;
use crate::context::Setting;
use crate::error::{Error, Result, code};
use crate::execute::client::Client;
use crate::execute::statement::{Flow, Running, Scratch};
use crate::plan::local::Prepared;
use crate::protocol::err::ErrPacket;
use crate::protocol::ok::OkPacket;
use crate::protocol::packet::payload_of;
use crate::sql::{Keyword, Kind, Source, Span, Token, lexer, literal};
use crate::value::Value;

/// Of one session.
const MOST: usize = 1000;

/// No reply to a preparation is longer.
const REPLY: usize = 64 << 20;

pub(super) async fn prepare(running: &Running<'_>, client: &mut Client, name: &str, text: &Prepared) -> Result<()> {
    let text = given(running, client, text)?;
    // Whatever comes of it, the one before is no more.
    client.prepared.remove(&name.to_lowercase());
    if client.prepared.len() >= MOST {
        let text = format!("Can't create more than max_prepared_stmt_count statements (current value: {MOST})");
        return Err(Error::client((1461, b"42000"), text));
    }
    let params = checked(running, client, &text).await?;
    client.prepared.insert(name.to_lowercase(), (text.into(), params));
    client.memory.row_count = 0;
    client.forget_diagnostics(false);
    client.reply_ok_of(OkPacket { info: b"Statement prepared", ..OkPacket::default() }).await
}

/// The number of its parameters. A server looks at it, and nobody gets to see what it says but the
/// error; what can't be prepared, which is what runs texts itself, is refused.
async fn checked(running: &Running<'_>, client: &mut Client, text: &[u8]) -> Result<u16> {
    let (sequence, mut scratch) = (client.wire.sequence(), Scratch::default());
    client.wire.capture(REPLY);
    let prepared = Box::pin(running.engine.prepare(client, &mut scratch, text, 1)).await;
    let reply = client.wire.captured().unwrap_or_default();
    client.wire.set_sequence(sequence);
    match prepared? {
        Some(params) => Ok(params),
        None => Err(ErrPacket::parse(&payload_of(&reply))?.into_error()),
    }
}

pub(super) async fn execute(running: &Running<'_>, client: &mut Client, name: &str, using: &[Box<str>]) -> Result<()> {
    let Some((text, params)) = client.prepared.get(&name.to_lowercase()).cloned() else {
        return Err(unknown(name, "EXECUTE"));
    };
    if usize::from(params) != using.len() {
        return Err(Error::client(code::WRONG_ARGUMENTS, "Incorrect arguments to EXECUTE"));
    }
    run(running, client, &text, using).await
}

pub(super) async fn immediate(
    running: &Running<'_>,
    client: &mut Client,
    text: &Prepared,
    using: &[Box<str>],
) -> Result<()> {
    let text = given(running, client, text)?;
    let params = checked(running, client, &text).await?;
    if usize::from(params) != using.len() {
        return Err(Error::client(code::WRONG_ARGUMENTS, "Incorrect arguments to EXECUTE"));
    }
    run(running, client, &text, using).await
}

pub(super) async fn deallocate(client: &mut Client, name: &str) -> Result<()> {
    match client.prepared.remove(&name.to_lowercase()) {
        Some(_) => done(client).await,
        None => Err(unknown(name, "DEALLOCATE PREPARE")),
    }
}

fn unknown(name: &str, command: &str) -> Error {
    Error::client(code::UNKNOWN_STMT, format!("Unknown prepared statement handler ({name}) given to {command}"))
}

async fn run(running: &Running<'_>, client: &mut Client, text: &[u8], using: &[Box<str>]) -> Result<()> {
    let text = filled(client, text, using)?;
    let mut scratch = Scratch::default();
    match Box::pin(running.engine.run(client, &mut scratch, &text, None)).await? {
        Flow::Done => Ok(()),
        // This statement has the gate's pass.
        Flow::Held => Err(Error::proxy("Bifold: a prepared text was held.")),
    }
}

/// The text to prepare.
fn given(running: &Running<'_>, client: &Client, text: &Prepared) -> Result<Vec<u8>> {
    match text {
        Prepared::Literal { from, to } => {
            let statement = &running.statement;
            let (first, end) = (statement.fingerprint.token_of(from.0), statement.fingerprint.token_of(to.0));
            let mut scratch = Vec::new();
            match literal::value(&statement.source, Span::new(first, end), client.charset(), &mut scratch) {
                Some(Value::Text { bytes, .. } | Value::Binary(bytes) | Value::Hex { bytes, .. }) => Ok(bytes.to_vec()),
                Some(_) | None => Err(Error::refused("Bifold: PREPARE takes a string or a user variable.")),
            }
        }
        Prepared::Variable(name) => match variable(client, name) {
            Variable::Plain(text) => Ok(text.as_bytes().to_vec()),
            Variable::Text { bytes, charset } if bytes.is_ascii() || charset == client.charset() => Ok(bytes),
            Variable::Bytes(bytes) => Ok(bytes),
            Variable::Text { .. } => Err(Error::refused(
                "Bifold: PREPARE of a text in another character set than the client's is not supported; SET NAMES before the variable is set.",
            )),
        },
    }
}

/// A user variable, as the session's state has it.
enum Variable {
    /// A number, or NULL.
    Plain(String),
    Text {
        bytes: Vec<u8>,
        charset: String,
    },
    Bytes(Vec<u8>),
}

fn variable(client: &Client, name: &str) -> Variable {
    let sql = client.state().setting(&Setting::User(name.into())).unwrap_or("NULL");
    let hex = |text: &str| {
        let digits = text.split('\'').nth(1)?;
        let pairs = digits.as_bytes().chunks_exact(2);
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect::<Option<Vec<u8>>>()
    };
    let introduced = sql.strip_prefix('_').and_then(|rest| Some((rest.split(' ').next()?.to_owned(), hex(rest)?)));
    match (introduced, sql.starts_with("X'").then(|| hex(sql)).flatten()) {
        (Some((charset, bytes)), _) => Variable::Text { bytes, charset },
        (None, Some(bytes)) => Variable::Bytes(bytes),
        (None, None) => Variable::Plain(sql.to_owned()),
    }
}

/// The text with a value for each `?`.
fn filled(client: &Client, text: &[u8], using: &[Box<str>]) -> Result<Vec<u8>> {
    if using.is_empty() {
        return Ok(text.to_vec());
    }
    let dialect = client.dialect();
    let mut tokens: Vec<Token> = Vec::new();
    lexer::lex(text, &dialect, &mut tokens);
    let source = Source::new(text, &tokens, dialect);
    if let Some(clause) = meaningful(&source) {
        return Err(Error::refused(format!(
            "Bifold: a parameter in {clause} of a text that PREPARE prepared is not supported; use the prepared statements of the driver."
        )));
    }
    let (mut out, mut at, mut values) = (Vec::with_capacity(text.len() + 64), 0, using.iter());
    for token in tokens.iter().filter(|token| token.kind == Kind::Param) {
        out.extend_from_slice(&text[at..token.start as usize]);
        let name =
            values.next().ok_or_else(|| Error::client(code::WRONG_ARGUMENTS, "Incorrect arguments to EXECUTE"))?;
        put(client, &variable(client, name), &mut out)?;
        at = token.end();
    }
    if values.next().is_some() {
        return Err(Error::client(code::WRONG_ARGUMENTS, "Incorrect arguments to EXECUTE"));
    }
    out.extend_from_slice(&text[at..]);
    Ok(out)
}

/// Where a literal would mean something else than a parameter: it makes titles and types of columns,
/// and names a column by its number.
fn meaningful(source: &Source<'_>) -> Option<&'static str> {
    if matches!(source.keyword(0), Keyword::Insert | Keyword::Replace | Keyword::Update | Keyword::Delete) {
        return None;
    }
    let mut clauses: Vec<Option<&'static str>> = vec![None];
    let depth = |clauses: &Vec<Option<&'static str>>| clauses.len() - 1;
    for token in 0..u32::try_from(source.tokens.len()).unwrap_or(u32::MAX) {
        let top = depth(&clauses);
        match (source.kind(token), source.keyword(token)) {
            (Kind::LParen, _) => clauses.push(None),
            (Kind::RParen, _) if top > 0 => drop(clauses.pop()),
            (Kind::Param, _) => {
                if let Some(clause) = clauses.iter().flatten().next() {
                    return Some(clause);
                }
            }
            (_, Keyword::Select) => clauses[top] = Some("the select list"),
            (_, Keyword::Order) => clauses[top] = Some("ORDER BY"),
            (_, Keyword::Group) => clauses[top] = Some("GROUP BY"),
            (_, Keyword::From | Keyword::Where | Keyword::Having | Keyword::Limit | Keyword::Union) => {
                clauses[top] = None;
            }
            (_, _) => {}
        }
    }
    None
}

fn put(client: &Client, value: &Variable, out: &mut Vec<u8>) -> Result<()> {
    match value {
        // A sign before a number must not come upon another one.
        Variable::Plain(text) if text.starts_with('-') => out.extend_from_slice(format!(" {text}").as_bytes()),
        Variable::Plain(text) => out.extend_from_slice(text.as_bytes()),
        Variable::Bytes(bytes) => put_hex(bytes, out),
        Variable::Text { bytes, charset } => {
            let simple = matches!(client.charset(), "utf8mb4" | "utf8mb3" | "utf8" | "latin1" | "ascii");
            if !(simple && (bytes.is_ascii() || charset == client.charset())) {
                return Err(Error::refused(
                    "Bifold: EXECUTE … USING of a text in another character set than the client's is not supported; SET NAMES before the variable is set.",
                ));
            }
            let escapes = !client.dialect().mode.no_backslash_escapes;
            out.push(b'\'');
            for byte in bytes {
                match byte {
                    b'\'' => out.extend_from_slice(b"''"),
                    b'\\' if escapes => out.extend_from_slice(b"\\\\"),
                    byte => out.push(*byte),
                }
            }
            out.push(b'\'');
        }
    }
    Ok(())
}

fn put_hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"X'");
    bytes.iter().for_each(|byte| out.extend_from_slice(format!("{byte:02X}").as_bytes()));
    out.push(b'\'');
}
