//! One DDL statement per table at a time.

use std::collections::HashSet;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::error::{Blame, Error, Result};

/// Longer than a change of thousands of small tables takes.
const WAIT: Duration = Duration::from_secs(60);

const LOCK_WAIT_TIMEOUT: (u16, &[u8; 5]) = (1205, b"HY000");

type Table = (String, String);

/// The tables that a statement of this proxy is changing.
#[derive(Debug, Default)]
pub struct Turns {
    busy: Mutex<HashSet<Table>>,
    ended: Notify,
}

/// Held while the tables are changed.
pub struct Turn<'a> {
    turns: &'a Turns,
    tables: Vec<Table>,
}

impl Turns {
    /// Waits until nobody else changes any of these tables. All are taken at once or none, so
    /// two statements cannot wait for each other.
    pub async fn take<'n>(&self, tables: impl Iterator<Item = (&'n str, &'n str)>) -> Result<Turn<'_>> {
        let tables: Vec<Table> = tables.map(|(schema, table)| (schema.to_owned(), table.to_owned())).collect();
        let waiting = async {
            loop {
                // Registered before the look, so that no end is missed between look and wait.
                let ended = self.ended.notified();
                if self.try_take(&tables) {
                    return;
                }
                ended.await;
            }
        };
        match timeout(WAIT, waiting).await {
            Ok(()) => Ok(Turn { turns: self, tables }),
            Err(_) => {
                let names: Vec<&str> = tables.iter().map(|(_, table)| table.as_str()).collect();
                let text = format!("Bifold: another statement is still changing {}. Try again.", names.join(", "));
                Err(Error::new(Blame::Proxy, LOCK_WAIT_TIMEOUT, text).retryable())
            }
        }
    }

    fn try_take(&self, tables: &[Table]) -> bool {
        let mut busy = self.busy.lock();
        let free = tables.iter().all(|table| !busy.contains(table));
        if free {
            busy.extend(tables.iter().cloned());
        }
        free
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut busy = self.turns.busy.lock();
        for table in &self.tables {
            busy.remove(table);
        }
        drop(busy);
        self.turns.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_table_is_changed_by_one_statement_at_a_time() {
        let turns = Turns::default();
        let first = turns.take([("mall", "a"), ("mall", "b")].into_iter()).await.unwrap();
        let other = turns.take([("mall", "c")].into_iter()).await.unwrap();
        let second = turns.take([("mall", "b")].into_iter());
        tokio::pin!(second);
        assert!(timeout(Duration::from_millis(20), &mut second).await.is_err());
        drop(other);
        assert!(timeout(Duration::from_millis(20), &mut second).await.is_err());
        drop(first);
        assert!(timeout(Duration::from_secs(5), second).await.is_ok());
    }
}
