//! Who may hold connections to servers while waiting for more. Sessions that hold one and need
//! another could wait for each other for ever; so whoever may come to hold several takes a ticket
//! first, and there are no more tickets than the smallest pool has connections: with a ticket in
//! hand a connection to every server is sure to come free. Statements for one place need none.

mod gate;
mod hot;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

pub use gate::{Gate, Pass};
pub use hot::{HotKey, HotKeys, Passing};

use crate::error::{Blame, Error, Result, code};

/// The tickets of a proxy.
#[derive(Debug)]
pub struct Tickets {
    permits: Arc<Semaphore>,
    count: usize,
    wait: Duration,
}

/// The right to hold a connection to every server; goes back when dropped.
#[derive(Debug)]
pub struct Ticket {
    _permit: OwnedSemaphorePermit,
}

impl Tickets {
    /// `smallest`: the bound of the smallest pool. A quarter of it is left to statements that
    /// hold nothing, so that these stay quick.
    pub fn new(smallest: usize, wait: Duration) -> Self {
        let count = (smallest - smallest / 4).max(1);
        Tickets { permits: Arc::new(Semaphore::new(count)), count, wait }
    }

    /// Waits at most as long as for a connection.
    pub async fn take(&self) -> Result<Ticket> {
        let permit = match self.permits.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => match timeout(self.wait, self.permits.clone().acquire_owned()).await {
                Ok(permit) => permit.expect("the semaphore is never closed"),
                Err(_) => return Err(self.exhausted()),
            },
        };
        Ok(Ticket { _permit: permit })
    }

    fn exhausted(&self) -> Error {
        let text = format!(
            "Bifold: {} transactions and statements over several servers are under way, and none ended within {} ms. Try again, or raise backend.connections.",
            self.count,
            self.wait.as_millis()
        );
        Error::new(Blame::Proxy, code::CON_COUNT, text).retryable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_ticket_given_back_is_the_next_ones() {
        let tickets = Tickets::new(2, Duration::from_millis(20));
        let first = tickets.take().await.expect("the first");
        let second = tickets.take().await.expect("the second");
        let refused = tickets.take().await.expect_err("there are two");
        assert!(refused.is_retryable());
        drop(first);
        tickets.take().await.expect("the first one's");
        drop(second);
    }

    #[test]
    fn some_connections_are_left_to_others() {
        for (smallest, count) in [(1, 1), (2, 2), (4, 3), (32, 24)] {
            assert_eq!(Tickets::new(smallest, Duration::ZERO).count, count);
        }
    }
}
