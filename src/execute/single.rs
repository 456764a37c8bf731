//! A statement for one server: its text or its parameters are sent, the reply's bytes passed on.

use super::client::Client;
use super::exchange;
use super::statement::Running;
use crate::error::{Error, Result};
use crate::plan::Single;
use crate::route::Routed;

pub(super) async fn run(running: Running<'_>, client: &mut Client, routed: &mut Routed, plan: &Single) -> Result<()> {
    running.route(client, routed).await?;
    let [part] = routed.parts.as_slice() else {
        return Err(Error::proxy("Bifold: a statement for one server was routed to several."));
    };
    // Without tables any server will do: best one that the session holds already.
    let anywhere = plan.template.refs.is_empty() && !plan.needs_schema;
    let server = client.hold.any().filter(|_| anywhere).unwrap_or(part.server);
    let summary = exchange::pass(&running, client, routed, part, server, plan.effect).await?;
    if plan.bind.is_some() {
        client.hold.bind(server);
    }
    exchange::follow(&running, client, server, &part.names, summary).await
}
