//! The statements prepared on one connection, by text. All connections to a server share a budget,
//! below its `max_prepared_stmt_count`: few connections may keep many statements each, as tables of
//! 1,024 subtables want it. Beyond the budget a connection gives up its least recently used one.
//!
//! MySQL (9.7, measured) remembers how a statement's parameters were bound: once a number, a string is compared as a
//! number ever after, and `'05'` equals `'5'`; once a double, 9007199254740993 is stored as …992. One client's binding
//! must not change another's answer, so a statement is used again only where it can't.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lru::LruCache;

use crate::value::Value;

/// A statement as the server knows it.
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    pub id: u32,
    pub params: u16,
}

/// How many statements all connections to a server keep.
#[derive(Debug)]
pub struct Budget {
    kept: AtomicUsize,
    limit: usize,
}

#[derive(Debug)]
pub struct Statements {
    by_text: LruCache<Box<[u8]>, Kept>,
    budget: Arc<Budget>,
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
    pub fn new(budget: Arc<Budget>) -> Self {
        Statements { by_text: LruCache::unbounded(), budget }
    }

    /// Is a statement of this text here?
    pub fn has(&self, text: &[u8]) -> bool {
        self.by_text.contains(text)
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
        let replaced = self.by_text.push(text.into(), Kept { prepared, bindings: Vec::new() });
        let given_up = match replaced {
            Some(replaced) => Some(replaced),
            None if self.budget.take() || self.by_text.len() == 1 => None,
            None => {
                self.budget.give(1);
                self.by_text.pop_lru()
            }
        };
        given_up.map(|(_, kept)| kept.prepared.id)
    }

    /// Forgets all; gives the ids to close.
    pub fn clear(&mut self) -> Vec<u32> {
        let ids = self.by_text.iter().map(|(_, kept)| kept.prepared.id).collect();
        self.budget.give(self.by_text.len());
        self.by_text.clear();
        ids
    }
}

impl Drop for Statements {
    /// The server closes them with their connection.
    fn drop(&mut self) {
        self.budget.give(self.by_text.len());
    }
}

impl Budget {
    pub fn new(limit: usize) -> Self {
        Budget { kept: AtomicUsize::new(0), limit }
    }

    /// Counts one more; is it within the limit?
    fn take(&self) -> bool {
        self.kept.fetch_add(1, Ordering::Relaxed) < self.limit
    }

    fn give(&self, count: usize) {
        self.kept.fetch_sub(count, Ordering::Relaxed);
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
        let mut statements = Statements::new(Arc::new(Budget::new(1)));
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

    #[test]
    fn connections_share_what_a_server_keeps() {
        let budget = Arc::new(Budget::new(3));
        let (mut one, mut other) = (Statements::new(budget.clone()), Statements::new(budget.clone()));
        for id in 0..3 {
            assert_eq!(one.keep(&[id], Prepared { id: id.into(), params: 0 }), None);
        }
        assert_eq!(one.keep(b"4", Prepared { id: 4, params: 0 }), Some(0), "the least recently used goes");
        // A connection keeps one at least, or it could run none.
        assert_eq!(other.keep(b"5", Prepared { id: 5, params: 0 }), None);
        assert_eq!(other.keep(b"6", Prepared { id: 6, params: 0 }), Some(5));
        drop(one);
        assert_eq!(other.keep(b"7", Prepared { id: 7, params: 0 }), None);
        drop(other);
        assert_eq!(budget.kept.load(Ordering::Relaxed), 0);
    }
}
