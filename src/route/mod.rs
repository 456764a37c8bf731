//! A plan and the values of one statement become the texts for servers. Pure: what it lacks (a
//! collation weight) is an error that says what to ask a server; the caller asks and routes again.

use std::ops::Range;

use crate::error::Error;
use crate::topology::{Place, Schema, ServerNo, TableRule};

/// What the session knows and a text may need.
pub struct Facts<'a> {
    pub user: &'a str,
    /// As the server would say it in USER(): `app@10.0.0.1`.
    pub host: &'a str,
    /// The account that let the user in: CURRENT_USER().
    pub account: &'a str,
    pub schema: Option<&'a str>,
    pub connection_id: u64,
    pub last_insert_id: u64,
    pub row_count: i64,
    pub found_rows: u64,
    /// The character set of literals, in lower case.
    pub charset: &'a str,
    pub ids: &'a dyn Ids,
}

/// Hands out ids.
pub trait Ids: Send + Sync {
    /// Appends `count` ids for new rows of a table; for ids that carry the key, all rows are of
    /// this residue (h mod M) and this place.
    fn take(
        &self,
        schema: &Schema,
        table: &TableRule,
        at: Option<(u32, Place)>,
        count: u32,
        out: &mut Vec<u64>,
    ) -> Result<(), Error>;
}

/// The texts of one statement; reused from statement to statement.
#[derive(Debug, Default)]
pub struct Routed {
    pub buffer: Vec<u8>,
    pub parts: Vec<Part>,
}

/// One text for one server.
#[derive(Debug)]
pub struct Part {
    pub server: ServerNo,
    /// Of the buffer.
    pub text: Range<usize>,
    /// What stands for each `?` of the text; `None`: the client's parameters as they are.
    pub args: Option<Vec<Arg>>,
    /// Physical names in the text and what the client calls them.
    pub names: Vec<Name>,
    /// How many rows an INSERT's text holds.
    pub rows: u32,
    /// The first generated id of the text.
    pub first_id: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The client's parameter of this number, from 0.
    Client(u16),
    Id(u64),
}

/// A physical table of a text, for making its names logical again in the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub database: String,
    pub table: String,
    pub logical_schema: String,
    pub logical_table: String,
}

#[derive(Debug)]
pub enum RouteError {
    Refused(Error),
    /// The key's weight is not known: ask any server, tell the weights, route again.
    NeedsWeight {
        query: String,
        key: Vec<u8>,
    },
}
