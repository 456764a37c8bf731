//! A connection's opening, on both sides, up to where commands begin: greeting, TLS, password.
//! Who may log in, and what the connection is for, is said by the caller; so are deadlines.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::error::{Blame, Error, Result, code};
use crate::protocol::auth::key::LoginKey;
use crate::protocol::auth::login::{Account, Login, Step};
use crate::protocol::auth::scramble::nonce;
use crate::protocol::auth::{Plugin, answer};
use crate::protocol::err::ErrPacket;
use crate::protocol::greeting::{Greeting, Nonce};
use crate::protocol::handshake_response::{FirstPacket, HandshakeResponse, SslRequest};
use crate::protocol::ok::OkPacket;
use crate::protocol::{Capabilities, Status};
use crate::wire::framed::{Framed, Packet};
use crate::wire::tls::{Acceptor, Connector};

/// Connection attributes have 64 KiB at most, and are the longest part of a login.
const LOGIN_PACKET: usize = 96 * 1024;

/// What every client is offered.
#[derive(Clone)]
pub struct Offer {
    pub version: Vec<u8>,
    /// SSL is added where there is an acceptor.
    pub capabilities: Capabilities,
    pub collation: u8,
    pub plugin: Plugin,
    pub tls: Option<Acceptor>,
    /// Logins without TLS are turned away.
    pub tls_required: bool,
    pub key: Arc<KeyCell>,
}

/// The login key, made when a client first asks for it.
#[derive(Debug, Default)]
pub struct KeyCell(OnceCell<Arc<LoginKey>>);

impl KeyCell {
    async fn get(&self) -> Result<Arc<LoginKey>> {
        let made = self.0.get_or_try_init(|| async {
            let key = tokio::task::spawn_blocking(LoginKey::generate).await;
            key.map_err(|error| Error::proxy("No login key.").because(error))?.map(Arc::new)
        });
        made.await.cloned()
    }
}

/// A client that proved its password and waits for the OK packet.
#[derive(Debug)]
pub struct Client {
    pub conn: Framed,
    /// What both sides speak.
    pub capabilities: Capabilities,
    pub user: Vec<u8>,
    pub schema: Option<Vec<u8>>,
    /// The collation that it asked for; 0: the server's own.
    pub collation: u8,
    /// The longest packet that it takes, as it says; 0: it does not say.
    pub max_packet: u32,
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// What the password was mixed with: COM_CHANGE_USER mixes with it again.
    pub nonce: Nonce,
}

/// Takes a client through its login; the caller sends the OK packet (`conn` may hold a packet
/// queued that goes before it) or an error. None: the client left before it said anything.
/// Where the login fails, the client has been told; `denied` may put that off.
pub async fn accept(
    mut conn: Framed,
    offer: &Offer,
    connection_id: u32,
    account: impl FnOnce(&[u8]) -> Result<Account>,
    denied: impl AsyncFnOnce(&[u8]),
) -> Result<Option<Client>> {
    // Nobody may make us hold much before it has proved a password.
    let max_packet = conn.max_packet();
    conn.set_max_packet(LOGIN_PACKET.min(max_packet));
    let nonce = nonce();
    conn.queue_with(|out| offer.greeting(connection_id, nonce).write(out));
    conn.flush().await?;
    let Some(mut first) = conn.read_packet_exactly().await? else { return Ok(None) };
    if let Ok(FirstPacket::SslRequest(_)) = FirstPacket::parse(&first) {
        let Some(acceptor) = &offer.tls else { return turn_away(conn, no_tls()).await };
        conn = conn.accept_tls(acceptor).await?;
        let Some(second) = conn.read_packet().await? else { return Ok(None) };
        first = second;
    }
    let response = match FirstPacket::parse(&first) {
        Ok(FirstPacket::Response(response)) => response,
        Ok(FirstPacket::SslRequest(_)) => return turn_away(conn, no_tls()).await,
        Err(error) => return turn_away(conn, error).await,
    };
    if offer.tls_required && !conn.is_tls() {
        return turn_away(conn, tls_required()).await;
    }
    let known = match account(response.user) {
        Ok(known) => known,
        Err(error) => return turn_away(conn, error).await,
    };
    match prove(&mut conn, offer, nonce, &response, known).await {
        Ok(()) => {
            conn.set_max_packet(max_packet);
            Ok(Some(client(conn, offer, nonce, &response)))
        }
        Err(error) => {
            if error.code() == code::ACCESS_DENIED.0 {
                denied(response.user).await;
            }
            turn_away(conn, error).await
        }
    }
}

/// COM_CHANGE_USER: a password proved within a session, by the nonce of its login. The reply is
/// the caller's.
pub async fn prove_again(
    conn: &mut Framed,
    offer: &Offer,
    nonce: Nonce,
    response: &HandshakeResponse<'_>,
    account: Account,
) -> Result<()> {
    let max_packet = conn.max_packet();
    conn.set_max_packet(LOGIN_PACKET.min(max_packet));
    let proved = prove(conn, offer, nonce, response, account).await;
    conn.set_max_packet(max_packet);
    proved
}

impl Offer {
    fn greeting(&self, connection_id: u32, nonce: Nonce) -> Greeting {
        Greeting {
            version: self.version.clone(),
            connection_id,
            nonce,
            capabilities: self.offered(),
            collation: self.collation,
            status: Status::AUTOCOMMIT,
            plugin: self.plugin.name().to_vec(),
        }
    }

    fn offered(&self) -> Capabilities {
        match self.tls {
            Some(_) => self.capabilities.with(Capabilities::SSL),
            None => self.capabilities.without(Capabilities::SSL),
        }
    }
}

async fn prove(
    conn: &mut Framed,
    offer: &Offer,
    nonce: Nonce,
    response: &HandshakeResponse<'_>,
    account: Account,
) -> Result<()> {
    let (mut login, mut step) = Login::start(account, response, nonce, conn.is_tls(), offer.plugin);
    let mut with_password = !response.auth.is_empty();
    loop {
        step = match step {
            Step::Send(payload) => {
                conn.queue_packet(&payload);
                conn.flush().await?;
                let packet = conn.expect_packet().await?;
                with_password |= !packet.is_empty();
                login.feed(&packet)
            }
            Step::NeedKey => login.with_key(offer.key.get().await?),
            Step::Accepted { first } => {
                if let Some(payload) = first {
                    conn.queue_packet(&payload);
                }
                return Ok(());
            }
            Step::Denied => return Err(denied(conn, response.user, with_password)),
        };
    }
}

fn client(conn: Framed, offer: &Offer, nonce: Nonce, response: &HandshakeResponse<'_>) -> Client {
    Client {
        conn,
        capabilities: response.capabilities() & offer.offered(),
        user: response.user.to_vec(),
        schema: response.schema.map(<[u8]>::to_vec),
        collation: response.head.collation,
        max_packet: response.head.max_packet,
        attributes: response.attributes.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect(),
        nonce,
    }
}

async fn turn_away<T>(mut conn: Framed, error: Error) -> Result<T> {
    conn.queue_with(|out| ErrPacket::of(&error).write(out));
    // The client may be gone already; the error that counts is the one that it is told.
    let _ = conn.flush().await;
    Err(error)
}

fn denied(conn: &Framed, user: &[u8], with_password: bool) -> Error {
    let host = conn.peer_addr().map_or_else(|_| "?".to_owned(), |addr| addr.ip().to_string());
    let mut text = b"Access denied for user '".to_vec();
    text.extend_from_slice(user);
    let with = if with_password { "YES" } else { "NO" };
    text.extend_from_slice(format!("'@'{host}' (using password: {with})").as_bytes());
    Error::client(code::ACCESS_DENIED, text)
}

fn no_tls() -> Error {
    Error::client(code::HANDSHAKE, "Bad handshake")
}

fn tls_required() -> Error {
    Error::client(SECURE_TRANSPORT, "Connections using insecure transport are prohibited; connect with TLS")
}

const SECURE_TRANSPORT: (u16, &[u8; 5]) = (3159, b"HY000");

/// What Bifold says of itself to a server.
#[derive(Clone, Copy)]
pub struct Introduction<'a> {
    pub user: &'a [u8],
    pub password: &'a [u8],
    pub schema: Option<&'a [u8]>,
    /// A collation below 256.
    pub collation: u8,
    /// Asked for where the server offers them.
    pub capabilities: Capabilities,
    pub attributes: &'a [(&'a [u8], &'a [u8])],
    pub tls: &'a Connector,
    /// Whom the server's certificate must name.
    pub host: &'a str,
}

/// A server that let us in.
#[derive(Debug)]
pub struct Server {
    pub conn: Framed,
    pub greeting: Greeting,
    /// What both sides speak.
    pub capabilities: Capabilities,
    pub status: Status,
}

/// Logs in to a server.
pub async fn connect(mut conn: Framed, introduction: &Introduction<'_>) -> Result<Server> {
    let greeting = Greeting::parse(&conn.expect_packet().await?)?;
    let tls = introduction.tls.choose(greeting.capabilities.has(Capabilities::SSL))?;
    let mut head = introduction.head(&greeting);
    if let Some(connector) = tls {
        head.capabilities = head.capabilities.with(Capabilities::SSL);
        conn.queue_with(|out| head.write(out));
        conn.flush().await?;
        conn = conn.connect_tls(connector, introduction.host).await?;
    }
    let (answer, proof) = answer::Answer::start(introduction.password, &greeting.plugin, greeting.nonce, conn.is_tls());
    let response = HandshakeResponse {
        head,
        user: introduction.user,
        auth: &proof,
        schema: introduction.schema,
        plugin: Some(answer.plugin().name()),
        attributes: introduction.attributes.to_vec(),
        zstd_level: None,
    };
    conn.queue_with(|out| response.write(out));
    conn.flush().await?;
    let last = convince(&mut conn, answer).await?;
    let status = OkPacket::parse(&last, head.capabilities)?.status;
    Ok(Server { conn, greeting, capabilities: head.capabilities, status })
}

impl Introduction<'_> {
    fn head(&self, greeting: &Greeting) -> SslRequest {
        let needed = Capabilities::LONG_PASSWORD
            .with(Capabilities::PROTOCOL_41)
            .with(Capabilities::SECURE_CONNECTION)
            .with(Capabilities::PLUGIN_AUTH);
        // LONG_PASSWORD is always understood; MariaDB leaves it out of its greeting to say that
        // it has capabilities of its own.
        let offered = greeting.capabilities.with(Capabilities::LONG_PASSWORD).without(Capabilities::SSL);
        let mut capabilities = (self.capabilities | needed) & offered;
        if self.schema.is_none() {
            capabilities = capabilities.without(Capabilities::CONNECT_WITH_DB);
        } else {
            capabilities = capabilities.with(Capabilities::CONNECT_WITH_DB);
        }
        SslRequest { capabilities, max_packet: 1 << 30, collation: self.collation }
    }
}

/// The server's OK packet, once it is satisfied.
async fn convince(conn: &mut Framed, mut answer: answer::Answer) -> Result<Packet> {
    loop {
        let packet = conn.expect_packet().await?;
        match answer.feed(&packet).map_err(refused)? {
            answer::Step::Done => return Ok(packet),
            answer::Step::Wait => {}
            answer::Step::Send(payload) => {
                conn.queue_packet(&payload);
                conn.flush().await?;
            }
        }
    }
}

/// A refused login is the operator's to mend, whatever the server calls it.
fn refused(error: Error) -> Error {
    match error.code() {
        1044 | 1045 | 1049 | 1698 => {
            Error::new(Blame::Operator, (error.code(), error.state()), error.text()).because("login to a server")
        }
        _ => error,
    }
}
