//! An initialised data folder per server version, made once and copied for each server: a copy
//! takes 40 ms, an initialisation up to two seconds. It is kept in the user's temporary folder.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::program::{Flavour, Program};
use super::server::file_format_args;
use crate::error::{Error, Result};

/// Raised when the recipe below changes, so that an older template is not taken.
const RECIPE: u32 = 1;

/// Makes `target` a fresh data folder for the program.
pub(super) fn copy_to(program: &Program, target: &Path) -> Result<()> {
    let template = kept(program)?;
    let copied = Command::new("cp").args(["-a", "--sparse=always"]).arg(&template).arg(target).output();
    must_succeed("cp", copied)
}

/// The template's folder; made by the first who asks, under a lock.
fn kept(program: &Program) -> Result<PathBuf> {
    let home = home()?;
    let name: String =
        program.version.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect();
    let template = home.join(format!("{}-{name}-{RECIPE}", program.flavour));
    let failed = |cause| Error::operator(format!("cannot lock {}", home.display())).because(cause);
    let lock = File::create(home.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if !template.is_dir() {
        let half_made = home.join("half-made");
        let _ = fs::remove_dir_all(&half_made);
        initialise(program, &half_made)?;
        // Each copy is a server of its own and must make its own identity.
        let _ = fs::remove_file(half_made.join("auto.cnf"));
        fs::rename(&half_made, &template)
            .map_err(|cause| Error::operator("cannot keep the template").because(cause))?;
    }
    Ok(template)
}

/// A folder of this user alone: another user must not be able to plant a template.
fn home() -> Result<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let home = env::temp_dir().join(format!("bifold-lab-templates-{uid}"));
    let _ = fs::DirBuilder::new().mode(0o700).create(&home);
    match fs::symlink_metadata(&home) {
        Ok(meta) if meta.is_dir() && meta.uid() == uid && meta.mode() & 0o077 == 0 => Ok(home),
        Ok(_) => Err(Error::operator(format!("{} is not a private folder of this user", home.display()))),
        Err(cause) => Err(Error::operator(format!("cannot make {}", home.display())).because(cause)),
    }
}

fn initialise(program: &Program, target: &Path) -> Result<()> {
    let datadir = format!("--datadir={}", target.display());
    let mut command = match program.flavour {
        Flavour::MariaDb => {
            let mut command = Command::new(install_program(program));
            command.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
            command
        }
        Flavour::MySql => {
            let mut command = Command::new(&program.path);
            command.args(["--no-defaults", "--initialize-insecure"]);
            command
        }
    };
    command.arg(datadir).args(file_format_args(program.flavour)).stdin(Stdio::null());
    if rustix::process::geteuid().is_root() {
        command.arg("--user=root");
    }
    must_succeed("the initialisation of a data folder", command.output())
}

/// MariaDB's initialiser: beside the server (`sbin` → `bin`), else from PATH.
fn install_program(program: &Program) -> PathBuf {
    let prefix = program.path.parent().and_then(Path::parent);
    let beside = prefix.map(|prefix| prefix.join("bin/mariadb-install-db"));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("mariadb-install-db"))
}

fn must_succeed(what: &str, ran: std::io::Result<std::process::Output>) -> Result<()> {
    match ran {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => Err(Error::operator(format!("{what} failed")).because(format!(
            "{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        ))),
        Err(cause) => Err(Error::operator(format!("{what} does not run")).because(cause)),
    }
}
