//! Proof that a replica is a whole copy: sums over each subtable on both sides. Where writing goes on
//! they may differ for a moment; a subtable is asked again after the replica has caught up, and what
//! never holds still is compared while the gate is shut, when both stand at one position.

use std::time::Duration;

use super::site::{Desk, Site};
use crate::error::{Error, Result};
use crate::meta::Replica;
use crate::topology::{Place, ServerNo};
use crate::verify::{Table, tables};

/// A place of the old layout, and the same one in the copy.
#[derive(Clone, Debug)]
pub struct Pending {
    old: ServerNo,
    new: ServerNo,
    name: String,
    old_sql: String,
    new_sql: String,
}

const TRIES: usize = 4;
const CATCH_UP: Duration = Duration::from_secs(20);

/// Every subtable and reference table of the servers' shards, with its copy. `half`: N before.
pub async fn everything(site: &Site, replicas: &[Replica]) -> Result<Vec<Pending>> {
    let mut all = Vec::new();
    for schema in site.topology.schemas() {
        let half = schema.shard_count() / 2;
        let mut desk = site.desk(schema.home().server).await?;
        for table in tables(desk.conn(), schema).await? {
            all.extend(
                table.all_places().filter(|place| place.shard.0 < half).map(|place| pending(&table, place, half)),
            );
        }
    }
    debug_assert!(
        all.iter().all(|pending| replicas.iter().any(|replica| site.number(&replica.name).ok() == Some(pending.new)))
    );
    Ok(all)
}

fn pending(table: &Table, place: Place, half: u16) -> Pending {
    let copy = Place { shard: crate::topology::ShardNo(place.shard.0 + half), ..place };
    Pending {
        old: table.schema.shard(place.shard).server,
        new: table.schema.shard(copy.shard).server,
        name: table.physical(place),
        old_sql: table.checksum(place),
        new_sql: table.checksum(copy),
    }
}

/// Compares; gives those that were never equal. `told`: how many are done.
pub async fn compare(site: &Site, all: &[Pending], told: &mut dyn FnMut(usize)) -> Result<Vec<Pending>> {
    let mut left = Vec::new();
    let mut desks: Option<(ServerNo, ServerNo, Desk, Desk)> = None;
    for (done, pending) in all.iter().enumerate() {
        let (_, _, old, new) = match desks.take() {
            Some(kept) if (kept.0, kept.1) == (pending.old, pending.new) => desks.insert(kept),
            Some(_) | None => {
                let (old, new) = (site.desk(pending.old).await?, site.desk(pending.new).await?);
                desks.insert((pending.old, pending.new, old, new))
            }
        };
        if !is_equal(pending, old, new).await? {
            left.push(pending.clone());
        }
        told(done + 1);
    }
    Ok(left)
}

async fn is_equal(pending: &Pending, old: &mut Desk, new: &mut Desk) -> Result<bool> {
    for attempt in 0..TRIES {
        if attempt > 0 {
            let position = old.position().await?;
            if !new.reach(&position, CATCH_UP).await? {
                return Err(Error::operator(format!(
                    "replica {} does not catch up with {} within {} s",
                    new.name,
                    old.name,
                    CATCH_UP.as_secs()
                )));
            }
        }
        if old.rows(&pending.old_sql).await? == new.rows(&pending.new_sql).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// At one position of both: no further try.
pub async fn compare_at_rest(site: &Site, pending: &Pending) -> Result<()> {
    let (mut old, mut new) = (site.desk(pending.old).await?, site.desk(pending.new).await?);
    let (there, here) = (old.rows(&pending.old_sql).await?, new.rows(&pending.new_sql).await?);
    match there == here {
        true => Ok(()),
        false => Err(Error::operator(format!(
            "the copy of {} on {} is not that of {}: rows and sums are {there:?} there and {here:?} here; make the replica anew",
            pending.name, new.name, old.name
        ))),
    }
}
