//! A client's login, seen by the server: payloads in, steps out. The password is known in clear,
//! so a right scramble is seen as right at once; the full exchange of caching_sha2_password is
//! there for a client whose first answer is no scramble, and for whoever asks for it.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>

use std::sync::Arc;

use crate::protocol::auth::Plugin;
use crate::protocol::auth::key::LoginKey;
use crate::protocol::auth::scramble::{same, scramble};
use crate::protocol::auth_switch::{AuthMoreData, AuthSwitchRequest};
use crate::protocol::greeting::Nonce;
use crate::protocol::handshake_response::HandshakeResponse;

/// What is known of the account that a client names.
#[derive(Clone, Debug)]
pub struct Account {
    /// None: there is no such account. It takes the same steps, and fails.
    pub password: Option<Vec<u8>>,
    /// The only plugin to prove the password by; None: the one that the client begins with.
    pub plugin: Option<Plugin>,
    /// Never take the fast path of caching_sha2_password.
    pub always_full: bool,
}

#[derive(Debug)]
pub enum Step {
    /// Send this payload and feed the client's next one.
    Send(Vec<u8>),
    /// Get the key pair and call `with_key`.
    NeedKey,
    /// The client is who it says. Before the OK packet goes this payload, if any.
    Accepted { first: Option<Vec<u8>> },
    /// It is not: error 1045.
    Denied,
}

#[derive(Debug)]
pub struct Login {
    account: Account,
    nonce: Nonce,
    /// The connection is under TLS: a password may be sent over it.
    secure: bool,
    key: Option<Arc<LoginKey>>,
    state: State,
}

#[derive(Debug)]
enum State {
    Answer(Plugin),
    /// The full exchange: the client sends the password, or asks for the key.
    Full,
    /// The same, held up by the missing key.
    WaitsForKey(Vec<u8>),
    Over,
}

const FAST_OK: &[u8] = &[0x03];
const FULL_WANTED: &[u8] = &[0x04];
const KEY_REQUEST: &[u8] = &[0x02];

impl Login {
    /// `nonce`: the greeting's. `secure`: the connection is under TLS. A client that begins with
    /// another plugin than the account's, or one that is not known here, is asked to switch to the
    /// account's or to `default`.
    pub fn start(
        account: Account,
        response: &HandshakeResponse<'_>,
        nonce: Nonce,
        secure: bool,
        default: Plugin,
    ) -> (Self, Step) {
        let begun = match response.plugin {
            Some(name) => Plugin::by_name(name),
            None => Some(Plugin::NativePassword),
        };
        let wanted = account.plugin.or(begun).unwrap_or(default);
        let mut login = Login { account, nonce, secure, key: None, state: State::Answer(wanted) };
        let step = match begun {
            Some(plugin) if plugin == wanted => login.feed(response.auth),
            Some(_) | None => login.switch(wanted),
        };
        (login, step)
    }

    /// The client's next payload.
    pub fn feed(&mut self, payload: &[u8]) -> Step {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Answer(plugin) => self.answer(plugin, payload),
            State::Full => self.full(payload),
            State::WaitsForKey(_) | State::Over => Step::Denied,
        }
    }

    /// After `NeedKey`.
    pub fn with_key(&mut self, key: Arc<LoginKey>) -> Step {
        self.key = Some(key);
        match std::mem::replace(&mut self.state, State::Over) {
            State::WaitsForKey(payload) => self.full(&payload),
            State::Answer(_) | State::Full | State::Over => Step::Denied,
        }
    }

    fn switch(&mut self, plugin: Plugin) -> Step {
        let mut payload = Vec::new();
        AuthSwitchRequest { plugin: plugin.name(), data: &self.nonce }.write(&mut payload);
        Step::Send(payload)
    }

    fn answer(&mut self, plugin: Plugin, proof: &[u8]) -> Step {
        let Some(password) = &self.account.password else { return Step::Denied };
        // Clients of caching_sha2_password send an empty password as a zero byte.
        let empty = matches!(proof, b"" | b"\0");
        if empty || password.is_empty() {
            return if empty && password.is_empty() { Step::Accepted { first: None } } else { Step::Denied };
        }
        let expected = scramble(plugin, password, &self.nonce);
        let right = same(proof, &expected);
        match plugin {
            Plugin::NativePassword if right => Step::Accepted { first: None },
            Plugin::NativePassword => Step::Denied,
            Plugin::CachingSha2 if self.account.always_full || proof.len() != expected.len() => {
                self.state = State::Full;
                Step::Send(more_data(FULL_WANTED))
            }
            Plugin::CachingSha2 if right => Step::Accepted { first: Some(more_data(FAST_OK)) },
            Plugin::CachingSha2 => Step::Denied,
        }
    }

    fn full(&mut self, payload: &[u8]) -> Step {
        if self.secure {
            return self.judge(payload.strip_suffix(b"\0"));
        }
        let Some(key) = self.key.clone() else {
            self.state = State::WaitsForKey(payload.to_vec());
            return Step::NeedKey;
        };
        if payload == KEY_REQUEST {
            self.state = State::Full;
            return Step::Send(more_data(key.public_pem()));
        }
        self.judge(key.decrypt(payload, &self.nonce).as_deref())
    }

    fn judge(&self, given: Option<&[u8]>) -> Step {
        match (&self.account.password, given) {
            (Some(password), Some(given)) if same(password, given) => Step::Accepted { first: None },
            (_, _) => Step::Denied,
        }
    }
}

fn more_data(data: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    AuthMoreData { data }.write(&mut payload);
    payload
}
