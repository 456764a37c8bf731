//! What is wrong with a topology file: line, key, what, and what to do. Several are told at
//! once, in the order of their lines.

use std::collections::HashMap;
use std::fmt;

use crate::error::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Mistake,
    Warning,
}

/// One mistake or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// 1-based line of the file; `None` where it lies in no line, as on a server.
    pub line: Option<u32>,
    /// `schema.mall.table.orders.tables`
    pub key: String,
    pub what: String,
    /// What to do; empty where `what` says it.
    pub remedy: String,
}

/// The line of each key that stands in the file, by its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLines(HashMap<String, u32>);

impl KeyLines {
    pub(super) fn new(lines: HashMap<String, u32>) -> Self {
        KeyLines(lines)
    }

    /// A finding at this key, or at the nearest section around it that stands in the file; for
    /// what is seen on the servers only.
    pub fn finding(
        &self,
        severity: Severity,
        key: &str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        let around = std::iter::successors(Some(key), |path| path.rsplit_once('.').map(|(section, _)| section));
        let line = around.into_iter().find_map(|path| self.0.get(path).copied());
        Finding { severity, line, key: key.to_owned(), what: what.into(), remedy: remedy.into() }
    }
}

/// Findings of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// As the user named it.
    pub file: String,
    list: Vec<Finding>,
}

impl Findings {
    pub fn new(file: impl Into<String>) -> Self {
        Findings { file: file.into(), list: Vec::new() }
    }

    pub fn push(&mut self, finding: Finding) {
        let at = self.list.partition_point(|other| (other.line, other.severity) <= (finding.line, finding.severity));
        self.list.insert(at, finding);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn has_mistakes(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Mistake)
    }
}

/// A line each: `file:line: key: what; what to do`.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.list {
            f.write_str(&self.file)?;
            if let Some(line) = finding.line {
                write!(f, ":{line}")?;
            }
            f.write_str(match finding.severity {
                Severity::Mistake => ": ",
                Severity::Warning => ": warning: ",
            })?;
            if !finding.key.is_empty() {
                write!(f, "{}: ", finding.key)?;
            }
            f.write_str(&finding.what)?;
            if !finding.remedy.is_empty() {
                write!(f, "; {}", finding.remedy)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Findings {}

impl From<Findings> for Error {
    fn from(findings: Findings) -> Self {
        Error::operator(findings.to_string().trim_end())
    }
}
