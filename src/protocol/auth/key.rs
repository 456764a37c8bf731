//! The RSA key pair under which a password travels where there is no TLS.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>

use rsa::pkcs8::{DecodePublicKey, EncodePublicKey, LineEnding};
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;

use crate::error::{Blame, Error, Result, code};
use crate::protocol::auth::scramble::mask;
use crate::protocol::greeting::Nonce;

/// Bifold's own pair.
pub struct LoginKey {
    private: RsaPrivateKey,
    public_pem: String,
}

impl std::fmt::Debug for LoginKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LoginKey")
    }
}

impl LoginKey {
    /// Takes up to seconds of computing: not for a thread that serves connections.
    pub fn generate() -> Result<Self> {
        let private =
            RsaPrivateKey::new(&mut OsRng, 2048).map_err(|error| Error::proxy("No login key.").because(error))?;
        let public_pem = private
            .to_public_key()
            .to_public_key_pem(LineEnding::LF)
            .map_err(|error| Error::proxy("No login key.").because(error))?;
        Ok(LoginKey { private, public_pem })
    }

    pub fn public_pem(&self) -> &[u8] {
        self.public_pem.as_bytes()
    }

    /// The password that a client encrypted, None if it is none.
    pub(crate) fn decrypt(&self, encrypted: &[u8], nonce: &Nonce) -> Option<Vec<u8>> {
        let mut masked = self.private.decrypt_blinded(&mut OsRng, Oaep::new::<Sha1>(), encrypted).ok()?;
        mask(&mut masked, nonce);
        (masked.pop() == Some(0)).then_some(masked)
    }
}

/// A password encrypted for the server that sent its public key.
pub(crate) fn encrypt(password: &[u8], nonce: &Nonce, public_pem: &[u8]) -> Result<Vec<u8>> {
    let unusable = |cause: &dyn std::fmt::Display| {
        Error::new(Blame::Shard, code::HANDSHAKE, "A server's public key can't be used.").because(cause)
    };
    let pem = std::str::from_utf8(public_pem).map_err(|error| unusable(&error))?;
    let key = RsaPublicKey::from_public_key_pem(pem.trim_end_matches('\0')).map_err(|error| unusable(&error))?;
    let mut masked = password.to_vec();
    masked.push(0);
    mask(&mut masked, nonce);
    key.encrypt(&mut OsRng, Oaep::new::<Sha1>(), &masked).map_err(|error| unusable(&error))
}
