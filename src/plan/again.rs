//! MySQL opens the tables of a common table anew for each place that names it, and can't open a
//! temporary table twice. So where rows are collected, a common table that is named again is written
//! again, under another name and over temporary tables of its own.

use std::sync::Arc;

use super::gather::Collected;
use super::survey::Survey;
use super::{Cut, Item, Patch, RefNo, Template};
use crate::error::{Error, Result};
use crate::sql::{Flavour, Span};

/// A part of the statement written once more.
#[derive(Debug, PartialEq, Eq)]
pub struct Copy {
    pub from: Item,
    pub to: Item,
    /// All that is mended in it.
    pub cuts: Vec<Cut>,
}

/// So many copies are as good as an endless number: each naming multiplies those within.
const MOST: usize = 64;

/// The common tables of a statement, and where they are named.
#[derive(Debug, Default)]
pub(super) struct Commons {
    tables: Vec<Table>,
    uses: Vec<Use>,
}

#[derive(Debug)]
struct Table {
    /// `name (columns) AS (query)`
    from: Item,
    to: Item,
    /// It, or a common table that it names, names a real table.
    reads: bool,
}

#[derive(Debug)]
struct Use {
    table: usize,
    from: Item,
    to: Item,
    /// The name to go on being called by, where the text gives no alias.
    alias: Option<String>,
}

impl Commons {
    /// Those of a statement for a server that can't open a temporary table twice.
    pub fn of(survey: &Survey<'_>) -> Self {
        if survey.source.dialect.flavour == Flavour::MariaDb {
            return Commons::default();
        }
        let items = |span: Span| (survey.item(span.start), Item(survey.item(span.end - 1).0 + 1));
        let mut tables: Vec<Table> = Vec::new();
        for defined in &survey.commons {
            let (from, to) = items(defined.span);
            tables.push(Table { from, to, reads: !defined.refs.is_empty() });
        }
        let uses: Vec<Use> = survey
            .uses
            .iter()
            .map(|used| {
                let (from, to) = items(used.span);
                let alias = used.alias.then(|| super::survey::quoted(&survey.name(used.name)));
                Use { table: used.common, from, to, alias }
            })
            .collect();
        // What is named was defined before.
        for at in 0..tables.len() {
            let within = |used: &&Use| tables[at].holds(used.from, used.to);
            let reads = uses.iter().filter(within).any(|used| tables[used.table].reads);
            tables[at].reads |= reads;
        }
        Commons { tables, uses }
    }

    /// Every naming but the first gets a common table of its own.
    pub fn write_again(&self, plain: &Template, collected: &mut Vec<Collected>) -> Result<Option<Template>> {
        let mut writing =
            Writing { commons: self, plain, template: plain.clone(), collected, copies: Vec::new(), named: 0 };
        for (number, table) in self.tables.iter().enumerate().filter(|(_, table)| table.reads) {
            let others = self.uses.iter().filter(|used| used.table == number && !table.holds(used.from, used.to));
            for used in others.skip(1) {
                let name = writing.copy(number)?;
                writing.template.cuts.push(used.renamed(&name));
            }
        }
        if writing.copies.is_empty() {
            return Ok(None);
        }
        let Writing { mut template, copies, .. } = writing;
        template.cuts.extend(copies);
        // The order of copies in one place is that of their making: what they name comes before.
        template.cuts.sort_by_key(|cut| (cut.from, cut.to));
        Ok(Some(template))
    }
}

impl Table {
    fn holds(&self, from: Item, to: Item) -> bool {
        self.from <= from && to <= self.to
    }
}

impl Use {
    fn renamed(&self, name: &str) -> Cut {
        let text = match &self.alias {
            None => name.to_owned(),
            Some(alias) => format!("{name} AS {alias}"),
        };
        Cut { from: self.from, to: self.to, with: Patch::Text(text.into_bytes().into()) }
    }
}

struct Writing<'w> {
    commons: &'w Commons,
    plain: &'w Template,
    template: Template,
    collected: &'w mut Vec<Collected>,
    copies: Vec<Cut>,
    /// Copies that have a name.
    named: usize,
}

impl Writing<'_> {
    /// Puts a copy behind the common table; gives its name.
    fn copy(&mut self, number: usize) -> Result<String> {
        let commons = self.commons;
        let table = &commons.tables[number];
        if self.named >= MOST {
            return Err(refused());
        }
        let name = format!("`bifold_common_{}`", self.named);
        self.named += 1;
        // Its place among the copies is behind those that it needs.
        let mut cuts = Vec::new();
        for cut in self.plain.cuts.iter().filter(|cut| table.holds(cut.from, cut.to)) {
            let with = match &cut.with {
                Patch::Table { table, alias } => Patch::Table { table: self.reference(*table), alias: alias.clone() },
                other => other.clone(),
            };
            cuts.push(Cut { from: cut.from, to: cut.to, with });
        }
        for used in commons.uses.iter().filter(|used| table.holds(used.from, used.to)) {
            let inner = &commons.tables[used.table];
            if used.table == number {
                cuts.push(used.renamed(&name));
            } else if table.holds(inner.from, inner.to) {
                let again =
                    commons.uses.iter().filter(|other| other.table == used.table && !inner.holds(other.from, other.to));
                if again.count() > 1 && inner.reads {
                    return Err(refused());
                }
            } else if inner.reads {
                let other = self.copy(used.table)?;
                cuts.push(used.renamed(&other));
            }
        }
        cuts.push(Cut {
            from: table.from,
            to: Item(table.from.0 + 1),
            with: Patch::Text(name.clone().into_bytes().into()),
        });
        cuts.sort_by_key(|cut| (cut.from, cut.to));
        let copy = Copy { from: table.from, to: table.to, cuts };
        self.copies.push(Cut { from: table.to, to: table.to, with: Patch::Again(Arc::new(copy)) });
        Ok(name)
    }

    /// A reference that is collected once more.
    fn reference(&mut self, no: RefNo) -> RefNo {
        let number = usize::from(no.0);
        let fresh = RefNo(u16::try_from(self.template.refs.len()).unwrap_or(u16::MAX));
        self.template.refs.push(self.template.refs[number].clone());
        self.collected.push(self.collected[number].clone());
        fresh
    }
}

fn refused() -> Error {
    Error::refused(
        "Bifold: common tables that are named this often, one within another, are not supported over tables whose rows \
         are in several places: write the statement with fewer of them.",
    )
}
