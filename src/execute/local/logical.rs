//! Cells of SHOW that name tables and schemas, made logical.

use super::answer::Table;
use crate::error::Result;
use crate::execute::names;
use crate::protocol::column;
use crate::route::Name;
use crate::topology::Schema;

/// A cell of the column of this name.
pub(super) fn in_cell(schema: &Schema, column: &[u8], cell: &mut Vec<u8>) {
    match column {
        b"Table" | b"Database" | b"Db" => {
            if let Some(name) = dotted(schema, cell) {
                *cell = name;
            }
        }
        b"Create Table" | b"Create Database" | b"Create View" => *cell = in_definition(schema, cell),
        _ => {}
    }
}

/// `orders_0000`, `mall_0.orders_0000` or `mall_0`.
fn dotted(schema: &Schema, cell: &[u8]) -> Option<Vec<u8>> {
    let database = schema.home().database.as_bytes();
    if cell == database {
        return Some(schema.name.clone().into_bytes());
    }
    if let Some(table) = cell.strip_prefix(database).and_then(|rest| rest.strip_prefix(b".")) {
        let table = table_name(schema, table);
        return Some([schema.name.as_bytes(), b".", &table].concat());
    }
    Some(table_name(schema, cell))
}

fn table_name(schema: &Schema, physical: &[u8]) -> Vec<u8> {
    match schema.logical_of(physical) {
        Some((rule, _)) => rule.name.clone().into_bytes(),
        None => physical.to_vec(),
    }
}

/// The text of a definition: its names stand behind these words; what stands in strings is data.
fn in_definition(schema: &Schema, text: &[u8]) -> Vec<u8> {
    const WORDS: [&[u8]; 4] = [b"TABLE ", b"DATABASE ", b"REFERENCES ", b"VIEW "];
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let skipped = string_len(&text[at..]);
        if skipped > 0 {
            out.extend_from_slice(&text[at..at + skipped]);
            at += skipped;
            continue;
        }
        let word = WORDS.iter().find(|word| text[at..].starts_with(word));
        let Some(word) = word else {
            out.push(text[at]);
            at += 1;
            continue;
        };
        out.extend_from_slice(word);
        at += word.len();
        let mut name = identifier(&text[at..]);
        // A qualifier: `mall_0`.`orders_0000`
        if text.get(at + name.len()) == Some(&b'.') {
            put_logical(schema, name, &mut out);
            out.push(b'.');
            at += name.len() + 1;
            name = identifier(&text[at..]);
        }
        put_logical(schema, name, &mut out);
        at += name.len();
    }
    out
}

/// The length of the string in quotes that begins here, if one does.
fn string_len(text: &[u8]) -> usize {
    if text.first() != Some(&b'\'') {
        return 0;
    }
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\'' if text.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// The identifier at the front, with its quotes.
fn identifier(text: &[u8]) -> &[u8] {
    let end = match text.first() {
        Some(quote @ (b'`' | b'"')) => text[1..].iter().position(|byte| byte == quote).map_or(text.len(), |at| at + 2),
        _ => text
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)))
            .unwrap_or(text.len()),
    };
    &text[..end]
}

fn put_logical(schema: &Schema, quoted: &[u8], out: &mut Vec<u8>) {
    let (quote, bare) = match quoted {
        [quote @ (b'`' | b'"'), bare @ .., _] => (Some(*quote), bare),
        bare => (None, bare),
    };
    let logical = match bare == schema.home().database.as_bytes() {
        true => schema.name.clone().into_bytes(),
        false => table_name(schema, bare),
    };
    out.extend(quote);
    out.extend_from_slice(&logical);
    out.extend(quote);
}

/// Column definitions; a name that ends with a database (`Tables_in_mall_0`) too.
pub(super) fn in_columns(physical: &[Name], table: &mut Table) -> Result<()> {
    table.rename(|_, seen| {
        let logical = names::in_column(
            physical,
            column::Names { schema: &seen.schema, table: &seen.table, org_table: &seen.org_table },
        );
        let (schema, table, org_table) = (logical.schema.to_vec(), logical.table.to_vec(), logical.org_table.to_vec());
        (seen.schema, seen.table, seen.org_table) = (schema, table, org_table);
    })
}
