//! Statements of the proxy's own that carry rows from one table to another, and how they are sent:
//! each server's one after the other, servers at the same time. What is carried is what is stored,
//! whatever the session's settings would make of it.

use futures_util::future::join_all;

use super::client::Client;
use super::exchange;
use super::names;
use super::statement::Running;
use crate::error::{Error, Result};
use crate::plan::{Effect, image};
use crate::route::Name;
use crate::shard::{Answer, Conn};
use crate::sql::Flavour;
use crate::topology::ServerNo;

/// An INSERT has about so many bytes.
const LONGEST: usize = 1 << 20;

/// Bytes of rows that one statement may carry.
const MOST: usize = 64 << 20;

/// A statement for one table.
pub(super) struct Text {
    pub server: ServerNo,
    pub name: Name,
    pub sql: Vec<u8>,
}

/// What is carried so far.
#[derive(Default)]
pub(super) struct Budget(usize);

impl Budget {
    pub fn take(&mut self, values: &str) -> Result<()> {
        self.0 += values.len();
        match self.0 <= MOST {
            true => Ok(()),
            false => Err(Error::refused(format!(
                "Bifold: the rows that would be carried to other places have more than {} MiB: change fewer of them at a time.",
                MOST >> 20
            ))),
        }
    }
}

/// A row as it stands behind VALUES; `None` where a value is not what was asked for.
pub(super) fn values(columns: &[image::Column], row: &[Option<Vec<u8>>]) -> Option<String> {
    let mut values = String::new();
    for (column, cell) in columns.iter().zip(row) {
        values.push_str(if values.is_empty() { "(" } else { ", " });
        column.put(cell.as_deref(), &mut values)?;
    }
    values.push(')');
    Some(values)
}

/// The texts that put rows into a table.
pub(super) fn inserts(
    flavour: Flavour,
    server: ServerNo,
    name: &Name,
    columns: &[image::Column],
    rows: &[String],
) -> Vec<Text> {
    let (before, hint) = match flavour {
        Flavour::MariaDb => ("SET STATEMENT sql_mode='NO_AUTO_VALUE_ON_ZERO', time_zone='+00:00' FOR ", ""),
        Flavour::MySql => ("", " /*+ SET_VAR(sql_mode='NO_AUTO_VALUE_ON_ZERO') SET_VAR(time_zone='+00:00') */"),
    };
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    let head = format!("{before}INSERT{hint} INTO {} ({}) VALUES ", quoted(name), names.join(", "));
    let mut texts: Vec<Text> = Vec::new();
    for row in rows {
        match texts.last_mut().filter(|text| text.sql.len() + row.len() < LONGEST) {
            Some(text) => {
                text.sql.extend_from_slice(b", ");
                text.sql.extend_from_slice(row.as_bytes());
            }
            None => texts.push(Text { server, name: name.clone(), sql: format!("{head}{row}").into_bytes() }),
        }
    }
    texts
}

/// `` `mall_1`.`orders_0007` ``
pub(super) fn quoted(name: &Name) -> String {
    let mut quoted = Vec::new();
    name.put(&mut quoted);
    String::from_utf8_lossy(&quoted).into_owned()
}

/// Runs texts, each server's one after the other; their answers in the same order.
pub(super) async fn run(
    running: &Running<'_>,
    client: &mut Client,
    texts: Vec<Text>,
    effect: Effect,
) -> Result<Vec<Answer>> {
    let mut servers: Vec<ServerNo> = texts.iter().map(|text| text.server).collect();
    servers.sort_unstable();
    servers.dedup();
    let need = exchange::need(client.shape, &client.settings.state, effect);
    let conns = client.hold.several(&running.engine.servers, &servers, need).await?;
    let own = |server: ServerNo| texts.iter().enumerate().filter(move |(_, text)| text.server == server).collect();
    let all = conns.into_iter().zip(&servers).map(|(conn, server)| on_one(conn, own(*server)));
    let mut answers: Vec<(usize, Answer)> = Vec::new();
    for of_server in join_all(all).await {
        answers.extend(of_server?);
    }
    answers.sort_by_key(|(number, _)| *number);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

async fn on_one(conn: &mut Conn, texts: Vec<(usize, &Text)>) -> Result<Vec<(usize, Answer)>> {
    let mut answers = Vec::new();
    for (number, text) in texts {
        let answer = conn.run_bytes(&text.sql).await;
        let names = std::slice::from_ref(&text.name);
        let answer = answer.map_err(|error| names::in_error(names, error))?;
        if answer.warnings > 0 {
            check(&conn.run("SHOW WARNINGS").await?, names)?;
        }
        answers.push((number, answer));
    }
    Ok(answers)
}

/// A value that is read or put in is the one that is stored: the only thing to be said of it is that
/// an ENUM holds none of its labels.
fn check(warnings: &Answer, names: &[Name]) -> Result<()> {
    let wrong = exchange::diagnostics(warnings, names).into_iter().find(|one| one.code != DATA_TRUNCATED);
    match wrong {
        None => Ok(()),
        Some(one) => Err(Error::refused(format!(
            "Bifold: a row of table {} can't be carried exactly as it is ({}): write it with values of its own.",
            names[0].logical_table,
            String::from_utf8_lossy(&one.text)
        ))),
    }
}

const DATA_TRUNCATED: u16 = 1265;
