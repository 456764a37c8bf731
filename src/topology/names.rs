//! Physical names of subtables, by number and back.

use std::fmt;

use super::place::SubtableNo;
use crate::config;

/// The subtable names of one table: computed, never stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(config::NamePattern);

impl NamePattern {
    pub fn new(pattern: config::NamePattern) -> Self {
        NamePattern(pattern)
    }

    /// T
    pub fn count(&self) -> u16 {
        self.0.count()
    }

    /// Appends the physical name to a statement's text.
    pub fn physical(&self, subtable: SubtableNo, out: &mut Vec<u8>) {
        self.0.append(subtable.0, out);
    }

    pub fn physical_name(&self, subtable: SubtableNo) -> String {
        self.0.name(subtable.0)
    }

    /// The subtable of this table that a server calls so.
    pub fn logical_of(&self, physical: &[u8]) -> Option<SubtableNo> {
        self.0.position(physical).map(SubtableNo)
    }
}

/// First and last name.
impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
