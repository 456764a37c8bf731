//! Logging in to a server with the backend account, and what a session has after it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::conn::ReplyShape;
use super::fence::Fence;
use super::statements::Budget;
use crate::config::{Backend, Secret};
use crate::context::{Setting, State, States};
use crate::error::{Blame, Error, Result};
use crate::protocol::Capabilities;
use crate::wire::login::{self, Introduction};
use crate::wire::tls::Connector;
use crate::wire::{Framed, Peer};

/// utf8mb4_general_ci: every server knows it, and what it sets is known here.
const COLLATION: u8 = 45;

/// Servers send rows of at most 1 GiB.
const MAX_PACKET: usize = 1 << 30;

/// What is said at every login, to which server.
#[derive(Clone)]
pub struct Login {
    server: String,
    address: String,
    host: String,
    user: String,
    password: Secret,
    tls: Connector,
    connect: Duration,
    budget: Arc<Budget>,
    base: Arc<State>,
    fence: Option<Arc<Fence>>,
    greeting_version: OnceLock<Vec<u8>>,
}

impl Login {
    pub fn new(
        server: &crate::topology::Server,
        backend: &Backend,
        states: &States,
        fence: Option<Arc<Fence>>,
    ) -> Result<Self> {
        let setting = |name: &str, value: &str| (Setting::System(name.into()), value.to_owned());
        Ok(Login {
            server: server.name.clone(),
            address: server.address(),
            host: server.host.clone(),
            user: backend.user.clone(),
            password: backend.password.clone(),
            tls: Connector::new(&backend.tls)?,
            connect: backend.connect,
            budget: Arc::new(Budget::new(usize::try_from(backend.statements).expect("32 bits fit"))),
            base: states.of([
                setting("character_set_client", "'utf8mb4'"),
                setting("character_set_results", "'utf8mb4'"),
                setting("collation_connection", "'utf8mb4_general_ci'"),
            ]),
            fence,
            greeting_version: OnceLock::new(),
        })
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn fence(&self) -> Option<&Arc<Fence>> {
        self.fence.as_ref()
    }

    /// The settings of a fresh login.
    pub fn base(&self) -> &Arc<State> {
        &self.base
    }

    /// What the server's connections may keep prepared.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// What the server's greetings call its version; empty before the first.
    pub fn greeting_version(&self) -> Vec<u8> {
        self.greeting_version.get().cloned().unwrap_or_default()
    }

    pub async fn open(&self, shape: ReplyShape) -> Result<login::Server> {
        let opened = match timeout(self.connect, self.log_in(shape)).await {
            Ok(opened) => opened,
            Err(_) => Err(Error::shard(format!("no answer within {} ms", self.connect.as_millis()), "deadline")),
        };
        let server = opened.map_err(|error| self.named(error))?;
        let _ = self.greeting_version.set(server.greeting.version.clone());
        Ok(server)
    }

    async fn log_in(&self, shape: ReplyShape) -> Result<login::Server> {
        let tcp = TcpStream::connect(&self.address)
            .await
            .map_err(|error| Error::new(Blame::Shard, CONN_HOST_ERROR, error.to_string()))?;
        let capabilities = Capabilities::LONG_FLAG
            | Capabilities::TRANSACTIONS
            | Capabilities::PLUGIN_AUTH_LENENC
            | Capabilities::CONNECT_ATTRS
            | Capabilities::LOCAL_FILES
            | shape.capabilities();
        let introduction = Introduction {
            user: self.user.as_bytes(),
            password: self.password.reveal().as_bytes(),
            schema: None,
            collation: COLLATION,
            capabilities,
            attributes: &[(b"_client_name", b"bifold")],
            tls: &self.tls,
            host: &self.host,
        };
        login::connect(Framed::new(tcp, Peer::Server, MAX_PACKET), &introduction).await
    }

    /// The error with the server's name; the client may try again.
    fn named(&self, error: Error) -> Error {
        let said = String::from_utf8_lossy(error.text()).into_owned();
        let text = format!("Bifold: server {} can't be used: {said}", self.server);
        let cause =
            error.cause().filter(|cause| !said.contains(cause)).map_or_else(String::new, |cause| format!(": {cause}"));
        let cause = format!("logging in to {}{cause}", self.address);
        error.with_text(text).because(cause).retryable()
    }
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Login({}, {})", self.server, self.address)
    }
}

const CONN_HOST_ERROR: (u16, &[u8; 5]) = (2003, b"HY000");
