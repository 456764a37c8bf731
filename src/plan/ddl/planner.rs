//! From the tree of a DDL statement to its plan: which tables it means, which names are left
//! open, and what is refused whatever the tables look like. What depends on a table's definition
//! is left to the execution, which tries it on a server.

use std::sync::Arc;

use super::edits::Edits;
use super::text::Piece;
use super::{Action, Ddl, HomeEffect, Reach, Target, columns};
use crate::definition::SCRATCH_PREFIX;
use crate::error::{Error, Result};
use crate::plan::Scene;
use crate::plan::allow::{Asker, denied};
use crate::sql::ast::{
    self, AlterSpec, AlterSpecKind, AlterTable, CreateIndex, CreateTable, DropIndex, DropTable, Name, ObjectDdl,
    ObjectKind, RenamePair, Statement, StatementKind, TableName,
};
use crate::sql::{Source, literal};
use crate::topology::{Schema, TableRule, Undeclared};

/// The plan of a statement that changes definitions of tables.
pub fn plan(source: &Source<'_>, statement: &Statement, scene: &Scene<'_>) -> Result<Ddl> {
    let planner = Planner { source, scene };
    match &statement.kind {
        StatementKind::CreateTable(create) => planner.create(create),
        StatementKind::AlterTable(alter) => planner.alter(alter),
        StatementKind::DropTable(drop) => planner.drop(drop),
        StatementKind::Truncate(table) => planner.truncate(table),
        StatementKind::RenameTable(pairs) => planner.rename(pairs),
        StatementKind::CreateIndex(create) => planner.create_index(create),
        StatementKind::DropIndex(drop) => planner.drop_index(drop),
        StatementKind::Object(object) => match object.kind {
            ObjectKind::Procedure | ObjectKind::Function | ObjectKind::Trigger => {
                planner.routine(object, statement.span.start)
            }
            ObjectKind::Sequence => planner.sequence(object),
            ObjectKind::View => planner.view(object, statement.span.start),
            ObjectKind::Event | ObjectKind::User | ObjectKind::Role | ObjectKind::Server => {
                Err(Error::proxy("Bifold: an object that is refused was to be defined."))
            }
        },
        _ => Err(Error::proxy("Bifold: a statement that defines no table was taken for one.")),
    }
}

pub(super) struct Planner<'a> {
    pub source: &'a Source<'a>,
    pub scene: &'a Scene<'a>,
}

/// A table that a statement names.
pub(super) struct Named {
    pub schema: Arc<Schema>,
    pub target: Target,
}

/// The right that a server names when it refuses a statement.
#[derive(Clone, Copy)]
struct Verb(&'static str);

impl Planner<'_> {
    // Names

    pub fn text_of(&self, name: Name) -> String {
        literal::name(self.source, name).into_owned()
    }

    fn named(&self, table: &TableName, verb: Verb) -> Result<Named> {
        let name = self.text_of(table.name);
        let schema = match (table.db, self.scene.schema) {
            (Some(db), _) => self.text_of(db),
            (None, Some(schema)) => schema.to_owned(),
            (None, None) => return Err(denied::no_schema()),
        };
        let Some(schema) = self.scene.topology.schema(&schema).filter(|_| self.scene.allowed.contains(&schema)) else {
            let asker = Asker { scene: self.scene, flavour: self.source.dialect.flavour };
            return Err(denied::table(&asker, verb.0, &schema, &name));
        };
        let schema = schema.clone();
        let target = Target::of(&schema, &name);
        Ok(Named { schema, target })
    }

    /// A table that stands; subtables do, but nobody is told.
    pub fn standing(&self, table: &TableName, verb: &'static str) -> Result<Named> {
        let named = self.named(table, Verb(verb))?;
        match is_hidden(&named.schema, &named.target) {
            true => Err(denied::no_such_table(&named.schema.name, &named.target.table)),
            false => Ok(named),
        }
    }

    /// A table of this schema that a routine of it names without saying so.
    pub fn beside_of(&self, schema: &Arc<Schema>, table: &TableName) -> Result<Target> {
        let target = Target::of(schema, &self.text_of(table.name));
        match is_hidden(schema, &target) {
            true => Err(denied::no_such_table(&schema.name, &target.table)),
            false => Ok(target),
        }
    }

    /// The name of a table to be made.
    pub fn new_name(&self, table: &TableName) -> Result<Named> {
        let named = self.named(table, Verb("CREATE"))?;
        match is_hidden(&named.schema, &named.target) {
            true => Err(Error::refused(format!(
                "Bifold: the name `{}` is taken by a subtable. Choose another name.",
                named.target.table
            ))),
            false => Ok(named),
        }
    }

    // Statements

    fn create(&self, create: &CreateTable) -> Result<Ddl> {
        let Named { schema, target } = self.new_name(&create.table)?;
        if create.temporary {
            return self.create_temporary(create, schema, target);
        }
        let mut edits = Edits::new(self.source);
        edits.table(&create.table, Piece::Target);
        columns::elements(self, &mut edits, &schema, &target, &create.elements)?;
        let like = match &create.like {
            Some(source) => Some(self.like(&mut edits, &schema, &target, source)?),
            None => None,
        };
        if matches!(target.reach, Reach::Home) {
            let notes = undeclared(&schema, &target)?;
            let action = Action::Home { targets: vec![target], text: edits.text(), effect: HomeEffect::Commits };
            return Ok(Ddl { schema, action, notes });
        }
        if create.or_replace {
            return Err(Error::refused(format!(
                "Bifold: CREATE OR REPLACE of `{}`, which lives in many places, is not supported: a failure in the middle could not be told from a table that stands. Use DROP TABLE, then CREATE TABLE.",
                target.table
            )));
        }
        let action = Action::Create { target, text: edits.text(), if_not_exists: create.if_not_exists, like };
        Ok(Ddl { schema, action, notes: Vec::new() })
    }

    fn create_temporary(&self, create: &CreateTable, schema: Arc<Schema>, target: Target) -> Result<Ddl> {
        if !matches!(target.reach, Reach::Home) {
            return Err(Error::refused(format!(
                "Bifold: a temporary table called `{}` would hide a table that the topology spreads. Choose another name.",
                target.table
            )));
        }
        let mut edits = Edits::new(self.source);
        edits.table(&create.table, Piece::Target);
        columns::elements(self, &mut edits, &schema, &target, &create.elements)?;
        if let Some(source) = &create.like {
            self.like(&mut edits, &schema, &target, source)?;
        }
        let action = Action::Home { targets: vec![target], text: edits.text(), effect: HomeEffect::Binds };
        Ok(Ddl { schema, action, notes: Vec::new() })
    }

    /// LIKE takes the definition of a table that stands beside each place of the new one.
    fn like(&self, edits: &mut Edits<'_>, schema: &Arc<Schema>, target: &Target, source: &TableName) -> Result<Target> {
        let other = self.standing(source, "SELECT")?;
        if !matches!(target.reach, Reach::Home) {
            same_schema(schema, &other.schema)?;
        }
        let name = &other.target.table;
        match (&target.reach, &other.target.reach) {
            (Reach::Home, Reach::Home | Reach::Shards(_)) => edits.table(source, at_home_of(schema, &other)?),
            (Reach::Shards(_) | Reach::Places(_), Reach::Shards(_)) => {
                edits.table(source, Piece::Beside(name.to_string()));
            }
            (Reach::Places(new), Reach::Places(old)) if layout(new) == layout(old) => {
                let pattern = old.sharded().map(|sharded| sharded.pattern.clone());
                edits.table(source, pattern.map_or(Piece::Beside(name.to_string()), Piece::Like));
            }
            (Reach::Home | Reach::Shards(_) | Reach::Places(_), _) => {
                return Err(Error::refused(format!(
                    "Bifold: `{}` cannot be made LIKE `{name}`, which the topology lays out in another way. Write the columns out (SHOW CREATE TABLE prints them).",
                    target.table
                )));
            }
        }
        Ok(other.target)
    }

    fn alter(&self, alter: &AlterTable) -> Result<Ddl> {
        let Named { schema, target } = self.standing(&alter.table, "ALTER")?;
        if let [AlterSpec { kind: AlterSpecKind::RenameTable(to), .. }] = alter.specs.as_slice() {
            let (from, to) = (Named { schema: schema.clone(), target: target.clone() }, self.new_name(to)?);
            if let Some(renaming) = self.renaming(&from, &to) {
                return Ok(renaming);
            }
        }
        let mut edits = Edits::new(self.source);
        edits.table(&alter.table, Piece::Target);
        self.no_swaps(&target, &alter.specs)?;
        for spec in &alter.specs {
            self.alter_spec(&mut edits, &schema, &target, spec)?;
        }
        Ok(self.altering(schema, target, edits))
    }

    /// Names that change hands in one statement: run again after an interruption, it would change
    /// them back where it was done.
    fn no_swaps(&self, target: &Target, specs: &[AlterSpec]) -> Result<()> {
        let renames = specs.iter().filter_map(|spec| match &spec.kind {
            AlterSpecKind::RenameColumn { from, to } | AlterSpecKind::RenameKey { from, to } => Some((*from, *to)),
            AlterSpecKind::Change { from, to } => Some((*from, to.name)),
            _ => None,
        });
        let lower = |name| self.text_of(name).to_lowercase();
        let renames: Vec<(String, String)> = renames.map(|(from, to)| (lower(from), lower(to))).collect();
        let swapped = renames.iter().find(|(from, to)| from != to && renames.iter().any(|(other, _)| other == to));
        match (swapped, &target.reach) {
            (None, _) | (Some(_), Reach::Home) => Ok(()),
            (Some((_, name)), Reach::Shards(_) | Reach::Places(_)) => Err(Error::refused(format!(
                "Bifold: `{name}` changes hands in one ALTER TABLE, which could not be completed after an interruption. Rename in two statements, by a third name."
            ))),
        }
    }

    fn altering(&self, schema: Arc<Schema>, target: Target, edits: Edits<'_>) -> Ddl {
        let action = match target.reach {
            Reach::Home => Action::Home { targets: vec![target], text: edits.text(), effect: HomeEffect::Commits },
            Reach::Shards(_) | Reach::Places(_) => Action::Alter { target, text: edits.text() },
        };
        Ddl { schema, action, notes: Vec::new() }
    }

    fn alter_spec(&self, edits: &mut Edits<'_>, schema: &Arc<Schema>, target: &Target, spec: &AlterSpec) -> Result<()> {
        match &spec.kind {
            AlterSpecKind::AddColumns(elements) => columns::elements(self, edits, schema, target, elements),
            AlterSpecKind::AddKey(key) => columns::key(self, edits, schema, target, key, columns::Among::Added),
            AlterSpecKind::AddCheck(check) => {
                columns::check(self, edits, check);
                Ok(())
            }
            AlterSpecKind::Modify(column) => columns::column(self, edits, schema, target, column),
            AlterSpecKind::Change { from, to } => {
                let (old, new) = (self.text_of(*from), self.text_of(to.name));
                if old.to_lowercase() != new.to_lowercase() {
                    self.keep(target, &old, "renamed")?;
                    self.keep(target, &new, "given to another column")?;
                }
                columns::column(self, edits, schema, target, to)
            }
            AlterSpecKind::RenameColumn { from, to } => {
                self.keep(target, &self.text_of(*from), "renamed")?;
                self.keep(target, &self.text_of(*to), "given to another column")
            }
            AlterSpecKind::DropColumn(name) => self.keep(target, &self.text_of(*name), "dropped"),
            AlterSpecKind::DropForeignKey(name) | AlterSpecKind::DropConstraint(name) => {
                edits.name(*name, Piece::Known(self.text_of(*name)));
                Ok(())
            }
            AlterSpecKind::AlterKey(name) if self.is_constraint_word(*name) => {
                edits.name(*name, Piece::Known(self.text_of(*name)));
                Ok(())
            }
            AlterSpecKind::RenameTable(to) => self.rename_to(edits, schema, target, to),
            AlterSpecKind::Partition { exchange: Some(other) } => match target.reach {
                Reach::Home => self.beside(edits, schema, other),
                Reach::Shards(_) | Reach::Places(_) => Err(Error::refused(format!(
                    "Bifold: EXCHANGE PARTITION of `{}` would bring rows in without looking where they belong. INSERT them.",
                    target.table
                ))),
            },
            AlterSpecKind::AlterKey(_)
            | AlterSpecKind::AlterColumn { .. }
            | AlterSpecKind::DropPrimaryKey
            | AlterSpecKind::DropKey(_)
            | AlterSpecKind::RenameKey { .. }
            | AlterSpecKind::Option(_)
            | AlterSpecKind::ConvertCharset
            | AlterSpecKind::Execution
            | AlterSpecKind::OrderBy
            | AlterSpecKind::Partition { exchange: None }
            | AlterSpecKind::Versioning => Ok(()),
            AlterSpecKind::Tablespace => Err(Error::refused(
                "Bifold: DISCARD and IMPORT TABLESPACE move files of a server's machine. Move the rows by statements.",
            )),
        }
    }

    /// `ALTER CHECK c`, `ALTER CONSTRAINT c`, but not `ALTER INDEX i`.
    fn is_constraint_word(&self, name: Name) -> bool {
        let word = name.0.checked_sub(1).map(|token| self.source.bytes(token).to_ascii_uppercase());
        word.is_some_and(|word| word == b"CHECK" || word == b"CONSTRAINT")
    }

    /// The columns that the topology names stay what they are.
    fn keep(&self, target: &Target, column: &str, fate: &str) -> Result<()> {
        let Some(sharded) = target.rule().and_then(|rule| rule.sharded()) else { return Ok(()) };
        let is = |name: &str| name.to_lowercase() == column.to_lowercase();
        let role = if is(&sharded.key) {
            "sharding key"
        } else if sharded.id.as_ref().is_some_and(|id| is(&id.column)) {
            "id"
        } else {
            return Ok(());
        };
        Err(Error::refused(format!(
            "Bifold: `{column}` is the {role} of table `{}` and cannot be {fate}. Create a table of the new form and copy the rows into it.",
            target.table
        )))
    }

    fn rename_to(&self, edits: &mut Edits<'_>, schema: &Arc<Schema>, target: &Target, to: &TableName) -> Result<()> {
        let new = self.new_name(to)?;
        match (&target.reach, &new.target.reach) {
            (Reach::Home, Reach::Home) => {
                undeclared(&new.schema, &new.target)?;
                edits.table(to, at_home_of(schema, &new)?);
                Ok(())
            }
            (Reach::Home | Reach::Shards(_) | Reach::Places(_), _) => Err(not_renamed(target, &new.target)),
        }
    }

    fn drop(&self, drop: &DropTable) -> Result<Ddl> {
        let mut schema: Option<Arc<Schema>> = None;
        let mut targets = Vec::new();
        let mut edits = Edits::new(self.source);
        for table in &drop.tables {
            let named = self.named(table, Verb("DROP"))?;
            if is_hidden(&named.schema, &named.target) {
                return Err(unknown_table(&named));
            }
            // Of several tables each has its own name; where one is spread all names are made
            // by the execution.
            edits.table(table, at_home_of(schema.get_or_insert_with(|| named.schema.clone()), &named)?);
            targets.push(named.target);
        }
        let schema = schema.ok_or_else(|| Error::proxy("Bifold: DROP TABLE without a table."))?;
        let all_home = targets.iter().all(|target| matches!(target.reach, Reach::Home));
        if !all_home {
            targets.iter().try_for_each(|target| same_schema(&schema, &target.schema))?;
        }
        let action = match (all_home, drop.temporary) {
            (true, temporary) => {
                let effect = if temporary { HomeEffect::None } else { HomeEffect::Commits };
                Action::Home { targets, text: edits.text(), effect }
            }
            (false, true) => {
                return Err(unknown_table(&Named { target: targets.swap_remove(0), schema }));
            }
            (false, false) => Action::Drop { targets, if_exists: drop.if_exists },
        };
        Ok(Ddl { schema, action, notes: Vec::new() })
    }

    fn truncate(&self, table: &TableName) -> Result<Ddl> {
        let Named { schema, target } = self.standing(table, "DROP")?;
        let mut edits = Edits::new(self.source);
        edits.table(table, Piece::Target);
        let action = match target.reach {
            Reach::Home => Action::Home { targets: vec![target], text: edits.text(), effect: HomeEffect::Commits },
            Reach::Shards(_) | Reach::Places(_) => Action::Truncate { target, text: edits.text() },
        };
        Ok(Ddl { schema, action, notes: Vec::new() })
    }

    fn rename(&self, pairs: &[RenamePair]) -> Result<Ddl> {
        let mut schema: Option<Arc<Schema>> = None;
        let mut targets = Vec::new();
        let mut edits = Edits::new(self.source);
        if let [pair] = pairs
            && let Some(renaming) = self.renaming(&self.standing(&pair.from, "ALTER, DROP")?, &self.new_name(&pair.to)?)
        {
            return Ok(renaming);
        }
        for pair in pairs {
            let (from, to) = (self.standing(&pair.from, "ALTER, DROP")?, self.new_name(&pair.to)?);
            let schema = schema.get_or_insert_with(|| from.schema.clone());
            match (&from.target.reach, &to.target.reach) {
                (Reach::Home, Reach::Home) => {}
                (Reach::Home | Reach::Shards(_) | Reach::Places(_), _) => {
                    return Err(not_renamed(&from.target, &to.target));
                }
            }
            undeclared(&to.schema, &to.target)?;
            edits.table(&pair.from, at_home_of(schema, &from)?);
            edits.table(&pair.to, at_home_of(schema, &to)?);
            targets.extend([from.target, to.target]);
        }
        let schema = schema.ok_or_else(|| Error::proxy("Bifold: RENAME TABLE without a table."))?;
        Ok(Ddl {
            schema,
            action: Action::Home { targets, text: edits.text(), effect: HomeEffect::Commits },
            notes: Vec::new(),
        })
    }

    /// A table of many places whose new name the topology declares with the same layout.
    fn renaming(&self, from: &Named, to: &Named) -> Option<Ddl> {
        let fits = from.schema.name == to.schema.name && from.target.is_shaped_like(&to.target);
        let targets = [from.target.clone(), to.target.clone()];
        fits.then(|| Ddl { schema: from.schema.clone(), action: Action::Rename { targets }, notes: Vec::new() })
    }

    fn create_index(&self, create: &CreateIndex) -> Result<Ddl> {
        let Named { schema, target } = self.standing(&create.table, "INDEX")?;
        let mut edits = Edits::new(self.source);
        edits.table(&create.table, Piece::Target);
        Ok(self.altering(schema, target, edits))
    }

    fn drop_index(&self, drop: &DropIndex) -> Result<Ddl> {
        let Named { schema, target } = self.standing(&drop.table, "INDEX")?;
        let mut edits = Edits::new(self.source);
        edits.table(&drop.table, Piece::Target);
        Ok(self.altering(schema, target, edits))
    }

    /// CREATE, ALTER and DROP SEQUENCE.
    fn sequence(&self, sequence: &ObjectDdl) -> Result<Ddl> {
        let mut schema: Option<Arc<Schema>> = None;
        let mut targets = Vec::new();
        let mut edits = Edits::new(self.source);
        for name in &sequence.names {
            let named = match sequence.action {
                ast::Action::Create => self.new_name(name)?,
                ast::Action::Alter => self.standing(name, "ALTER")?,
                ast::Action::Drop => self.standing(name, "DROP")?,
            };
            if !matches!(named.target.reach, Reach::Home) {
                return Err(Error::refused(format!(
                    "Bifold: `{}` cannot be a sequence: the topology says that it is a table of many places. Choose another name.",
                    named.target.table
                )));
            }
            edits.table(name, at_home_of(schema.get_or_insert_with(|| named.schema.clone()), &named)?);
            targets.push(named.target);
        }
        let schema = schema.ok_or_else(|| Error::proxy("Bifold: a sequence without a name."))?;
        let action = Action::Home { targets, text: edits.text(), effect: HomeEffect::Commits };
        Ok(Ddl { schema, action, notes: Vec::new() })
    }

    /// Another unsharded or reference table, on the home shard.
    pub fn beside(&self, edits: &mut Edits<'_>, schema: &Arc<Schema>, table: &TableName) -> Result<()> {
        let other = self.standing(table, "SELECT")?;
        match other.target.reach {
            Reach::Home | Reach::Shards(_) => {
                edits.table(table, at_home_of(schema, &other)?);
                Ok(())
            }
            Reach::Places(_) => Err(Error::refused(format!(
                "Bifold: `{}` lives in many places and cannot be named here. Use an unsharded or reference table.",
                other.target.table
            ))),
        }
    }
}

pub(super) fn same_schema(one: &Arc<Schema>, other: &Arc<Schema>) -> Result<()> {
    match one.name == other.name {
        true => Ok(()),
        false => Err(Error::refused(format!(
            "Bifold: one statement cannot define tables of both schema `{}` and schema `{}`. Use a statement for each.",
            one.name, other.name
        ))),
    }
}

/// A table on its home shard, in a statement that the home shard of `schema` runs.
pub(super) fn at_home_of(schema: &Schema, named: &Named) -> Result<Piece> {
    let (here, there) = (schema.home(), named.schema.home());
    let table = named.target.table.to_string();
    if here == there {
        return Ok(Piece::Beside(table));
    }
    match here.server == there.server {
        true => Ok(Piece::Elsewhere(there.database.clone(), table)),
        false => Err(Error::refused(format!(
            "Bifold: schema `{}` and schema `{}` live on different servers, so one statement cannot define tables of both. Use a statement for each.",
            schema.name, named.schema.name
        ))),
    }
}

/// A physical table, or one in which a definition is tried.
fn is_hidden(schema: &Schema, target: &Target) -> bool {
    matches!(target.reach, Reach::Home)
        && (schema.logical_of(target.table.as_bytes()).is_some() || target.table.starts_with(SCRATCH_PREFIX))
}

/// What is said of a new table that no rule names.
pub(super) fn undeclared(schema: &Schema, target: &Target) -> Result<Vec<String>> {
    if schema.rule(&target.table).is_some() {
        return Ok(Vec::new());
    }
    let table = &target.table;
    match schema.undeclared {
        Undeclared::Unsharded => Ok(vec![format!(
            "Bifold: the topology has no rule for table `{table}`, so it is unsharded and lives on the home shard"
        )]),
        Undeclared::Refuse => Err(Error::refused(format!(
            "Bifold: the topology has no rule for table `{table}`, and `undeclared = \"refuse\"` asks for one. Add [schema.{}.table.{table}] to the topology file.",
            schema.name
        ))),
    }
}

fn layout(rule: &TableRule) -> Option<u16> {
    rule.sharded().map(|sharded| sharded.subtables)
}

fn not_renamed(from: &Target, to: &Target) -> Error {
    let declared = if matches!(from.reach, Reach::Home) { to } else { from };
    Error::refused(format!(
        "Bifold: `{}` cannot be renamed to `{}`: the topology says where `{}` lives, by its name. Create the new table and copy the rows.",
        from.table, to.table, declared.table
    ))
}

fn unknown_table(named: &Named) -> Error {
    const BAD_TABLE: (u16, &[u8; 5]) = (1051, b"42S02");
    Error::client(BAD_TABLE, format!("Unknown table '{}.{}'", named.schema.name, named.target.table))
}
