//! Passwords proved: the scrambles of the two plugins, the server's side of a login (`login`,
//! towards clients) and the client's (`answer`, towards servers), both without sockets.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html>

pub mod answer;
pub mod key;
pub mod login;
pub mod scramble;

/// How a password is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    NativePassword,
    CachingSha2,
}

impl Plugin {
    pub const fn name(self) -> &'static [u8] {
        match self {
            Plugin::NativePassword => b"mysql_native_password",
            Plugin::CachingSha2 => b"caching_sha2_password",
        }
    }

    pub fn by_name(name: &[u8]) -> Option<Self> {
        [Plugin::NativePassword, Plugin::CachingSha2].into_iter().find(|plugin| plugin.name() == name)
    }
}
