//! Statements that the proxy answers itself or that change the session.

use super::client::Client;
use super::statement::Running;
use crate::error::{Error, Result};
use crate::plan::local::Local;
use crate::route::Routed;

pub(super) async fn run(
    _running: Running<'_>,
    _client: &mut Client,
    _routed: &mut Routed,
    _plan: &Local,
) -> Result<()> {
    Err(Error::refused("Bifold: statements of this kind are not carried out yet."))
}
