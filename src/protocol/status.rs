//! The server's status flags, in every OK and EOF packet.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/mysql__com_8h.html#a1d854e841086925be1883e4d7b4e8cad>

use std::ops::BitOr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status(u16);

impl Status {
    pub const NONE: Self = Self(0);
    pub const IN_TRANS: Self = Self(1);
    pub const AUTOCOMMIT: Self = Self(1 << 1);
    pub const MORE_RESULTS: Self = Self(1 << 3);
    pub const NO_GOOD_INDEX: Self = Self(1 << 4);
    pub const NO_INDEX: Self = Self(1 << 5);
    pub const CURSOR_EXISTS: Self = Self(1 << 6);
    pub const LAST_ROW_SENT: Self = Self(1 << 7);
    pub const DB_DROPPED: Self = Self(1 << 8);
    pub const NO_BACKSLASH_ESCAPES: Self = Self(1 << 9);
    pub const METADATA_CHANGED: Self = Self(1 << 10);
    pub const QUERY_WAS_SLOW: Self = Self(1 << 11);
    pub const PS_OUT_PARAMS: Self = Self(1 << 12);
    pub const IN_TRANS_READONLY: Self = Self(1 << 13);
    pub const SESSION_STATE_CHANGED: Self = Self(1 << 14);
    /// MariaDB: the session reads double quotes as identifiers.
    pub const ANSI_QUOTES: Self = Self(1 << 15);

    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    pub const fn bits(self) -> u16 {
        self.0
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

    /// `self` with the flags of `mask` set as `on` says.
    pub const fn set(self, mask: Self, on: bool) -> Self {
        if on { self.with(mask) } else { self.without(mask) }
    }
}

impl BitOr for Status {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}
