//! Small results that are changed on their way: a server's answer held whole, its cells and
//! column definitions made logical, and written again in the form that the client reads.

use crate::error::Result;
use crate::execute::client::Client;
use crate::protocol::column::{Column, ColumnFlags, ColumnType};
use crate::protocol::result_set::{Format, ResultSet};
use crate::shard::{Answer, Row};
use crate::value::Value;

/// A result on its way to the client.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// ColumnDefinition41 payloads.
    pub columns: Vec<Vec<u8>>,
    pub rows: Vec<Row>,
    pub warnings: u16,
}

impl Table {
    pub fn of(answer: Answer) -> Self {
        Table {
            columns: answer.columns.into_iter().map(|column| column.definition).collect(),
            rows: answer.rows,
            warnings: answer.warnings,
        }
    }

    /// A result of the proxy's own.
    pub fn new(columns: &[Column<'_>]) -> Self {
        let payload = |column: &Column<'_>| {
            let mut out = Vec::new();
            column.write(&mut out);
            out
        };
        Table { columns: columns.iter().map(payload).collect(), rows: Vec::new(), warnings: 0 }
    }

    pub fn push<'a>(&mut self, cells: impl IntoIterator<Item = &'a [u8]>) {
        self.rows.push(cells.into_iter().map(|cell| Some(cell.to_vec())).collect());
    }

    /// The definitions with other names: `rename` gets each and changes it.
    pub fn rename(&mut self, mut rename: impl FnMut(usize, &mut Names)) -> Result<()> {
        for (at, payload) in self.columns.iter_mut().enumerate() {
            let column = Column::parse(payload)?;
            let mut names = Names {
                schema: column.schema.into(),
                table: column.table.into(),
                org_table: column.org_table.into(),
                name: column.name.into(),
                org_name: column.org_name.into(),
            };
            rename(at, &mut names);
            let renamed = Column {
                schema: &names.schema,
                table: &names.table,
                org_table: &names.org_table,
                name: &names.name,
                org_name: &names.org_name,
                ..column
            };
            let mut out = Vec::new();
            renamed.write(&mut out);
            *payload = out;
        }
        Ok(())
    }

    /// The columns' names.
    pub fn names(&self) -> Result<Vec<Vec<u8>>> {
        self.columns.iter().map(|payload| Ok(Column::parse(payload)?.name.to_vec())).collect()
    }

    /// Sends it; `binary` to one who executes a prepared statement.
    pub async fn reply(&self, client: &mut Client, binary: bool) -> Result<()> {
        let columns: Vec<Column<'_>> =
            self.columns.iter().map(|payload| Column::parse(payload)).collect::<Result<_>>()?;
        let (capabilities, status) = (client.capabilities, client.status());
        let format = if binary { Format::Binary } else { Format::Text };
        client.wire.queue_packets(|out, sequence| {
            let mut result = ResultSet::begin(out, sequence, capabilities, status, format, &columns);
            for row in &self.rows {
                let values: Vec<Value<'_>> =
                    columns.iter().zip(row).map(|(column, cell)| value(column, cell.as_deref(), binary)).collect();
                result.row(&values);
            }
            result.finish(self.warnings)
        });
        client.memory.row_count = -1;
        client.memory.found_rows = self.rows.len() as u64;
        client.wire.flush().await
    }
}

/// What a column definition calls things.
#[derive(Debug)]
pub(super) struct Names {
    pub schema: Vec<u8>,
    pub table: Vec<u8>,
    pub org_table: Vec<u8>,
    pub name: Vec<u8>,
    pub org_name: Vec<u8>,
}

/// A cell of a text row; for a binary row as a value of its column's type.
fn value<'a>(column: &Column<'_>, cell: Option<&'a [u8]>, binary: bool) -> Value<'a> {
    let Some(bytes) = cell else { return Value::Null };
    let text = Value::Text { bytes, charset: "utf8mb4" };
    if !binary {
        return text;
    }
    typed(column, bytes).unwrap_or(text)
}

fn typed<'a>(column: &Column<'_>, bytes: &'a [u8]) -> Option<Value<'a>> {
    use ColumnType::{
        Bool, Date, DateTime, Double, Float, Int24, Long, LongLong, NewDate, Short, Time, Timestamp, Tiny, Year,
    };
    let word = std::str::from_utf8(bytes).ok()?;
    match column.kind {
        Tiny | Bool | Short | Year | Long | Int24 | LongLong if column.flags.has(ColumnFlags::UNSIGNED) => {
            word.parse().ok().map(Value::UInt)
        }
        Tiny | Bool | Short | Year | Long | Int24 | LongLong => word.parse().ok().map(Value::Int),
        Float | Double => word.parse().ok().map(Value::Double),
        Date | NewDate => date(word).map(|(year, month, day)| Value::Date { year, month, day }),
        DateTime | Timestamp => {
            let (day_text, time_text) = word.split_once(' ')?;
            let ((year, month, day), (hour, minute, second, micro)) = (date(day_text)?, time(time_text)?);
            let hour = u8::try_from(hour).ok()?;
            Some(Value::DateTime { year, month, day, hour, minute, second, micro })
        }
        Time => {
            let negative = word.starts_with('-');
            let (hours, minute, second, micro) = time(word.trim_start_matches('-'))?;
            Some(Value::Time { negative, hours, minute, second, micro })
        }
        _ => None,
    }
}

fn date(text: &str) -> Option<(u16, u8, u8)> {
    let mut parts = text.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn time(text: &str) -> Option<(u32, u8, u8, u32)> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = clock.split(':');
    let micro = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, micro))
}
