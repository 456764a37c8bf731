//! Tables and rows, made through the proxy like an application makes them.

use std::fs;
use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use super::failed;
use super::progress::Progress;
use super::sample::{CREATES, SMALL_ROWS, SampleTable, coin_records, orders, sysbench_rows};
use crate::error::Result;
use crate::lab::Cluster;

const SYSBENCH_ROWS: u32 = 10_000;
/// Users, or rows, of one INSERT.
const CHUNK: u32 = 100;

pub(super) async fn create_tables(app: &mut Conn, cluster: &Cluster) -> Result<()> {
    for table in CREATES {
        create_table(app, cluster, table).await?;
    }
    Ok(())
}

/// One CREATE TABLE; how far it is shows in the servers' folders.
async fn create_table(app: &mut Conn, cluster: &Cluster, table: &SampleTable) -> Result<()> {
    let progress = Progress::start(&format!("CREATE TABLE {} (physical tables: {})", table.name, table.subtables));
    let mut tick = tokio::time::interval(Duration::from_millis(200));
    let mut creating = std::pin::pin!(app.query_drop(table.create));
    loop {
        tokio::select! {
            created = &mut creating => break created.map_err(failed(table.create))?,
            _ = tick.tick() => progress.at(tables_made(cluster, table.name), table.subtables),
        }
    }
    progress.done();
    Ok(())
}

fn tables_made(cluster: &Cluster, table: &str) -> u64 {
    (0..cluster.spec().shards)
        .filter_map(|number| {
            let (server, database) = cluster.shard(number);
            fs::read_dir(server.folder().join("data").join(database)).ok()
        })
        .flat_map(|entries| entries.flatten())
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(table) && name.ends_with(".ibd")
        })
        .count() as u64
}

pub(super) async fn fill_tables(app: &mut Conn, users: u32) -> Result<()> {
    for sql in SMALL_ROWS {
        app.query_drop(*sql).await.map_err(failed(sql))?;
    }
    insert(app, "coin records", users, &coin_records).await?;
    insert(app, "orders", users, &orders).await?;
    insert(app, "rows for sysbench", SYSBENCH_ROWS, &sysbench_rows).await
}

async fn insert(
    app: &mut Conn,
    what: &str,
    count: u32,
    sql_for: &dyn Fn(std::ops::Range<u32>) -> String,
) -> Result<()> {
    let progress = Progress::start(&format!("loading {what}"));
    for first in (1..=count).step_by(CHUNK as usize) {
        let sql = sql_for(first..(first + CHUNK).min(count + 1));
        app.query_drop(&sql).await.map_err(failed(&sql))?;
        progress.at((first + CHUNK - 1).min(count).into(), count.into());
    }
    progress.done();
    Ok(())
}
