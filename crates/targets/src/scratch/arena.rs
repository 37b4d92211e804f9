//! Arenas: file systems of a library, in files in shared memory.
//!
//! An arena has a name by which other processes can attach it. So the guardian is told about it
//! before it is made, and its maker holds a lock on it, which shows a later run that the owner is
//! alive.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use densefs_process::{ArenaError, DenseFs, NewArena, Usage, make};
use rustix::fs::{CWD, statvfs};

use crate::guardian::owner::{Leftover, lock_file_as_owner, sweep};
use crate::guardian::{Guardian, ResourceKind};
use crate::removal::remove_file;

/// The directory in which arenas are made.
pub(crate) const ARENAS: &str = "/dev/shm";
/// Arenas consist of whole pages.
const PAGE_BYTES: u64 = 4096;

/// An arena of ours, attached.
#[derive(Debug)]
pub(crate) struct Arena {
    path: PathBuf,
    size_bytes: u64,
    /// `None` while it is being remade.
    attached: Option<AttachedArena>,
}

#[derive(Debug)]
struct AttachedArena {
    files: DenseFs,
    /// Shows others that the owner is alive.
    _lock: OwnedFd,
}

/// The free space where arenas are made.
pub(crate) fn free_bytes() -> io::Result<u64> {
    let room = statvfs(ARENAS)?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

impl Arena {
    /// Makes and attaches one.
    pub(crate) fn make(
        name: &str,
        size_bytes: u64,
        guardian: &Guardian,
    ) -> Result<Self, ArenaError> {
        sweep(Path::new(ARENAS), Leftover::Arena);
        let path = Path::new(ARENAS).join(format!("{name}.arena"));
        let told = guardian.add(ResourceKind::Arena, &path);
        told.map_err(|why| failed(&path, "tell the guardian of", why))?;
        let size_bytes = size_bytes / PAGE_BYTES * PAGE_BYTES;
        // From here on, dropping it removes what has been made.
        let mut arena = Self { path, size_bytes, attached: None };
        arena.remake()?;
        Ok(arena)
    }

    /// Makes it again, empty, in a new file.
    pub(crate) fn remake(&mut self) -> Result<(), ArenaError> {
        self.detach();
        remove_file(&self.path).map_err(|why| failed(&self.path, "remove", why))?;
        let root = DenseFs::new_root(0o700);
        make(&self.path, &NewArena::new(self.size_bytes, root))?;
        let lock = lock_file_as_owner(CWD, self.path.as_path());
        let lock = lock.map_err(|why| failed(&self.path, "lock", why))?;
        self.attached = Some(AttachedArena { files: DenseFs::attach(&self.path)?, _lock: lock });
        Ok(())
    }

    /// The arena's file. Paths of the files in it begin with this.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The files in it.
    pub(crate) fn files(&self) -> Option<&DenseFs> {
        self.attached.as_ref().map(|attached| &attached.files)
    }

    pub(crate) fn usage(&self) -> io::Result<Usage> {
        let files = self.files().ok_or(io::ErrorKind::NotFound)?;
        files.usage().map_err(|why| io::Error::from_raw_os_error(why.0))
    }

    /// Removes it. A second call does nothing.
    pub(crate) fn remove(&mut self, guardian: &Guardian) -> io::Result<()> {
        self.detach();
        remove_file(&self.path)?;
        guardian.remove(ResourceKind::Arena, &self.path)
    }

    /// Its memory is freed once it has no name and nobody has it attached.
    fn detach(&mut self) {
        if let Some(attached) = self.attached.take() {
            attached.files.leave();
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.detach();
        let _the_guardian_does = fs::remove_file(&self.path);
    }
}

fn failed(path: &Path, what: &'static str, why: io::Error) -> ArenaError {
    ArenaError::File { what, path: path.to_owned(), why }
}
