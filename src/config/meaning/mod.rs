//! From the values as written to the settings as meant: what keys mean beside each other, and
//! every mistake in that. A builder that gives `None` has told its mistake.

mod access;
mod id;
mod schema;
mod servers;
mod table;

use std::collections::HashMap;

use super::finding::{Finding, Findings, KeyLines, Severity};
use super::load::Surroundings;
use super::written::Node;
use super::{Config, IdLayout, Meta, Schema, TableKind, Transactions, Workers};

/// What builders share: the surroundings, and where mistakes are told.
struct Teller<'a> {
    around: &'a Surroundings<'a>,
    findings: &'a mut Findings,
}

pub(super) fn config(root: &Node, around: &Surroundings<'_>, findings: &mut Findings) -> Option<Config> {
    let mut teller = Teller { around, findings };
    // All are built before any is asked for, so that one mistake hides no other.
    let cluster = cluster(root.at("cluster"), &mut teller);
    let listen = access::listen(root.at("listen"), &mut teller);
    let limits = access::limits(root.at("limits"));
    let gather = access::gather(root.at("gather"));
    let backend = servers::backend(root.at("backend"), &mut teller);
    let servers = servers::servers(root.at("server"), &mut teller);
    let schemas = schema::schemas(root.at("schema"), &servers, &mut teller);
    let users = access::users(root.at("user"), root.at("schema"), &mut teller);
    let workers = workers(root.at("workers"), &schemas, &mut teller);
    let meta = meta(root.at("meta"), &servers, &mut teller);
    Some(Config {
        cluster: cluster?,
        transactions: transactions(root.at("cluster").at("transactions"))?,
        lock_wait: access::span(root.at("cluster").at("lock_wait"))?,
        listen: listen?,
        limits: limits?,
        gather: gather?,
        users,
        backend: backend?,
        servers: servers.list,
        schemas,
        workers: workers?,
        meta: meta?,
        version: 1,
        dirty: false,
        warnings: Findings::default(),
        lines: KeyLines::new(lines(root)),
    })
}

/// The lines of all keys that are given.
fn lines(root: &Node) -> HashMap<String, u32> {
    let mut lines = HashMap::new();
    let mut left = vec![root];
    while let Some(node) = left.pop() {
        left.extend(node.entries().iter().map(|(_, node)| node).chain(node.list()).filter(|node| node.given));
        lines.entry(node.path.clone()).or_insert(node.line);
    }
    lines.remove("");
    lines
}

fn cluster(node: &Node, teller: &mut Teller<'_>) -> Option<String> {
    let name = node.at("name");
    let text = name.text()?;
    if text.len() > 32 || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
        teller.mistake(name, format!("is \"{text}\""), "use at most 32 letters, digits, _ and -");
        return None;
    }
    Some(text.to_owned())
}

fn transactions(node: &Node) -> Option<Transactions> {
    Some(match node.text()? {
        "single" => Transactions::Single,
        _ => Transactions::Atomic,
    })
}

/// `None`: a mistake; `Some(None)`: there is no such section.
fn meta(node: &Node, servers: &servers::Servers, teller: &mut Teller<'_>) -> Option<Option<Meta>> {
    if node.is_absent() {
        return Some(None);
    }
    let name = node.at("server");
    let text = name.text()?;
    let server = servers.names.iter().position(|known| known == text);
    if server.is_none() && !servers.unknown {
        teller.mistake(name, format!("\"{text}\" is no server of this file"), "name one of the [[server]] sections");
    }
    server.map(|server| Some(Meta { server }))
}

/// The worker numbers: all that the narrowest worker field holds, or a range within.
fn workers(node: &Node, schemas: &[Schema], teller: &mut Teller<'_>) -> Option<Workers> {
    let narrowest = narrowest(schemas);
    let bits = narrowest.as_ref().map_or(super::IdBits::PLAIN.worker, |(bits, _)| *bits);
    let last = (1u32 << bits) - 1;
    let range = node.at("range");
    if range.is_absent() {
        return Some(Workers { first: 0, last });
    }
    let text = range.text()?;
    let parsed = text.split_once('-').and_then(|(first, last)| {
        Some(Workers { first: first.trim().parse().ok()?, last: last.trim().parse().ok()? })
            .filter(|range| range.first <= range.last)
    });
    let Some(workers) = parsed else {
        teller.mistake(range, format!("is \"{text}\""), "write \"FIRST-LAST\", as \"512-767\"");
        return None;
    };
    if workers.last > last {
        let whose = narrowest.map_or_else(|| "ids".to_owned(), |(_, table)| format!("the ids of {table}"));
        teller.mistake(
            range,
            format!("ends at {}", workers.last),
            format!("{whose} hold worker numbers up to {last} only ({bits} bits): end it there at the latest"),
        );
        return None;
    }
    Some(workers)
}

/// The narrowest worker field and the table that has it.
fn narrowest(schemas: &[Schema]) -> Option<(u8, String)> {
    let tables = schemas.iter().flat_map(|schema| schema.tables.iter().map(move |table| (schema, table)));
    tables
        .filter_map(|(schema, table)| {
            let TableKind::Sharded(sharded) = &table.kind else { return None };
            let IdLayout { bits, .. } = sharded.id.as_ref()?.layout;
            Some((bits.worker, format!("{}.{}", schema.name, table.name)))
        })
        .min_by_key(|(bits, _)| *bits)
}

impl Teller<'_> {
    fn mistake(&mut self, at: &Node, what: impl Into<String>, remedy: impl Into<String>) {
        self.tell(Severity::Mistake, at, what.into(), remedy.into());
    }

    fn warning(&mut self, at: &Node, what: impl Into<String>, remedy: impl Into<String>) {
        self.tell(Severity::Warning, at, what.into(), remedy.into());
    }

    fn tell(&mut self, severity: Severity, at: &Node, what: String, remedy: String) {
        self.findings.push(Finding { severity, line: Some(at.line), key: at.path.clone(), what, remedy });
    }
}
