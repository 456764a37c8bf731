//! Findings as they are made: keys become lines, and servers are named.

use super::Subject;
use super::locate::Lines;
use crate::config::{Finding, Findings, Severity};

pub(super) struct Report {
    lines: Lines,
    findings: Findings,
}

impl Report {
    pub fn new(subject: &Subject<'_>) -> Self {
        Report { lines: Lines::new(subject.text), findings: Findings::new(subject.file) }
    }

    pub fn mistake(&mut self, key: &[&str], what: impl Into<String>, remedy: impl Into<String>) {
        self.push(Severity::Mistake, key, what.into(), remedy.into());
    }

    pub fn warning(&mut self, key: &[&str], what: impl Into<String>, remedy: impl Into<String>) {
        self.push(Severity::Warning, key, what.into(), remedy.into());
    }

    pub fn finish(self) -> Findings {
        self.findings
    }

    fn push(&mut self, severity: Severity, key: &[&str], what: String, remedy: String) {
        let (line, key) = self.lines.of(key);
        self.findings.push(Finding { severity, line, key, what, remedy });
    }
}
