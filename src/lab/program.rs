//! Which server programs this machine has. `BIFOLD_MYSQLD` names one; else MariaDB and MySQL are
//! looked for in PATH and the usual folders.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fmt};

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    MariaDb,
    MySql,
}

/// A server program that was found and asked for its version.
#[derive(Clone, Debug)]
pub struct Program {
    pub flavour: Flavour,
    pub path: PathBuf,
    /// `10.11.11-MariaDB-0+deb12u1`, `9.7.4`.
    pub version: String,
}

impl Program {
    /// At most one program of each flavour: MariaDB first.
    pub fn all() -> Vec<Program> {
        let mut found: Vec<Program> = Vec::new();
        for path in candidates() {
            if let Ok(program) = Program::at(&path)
                && found.iter().all(|known| known.flavour != program.flavour)
            {
                found.push(program);
            }
        }
        found.sort_by_key(|program| program.flavour == Flavour::MySql);
        found
    }

    /// The program that `BIFOLD_MYSQLD` names, else the first that is found.
    pub fn preferred() -> Result<Program> {
        if let Some(named) = env::var_os("BIFOLD_MYSQLD") {
            return Program::at(Path::new(&named));
        }
        Program::all().into_iter().next().ok_or_else(|| {
            Error::operator(
                "no server program was found: install mariadb-server-core, or name a mysqld in BIFOLD_MYSQLD",
            )
        })
    }

    pub fn of(flavour: Flavour) -> Option<Program> {
        Program::all().into_iter().find(|program| program.flavour == flavour)
    }

    /// Asks the program at `path` for its version.
    pub fn at(path: &Path) -> Result<Program> {
        let named = || path.display();
        let out = Command::new(path)
            .args(["--no-defaults", "--version"])
            .output()
            .map_err(|cause| Error::operator(format!("{} does not run", named())).because(cause))?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let version = text
            .split_once("Ver ")
            .and_then(|(_, rest)| rest.split_whitespace().next())
            .ok_or_else(|| Error::operator(format!("{} gives no version", named())).because(&text))?;
        let flavour = if text.contains("MariaDB") { Flavour::MariaDb } else { Flavour::MySql };
        Ok(Program { flavour, path: path.to_owned(), version: version.to_owned() })
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavour::MariaDb => "MariaDB",
            Flavour::MySql => "MySQL",
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.flavour, self.version, self.path.display())
    }
}

fn candidates() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = env::var_os("BIFOLD_MYSQLD").map(PathBuf::from).into_iter().collect();
    let mut folders: Vec<PathBuf> =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    folders.extend(["/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/mysql/bin"].map(PathBuf::from));
    for name in ["mariadbd", "mysqld"] {
        paths.extend(folders.iter().map(|folder| folder.join(name)).filter(|path| path.is_file()));
    }
    paths
}
