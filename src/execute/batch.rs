//! Many texts for one connection, sent ahead of their replies, and the small answers to them, in
//! the same order.

use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::protocol::Command;
use crate::protocol::reply::Kind;
use crate::route::Routed;
use crate::shard::{Answer, Conn};
use crate::topology::ServerNo;

/// Texts under way beyond the first fit into the sockets' buffers: a server that can't write its
/// reply reads no further text.
const AHEAD: usize = 16 * 1024;

/// The texts for one server, with their parts' numbers.
pub(super) fn texts(routed: &Routed, server: ServerNo) -> Vec<(usize, &[u8])> {
    let own = routed.parts.iter().enumerate().filter(|(_, part)| part.server == server);
    own.map(|(number, part)| (number, &routed.buffer[part.text.clone()])).collect()
}

/// Sends all texts, each under the number that it comes with, and gives their answers to `take`
/// until it gives an error; what is under way then is read to its end. What a server answers with
/// an error is `take`'s to judge, too.
pub(super) async fn run(
    conn: &mut Conn,
    texts: Vec<(usize, &[u8])>,
    mut take: impl FnMut(usize, Result<Answer>) -> Result<()>,
) -> Result<()> {
    let mut texts = texts.into_iter().peekable();
    let mut sent: VecDeque<(usize, usize)> = VecDeque::new();
    let mut ahead = 0;
    let mut failed: Option<Error> = None;
    loop {
        // 1. As many as may be under way
        while let Some((number, text)) =
            texts.next_if(|(_, text)| failed.is_none() && (sent.is_empty() || ahead + text.len() <= AHEAD))
        {
            conn.queue_behind(Command::Query, text);
            sent.push_back((number, text.len()));
            ahead += text.len();
        }
        conn.wire().flush().await?;
        // 2. One answer
        let Some((number, length)) = sent.pop_front() else { break };
        ahead -= length;
        let answer = conn.read_one_answer(Kind::Results, !sent.is_empty()).await?;
        if failed.is_none() {
            failed = take(number, answer).err();
        }
    }
    failed.map_or(Ok(()), Err)
}
