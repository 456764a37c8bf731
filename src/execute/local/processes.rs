//! SHOW PROCESSLIST: the sessions of this proxy that are the user's own, as a server lists the
//! threads of an account without the PROCESS privilege. Columns are a server's own.

use std::time::Instant;

use futures_util::future::join_all;

use super::answer::Table;
use super::show;
use crate::error::Result;
use crate::execute::client::Client;
use crate::execute::exchange;
use crate::execute::statement::Running;
use crate::registry::Seen;
use crate::shard::Row;
use crate::sql::Flavour;

/// Without FULL a text is shown up to here.
const SHORT: usize = 100;

pub(super) async fn run(running: &Running<'_>, client: &mut Client, full: bool) -> Result<Table> {
    let engine = running.engine;
    let server = engine.topology.servers()[0].no;
    let mut answer = show::ask(running, client, server, "SHOW PROCESSLIST").await?;
    client.memory.diagnostics.clear();
    if answer.warnings > 0 {
        // MySQL says that the statement is deprecated.
        let warnings = show::ask(running, client, server, "SHOW WARNINGS").await?;
        client.memory.diagnostics = exchange::diagnostics(&warnings, &[]);
    }
    answer.rows.clear();
    let mut table = Table::of(answer);
    let own = engine.registry.all().into_iter().filter(|listed| listed.who().user == client.user.name);
    let seen = join_all(own.map(|listed| async move { listed.see().await })).await;
    let flavour = engine.profile.dialect.flavour;
    table.rows = seen.into_iter().map(|seen| row(seen, flavour, full)).collect();
    Ok(table)
}

fn row(seen: Seen, flavour: Flavour, full: bool) -> Row {
    let text = |text: &str| Some(text.as_bytes().to_vec());
    let (command, seconds, statement) = match seen.doing {
        Some(doing) => {
            let seconds = Instant::now().saturating_duration_since(doing.since).as_secs();
            (doing.command, seconds, doing.text)
        }
        None => ("Query", 0, None),
    };
    let state = match (command, flavour) {
        ("Sleep", _) => "",
        (_, Flavour::MySql) => "executing",
        (_, Flavour::MariaDb) => "Executing",
    };
    let statement = statement.map(|mut text| {
        if !full {
            text.truncate(SHORT);
        }
        text
    });
    let mut row = vec![
        text(&seen.id.0.to_string()),
        text(&seen.who.user),
        text(&seen.who.host),
        seen.who.schema.as_deref().and_then(text),
        text(command),
        text(&seconds.to_string()),
        text(state),
        statement,
    ];
    if flavour == Flavour::MariaDb {
        row.push(text("0.000"));
    }
    row
}
