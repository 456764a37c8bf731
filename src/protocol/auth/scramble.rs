//! What is sent instead of a password: a digest of it and of the server's nonce.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_authentication_methods_native_password_authentication.html>
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>

use sha1::{Digest, Sha1};
use sha2::Sha256;

use crate::protocol::auth::Plugin;
use crate::protocol::greeting::Nonce;

/// Twenty random bytes of which none is zero, since the greeting ends with one.
pub fn nonce() -> Nonce {
    // 7 bits each leave 140, plenty; clients of old read the nonce as text.
    rand::random::<[u8; 20]>().map(|byte| match byte & 0x7F {
        0 => 1,
        // MySQL's own servers leave '$' out: it separates the parts of a stored digest.
        b'$' => b'%',
        other => other,
    })
}

/// The proof that `plugin` wants of an account with this password. Empty for an empty one.
pub fn scramble(plugin: Plugin, password: &[u8], nonce: &Nonce) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    match plugin {
        Plugin::NativePassword => native(password, nonce).to_vec(),
        Plugin::CachingSha2 => sha2(password, nonce).to_vec(),
    }
}

/// SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password))).
fn native(password: &[u8], nonce: &Nonce) -> [u8; 20] {
    let once: [u8; 20] = Sha1::digest(password).into();
    let twice = Sha1::digest(once);
    let salted: [u8; 20] = Sha1::new().chain_update(nonce).chain_update(twice).finalize().into();
    xor(once, salted)
}

/// SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce).
fn sha2(password: &[u8], nonce: &Nonce) -> [u8; 32] {
    let once: [u8; 32] = Sha256::digest(password).into();
    let twice = Sha256::digest(once);
    let salted: [u8; 32] = Sha256::new().chain_update(twice).chain_update(nonce).finalize().into();
    xor(once, salted)
}

fn xor<const N: usize>(left: [u8; N], right: [u8; N]) -> [u8; N] {
    std::array::from_fn(|at| left[at] ^ right[at])
}

/// A password with its closing zero under the nonce, over and over: what RSA encrypts.
pub(crate) fn mask(bytes: &mut [u8], nonce: &Nonce) {
    for (byte, mask) in bytes.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= mask;
    }
}

/// Equality that takes as long for a near miss as for a far one.
pub fn same(left: &[u8], right: &[u8]) -> bool {
    let digest = |bytes: &[u8]| -> [u8; 32] { Sha256::digest(bytes).into() };
    let difference = xor(digest(left), digest(right)).iter().fold(0, |all, byte| all | byte);
    std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sameness_is_equality() {
        assert!(same(b"abc", b"abc"));
        for other in [&b""[..], b"ab", b"abd", b"abcd"] {
            assert!(!same(b"abc", other));
        }
    }

    #[test]
    fn nonces_are_text_without_zeros_and_differ() {
        for _ in 0..100 {
            let nonce = nonce();
            assert!(nonce.iter().all(|byte| (1..0x80).contains(byte) && *byte != b'$'));
            assert_ne!(nonce, super::nonce());
        }
    }
}
