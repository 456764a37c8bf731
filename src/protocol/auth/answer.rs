//! Bifold's own login to a server, seen by the client: payloads in, steps out. A password goes
//! out only scrambled, under TLS, or under the server's RSA key.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html>

use crate::error::{Blame, Error, Result, code};
use crate::protocol::auth::Plugin;
use crate::protocol::auth::key::encrypt;
use crate::protocol::auth::scramble::scramble;
use crate::protocol::auth_switch::{AuthMoreData, AuthSwitchRequest};
use crate::protocol::err::ErrPacket;
use crate::protocol::greeting::Nonce;
use crate::protocol::payload::malformed;

#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Send this payload and feed the server's next one.
    Send(Vec<u8>),
    /// Feed the server's next payload.
    Wait,
    /// The login is done; the payload just fed is the server's OK packet.
    Done,
}

#[derive(Debug)]
pub struct Answer {
    password: Vec<u8>,
    nonce: Nonce,
    plugin: Plugin,
    /// The connection is under TLS: a password may be sent over it.
    secure: bool,
    key_asked: bool,
}

impl Answer {
    /// The state, and what goes into the handshake response: its plugin (`plugin`) and proof.
    /// A plugin that is not known here is answered as caching_sha2_password, whereupon the
    /// server asks for the switch that the account needs.
    pub fn start(password: &[u8], plugin: &[u8], nonce: Nonce, secure: bool) -> (Self, Vec<u8>) {
        let plugin = Plugin::by_name(plugin).unwrap_or(Plugin::CachingSha2);
        let proof = scramble(plugin, password, &nonce);
        (Answer { password: password.to_vec(), nonce, plugin, secure, key_asked: false }, proof)
    }

    pub fn plugin(&self) -> Plugin {
        self.plugin
    }

    /// The server's next payload. An error is the server's refusal, or ours of what it asks.
    pub fn feed(&mut self, payload: &[u8]) -> Result<Step> {
        match payload.first() {
            Some(0x00) => Ok(Step::Done),
            Some(0xFF) => Err(ErrPacket::parse(payload)?.into_error()),
            Some(0xFE) => self.switch(AuthSwitchRequest::parse(payload)?),
            Some(0x01) => self.more(AuthMoreData::parse(payload)?.data),
            Some(_) | None => Err(malformed()),
        }
    }

    fn switch(&mut self, request: AuthSwitchRequest<'_>) -> Result<Step> {
        if request.plugin == b"mysql_clear_password" {
            return self.clear();
        }
        self.plugin = Plugin::by_name(request.plugin).ok_or_else(|| unknown_plugin(request.plugin))?;
        if let Some(nonce) = request.data.first_chunk() {
            self.nonce = *nonce;
        }
        Ok(Step::Send(scramble(self.plugin, &self.password, &self.nonce)))
    }

    fn more(&mut self, data: &[u8]) -> Result<Step> {
        match (self.plugin, data) {
            (Plugin::CachingSha2, [0x03]) => Ok(Step::Wait),
            (Plugin::CachingSha2, [0x04]) if self.secure => self.clear(),
            (Plugin::CachingSha2, [0x04]) => {
                self.key_asked = true;
                Ok(Step::Send(vec![0x02]))
            }
            (Plugin::CachingSha2, pem) if self.key_asked => {
                self.key_asked = false;
                Ok(Step::Send(encrypt(&self.password, &self.nonce, pem)?))
            }
            (Plugin::CachingSha2 | Plugin::NativePassword, _) => Err(malformed()),
        }
    }

    fn clear(&self) -> Result<Step> {
        if !self.secure {
            let text = "A server asks for the password in clear over a connection without TLS; set tls for it.";
            return Err(Error::new(Blame::Operator, code::ACCESS_DENIED, text));
        }
        let mut payload = self.password.clone();
        payload.push(0);
        Ok(Step::Send(payload))
    }
}

fn unknown_plugin(name: &[u8]) -> Error {
    let text = format!(
        "A server's account uses the plugin {}; Bifold knows mysql_native_password and caching_sha2_password.",
        String::from_utf8_lossy(name)
    );
    Error::new(Blame::Operator, code::ACCESS_DENIED, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::captured::{MYSQL_KEY, unhex};

    const NONCE: Nonce = *b"01234567890123456789";

    #[test]
    fn a_password_is_never_sent_in_clear_without_tls() {
        let (mut answer, _) = Answer::start(b"secret", b"caching_sha2_password", NONCE, false);
        assert_eq!(answer.feed(b"\x01\x04").expect("asks for the key"), Step::Send(vec![2]));
        let Step::Send(encrypted) = answer.feed(&unhex(MYSQL_KEY)[4..]).expect("encrypts") else {
            panic!("nothing is sent")
        };
        assert_eq!(encrypted.len(), 256);
        let clear = b"\xFEmysql_clear_password\0";
        assert!(answer.feed(clear).is_err());
        let (mut answer, _) = Answer::start(b"secret", b"caching_sha2_password", NONCE, true);
        assert_eq!(answer.feed(b"\x01\x04").expect("sends it"), Step::Send(b"secret\0".to_vec()));
        assert_eq!(answer.feed(clear).expect("sends it"), Step::Send(b"secret\0".to_vec()));
    }

    #[test]
    fn a_switch_takes_the_new_nonce_and_an_unknown_plugin_is_named() {
        let (mut answer, first) = Answer::start(b"secret", b"caching_sha2_password", NONCE, false);
        assert_eq!(first, scramble(Plugin::CachingSha2, b"secret", &NONCE));
        let other = [9; 20];
        let request = [&b"\xFEmysql_native_password\0"[..], &other, b"\0"].concat();
        let sent = answer.feed(&request).expect("switches");
        assert_eq!(sent, Step::Send(scramble(Plugin::NativePassword, b"secret", &other)));
        assert_eq!(answer.feed(b"\0\0\0\x02\0\0\0").expect("let in"), Step::Done);
        let error = answer.feed(b"\xFEclient_ed25519\0nonce").expect_err("unknown");
        assert!(error.to_string().contains("client_ed25519"));
        assert!(answer.feed(b"\x01unasked").is_err());
        assert!(answer.feed(b"").is_err());
    }
}
