//! The `bifold` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    bifold::cli::run()
}
