//! SQL at a server from blocking code: one login, the statements, the last one's rows as text.

use std::thread;
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};

use crate::error::{Error, Result};

/// Values as a server prints them; `None` is NULL.
pub type Row = Vec<Option<String>>;

/// Logs in, runs the statements in order and gives the last one's rows. A thread of its own runs
/// it, so that callers on an async runtime only block.
pub fn run_sql(opts: &OptsBuilder, statements: &[impl AsRef<str>]) -> Result<Vec<Row>> {
    let statements: Vec<&str> = statements.iter().map(AsRef::as_ref).collect();
    let opts = Opts::from(opts.clone());
    block_on(async {
        let mut conn = Conn::new(opts).await.map_err(failed("login"))?;
        let mut rows = Vec::new();
        for statement in statements {
            let got: Vec<mysql_async::Row> = conn.query(statement).await.map_err(failed(statement))?;
            rows = got.into_iter().map(as_text).collect();
        }
        conn.disconnect().await.map_err(failed("disconnect"))?;
        Ok(rows)
    })
}

/// Login and `SELECT 1`-like probe with a short bound, for waiting loops.
pub(super) fn probe(opts: &OptsBuilder, statement: &str, bound: Duration) -> Result<Vec<Row>> {
    let opts = Opts::from(opts.clone());
    block_on(async {
        let asking = async {
            let mut conn = Conn::new(opts).await.map_err(failed("login"))?;
            let got: Vec<mysql_async::Row> = conn.query(statement).await.map_err(failed(statement))?;
            Ok(got.into_iter().map(as_text).collect())
        };
        tokio::time::timeout(bound, asking).await.unwrap_or_else(|_| Err(Error::operator("no answer in time")))
    })
}

fn block_on<T: Send>(work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|cause| Error::proxy("no runtime").because(cause))?
                .block_on(work)
        });
        running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn failed(statement: &str) -> impl Fn(mysql_async::Error) -> Error + '_ {
    move |cause| Error::operator(format!("{}: {cause}", statement.chars().take(200).collect::<String>()))
}

fn as_text(row: mysql_async::Row) -> Row {
    row.unwrap()
        .into_iter()
        .map(|value| match value {
            mysql_async::Value::NULL => None,
            mysql_async::Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            other => Some(other.as_sql(true)),
        })
        .collect()
}
