//! A definition tried on an empty table of another name, in the home shard's database: what a
//! server says of the statement, and what the table would be, before any place is touched.

use super::shown::{read_definition, read_facts};
use super::{Outcome, Task, answered};
use crate::definition::{Breach, Definition, Facts, Naming, breaches, identifier, key_changes};
use crate::error::{Error, Result};
use crate::plan::ddl::{Target, Text};
use crate::shard::Checkout;
use crate::topology::HOME;

/// What the statement makes of a table.
pub(super) struct Tried {
    pub definition: Definition,
    /// What the server said of it.
    pub outcome: Outcome,
}

impl Task<'_> {
    /// What CREATE makes; refused where it breaks a law of the table's rule.
    pub(super) async fn try_create(&self, target: &Target, text: &Text) -> Result<Tried> {
        let scratch = Scratch::new(self, target);
        let tried = async {
            let outcome = scratch.run(text, None).await?;
            let (definition, facts) = scratch.look().await?;
            refuse(target, breaches(self.schema, rule(target)?, &facts))?;
            Ok(Tried { definition, outcome })
        };
        let tried = tried.await;
        scratch.end(tried).await
    }

    /// What ALTER makes of a table of this definition; refused where it moves rows away from
    /// where their key says, or breaks a law that the table has kept so far.
    pub(super) async fn try_alter(&self, target: &Target, base: &Definition, text: &Text) -> Result<Tried> {
        let scratch = Scratch::new(self, target);
        let tried = async {
            scratch.make(base).await?;
            let (_, before) = scratch.look().await?;
            let outcome = scratch.run(text, Some(base)).await?;
            let (definition, after) = scratch.look().await?;
            let rule = rule(target)?;
            let kept = breaches(self.schema, rule, &before);
            let mut broken = breaches(self.schema, rule, &after);
            broken.retain(|breach| !kept.contains(breach));
            broken.extend(key_changes(rule, &before, &after));
            refuse(target, broken)?;
            Ok(Tried { definition, outcome })
        };
        let tried = tried.await;
        scratch.end(tried).await
    }
}

fn rule(target: &Target) -> Result<&crate::topology::TableRule> {
    target.rule().map(|rule| &**rule).ok_or_else(|| Error::proxy("Bifold: an unsharded table has no places."))
}

fn refuse(target: &Target, broken: Vec<Breach>) -> Result<()> {
    match broken.first() {
        None => Ok(()),
        Some(breach) => {
            tracing::debug!(table = &*target.table, count = broken.len(), "a definition breaks laws");
            Err(Error::refused(format!("Bifold: {}.", breach.sentence())))
        }
    }
}

struct Scratch<'a> {
    task: &'a Task<'a>,
    naming: Naming,
}

impl<'a> Scratch<'a> {
    fn new(task: &'a Task<'a>, target: &Target) -> Self {
        let naming = Naming::scratch(&target.table, rand::random());
        let naming = match target.rule() {
            Some(rule) => naming.among(&rule.beside),
            None => naming,
        };
        Scratch { task, naming }
    }

    fn database(&self) -> &'a str {
        &self.task.schema.shard(HOME).database
    }

    async fn plain(&self) -> Result<Checkout> {
        self.task.plain_connection(self.task.home()).await
    }

    /// An empty table of this definition.
    async fn make(&self, definition: &Definition) -> Result<()> {
        self.plain().await?.run(&definition.create(self.database(), &self.naming)).await.map(drop)
    }

    /// The client's statement, on the scratch table.
    async fn run(&self, text: &Text, known: Option<&Definition>) -> Result<Outcome> {
        let mut conn = self.task.session_connection(self.task.home()).await?;
        let logical = |text: &[u8]| self.naming.logical_text(text, self.database(), &self.task.schema.name);
        answered(&mut conn, &text.at(&self.naming, self.database(), known), logical).await
    }

    async fn look(&self) -> Result<(Definition, Facts)> {
        let mut conn = self.plain().await?;
        let definition = read_definition(&mut conn, self.database(), &self.naming).await?;
        let facts = read_facts(&mut conn, self.database(), &self.naming.physical).await?;
        Ok((definition, facts))
    }

    /// Drops the table, whatever came of it. If that fails it is left over, and `bifold check`
    /// names it.
    async fn end<T>(self, tried: Result<T>) -> Result<T> {
        let drop =
            format!("DROP TABLE IF EXISTS {}.{}", identifier(self.database()), identifier(&self.naming.physical));
        let dropped = async { self.plain().await?.run(&drop).await };
        if let Err(error) = dropped.await {
            tracing::warn!(table = self.naming.physical, %error, "a scratch table could not be dropped");
        }
        tried
    }
}
