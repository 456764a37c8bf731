//! Wrong passwords slowed, by account and address. The first few cost nothing; from then on each
//! is answered later than the one before, one after the other however many connections ask, and
//! when too many wait, the next ones are turned away unheard. A right password that is heard is not
//! slowed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::error::{Error, Result};

/// So many wrong ones in a row are typing errors.
const FREE: u32 = 3;
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);
/// Who would have to wait longer for its refusal is not heard at all.
const QUEUE: Duration = Duration::from_secs(8);
/// What was wrong so long ago is forgotten.
const MEMORY: Duration = Duration::from_secs(120);
/// Accounts and addresses remembered; beyond it the oldest is forgotten.
const REMEMBERED: usize = 8192;

type Key = (Box<[u8]>, IpAddr);

#[derive(Debug, Default)]
pub struct Throttle(Mutex<HashMap<Key, Failures>>);

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    /// When the last one is, or was, answered.
    answered: Instant,
}

impl Throttle {
    /// Before a password is looked at.
    pub fn admit(&self, user: &[u8], from: IpAddr, now: Instant) -> Result<()> {
        let failures = self.0.lock().get(&key(user, from)).copied();
        match failures {
            Some(failures) if failures.answered.saturating_duration_since(now) > QUEUE => Err(blocked(from)),
            Some(_) | None => Ok(()),
        }
    }

    /// It was wrong: how long its answer is to be put off.
    pub fn failed(&self, user: &[u8], from: IpAddr, now: Instant) -> Duration {
        let mut known = self.0.lock();
        if known.len() >= REMEMBERED {
            known.retain(|_, failures| now.saturating_duration_since(failures.answered) < MEMORY);
            let oldest = known.iter().min_by_key(|(_, failures)| failures.answered).map(|(key, _)| key.clone());
            oldest.filter(|_| known.len() >= REMEMBERED).map(|key| known.remove(&key));
        }
        let failures = known.entry(key(user, from)).or_insert(Failures { count: 0, answered: now });
        if now.saturating_duration_since(failures.answered) >= MEMORY {
            failures.count = 0;
        }
        failures.count = failures.count.saturating_add(1);
        let steps = failures.count.saturating_sub(FREE);
        let pause = match steps {
            0 => Duration::ZERO,
            steps => FIRST.saturating_mul(1 << (steps - 1).min(8)).min(LONGEST),
        };
        failures.answered = failures.answered.max(now) + pause;
        failures.answered.saturating_duration_since(now)
    }

    /// It was right.
    pub fn succeeded(&self, user: &[u8], from: IpAddr) {
        let mut known = self.0.lock();
        if !known.is_empty() {
            known.remove(&key(user, from));
        }
    }
}

fn key(user: &[u8], from: IpAddr) -> Key {
    (user.into(), from.to_canonical())
}

fn blocked(from: IpAddr) -> Error {
    let from = from.to_canonical();
    let text = format!("Host '{from}' is blocked because of many wrong passwords; try again in a few seconds");
    Error::client(HOST_IS_BLOCKED, text)
}

const HOST_IS_BLOCKED: (u16, &[u8; 5]) = (1129, b"HY000");

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn guesses_come_one_after_the_other_and_then_not_at_all() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for _ in 0..FREE {
            assert_eq!(throttle.failed(b"app", FROM, now), Duration::ZERO);
        }
        // All at the same moment, over as many connections.
        let mut last = Duration::ZERO;
        while throttle.admit(b"app", FROM, now).is_ok() {
            let wait = throttle.failed(b"app", FROM, now);
            assert!(wait >= last + FIRST && wait <= QUEUE + LONGEST, "{wait:?}");
            last = wait;
        }
        assert_eq!(throttle.admit(b"app", FROM, now).expect_err("blocked").code(), 1129);
        throttle.admit(b"other", FROM, now).expect("another account");
        throttle.admit(b"app", FROM, now + QUEUE).expect("later");
        throttle.succeeded(b"app", FROM);
        assert_eq!(throttle.failed(b"app", FROM, now), Duration::ZERO);
    }

    #[test]
    fn memory_is_bounded() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for number in 0..REMEMBERED + 100 {
            throttle.failed(number.to_string().as_bytes(), FROM, now);
        }
        assert!(throttle.0.lock().len() <= REMEMBERED);
    }
}
