//! The groups of places made those of all. Each row that comes in is a group of some places; what it
//! says is folded into the group of all that it belongs to. Columns that are not folded are those of
//! the first row, in the order of places.

use std::collections::HashMap;

use super::budget::Budget;
use super::key;
use super::row::{Cell, Layout, binary_head};
use super::state::{Given, State};
use crate::error::{Error, Result};
use crate::plan::{self, Fold, Grouping};
use crate::protocol::payload::NULL;
use crate::protocol::result_set::Format;
use crate::value::Value;

#[derive(Debug)]
pub struct Grouper {
    plan: Grouping,
    /// The client's columns.
    shown: Layout,
    by_key: HashMap<Box<[u8]>, usize>,
    groups: Vec<Group>,
    bytes: usize,
    budget: Budget,
}

#[derive(Debug)]
struct Group {
    /// Where its first row came from.
    part: usize,
    number: usize,
    /// The client's columns of that row.
    row: Box<[u8]>,
    /// One for each fold.
    states: Vec<State>,
    /// The keys of the order's hidden columns that are not folded, one after the other.
    order: Vec<Box<[u8]>>,
}

impl Grouper {
    pub fn new(plan: &Grouping, shown: &Layout, budget: Budget) -> Self {
        Grouper {
            plan: plan.clone(),
            shown: shown.clone(),
            by_key: HashMap::new(),
            groups: Vec::new(),
            bytes: 0,
            budget,
        }
    }

    /// Takes a group of some places.
    pub fn push(&mut self, layout: &Layout, part: usize, row: &[u8]) -> Result<()> {
        let cells = layout.cells(row)?;
        let visible = cells.len().checked_sub(self.plan.hidden.len()).ok_or_else(super::row::odd)?;
        let mut own = Vec::new();
        for (cell, hidden) in cells[visible..].iter().zip(&self.plan.hidden).take(self.plan.keys) {
            key::put(&cell.value, hidden.pads, false, &mut own);
        }
        let at = match self.by_key.get(own.as_slice()) {
            Some(at) => *at,
            None => {
                let shown = layout.shown_as(&self.shown, row, &cells, visible)?;
                self.begin(own, part, shown, &cells[visible..])
            }
        };
        let Grouper { plan, groups, shown, .. } = self;
        for ((cell, fold), state) in plan.folds.iter().zip(&mut groups[at].states) {
            let hidden = &cells[visible..];
            let pads = match fold {
                Fold::Least(key) | Fold::Greatest(key) => plan.hidden[usize::from(*key)].pads,
                Fold::Count | Fold::Sum | Fold::Average { .. } => None,
            };
            let before = state.size();
            let at = number(*cell, visible);
            // Nobody is shown a hidden one.
            let shown_type = if at < visible { shown.of(at) } else { layout.of(at) };
            let given = Given {
                cell: &cells[at],
                row,
                hidden,
                pads,
                types: [layout.of(at), shown_type],
                format: layout.format(),
            };
            state.take(*fold, &given)?;
            self.bytes += state.size().saturating_sub(before);
        }
        self.budget.hold(self.bytes)
    }

    fn begin(&mut self, own: Vec<u8>, part: usize, row: Vec<u8>, hidden: &[Cell<'_>]) -> usize {
        let at = self.groups.len();
        let order: Vec<Box<[u8]>> = self.plan.order.iter().filter_map(|by| self.order_key(by.by, hidden)).collect();
        let states: Vec<State> = self.plan.folds.iter().map(|(_, fold)| State::new(*fold)).collect();
        self.bytes += own.len() + row.len() + order.iter().map(|key| key.len() + size_of::<Box<[u8]>>()).sum::<usize>();
        self.bytes += size_of::<Group>() + states.len() * size_of::<State>() + size_of::<(Box<[u8]>, usize)>();
        self.by_key.insert(own.into(), at);
        self.groups.push(Group { part, number: at, row: row.into(), states, order });
        at
    }

    fn is_folded(&self, cell: plan::Cell) -> Option<usize> {
        self.plan.folds.iter().position(|(known, _)| *known == cell)
    }

    fn order_key(&self, by: plan::Cell, hidden: &[Cell<'_>]) -> Option<Box<[u8]>> {
        let plan::Cell::Hidden(at) = by else { return None };
        if self.is_folded(by).is_some() {
            return None;
        }
        let mut own = Vec::new();
        key::put(&hidden[usize::from(at)].value, self.plan.hidden[usize::from(at)].pads, false, &mut own);
        Some(own.into())
    }

    /// The groups of another one, of other places, are this one's too.
    pub fn join(&mut self, other: Grouper) -> Result<()> {
        let Grouper { by_key, groups, bytes, .. } = other;
        let mut groups: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
        for (own, at) in by_key {
            let Some(group) = groups[at].take() else { continue };
            let Some(known) = self.by_key.get(&own) else {
                self.by_key.insert(own, self.groups.len());
                self.groups.push(group);
                continue;
            };
            let known = &mut self.groups[*known];
            for (state, more) in known.states.iter_mut().zip(group.states) {
                state.join(more)?;
            }
            if (group.part, group.number) < (known.part, known.number) {
                (known.part, known.number, known.row, known.order) = (group.part, group.number, group.row, group.order);
            }
        }
        self.bytes += bytes;
        self.budget.hold(self.bytes)
    }

    /// The rows of all groups, in order. `decimals`: of all columns.
    pub fn finish(mut self, decimals: &[u8]) -> Result<Vec<Vec<u8>>> {
        let visible = self.shown.columns();
        let groups = std::mem::take(&mut self.groups);
        let mut sorted = Vec::with_capacity(groups.len());
        for group in groups {
            sorted.push((self.sort_key(&group, visible, decimals)?, group.part, group.number, group));
        }
        sorted.sort_unstable_by(|a, b| (&a.0, a.1, a.2).cmp(&(&b.0, b.1, b.2)));
        sorted.into_iter().map(|(_, _, _, group)| self.row(&group, decimals)).collect()
    }

    fn sort_key(&self, group: &Group, visible: usize, decimals: &[u8]) -> Result<Vec<u8>> {
        let mut own = Vec::new();
        let mut stored = group.order.iter();
        for by in &self.plan.order {
            let start = own.len();
            match self.is_folded(by.by) {
                Some(fold) => {
                    let decimals = decimals.get(number(by.by, visible)).copied().unwrap_or(0);
                    group.states[fold].put_key(decimals, &mut own)?;
                }
                None => own.extend(stored.next().into_iter().flatten()),
            }
            if by.descending {
                own[start..].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        Ok(own)
    }

    fn row(&self, group: &Group, decimals: &[u8]) -> Result<Vec<u8>> {
        let folds: Vec<(usize, &State)> = self
            .plan
            .folds
            .iter()
            .zip(&group.states)
            .filter_map(|((cell, _), state)| match cell {
                plan::Cell::Visible(at) => Some((usize::from(*at), state)),
                plan::Cell::Hidden(_) => None,
            })
            .collect();
        if folds.is_empty() {
            return Ok(group.row.to_vec());
        }
        let cells = self.shown.cells(&group.row)?;
        let folded = |column: usize| folds.iter().find(|(at, _)| *at == column).map(|(_, state)| *state);
        let nulls: Vec<bool> = (0..cells.len())
            .map(|column| folded(column).map_or(cells[column].value == Value::Null, State::is_null))
            .collect();
        let format = self.shown.format();
        let mut out = match format {
            Format::Text => Vec::new(),
            Format::Binary => binary_head(&nulls),
        };
        for (column, cell) in cells.iter().enumerate() {
            match (nulls[column], folded(column), format) {
                (true, _, Format::Text) => out.push(NULL),
                (true, _, Format::Binary) => {}
                (false, Some(state), _) => state.put(format, decimals.get(column).copied().unwrap_or(0), &mut out)?,
                (false, None, _) => out.extend_from_slice(&group.row[cell.bytes.clone()]),
            }
        }
        Ok(out)
    }

    /// Without GROUP BY there is one row, whatever was found.
    pub fn check(&self) -> Result<()> {
        match self.plan.always && self.groups.len() != 1 {
            true => Err(Error::proxy("Bifold: an aggregate of all rows without its one row.")),
            false => Ok(()),
        }
    }
}

fn number(cell: plan::Cell, visible: usize) -> usize {
    match cell {
        plan::Cell::Visible(at) => usize::from(at),
        plan::Cell::Hidden(at) => visible + usize::from(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::Holdings;
    use crate::plan::{GroupOrder, Hidden};
    use crate::protocol::binary::ValueType;
    use crate::protocol::column::ColumnType;

    fn layout(format: Format, kinds: &[ColumnType]) -> Layout {
        Layout::new(format, kinds.iter().map(|kind| ValueType { kind: *kind, unsigned: false }).collect())
    }

    fn grouper(plan: &Grouping, shown: &Layout) -> Grouper {
        Grouper::new(plan, shown, Budget::new(1 << 20, &Holdings::new(1 << 20)))
    }

    fn hidden(expr: &str) -> Hidden {
        Hidden { expr: expr.into(), pads: None }
    }

    /// SELECT COUNT(*), SUM(d), MIN(i), MAX(i)
    fn whole() -> Grouping {
        let folds = [Fold::Count, Fold::Sum, Fold::Least(0), Fold::Greatest(1)];
        Grouping {
            hidden: vec![hidden("MIN(i)+0"), hidden("MAX(i)+0")],
            folds: (0..).map(plan::Cell::Visible).zip(folds).collect(),
            always: true,
            ..Grouping::default()
        }
    }

    const WHOLE: [ColumnType; 6] = [
        ColumnType::LongLong,
        ColumnType::NewDecimal,
        ColumnType::Long,
        ColumnType::Long,
        ColumnType::LongLong,
        ColumnType::LongLong,
    ];

    #[test]
    fn places_without_rows_count_for_nothing() {
        let (shown, layout) = (layout(Format::Text, &WHOLE[..4]), layout(Format::Text, &WHOLE));
        let mut groups = grouper(&whole(), &shown);
        groups.push(&layout, 0, b"\x010\xFB\xFB\xFB\xFB\xFB").expect("taken");
        groups.push(&layout, 1, b"\x012\x031.5\x02-3\x0212\x02-3\x0212").expect("taken");
        let mut other = grouper(&whole(), &shown);
        other.push(&layout, 2, b"\x011\x031.6\x015\x015\x015\x015").expect("taken");
        groups.join(other).expect("joined");
        groups.check().expect("one row");
        assert_eq!(groups.finish(&[0; 4]).expect("rows"), [b"\x013\x033.1\x02-3\x0212"]);
    }

    #[test]
    fn binary_rows_are_folded_alike() {
        let (shown, layout) = (layout(Format::Binary, &WHOLE[..4]), layout(Format::Binary, &WHOLE));
        let mut groups = grouper(&whole(), &shown);
        let nothing = b"\x00\xF8\x00\0\0\0\0\0\0\0\0";
        let row = [
            &b"\x00\x00"[..],
            b"\x02\0\0\0\0\0\0\0\x031.5\xFD\xFF\xFF\xFF\x0C\0\0\0",
            b"\xFD\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x0C\0\0\0\0\0\0\0",
        ]
        .concat();
        groups.push(&layout, 0, nothing).expect("taken");
        groups.push(&layout, 1, &row).expect("taken");
        assert_eq!(groups.finish(&[0; 4]).expect("rows"), [row[..row.len() - 16].to_vec()]);
    }

    #[test]
    fn integers_are_as_wide_as_they_are_shown() {
        let plan = Grouping { hidden: vec![hidden("y")], keys: 1, distinct: true, ..Grouping::default() };
        let shown = layout(Format::Binary, &[ColumnType::Long]);
        let mut groups = grouper(&plan, &shown);
        let year = layout(Format::Binary, &[ColumnType::Year, ColumnType::Year]);
        groups.push(&year, 0, b"\x00\x00\xD1\x07\xD1\x07").expect("taken");
        let double = layout(Format::Binary, &[ColumnType::Double, ColumnType::Year]);
        assert!(groups.push(&double, 0, b"\x00\x00\0\0\0\0\0\0\0\0\xD2\x07").is_err());
        assert_eq!(groups.finish(&[0]).expect("rows"), [b"\x00\x00\xD1\x07\0\0"]);
    }

    #[test]
    fn groups_of_places_are_one_and_sorted_by_what_they_come_to() {
        // SELECT g, COUNT(*), AVG(n) … GROUP BY g ORDER BY 2 DESC
        let plan = Grouping {
            hidden: vec![hidden("g"), hidden("SUM(n)"), hidden("COUNT(n)")],
            keys: 1,
            folds: vec![
                (plan::Cell::Visible(1), Fold::Count),
                (plan::Cell::Visible(2), Fold::Average { sum: 1, count: 2 }),
            ],
            order: vec![GroupOrder { by: plan::Cell::Visible(1), descending: true }],
            ..Grouping::default()
        };
        use ColumnType::{LongLong, NewDecimal, VarString};
        let shown = layout(Format::Text, &[VarString, LongLong, NewDecimal]);
        let layout = layout(Format::Text, &[VarString, LongLong, NewDecimal, VarString, NewDecimal, LongLong]);
        let mut groups = grouper(&plan, &shown);
        for row in [
            &b"\x01a\x012\x062.0000\x01a\x014\x012"[..],
            b"\xFB\x013\xFB\xFB\xFB\x010",
            b"\x01b\x013\x061.0000\x01b\x013\x013",
            b"\x01a\x012\x061.0000\x01a\x012\x012",
            b"\xFB\x012\xFB\xFB\xFB\x010",
        ] {
            groups.push(&layout, 0, row).expect("taken");
        }
        let rows = groups.finish(&[0, 0, 4, 0, 0, 0]).expect("rows");
        assert_eq!(rows, [&b"\xFB\x015\xFB"[..], b"\x01a\x014\x061.5000", b"\x01b\x013\x061.0000"]);
    }
}
