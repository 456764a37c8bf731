//! ANALYZE, CHECK and the like of sharded tables: each shard's server looks at its subtables, some at
//! a time; what they all say of a table is said once, under its own name.

use futures_util::future::join_all;

use super::answer::Table;
use crate::error::{Error, Result};
use crate::execute::client::Client;
use crate::execute::names;
use crate::execute::statement::Running;
use crate::plan::local::{Maintain, Maintained};
use crate::plan::{Patch, print};
use crate::shard::{Answer, ReplyShape, Row};
use crate::sql::literal::quote_name;
use crate::topology::{HOME, ServerNo, ShardNo};
use crate::transaction::Ending;

/// Subtables in one statement.
const BATCH: usize = 64;

pub(super) async fn run(running: &Running<'_>, client: &mut Client, what: &Maintain) -> Result<()> {
    // 1. Like on one server it ends the transaction, or it would have to see its rows
    match what.sums {
        false => client.hold.end(Ending::Commit).await?,
        true if client.hold.in_transaction() => {
            return Err(Error::refused(
                "Bifold: CHECKSUM TABLE of a sharded table within a transaction is not supported; COMMIT before.",
            ));
        }
        true => {}
    }
    // 2. Table by table
    let mut table: Option<Table> = None;
    for maintained in &what.tables {
        let answers = everywhere(running, client, what, maintained).await?;
        let name = format!("{}.{}", maintained.schema.name, maintained.table);
        let mut rows: Vec<Row> = Vec::new();
        for answer in answers {
            merge(running, what, &name, &answer.rows, &mut rows);
            table.get_or_insert_with(|| Table { rows: Vec::new(), ..Table::of(answer) });
        }
        if let Some(table) = &mut table {
            table.rows.extend(rows);
        }
    }
    // 3. One reply
    let table = table.ok_or_else(|| Error::proxy("Bifold: a statement about no table."))?;
    client.memory.diagnostics.clear();
    table.reply(client, running.bound.is_some()).await
}

/// What each place says of a table, in the order of places.
async fn everywhere(
    running: &Running<'_>,
    client: &Client,
    what: &Maintain,
    table: &Maintained,
) -> Result<Vec<Answer>> {
    let texts = texts(running, what, table);
    let mut servers: Vec<ServerNo> = texts.iter().map(|(server, _)| *server).collect();
    servers.sort_unstable();
    servers.dedup();
    let asked = servers.iter().map(|server| {
        let own = texts.iter().enumerate().filter(|(_, (at, _))| at == server);
        let own: Vec<(usize, &[u8])> = own.map(|(number, (_, text))| (number, text.as_slice())).collect();
        ask(running, client, *server, own)
    });
    let mut answers = Vec::new();
    for answered in join_all(asked).await {
        answers.extend(answered?);
    }
    answers.sort_by_key(|(number, _)| *number);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

fn texts(running: &Running<'_>, what: &Maintain, table: &Maintained) -> Vec<(ServerNo, Vec<u8>)> {
    let statement = print::Printed { source: &running.statement.source, fingerprint: running.statement.fingerprint };
    let text = |shard: ShardNo, tables: &[String]| {
        let shard = table.schema.shard(shard);
        let mut list = Vec::new();
        for (number, name) in tables.iter().enumerate() {
            list.extend_from_slice(if number > 0 { b", " } else { b"" });
            quote_name(&shard.database, &mut list);
            list.push(b'.');
            quote_name(name, &mut list);
        }
        let mut template = what.text.clone();
        if let Some(cut) = template.cuts.first_mut() {
            cut.with = Patch::Text(list.into());
        }
        (shard.server, print::spliced(&template, statement))
    };
    let Some(sharded) = table.rule.as_ref().and_then(|rule| rule.sharded()) else {
        return vec![text(HOME, std::slice::from_ref(&table.table))];
    };
    let places: Vec<_> = table.schema.places(sharded).collect();
    let most = if what.single { 1 } else { BATCH };
    let batches = places.chunk_by(|a, b| a.shard == b.shard).flat_map(|shard| shard.chunks(most));
    let names = |batch: &[crate::topology::Place]| {
        batch.iter().map(|place| sharded.pattern.physical_name(place.subtable)).collect::<Vec<_>>()
    };
    batches.map(|batch| text(batch[0].shard, &names(batch))).collect()
}

async fn ask(
    running: &Running<'_>,
    client: &Client,
    server: ServerNo,
    texts: Vec<(usize, &[u8])>,
) -> Result<Vec<(usize, Answer)>> {
    let shape = ReplyShape { deprecate_eof: true, ..ReplyShape::default() };
    let mut conn = running.engine.servers.get(server).checkout(shape, client.state()).await?;
    conn.bring_to(client.state()).await?;
    let mut answers = Vec::with_capacity(texts.len());
    for (number, text) in texts {
        answers.push((number, conn.run_bytes(text).await?));
    }
    Ok(answers)
}

/// Adds what rows say to what was said of the table: once each, sums added up.
fn merge(running: &Running<'_>, what: &Maintain, name: &str, rows: &[Row], into: &mut Vec<Row>) {
    for row in rows {
        let mut row = row.clone();
        if let Some(cell) = row.first_mut() {
            *cell = Some(name.as_bytes().to_vec());
        }
        match (what.sums, into.first_mut()) {
            (true, Some(sum)) => sum[1] = added(sum[1].as_deref(), row.get(1).and_then(Option::as_deref)),
            (true, None) => into.push(row),
            (false, _) => {
                for cell in row.iter_mut().skip(1).flatten() {
                    *cell = names::in_foreign_text(&running.engine.topology, cell);
                }
                if !into.contains(&row) {
                    into.push(row);
                }
            }
        }
    }
}

/// A table's checksum is the sum of those of its rows, in 32 bits.
fn added(one: Option<&[u8]>, other: Option<&[u8]>) -> Option<Vec<u8>> {
    let number = |cell: Option<&[u8]>| std::str::from_utf8(cell?).ok()?.parse::<u32>().ok();
    Some(number(one)?.wrapping_add(number(other)?).to_string().into_bytes())
}
