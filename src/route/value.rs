//! The value of a literal or a parameter, and the place that a key's value gives.

use super::{RouteError, Work};
use crate::plan::{Item, Located, ValueSource};
use crate::sql::fingerprint::{self, ListKind};
use crate::sql::{Kind, Span, literal};
use crate::topology::key::{Canonical, Key, KeyType, Purpose, Reading};
use crate::topology::{KeyHash, Sharded};
use crate::value::Value;

/// What a value says of the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Hash(KeyHash),
    Null,
    /// Not provably one stored value.
    Unclear,
}

/// A value that a statement gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Tokens(Span),
    /// The session's last id.
    Id(u64),
}

impl From<Span> for Given {
    fn from(span: Span) -> Self {
        Given::Tokens(span)
    }
}

impl<'a> Work<'a> {
    /// The tokens of the items `from..to`.
    pub fn span(&self, from: Item, to: Item) -> Span {
        self.statement.fingerprint.tokens(from.0, to.0)
    }

    /// The number of a `?` among the statement's parameters.
    pub fn param_number(&self, token: u32) -> usize {
        self.params.partition_point(|param| *param < token)
    }

    /// What the tokens say, if they are nothing but a literal or a bound `?`.
    pub fn value<'b>(&self, given: Given, scratch: &'b mut Vec<u8>) -> Option<Value<'b>>
    where
        'a: 'b,
    {
        let span = match given {
            Given::Tokens(span) => span,
            Given::Id(id) => return Some(Value::UInt(id)),
        };
        let source = &self.statement.source;
        if span.end - span.start == 1 && source.kind(span.start) == Kind::Param {
            return self.statement.params?.get(self.param_number(span.start)).cloned();
        }
        literal::value(source, span, self.facts.charset, scratch)
    }

    /// A value brought to the key's form.
    pub fn canonical<'b>(
        &self,
        key_type: &KeyType,
        given: impl Into<Given>,
        purpose: Purpose,
        scratch: &'b mut Vec<u8>,
    ) -> Canonical<'b>
    where
        'a: 'b,
    {
        let Some(value) = self.value(given.into(), scratch) else { return Canonical::NotExact };
        let reading = Reading { purpose, connection: self.facts.connection, weights: self.facts.weights };
        key_type.canonical(&value, &reading)
    }

    /// What a value of the sharding key says.
    pub fn key(
        &self,
        key_type: &KeyType,
        sharded: &Sharded,
        given: impl Into<Given>,
        purpose: Purpose,
        scratch: &mut Vec<u8>,
    ) -> Result<Said, RouteError> {
        match self.canonical(key_type, given, purpose, scratch) {
            Canonical::Exact(key) => Ok(Said::Hash(key.hash(sharded.hash))),
            Canonical::Null => Ok(Said::Null),
            Canonical::NotExact => Ok(Said::Unclear),
            Canonical::Ask(question) => Err(RouteError::Ask(question)),
        }
    }

    /// An integer, if it is exactly one.
    pub fn integer(
        &self,
        id_type: &KeyType,
        given: impl Into<Given>,
        purpose: Purpose,
        scratch: &mut Vec<u8>,
    ) -> Option<i128> {
        match self.canonical(id_type, given, purpose, scratch) {
            Canonical::Exact(Key::Integer(id)) => Some(id),
            Canonical::Exact(Key::Bytes(_) | Key::Hashed(_))
            | Canonical::Null
            | Canonical::NotExact
            | Canonical::Ask(_) => None,
        }
    }

    /// Every value of a source until one fails.
    pub fn each(
        &self,
        values: &ValueSource,
        mut visit: impl FnMut(Given) -> Result<bool, RouteError>,
    ) -> Result<bool, RouteError> {
        match values {
            ValueSource::One { from, to } => visit(Given::Tokens(self.span(*from, *to))),
            ValueSource::LastInsertId => visit(Given::Id(self.facts.last_insert_id)),
            ValueSource::Driver => Ok(false),
            ValueSource::List(item) => {
                let Some(list) = self.statement.fingerprint.list(item.0).filter(|list| list.kind == ListKind::Values)
                else {
                    return Ok(false);
                };
                for span in fingerprint::values(&self.statement.source, list.span) {
                    if !visit(Given::Tokens(span))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ValueSource::Rows { item, value } => {
                let list = self.statement.fingerprint.list(item.0).filter(|list| list.kind == ListKind::ValueRows);
                let Some(list) = list else { return Ok(false) };
                // Without the parentheses around the rows.
                let rows = Span::new(list.span.start + 1, list.span.end - 1);
                for row in fingerprint::rows(&self.statement.source, rows) {
                    let value = fingerprint::values(&self.statement.source, row).nth(usize::from(*value));
                    if !value.map_or(Ok(false), |value| visit(Given::Tokens(value)))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

/// The rule of a located table.
pub(super) fn sharded(located: &Located) -> &Sharded {
    located.rule.sharded().expect("a located table is sharded")
}
