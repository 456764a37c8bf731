//! The limit on a client's silence. One timer lives as long as the session and is moved on only
//! when it fires: setting one for each command would cost more than reading the command.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

pub(super) struct Idle {
    limit: Duration,
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Idle {
    pub fn new(limit: Duration) -> Self {
        let since = Instant::now();
        Idle { limit, since, timer: Box::pin(sleep_until(since + limit)) }
    }

    /// The client may be silent for the whole limit from now on.
    pub fn restart(&mut self) {
        self.since = Instant::now();
    }

    pub fn since(&self) -> std::time::Instant {
        self.since.into_std()
    }

    /// Ends when the limit has passed since the last restart.
    pub async fn expired(&mut self) {
        loop {
            self.timer.as_mut().await;
            let due = self.since + self.limit;
            if Instant::now() >= due {
                return;
            }
            self.timer.as_mut().reset(due);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_restart_puts_the_end_off() {
        let limit = Duration::from_millis(40);
        let mut idle = Idle::new(limit);
        tokio::time::sleep(limit / 2).await;
        idle.restart();
        let restarted = Instant::now();
        idle.expired().await;
        assert!(restarted.elapsed() >= limit);
    }
}
