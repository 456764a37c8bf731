//! Temporary folders, in memory where there is room. All of a process lie below one root that the
//! watchdog removes after the process's end.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use super::watchdog;
use crate::error::{Error, Result};

/// The least free space that makes the memory folder the place to be.
const ROOM: u64 = 3 << 30;

/// A folder that is removed when dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Result<Folder> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path = root()?.join(format!("{name}-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        make_private(&path)?;
        Ok(Folder(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What can't be removed now, the watchdog removes.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The root of this process's folders; made once, together with the watchdog that removes it.
fn root() -> Result<&'static Path> {
    static ROOT: OnceLock<Result<PathBuf>> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = base().join(format!("bifold-lab-{}-{:08x}", process::id(), rand::random::<u32>()));
        make_private(&root)?;
        watchdog::start(&root)?;
        Ok(root)
    })
    .as_deref()
    .map_err(Clone::clone)
}

fn base() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match rustix::fs::statvfs(memory) {
        Ok(stat) if stat.f_bavail.saturating_mul(stat.f_frsize) >= ROOM && writable(memory) => memory.to_owned(),
        _ => env::temp_dir(),
    }
}

fn writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

fn make_private(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .mode(0o700)
        .create(path)
        .map_err(|cause| Error::operator(format!("cannot make the folder {}", path.display())).because(cause))
}
