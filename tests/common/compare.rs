//! Two answers to the same statement, field by field: what differs, in words.

use super::packets::{Answer, Column, ResultSet};

/// What may differ, since it must: generated ids above all.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    insert_id: bool,
    columns: Vec<String>,
    metadata: bool,
    affected: bool,
    info: bool,
    error_text: bool,
    order: bool,
}

/// Autocommit, transaction, more results, no-backslash, read-only transaction, database dropped:
/// the flags that say something of the session. The others say how the server found the rows.
const STATUS_COMPARED: u16 = 0x0001 | 0x0002 | 0x0008 | 0x0200 | 0x2000 | 0x0100;

impl Mask {
    /// The insert id, but not whether there is one, and the values of the id columns named, but
    /// not whether they are NULL.
    pub fn ids(columns: &[&str]) -> Mask {
        Mask { insert_id: true, columns: columns.iter().map(|name| (*name).to_owned()).collect(), ..Mask::default() }
    }
    /// The values of the columns named.
    pub fn columns(columns: &[&str]) -> Mask {
        Mask { columns: columns.iter().map(|name| (*name).to_owned()).collect(), ..Mask::default() }
    }
    /// Length, flags, decimals and the like of the columns; names stay compared.
    pub fn and_metadata(self) -> Mask {
        Mask { metadata: true, ..self }
    }
    pub fn and_affected(self) -> Mask {
        Mask { affected: true, ..self }
    }
    pub fn and_info(self) -> Mask {
        Mask { info: true, ..self }
    }
    /// The text of an error; its number and state stay compared.
    pub fn and_error_text(self) -> Mask {
        Mask { error_text: true, ..self }
    }
    /// The order of the rows, though the statement has an ORDER BY.
    pub fn and_order(self) -> Mask {
        Mask { order: true, ..self }
    }
}

/// Each difference a line; none where the answers are the same.
pub fn differences(sql: &str, plain: &[Answer], proxied: &[Answer], mask: &Mask) -> Vec<String> {
    let mut found = Vec::new();
    if plain.len() != proxied.len() {
        found.push(format!("{} answers against {}", plain.len(), proxied.len()));
    }
    for (plain, proxied) in plain.iter().zip(proxied) {
        compare_answer(sql, plain, proxied, mask, &mut found);
    }
    found
}

fn compare_answer(sql: &str, plain: &Answer, proxied: &Answer, mask: &Mask, found: &mut Vec<String>) {
    match (plain, proxied) {
        (Answer::Ok(a), Answer::Ok(b)) => {
            field("affected rows", &a.affected, &b.affected, mask.affected, found);
            field("insert id", &a.insert_id, &b.insert_id, mask.insert_id, found);
            field("presence of an insert id", &(a.insert_id != 0), &(b.insert_id != 0), false, found);
            field("info", &a.info, &b.info, mask.info, found);
        }
        (Answer::Rows(a), Answer::Rows(b)) => compare_rows(sql, a, b, mask, found),
        (Answer::Err(a), Answer::Err(b)) => {
            field("error number", &a.code, &b.code, false, found);
            field("SQLSTATE", &a.state, &b.state, false, found);
            field("error text", &a.text, &b.text, mask.error_text, found);
        }
        (Answer::Ok(_) | Answer::Rows(_) | Answer::Err(_) | Answer::Lost(_), _) => {
            found.push("another kind of answer".to_owned());
        }
    }
    field("warnings", &plain.warnings(), &proxied.warnings(), false, found);
    let flags = |answer: &Answer| answer.status().map(|status| format!("{:#06x}", status & STATUS_COMPARED));
    field("status flags", &flags(plain), &flags(proxied), false, found);
}

fn compare_rows(sql: &str, plain: &ResultSet, proxied: &ResultSet, mask: &Mask, found: &mut Vec<String>) {
    let names = |set: &ResultSet| set.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    field("column names", &names(plain), &names(proxied), false, found);
    for (a, b) in plain.columns.iter().zip(&proxied.columns) {
        compare_column(a, b, mask.metadata, found);
    }
    let (a, b) = (shown_rows(plain, mask), shown_rows(proxied, mask));
    let ordered = sql.to_ascii_uppercase().contains("ORDER BY") && !mask.order;
    let same = if ordered { a == b } else { sorted(&a) == sorted(&b) };
    if !same {
        let missing = lacking(&a, &b);
        let extra = lacking(&b, &a);
        found.push(format!("rows: {} against {}", a.len(), b.len()));
        found.extend(missing.iter().take(10).map(|row| format!("  only plain:   {row:?}")));
        found.extend(extra.iter().take(10).map(|row| format!("  only proxied: {row:?}")));
        if missing.is_empty() && extra.is_empty() {
            found.push("  the same rows in another order".to_owned());
        }
    }
}

fn compare_column(a: &Column, b: &Column, names_only: bool, found: &mut Vec<String>) {
    let what = |field: &str| format!("column `{}`: {field}", a.name);
    field(&what("org_name"), &a.org_name, &b.org_name, false, found);
    field(&what("schema"), &a.schema, &b.schema, false, found);
    field(&what("table"), &a.table, &b.table, false, found);
    field(&what("org_table"), &a.org_table, &b.org_table, false, found);
    field(&what("type"), &a.kind, &b.kind, names_only, found);
    field(&what("charset"), &a.charset, &b.charset, names_only, found);
    field(&what("length"), &a.length, &b.length, names_only, found);
    field(&what("flags"), &format!("{:#06x}", a.flags), &format!("{:#06x}", b.flags), names_only, found);
    field(&what("decimals"), &a.decimals, &b.decimals, names_only, found);
}

fn field<T: PartialEq + std::fmt::Debug>(what: &str, plain: &T, proxied: &T, masked: bool, found: &mut Vec<String>) {
    if plain != proxied && !masked {
        found.push(format!("{what}: {plain:?} against {proxied:?}"));
    }
}

type ShownRow = Vec<Option<String>>;

fn shown_rows(set: &ResultSet, mask: &Mask) -> Vec<ShownRow> {
    let masked: Vec<bool> = set
        .columns
        .iter()
        .map(|column| mask.columns.iter().any(|name| name.eq_ignore_ascii_case(&column.name)))
        .collect();
    let shown = |index: usize, cell: &Option<Vec<u8>>| {
        cell.as_deref().map(|bytes| match masked.get(index) {
            Some(true) => "<masked>".to_owned(),
            // Escaped, so that bytes which are no text stay different.
            _ => bytes.escape_ascii().to_string(),
        })
    };
    set.rows.iter().map(|row| row.iter().enumerate().map(|(index, cell)| shown(index, cell)).collect()).collect()
}

fn sorted(rows: &[ShownRow]) -> Vec<&ShownRow> {
    let mut rows: Vec<&ShownRow> = rows.iter().collect();
    rows.sort();
    rows
}

/// The rows of `all` that `other` lacks, counted.
fn lacking(all: &[ShownRow], other: &[ShownRow]) -> Vec<ShownRow> {
    let mut rest: Vec<&ShownRow> = sorted(other);
    all.iter()
        .filter(|row| match rest.binary_search(row) {
            Ok(at) => {
                rest.remove(at);
                false
            }
            Err(_) => true,
        })
        .cloned()
        .collect()
}
