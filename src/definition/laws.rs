//! The laws that a physical table of a rule has to keep, so that rows can be found by their key
//! and what is unique stays unique. CREATE and ALTER are refused where they would break one;
//! `bifold check` reports what already does.

use super::facts::{Facts, UniqueKey, UniquePart, same_name};
use super::naming::SCRATCH_PREFIX;
use crate::catalog::ColumnDef;
use crate::topology::key::{self, KeyType};
use crate::topology::{IdRule, Schema, Sharded, TableKind, TableRule, UniquePerPlace};

/// A law broken: the key of the table's rule that it concerns, what is wrong, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// `key`, `id`, `unique_per_place`; empty where it concerns the table as a whole.
    pub topology_key: &'static str,
    pub what: String,
    pub remedy: String,
}

/// Everything that is wrong with a physical table of this rule.
pub fn breaches(schema: &Schema, rule: &TableRule, facts: &Facts) -> Vec<Breach> {
    let mut found = Vec::new();
    match &rule.kind {
        TableKind::Unsharded => {}
        TableKind::Reference => engine(rule, facts, &mut found),
        TableKind::Sharded(sharded) => {
            key_column(rule, sharded, facts, &mut found);
            unique_keys(rule, sharded, facts, &mut found);
            id_column(rule, sharded, facts, &mut found);
            auto_increment(rule, sharded, facts, &mut found);
            engine(rule, facts, &mut found);
            foreign_keys(schema, rule, sharded, facts, &mut found);
            triggers(rule, facts, &mut found);
        }
    }
    found
}

/// What an ALTER changed of the columns that the rule names: rows would no longer be where their
/// key says.
pub fn key_changes(rule: &TableRule, before: &Facts, after: &Facts) -> Option<Breach> {
    let key = &rule.sharded()?.key;
    let (old, new) = (before.column(key)?, after.column(key)?);
    let says = |column: &ColumnDef| match &column.collation {
        Some(collation) => format!("{} {collation}", column.column_type),
        None => column.column_type.clone(),
    };
    (!same_hash(old, new)).then(|| {
        Breach::new(
            "key",
            format!(
                "the sharding key `{key}` of table `{}` is {} and cannot become {}: its rows would no longer be where \
                 their key says",
                rule.name,
                says(old),
                says(new)
            ),
            "create a table of the new form and copy the rows into it",
        )
    })
}

impl Breach {
    fn new(topology_key: &'static str, what: String, remedy: impl Into<String>) -> Self {
        Breach { topology_key, what, remedy: remedy.into() }
    }

    /// As a refusal says it.
    pub fn sentence(&self) -> String {
        format!("{}; {}", self.what, self.remedy)
    }
}

/// Do equal values of both columns have the same canonical form? Longer strings and nullability
/// change nothing; the type, its sign and its collation do.
fn same_hash(old: &ColumnDef, new: &ColumnDef) -> bool {
    let grows = match (old.length, new.length) {
        (Some(old), Some(new)) => new >= old,
        _ => true,
    };
    // BINARY pads with zero bytes, ZEROFILL with digits: their widths are part of the value.
    let padded = |column: &ColumnDef| column.data_type == "binary" || column.column_type.contains("zerofill");
    let sign = |column: &ColumnDef| column.column_type.contains("unsigned");
    old.data_type == new.data_type
        && old.charset == new.charset
        && old.collation == new.collation
        && sign(old) == sign(new)
        && grows
        && (!(padded(old) || padded(new)) || old.column_type == new.column_type)
}

fn key_column(rule: &TableRule, sharded: &Sharded, facts: &Facts, found: &mut Vec<Breach>) {
    let Some(column) = facts.column(&sharded.key) else {
        found.push(Breach::new(
            "key",
            format!("table `{}` has no column `{}`, its sharding key", rule.name, sharded.key),
            "add the column, or name another one as `key` in the topology",
        ));
        return;
    };
    if column.generated {
        found.push(Breach::new(
            "key",
            format!("the sharding key `{}` of table `{}` is a generated column", sharded.key, rule.name),
            "make it a plain column, or take another one as `key`",
        ));
    }
    let named = |reason: String| {
        Breach::new("key", format!("the sharding key `{}` of table `{}`", sharded.key, rule.name), reason)
    };
    match key_type(column) {
        Err(reason) => found.push(named(reason)),
        Ok(key_type) => found.extend(key_type.allows(sharded.hash).err().map(named)),
    }
}

pub fn key_type(column: &ColumnDef) -> Result<KeyType, String> {
    KeyType::from_column(&key::Definition {
        data_type: &column.data_type,
        column_type: &column.column_type,
        length: column.length,
        charset: column.charset.as_deref(),
        collation: column.collation.as_deref(),
    })
}

fn unique_keys(rule: &TableRule, sharded: &Sharded, facts: &Facts, found: &mut Vec<Breach>) {
    for key in &facts.unique_keys {
        let by_key = key.has(&sharded.key);
        let by_id = sharded.id.as_ref().is_some_and(|id| key.has(&id.column));
        if !by_key && !by_id && !allowed_per_place(sharded, &key.name) {
            found.push(Breach::new(
                "unique_per_place",
                format!(
                    "{} of table `{}` does not contain the sharding key `{}`, so it cannot be kept unique over all \
                     subtables",
                    key.spoken(),
                    rule.name,
                    sharded.key
                ),
                format!(
                    "add `{}` to it, make it a plain index, or list it in `unique_per_place` if being unique within \
                     one subtable is enough",
                    sharded.key
                ),
            ));
        }
    }
}

fn id_column(rule: &TableRule, sharded: &Sharded, facts: &Facts, found: &mut Vec<Breach>) {
    let Some(IdRule { column: name, .. }) = &sharded.id else { return };
    match facts.column(name) {
        None => found.push(Breach::new(
            "id",
            format!("table `{}` has no column `{name}`, its id", rule.name),
            "add the column as BIGINT, or change `id` in the topology",
        )),
        Some(column) if column.data_type != "bigint" => found.push(Breach::new(
            "id",
            format!(
                "the id `{name}` of table `{}` is {}, and Bifold's ids have 63 bits",
                rule.name, column.column_type
            ),
            "make it BIGINT or BIGINT UNSIGNED",
        )),
        Some(_) => {}
    }
}

fn auto_increment(rule: &TableRule, sharded: &Sharded, facts: &Facts, found: &mut Vec<Breach>) {
    for column in facts.columns.iter().filter(|column| column.auto_increment) {
        let is_id = sharded.id.as_ref().is_some_and(|id| same_name(&id.column, &column.name));
        found.push(if is_id {
            Breach::new(
                "id",
                format!("the id `{}` of table `{}` is still AUTO_INCREMENT", column.name, rule.name),
                "take AUTO_INCREMENT out by ALTER TABLE … MODIFY: the ids come from Bifold",
            )
        } else {
            Breach::new(
                "id",
                format!(
                    "`{}` of table `{}` is AUTO_INCREMENT, and each subtable would count by itself",
                    column.name, rule.name
                ),
                format!("name it in the topology, `id = \"{}\"`, so that Bifold makes its ids", column.name),
            )
        });
    }
}

fn engine(rule: &TableRule, facts: &Facts, found: &mut Vec<Breach>) {
    if !facts.engine.eq_ignore_ascii_case("InnoDB") {
        found.push(Breach::new(
            "",
            format!("table `{}` uses the engine {}, which has no transactions", rule.name, facts.engine),
            "use ENGINE=InnoDB for sharded and reference tables",
        ));
    }
}

/// A subtable's foreign keys point to what stands beside it: the subtable of the same number, where
/// the rows of the same key are, or a reference table.
fn foreign_keys(schema: &Schema, rule: &TableRule, sharded: &Sharded, facts: &Facts, found: &mut Vec<Breach>) {
    for key in &facts.foreign_keys {
        let is_key = |column: &str| same_name(column, &sharded.key);
        let is_id = |column: &str| sharded.id.as_ref().is_some_and(|id| same_name(column, &id.column));
        let itself = key.table.starts_with(SCRATCH_PREFIX);
        let parent = if itself { Some((rule, sharded)) } else { sharded_parent(schema, &key.table) };
        let name = match parent {
            Some((parent, _)) => &parent.name,
            None => &key.table,
        };
        let breach = |why: String, remedy: &str| {
            let key = format!("the foreign key of table `{}` to `{name}` {why}", rule.name);
            Breach::new("", key, remedy)
        };
        let is_reference = schema.rule(&key.table).is_some_and(|rule| matches!(rule.kind, TableKind::Reference));
        let together = |other: &Sharded| {
            other.subtables == sharded.subtables
                && other.hash == sharded.hash
                && key.columns.iter().any(|(own, its)| is_key(own) && same_name(its, &other.key))
        };
        match parent {
            None if !is_reference => found.push(breach(
                "points to a table that lives on the home shard only".into(),
                "make that one a reference table, or keep the rule in the application",
            )),
            Some((_, other)) if !together(other) => found.push(breach(
                format!(
                    "does not hold both sharding keys (`{}` to `{}`) of tables with one hash and number of subtables, so \
                     the rows that it points to may be in other places",
                    sharded.key, other.key
                ),
                "add the sharding keys to it, or keep the rule in the application",
            )),
            _ if key.rewrites && key.columns.iter().any(|(own, _)| is_key(own) || is_id(own)) => found.push(breach(
                "would change the key or the id of rows by itself, which say where they belong".into(),
                "leave ON UPDATE, and SET NULL and SET DEFAULT, out of it; ON DELETE CASCADE is free",
            )),
            _ => {}
        }
    }
}

fn sharded_parent<'s>(schema: &'s Schema, physical: &str) -> Option<(&'s TableRule, &'s Sharded)> {
    let (rule, _) = schema.logical_of(physical.as_bytes())?;
    Some((rule, rule.sharded()?))
}

fn triggers(rule: &TableRule, facts: &Facts, found: &mut Vec<Breach>) {
    for name in &facts.triggers {
        found.push(Breach::new(
            "",
            format!("trigger `{name}` stands on the sharded table `{}`: it could change a key unseen", rule.name),
            "drop it and do its work in the application",
        ));
    }
}

fn allowed_per_place(sharded: &Sharded, name: &str) -> bool {
    match &sharded.unique_per_place {
        UniquePerPlace::All => true,
        UniquePerPlace::Listed(names) => names.iter().any(|listed| same_name(listed, name)),
    }
}

impl UniqueKey {
    /// The whole column is part of the key.
    fn has(&self, column: &str) -> bool {
        self.parts.iter().any(|part| matches!(part, UniquePart::Column(name) if same_name(name, column)))
    }

    fn spoken(&self) -> String {
        if self.name == "PRIMARY" { "the primary key".to_owned() } else { format!("the unique key `{}`", self.name) }
    }
}
