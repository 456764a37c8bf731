//! An aggregate of all places in the making: counts and sums are added, of minima the least is
//! taken. What a place gives that has no rows is NULL, which counts for nothing.

use super::decimal::Sum;
use super::key;
use super::row::{self, Cell, odd};
use crate::error::Result;
use crate::plan::Fold;
use crate::protocol::binary::ValueType;
use crate::protocol::payload::put_lenenc_bytes;
use crate::protocol::result_set::Format;
use crate::value::Value;

#[derive(Debug)]
pub(super) enum State {
    Count(i64),
    Sum(Option<Sum>),
    /// The key of the value, in the order of keys, and its bytes on the wire.
    Extreme {
        greatest: bool,
        best: Option<(Vec<u8>, Vec<u8>)>,
    },
    Average {
        sum: Option<Sum>,
        count: i64,
    },
}

/// What a place says of an aggregate.
pub(super) struct Given<'c, 'r> {
    pub cell: &'c Cell<'r>,
    pub row: &'r [u8],
    /// All hidden cells of the row, and how they compare.
    pub hidden: &'c [Cell<'r>],
    pub pads: Option<&'static [u8]>,
    /// The cell's type, and the one that the client is told.
    pub types: [ValueType; 2],
    pub format: Format,
}

impl State {
    pub fn new(fold: Fold) -> Self {
        match fold {
            Fold::Count => State::Count(0),
            Fold::Sum => State::Sum(None),
            Fold::Least(_) => State::Extreme { greatest: false, best: None },
            Fold::Greatest(_) => State::Extreme { greatest: true, best: None },
            Fold::Average { .. } => State::Average { sum: None, count: 0 },
        }
    }

    pub fn take(&mut self, fold: Fold, given: &Given<'_, '_>) -> Result<()> {
        let hidden = |at: u16| given.hidden.get(usize::from(at)).ok_or_else(odd);
        match (self, fold) {
            (State::Count(count), _) => add_count(count, &given.cell.value),
            (State::Sum(sum), _) => add(sum, &given.cell.value),
            (State::Average { sum, count }, Fold::Average { sum: its_sum, count: its_count }) => {
                add(sum, &hidden(its_sum)?.value)?;
                add_count(count, &hidden(its_count)?.value)
            }
            (State::Extreme { greatest, best }, Fold::Least(at) | Fold::Greatest(at)) => {
                let value = &hidden(at)?.value;
                if *value != Value::Null {
                    let mut own = Vec::new();
                    key::put(value, given.pads, false, &mut own);
                    let mut bytes = Vec::new();
                    row::put_as(given.format, given.cell, given.row, given.types, &mut bytes)?;
                    better(*greatest, best, (own, bytes));
                }
                Ok(())
            }
            (State::Average { .. } | State::Extreme { .. }, _) => Err(odd()),
        }
    }

    /// What another one has, of other places.
    pub fn join(&mut self, other: State) -> Result<()> {
        match (self, other) {
            (State::Count(count), State::Count(more)) => add_count(count, &Value::Int(more)),
            (State::Sum(sum), State::Sum(more)) => join_sums(sum, more),
            (State::Average { sum, count }, State::Average { sum: more, count: further }) => {
                join_sums(sum, more)?;
                add_count(count, &Value::Int(further))
            }
            (State::Extreme { greatest, best }, State::Extreme { best: Some(other), .. }) => {
                better(*greatest, best, other);
                Ok(())
            }
            (State::Extreme { .. }, State::Extreme { best: None, .. }) => Ok(()),
            (State::Count(_) | State::Sum(_) | State::Average { .. } | State::Extreme { .. }, _) => Err(odd()),
        }
    }

    pub fn is_null(&self) -> bool {
        match self {
            State::Count(_) => false,
            State::Sum(sum) => sum.is_none(),
            State::Extreme { best, .. } => best.is_none(),
            State::Average { sum, count } => sum.is_none() || *count == 0,
        }
    }

    /// Its value on the wire, if it is not NULL. `decimals`: of the column.
    pub fn put(&self, format: Format, decimals: u8, out: &mut Vec<u8>) -> Result<()> {
        match (self, format) {
            (State::Count(count), Format::Text) => put_lenenc_bytes(out, count.to_string().as_bytes()),
            (State::Count(count), Format::Binary) => out.extend_from_slice(&count.to_le_bytes()),
            (State::Extreme { best, .. }, _) => out.extend(best.iter().flat_map(|(_, bytes)| bytes)),
            (State::Sum(_) | State::Average { .. }, _) => {
                if let Some(text) = self.decimal(decimals)? {
                    put_lenenc_bytes(out, text.as_bytes());
                }
            }
        }
        Ok(())
    }

    /// Appends its key: such keys are in the order of the values.
    pub fn put_key(&self, decimals: u8, out: &mut Vec<u8>) -> Result<()> {
        match self {
            State::Count(count) => key::put(&Value::Int(*count), None, false, out),
            State::Sum(_) | State::Average { .. } => {
                let text = self.decimal(decimals)?;
                key::put(&text.as_deref().map_or(Value::Null, Value::Decimal), None, false, out);
            }
            State::Extreme { best: None, .. } => key::put(&Value::Null, None, false, out),
            State::Extreme { best: Some((own, _)), .. } => out.extend_from_slice(own),
        }
        Ok(())
    }

    fn decimal(&self, decimals: u8) -> Result<Option<String>> {
        match self {
            State::Sum(sum) => Ok(sum.as_ref().map(Sum::text)),
            State::Average { sum: Some(sum), count } if *count > 0 => {
                sum.average(count.unsigned_abs(), usize::from(decimals)).map(Some).ok_or_else(odd)
            }
            State::Average { .. } | State::Count(_) | State::Extreme { .. } => Ok(None),
        }
    }

    /// The bytes that it holds.
    pub fn size(&self) -> usize {
        match self {
            State::Count(_) => 0,
            State::Sum(sum) | State::Average { sum, .. } => sum.as_ref().map_or(0, Sum::size),
            State::Extreme { best, .. } => best.as_ref().map_or(0, |(key, bytes)| key.len() + bytes.len()),
        }
    }
}

fn add_count(count: &mut i64, value: &Value<'_>) -> Result<()> {
    let more = match value {
        Value::Int(more) => *more,
        Value::UInt(more) => i64::try_from(*more).map_err(|_| odd())?,
        // Of several places within a server's own sum.
        Value::Decimal(text) => text.parse().map_err(|_| odd())?,
        _ => return Err(odd()),
    };
    *count = count.checked_add(more).ok_or_else(odd)?;
    Ok(())
}

fn add(sum: &mut Option<Sum>, value: &Value<'_>) -> Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Decimal(text) if sum.get_or_insert_default().add(text) => Ok(()),
        _ => Err(odd()),
    }
}

fn join_sums(sum: &mut Option<Sum>, more: Option<Sum>) -> Result<()> {
    more.map_or(Ok(()), |more| add(sum, &Value::Decimal(&more.text())))
}

/// Of equal ones the first stays.
fn better(greatest: bool, best: &mut Option<(Vec<u8>, Vec<u8>)>, other: (Vec<u8>, Vec<u8>)) {
    let is_better = match best {
        None => true,
        Some((own, _)) if greatest => other.0 > *own,
        Some((own, _)) => other.0 < *own,
    };
    if is_better {
        *best = Some(other);
    }
}
