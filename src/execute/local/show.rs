//! SHOW of what the proxy knows better than any one server. Column definitions come from the
//! same SHOW on a server, without rows; LIKE and WHERE are decided by a server too, over the
//! proxy's own lines as a derived table.

use super::answer::Table;
use super::fold::{self, Status};
use super::processes;
use crate::error::Result;
use crate::execute::client::{self, Client};
use crate::execute::exchange;
use crate::execute::statement::Running;
use crate::plan::Effect;
use crate::plan::local::{Filter, Level, Limit, Show};
use crate::protocol::collation::{Charset, Collation};
use crate::protocol::column::{Column, ColumnFlags, ColumnType};
use crate::protocol::result_set::text_column;
use crate::shard::{Answer, Row};
use crate::sql::Flavour;
use crate::sql::literal::quote_name;
use crate::topology::{Schema, ServerNo};

pub(super) async fn run(running: &Running<'_>, client: &mut Client, what: &Show) -> Result<()> {
    let table = match what {
        Show::Databases(filter) => databases(running, client, filter).await?,
        Show::Tables { schema, full, filter } => tables(running, client, schema, *full, filter).await?,
        Show::TableStatus { schema, filter } => status(running, client, schema, filter).await?,
        Show::Processlist { full } => processes::run(running, client, *full).await?,
        Show::Grants => grants(running, client),
        Show::Diagnostics { level, limit } => diagnostics(running, client, *level, *limit),
        Show::DiagnosticsCount(level) => count(client, *level),
    };
    // SHOW WARNINGS and its like leave what they show.
    if !matches!(what, Show::Diagnostics { .. } | Show::DiagnosticsCount(_) | Show::Processlist { .. }) {
        client.memory.diagnostics.clear();
    }
    let found_rows = client.memory.found_rows;
    table.reply(client, running.bound.is_some()).await?;
    // And what the statement before found.
    if matches!(what, Show::Diagnostics { .. }) {
        client.memory.found_rows = found_rows;
    }
    Ok(())
}

// Schemas and tables

async fn databases(running: &Running<'_>, client: &mut Client, filter: &Filter) -> Result<Table> {
    let mut names: Vec<String> = client.user.schemas.clone();
    names.push("information_schema".into());
    names.sort();
    let asked = Asked {
        server: running.engine.topology.servers()[0].no,
        show: "SHOW DATABASES".into(),
        first: "`Database`".into(),
        title: "Database".into(),
    };
    let mut table = asked.columns(running, client, filter).await?;
    table.rows = names.into_iter().map(|name| vec![Some(name.into_bytes())]).collect();
    asked.filter(running, client, &mut table, filter).await?;
    Ok(table)
}

async fn tables(
    running: &Running<'_>,
    client: &mut Client,
    schema: &Schema,
    full: bool,
    filter: &Filter,
) -> Result<Table> {
    let words = if full { "FULL TABLES" } else { "TABLES" };
    let asked = Asked {
        server: schema.home().server,
        show: format!("SHOW {words} FROM {}", quoted(&schema.home().database)),
        first: quoted(&format!("Tables_in_{}", schema.home().database)),
        title: format!("Tables_in_{}", schema.name),
    };
    let mut rows = ask(running, client, asked.server, &asked.show).await?.rows;
    rows.retain_mut(|row| {
        let name = row[0].as_deref().and_then(|physical| fold::listed(schema, physical));
        let is_listed = name.is_some();
        row[0] = name;
        is_listed
    });
    rows.sort();
    let mut table = asked.columns(running, client, filter).await?;
    table.rows = rows;
    asked.filter(running, client, &mut table, filter).await?;
    Ok(table)
}

async fn status(running: &Running<'_>, client: &mut Client, schema: &Schema, filter: &Filter) -> Result<Table> {
    let home = schema.home();
    let show = |database: &str| format!("SHOW TABLE STATUS FROM {}", quoted(database));
    let mut status = Status::default();
    for shard in schema.shards() {
        for row in ask(running, client, shard.server, &show(&shard.database)).await?.rows {
            status.add(schema, shard.no == home.no, row);
        }
    }
    let asked = Asked { server: home.server, show: show(&home.database), first: "`Name`".into(), title: String::new() };
    let mut table = asked.columns(running, client, filter).await?;
    table.rows = status.lines().collect();
    asked.filter(running, client, &mut table, filter).await?;
    Ok(table)
}

/// A SHOW of a server's, which knows what the columns are.
struct Asked {
    server: ServerNo,
    show: String,
    /// The first column, as the server calls it, in quotes.
    first: String,
    /// What it is called for the client; empty: as the server calls it.
    title: String,
}

impl Asked {
    /// The columns, and no rows. LIKE shows in the first one's title: `Tables_in_mall (o%)`.
    async fn columns(&self, running: &Running<'_>, client: &mut Client, filter: &Filter) -> Result<Table> {
        let (no_rows, pattern) = match filter {
            Filter::All => (String::new(), None),
            // MySQL describes the columns otherwise where a condition is constant.
            Filter::Where(_) => (format!(" WHERE {} LIKE ''", self.first), None),
            Filter::Like(literal) => (" LIKE ''".into(), literal.get(1..literal.len().saturating_sub(1))),
        };
        let mut table = Table::of(ask(running, client, self.server, &format!("{}{no_rows}", self.show)).await?);
        table.rows.clear();
        if !self.title.is_empty() {
            table.rename(|at, names| {
                if at > 0 {
                    return;
                }
                let mut title = self.title.clone().into_bytes();
                if let Some(pattern) = pattern {
                    title.extend_from_slice(b" (");
                    title.extend_from_slice(pattern);
                    title.push(b')');
                }
                if names.org_name == names.name {
                    names.org_name = title.clone();
                }
                names.name = title;
            })?;
        }
        Ok(table)
    }

    /// Leaves the lines that LIKE or WHERE wants: a server decides, over a table derived from them.
    async fn filter(
        &self,
        running: &Running<'_>,
        client: &mut Client,
        table: &mut Table,
        filter: &Filter,
    ) -> Result<()> {
        let mut names = table.names()?;
        if !self.title.is_empty() {
            names[0] = self.title.clone().into_bytes();
        }
        let mut condition = b" WHERE ".to_vec();
        match filter {
            Filter::All => return Ok(()),
            Filter::Like(pattern) => {
                // Names are compared as they are spelled, on these servers.
                condition.extend_from_slice(b"CAST(");
                put_name(&names[0], &mut condition);
                condition.extend_from_slice(b" AS BINARY) LIKE CAST(");
                condition.extend_from_slice(pattern);
                condition.extend_from_slice(b" AS BINARY)");
            }
            Filter::Where(text) => condition.extend_from_slice(text),
        }
        if table.rows.is_empty() {
            return Ok(());
        }
        let mut text = b"SELECT bifold_line FROM (".to_vec();
        put_lines(&names, &table.rows, &mut text);
        text.extend_from_slice(b") AS bifold_lines");
        text.extend_from_slice(&condition);
        let answer = ask_bytes(running, client, self.server, &text).await?;
        let mut wanted: Vec<usize> = answer.rows.iter().filter_map(line).collect();
        wanted.sort_unstable();
        let mut at = 0;
        table.rows.retain(|_| {
            at += 1;
            wanted.binary_search(&(at - 1)).is_ok()
        });
        Ok(())
    }
}

/// `SELECT 0 AS bifold_line, … UNION ALL SELECT 1 …`
fn put_lines(names: &[Vec<u8>], rows: &[Row], text: &mut Vec<u8>) {
    for (at, row) in rows.iter().enumerate() {
        text.extend_from_slice(if at == 0 { b"SELECT " } else { b" UNION ALL SELECT " });
        text.extend_from_slice(at.to_string().as_bytes());
        text.extend_from_slice(b" AS bifold_line");
        for (name, cell) in names.iter().zip(row) {
            text.extend_from_slice(b", ");
            put_literal(cell.as_deref(), text);
            text.extend_from_slice(b" AS ");
            put_name(name, text);
        }
    }
}

fn line(row: &Row) -> Option<usize> {
    std::str::from_utf8(row.first()?.as_ref()?).ok()?.parse().ok()
}

fn put_name(name: &[u8], out: &mut Vec<u8>) {
    quote_name(&String::from_utf8_lossy(name), out);
}

/// A number as it is, so that it compares as one; anything else as a string.
fn put_literal(cell: Option<&[u8]>, out: &mut Vec<u8>) {
    match cell {
        None => out.extend_from_slice(b"NULL"),
        Some(digits) if !digits.is_empty() && digits.len() < 20 && digits.iter().all(u8::is_ascii_digit) => {
            out.extend_from_slice(digits);
        }
        Some([]) => out.extend_from_slice(b"''"),
        Some(bytes) => {
            out.extend_from_slice(b"_utf8mb4 X'");
            bytes.iter().for_each(|byte| out.extend_from_slice(format!("{byte:02X}").as_bytes()));
            // As a column has it: a literal beside it gives way.
            out.extend_from_slice(b"' COLLATE utf8mb4_general_ci");
        }
    }
}

fn quoted(name: &str) -> String {
    let mut out = Vec::new();
    quote_name(name, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

pub(super) async fn ask(running: &Running<'_>, client: &mut Client, server: ServerNo, text: &str) -> Result<Answer> {
    ask_bytes(running, client, server, text.as_bytes()).await
}

async fn ask_bytes(running: &Running<'_>, client: &mut Client, server: ServerNo, text: &[u8]) -> Result<Answer> {
    let need = exchange::need(client.shape, &client.settings.state, Effect::Read);
    let need = crate::transaction::Need { bare: true, ..need };
    client.hold.connection(&running.engine.servers, server, need).await?.run_bytes(text).await
}

// What the session itself knows

/// The collation number of utf8mb4_general_ci, which both servers have.
const UTF8MB4: u16 = 45;

fn grants(running: &Running<'_>, client: &Client) -> Table {
    let user = &client.user.name;
    let title = format!("Grants for {user}@%");
    let (decimals, _) = widths(running);
    let column = Column { flags: ColumnFlags::NOT_NULL, decimals, ..text_column(title.as_bytes(), UTF8MB4, 4096) };
    let mut table = Table::new(&[column]);
    let account = format!("{}@`%`", quoted(user));
    table.push([format!("GRANT USAGE ON *.* TO {account}").as_bytes()]);
    for schema in &client.user.schemas {
        table.push([format!("GRANT ALL PRIVILEGES ON {}.* TO {account}", quoted(schema)).as_bytes()]);
    }
    table
}

/// What the servers say of their strings' decimals, and of the width of an error's number.
fn widths(running: &Running<'_>) -> (u8, u32) {
    match running.engine.profile.dialect.flavour {
        Flavour::MySql => (31, 5),
        Flavour::MariaDb => (39, 4),
    }
}

fn diagnostics(running: &Running<'_>, client: &Client, level: Level, limit: Option<Limit>) -> Table {
    let (decimals, digits) = widths(running);
    let number = Column {
        kind: ColumnType::Long,
        collation: 63,
        length: digits,
        decimals: 0,
        flags: ColumnFlags::NOT_NULL.with(ColumnFlags::UNSIGNED).with(ColumnFlags::BINARY),
        ..text_column(b"Code", 63, digits)
    };
    // Texts came in the character set of results, as they go out.
    let setting = |name: &str| client.settings.state.system_word(name);
    let charset = Charset::by_name(setting("character_set_results").unwrap_or("utf8mb4"));
    let (name, width) = charset.map_or(("utf8mb4", 4), |charset| (charset.name, u32::from(charset.max_len)));
    let connection = setting("collation_connection").and_then(Collation::by_name);
    let collation = match (connection, charset) {
        (Some(collation), _) if collation.charset == name => collation.id,
        (_, Some(charset)) if name != "utf8mb4" => charset.default_collation,
        _ => UTF8MB4,
    };
    let text = |name, length| Column {
        flags: ColumnFlags::NOT_NULL,
        decimals,
        ..text_column(name, collation, length * width)
    };
    let mut table = Table::new(&[text(b"Level", 7), number, text(b"Message", 512)]);
    let Limit { offset, count } = limit.unwrap_or(Limit { offset: 0, count: u64::MAX });
    let bound = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    for diagnostic in wanted(client, level).skip(bound(offset)).take(bound(count)) {
        let code = diagnostic.code.to_string();
        table.push([word(diagnostic.level).as_bytes(), code.as_bytes(), &diagnostic.text]);
    }
    table
}

fn count(client: &Client, level: Level) -> Table {
    let name: &[u8] = match level {
        Level::Warnings => b"@@session.warning_count",
        Level::Errors => b"@@session.error_count",
    };
    let flags = ColumnFlags::UNSIGNED.with(ColumnFlags::BINARY);
    let column = Column { kind: ColumnType::LongLong, flags, decimals: 0, ..text_column(name, 63, 21) };
    let mut table = Table::new(&[column]);
    table.push([wanted(client, level).count().to_string().as_bytes()]);
    table
}

fn wanted(client: &Client, level: Level) -> impl Iterator<Item = &client::Diagnostic> {
    client.memory.diagnostics.iter().filter(move |diagnostic| match level {
        Level::Warnings => true,
        Level::Errors => diagnostic.level == client::Level::Error,
    })
}

fn word(level: client::Level) -> &'static str {
    match level {
        client::Level::Note => "Note",
        client::Level::Warning => "Warning",
        client::Level::Error => "Error",
    }
}
