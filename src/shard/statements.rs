//! The statements prepared on one connection: by text, the least recently used given up first,
//! so that subtables × connections stay below the server's `max_prepared_stmt_count`.
//!
//! MySQL (9.7, measured) remembers how a statement's parameters were bound: once a number, a string is compared as a
//! number ever after, and `'05'` equals `'5'`; once a double, 9007199254740993 is stored as …992. One client's binding
//! must not change another's answer, so a statement is used again only where it can't.

use std::num::NonZeroUsize;

use lru::LruCache;

use crate::value::Value;

/// A statement as the server knows it.
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    pub id: u32,
    pub params: u16,
}

#[derive(Debug)]
pub struct Statements {
    by_text: LruCache<Box<[u8]>, Kept>,
}

#[derive(Debug)]
struct Kept {
    prepared: Prepared,
    /// The strongest of all executions, by parameter.
    bindings: Vec<Binding>,
}

/// What a parameter's value does to the statement for good; a value does not fit a statement that has a stronger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    /// Fits any statement, and does nothing to it.
    Null,
    /// Strings and moments.
    Loose,
    /// Integers and decimals.
    Number,
    Double,
}

impl Statements {
    pub fn new(bound: NonZeroUsize) -> Self {
        Statements { by_text: LruCache::new(bound) }
    }

    /// A statement that can be executed with these parameters, which it notes.
    pub fn fitting(&mut self, text: &[u8], values: &[Value<'_>]) -> Option<Prepared> {
        let kept = self.by_text.get_mut(text)?;
        kept.bindings.resize(values.len(), Binding::Null);
        let wanted = || values.iter().map(Binding::of);
        if kept.bindings.iter().zip(wanted()).any(|(&had, wants)| !wants.fits(had)) {
            return None;
        }
        for (had, wants) in kept.bindings.iter_mut().zip(wanted()) {
            *had = wants.max(*had);
        }
        Some(kept.prepared)
    }

    /// Keeps a statement that was not executed yet, in place of one of the same text; gives the one that has to be
    /// closed for it.
    pub fn keep(&mut self, text: &[u8], prepared: Prepared) -> Option<u32> {
        let given_up = self.by_text.push(text.into(), Kept { prepared, bindings: Vec::new() });
        given_up.map(|(_, kept)| kept.prepared.id)
    }

    /// Forgets all; gives the ids to close.
    pub fn clear(&mut self) -> Vec<u32> {
        let ids = self.by_text.iter().map(|(_, kept)| kept.prepared.id).collect();
        self.by_text.clear();
        ids
    }
}

impl Binding {
    fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Null => Binding::Null,
            Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Binding::Number,
            Value::Double(_) | Value::Float(_) => Binding::Double,
            Value::Text { .. } | Value::Binary(_) | Value::Hex { .. } => Binding::Loose,
            Value::Date { .. } | Value::DateTime { .. } | Value::Time { .. } => Binding::Loose,
        }
    }

    fn fits(self, had: Binding) -> bool {
        self == Binding::Null || self >= had
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"SELECT ?";

    fn string() -> Value<'static> {
        Value::Text { bytes: b"5", charset: "utf8mb4" }
    }

    fn statements() -> Statements {
        let mut statements = Statements::new(NonZeroUsize::MIN);
        assert_eq!(statements.keep(TEXT, Prepared { id: 1, params: 1 }), None);
        statements
    }

    #[test]
    fn a_statement_is_not_used_again_where_an_earlier_binding_would_bend_the_value() {
        let mut statements = statements();
        for fits in [string(), Value::Null, Value::Int(5), Value::Null, Value::Decimal("5.5")] {
            assert!(statements.fitting(TEXT, &[fits]).is_some());
        }
        assert!(statements.fitting(TEXT, &[string()]).is_none());
        assert!(statements.fitting(TEXT, &[Value::Double(5.0)]).is_some());
        assert!(statements.fitting(TEXT, &[Value::Int(5)]).is_none());
        assert!(statements.fitting(TEXT, &[Value::Null]).is_some());
    }

    #[test]
    fn a_fresh_statement_takes_the_place_of_the_bent_one() {
        let mut statements = statements();
        statements.fitting(TEXT, &[Value::Double(5.0)]).expect("fresh");
        assert_eq!(statements.keep(TEXT, Prepared { id: 2, params: 1 }), Some(1));
        assert_eq!(statements.fitting(TEXT, &[string()]).map(|prepared| prepared.id), Some(2));
        assert_eq!(statements.keep(b"SELECT ? + 1", Prepared { id: 3, params: 1 }), Some(2));
        assert!(statements.fitting(TEXT, &[string()]).is_none());
    }
}
