//! Rows into a temporary table: values as literals that say exactly what is stored, many rows in a
//! statement, one statement under way while the next is written.

use crate::error::{Blame, Error, Result, code};
use crate::plan::gather::Form;
use crate::protocol::Command;
use crate::protocol::payload::Reader;
use crate::protocol::reply::Kind;
use crate::protocol::result_set::Format;
use crate::route::Name;
use crate::shard::Conn;
use crate::sql::literal;

/// An INSERT is sent when it has so many bytes.
const BATCH: usize = 256 * 1024;

/// What one statement may collect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub rows: u64,
    pub bytes: u64,
    /// As they were at first, for the words of the error.
    pub limits: (u64, u64),
}

impl Budget {
    pub fn new(rows: u64, bytes: u64) -> Self {
        Budget { rows, bytes, limits: (rows, bytes) }
    }

    /// Rows and bytes taken so far.
    pub fn taken(&self) -> (u64, u64) {
        (self.limits.0 - self.rows, self.limits.1 - self.bytes)
    }

    fn take(&mut self, bytes: usize) -> Result<()> {
        let left = self.rows.checked_sub(1).zip(self.bytes.checked_sub(bytes as u64));
        (self.rows, self.bytes) = left.ok_or_else(|| {
            let (rows, bytes) = self.limits;
            Error::new(
                Blame::Client,
                TOO_MUCH,
                format!(
                    "Bifold: the statement would collect more than {rows} rows or {} MiB from several places: add conditions \
                     on its tables, or raise gather.rows and gather.bytes.",
                    bytes >> 20
                ),
            )
        })?;
        Ok(())
    }
}

/// "The SELECT would examine more than MAX_JOIN_SIZE rows": the server's own error for too much work.
const TOO_MUCH: (u16, &[u8; 5]) = (1104, b"42000");

/// Fills one table.
pub(super) struct Loader<'c> {
    conn: &'c mut Conn,
    forms: Vec<Form>,
    /// `INSERT INTO … VALUES `, then rows.
    text: Vec<u8>,
    head: usize,
    rows: u64,
    /// The rows of the INSERT that is under way.
    sent: Option<u64>,
}

impl<'c> Loader<'c> {
    pub fn new<'n>(conn: &'c mut Conn, table: &Name, columns: impl Iterator<Item = (&'n str, Form)>) -> Self {
        let mut text = b"INSERT INTO ".to_vec();
        literal::quote_name(&table.database, &mut text);
        text.push(b'.');
        literal::quote_name(&table.table, &mut text);
        text.extend_from_slice(b" (");
        let mut forms = Vec::new();
        for (name, form) in columns {
            text.extend_from_slice(if forms.is_empty() { b"" } else { b", " });
            literal::quote_name(name, &mut text);
            forms.push(form);
        }
        text.extend_from_slice(b") VALUES ");
        Loader { conn, forms, head: text.len(), text, rows: 0, sent: None }
    }

    /// A row as a server gave it.
    pub fn row(&mut self, row: &[u8], format: Format, budget: &mut Budget) -> Result<()> {
        budget.take(row.len())?;
        let mut reader = Reader::new(row);
        let columns = self.forms.len();
        let nulls = match format {
            Format::Text => &[][..],
            Format::Binary => {
                reader.u8()?;
                reader.take((columns + 2).div_ceil(8))?
            }
        };
        self.begin_row();
        for column in 0..columns {
            let bit = column + 2;
            let is_null = nulls.get(bit / 8).is_some_and(|byte| byte & (1 << (bit % 8)) != 0);
            match (format, self.forms[column]) {
                _ if is_null => self.value(column, None),
                (Format::Binary, Form::Double | Form::Float) => {
                    let number = f64::from_bits(reader.u64()?);
                    self.value(column, Some(format!("{number:e}").as_bytes()));
                }
                // All others are strings, which look alike in both formats.
                _ => self.value(column, reader.text_value()?),
            }
        }
        self.text.push(b')');
        Ok(())
    }

    fn begin_row(&mut self) {
        self.text.extend_from_slice(if self.rows == 0 { b"(" } else { b",(" });
        self.rows += 1;
    }

    fn value(&mut self, column: usize, value: Option<&[u8]>) {
        let out = &mut self.text;
        if column > 0 {
            out.push(b',');
        }
        let Some(value) = value else { return out.extend_from_slice(b"NULL") };
        match self.forms[column] {
            Form::Number => out.extend_from_slice(value),
            Form::Text | Form::Shown | Form::Double | Form::Float => put_string(b"", value, out),
            Form::Characters | Form::Bytes => put_string(b"_binary", value, out),
            // The zero date has no number of its own but 0, which no other moment can have.
            Form::Timestamp if value.iter().all(|byte| matches!(byte, b'0' | b'.')) => {
                out.extend_from_slice(b"'0000-00-00 00:00:00'");
            }
            Form::Timestamp => {
                out.extend_from_slice(b"FROM_UNIXTIME(");
                out.extend_from_slice(value);
                out.push(b')');
            }
        }
    }

    /// Sends what has been written, if it is enough.
    pub async fn make_way(&mut self) -> Result<()> {
        if self.text.len() < BATCH { Ok(()) } else { self.send().await }
    }

    pub async fn finish(mut self) -> Result<()> {
        if self.rows > 0 {
            self.send().await?;
        }
        self.answered().await
    }

    async fn send(&mut self) -> Result<()> {
        self.answered().await?;
        self.conn.send(Command::Query, &self.text).await?;
        self.sent = Some(std::mem::take(&mut self.rows));
        self.text.truncate(self.head);
        Ok(())
    }

    async fn answered(&mut self) -> Result<()> {
        let Some(rows) = self.sent.take() else { return Ok(()) };
        let answer = self.conn.read_answer(Kind::Results).await?;
        if answer.affected != rows {
            return Err(changed("a row is missing"));
        }
        if answer.warnings > 0 {
            let said = self.conn.run("SHOW WARNINGS").await?;
            for row in &said.rows {
                let text = |cell: usize| row.get(cell).and_then(Option::as_deref).unwrap_or_default();
                if !self.is_harmless(text(1)) {
                    return Err(changed(&String::from_utf8_lossy(text(2))));
                }
            }
        }
        Ok(())
    }

    /// Columns that are left out have no default; the label 0 of an ENUM is none of its list.
    fn is_harmless(&self, code: &[u8]) -> bool {
        match code {
            b"1364" => true,
            b"1265" => self.forms.contains(&Form::Number),
            _ => false,
        }
    }
}

fn changed(what: &str) -> Error {
    Error::proxy(format!("Bifold: collected rows did not arrive as they were: {what}."))
}

/// A string in quotes, its bytes as they are; the connection's sql_mode lets backslashes escape.
fn put_string(introducer: &[u8], mut value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(introducer);
    out.push(b'\'');
    while let Some(at) = memchr::memchr3(b'\'', b'\\', 0, value) {
        out.extend_from_slice(&value[..at]);
        out.push(b'\\');
        out.push(if value[at] == 0 { b'0' } else { value[at] });
        value = &value[at + 1..];
    }
    out.extend_from_slice(value);
    out.push(b'\'');
}

/// An error of loading that may not come where every column is loaded: a CHECK over a column that was
/// left out, a unique key over an expression of it.
pub(super) fn may_be_of_left_out(error: &Error) -> bool {
    matches!(error.code(), 1062 | 3819 | 4025)
}

/// What a unique key over rows of several places says.
pub(super) fn explained(error: Error, table: &str) -> Error {
    if error.code() != 1062 {
        return error;
    }
    let text = String::from_utf8_lossy(error.text()).into_owned();
    Error::new(
        Blame::Client,
        code::NOT_SUPPORTED,
        format!(
            "Bifold: rows of table {table} in several places share the value of a unique key, so they can't be brought \
             together in one table ({text}): read it with its sharding key, or by itself."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_bytes() {
        let put = |value: &[u8]| {
            let mut out = Vec::new();
            put_string(b"_binary", value, &mut out);
            out
        };
        assert_eq!(put(b""), b"_binary''");
        assert_eq!(put(b"a'b\\c\0d\xFF"), b"_binary'a\\'b\\\\c\\0d\xFF'");
        assert_eq!(put(b"''"), b"_binary'\\'\\''");
    }

    #[test]
    fn a_budget_ends_with_its_rows_or_bytes() {
        let mut budget = Budget::new(2, 100);
        budget.take(60).expect("the first");
        assert_eq!(budget.take(60).expect_err("the bytes").code(), 1104);
        budget.take(40).expect("the second");
        assert_eq!(budget.take(0).expect_err("the rows").code(), 1104);
    }
}
