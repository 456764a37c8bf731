//! EXPLAIN ROUTE: the plan as text, then each text with the server and the places it goes to.
//! Nothing is run; ids in the texts are made as for a real statement, and are lost.

use std::sync::Arc;

use super::answer::Table;
use crate::error::Result;
use crate::execute::client::Client;
use crate::execute::statement::Running;
use crate::plan::{Plan, Planned, print};
use crate::protocol::result_set::text_column;
use crate::route::{Name, Part, Routed};

/// The collation number of utf8mb4_general_ci, which both servers have.
const UTF8MB4: u16 = 45;

pub(super) async fn run(running: &Running<'_>, client: &mut Client, planned: &Arc<Planned>) -> Result<()> {
    let statement = print::Printed { source: &running.statement.source, fingerprint: running.statement.fingerprint };
    let column = |name: &'static str| text_column(name.as_bytes(), UTF8MB4, 65535);
    let mut table = Table::new(&[column("plan"), column("server"), column("place"), column("text")]);
    let plan = print::print(planned, statement);
    let mut routed = Routed::default();
    match &planned.plan {
        Plan::Single(_) | Plan::Scatter(_) | Plan::Gather(_) | Plan::Insert(_) | Plan::WriteScatter(_)
            if running.bound.is_none() =>
        {
            match (Running { planned, ..*running }).route(client, &mut routed).await {
                Ok(()) => texts(running, &plan, &routed, &mut table),
                Err(error) => table.push([plan.trim_end().as_bytes(), b"", b"", &refused(&error)]),
            }
        }
        Plan::Single(_)
        | Plan::Scatter(_)
        | Plan::Gather(_)
        | Plan::InsertSelect(_)
        | Plan::Insert(_)
        | Plan::WriteScatter(_)
        | Plan::Local(_)
        | Plan::Load(_)
        | Plan::Ddl(_)
        | Plan::Refusal(_) => table.push([plan.trim_end().as_bytes(), b"", b"", b""]),
    }
    client.memory.diagnostics.clear();
    table.reply(client, running.bound.is_some()).await
}

fn refused(error: &crate::error::Error) -> Vec<u8> {
    let text = String::from_utf8_lossy(error.text());
    format!("ERROR {} ({}): {text}", error.code(), String::from_utf8_lossy(error.state())).into_bytes()
}

fn texts(running: &Running<'_>, plan: &str, routed: &Routed, table: &mut Table) {
    for (at, part) in routed.parts.iter().enumerate() {
        let server = &running.engine.servers.get(part.server).name;
        let plan = if at == 0 { plan.trim_end() } else { "" };
        table.push([
            plan.as_bytes(),
            server.as_bytes(),
            places_of(part).as_bytes(),
            routed.buffer[part.text.clone()].trim_ascii_start(),
        ]);
    }
    if let Some(gathered) = &routed.gathered {
        let server = &running.engine.servers.get(gathered.server).name;
        let text = routed.buffer[gathered.text.clone()].trim_ascii_start();
        let plan = if routed.parts.is_empty() { plan.trim_end() } else { "" };
        table.push([plan.as_bytes(), server.as_bytes(), places(&gathered.names).as_bytes(), text]);
    }
}

/// `mall_1.orders_0007`, each once.
fn places(names: &[Name]) -> String {
    let mut places: Vec<String> = Vec::new();
    for name in names {
        let place = format!("{}.{}", name.database, name.table);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.join(", ")
}

/// Of a text for many places the first.
fn places_of(part: &Part) -> String {
    let first = places(&part.names);
    match part.branch_count() {
        1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}
