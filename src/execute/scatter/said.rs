//! What the replies of the parts say besides their rows: definitions, warnings, flags, errors.

use crate::error::{Error, Result};
use crate::execute::names;
use crate::merge::Layout;
use crate::plan::Wide;
use crate::protocol::Status;
use crate::protocol::binary::ValueType;
use crate::protocol::column::{self, Column};
use crate::protocol::err::ErrPacket;
use crate::protocol::packet::HEADER;
use crate::protocol::reply::{Piece, rows_end_warnings};
use crate::protocol::result_set::Format;
use crate::route::Part;

/// What replies said besides their rows.
#[derive(Debug, Default)]
pub(super) struct Said {
    expected: usize,
    /// The part that the definitions are of.
    first: Option<usize>,
    /// The types of the current reply.
    types: Vec<ValueType>,
    /// Those of the first.
    shown: Vec<ValueType>,
    /// Rows of later replies are made rows of the first.
    reshapes: bool,
    /// The definitions of the first reply, with logical names.
    pub columns: Vec<Vec<u8>>,
    /// The parts that warned, and how often.
    pub warned: Vec<(usize, usize)>,
    pub status: Status,
}

impl Said {
    /// Notes a packet that is no row; gives the error that it is.
    pub fn take(
        &mut self,
        piece: &Piece,
        packet: &[u8],
        part: &Part,
        number: usize,
        plan: &Wide,
    ) -> Result<Option<Error>> {
        match piece {
            Piece::ColumnCount { count, .. } if self.expected == 0 => {
                self.expected = *count;
                self.first = Some(number);
            }
            Piece::ColumnCount { count, .. } if self.expected != *count => return Err(unlike()),
            Piece::ColumnCount { .. } => self.types.clear(),
            Piece::Column { .. } if self.shown.len() < self.expected => {
                let mut definition = Vec::new();
                column::rewrite_names(&packet[HEADER..], |seen| names::in_column(&part.names, seen), &mut definition)?;
                let of = ValueType::of(&Column::parse(&definition)?);
                self.types.push(of);
                self.shown.push(of);
                self.columns.push(definition);
            }
            Piece::RowsEnd { status, .. } => {
                let warnings = usize::from(rows_end_warnings(packet, status));
                self.warned.extend((warnings > 0).then_some((number, warnings)));
            }
            Piece::Err { .. } => {
                let error = ErrPacket::parse(&packet[HEADER..])?.into_error();
                return Ok(Some(names::in_error(&part.all_names(plan), error)));
            }
            Piece::Column { .. } => self.types.push(ValueType::of(&Column::parse(&packet[HEADER..])?)),
            Piece::ColumnsEnd { .. } => {}
            Piece::Ok { .. } | Piece::LocalInfile { .. } | Piece::Prepared { .. } | Piece::Param { .. } => {
                return Err(Error::proxy("Bifold: a server answered a query without rows."));
            }
            Piece::Rows { .. } | Piece::NeedMore(_) | Piece::Done => {}
        }
        Ok(None)
    }

    /// A reply ended with these flags. Whether an index was used is said of the first, which is most like
    /// the client's statement.
    pub fn ended(&mut self, number: usize, status: Status) {
        if self.first == Some(number) {
            self.status = status;
        }
    }

    /// Of further replies, whose rows are to be those of a reply that was read.
    pub fn like(first: &Said) -> Self {
        let (expected, shown) = (first.expected, first.shown.clone());
        Said { expected, shown, reshapes: true, ..Said::default() }
    }

    /// Of the rows that are told.
    pub fn layout(&self, format: Format) -> Layout {
        Layout::new(format, if self.reshapes { self.shown.clone() } else { self.types.clone() })
    }

    /// What rows of the current reply are, and what they are to be, if that is not the same.
    pub fn reshaping(&self, format: Format) -> Option<[Layout; 2]> {
        let alike = self.types.iter().zip(&self.shown).all(|(now, first)| now.is_sent_as(*first, format));
        (!alike).then(|| [&self.types, &self.shown].map(|types| Layout::new(format, types.clone())))
    }

    /// The decimals of each column.
    pub fn decimals(&self) -> Result<Vec<u8>> {
        self.columns.iter().map(|definition| Ok(Column::parse(definition)?.decimals)).collect()
    }

    /// What another server said of the same query. The definitions are those of the first part.
    pub fn join(&mut self, other: Said) -> Result<()> {
        if self.columns.len() != other.columns.len() {
            return Err(unlike());
        }
        if other.first < self.first {
            (self.first, self.columns) = (other.first, other.columns);
        }
        self.warned.extend(other.warned);
        self.status =
            self.status.set(Status::IN_TRANS, other.status.has(Status::IN_TRANS) || self.status.has(Status::IN_TRANS));
        Ok(())
    }
}

pub(super) fn unlike() -> Error {
    Error::operator("Bifold: the subtables of a table differ in their columns: see `bifold check`.")
}
