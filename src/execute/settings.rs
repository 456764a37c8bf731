//! Settings that a statement changed are read back from the server that ran it, and become the
//! session's next [`State`]. Reading back, not reasoning, is what follows every variable that a
//! server knows, with the values that the server made of what was written.

use std::sync::Arc;

use dashmap::DashMap;

use super::client::Client;
use super::engine::Engine;
use super::exchange::At;
use crate::context::{Setting, State};
use crate::error::{Error, Result};
use crate::protocol::column::ColumnType;
use crate::shard::{AnswerColumn, Conn};

/// SET statements whose outcome depends on nothing but the settings before, with that outcome:
/// drivers say the same ones on every connection.
#[derive(Debug, Default)]
pub struct Transitions(DashMap<(u64, Box<[u8]>), Arc<State>>);

/// Enough for every driver's habits; beyond it all are forgotten and learned anew.
const TRANSITIONS: usize = 4096;

impl Transitions {
    pub fn get(&self, from: &State, statement: &[u8]) -> Option<Arc<State>> {
        // The key is built only to look it up: SETs are rare beside statements.
        self.0.get(&(from.id(), statement.into())).map(|state| state.clone())
    }

    pub fn learn(&self, from: &State, statement: &[u8], to: &Arc<State>) {
        if self.0.len() >= TRANSITIONS {
            self.0.clear();
        }
        self.0.insert((from.id(), statement.into()), to.clone());
    }
}

/// After a statement on this connection changed these settings: the state that it is in now.
pub async fn read_back(conn: &mut Conn, engine: &Engine, assigned: &[Setting]) -> Result<Arc<State>> {
    let list: Vec<String> = assigned.iter().map(expressions).collect();
    let answer = conn.run(&format!("SELECT {}", list.join(", "))).await?;
    let row = answer.rows.first().ok_or_else(|| Error::proxy("A server gave no values of variables."))?;
    let mut values = answer.columns.iter().zip(row);
    let mut changes = Vec::new();
    for setting in assigned {
        let sql = match setting {
            Setting::System(_) => values.next().and_then(|(column, value)| system_sql(column, value.as_deref())),
            Setting::User(_) => user_sql([values.next(), values.next(), values.next(), values.next()]),
        };
        let unreadable = || Error::proxy(format!("A server gave a value of {setting:?} that can't be read."));
        changes.push((setting.clone(), sql.ok_or_else(unreadable)?));
    }
    let state = engine.states.with(conn.state(), changes);
    conn.now_in(state.clone());
    Ok(state)
}

/// What is asked for a setting: of a user variable also its bytes, character set and collation,
/// since the value itself comes converted to the client's character set.
fn expressions(setting: &Setting) -> String {
    match setting {
        Setting::System(name) => format!("@@session.{name}"),
        Setting::User(name) => {
            let name = format!("@`{}`", name.replace('`', "``"));
            format!("{name}, HEX({name}), CHARSET({name}), COLLATION({name})")
        }
    }
}

type Cell<'a> = Option<(&'a AnswerColumn, &'a Option<Vec<u8>>)>;

fn system_sql(column: &AnswerColumn, value: Option<&[u8]>) -> Option<String> {
    let Some(bytes) = value else { return Some("NULL".into()) };
    let text = std::str::from_utf8(bytes).ok()?;
    Some(if is_number(column.kind) { text.into() } else { format!("'{}'", text.replace('\'', "''")) })
}

fn user_sql([value, hex, charset, collation]: [Cell<'_>; 4]) -> Option<String> {
    let text = |cell: Cell<'_>| cell.and_then(|(_, value)| String::from_utf8(value.clone()?).ok());
    let (column, bytes) = value?;
    let Some(bytes) = bytes else { return Some("NULL".into()) };
    if is_number(column.kind) {
        let number = std::str::from_utf8(bytes).ok()?;
        let is_float = matches!(column.kind, ColumnType::Double | ColumnType::Float);
        // Without an exponent the server would read a DECIMAL.
        return Some(if is_float && !number.contains('e') { format!("{number}e0") } else { number.into() });
    }
    let (hex, charset, collation) = (text(hex)?, text(charset)?, text(collation)?);
    Some(match charset.as_str() {
        "binary" => format!("X'{hex}'"),
        _ => format!("_{charset} X'{hex}' COLLATE {collation}"),
    })
}

fn is_number(kind: ColumnType) -> bool {
    use ColumnType::{Double, Float, Int24, Long, LongLong, NewDecimal, Short, Tiny};
    matches!(kind, Tiny | Short | Int24 | Long | LongLong | NewDecimal | Double | Float)
}

/// Applies what a statement set on the connection it ran on to the session.
pub async fn follow(client: &mut Client, engine: &Engine, mut at: At<'_>, assigned: &[Setting]) -> Result<()> {
    if assigned.is_empty() {
        return Ok(());
    }
    let Some(conn) = at.conn(&mut client.hold) else {
        return Err(Error::proxy("The connection that set variables is gone; the session's settings are not known."));
    };
    let state = read_back(conn, engine, assigned).await?;
    client.set_state(state, engine);
    Ok(())
}
