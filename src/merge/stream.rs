//! Sorted streams made one: of each the next row is held, and the least of these is the next of all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::key;
use super::row::{Layout, odd};
use crate::error::Result;
use crate::plan::SortKey;

#[derive(Debug)]
pub struct Streams<'k> {
    keys: &'k [SortKey],
    /// How many of the last columns are not the client's.
    hidden: usize,
    heads: BinaryHeap<Reverse<Head>>,
    /// Memory of a row that was given.
    spare: Option<Head>,
}

/// Of rows with equal keys that of the first stream comes first.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    key: Vec<u8>,
    stream: usize,
    row: Vec<u8>,
}

impl<'k> Streams<'k> {
    pub fn new(keys: &'k [SortKey], hidden: usize) -> Self {
        Streams { keys, hidden, heads: BinaryHeap::new(), spare: None }
    }

    /// The next row of a stream that has none here.
    pub fn push(&mut self, layout: &Layout, stream: usize, row: &[u8]) -> Result<()> {
        let mut head = self.spare.take().unwrap_or_default();
        head.key.clear();
        head.row.clear();
        head.stream = stream;
        let visible = layout.columns().checked_sub(self.hidden).ok_or_else(odd)?;
        let (keys, out) = (self.keys, &mut head.key);
        let end = layout.hidden(row, visible, |at, value| {
            if let Some(order) = keys.get(at) {
                key::put(&value, order.pads, order.descending, out);
            }
        })?;
        layout.cut_at(row, end, visible, &mut head.row);
        self.heads.push(Reverse(head));
        Ok(())
    }

    /// Gives the next row of all to `take`, and the stream that it came from.
    pub fn pop<T>(&mut self, take: impl FnOnce(&[u8]) -> Result<T>) -> Option<(usize, Result<T>)> {
        let Reverse(head) = self.heads.pop()?;
        let (stream, taken) = (head.stream, take(&head.row));
        self.spare = Some(head);
        Some((stream, taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::binary::ValueType;
    use crate::protocol::column::ColumnType;
    use crate::protocol::result_set::Format;

    #[test]
    fn streams_are_merged_by_their_keys() {
        let of = ValueType { kind: ColumnType::Long, unsigned: false };
        let layout = Layout::new(Format::Text, vec![of, of]);
        let keys = [SortKey { expr: "k".into(), descending: true, pads: None, raw: None }];
        let mut streams = [vec![9, 4, 4, 1], vec![7, 4, -3]].map(Vec::into_iter);
        let mut merge = Streams::new(&keys, 1);
        let mut out = Vec::new();
        let mut feed = |merge: &mut Streams<'_>, stream: usize| {
            if let Some(number) = streams[stream].next() {
                let text = format!("{}{stream}{}{number}", '\x01', char::from(number.to_string().len() as u8));
                merge.push(&layout, stream, text.as_bytes()).expect("a row");
            }
        };
        feed(&mut merge, 0);
        feed(&mut merge, 1);
        while let Some((stream, row)) = merge.pop(|row| Ok(row.to_vec())) {
            out.push(row.expect("taken")[1]);
            feed(&mut merge, stream);
        }
        assert_eq!(out, b"0100101".map(|byte| byte), "{out:?}");
    }
}
