//! Columns, keys and constraints of CREATE and ALTER: AUTO_INCREMENT goes out of the id column,
//! constraints get open names, foreign keys point to tables that are there.

use std::sync::Arc;

use super::edits::Edits;
use super::planner::{Planner, at_home_of, same_schema};
use super::text::Piece;
use super::{Reach, Target};
use crate::error::{Error, Result};
use crate::sql::ast::{CheckDef, ColumnAttributeKind, ColumnDef, Expr, KeyDef, KeyKind, TableElement, TableName};
use crate::sql::visit::{Node, Role, TableUse, Visitor, walk_expr};
use crate::topology::Schema;

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
        TableElement::Key(definition) => key(planner, edits, schema, target, definition),
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
) -> Result<()> {
    match key.kind {
        KeyKind::Foreign => {
            for name in [key.constraint, key.name].into_iter().flatten() {
                edits.name(name, Piece::Constraint(planner.text_of(name)));
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
    if matches!(target.reach, Reach::Places(_)) {
        return Err(Error::refused(format!(
            "Bifold: a foreign key of the sharded table `{}` is not supported yet. Leave it out and keep the rule in the application.",
            target.table
        )));
    }
    let other = planner.standing(parent, "REFERENCES")?;
    if !matches!(target.reach, Reach::Home) {
        same_schema(schema, &other.schema)?;
    }
    match (&target.reach, &other.target.reach) {
        _ if other.schema.name == schema.name && other.target.table == target.table => {
            edits.table(parent, Piece::Target);
        }
        (Reach::Home, Reach::Home | Reach::Shards(_)) => edits.table(parent, at_home_of(schema, &other)?),
        (Reach::Shards(_), Reach::Shards(_)) => {
            edits.table(parent, Piece::Beside(other.target.table.to_string()));
        }
        (Reach::Home | Reach::Shards(_) | Reach::Places(_), _) => {
            return Err(Error::refused(format!(
                "Bifold: `{}` does not stand beside every copy of `{}`, so no foreign key can point to it. Use a reference table, or keep the rule in the application.",
                other.target.table, target.table
            )));
        }
    }
    Ok(())
}
