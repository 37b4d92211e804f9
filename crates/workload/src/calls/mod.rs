//! The calls that operations make: to the kernel, or to a library whose files are in memory that
//! this process has mapped.
//!
//! Steps that work with either are generic over [`Calls`] and compiled for each, so that only the
//! system call or the library function runs between the two clock readings. Everything else (other
//! I/O paths, direct I/O, access to the underlying device) exists for the kernel only.

mod kernel;
mod library;
mod whole;

use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use densefs_process::DenseFs;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::names::EntryName;

pub(crate) use kernel::Kernel;
pub(crate) use library::Library;
pub(crate) use whole::{append_whole, finish, read_on, read_whole, write_on, write_whole};

/// The permissions of every file: owner only.
pub(crate) const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
/// The buffer size for one `getdents64`, the same as the C library's.
pub(crate) const LISTING_BYTES: usize = 32 * 1024;

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

/// The calls that steps and file sets use, each named after its system call. Everything they create
/// is accessible to the owner only.
pub(crate) trait Calls: Clone + fmt::Debug + Send {
    /// An open file or directory, closed on drop.
    type Open: fmt::Debug + Send;
    /// A descriptor opened by a timed call, to be passed to [`Calls::close`].
    type Descriptor: fmt::Debug + Send;
    /// How many entries of a listing are not ours: 2 if it includes `.` and `..`.
    const DOTS: u64;

    fn open(&self, path: &Path, flags: OFlags) -> Result<Self::Open, Errno>;
    fn mkdir(&self, path: &Path) -> Result<(), Errno>;
    fn unlink(&self, path: &Path) -> Result<(), Errno>;
    /// Removes a directory and everything in it.
    fn remove_tree(&self, path: &Path) -> Result<(), Errno>;

    fn pread(&self, file: &Self::Open, into: &mut [u8], offset_bytes: u64) -> Result<usize, Errno>;
    fn pwrite(&self, file: &Self::Open, from: &[u8], offset_bytes: u64) -> Result<usize, Errno>;
    fn write(&self, file: &Self::Open, from: &[u8]) -> Result<usize, Errno>;
    fn ftruncate(&self, file: &Self::Open, size_bytes: u64) -> Result<(), Errno>;
    fn fsync(&self, open: &Self::Open) -> Result<(), Errno>;
    fn fdatasync(&self, file: &Self::Open) -> Result<(), Errno>;
    /// Announces that a file will be read in random order.
    fn fadvise_random(&self, file: &Self::Open) -> Result<(), Errno>;

    /// Opens an entry for reading.
    fn openat(&self, within: &Self::Open, name: &EntryName) -> Result<Self::Descriptor, Errno>;
    /// Creates a new file and opens it for writing.
    fn creat(&self, within: &Self::Open, name: &EntryName) -> Result<Self::Descriptor, Errno>;
    /// Reads from the current position.
    fn read(&self, from: &Self::Descriptor, into: &mut [u8]) -> Result<usize, Errno>;
    /// Writes at the current position.
    fn write_to(&self, into: &Self::Descriptor, from: &[u8]) -> Result<usize, Errno>;
    fn close(&self, descriptor: Self::Descriptor);
    /// Makes an empty file. Fails with `PERM`, `NOSYS` or `OPNOTSUPP` if only an open can do that.
    fn mknodat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    fn mkdirat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    fn fstatat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    /// Checks whether an entry may be read.
    fn faccessat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    fn linkat(&self, within: &Self::Open, old: &EntryName, new: &EntryName) -> Result<(), Errno>;
    /// Makes `new` a symbolic link to `old`, a name in the same directory.
    fn symlinkat(&self, old: &EntryName, within: &Self::Open, new: &EntryName)
    -> Result<(), Errno>;
    fn renameat(&self, within: &Self::Open, old: &EntryName, new: &EntryName) -> Result<(), Errno>;
    fn unlinkat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    fn rmdirat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;

    /// Moves a directory's position to its start.
    fn rewind(&self, directory: &Self::Open) -> Result<(), Errno>;
    /// Calls `act` for every name from the directory's current position on.
    fn for_each_name(
        &self,
        directory: &Self::Open,
        buffer: &mut [MaybeUninit<u8>],
        act: impl FnMut(&[u8]),
    ) -> Result<(), Errno>;
}
