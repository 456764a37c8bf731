//! The names of transactions over several servers, as the servers know them: made at the first
//! branch, read back from XA RECOVER. Everything that recovery needs stands in them.
//!
//! A branch is called `'CLUSTER.INCARNATION.COUNTER','FIRST.THREAD.OWN.BEGUN',FORMAT`, numbers in
//! hexadecimal: which run of which cluster's proxy began it and which transaction it was, the
//! server whose decision row tells its fate, the transaction's connection there, the branch's own
//! connection, and when it began.

use std::fmt;

use crate::shard::ServerThreadId;

/// A transaction over several servers; never used again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TransactionId {
    pub cluster: String,
    /// Of the proxy's process.
    pub incarnation: u64,
    pub counter: u64,
}

/// One server's part in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    pub transaction: TransactionId,
    pub first: ServerMark,
    /// The transaction's connection to the first server.
    pub first_thread: ServerThreadId,
    /// The connection that works in this branch.
    pub own_thread: ServerThreadId,
    /// Unix seconds.
    pub begun: u64,
}

/// A server of the topology, by its name, which stays when addresses and order change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerMark(pub u64);

/// `BFLD`: other programs' branches on the same server have other formats.
const FORMAT: u32 = 0x4246_4c44;

impl ServerMark {
    /// FNV-1a: short, and the same in every build.
    pub fn of(name: &str) -> Self {
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        ServerMark(hash)
    }
}

impl fmt::Display for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:x}.{:x}", self.cluster, self.incarnation, self.counter)
    }
}

/// As XA statements take it.
impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Branch { transaction, first, first_thread, own_thread, begun } = self;
        write!(f, "'{transaction}','{:x}.{:x}.{:x}.{begun:x}',{FORMAT}", first.0, first_thread.0, own_thread.0)
    }
}

impl Branch {
    /// From a row of XA RECOVER: format, the lengths of both parts, the parts. `None`: another
    /// program's.
    pub fn from_row(row: &[Option<Vec<u8>>]) -> Option<Branch> {
        let [format, global_len, branch_len, data] = row else { return None };
        let number = |cell: &Option<Vec<u8>>| std::str::from_utf8(cell.as_ref()?).ok()?.parse::<usize>().ok();
        if number(format)? != usize::try_from(FORMAT).ok()? {
            return None;
        }
        let (global_len, branch_len) = (number(global_len)?, number(branch_len)?);
        let data = std::str::from_utf8(data.as_ref()?).ok().filter(|data| data.len() == global_len + branch_len)?;
        Branch::parse(data.get(..global_len)?, data.get(global_len..)?)
    }

    fn parse(global: &str, branch: &str) -> Option<Branch> {
        let [cluster, incarnation, counter] = fields(global)?;
        let [first, first_thread, own_thread, begun] = fields(branch)?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let thread = |text: &str| u32::from_str_radix(text, 16).ok().map(ServerThreadId);
        Some(Branch {
            transaction: TransactionId {
                cluster: cluster.to_owned(),
                incarnation: number(incarnation)?,
                counter: number(counter)?,
            },
            first: ServerMark(number(first)?),
            first_thread: thread(first_thread)?,
            own_thread: thread(own_thread)?,
            begun: number(begun)?,
        })
    }
}

fn fields<const N: usize>(text: &str) -> Option<[&str; N]> {
    text.split('.').collect::<Vec<_>>().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widest() -> Branch {
        Branch {
            transaction: TransactionId { cluster: "c".repeat(32), incarnation: u64::MAX, counter: (1 << 52) - 1 },
            first: ServerMark(u64::MAX),
            first_thread: ServerThreadId(u32::MAX),
            own_thread: ServerThreadId(u32::MAX - 1),
            begun: 1 << 34,
        }
    }

    #[test]
    fn the_longest_names_fit_and_are_read_back() {
        let branch = widest();
        let text = branch.to_string();
        let parts: Vec<&str> = text.split(',').map(|part| part.trim_matches('\'')).collect();
        assert!(parts[0].len() <= 64 && parts[1].len() <= 64, "{text}");
        let cell = |text: String| Some(text.into_bytes());
        let row = |format: &str| {
            [
                cell(format.to_owned()),
                cell(parts[0].len().to_string()),
                cell(parts[1].len().to_string()),
                cell(parts[0].to_owned() + parts[1]),
            ]
        };
        assert_eq!(Branch::from_row(&row(parts[2])), Some(branch));
        assert_eq!(Branch::from_row(&row("7")), None);
    }

    #[test]
    fn others_names_are_not_ours() {
        for (global, branch) in [("", ""), ("g", "b"), ("a.1.2.3", "1.2.3.4"), ("a.1.x", "1.2.3.4"), ("a.1.2", "1.2.3")]
        {
            assert_eq!(Branch::parse(global, branch), None, "{global} {branch}");
        }
    }

    #[test]
    fn a_servers_mark_is_of_its_name_for_good() {
        assert_eq!(ServerMark::of("s0").0, 0x08d8_fe07_b578_cf96);
        assert_ne!(ServerMark::of("s0"), ServerMark::of("s1"));
    }
}
