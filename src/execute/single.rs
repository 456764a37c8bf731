//! A statement for one server: its text or its parameters are sent, the reply's bytes passed on.

use super::client::Client;
use super::exchange;
use super::statement::Running;
use crate::error::Result;
use crate::plan::Single;
use crate::route::Routed;

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Single) -> Result<()> {
    let server = exchange::one_server(&running, client, routed, plan).await?;
    let part = &routed.parts[0];
    let summary = exchange::pass(&running, client, routed, part, server, plan.effect).await?;
    if plan.bind.is_some() {
        client.hold.bind(server);
    }
    exchange::follow(&running, client, server, &part.names, summary).await
}
