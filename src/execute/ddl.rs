//! DDL on logical tables, carried out on every subtable.

use super::client::Client;
use super::statement::Running;
use crate::error::{Error, Result};
use crate::plan::ddl::Ddl;

pub(super) async fn run(_running: Running<'_>, _client: &mut Client, _plan: &Ddl) -> Result<()> {
    Err(Error::refused("Bifold: DDL is not carried out yet."))
}
