//! The command line: arguments in, one of the commands run, an exit code out. What a command
//! answers goes to standard output; mistakes, warnings and the log go to standard error.

mod check;
mod demo;
mod expand;
mod id;
mod route;
mod serve;
mod verify;
pub mod worker;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::error::Result;
use crate::telemetry::log;

/// A MySQL-wire sharding proxy: one DSN in front of many databases.
#[derive(Debug, Parser)]
#[command(name = "bifold", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// What to log: a level, or per module, as warn,bifold::shard=debug; info if left out, error for route and check
    #[arg(long, global = true, env = "BIFOLD_LOG", value_name = "FILTER")]
    log: Option<String>,

    /// How to log
    #[arg(long, global = true, env = "BIFOLD_LOG_FORMAT", default_value = "text")]
    log_format: LogFormat,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Demo(demo::Arguments),
    Expand(expand::Arguments),
    Id(id::Arguments),
    Route(route::Arguments),
    Serve(serve::Arguments),
    Verify(verify::Arguments),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// Runs the command that the process was started with. Exit codes: 0 done, 1 a mistake that is
/// told, 2 wrong arguments.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &Arguments) -> Result<()> {
    // What these two answer is all that they have to say.
    let usual = match arguments.command {
        Command::Check(_) | Command::Route(_) | Command::Expand(_) | Command::Verify(_) => "error",
        Command::Demo(_) | Command::Id(_) | Command::Serve(_) => "info",
    };
    let format = match arguments.log_format {
        LogFormat::Text => log::Format::Text,
        LogFormat::Json => log::Format::Json,
    };
    log::start(format, arguments.log.as_deref().unwrap_or(usual))?;
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Expand(arguments) => expand::run(arguments),
        Command::Id(arguments) => id::run(arguments),
        Command::Route(arguments) => route::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
