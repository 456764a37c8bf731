//! Tokens → tree.

use super::ast::Statement;
use super::{Source, token};
use crate::error::Result;

/// A statement, and the token after it.
pub fn parse(source: &Source, from: u32) -> Result<(Statement, u32)> {
    let _ = (from, token::Kind::End, source);
    Err(crate::error::Error::client(crate::error::code::PARSE, "You have an error in your SQL syntax"))
}
