//! What the demo prints at last: where to connect and what to try, each with its real answer.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row, Value};

use super::failed;
use crate::error::Result;
use crate::lab::{APP_PASSWORD, APP_USER, Cluster};

const USER: u32 = 42;
const TERMINAL: usize = 100;

pub(super) async fn print(app: &mut Conn, cluster: &Cluster, port: u16) -> Result<()> {
    print_addresses(cluster, port);
    println!("\nThings to try, and what they answer here:");
    for statement in statements(app).await? {
        println!("\nmysql> {statement};");
        match app.query_iter(statement.as_str()).await {
            Ok(mut answer) => {
                let names: Vec<String> =
                    answer.columns_ref().iter().map(|column| column.name_str().into_owned()).collect();
                let rows: Vec<Row> = answer.collect().await.map_err(failed(&statement))?;
                print_rows(&names, rows);
            }
            Err(mysql_async::Error::Server(error)) => println!("ERROR {}: {}", error.code, error.message),
            Err(lost) => return Err(failed(&statement)(lost)),
        }
    }
    print_beyond(port);
    Ok(())
}

fn print_addresses(cluster: &Cluster, port: u16) {
    println!("\nThe application's DSN   mysql://{APP_USER}:{APP_PASSWORD}@127.0.0.1:{port}/mall");
    println!("The same by hand        mysql -h127.0.0.1 -P{port} -u{APP_USER} -p{APP_PASSWORD} mall");
    println!("The topology file       {}", cluster.topology().display());
    for (number, server) in cluster.servers().iter().enumerate() {
        let shards: Vec<String> = (number..cluster.spec().shards)
            .step_by(cluster.servers().len())
            .map(|shard| cluster.shard(shard).1)
            .collect();
        println!(
            "Server s{number}, for a look   mysql -h127.0.0.1 -P{} -uroot   ({})",
            server.port(),
            shards.join(", ")
        );
    }
}

async fn statements(app: &mut Conn) -> Result<Vec<String>> {
    let find = format!("SELECT order_id FROM orders WHERE uid = {USER} LIMIT 1");
    let order: Option<u64> = app.query_first(find.as_str()).await.map_err(failed(&find))?;
    let order = order.unwrap_or_default();
    Ok(vec![
        format!("SELECT id, amount, reason FROM coin_record WHERE uid = {USER} ORDER BY id"),
        format!("EXPLAIN ROUTE SELECT id, amount, reason FROM coin_record WHERE uid = {USER}"),
        format!("SELECT CRC32({USER}) MOD 4 AS shard, (CRC32({USER}) >> 16) MOD 1024 AS subtable"),
        format!(
            "SELECT o.order_id, p.name, o.price FROM orders o JOIN product p ON p.product_id = o.product_id \
             WHERE o.uid = {USER}"
        ),
        format!("SELECT uid, price FROM orders WHERE order_id = {order}"),
        format!("EXPLAIN ROUTE SELECT uid, price FROM orders WHERE order_id = {order}"),
        format!("INSERT INTO coin_record (uid, amount, reason) VALUES ({USER}, 100, 'birthday')"),
        "SELECT LAST_INSERT_ID()".to_owned(),
        "SELECT name, value FROM setting ORDER BY name".to_owned(),
    ])
}

fn print_beyond(port: u16) {
    println!(
        "\nAnd under load:\n\n  sysbench oltp_point_select --mysql-host=127.0.0.1 --mysql-port={port} --mysql-user={APP_USER} \\\n    \
         --mysql-password={APP_PASSWORD} --mysql-db=mall --tables=1 --table-size=10000 --threads=8 --time=10 run"
    );
}

/// Rows in a frame, as the mysql client draws them; what is too wide for one, a line for each value.
fn print_rows(names: &[String], rows: Vec<Row>) {
    if names.is_empty() {
        println!("OK");
        return;
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(|row| row.unwrap().iter().map(shown).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).chain(names.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    if widths.iter().sum::<usize>() > TERMINAL || rows.iter().flatten().any(|cell| cell.contains('\n')) {
        return print_values(names, &rows);
    }
    let rule: String = widths.iter().map(|width| format!("+{}", "-".repeat(width + 2))).collect();
    let line = |cells: &[String]| -> String {
        cells.iter().zip(&widths).map(|(cell, width)| format!("| {cell:<width$} ")).collect()
    };
    println!("{rule}+\n{}|\n{rule}+", line(names));
    for row in &rows {
        println!("{}|", line(row));
    }
    println!("{rule}+");
}

fn print_values(names: &[String], rows: &[Vec<String>]) {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, value) in rows.iter().flat_map(|row| names.iter().zip(row)) {
        let lines: Vec<&str> = value.lines().collect();
        println!("{name:>width$}: {}", lines.join(&format!("\n{:width$}  ", "")));
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::NULL => "NULL".to_owned(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Double(_) | Value::Date(..) | Value::Time(..) => {
            value.as_sql(true)
        }
    }
}
