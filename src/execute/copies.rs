//! A reference table written on the home shard only, since each shard would make other rows of the
//! statement: what it changed there is found by looking before and after, and done to the copies
//! row by row.

use std::collections::BTreeMap;

use super::client::Client;
use super::exchange;
use super::own::{self, Budget, Text};
use super::spread::Written;
use super::statement::Running;
use crate::error::{Error, Result};
use crate::plan::{Effect, FromHome, TableRef, WriteScatter};
use crate::route::Name;
use crate::shard::Answer;
use crate::topology::{HOME, ServerNo};

/// Chosen rows of a DELETE.
const ROWS: usize = 1000;

/// A table's rows by their keys, both as texts of SQL.
type Rows = BTreeMap<String, String>;

pub(super) struct Copies<'a> {
    running: &'a Running<'a>,
    table: &'a TableRef,
    copy: &'a FromHome,
    /// As it was before the statement; not looked at where rows are only added.
    before: Rows,
}

impl<'a> Copies<'a> {
    /// Before the statement is run on the home shard.
    pub async fn begin(
        running: &'a Running<'a>,
        client: &mut Client,
        plan: &'a WriteScatter,
        copy: &'a FromHome,
    ) -> Result<Self> {
        let mut copies = Copies { running, table: &plan.template.refs[0], copy, before: Rows::new() };
        if copy.counted.is_none() {
            copies.before = copies.look(client, " FOR UPDATE").await?;
        }
        Ok(copies)
    }

    /// After it.
    pub async fn finish(self, client: &mut Client, written: &mut Written) -> Result<()> {
        // 1. What has changed
        let home = self.name(HOME);
        let step = self.remember_id(client, written).await?;
        let after = match &self.copy.counted {
            None => self.look(client, "").await?,
            Some(_) if written.tally.affected == 0 => return Ok(()),
            Some(column) => {
                let (first, count) = (written.tally.insert_id, written.tally.affected);
                let last = first.saturating_add((count - 1).saturating_mul(step));
                let rows = self.look(client, &format!(" WHERE {column} BETWEEN {first} AND {last}")).await?;
                if rows.len() as u64 != count {
                    return Err(Error::proxy(format!(
                        "Bifold: the rows that were added to {} are not the ones that were counted up.",
                        home.logical_table
                    )));
                }
                rows
            }
        };
        let is_in = |rows: &Rows, key: &String, row: &String| rows.get(key) == Some(row);
        let gone: Vec<&str> =
            self.before.iter().filter(|(key, row)| !is_in(&after, key, row)).map(|(key, _)| key.as_str()).collect();
        let new: Vec<String> =
            after.iter().filter(|(key, row)| !is_in(&self.before, key, row)).map(|(_, row)| row.clone()).collect();
        // 2. Done to the copies
        let texts = self.texts(&gone, &new);
        own::run(self.running, client, texts, Effect::Write).await.map(drop)
    }

    fn texts(&self, gone: &[&str], new: &[String]) -> Vec<Text> {
        let (schema, columns) = (&self.table.schema, &self.copy.columns);
        let flavour = self.running.statement.source.dialect.flavour;
        let keys: Vec<&str> = self.copy.key.iter().map(|at| &*columns[*at].name).collect();
        let mut texts = Vec::new();
        for shard in schema.shards().iter().filter(|shard| shard.no != HOME) {
            let name = self.name(shard.no);
            for keys_gone in gone.chunks(ROWS) {
                let (table, keys, rows) = (own::quoted(&name), keys.join(", "), keys_gone.join(", "));
                let sql = format!("DELETE FROM {table} WHERE ({keys}) IN ({rows})").into_bytes();
                texts.push(Text { server: shard.server, name: name.clone(), sql });
            }
            texts.extend(own::inserts(flavour, shard.server, &name, columns, new));
        }
        texts
    }

    async fn look(&self, client: &mut Client, which: &str) -> Result<Rows> {
        let (name, columns) = (self.name(HOME), &self.copy.columns);
        let reads: Vec<&str> = columns.iter().map(|column| &*column.read).collect();
        let sql = format!("SELECT {} FROM {}{which}", reads.join(", "), own::quoted(&name)).into_bytes();
        let effect = if which.is_empty() { Effect::Read } else { Effect::Lock };
        let text = Text { server: self.home(), name, sql };
        let answers = own::run(self.running, client, vec![text], effect).await?;
        let mut rows = Rows::new();
        let mut budget = Budget::default();
        for row in answers.iter().flat_map(|answer: &Answer| &answer.rows) {
            let values = own::values(columns, row).ok_or_else(odd)?;
            budget.take(&values)?;
            let of_key = |at: &usize| (columns[*at].clone(), row[*at].clone());
            let (key_columns, key): (Vec<_>, Vec<_>) = self.copy.key.iter().map(of_key).unzip();
            rows.insert(own::values(&key_columns, &key).ok_or_else(odd)?, values);
        }
        Ok(rows)
    }

    /// LAST_INSERT_ID() is the home shard's. Gives the step by which it counts.
    async fn remember_id(&self, client: &mut Client, written: &Written) -> Result<u64> {
        let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
        let conn = client.hold.connection(&self.running.engine.servers, self.home(), need).await?;
        let answer = conn.run("SELECT LAST_INSERT_ID(), @@auto_increment_increment").await?;
        let number = |at: usize| {
            let cell = answer.rows.first()?.get(at)?.as_deref()?;
            std::str::from_utf8(cell).ok()?.parse::<u64>().ok()
        };
        let (Some(id), Some(step)) = (number(0), number(1)) else { return Err(odd()) };
        if id == written.tally.insert_id && id != 0 {
            client.memory.last_insert_id = id;
        }
        Ok(step)
    }

    fn home(&self) -> ServerNo {
        self.table.schema.home().server
    }

    fn name(&self, shard: crate::topology::ShardNo) -> Name {
        Name::whole(self.table, shard)
    }
}

fn odd() -> Error {
    Error::proxy("Bifold: a server gave no row of a reference table as it was asked for.")
}
