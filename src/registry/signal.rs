//! What others say to a session's task: flags and a waker, so that a statement under way costs
//! nothing but looking at the flags when its task is woken anyway.

use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Somebody wants to know what it is doing.
    Tell,
    /// The statement is to end, the session goes on.
    KillQuery,
    /// The session is to end.
    KillConnection,
}

#[derive(Debug, Default)]
pub(super) struct Signals {
    waiting: AtomicU8,
    waker: AtomicWaker,
}

impl Signal {
    fn bit(self) -> u8 {
        match self {
            Signal::Tell => 1,
            Signal::KillQuery => 2,
            Signal::KillConnection => 4,
        }
    }
}

impl Signals {
    pub fn raise(&self, signal: Signal) {
        self.waiting.fetch_or(signal.bit(), Ordering::Release);
        self.waker.wake();
    }

    /// The most pressing one that waits, taken.
    pub fn poll(&self, context: &Context<'_>) -> Poll<Signal> {
        self.waker.register(context.waker());
        let waiting = self.waiting.load(Ordering::Acquire);
        let most = [Signal::KillConnection, Signal::KillQuery, Signal::Tell]
            .into_iter()
            .find(|signal| waiting & signal.bit() != 0);
        match most {
            Some(signal) => {
                self.waiting.fetch_and(!signal.bit(), Ordering::AcqRel);
                Poll::Ready(signal)
            }
            None => Poll::Pending,
        }
    }
}
