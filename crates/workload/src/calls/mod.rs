//! The calls that operations make: to the kernel, to a library whose files are in memory that this
//! process has mapped, or to functions of the C library, which another library may serve.
//!
//! Steps that work with either are generic over [`Calls`] and compiled for each, so that only the
//! system call or the library function runs between the two clock readings. Everything else (other
//! I/O paths, direct I/O, access to the underlying device) exists for the kernel only.

mod each;
mod functions;
mod library;
mod whole;

use std::io;
use std::path::Path;

use densefs_process::DenseFs;
use rustix::fs::Mode;

pub(crate) use each::Calls;
pub(crate) use functions::Functions;
pub(crate) use library::Library;
pub(crate) use whole::{append_whole, finish, read_on, read_whole, write_on, write_whole};

/// The permissions of every file: owner only.
pub(crate) const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
/// The buffer size for one `getdents64`, the same as the C library's.
pub(crate) const LISTING_BYTES: usize = 32 * 1024;

/// The kernel: each call is the system call of the same name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel;

/// How operations access a file set.
#[derive(Debug, Clone)]
pub enum ReachedBy {
    /// With system calls, at its path.
    BySystemCalls,
    /// With calls to this library; paths are that of the arena's file followed by the path inside
    /// it.
    ByLibrary(DenseFs),
}

impl ReachedBy {
    /// Makes a directory.
    ///
    /// # Errors
    /// The error of the kernel or the library.
    pub fn make_directory(&self, path: &Path) -> io::Result<()> {
        let made = match self {
            Self::BySystemCalls => Kernel.mkdir(path),
            Self::ByLibrary(files) => Library::new(files).mkdir(path),
        };
        Ok(made?)
    }
}
