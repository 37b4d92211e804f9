//! Calls to the DenseFS library, on an arena that this process has attached.
//!
//! A path is the path of the arena's file followed by the path inside the arena:
//! `/dev/shm/arena/a/b` is `/a/b` in the arena stored in `/dev/shm/arena`. No system call can
//! resolve such a path, because a regular file has nothing below it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use densefs_process::{Base, DenseFs, File, Mode, flags};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::EngineError;

/// The library: each method calls the function that does what the system call of that name does.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    pub(super) files: DenseFs,
}

/// One of the library's descriptors.
#[derive(Debug)]
pub(crate) struct LibraryDescriptor(pub(super) u32);

impl Library {
    pub(crate) fn new(files: &DenseFs) -> Self {
        Self { files: files.clone() }
    }

    /// Claims the calling thread's slot in the arena, which its first call would otherwise do.
    pub(crate) fn make_ready(&self) -> Result<(), EngineError> {
        let taken = self.files.with_core(|_| Ok(())).map_err(errno);
        taken.map_err(|errno| EngineError::from_errno("dfs_attach", self.files.path(), errno))
    }

    /// Converts a path to one inside the arena.
    pub(super) fn inside(&self, path: &Path) -> Result<PathBuf, Errno> {
        let rest = path.strip_prefix(self.files.path()).map_err(|_| Errno::XDEV)?;
        Ok(Path::new("/").join(rest))
    }

    pub(super) fn remove_tree_at(&self, path: &Path) -> Result<(), densefs_process::Errno> {
        for entry in self.files.read_directory(path)? {
            let inner = path.join(OsStr::from_bytes(&entry.name));
            let is_directory = Mode { uid: 0, gid: 0, mode: entry.type_bits }.is_directory();
            if is_directory {
                self.remove_tree_at(&inner)?;
            } else {
                self.files.remove(&inner)?;
            }
        }
        self.files.remove_directory(path)
    }
}

/// Converts an error number of the library to the kernel's.
#[cold]
pub(super) fn errno(why: densefs_process::Errno) -> Errno {
    Errno::from_raw_os_error(why.0)
}

#[inline]
pub(super) fn base(within: &File) -> Base {
    Base::Descriptor(within.descriptor())
}

/// Converts open flags to the library's. It has no equivalent of the others, and needs none.
pub(super) fn library_flags(all: OFlags) -> u32 {
    let pairs = [
        (OFlags::WRONLY, flags::WRITE),
        (OFlags::RDWR, flags::READ_WRITE),
        (OFlags::CREATE, flags::CREATE),
        (OFlags::EXCL, flags::EXCLUSIVE),
        (OFlags::APPEND, flags::APPEND),
        (OFlags::DIRECTORY, flags::DIRECTORY),
        (OFlags::NOFOLLOW, flags::NO_FOLLOW),
    ];
    let given = pairs.into_iter().filter(|(one, _)| all.contains(*one));
    given.fold(0, |together, (_, one)| together | one)
}
