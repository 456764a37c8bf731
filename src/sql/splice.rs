//! Text that goes out: the client's bytes with pieces put in place of ranges. A list is filled in
//! the order of the text and applied in one pass.

use std::ops::Range;

/// Replacements of byte ranges, ascending and apart. Reusable: `clear` keeps the memory.
#[derive(Clone, Debug, Default)]
pub struct Splices {
    pieces: Vec<Piece>,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Piece {
    /// What goes from the text; an empty range inserts.
    range: Range<usize>,
    /// End in `bytes` of what comes in its place; it starts where the piece before ends.
    bytes_end: usize,
}

impl Splices {
    pub fn new() -> Splices {
        Splices::default()
    }

    pub fn clear(&mut self) {
        self.pieces.clear();
        self.bytes.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Puts `replacement` in place of `range`.
    ///
    /// # Panics
    /// When the range starts before the end of the one pushed before it.
    pub fn replace(&mut self, range: Range<usize>, replacement: &[u8]) {
        self.begin(range);
        self.bytes.extend_from_slice(replacement);
        self.end();
    }

    /// Puts `bytes` in before the byte at `position`; several at one position keep their order.
    pub fn insert(&mut self, position: usize, bytes: &[u8]) {
        self.replace(position..position, bytes);
    }

    /// As `replace`, with the replacement written by `write`.
    pub fn replace_with(&mut self, range: Range<usize>, write: impl FnOnce(&mut Vec<u8>)) {
        self.begin(range);
        write(&mut self.bytes);
        self.end();
    }

    fn begin(&mut self, range: Range<usize>) {
        let after = self.pieces.last().map_or(0, |p| p.range.end);
        assert!(after <= range.start && range.start <= range.end, "splices come in the order of the text");
        self.pieces.push(Piece { range, bytes_end: 0 });
    }

    fn end(&mut self) {
        let end = self.bytes.len();
        if let Some(piece) = self.pieces.last_mut() {
            piece.bytes_end = end;
        }
    }

    /// Appends `text[within]` to `out`, the pieces applied. They must lie inside `within`.
    pub fn apply(&self, text: &[u8], within: Range<usize>, out: &mut Vec<u8>) {
        out.reserve(within.len() + self.bytes.len());
        let (mut at, mut from) = (within.start, 0);
        for piece in &self.pieces {
            out.extend_from_slice(&text[at..piece.range.start]);
            out.extend_from_slice(&self.bytes[from..piece.bytes_end]);
            (at, from) = (piece.range.end, piece.bytes_end);
        }
        out.extend_from_slice(&text[at..within.end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_go_in_and_the_rest_stays() {
        let mut splices = Splices::new();
        splices.insert(0, b"<");
        splices.replace(2..4, b"XYZ");
        splices.insert(4, b"!");
        splices.replace_with(6..6, |out| out.extend_from_slice(b">"));
        let mut out = b"=".to_vec();
        splices.apply(b"abcdef", 0..6, &mut out);
        assert_eq!(out, b"=<abXYZ!ef>");
        splices.clear();
        out.clear();
        splices.apply(b"abcdef", 1..3, &mut out);
        assert_eq!(out, b"bc");
    }

    #[test]
    #[should_panic(expected = "order of the text")]
    fn overlapping_pieces_are_a_mistake() {
        let mut splices = Splices::new();
        splices.replace(2..4, b"");
        splices.insert(3, b"x");
    }
}
