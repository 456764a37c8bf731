//! Columns, keys and constraints of CREATE and ALTER: AUTO_INCREMENT goes out of the id column,
//! constraints get open names, foreign keys point to tables that are there.

use std::sync::Arc;

use super::edits::Edits;
use super::planner::{Planner, at_home_of, same_schema};
use super::text::Piece;
use super::{Reach, Target};
use crate::error::{Error, Result};
use crate::sql::Span;
use crate::sql::ast::{
    CheckDef, ColumnAttribute, ColumnAttributeKind, ColumnDef, Expr, KeyDef, KeyKind, KeyPart, KeyPartKind, Name,
    TableElement, TableName,
};
use crate::sql::visit::{Node, Role, TableUse, Visitor, walk_expr};
use crate::topology::{Schema, TableRule};

type Schemas<'a> = &'a Arc<Schema>;

pub(super) fn elements(
    planner: &Planner<'_>,
    edits: &mut Edits<'_>,
    schema: Schemas<'_>,
    target: &Target,
    elements: &[TableElement],
) -> Result<()> {
    elements.iter().try_for_each(|element| match element {
        TableElement::Column(definition) => column(planner, edits, schema, target, definition),
        TableElement::Key(definition) => key(planner, edits, schema, target, definition, Among::Listed(elements)),
        TableElement::Check(definition) => {
            check(planner, edits, definition);
            Ok(())
        }
        TableElement::Period(_) => Ok(()),
    })
}

pub(super) fn column(
    planner: &Planner<'_>,
    edits: &mut Edits<'_>,
    schema: Schemas<'_>,
    target: &Target,
    column: &ColumnDef,
) -> Result<()> {
    let is_id = target
        .rule()
        .and_then(|rule| rule.sharded()?.id.as_ref())
        .is_some_and(|id| id.column.to_lowercase() == planner.text_of(column.name).to_lowercase());
    if is_id && planner.source.span_bytes(column.data_type).eq_ignore_ascii_case(b"SERIAL") {
        // What SERIAL is short for, without AUTO_INCREMENT.
        edits.span(column.data_type, Piece::Bytes(b"BIGINT UNSIGNED NOT NULL UNIQUE".to_vec()));
    }
    for attribute in &column.attributes {
        match &attribute.kind {
            ColumnAttributeKind::AutoIncrement if is_id => edits.span(attribute.span, Piece::Bytes(Vec::new())),
            ColumnAttributeKind::Check(definition) => check(planner, edits, definition),
            ColumnAttributeKind::References(parent) => references(planner, edits, schema, target, parent)?,
            ColumnAttributeKind::Default(value) => default(planner, edits, schema, target, value)?,
            ColumnAttributeKind::AutoIncrement
            | ColumnAttributeKind::Null
            | ColumnAttributeKind::NotNull
            | ColumnAttributeKind::OnUpdate
            | ColumnAttributeKind::PrimaryKey
            | ColumnAttributeKind::Unique
            | ColumnAttributeKind::Comment(_)
            | ColumnAttributeKind::Collate(_)
            | ColumnAttributeKind::Generated { .. }
            | ColumnAttributeKind::Invisible
            | ColumnAttributeKind::Visible
            | ColumnAttributeKind::Other => {}
        }
    }
    Ok(())
}

/// A default may take its value from a sequence.
fn default(
    planner: &Planner<'_>,
    edits: &mut Edits<'_>,
    schema: Schemas<'_>,
    target: &Target,
    value: &Expr,
) -> Result<()> {
    let mut sequences = Sequences(Vec::new());
    walk_expr(value, &mut sequences);
    if !sequences.0.is_empty() && !matches!(target.reach, Reach::Home) {
        return Err(Error::refused(format!(
            "Bifold: a column of `{}` cannot have values of a sequence, which lives on the home shard only. Let Bifold fill its id.",
            target.table
        )));
    }
    sequences.0.iter().try_for_each(|sequence| planner.beside(edits, schema, sequence))
}

struct Sequences(Vec<TableName>);

impl Visitor<'_> for Sequences {
    fn enter(&mut self, node: Node<'_>) -> bool {
        if let Node::Table(TableUse { table, role: Role::Sequence, .. }) = node {
            self.0.push(table);
        }
        true
    }
}

pub(super) fn key(
    planner: &Planner<'_>,
    edits: &mut Edits<'_>,
    schema: Schemas<'_>,
    target: &Target,
    key: &KeyDef,
    among: Among<'_>,
) -> Result<()> {
    match key.kind {
        KeyKind::Foreign => {
            if let Some(name) = key.constraint {
                edits.name(name, Piece::Constraint(planner.text_of(name)));
                if matches!(target.reach, Reach::Places(_)) {
                    index_of(planner, edits, key, name, among);
                }
            }
            match &key.references {
                Some(parent) => references(planner, edits, schema, target, &parent.table),
                None => Ok(()),
            }
        }
        // `CONSTRAINT c UNIQUE` names a key, and keys' names are the table's own.
        KeyKind::Primary
        | KeyKind::Unique
        | KeyKind::Index
        | KeyKind::Fulltext
        | KeyKind::Spatial
        | KeyKind::Vector => Ok(()),
    }
}

/// The index that a server makes for a foreign key takes its name, but indexes are called alike in
/// all subtables; so it is made by name, where no other one serves.
fn index_of(planner: &Planner<'_>, edits: &mut Edits<'_>, key: &KeyDef, name: Name, among: Among<'_>) {
    let columns = names_of(planner, key);
    let listed = match among {
        Among::Listed(elements) => elements,
        Among::Added => &[],
    };
    let serves = |element: &TableElement| match element {
        TableElement::Key(other) if other.span.start == key.span.start => false,
        TableElement::Key(other) => {
            let is_later = other.kind == KeyKind::Foreign && other.span.start > key.span.start;
            !is_later && names_of(planner, other).starts_with(&columns)
        }
        TableElement::Column(column) => {
            let is_key = |attribute: &ColumnAttribute| {
                matches!(attribute.kind, ColumnAttributeKind::PrimaryKey | ColumnAttributeKind::Unique)
            };
            columns == [planner.text_of(column.name).to_lowercase()] && column.attributes.iter().any(is_key)
        }
        TableElement::Check(_) | TableElement::Period(_) => false,
    };
    if listed.iter().any(serves) {
        return;
    }
    let added = matches!(among, Among::Added);
    let index = planner.text_of(key.name.unwrap_or(name));
    let columns = key.parts.iter().filter_map(|part| part_name(planner, part)).collect();
    let word = Span::new(key.span.start, key.span.start + 1);
    edits.span(word, Piece::Index { name: index, columns, added });
}

/// Where a key is written.
#[derive(Clone, Copy)]
pub(super) enum Among<'a> {
    /// In a list in parentheses.
    Listed(&'a [TableElement]),
    /// Behind ADD.
    Added,
}

fn names_of(planner: &Planner<'_>, key: &KeyDef) -> Vec<String> {
    key.parts.iter().filter_map(|part| Some(part_name(planner, part)?.to_lowercase())).collect()
}

fn part_name(planner: &Planner<'_>, part: &KeyPart) -> Option<String> {
    match part.kind {
        KeyPartKind::Column { name, prefix: None } => Some(planner.text_of(name)),
        KeyPartKind::Column { .. } | KeyPartKind::Expr(_) => None,
    }
}

pub(super) fn check(planner: &Planner<'_>, edits: &mut Edits<'_>, check: &CheckDef) {
    if let Some(name) = check.name {
        edits.name(name, Piece::Constraint(planner.text_of(name)));
    }
}

/// A foreign key's parent has to stand beside every place of the child.
fn references(
    planner: &Planner<'_>,
    edits: &mut Edits<'_>,
    schema: Schemas<'_>,
    target: &Target,
    parent: &TableName,
) -> Result<()> {
    let other = planner.standing(parent, "REFERENCES")?;
    if !matches!(target.reach, Reach::Home) {
        same_schema(schema, &other.schema)?;
    }
    match (&target.reach, &other.target.reach) {
        _ if other.schema.name == schema.name && other.target.table == target.table => {
            edits.table(parent, Piece::Target);
        }
        (Reach::Home, Reach::Home | Reach::Shards(_)) => edits.table(parent, at_home_of(schema, &other)?),
        (Reach::Shards(_) | Reach::Places(_), Reach::Shards(_)) if other.schema.name == schema.name => {
            edits.table(parent, Piece::Beside(other.target.table.to_string()));
        }
        // Whether equal keys meet there is judged of the table that comes of it.
        (Reach::Places(_), Reach::Places(rule)) if other.schema.name == schema.name => {
            let same = |rule: &TableRule| rule.sharded().map(|sharded| sharded.subtables);
            match rule.sharded().filter(|_| target.rule().and_then(|own| same(own)) == same(rule)) {
                Some(sharded) => edits.table(parent, Piece::Like(sharded.pattern.clone())),
                None => return Err(apart(&other.target, target)),
            }
        }
        (Reach::Home | Reach::Shards(_) | Reach::Places(_), _) => {
            return Err(apart(&other.target, target));
        }
    }
    Ok(())
}

fn apart(parent: &Target, child: &Target) -> Error {
    Error::refused(format!(
        "Bifold: `{}` does not stand beside every copy of `{}`, so no foreign key can point to it. Use a reference table, or keep the rule in the application.",
        parent.table, child.table
    ))
}
