//! A statement over information_schema: the rows of each view that it names are read from the home
//! shards of the user's schemas, made logical, and put into a temporary table on one server; there
//! the statement runs as the client wrote it.

use super::client::Client;
use super::exchange::{self, At};
use super::gather::site::Site;
use super::local::fold::{self, Status};
use super::local::logical;
use super::names;
use super::relay::{self, Adjust};
use super::statement::Running;
use crate::definition::Naming;
use crate::error::{Error, Result};
use crate::plan::catalogue::{COUNTS, Catalogue, View, temporary};
use crate::protocol::reply;
use crate::route::{Name, Routed};
use crate::shard::{Answer, Row};
use crate::sql::Flavour;
use crate::topology::{Schema, Topology};

/// Rows of one INSERT into a temporary table.
const BATCH: usize = 200;

/// Tables that one statement asks for.
const ASKED: usize = 64;

pub(super) async fn run(
    running: &Running<'_>,
    client: &mut Client,
    routed: &mut Routed,
    plan: &Catalogue,
) -> Result<()> {
    let (engine, statement) = (running.engine, Running { planned: &plan.planned, ..*running });
    // 1. The text, and a connection for its tables
    statement.route(client, routed).await?;
    let text = routed.parts.first().map(|part| part.text.clone());
    let text = text.ok_or_else(|| Error::proxy("Bifold: a statement was routed to no place."))?;
    let mut site = Site::open(engine, plan.server, client.shape).await?;
    // 2. A table for each view, with its rows
    let names: Vec<Name> = plan.views.iter().enumerate().map(|(number, view)| name(plan, number, view)).collect();
    let making = Making { running, client, counts: plan.counts };
    for (view, name) in plan.views.iter().zip(&names) {
        making.fill(&mut site, view, name).await?;
    }
    // 3. The statement over them
    let conn = site.conn();
    conn.bring_to(client.state()).await?;
    let flags = client.reply_flags();
    let _killable = client.entry.listed().uses_aside(plan.server, conn.thread().0);
    let sent = exchange::send(conn, &routed.buffer[text], None, running.bound).await;
    sent.map_err(|error| names::in_error(&names, error))?;
    let adjust = Adjust { names: &names, homes: None, insert_id: None, flags, statement: None };
    let summary = relay::relay(conn, &mut client.wire, reply::Kind::Results, adjust).await?;
    let followed = exchange::follow(&statement, client, At::Apart(conn), &names, summary).await;
    // 4. Nothing left behind
    site.close().await;
    followed
}

fn name(plan: &Catalogue, number: usize, view: &View) -> Name {
    Name {
        database: plan.database.to_string(),
        table: temporary(number),
        logical_schema: "information_schema".into(),
        logical_table: view.name.into(),
        own: None,
    }
}

struct Making<'a> {
    running: &'a Running<'a>,
    client: &'a Client,
    counts: bool,
}

impl Making<'_> {
    async fn fill(&self, site: &mut Site<'_>, view: &View, name: &Name) -> Result<()> {
        let View { name: of, schema, .. } = view;
        site.create(name, &format!("AS SELECT * FROM information_schema.{of} WHERE 1 = 0")).await?;
        let table = format!("{}.{}", quoted(&name.database), quoted(&name.table));
        // What information_schema says of itself every server says alike.
        let own =
            format!("INSERT INTO {table} SELECT * FROM information_schema.{of} WHERE {schema} = 'information_schema'");
        site.conn().run(&own).await?;
        for schema in &self.client.user.schemas {
            let Some(schema) = self.running.engine.topology.schema(schema) else { continue };
            for rows in self.rows(schema, view).await?.chunks(BATCH) {
                let mut insert = format!("INSERT INTO {table} VALUES ").into_bytes();
                for (at, row) in rows.iter().enumerate() {
                    insert.extend_from_slice(if at > 0 { b", (" } else { b"(" });
                    for (at, cell) in row.iter().enumerate() {
                        insert.extend_from_slice(if at > 0 { b", " } else { b"" });
                        put(cell.as_deref(), &mut insert);
                    }
                    insert.push(b')');
                }
                site.conn().run_bytes(&insert).await?;
            }
        }
        Ok(())
    }

    /// The rows that tell of a schema and its tables, with logical names.
    async fn rows(&self, schema: &Schema, view: &View) -> Result<Vec<Row>> {
        let topology = &self.running.engine.topology;
        let database = &schema.home().database;
        let (of, column) = (view.name, view.schema);
        let Some(table_column) = view.table else {
            let sql = format!("SELECT * FROM information_schema.{of} WHERE {column} = {}", literal(database));
            return Ok(made(topology, schema, self.ask(schema, &sql).await?, None));
        };
        let listed = self.listed(schema).await?;
        let mut rows = Vec::new();
        for tables in listed.chunks(ASKED) {
            let answer = self.ask(schema, &self.question(view, table_column, database, tables)).await?;
            rows.extend(made(topology, schema, answer, Some(table_column)));
        }
        if of == "TABLES" && self.counts {
            self.count(schema, &mut rows).await?;
        }
        Ok(rows)
    }

    /// MariaDB finds a table by its name only where it is equal to one.
    fn question(&self, view: &View, table_column: &str, database: &str, tables: &[String]) -> String {
        let (of, column, database) = (view.name, view.schema, literal(database));
        let names: Vec<String> = tables.iter().map(|table| literal(table)).collect();
        match self.running.engine.profile.dialect.flavour {
            // Checks are not said to belong to a table there.
            Flavour::MySql if of == "CHECK_CONSTRAINTS" => format!(
                "SELECT c.*, t.TABLE_NAME FROM information_schema.CHECK_CONSTRAINTS c \
                 JOIN information_schema.TABLE_CONSTRAINTS t USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME) \
                 WHERE c.CONSTRAINT_SCHEMA = {database} AND t.TABLE_SCHEMA = {database} AND t.TABLE_NAME IN ({})",
                names.join(", ")
            ),
            Flavour::MySql => format!(
                "SELECT * FROM information_schema.{of} WHERE {column} = {database} AND {table_column} IN ({})",
                names.join(", ")
            ),
            Flavour::MariaDb => {
                let each = names.iter().map(|name| {
                    format!(
                        "SELECT * FROM information_schema.{of} WHERE {column} = {database} AND {table_column} = {name}"
                    )
                });
                each.collect::<Vec<_>>().join(" UNION ALL ")
            }
        }
    }

    /// The physical tables that stand for all logical ones.
    async fn listed(&self, schema: &Schema) -> Result<Vec<String>> {
        let answer = self.ask(schema, &format!("SHOW TABLES FROM {}", quoted(&schema.home().database))).await?;
        let names = answer.rows.into_iter().filter_map(|mut row| row.first_mut()?.take());
        let listed = names.filter(|name| fold::listed(schema, name).is_some());
        Ok(listed.map(|name| String::from_utf8_lossy(&name).into_owned()).collect())
    }

    /// What all subtables hold together.
    async fn count(&self, schema: &Schema, rows: &mut [Row]) -> Result<()> {
        let engine = self.running.engine;
        let mut status = Status::default();
        for shard in schema.shards() {
            let show = format!("SHOW TABLE STATUS FROM {}", quoted(&shard.database));
            for row in engine.servers.run(shard.server, &show).await?.rows {
                status.add(schema, shard.no == schema.home().no, row);
            }
        }
        let columns = self.ask(schema, "SELECT * FROM information_schema.TABLES WHERE 1 = 0").await?.columns;
        let at = |name: &str| columns.iter().position(|column| column.name == name.as_bytes());
        // In the order of SHOW TABLE STATUS.
        const SHOWN: [usize; 7] = [4, 5, 6, 8, 9, 10, 12];
        let Some(name_at) = at("TABLE_NAME") else { return Ok(()) };
        for line in status.lines() {
            let Some(row) = rows.iter_mut().find(|row| row[name_at] == line[0]) else { continue };
            for (name, shown) in COUNTS.iter().zip(SHOWN) {
                if let Some(at) = at(name) {
                    row[at] = line.get(shown).cloned().flatten();
                }
            }
        }
        Ok(())
    }

    async fn ask(&self, schema: &Schema, sql: &str) -> Result<Answer> {
        self.running.engine.servers.run(schema.home().server, sql).await
    }
}

/// Names in the columns that hold some, made logical.
fn made(topology: &Topology, schema: &Schema, answer: Answer, table_column: Option<&str>) -> Vec<Row> {
    let database = schema.home().database.as_bytes();
    let columns: Vec<&[u8]> = answer.columns.iter().map(|column| column.name.as_slice()).collect();
    // MySQL's CHECK_CONSTRAINTS came with the table's name behind.
    let is_check = columns.get(3) == Some(&&b"CHECK_CLAUSE"[..]) && columns.len() > 4;
    let width = columns.len() - usize::from(is_check);
    let table_at = table_column.and_then(|name| columns.iter().rposition(|column| *column == name.as_bytes()));
    let mut rows = answer.rows;
    for row in &mut rows {
        let physical = table_at.and_then(|at| row[at].clone());
        let naming = physical.as_deref().and_then(|name| naming(schema, name));
        for (column, cell) in columns.iter().zip(row.iter_mut()) {
            let Some(cell) = cell else { continue };
            match *column {
                b"TABLE_NAME" | b"REFERENCED_TABLE_NAME" | b"EVENT_OBJECT_TABLE" => {
                    if let Some(name) = fold::listed(schema, cell) {
                        *cell = name;
                    }
                }
                b"CONSTRAINT_NAME" => {
                    if let (Some(naming), Ok(name)) = (&naming, std::str::from_utf8(cell)) {
                        *cell = naming.logical_constraint(name).into_owned().into_bytes();
                    }
                }
                b"VIEW_DEFINITION" | b"CHECK_CLAUSE" => logical::in_cell(topology, schema, b"Create View", cell),
                _ if cell == database && is_schema(column) => *cell = schema.name.clone().into_bytes(),
                _ => {}
            }
        }
        row.truncate(width);
    }
    rows
}

fn is_schema(column: &[u8]) -> bool {
    column.ends_with(b"SCHEMA") || column == b"SCHEMA_NAME"
}

fn naming(schema: &Schema, physical: &[u8]) -> Option<Naming> {
    let (rule, subtable) = schema.logical_of(physical)?;
    Some(Naming::subtable(&rule.name, &rule.sharded()?.pattern, subtable))
}

fn put(cell: Option<&[u8]>, out: &mut Vec<u8>) {
    match cell {
        None => out.extend_from_slice(b"NULL"),
        Some([]) => out.extend_from_slice(b"''"),
        Some(bytes) => {
            out.extend_from_slice(b"_utf8mb4 X'");
            bytes.iter().for_each(|byte| out.extend_from_slice(format!("{byte:02X}").as_bytes()));
            out.push(b'\'');
        }
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn literal(name: &str) -> String {
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "''"))
}
