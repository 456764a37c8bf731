//! Findings as they are made, each at its key of the topology file.

use super::Subject;
use crate::config::{Findings, KeyLines, Severity};

pub(super) struct Report<'a> {
    lines: &'a KeyLines,
    findings: Findings,
}

impl<'a> Report<'a> {
    pub fn new(subject: &Subject<'a>) -> Self {
        Report { lines: &subject.config.lines, findings: Findings::new(subject.file) }
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
        self.findings.push(self.lines.finding(severity, &joined(key), what, remedy));
    }
}

/// `["server", "1", "address"]` → `server[1].address`
fn joined(key: &[&str]) -> String {
    let mut name = String::new();
    for segment in key {
        match segment.parse::<usize>() {
            Ok(index) => name.push_str(&format!("[{index}]")),
            Err(_) if name.is_empty() => name.push_str(segment),
            Err(_) => name.push_str(&format!(".{segment}")),
        }
    }
    name
}
