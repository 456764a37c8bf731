//! INSERT … SELECT where rows come from other places than those that they go to: the query is run
//! like any other, its rows are kept, and they are inserted like any others, in batches that are
//! kept or undone together.

use super::client::{Client, Diagnostic};
use super::local::transaction::unfinished;
use super::names;
use super::single;
use super::statement::{Flow, Running, Scratch};
use super::tally;
use crate::error::{Error, Result, code};
use crate::plan::{InsertSelect, Plan};
use crate::protocol::Capabilities;
use crate::protocol::collation::Collation;
use crate::protocol::column::{Column, ColumnFlags, ColumnType};
use crate::protocol::ok::OkPacket;
use crate::route::{self, Pieces, Routed};
use crate::shard::{Answer, AnswerColumn, Row};
use crate::transaction::{Ending, Frame};

/// Bytes of rows that one statement may keep.
const BUDGET: usize = 64 << 20;

/// An INSERT has about so many bytes.
const BATCH: usize = 1 << 20;

pub(super) async fn run(
    running: Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    plan: &InsertSelect,
) -> Result<()> {
    // 1. On one server, where everything is there
    if let Some(planned) = &plan.direct
        && let Plan::Single(direct) = &planned.plan
    {
        let direct_running = Running { planned, ..running };
        match direct_running.route(client, routed).await {
            Ok(()) => return single::run(direct_running, client, routed, direct).await,
            Err(error) if error.code() == code::NOT_SUPPORTED.0 => {}
            Err(error) => return Err(error),
        }
    }
    // 2. Else in the session's transaction, or in one of its own
    let alone = !client.hold.in_transaction() && client.autocommit();
    if !client.hold.in_transaction() {
        client.hold.begin("START TRANSACTION".into());
    }
    if !alone {
        client.hold.frame(Frame::Around).await?;
    }
    let copied = copy(&running, client, plan).await;
    match (&copied, alone) {
        (Ok(_), true) => client.hold.end(Ending::Commit).await?,
        (Err(_), true) => client.hold.end(Ending::Rollback).await?,
        (Ok(_), false) => client.hold.keep_frame(Frame::Around).await?,
        (Err(_), false) => client.hold.undo_frame(Frame::Around).await,
    }
    // 3. One reply
    reply(client, copied?).await
}

/// What the INSERTs said together.
#[derive(Default)]
struct Copied {
    rows: u64,
    affected: u64,
    duplicates: u64,
    insert_id: u64,
    diagnostics: Vec<Diagnostic>,
}

async fn copy(running: &Running<'_>, client: &mut Client, plan: &InsertSelect) -> Result<Copied> {
    let kept = (client.memory.last_insert_id, client.memory.found_rows);
    let pieces = route::pieces(&running.statement, client.charset(), plan.query);
    // 1. The rows
    check_charset(client)?;
    let read = inner(running, client, &pieces.query).await?;
    let forms = read.columns.iter().zip(0..).map(|(column, at)| Form::of(column, plan.is_number(at)));
    let forms = forms.collect::<Result<Vec<_>>>()?;
    let mut copied = Copied::default();
    if read.warnings > 0 {
        copied.diagnostics.append(&mut client.memory.diagnostics);
    }
    // 2. Inserted, a batch at a time
    let mut last_insert_id = None;
    let mut batch = Batch::new(&pieces);
    for row in &read.rows {
        batch.push(&forms, row)?;
        if batch.text.len() > BATCH {
            insert(running, client, plan, &mut batch, &mut copied).await?;
            last_insert_id = last_insert_id.or(Some(client.memory.last_insert_id));
        }
    }
    if batch.rows > 0 {
        insert(running, client, plan, &mut batch, &mut copied).await?;
        last_insert_id = last_insert_id.or(Some(client.memory.last_insert_id));
    }
    // The first id that was made counts, as of one statement.
    client.memory.last_insert_id = last_insert_id.unwrap_or(kept.0);
    client.memory.found_rows = kept.1;
    Ok(copied)
}

async fn insert(
    running: &Running<'_>,
    client: &mut Client,
    plan: &InsertSelect,
    batch: &mut Batch<'_>,
    copied: &mut Copied,
) -> Result<()> {
    let rows = batch.rows;
    let text = batch.take();
    let first = u32::try_from(copied.rows).unwrap_or(u32::MAX);
    let numbers: Vec<u32> = (1..=rows).map(|row| first.saturating_add(row)).collect();
    let renumbered = |text: &[u8]| names::renumbered(&numbers, text).1;
    let answer = match inner(running, client, &text).await {
        Ok(answer) => answer,
        Err(error) => {
            let text = renumbered(error.text());
            return Err(match text {
                Some(text) => error.with_text(text),
                None => error,
            });
        }
    };
    copied.rows += u64::from(rows);
    copied.affected += answer.affected;
    copied.duplicates += match tally::numbers(&answer.info) {
        Some((_, duplicates)) => duplicates,
        None if plan.ignore => u64::from(rows).saturating_sub(answer.affected),
        None => answer.affected.saturating_sub(u64::from(rows)),
    };
    copied.insert_id = if copied.insert_id == 0 { answer.insert_id } else { copied.insert_id };
    if answer.warnings > 0 {
        // What is said of the text is said once, and when it is prepared.
        let is_said = running.bound.is_some() || first > 0;
        let mut diagnostics = std::mem::take(&mut client.memory.diagnostics);
        diagnostics.retain(|one| !(is_said && tally::is_of_text(one.code)));
        copied.diagnostics.extend(diagnostics.into_iter().map(|one| match renumbered(&one.text) {
            Some(text) => Diagnostic { text, ..one },
            None => one,
        }));
    }
    Ok(())
}

/// Runs a statement of the session's whose reply is not for the client.
async fn inner(running: &Running<'_>, client: &mut Client, text: &[u8]) -> Result<Answer> {
    let sequence = client.wire.sequence();
    let more = std::mem::take(&mut client.several.more);
    client.wire.keep_back(BUDGET);
    client.wire.set_sequence(1);
    let mut scratch = Scratch::default();
    let outcome = Box::pin(running.engine.run(client, &mut scratch, text, None)).await;
    let kept = client.wire.take_kept();
    client.wire.set_sequence(sequence);
    client.several.more = more;
    if let Flow::Held = outcome? {
        return Err(Error::proxy("Bifold: the layout changed in the middle of a statement. Try again.").retryable());
    }
    let deprecate_eof = client.capabilities.has(Capabilities::DEPRECATE_EOF);
    Answer::parse(&kept.ok_or_else(too_much)?, deprecate_eof)
}

fn too_much() -> Error {
    Error::refused(format!(
        "Bifold: INSERT … SELECT over several places keeps all rows of its query, and these have more than {} MiB: insert \
         fewer of them at a time.",
        BUDGET >> 20
    ))
}

/// Characters must come as they are.
fn check_charset(client: &Client) -> Result<()> {
    let results = client.state().system_word("character_set_results").unwrap_or(client.charset());
    match results.eq_ignore_ascii_case("utf8mb4") || results.eq_ignore_ascii_case("NULL") {
        true => Ok(()),
        false => Err(Error::refused(
            "Bifold: INSERT … SELECT over several places needs a session in utf8mb4: SET NAMES utf8mb4 before.",
        )),
    }
}

async fn reply(client: &mut Client, copied: Copied) -> Result<()> {
    let mut diagnostics = copied.diagnostics;
    diagnostics.extend(unfinished(&client.hold.take_unfinished()));
    client.memory.row_count = i64::try_from(copied.affected).unwrap_or(i64::MAX);
    let info = format!("Records: {}  Duplicates: {}  Warnings: {}", copied.rows, copied.duplicates, diagnostics.len());
    let ok = OkPacket {
        affected_rows: copied.affected,
        last_insert_id: copied.insert_id,
        warnings: u16::try_from(diagnostics.len()).unwrap_or(u16::MAX),
        info: info.as_bytes(),
        ..OkPacket::default()
    };
    client.memory.in_error = false;
    client.memory.diagnostics = diagnostics;
    client.reply_ok_of(ok).await
}

/// Rows on their way.
struct Batch<'p> {
    pieces: &'p Pieces,
    text: Vec<u8>,
    rows: u32,
}

impl<'p> Batch<'p> {
    fn new(pieces: &'p Pieces) -> Self {
        Batch { pieces, text: Vec::new(), rows: 0 }
    }

    fn push(&mut self, forms: &[Form], row: &Row) -> Result<()> {
        let before: &[u8] = if self.rows == 0 { b" VALUES (" } else { b", (" };
        if self.rows == 0 {
            self.text.extend_from_slice(&self.pieces.head);
        }
        self.text.extend_from_slice(before);
        for (at, (form, cell)) in forms.iter().zip(row).enumerate() {
            self.text.extend_from_slice(if at == 0 { b"" } else { b", " });
            form.put(cell.as_deref(), &mut self.text)?;
        }
        self.text.push(b')');
        self.rows += 1;
        Ok(())
    }

    fn take(&mut self) -> Vec<u8> {
        self.rows = 0;
        let mut text = std::mem::take(&mut self.text);
        text.push(b' ');
        text.extend_from_slice(&self.pieces.tail);
        text
    }
}

/// How a column's cells are written, so that the server stores what it would from the column.
enum Form {
    Number,
    Double,
    Bits,
    Temporal(&'static str),
    Text(&'static str),
}

impl Form {
    /// `number`: it goes into a column of numbers.
    fn of(column: &AnswerColumn, number: bool) -> Result<Self> {
        let name = std::string::String::from_utf8_lossy(&column.name);
        let refused = |what: &str| {
            Err(Error::refused(format!(
                "Bifold: INSERT … SELECT over several places can't take {what} such as {name}: select another expression \
                 of it."
            )))
        };
        use ColumnType::*;
        let flags = Column::parse(&column.definition)?.flags;
        Ok(match column.kind {
            Tiny | Short | Long | LongLong | Int24 | Year | Bool | Decimal | NewDecimal | Null => Form::Number,
            Double => Form::Double,
            // It is printed with fewer digits than it has.
            Float => return refused("a FLOAT"),
            Bit => Form::Bits,
            Date | NewDate => Form::Temporal("DATE"),
            DateTime | Timestamp | DateTime2 | Timestamp2 => Form::Temporal("TIMESTAMP"),
            Time | Time2 => Form::Temporal("TIME"),
            // As a number it is the label's position.
            String | VarString | Enum | Set
                if number && (flags.has(ColumnFlags::ENUM) || flags.has(ColumnFlags::SET)) =>
            {
                return refused("an ENUM for a number");
            }
            Json => Form::Text("utf8mb4"),
            VarChar | Enum | Set | TinyBlob | MediumBlob | LongBlob | Blob | VarString | String => {
                match Collation::by_id(column.collation) {
                    Some(collation) => Form::Text(collation.charset),
                    None => return refused("a string"),
                }
            }
            Geometry | Vector | TypedArray | Invalid => return refused("a value"),
        })
    }

    fn put(&self, cell: Option<&[u8]>, out: &mut Vec<u8>) -> Result<()> {
        let Some(cell) = cell else {
            out.extend_from_slice(b"NULL");
            return Ok(());
        };
        let hex = || cell.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
        let text = match self {
            Form::Number => return plain(cell, out),
            Form::Double => {
                plain(cell, out)?;
                let exponent: &[u8] = if cell.contains(&b'e') { b"" } else { b"e0" };
                out.extend_from_slice(exponent);
                return Ok(());
            }
            Form::Bits => format!("0x{}", hex()),
            // No literal is a day that the calendar lacks.
            Form::Temporal(word) => {
                let is_odd = *word != "TIME" && memchr::memmem::find(cell, b"-00").is_some();
                out.extend_from_slice(if is_odd { b"'" } else { word.as_bytes() });
                out.extend_from_slice(if is_odd { b"" } else { b"'" });
                plain(cell, out)?;
                out.push(b'\'');
                return Ok(());
            }
            Form::Text(charset) => format!("_{charset} X'{}'", hex()),
        };
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Digits and what stands between them.
fn plain(cell: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let is_plain = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b':' | b' ' | b'e');
    match cell.iter().all(is_plain) {
        true => out.extend_from_slice(cell),
        false => return Err(Error::proxy("Bifold: a server's value does not have the type that the server said.")),
    }
    Ok(())
}
