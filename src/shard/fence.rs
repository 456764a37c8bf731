//! [`Fence`]: each server keeps the version of the layout that it belongs to, in its `bifold.fence`.
//! A new connection reads it, and refuses to serve where it is newer than what this proxy goes by:
//! so a proxy that has slept through a change writes nothing in the old places.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::conn::ServerThreadId;
use crate::error::{Blame, Error, Result};

#[derive(Debug)]
pub struct Fence {
    question: String,
    /// The newest version that connections may be made to.
    allowed: AtomicU64,
    /// The connections there are, by server: nobody else's are this proxy's.
    threads: Mutex<HashMap<String, Vec<u32>>>,
}

impl Fence {
    pub fn new(cluster: &str, version: u64) -> Self {
        Fence {
            // The settings allow letters, digits, `_` and `-` in it.
            question: format!("SELECT version FROM bifold.fence WHERE cluster = '{cluster}'"),
            allowed: AtomicU64::new(version),
            threads: Mutex::default(),
        }
    }

    pub fn allow(&self, version: u64) {
        self.allowed.store(version, Ordering::SeqCst);
    }

    /// What a new connection asks its server.
    pub(super) fn question(&self) -> &str {
        &self.question
    }

    /// `answer`: the version that the server keeps; there may be none.
    pub(super) fn admit(&self, server: &str, answer: Option<u64>) -> Result<()> {
        let allowed = self.allowed.load(Ordering::SeqCst);
        if answer.is_none_or(|version| version <= allowed) {
            return Ok(());
        }
        let text = format!(
            "Bifold: the layout is changing, and this proxy does not know the new one yet (server {server}). Try again."
        );
        Err(Error::new(Blame::Proxy, FENCED, text).retryable())
    }

    pub(super) fn joined(&self, server: &str, thread: ServerThreadId) {
        let mut threads = self.threads.lock();
        match threads.get_mut(server) {
            Some(known) => known.push(thread.0),
            None => drop(threads.insert(server.to_owned(), vec![thread.0])),
        }
    }

    pub(super) fn left(&self, server: &str, thread: ServerThreadId) {
        if let Some(known) = self.threads.lock().get_mut(server)
            && let Some(at) = known.iter().position(|known| *known == thread.0)
        {
            known.swap_remove(at);
        }
    }

    /// The server's numbers of all connections that there are now.
    pub fn threads(&self) -> HashMap<String, Vec<u32>> {
        self.threads.lock().clone()
    }
}

/// Read only, for now: drivers try again.
const FENCED: (u16, &[u8; 5]) = (1290, b"40001");

/// No such table, no such database: nothing was ever moved here.
pub(super) const UNFENCED: [u16; 2] = [1146, 1049];

/// No right to read it.
pub(super) const DENIED: [u16; 2] = [1142, 1044];

pub(super) fn denied(server: &str, error: &Error) -> Error {
    let text = format!(
        "Bifold: the account has no rights on `bifold`.* of server {server}, which [meta] needs on every server: GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `bifold`.* to it there."
    );
    Error::operator(text).because(error)
}
