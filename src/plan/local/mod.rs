//! Statements that the proxy answers itself or that change the session.

/// What to do, with everything that doing it needs.
#[derive(Debug)]
pub enum Local {}
