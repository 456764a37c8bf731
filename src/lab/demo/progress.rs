//! A line of progress: drawn over and over on a terminal, written once at its end elsewhere.

use std::io::{IsTerminal, Write, stdout};
use std::time::Instant;

const WIDTH: u64 = 30;

pub(super) struct Progress {
    what: String,
    since: Instant,
    terminal: bool,
}

impl Progress {
    pub(super) fn start(what: &str) -> Progress {
        let progress = Progress { what: what.to_owned(), since: Instant::now(), terminal: stdout().is_terminal() };
        progress.draw("");
        progress
    }

    pub(super) fn at(&self, done: u64, all: u64) {
        let filled = usize::try_from(done.min(all) * WIDTH / all.max(1)).unwrap_or(0);
        let bar = format!("{:-<width$}", "#".repeat(filled), width = WIDTH as usize);
        self.draw(&format!("[{bar}] {done}/{all}"));
    }

    pub(super) fn done(self) {
        let line = format!("  {:<50} done in {:.1} s", self.what, self.since.elapsed().as_secs_f32());
        // On a terminal the line covers the bar that was drawn there.
        if self.terminal { println!("\r{line:<100}") } else { println!("{line}") }
    }

    fn draw(&self, state: &str) {
        if self.terminal {
            print!("\r  {:<50} {state}", self.what);
            // The next line of output flushes as well.
            let _ = stdout().flush();
        }
    }
}
