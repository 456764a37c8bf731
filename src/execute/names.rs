//! What a server says in the client's terms: physical names made logical in column definitions,
//! errors and warnings, rows of a split INSERT called by the client's numbers.

use std::borrow::Cow;

use crate::definition::without_constraint_suffix;
use crate::error::Error;
use crate::protocol::column::Names;
use crate::route::{Name, Part};
use crate::topology::{ServerNo, Topology};

/// What a column definition is to say: schema and tables as the client knows them.
pub fn in_column<'a>(names: &'a [Name], seen: Names<'a>) -> Names<'a> {
    // A derived table's columns name the table below, without its database.
    let is_there = |name: &&Name| name.database.as_bytes() == seen.schema || seen.schema.is_empty();
    let Some(name) = names.iter().filter(is_there).find(|name| name.table.as_bytes() == seen.org_table) else {
        // MariaDB calls such a table by its alias.
        let mut owned = names.iter().filter(is_there).filter(|name| name.own.is_some());
        if let (Some(name), None, false) = (owned.next(), owned.next(), seen.org_table.is_empty()) {
            return Names {
                schema: name.logical_schema.as_bytes(),
                table: seen.table,
                org_table: name.logical_table.as_bytes(),
            };
        }
        return match names.iter().find(|name| name.database.as_bytes() == seen.schema) {
            Some(name) => Names { schema: name.logical_schema.as_bytes(), ..seen },
            None => seen,
        };
    };
    let logical = name.logical_table.as_bytes();
    Names {
        // A table that is read through its ownership test is still the client's table.
        schema: if seen.schema.is_empty() && name.own.is_none() { b"" } else { name.logical_schema.as_bytes() },
        table: if seen.table == name.table.as_bytes() { logical } else { seen.table },
        org_table: logical,
    }
}

/// A server's error as the client is to read it.
pub fn in_error(names: &[Name], error: Error) -> Error {
    let text = in_text(names, error.code(), error.text());
    if text == error.text() { error } else { error.with_text(text) }
}

/// The same where the part holds some of an INSERT's rows; and which row that is, as far as is
/// known: its first one where the server does not say.
pub fn in_row_error(part: &Part, error: Error) -> (u32, Error) {
    let error = in_error(&part.names, error);
    let (row, text) = renumbered(&part.numbers, error.text());
    let row = row.or(part.numbers.first().copied()).unwrap_or(0);
    match text {
        Some(text) => (row, error.with_text(text)),
        None => (row, error),
    }
}

/// Reads "… at row 2" with the part's second row's number: that number, and the text with it.
pub fn renumbered(numbers: &[u32], text: &[u8]) -> (Option<u32>, Option<Vec<u8>>) {
    const AT: &[u8] = b" at row ";
    if let Some(rest) = text.strip_prefix(b"Row ").filter(|_| !numbers.is_empty()) {
        // "Row 2 doesn't contain data for all columns", of a file.
        let (digits, rest) = rest.split_at(rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len()));
        let said = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<usize>().ok());
        let Some(row) = said.and_then(|said| numbers.get(said.checked_sub(1)?)) else { return (None, None) };
        return (Some(*row), Some([b"Row ", row.to_string().as_bytes(), rest].concat()));
    }
    let Some(at) = memchr::memmem::rfind(text, AT).filter(|_| !numbers.is_empty()) else { return (None, None) };
    let (before, digits) = text.split_at(at + AT.len());
    let said = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<usize>().ok());
    let Some(row) = said.and_then(|said| numbers.get(said.checked_sub(1)?)) else { return (None, None) };
    (Some(*row), Some([before, row.to_string().as_bytes()].concat()))
}

/// The text of an error or a warning of this number.
pub fn in_text(names: &[Name], code: u16, text: &[u8]) -> Vec<u8> {
    // Between the quotes of a duplicate entry stands data, which may look like a name.
    let data = match code {
        DUP_ENTRY | DUP_ENTRY_WITH_KEY_NAME => memchr::memmem::rfind(text, b"' for key '").unwrap_or(0),
        _ => 0,
    };
    let (data, message) = text.split_at(data);
    let mut message = message.to_vec();
    for name in names {
        if name.table != name.logical_table {
            message = replaced(&message, name.table.as_bytes(), name.logical_table.as_bytes());
            message = without_constraint_suffix(&message);
        }
        if name.database != name.logical_schema {
            message = replaced(&message, name.database.as_bytes(), name.logical_schema.as_bytes());
        }
    }
    [data, &message].concat()
}

/// The schemas whose unsharded tables a server has.
#[derive(Clone, Copy, Debug)]
pub struct Homes<'a> {
    pub topology: &'a Topology,
    pub server: ServerNo,
}

impl Homes<'_> {
    /// A foreign key's error names the table at its other end, which the statement need not name and
    /// which may be of another schema: `` `shop_0`.`customer` `` becomes `` `shop`.`customer` ``,
    /// `'shop_0.a,mall_0.b'` becomes `'shop.a,mall.b'`, for every schema at home on this server.
    pub fn in_qualifiers<'t>(self, text: &'t [u8]) -> Cow<'t, [u8]> {
        // Data, not names.
        if text.starts_with(b"Duplicate entry") {
            return text.into();
        }
        if let Some(rest) = text.strip_prefix(b"FUNCTION ")
            && let Some(length) = memchr::memchr(b'.', rest)
            && let Some(schema) = self.topology.at_home(self.server, &rest[..length])
        {
            return [b"FUNCTION ", schema.name.as_bytes(), &rest[length..]].concat().into();
        }
        let mut out = Cow::Borrowed(text);
        let mut at = 0;
        while let Some(quote) = memchr::memchr3(b'`', b'\'', b',', &out[at..]) {
            let start = at + quote + 1;
            let end = match out[start - 1] {
                b'`' => memchr::memmem::find(&out[start..], b"`."),
                _ => memchr::memchr(b'.', &out[start..]),
            };
            at = start;
            if let Some(schema) = end.and_then(|length| self.topology.at_home(self.server, &out[start..start + length]))
            {
                let database = start..start + schema.home().database.len();
                out.to_mut().splice(database, schema.name.bytes());
                at += schema.name.len();
            }
        }
        out
    }
}

/// Errors that may name what the statement does not: of foreign keys, and of a function that the server
/// looked for itself.
pub fn may_name_others(code: u16) -> bool {
    is_of_foreign_key(code) || code == 1305
}

/// A parent row that is missing, a child row that stands.
fn is_of_foreign_key(code: u16) -> bool {
    matches!(code, 1216 | 1217 | 1451 | 1452)
}

/// A server's words about foreign keys name tables that the statement doesn't: subtables and their
/// constraints lose their numbers, databases get their schema's name.
pub fn in_foreign(topology: &Topology, error: Error) -> Error {
    match names_parents(error.code()) {
        true => {
            let text = in_foreign_text(topology, error.text());
            error.with_text(text)
        }
        false => error,
    }
}

/// Also: DROP and TRUNCATE of a table that others point to, a key that doesn't fit.
fn names_parents(code: u16) -> bool {
    is_of_foreign_key(code)
        || matches!(code, 1005 | 1215 | 1553 | 1701 | 1822 | 1824 | 1828 | 1829 | 1832..=1834 | 3730 | 3780)
}

pub(super) fn in_foreign_text(topology: &Topology, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.iter().position(|byte| matches!(byte, b'`' | b'\'')) {
        let quote = rest[open];
        out.extend_from_slice(&rest[..=open]);
        rest = &rest[open + 1..];
        let Some(close) = rest.iter().position(|byte| *byte == quote) else { break };
        let mut parts = rest[..close].split(|byte| *byte == b'.').peekable();
        while let Some(part) = parts.next() {
            out.extend_from_slice(&logical_word(topology, part));
            out.extend(parts.peek().map(|_| b'.'));
        }
        out.push(quote);
        rest = &rest[close + 1..];
    }
    out.extend_from_slice(rest);
    without_constraint_suffix(&out)
}

/// A database, a subtable, or a constraint that a server has called after one.
fn logical_word(topology: &Topology, word: &[u8]) -> Vec<u8> {
    let table =
        |word: &[u8]| topology.schemas().find_map(|schema| schema.logical_of(word)).map(|(rule, _)| &*rule.name);
    if let Some(name) = table(word) {
        return name.as_bytes().to_vec();
    }
    if let Some(at) = memchr::memmem::rfind(word, b"_ibfk_")
        && let Some(name) = table(&word[..at])
    {
        return [name.as_bytes(), &word[at..]].concat();
    }
    let is_of = |schema: &&std::sync::Arc<crate::topology::Schema>| {
        schema.shards().iter().any(|shard| shard.database.as_bytes() == word)
    };
    topology.schemas().find(is_of).map_or_else(|| word.to_vec(), |schema| schema.name.as_bytes().to_vec())
}

const DUP_ENTRY: u16 = 1062;
const DUP_ENTRY_WITH_KEY_NAME: u16 = 1586;

/// `text` with each whole word `from` made `to`.
fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let is_word = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..))
    };
    let mut out = Vec::with_capacity(text.len());
    let mut done = 0;
    for at in memchr::memmem::find_iter(text, from) {
        let end = at + from.len();
        if at < done || is_word(text[..at].last()) || is_word(text.get(end)) {
            continue;
        }
        out.extend_from_slice(&text[done..at]);
        out.extend_from_slice(to);
        done = end;
    }
    out.extend_from_slice(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<Name> {
        vec![Name {
            database: "mall_1".into(),
            table: "orders_0007".into(),
            logical_schema: "mall".into(),
            logical_table: "orders".into(),
            own: None,
        }]
    }

    #[test]
    fn texts_lose_physical_names_and_keep_data() {
        let text = |code, text: &str| String::from_utf8(in_text(&names(), code, text.as_bytes())).expect("UTF-8");
        assert_eq!(text(1146, "Table 'mall_1.orders_0007' doesn't exist"), "Table 'mall.orders' doesn't exist");
        assert_eq!(
            text(1054, "Unknown column 'orders_0007x' in 'field list'"),
            "Unknown column 'orders_0007x' in 'field list'"
        );
        assert_eq!(
            text(1062, "Duplicate entry 'orders_0007' for key 'orders_0007.PRIMARY'"),
            "Duplicate entry 'orders_0007' for key 'orders.PRIMARY'"
        );
        assert_eq!(
            text(4025, "CONSTRAINT `c_0007` failed for `mall_1`.`orders_0007`"),
            "CONSTRAINT `c` failed for `mall`.`orders`"
        );
        assert_eq!(text(3819, "Check constraint 'c_0007' is violated."), "Check constraint 'c' is violated.");
        assert_eq!(text(1451, "fails (`mall_1`.`orders_0007`, CONSTRAINT"), "fails (`mall`.`orders`, CONSTRAINT");
    }

    #[test]
    fn rows_are_called_by_the_clients_numbers() {
        let text = |text: &str| {
            let (row, text) = renumbered(&[2, 5], text.as_bytes());
            (row, text.map(|text| String::from_utf8(text).expect("UTF-8")))
        };
        assert_eq!(
            text("Data too long for column 'v' at row 2"),
            (Some(5), Some("Data too long for column 'v' at row 5".into()))
        );
        assert_eq!(text("Data too long for column 'v' at row 3"), (None, None));
        assert_eq!(text("Duplicate entry 'x at row 1' for key 'k'"), (None, None));
    }

    #[test]
    fn column_definitions_keep_aliases() {
        let names = names();
        let seen =
            |table: &'static str| Names { schema: b"mall_1", table: table.as_bytes(), org_table: b"orders_0007" };
        assert_eq!(in_column(&names, seen("o")), Names { schema: b"mall", table: b"o", org_table: b"orders" });
        assert_eq!(in_column(&names, seen("orders_0007")).table, b"orders");
    }
}
