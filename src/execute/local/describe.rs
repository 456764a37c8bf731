//! Statements about tables or a schema as a whole, answered by one server: what its rows call by
//! physical names is made logical. EXPLAIN of a statement likewise.

use std::sync::Arc;

use super::answer::Table;
use super::logical;
use crate::error::{Error, Result};
use crate::execute::client::Client;
use crate::execute::statement::Running;
use crate::execute::{exchange, names};
use crate::plan::local::Describe;
use crate::plan::{Effect, Plan, Planned, print};
use crate::route::{Name, Routed};
use crate::shard::Answer;
use crate::topology::ServerNo;
use crate::transaction::Ending;

pub(super) async fn run(running: &Running<'_>, client: &mut Client, what: &Describe) -> Result<()> {
    let statement = print::Printed { source: &running.statement.source, fingerprint: running.statement.fingerprint };
    let text = print::spliced(&what.text, statement);
    let physical: Vec<Name> = what.tables.iter().map(|(table, logical)| name(what, table, logical)).collect();
    if what.commits && client.hold.would_span(what.server) {
        // The others would know nothing of it.
        client.hold.end(Ending::Commit).await?;
    }
    if what.within {
        let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
        let conn = client.hold.connection(&running.engine.servers, what.server, need).await?;
        exchange::enter(conn, &what.schema.home().database).await?;
    }
    let answer = ask(running, client, what.server, &text, &physical).await?;
    let mut table = Table::of(answer);
    let columns = table.names()?;
    for row in &mut table.rows {
        for (column, cell) in columns.iter().zip(row) {
            if let Some(cell) = cell {
                logical::in_cell(&running.engine.topology, &what.schema, column, cell);
                if column == b"Create View" {
                    logical::in_definer(&client.user.name, cell);
                }
            }
        }
    }
    logical::in_columns(&physical, &mut table)?;
    table.reply(client, running.bound.is_some()).await
}

fn name(what: &Describe, table: &str, logical: &str) -> Name {
    Name {
        database: what.schema.home().database.clone(),
        table: table.to_owned(),
        logical_schema: what.schema.name.clone(),
        logical_table: logical.to_owned(),
        own: None,
    }
}

/// EXPLAIN: the statement explained is routed as it would be run.
pub(super) async fn explain(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    planned: &Arc<Planned>,
) -> Result<()> {
    let explaining = Running { planned, ..*running };
    let server = match &planned.plan {
        Plan::Single(single) => {
            let server = exchange::one_server(&explaining, client, routed, single).await?;
            if routed.wide || routed.gathered.is_some() {
                return Err(several_places());
            }
            server
        }
        Plan::Scatter(_) | Plan::Insert(_) | Plan::WriteScatter(_) => {
            explaining.route(client, routed).await?;
            match routed.parts.as_slice() {
                [part] => part.server,
                _ => return Err(several_places()),
            }
        }
        Plan::Gather(_) | Plan::InsertSelect(_) => return Err(several_places()),
        Plan::Refusal(error) => return Err(error.clone()),
        Plan::Local(_) | Plan::Load(_) | Plan::Ddl(_) => {
            return Err(Error::refused("Bifold: only queries and DML can be explained."));
        }
    };
    if running.bound.is_some_and(|bound| !bound.values.is_empty()) {
        return Err(Error::refused(
            "Bifold: EXPLAIN of a statement with parameters is not supported; write the values in the text.",
        ));
    }
    let part = &routed.parts[0];
    let answer = ask(running, client, server, &routed.buffer[part.text.clone()], &part.names).await?;
    let mut table = Table::of(answer);
    for cell in table.rows.iter_mut().flatten().flatten() {
        *cell = names::in_text(&part.names, 0, cell);
    }
    logical::in_columns(&part.names, &mut table)?;
    table.reply(client, running.bound.is_some()).await
}

fn several_places() -> Error {
    Error::refused(
        "Bifold: EXPLAIN of a statement that goes to several places is not supported; give the sharding key, or use EXPLAIN ROUTE to see where it goes.",
    )
}

/// Runs a text, with what it warned of remembered for SHOW WARNINGS.
async fn ask(
    running: &Running<'_>,
    client: &mut Client,
    server: ServerNo,
    text: &[u8],
    physical: &[Name],
) -> Result<Answer> {
    let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
    let conn = client.hold.connection(&running.engine.servers, server, need).await?;
    let answer = conn.run_bytes(text).await.map_err(|error| names::in_error(physical, error))?;
    client.memory.diagnostics = match answer.warnings {
        0 => Vec::new(),
        _ => exchange::diagnostics(&conn.run("SHOW WARNINGS").await?, physical),
    };
    Ok(answer)
}
