//! A statement's text taken apart at the tokens that are not sent as they were written.

use std::ops::Range;

use super::text::{Piece, Text};
use crate::sql::ast::{Name, TableName};
use crate::sql::{Source, Span};

/// Replacements by byte range, in any order.
pub(super) struct Edits<'a> {
    source: &'a Source<'a>,
    list: Vec<(Range<usize>, Piece)>,
}

impl<'a> Edits<'a> {
    pub fn new(source: &'a Source<'a>) -> Self {
        Edits { source, list: Vec::new() }
    }

    pub fn table(&mut self, table: &TableName, piece: Piece) {
        self.span(table.span, piece);
    }

    pub fn name(&mut self, name: Name, piece: Piece) {
        self.span(Span::new(name.0, name.0 + 1), piece);
    }

    pub fn span(&mut self, span: Span, piece: Piece) {
        self.list.push((self.source.byte_range(span), piece));
    }

    /// The text in pieces.
    pub fn text(mut self) -> Text {
        let text = self.source.text;
        self.list.sort_by_key(|(range, _)| range.start);
        let mut pieces = Vec::new();
        let mut at = 0;
        for (range, piece) in self.list {
            // Nothing is replaced twice: each token has one meaning.
            if range.start < at {
                continue;
            }
            pieces.push(Piece::Bytes(text[at..range.start].to_vec()));
            pieces.push(piece);
            at = range.end;
        }
        pieces.push(Piece::Bytes(text[at..].to_vec()));
        Text::new(pieces)
    }
}
