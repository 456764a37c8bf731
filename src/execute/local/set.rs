//! SET, step by step. What a server can check it checks first, so that a statement with a wrong
//! name or value changes nothing.

use std::sync::Arc;

use super::done;
use super::operand::{Given, given};
use crate::context::Setting;
use crate::error::{Error, Result};
use crate::execute::client::{Client, Diagnostic};
use crate::execute::exchange::At;
use crate::execute::statement::Running;
use crate::execute::{exchange, settings, single};
use crate::plan::local::{Characteristic, Step};
use crate::plan::{Effect, Plan, Planned};
use crate::protocol::ok::OkPacket;
use crate::route::Routed;
use crate::sql::Flavour;
use crate::transaction::Ending;

pub(super) async fn run(running: &Running<'_>, client: &mut Client, routed: &mut Routed, steps: &[Step]) -> Result<()> {
    let before = client.state().clone();
    let warned = match take(running, client, routed, steps).await {
        Ok(warned) => warned,
        Err(error) => {
            client.set_state(before, running.engine);
            return Err(error);
        }
    };
    if warned.is_empty() {
        return done(client).await;
    }
    client.memory.row_count = 0;
    let warnings = u16::try_from(warned.len()).unwrap_or(u16::MAX);
    client.memory.diagnostics = warned;
    client.reply_ok_of(OkPacket { warnings, ..OkPacket::default() }).await
}

/// What servers warned of.
async fn take(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    steps: &[Step],
) -> Result<Vec<Diagnostic>> {
    let mut warned = Vec::new();
    for step in steps {
        match step {
            Step::Check { variable, value, allowed, why } => {
                let value = given(running, client, routed, value).await?;
                if value != Given::Default && !allowed.contains(&value.text().to_ascii_lowercase().as_str()) {
                    return Err(Error::refused(format!("Bifold: {variable} can't be set to {}: {why}.", value.text())));
                }
            }
            Step::Server(planned) => warned.extend(on_server(running, client, routed, planned, steps).await?),
            Step::Default(setting) => forget(running, client, setting),
            Step::DefaultIfZero { setting, value } => {
                if matches!(given(running, client, routed, value).await?, Given::Integer(0) | Given::Default) {
                    forget(running, client, setting);
                }
            }
            Step::Autocommit(value) => {
                let value = given(running, client, routed, value).await?;
                autocommit(running, client, &value).await?;
            }
            Step::NextTransaction(what) => next_transaction(running, client, routed, what).await?,
            Step::LastInsertId(value) => {
                let value = given(running, client, routed, value).await?;
                client.memory.last_insert_id = last_insert_id(&value)?;
            }
        }
    }
    Ok(warned)
}

/// What is remembered needs no server; what warned is not remembered, for the warning's sake.
pub(super) async fn follow(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    planned: &Arc<Planned>,
) -> Result<()> {
    let (engine, text) = (running.engine, running.statement.source.text);
    let before = client.state().clone();
    if let Some(after) = engine.transitions.get(&before, text) {
        client.set_state(after, engine);
        return done(client).await;
    }
    let setting = Running { planned, ..*running };
    let Plan::Single(single) = &planned.plan else {
        return Err(Error::proxy("Bifold: a SET is not one server's."));
    };
    single::run(setting, client, routed, single).await?;
    if !client.memory.in_error && client.memory.diagnostics.is_empty() {
        engine.transitions.learn(&before, text, client.state());
    }
    Ok(())
}

async fn on_server(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    planned: &Arc<Planned>,
    steps: &[Step],
) -> Result<Vec<Diagnostic>> {
    let setting = Running { planned, ..*running };
    let Plan::Single(single) = &planned.plan else {
        return Err(Error::proxy("Bifold: a SET is not one server's."));
    };
    let server = exchange::one_server(&setting, client, routed, single).await?;
    let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
    let conn = client.hold.connection(&running.engine.servers, server, need).await?;
    let answer = conn.run_bytes(&routed.buffer[routed.parts[0].text.clone()]).await?;
    let warned = match answer.warnings {
        0 => Vec::new(),
        _ => exchange::diagnostics(&conn.run("SHOW WARNINGS").await?, &[]),
    };
    // What the text set to DEFAULT is so on this connection; should the session not follow, or come
    // back to what it was, the connection has to be brought there.
    for step in steps {
        if let Step::Default(setting) = step {
            let state = running.engine.states.without(conn.state(), setting);
            conn.now_in(state);
        }
    }
    settings::follow(client, running.engine, At::Held(server), &planned.assigns).await?;
    Ok(warned)
}

/// Back to what a connection has at first.
fn forget(running: &Running<'_>, client: &mut Client, setting: &Setting) {
    let state = running.engine.states.without(client.state(), setting);
    client.set_state(state, running.engine);
}

async fn autocommit(running: &Running<'_>, client: &mut Client, value: &Given) -> Result<()> {
    let engine = running.engine;
    let on = match value {
        Given::Default => engine.profile.autocommit,
        other => switch("autocommit", other)?,
    };
    if on && !client.autocommit() && client.hold.in_transaction() {
        client.hold.end(Ending::Commit).await?;
    }
    let setting = Setting::System("autocommit".into());
    let state = match on == engine.profile.autocommit {
        true => engine.states.without(client.state(), &setting),
        false => engine.states.with(client.state(), [(setting, u8::from(on).to_string())]),
    };
    client.set_state(state, engine);
    Ok(())
}

async fn next_transaction(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    what: &Characteristic,
) -> Result<()> {
    if client.hold.in_transaction() {
        return Err(Error::client(
            (1568, b"25001"),
            "Transaction characteristics can't be changed while a transaction is in progress",
        ));
    }
    match what {
        Characteristic::Isolation(value) => {
            let level = given(running, client, routed, value).await?;
            let variable = match running.engine.profile.dialect.flavour {
                Flavour::MySql => "transaction_isolation",
                Flavour::MariaDb => "tx_isolation",
            };
            client.hold.isolate_next(isolation(variable, &level)?);
        }
        Characteristic::ReadOnly(value) => {
            let read_only = switch("transaction_read_only", &given(running, client, routed, value).await?)?;
            client.hold.access_next(if read_only { "READ ONLY" } else { "READ WRITE" });
        }
    }
    Ok(())
}

/// An isolation level in the words of SET TRANSACTION.
fn isolation(variable: &str, level: &Given) -> Result<&'static str> {
    let text = level.text().to_ascii_uppercase();
    match (level, text.as_str()) {
        (Given::Word(_), "READ-UNCOMMITTED") | (Given::Integer(0), _) => Ok("READ UNCOMMITTED"),
        (Given::Word(_), "READ-COMMITTED") | (Given::Integer(1), _) => Ok("READ COMMITTED"),
        (Given::Word(_), "REPEATABLE-READ") | (Given::Integer(2), _) | (Given::Default, _) => Ok("REPEATABLE READ"),
        (Given::Word(_), "SERIALIZABLE") | (Given::Integer(3), _) => Ok("SERIALIZABLE"),
        (_, _) => Err(wrong_value(variable, level)),
    }
}

/// ON, OFF, 1, 0, TRUE, FALSE.
fn switch(variable: &str, value: &Given) -> Result<bool> {
    match value {
        Given::Integer(0) => Ok(false),
        Given::Integer(1) => Ok(true),
        Given::Word(word) if ["on", "true"].iter().any(|on| word.eq_ignore_ascii_case(on)) => Ok(true),
        Given::Word(word) if ["off", "false"].iter().any(|off| word.eq_ignore_ascii_case(off)) => Ok(false),
        Given::Number(_) => Err(wrong_type(variable)),
        Given::Integer(_) | Given::Word(_) | Given::Null | Given::Default => Err(wrong_value(variable, value)),
    }
}

fn last_insert_id(value: &Given) -> Result<u64> {
    match value {
        Given::Integer(int) => Ok(u64::try_from(*int).unwrap_or(if *int < 0 { 0 } else { u64::MAX })),
        Given::Default => {
            Err(Error::client((1230, b"42000"), "Variable 'last_insert_id' doesn't have a default value"))
        }
        Given::Null | Given::Number(_) | Given::Word(_) => Err(wrong_type("last_insert_id")),
    }
}

fn wrong_value(variable: &str, value: &Given) -> Error {
    Error::client((1231, b"42000"), format!("Variable '{variable}' can't be set to the value of '{}'", value.text()))
}

fn wrong_type(variable: &str) -> Error {
    Error::client((1232, b"42000"), format!("Incorrect argument type to variable '{variable}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Given {
        Given::Word(text.into())
    }

    #[test]
    fn switches_take_what_servers_take() {
        for (value, on) in
            [(Given::Integer(1), true), (word("oN"), true), (word("OFF"), false), (Given::Integer(0), false)]
        {
            assert_eq!(switch("autocommit", &value).expect("taken"), on);
        }
        for (value, code) in
            [(Given::Integer(2), 1231), (word("1"), 1231), (Given::Null, 1231), (Given::Number("1.0".into()), 1232)]
        {
            assert_eq!(switch("autocommit", &value).expect_err("refused").code(), code);
        }
    }
}
