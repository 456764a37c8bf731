//! From a client that proved its password to a session of its user: settings as its login asked
//! for them, and its default schema.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;

use super::Login;
use super::throttle::Throttle;
use crate::config::{Config, ListenTlsMode};
use crate::context::Setting;
use crate::error::{Error, Result};
use crate::execute::{Client, Engine};
use crate::protocol::Capabilities;
use crate::protocol::auth::Plugin;
use crate::protocol::auth::login::Account;
use crate::registry::ClientId;
use crate::wire::Framed;
use crate::wire::login::{self, Offer};
use crate::wire::tls::Acceptor;

/// Each of these is honoured; TLS comes with a certificate.
const OFFERED: [Capabilities; 20] = [
    Capabilities::LONG_PASSWORD,
    Capabilities::FOUND_ROWS,
    Capabilities::LONG_FLAG,
    Capabilities::CONNECT_WITH_DB,
    Capabilities::COMPRESS,
    Capabilities::ODBC,
    Capabilities::LOCAL_FILES,
    Capabilities::IGNORE_SPACE,
    Capabilities::PROTOCOL_41,
    Capabilities::INTERACTIVE,
    Capabilities::IGNORE_SIGPIPE,
    Capabilities::TRANSACTIONS,
    Capabilities::SECURE_CONNECTION,
    Capabilities::MULTI_STATEMENTS,
    Capabilities::MULTI_RESULTS,
    Capabilities::PS_MULTI_RESULTS,
    Capabilities::PLUGIN_AUTH,
    Capabilities::CONNECT_ATTRS,
    Capabilities::PLUGIN_AUTH_LENENC,
    Capabilities::DEPRECATE_EOF,
];

/// What all logins of a proxy share.
pub struct Door {
    pub offer: Offer,
    pub throttle: Throttle,
}

impl Door {
    pub fn new(config: &Config, version: Vec<u8>) -> Result<Self> {
        Ok(Door { offer: offer(config, version)?, throttle: Throttle::default() })
    }
}

/// What the proxy greets clients with.
fn offer(config: &Config, version: Vec<u8>) -> Result<Offer> {
    let tls = config.listen.tls.as_ref();
    Ok(Offer {
        version,
        capabilities: OFFERED.into_iter().fold(Capabilities::NONE, Capabilities::with),
        collation: 45,
        plugin: Plugin::CachingSha2,
        tls: tls.map(|tls| Acceptor::load(&tls.cert, &tls.key)).transpose()?,
        tls_required: tls.is_some_and(|tls| tls.mode == ListenTlsMode::Required),
        key: Arc::default(),
    })
}

/// Lets a client in; `None` where it left before it said anything. The deadline is the caller's.
/// `place`: what it takes of the bound on clients; who waits for a refusal takes none.
pub async fn log_in(
    wire: Framed,
    id: ClientId,
    from: SocketAddr,
    engine: &Engine,
    door: &Door,
    place: &mut Option<OwnedSemaphorePermit>,
) -> Result<Option<(Client, Login)>> {
    // 1. A password proved
    let known = |name: &[u8]| {
        door.throttle.admit(name, from.ip(), Instant::now())?;
        Ok(account(engine, name))
    };
    let denied = async |name: &[u8]| {
        place.take();
        sleep(door.throttle.failed(name, from.ip(), Instant::now())).await;
    };
    let Some(admitted) = login::accept(wire, &door.offer, id.0, known, denied).await? else { return Ok(None) };
    door.throttle.succeeded(&admitted.user, from.ip());
    let user =
        engine.user(&admitted.user).cloned().ok_or_else(|| Error::proxy("A user was let in who is not known."))?;
    // 2. A session of that user
    let state = engine.states.of(settings(admitted.collation.into(), admitted.capabilities, engine));
    let login = Login { state: state.clone(), nonce: admitted.nonce };
    let mut client = Client::new(admitted.conn, id, user, from, admitted.capabilities, state, engine);
    // 3. Its schema
    if let Some(name) = admitted.schema {
        match client.allowed_schema(&String::from_utf8_lossy(&name), engine) {
            Ok(schema) => client.set_schema(Some(schema)),
            Err(error) => {
                client.reply_error(&error).await?;
                return Err(error);
            }
        }
    }
    client.reply_ok().await?;
    // 4. All that follows compressed, if the client wants it
    if admitted.capabilities.has(Capabilities::COMPRESS) {
        client.wire = client.wire.compress()?;
    }
    Ok(Some((client, login)))
}

pub(super) fn account(engine: &Engine, name: &[u8]) -> Account {
    Account {
        password: engine.user(name).map(|user| user.password.reveal().as_bytes().to_vec()),
        plugin: None,
        always_full: false,
    }
}

/// What a server's session would begin with after the same login.
pub(super) fn settings(collation: u16, capabilities: Capabilities, engine: &Engine) -> Vec<(Setting, String)> {
    let (charset, collation) = engine.profile.collation(collation);
    let setting = |name: &str, value: &str| (Setting::System(name.into()), format!("'{value}'"));
    let mut settings = vec![
        setting("character_set_client", charset),
        setting("character_set_results", charset),
        setting("collation_connection", collation),
    ];
    if capabilities.has(Capabilities::IGNORE_SPACE) {
        let modes = &engine.profile.sql_mode;
        let comma = if modes.is_empty() { "" } else { "," };
        settings.push(setting("sql_mode", &format!("{modes}{comma}IGNORE_SPACE")));
    }
    settings
}
