//! Statements that the proxy answers itself or that change the session: carried out on what the
//! session keeps, with a server's help where a server knows better.

mod answer;
mod describe;
pub(super) mod fold;
pub(super) mod kill;
pub(super) mod logical;
mod maintain;
mod operand;
mod prepared;
mod processes;
mod route;
mod set;
mod show;
pub(super) mod transaction;

use super::catalogue;
use super::client::Client;
use super::statement::Running;
use crate::error::Result;
use crate::plan::local::Local;
use crate::route::Routed;

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Local) -> Result<()> {
    match plan {
        Local::Transaction(what) => transaction::run(&running, client, what).await,
        Local::Set(steps) => set::run(&running, client, routed, steps).await,
        Local::Follow(planned) => set::follow(&running, client, routed, planned).await,
        Local::Use(schema) => {
            client.set_schema(Some(schema.clone()));
            done(client).await
        }
        Local::Show(what) => show::run(&running, client, what).await,
        Local::Describe(what) => describe::run(&running, client, what).await,
        Local::Maintain(what) => maintain::run(&running, client, what).await,
        Local::Explain(planned) => describe::explain(&running, client, routed, planned).await,
        Local::Route(planned) => route::run(&running, client, planned).await,
        Local::Lock(locked) => transaction::lock(&running, client, routed, locked).await,
        Local::Unlock => transaction::unlock(&running, client).await,
        Local::Prepare { name, text } => prepared::prepare(&running, client, name, text).await,
        Local::Execute { name, using } => prepared::execute(&running, client, name, using).await,
        Local::ExecuteImmediate { text, using } => prepared::immediate(&running, client, text, using).await,
        Local::Deallocate { name } => prepared::deallocate(client, name).await,
        Local::Catalogue(plan) => catalogue::run(&running, client, routed, plan).await,
        Local::Kill { query_only, thread } => kill::run(&running, client, routed, *query_only, thread).await,
    }
}

/// An OK for a statement that leaves nothing else to remember.
async fn done(client: &mut Client) -> Result<()> {
    client.memory.row_count = 0;
    client.forget_diagnostics(false);
    client.reply_ok().await
}
