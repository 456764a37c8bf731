//! A statement for one server: its text or its parameters are sent, the reply's bytes passed on.

use super::client::Client;
use super::exchange::{self, At};
use super::gather;
use super::scatter;
use super::statement::Running;
use crate::error::{Error, Result};
use crate::plan::{Bind, Effect, Single};
use crate::route::Routed;

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Single) -> Result<()> {
    let server = exchange::one_server(&running, client, routed, plan).await?;
    if let Some(wide) = plan.wide.as_ref().filter(|_| routed.wide) {
        return Box::pin(scatter::run(running, client, routed, wide)).await;
    }
    if let Some(gather) = plan.gather.as_ref().filter(|_| routed.gathered.is_some()) {
        return Box::pin(gather::run(running, client, routed, gather)).await;
    }
    let part = &routed.parts[0];
    let effect = match plan.bind {
        // It may write, whatever the statement looks like.
        Some(Bind::Routine) if client.hold.would_span(server) => return Err(routine_beside_others()),
        Some(Bind::Routine) => Effect::Write,
        Some(Bind::NamedLock | Bind::TemporaryTable | Bind::LockTables) | None => plan.effect,
    };
    let summary = exchange::pass(&running, client, routed, part, server, effect).await?;
    if plan.bind.is_some() {
        client.hold.bind(server);
    }
    exchange::follow(&running, client, At::Held(server), &part.names, summary).await
}

/// It could commit on its server, which the others would know nothing of.
fn routine_beside_others() -> Error {
    Error::refused(
        "Bifold: stored routines in a transaction over several servers are not supported; call them in a transaction of their own.",
    )
}
