//! Deletes the rows that each shard no longer owns: by the rule alone, in small batches along the
//! primary key, at a bounded rate. When a count finds none any more the ownership test goes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use parking_lot::Mutex;
use tokio::time::sleep;

use super::plan::Account;
use super::site::{Desk, Site};
use crate::config::Config;
use crate::definition::identifier;
use crate::error::{Error, Result};
use crate::meta::{Job, Layout, Members, SqlStore, Step};
use crate::topology::{Place, ServerNo};
use crate::verify::{Table, tables};

/// Rows that one statement looks at.
const BATCH: u64 = 2000;

/// `rate`: rows deleted in a second on each server; 0: as fast as it goes.
pub async fn clean(
    store: Arc<SqlStore>,
    mut config: Config,
    account: &Account,
    rate: u64,
    tell: &(dyn Fn(&str) + Sync),
) -> Result<u64> {
    // 1. Ordered
    let Some((mut job, mut revision, _)) = Job::read(&*store).await? else {
        return Err(Error::operator("no expansion is under way"));
    };
    match job.step {
        Step::Switched | Step::Cleaning => {}
        Step::Done => return Ok(0),
        step => {
            return Err(Error::operator(format!("the expansion is at step {step:?}: only a switched one is cleaned")));
        }
    }
    if job.step == Step::Switched && job.gate != crate::meta::Gate::Open {
        return Err(Error::operator("the switch has not ended: run `bifold expand resume` first"));
    }
    job.step = Step::Cleaning;
    revision = put(&store, &job, revision).await?;
    // 2. No statement of the old layout is left
    wait_for(&store, |member| member.version >= job.after.version && !member.lingers, tell).await?;
    // 3. Deleted, on all servers at the same time
    let old = config.backend.clone();
    job.after.apply(&mut config)?;
    let site = Site::new(&config, &account.backend(&config))?;
    debug_assert_eq!(old.user, config.backend.user);
    let work = work(&site).await?;
    let told = Mutex::new((0u64, Instant::now()));
    let tell_deleted = |count: u64| {
        let mut told = told.lock();
        told.0 += count;
        if told.1.elapsed() > Duration::from_secs(5) {
            told.1 = Instant::now();
            tell(&format!("{} rows deleted", told.0));
        }
    };
    let servers =
        site.topology.servers().iter().map(|server| server_rows(&site, server.no, &work, rate, &tell_deleted));
    let deleted: u64 = try_join_all(servers).await?.into_iter().sum();
    // 4. None is left
    for (table, place) in &work {
        let mut desk = site.desk(table.schema.shard(place.shard).server).await?;
        let sql = format!("SELECT COUNT(*) FROM {} WHERE {}", table.physical(*place), not_own(table, *place));
        if desk.number(&sql).await? > 0 {
            return Err(Error::operator(format!(
                "{} has rows again that its shard does not own: something besides Bifold writes there",
                table.physical(*place)
            )));
        }
    }
    // 5. The test goes
    let (layout, kept) = (Layout::kept(&*store).await?, Layout::revision(&*store).await?);
    let layout = layout.ok_or_else(|| Error::operator("the layout is gone from bifold.meta"))?;
    if layout.dirty {
        let clean = Layout { version: layout.version + 1, dirty: false, ..layout };
        clean.put(&*store, kept).await?.ok_or_else(|| Error::operator("the layout was changed in the meantime"))?;
        wait_for(&store, |member| member.version >= clean.version, tell).await?;
    }
    job.step = Step::Done;
    put(&store, &job, revision).await?;
    Ok(deleted)
}

async fn put(store: &SqlStore, job: &Job, revision: u64) -> Result<u64> {
    let put = job.put(store, revision).await?;
    put.ok_or_else(|| Error::operator("the job was taken over by another command: look with `bifold expand status`"))
}

/// Until every living proxy has come so far.
async fn wait_for(
    store: &SqlStore,
    done: impl Fn(&crate::meta::Member) -> bool,
    tell: &(dyn Fn(&str) + Sync),
) -> Result<()> {
    let mut said = Instant::now();
    loop {
        let members = Members::read(store).await?;
        let Some(late) = members.living().find(|member| !done(member)) else { return Ok(()) };
        if said.elapsed() > Duration::from_secs(5) {
            tell(&format!("waiting for proxy {}", late.host));
            said = Instant::now();
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Every subtable of every shard.
async fn work(site: &Site) -> Result<Vec<(Table, Place)>> {
    let mut work = Vec::new();
    for schema in site.topology.schemas() {
        let mut desk = site.desk(schema.home().server).await?;
        for table in tables(desk.conn(), schema).await?.into_iter().filter(|table| table.sharded().is_some()) {
            work.extend(table.all_places().map(|place| (table.clone(), place)).collect::<Vec<_>>());
        }
    }
    Ok(work)
}

async fn server_rows(
    site: &Site,
    server: ServerNo,
    work: &[(Table, Place)],
    rate: u64,
    told: &dyn Fn(u64),
) -> Result<u64> {
    let mut desk = site.desk(server).await?;
    // Rows that stay are not kept locked.
    desk.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").await?;
    let since = Instant::now();
    let mut deleted = 0;
    for (table, place) in work.iter().filter(|(table, place)| table.schema.shard(place.shard).server == server) {
        let mut walk = Walk::new(table, *place);
        while let Some(statement) = walk.next(&mut desk).await? {
            let count = desk.run(&statement).await?;
            deleted += count;
            told(count);
            if let Some(due) = (deleted * 1000).checked_div(rate) {
                sleep(Duration::from_millis(due).saturating_sub(since.elapsed())).await;
            }
        }
    }
    Ok(deleted)
}

fn not_own(table: &Table, place: Place) -> String {
    let owner = table.owner().expect("only sharded tables are cleaned");
    format!("{owner} <> {}", place.shard.0)
}

/// Goes through a subtable along its primary key, so many rows at a time.
struct Walk<'t> {
    table: &'t Table,
    place: Place,
    columns: Vec<String>,
    /// The last key of the batch before, as SQL.
    from: Option<Vec<String>>,
    is_over: bool,
}

impl<'t> Walk<'t> {
    fn new(table: &'t Table, place: Place) -> Self {
        let columns = table.primary.iter().map(|column| identifier(column)).collect();
        Walk { table, place, columns, from: None, is_over: false }
    }

    /// The next batch's DELETE.
    async fn next(&mut self, desk: &mut Desk) -> Result<Option<String>> {
        if self.is_over {
            return Ok(None);
        }
        let physical = self.table.physical(self.place);
        // Each column of a key as a literal that means the same in any session.
        let quoted: Vec<String> = self.columns.iter().map(|column| format!("QUOTE({column})")).collect();
        let from = self.from.as_ref().map(|key| beyond(&self.columns, key, ">"));
        let sql = format!(
            "SELECT {} FROM {physical}{} ORDER BY {} LIMIT 1 OFFSET {}",
            quoted.join(", "),
            from.as_ref().map_or_else(String::new, |from| format!(" WHERE {from}")),
            self.columns.join(", "),
            BATCH - 1
        );
        let to = desk.rows(&sql).await?.into_iter().next();
        let mut conditions = vec![not_own(self.table, self.place)];
        conditions.extend(from);
        match to {
            Some(key) => {
                let upto = beyond(&self.columns, &key, "<=");
                conditions.push(upto);
                self.from = Some(key);
            }
            None => self.is_over = true,
        }
        let conditions: Vec<String> = conditions.into_iter().map(|condition| format!("({condition})")).collect();
        Ok(Some(format!("DELETE FROM {physical} WHERE {}", conditions.join(" AND "))))
    }
}

/// Rows behind a key (`>`), or up to it (`<=`), in a form that an index serves.
fn beyond(columns: &[String], key: &[String], operator: &str) -> String {
    let strict = &operator[..1];
    let last = columns.len() - 1;
    let terms: Vec<String> = (0..columns.len())
        .map(|at| {
            let equal = (0..at).map(|before| format!("{} = {}", columns[before], key[before]));
            let own = if at == last { operator } else { strict };
            let terms: Vec<String> = equal.chain([format!("{} {own} {}", columns[at], key[at])]).collect();
            format!("({})", terms.join(" AND "))
        })
        .collect();
    terms.join(" OR ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_ends_where_the_next_begins() {
        let columns = ["a".to_owned(), "b".to_owned()];
        let key = ["'1'".to_owned(), "'x'".to_owned()];
        assert_eq!(beyond(&columns, &key, ">"), "(a > '1') OR (a = '1' AND b > 'x')");
        assert_eq!(beyond(&columns, &key, "<="), "(a < '1') OR (a = '1' AND b <= 'x')");
        assert_eq!(beyond(&columns[..1], &key[..1], "<="), "(a <= '1')");
    }
}
