//! Tables as the servers list them become the logical ones: subtables fold into one line, and
//! what they hold is added up.

use std::collections::BTreeMap;

use crate::shard::Row;
use crate::topology::{Schema, TableKind};

/// The logical name of a table of the home shard; `None` for a subtable that is not the first,
/// which another line stands for.
pub(in crate::execute) fn listed(schema: &Schema, physical: &[u8]) -> Option<Vec<u8>> {
    match schema.logical_of(physical) {
        Some((rule, subtable)) if subtable.0 == 0 => Some(rule.name.clone().into_bytes()),
        Some(_) => None,
        None => Some(physical.to_vec()),
    }
}

/// Positions of the columns of SHOW TABLE STATUS, alike on both servers.
const ROWS: usize = 4;
const AVERAGE: usize = 5;
const DATA: usize = 6;
const INDEX: usize = 8;
const FREE: usize = 9;
const AUTO_INCREMENT: usize = 10;
const CREATED: usize = 11;
const UPDATED: usize = 12;

/// Rows of SHOW TABLE STATUS of all shards, the home shard's first, as lines by logical name.
#[derive(Debug, Default)]
pub(in crate::execute) struct Status(BTreeMap<Vec<u8>, Row>);

impl Status {
    pub fn add(&mut self, schema: &Schema, is_home: bool, mut row: Row) {
        let Some(Some(physical)) = row.first().cloned() else { return };
        let Some((rule, _)) = schema.logical_of(&physical) else {
            // Reference tables are whole on every shard, all others are at home.
            let is_reference = std::str::from_utf8(&physical)
                .is_ok_and(|name| schema.rule(name).is_some_and(|rule| matches!(rule.kind, TableKind::Reference)));
            if is_home || !is_reference {
                self.0.entry(physical).or_insert(row);
            }
            return;
        };
        let name = rule.name.clone().into_bytes();
        row[0] = Some(name.clone());
        // Subtables count nothing up: ids come from Bifold.
        if let Some(next) = row.get_mut(AUTO_INCREMENT) {
            *next = None;
        }
        match self.0.get_mut(&name) {
            None => drop(self.0.insert(name, row)),
            Some(sum) => add_up(sum, &row),
        }
    }

    pub fn lines(self) -> impl Iterator<Item = Row> {
        self.0.into_values()
    }
}

fn add_up(sum: &mut Row, row: &Row) {
    for column in [ROWS, DATA, INDEX, FREE] {
        if let (Some(a), Some(b)) = (number(sum, column), number(row, column)) {
            sum[column] = Some(a.saturating_add(b).to_string().into_bytes());
        }
    }
    if let (Some(rows), Some(data)) = (number(sum, ROWS), number(sum, DATA)) {
        sum[AVERAGE] = Some(data.checked_div(rows).unwrap_or(0).to_string().into_bytes());
    }
    // Times sort as text.
    if row[CREATED].is_some() && (sum[CREATED].is_none() || row[CREATED] < sum[CREATED]) {
        sum[CREATED] = row[CREATED].clone();
    }
    if row[UPDATED] > sum[UPDATED] {
        sum[UPDATED] = row[UPDATED].clone();
    }
}

fn number(row: &Row, column: usize) -> Option<u64> {
    std::str::from_utf8(row.get(column)?.as_ref()?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::local::logical::tests::topology;

    /// Name, rows, bytes of data, time of creation.
    fn row(name: &str, rows: &str, data: &str, created: &str) -> Row {
        let cells =
            [name, "InnoDB", "10", "Dynamic", rows, "0", data, "0", "7", "0", "1", created, "", "", "c", "", ""];
        cells.map(|cell| Some(cell.as_bytes().to_vec())).to_vec()
    }

    #[test]
    fn subtables_are_one_line_with_their_sums() {
        let topology = topology();
        let schema = topology.schema("mall").expect("declared");
        let mut status = Status::default();
        status.add(schema, true, row("orders_0000", "3", "300", "2026-01-02"));
        status.add(schema, true, row("product", "5", "50", "2026-01-01"));
        status.add(schema, false, row("orders_0003", "1", "100", "2026-01-01"));
        status.add(schema, false, row("product", "5", "50", "2026-01-01"));
        let lines: Vec<Row> = status.lines().collect();
        let text = |line: usize, column: usize| {
            lines[line][column].as_deref().map_or("NULL".into(), |cell| String::from_utf8_lossy(cell).into_owned())
        };
        assert_eq!(lines.len(), 2);
        let orders = [0, ROWS, AVERAGE, DATA, INDEX, AUTO_INCREMENT, CREATED].map(|column| text(0, column));
        assert_eq!(orders, ["orders", "4", "100", "400", "14", "NULL", "2026-01-01"]);
        assert_eq!([text(1, 0), text(1, ROWS)], ["product", "5"]);
    }

    #[test]
    fn the_first_subtable_speaks_for_all() {
        let topology = topology();
        let schema = topology.schema("mall").expect("declared");
        assert_eq!(listed(schema, b"orders_0000").as_deref(), Some(&b"orders"[..]));
        assert_eq!(listed(schema, b"orders_0001"), None);
        assert_eq!(listed(schema, b"orders_0004").as_deref(), Some(&b"orders_0004"[..]));
    }
}
