//! How a transaction is begun: the words of its BEGIN, and what SET TRANSACTION said of it.

/// What SET TRANSACTION says of one transaction: `READ COMMITTED`, `READ ONLY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Characteristics {
    pub isolation: Option<&'static str>,
    pub access: Option<&'static str>,
}

/// How the transaction goes on that AND CHAIN begins.
#[derive(Debug)]
pub struct Chained {
    pub(super) statement: String,
    pub(super) characteristics: Characteristics,
}

impl Characteristics {
    pub fn statement(self) -> Option<String> {
        let isolation = self.isolation.map(|level| format!("ISOLATION LEVEL {level}"));
        let access = self.access.map(str::to_owned);
        let parts: Vec<String> = isolation.into_iter().chain(access).collect();
        (!parts.is_empty()).then(|| format!("SET TRANSACTION {}", parts.join(", ")))
    }

    /// For a branch, whose XA START has no words of its own: those of `begun` are put in.
    pub fn with_words_of(self, begun: &str) -> Self {
        let said = ["READ ONLY", "READ WRITE"].into_iter().find(|access| begun.ends_with(access));
        Characteristics { access: said.or(self.access), ..self }
    }
}

/// XA START can't be WITH CONSISTENT SNAPSHOT; a read begins one.
pub(super) fn takes_snapshot(begun: &str) -> bool {
    begun.contains("WITH CONSISTENT SNAPSHOT")
}
