//! Cells of SHOW that name tables and schemas, made logical.

use std::sync::Arc;

use super::answer::Table;
use crate::definition::Naming;
use crate::error::Result;
use crate::execute::names;
use crate::protocol::column;
use crate::route::Name;
use crate::topology::{Schema, Topology};

/// A cell of the column of this name.
pub(in crate::execute) fn in_cell(topology: &Topology, schema: &Schema, column: &[u8], cell: &mut Vec<u8>) {
    match column {
        b"Table" | b"Database" | b"Db" => {
            if let Some(name) = dotted(schema, cell) {
                *cell = name;
            }
        }
        b"Create Table" | b"Create Database" | b"Create View" => *cell = in_definition(topology, schema, cell),
        _ => {}
    }
}

/// What users make is the proxy's own account's on the servers; each sees it as the user's own.
pub(super) fn in_definer(user: &str, cell: &mut Vec<u8>) {
    const WORD: &[u8] = b" DEFINER=";
    let Some(at) = memchr::memmem::find(cell, WORD).map(|at| at + WORD.len()) else { return };
    let account = identifier(&cell[at..]).len();
    if cell.get(at + account) == Some(&b'@') {
        cell.splice(at..at + account, format!("`{}`", user.replace('`', "``")).into_bytes());
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

/// The words of a definition behind which a name stands.
const WORDS: [&[u8]; 6] = [b"TABLE ", b"DATABASE ", b"REFERENCES ", b"VIEW ", b"nextval(", CONSTRAINT];
const CONSTRAINT: &[u8] = b"CONSTRAINT ";

/// The text of a definition; what stands in its strings is data.
fn in_definition(topology: &Topology, schema: &Schema, text: &[u8]) -> Vec<u8> {
    let naming = naming(schema, text);
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
        if *word == CONSTRAINT {
            put_renamed(name, &mut out, |bare| constraint(naming.as_ref(), bare));
            at += name.len();
            continue;
        }
        // A qualifier: `mall_0`.`orders_0000`; a foreign key's may be another schema's.
        let mut schema = schema;
        if text.get(at + name.len()) == Some(&b'.') {
            schema = topology.at_home(schema.home().server, bare(name)).map_or(schema, Arc::as_ref);
            put_renamed(name, &mut out, |bare| logical_name(schema, bare));
            out.push(b'.');
            at += name.len() + 1;
            name = identifier(&text[at..]);
        }
        put_renamed(name, &mut out, |bare| logical_name(schema, bare));
        at += name.len();
    }
    out
}

/// How the constraints of the subtable are called whose definition this is.
fn naming(schema: &Schema, text: &[u8]) -> Option<Naming> {
    let name = identifier(text.strip_prefix(b"CREATE TABLE ")?);
    let (rule, subtable) = schema.logical_of(bare(name))?;
    Some(Naming::subtable(&rule.name, &rule.sharded()?.pattern, subtable))
}

fn constraint(naming: Option<&Naming>, physical: &[u8]) -> Vec<u8> {
    match (naming, std::str::from_utf8(physical)) {
        (Some(naming), Ok(name)) => naming.logical_constraint(name).into_owned().into_bytes(),
        (_, _) => physical.to_vec(),
    }
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

/// Without its quotes.
fn bare(quoted: &[u8]) -> &[u8] {
    match quoted {
        [b'`' | b'"', bare @ .., _] => bare,
        bare => bare,
    }
}

/// Another name, in the same quotes or none.
fn put_renamed(quoted: &[u8], out: &mut Vec<u8>, rename: impl Fn(&[u8]) -> Vec<u8>) {
    let quote = quoted.first().filter(|first| matches!(first, b'`' | b'"'));
    out.extend(quote);
    out.extend_from_slice(&rename(bare(quoted)));
    out.extend(quote);
}

fn logical_name(schema: &Schema, physical: &[u8]) -> Vec<u8> {
    match physical == schema.home().database.as_bytes() {
        true => schema.name.clone().into_bytes(),
        false => table_name(schema, physical),
    }
}

/// Column definitions.
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::config::{Surroundings, parse};
    use crate::topology::Topology;

    const FILE: &str = r#"
[listen]
mysql = "127.0.0.1:0"
[[user]]
name = "app"
password = "x"
schemas = ["mall"]
[backend]
user = "b"
password = "x"
[[server]]
name = "s0"
address = "127.0.0.1:3306"
[schema.mall]
shards = ["s0/mall_0"]
[schema.mall.table]
orders = { key = "uid", tables = 4 }
item = { key = "uid", tables = 4 }
product = { kind = "reference" }
"#;

    pub fn topology() -> Topology {
        let around = Surroundings { file: "test", folder: std::path::Path::new("."), env: &|_| None, now_ms: 0 };
        Topology::new(&parse(FILE, &around).unwrap_or_else(|findings| panic!("{findings}")), 1)
    }

    fn shown(column: &str, cell: &str) -> String {
        let topology = topology();
        let mut cell = cell.as_bytes().to_vec();
        in_cell(&topology, topology.schema("mall").expect("declared"), column.as_bytes(), &mut cell);
        String::from_utf8(cell).expect("UTF-8")
    }

    #[test]
    fn names_in_cells_are_logical() {
        assert_eq!(shown("Table", "orders_0000"), "orders");
        assert_eq!(shown("Table", "mall_0.orders_0000"), "mall.orders");
        assert_eq!(shown("Table", "mall_0.setting"), "mall.setting");
        assert_eq!(shown("Database", "mall_0"), "mall");
        assert_eq!(shown("Comment", "orders_0000"), "orders_0000");
    }

    #[test]
    fn definitions_are_rewritten_where_names_stand() {
        let text = "CREATE TABLE `orders_0000` (\n  `a` int DEFAULT 'TABLE `orders_0000` it''s \\' REFERENCES `item_0000`',\n  \
                    CONSTRAINT `big_0000` CHECK (`a` > 0),\n  CONSTRAINT `orders_0000_chk_1` CHECK (1),\n  \
                    FOREIGN KEY (`a`) REFERENCES `mall_0`.`item_0000` (`a`)\n) COMMENT='CONSTRAINT `big_0000`'";
        let logical = "CREATE TABLE `orders` (\n  `a` int DEFAULT 'TABLE `orders_0000` it''s \\' REFERENCES `item_0000`',\n  \
                       CONSTRAINT `big` CHECK (`a` > 0),\n  CONSTRAINT `orders_chk_1` CHECK (1),\n  \
                       FOREIGN KEY (`a`) REFERENCES `mall`.`item` (`a`)\n) COMMENT='CONSTRAINT `big_0000`'";
        assert_eq!(shown("Create Table", text), logical);
        assert_eq!(
            shown("Create Database", "CREATE DATABASE \"mall_0\" /*!40100 x */"),
            "CREATE DATABASE \"mall\" /*!40100 x */"
        );
        assert_eq!(
            shown("Create Table", "CREATE TABLE setting (a int, CONSTRAINT big_0000 CHECK (1))"),
            "CREATE TABLE setting (a int, CONSTRAINT big_0000 CHECK (1))"
        );
        assert_eq!(
            shown("Create Table", "CREATE TABLE `x` (`a` int DEFAULT 'open"),
            "CREATE TABLE `x` (`a` int DEFAULT 'open"
        );
    }
}
