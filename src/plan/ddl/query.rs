//! CREATE TABLE … SELECT of unsharded tables: every table of the query gets its database.

use std::sync::Arc;

use super::edits::Edits;
use super::planner::Planner;
use crate::error::{Error, Result};
use crate::sql::ast::CreateTable;
use crate::topology::Schema;

pub(super) fn qualify(
    _planner: &Planner<'_>,
    _edits: &mut Edits<'_>,
    _schema: &Arc<Schema>,
    _create: &CreateTable,
) -> Result<()> {
    Err(Error::refused("Bifold: CREATE TABLE … SELECT is not supported yet. CREATE TABLE first, then INSERT … SELECT."))
}
