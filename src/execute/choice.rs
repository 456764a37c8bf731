//! The rows that LIMIT means where they may be in several places: each place says which of its own
//! come first and locks them, and the first of all are taken.

use futures_util::future::join_all;

use super::batch;
use super::client::Client;
use super::exchange;
use super::names;
use super::spread::servers;
use super::statement::Running;
use crate::error::{Error, Result};
use crate::merge::{Budget, Layout, Sorter};
use crate::plan::{Choice, Effect};
use crate::protocol::binary::ValueType;
use crate::protocol::payload::{Reader, put_lenenc};
use crate::protocol::result_set::Format;
use crate::route::{Chosen, Routed};
use crate::shard::{Answer, Conn, Row};

/// Bytes of rows and keys that one statement may hold.
const BUDGET: usize = 32 << 20;

pub(super) async fn choose(
    running: &Running<'_>,
    client: &mut Client,
    routed: &Routed,
    choice: &Choice,
) -> Result<Vec<Chosen>> {
    // 1. Asked of all places
    let wanted = routed.window.map_or(0, |window| window.count);
    let servers = servers(&routed.parts);
    let need = exchange::need(client.shape, &client.settings.state, Effect::Lock);
    let conns = client.hold.several(&running.engine.servers, &servers, need).await?;
    let budget = BUDGET / servers.len().max(1);
    let asked = conns.into_iter().zip(&servers).map(|(conn, server)| {
        let budget = Budget::new(budget, &running.engine.holdings);
        let sorter = Sorter::new(&choice.keys, choice.keys.len(), Some(wanted), budget);
        on_one(conn, batch::texts(routed, *server), routed, sorter)
    });
    // 2. Taken in order
    let mut sorters = join_all(asked).await.into_iter().collect::<Result<Vec<Sorter>>>()?.into_iter();
    let Some(mut all) = sorters.next() else { return Ok(Vec::new()) };
    sorters.try_for_each(|other| all.join(other))?;
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    all.finish().take(wanted).map(|row| chosen(&row, choice)).collect()
}

/// One server's rows.
async fn on_one(conn: &mut Conn, texts: Vec<(usize, &[u8])>, routed: &Routed, mut sorter: Sorter) -> Result<Sorter> {
    let take = |number: usize, answer: Result<Answer>| {
        let answer = answer.map_err(|error| names::in_error(&routed.parts[number].names, error))?;
        push(&mut sorter, number, &answer)
    };
    batch::run(conn, texts, take).await?;
    Ok(sorter)
}

fn push(sorter: &mut Sorter, part: usize, answer: &Answer) -> Result<()> {
    let of = |column: &crate::shard::AnswerColumn| ValueType { kind: column.kind, unsigned: column.unsigned };
    let layout = Layout::new(Format::Text, answer.columns.iter().map(of).collect());
    answer.rows.iter().try_for_each(|row| sorter.push(&layout, part, &encoded(row)))
}

/// A row as it was on the wire.
fn encoded(row: &Row) -> Vec<u8> {
    let mut out = Vec::new();
    for cell in row {
        match cell {
            None => out.push(0xFB),
            Some(bytes) => {
                put_lenenc(&mut out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
        }
    }
    out
}

/// The part's number and the row's key.
fn chosen(row: &[u8], choice: &Choice) -> Result<Chosen> {
    let odd = || Error::proxy("Bifold: a server gave no key of a row that was to be chosen.");
    let mut reader = Reader::new(row);
    let number = reader.text_value()?.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let part = number.ok_or_else(odd)?;
    let mut key = String::new();
    for column in &choice.columns {
        key.push_str(if key.is_empty() { "(" } else { ", " });
        column.put(reader.text_value()?, &mut key).ok_or_else(odd)?;
    }
    key.push(')');
    Ok(Chosen { part, key })
}
