//! What client and server agreed to speak: the CLIENT_* flags of the handshake, with MariaDB's
//! own flags in the upper 32 bits.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html>
//! <https://mariadb.com/docs/server/reference/clientserver-protocol/1-connecting/connection>

use std::ops::{BitAnd, BitOr, Sub};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u64);

impl Capabilities {
    pub const NONE: Self = Self(0);
    /// MySQL's CLIENT_MYSQL. MariaDB's servers leave it out to say that the upper flags count.
    pub const LONG_PASSWORD: Self = Self(1);
    pub const FOUND_ROWS: Self = Self(1 << 1);
    pub const LONG_FLAG: Self = Self(1 << 2);
    pub const CONNECT_WITH_DB: Self = Self(1 << 3);
    pub const NO_SCHEMA: Self = Self(1 << 4);
    pub const COMPRESS: Self = Self(1 << 5);
    pub const ODBC: Self = Self(1 << 6);
    pub const LOCAL_FILES: Self = Self(1 << 7);
    pub const IGNORE_SPACE: Self = Self(1 << 8);
    pub const PROTOCOL_41: Self = Self(1 << 9);
    pub const INTERACTIVE: Self = Self(1 << 10);
    pub const SSL: Self = Self(1 << 11);
    pub const IGNORE_SIGPIPE: Self = Self(1 << 12);
    pub const TRANSACTIONS: Self = Self(1 << 13);
    pub const RESERVED: Self = Self(1 << 14);
    pub const SECURE_CONNECTION: Self = Self(1 << 15);
    pub const MULTI_STATEMENTS: Self = Self(1 << 16);
    pub const MULTI_RESULTS: Self = Self(1 << 17);
    pub const PS_MULTI_RESULTS: Self = Self(1 << 18);
    pub const PLUGIN_AUTH: Self = Self(1 << 19);
    pub const CONNECT_ATTRS: Self = Self(1 << 20);
    pub const PLUGIN_AUTH_LENENC: Self = Self(1 << 21);
    pub const EXPIRED_PASSWORDS: Self = Self(1 << 22);
    pub const SESSION_TRACK: Self = Self(1 << 23);
    pub const DEPRECATE_EOF: Self = Self(1 << 24);
    pub const OPTIONAL_METADATA: Self = Self(1 << 25);
    pub const ZSTD: Self = Self(1 << 26);
    pub const QUERY_ATTRIBUTES: Self = Self(1 << 27);
    pub const MULTI_FACTOR: Self = Self(1 << 28);
    pub const CAPABILITY_EXTENSION: Self = Self(1 << 29);
    pub const VERIFY_SERVER_CERT: Self = Self(1 << 30);
    pub const REMEMBER_OPTIONS: Self = Self(1 << 31);
    pub const MARIADB_PROGRESS: Self = Self(1 << 32);
    pub const MARIADB_COM_MULTI: Self = Self(1 << 33);
    pub const MARIADB_BULK: Self = Self(1 << 34);
    pub const MARIADB_EXTENDED_METADATA: Self = Self(1 << 35);
    pub const MARIADB_CACHE_METADATA: Self = Self(1 << 36);

    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub const fn bits(self) -> u64 {
        self.0
    }

    /// MySQL's 32 flags.
    pub const fn lower(self) -> u32 {
        self.0 as u32
    }

    /// MariaDB's flags, as they stand on the wire.
    pub const fn upper(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }
}

impl BitOr for Capabilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

impl BitAnd for Capabilities {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Sub for Capabilities {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.without(other)
    }
}
