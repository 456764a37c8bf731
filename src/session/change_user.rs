//! COM_CHANGE_USER: another login on the same connection. Whatever comes of it, nothing is left of
//! the session before but, where it fails on MariaDB, its user and schema.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use tokio::time::sleep;

use super::Login;
use super::login::{Door, account, settings};
use crate::error::{Error, Result, code};
use crate::execute::{Client, Engine, allowed_schema};
use crate::protocol::change_user::ChangeUser;
use crate::registry::Who;
use crate::sql::Flavour;
use crate::wire::login;

pub(super) async fn run(
    client: &mut Client,
    engine: &Engine,
    door: &Door,
    login: &mut Login,
    packet: &[u8],
) -> Result<()> {
    // 1. The session before is over: transaction, locks, temporary tables
    client.hold.abandon().await;
    // 2. A password proved
    let change = ChangeUser::parse(packet, client.capabilities)?;
    let response = &change.response;
    let from = client.wire.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |from| from.ip());
    if let Err(error) = door.throttle.admit(response.user, from, Instant::now()) {
        return turn_away(client, engine, login, error).await;
    }
    let known = account(engine, response.user);
    if let Err(error) = login::prove_again(&mut client.wire, &door.offer, login.nonce, response, known).await {
        if error.code() == code::ACCESS_DENIED.0 {
            sleep(door.throttle.failed(response.user, from, Instant::now())).await;
        }
        return turn_away(client, engine, login, error).await;
    }
    door.throttle.succeeded(response.user, from);
    let user = engine.user(response.user).cloned();
    let user = user.ok_or_else(|| Error::proxy("A user was let in who is not known."))?;
    // 3. Its schema
    let schema = match response.schema {
        Some(name) => match allowed_schema(&user, &String::from_utf8_lossy(name), engine) {
            Ok(schema) => Some(schema),
            Err(error) => return turn_away(client, engine, login, error).await,
        },
        None => None,
    };
    // 4. The session of that user, as after its login
    login.state = engine.states.of(settings(change.collation.unwrap_or(0), client.capabilities, engine));
    let host = client.entry.listed().who().host;
    client.entry.listed().set_who(Who { user: user.name.clone(), host, schema: None });
    client.become_user(user, login.state.clone(), engine);
    client.set_schema(schema);
    client.reply_ok().await
}

/// MySQL disconnects; MariaDB goes on as the user that it was.
async fn turn_away(client: &mut Client, engine: &Engine, login: &Login, error: Error) -> Result<()> {
    if error.ends_session() {
        return Err(error);
    }
    match engine.profile.dialect.flavour {
        Flavour::MySql => {
            client.reply_error(&error).await?;
            Err(error.ending_session())
        }
        Flavour::MariaDb => {
            let (user, schema) = (client.user.clone(), client.schema.clone());
            client.become_user(user, login.state.clone(), engine);
            client.set_schema(schema);
            Err(error)
        }
    }
}
