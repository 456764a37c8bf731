//! The right side of an assignment that the proxy itself needs, as a value.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::execute::client::Client;
use crate::execute::exchange;
use crate::execute::statement::Running;
use crate::plan::local::Operand;
use crate::plan::{Effect, Item, Plan};
use crate::protocol::column::ColumnType;
use crate::protocol::text;
use crate::route::Routed;
use crate::sql::{Span, literal};
use crate::value::Value;

/// What an operand turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Null,
    Default,
    Integer(i128),
    /// Any other number, as text.
    Number(String),
    Word(String),
}

impl Given {
    /// As error texts quote it, and as lists of allowed values spell it.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Given::Null => "NULL".into(),
            Given::Default => "default".into(),
            Given::Integer(int) => int.to_string().into(),
            Given::Number(text) | Given::Word(text) => text.into(),
        }
    }
}

pub(super) async fn given(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    operand: &Operand,
) -> Result<Given> {
    match operand {
        Operand::Word(word) => Ok(Given::Word(word.to_string())),
        Operand::Default => Ok(Given::Default),
        Operand::Literal { from, to } => written(running, client, *from, *to),
        Operand::Ask(planned) => {
            let asking = Running { planned, ..*running };
            let Plan::Single(single) = &planned.plan else {
                return Err(Error::proxy("Bifold: a value to ask for is not one server's."));
            };
            let server = exchange::one_server(&asking, client, routed, single).await?;
            let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
            let conn = client.hold.connection(&running.engine.servers, server, need).await?;
            let answer = conn.run_bytes(&routed.buffer[routed.parts[0].text.clone()]).await?;
            let cell = answer.rows.first().and_then(|row| row.first()).and_then(Option::as_ref);
            let (Some(cell), Some(column)) = (cell, answer.columns.first()) else { return Ok(Given::Null) };
            let text = String::from_utf8_lossy(cell).into_owned();
            Ok(match column.kind {
                ColumnType::Tiny | ColumnType::Short | ColumnType::Int24 | ColumnType::Long | ColumnType::LongLong => {
                    text.parse().map_or(Given::Number(text), Given::Integer)
                }
                ColumnType::Float | ColumnType::Double | ColumnType::Decimal | ColumnType::NewDecimal => {
                    Given::Number(text)
                }
                _ => Given::Word(text),
            })
        }
    }
}

/// A literal of the text.
fn written(running: &Running<'_>, client: &Client, from: Item, to: Item) -> Result<Given> {
    let statement = &running.statement;
    let (first, end) = (statement.fingerprint.token_of(from.0), statement.fingerprint.token_of(to.0));
    let mut scratch = Vec::new();
    literal::value(&statement.source, Span::new(first, end), client.charset(), &mut scratch)
        .map(|value| of_value(&value))
        .ok_or_else(|| {
            Error::refused("Bifold: a value of this form can't be assigned here; write a plain number or string.")
        })
}

fn of_value(value: &Value<'_>) -> Given {
    let spelled = || {
        let mut out = Vec::new();
        text::spell(&mut out, value);
        String::from_utf8_lossy(&out).into_owned()
    };
    match value {
        Value::Null => Given::Null,
        Value::Int(int) => Given::Integer(i128::from(*int)),
        Value::UInt(int) => Given::Integer(i128::from(*int)),
        Value::Decimal(_) | Value::Double(_) | Value::Float(_) => Given::Number(spelled()),
        Value::Text { .. }
        | Value::Binary(_)
        | Value::Hex { .. }
        | Value::Date { .. }
        | Value::DateTime { .. }
        | Value::Time { .. } => Given::Word(spelled()),
    }
}
