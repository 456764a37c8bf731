//! From a file to the settings: read as written, then as meant.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::finding::{Finding, Findings, Severity};
use super::{Config, meaning, written};

/// What a topology file is read with, beside its text.
pub struct Surroundings<'a> {
    /// As the user named it.
    pub file: &'a str,
    /// Relative paths in the file start here.
    pub folder: &'a Path,
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Milliseconds of Unix time.
    pub now_ms: u64,
}

/// Reads the file with the process's environment and clock.
pub fn load(file: &Path) -> Result<Config, Findings> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|error| unreadable(&name, &error))?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let around = Surroundings {
        file: &name,
        folder: file.parent().unwrap_or(Path::new("")),
        env: &|variable| std::env::var(variable).ok(),
        now_ms: u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX),
    };
    parse(&text, &around)
}

/// The settings, with their warnings; or all mistakes and warnings of the file.
pub fn parse(text: &str, around: &Surroundings<'_>) -> Result<Config, Findings> {
    let mut findings = Findings::new(around.file);
    let Some(root) = written::read(text, around, &mut findings) else { return Err(findings) };
    let meant = meaning::config(&root, around, &mut findings);
    match meant {
        Some(mut config) if !findings.has_mistakes() => {
            config.warnings = findings;
            Ok(config)
        }
        Some(_) | None => Err(findings),
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> Findings {
    let mut findings = Findings::new(name);
    findings.push(Finding {
        severity: Severity::Mistake,
        line: None,
        key: String::new(),
        what: format!("cannot be read: {error}"),
        remedy: match error.kind() {
            ErrorKind::InvalidData => "it is no topology file; name one with --config".to_owned(),
            _ => "name the topology file with --config, and let this account read it".to_owned(),
        },
    });
    findings
}
