//! `bifold route`: where a statement would go. The proxy is started on a free port of this
//! machine, asked by EXPLAIN ROUTE, and ended; the servers only tell their definitions.

use std::path::PathBuf;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, OptsBuilder};
use tokio::sync::oneshot;

use crate::config::{Config, load};
use crate::error::{Error, Result};
use crate::execute::Duty;
use crate::server::Server;

/// Print the plan of a statement, the places that it goes to and the texts that they get
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The topology file
    #[arg(long, env = "BIFOLD_CONFIG", default_value = "config/bifold.toml", value_name = "FILE")]
    config: PathBuf,

    /// Whose statement it is; the file's first user if left out
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// The default schema; the first one of the user if left out
    #[arg(long, value_name = "NAME")]
    schema: Option<String>,

    /// The statement
    #[arg(value_name = "SQL")]
    statement: String,
}

/// Ids in the texts are examples, never stored.
const WORKER: u32 = 0;

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut config = load(&arguments.config)?;
    let login = login(&config, arguments)?;
    if !arguments.statement.trim().contains(|letter: char| !letter.is_alphanumeric()) {
        // After EXPLAIN ROUTE a lone word would be a column of a table called route.
        return Err(Error::operator(format!("{:?} is no statement that goes anywhere", arguments.statement)));
    }
    config.listen.mysql = "127.0.0.1:0".into();
    config.listen.tls = None;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::proxy("Bifold: the runtime can't be started.").because(error))?;
    let rows = runtime.block_on(async {
        let server = Server::start(config, Some(WORKER), Duty::Look).await?;
        let port = server.address()?.port();
        let (told, stop) = oneshot::channel::<()>();
        let serving = server.run(async { drop(stop.await) });
        let asking = async {
            let rows = ask(login.tcp_port(port), &arguments.statement).await;
            drop(told);
            rows
        };
        tokio::join!(serving, asking).1
    })?;
    rows.iter().for_each(print);
    Ok(())
}

fn login(config: &Config, arguments: &Arguments) -> Result<OptsBuilder> {
    let named = |name: &str| config.users.iter().find(|user| user.name == name);
    let user = match &arguments.user {
        None => config.users.first(),
        Some(name) => Some(named(name).ok_or_else(|| {
            Error::operator(format!(
                "{}: has no user {name}; its users: {}",
                arguments.config.display(),
                config.users.iter().map(|user| user.name.as_str()).collect::<Vec<_>>().join(", ")
            ))
        })?),
    };
    let user = user.ok_or_else(|| Error::operator("The file has no user."))?;
    let schema = arguments.schema.clone().or_else(|| user.schemas.first().cloned());
    Ok(OptsBuilder::default()
        .ip_or_hostname("127.0.0.1")
        .user(Some(&user.name))
        .pass(Some(user.password.reveal()))
        .db_name(schema)
        .prefer_socket(false))
}

/// plan, server, place, text
type Row = (String, String, String, String);

async fn ask(login: OptsBuilder, statement: &str) -> Result<Vec<Row>> {
    let failed = |error: mysql_async::Error| match error {
        mysql_async::Error::Server(error) => Error::operator(error.message),
        other => Error::operator("Bifold can't ask itself.").because(other),
    };
    let mut conn = Conn::new(login).await.map_err(failed)?;
    let rows = conn.query(format!("EXPLAIN ROUTE {statement}")).await.map_err(failed);
    // What became of the connection no longer matters.
    let _ = conn.disconnect().await;
    rows
}

fn print((plan, server, place, text): &Row) {
    if !plan.is_empty() {
        println!("{plan}");
    }
    if !text.is_empty() {
        let place = if place.is_empty() { String::new() } else { format!(" {place}") };
        println!("{server}{place}: {text}");
    }
}
