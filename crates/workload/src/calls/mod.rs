//! What operations call: the kernel, or a library whose files are in memory that it maps.
//!
//! Steps that both can do are generic over [`Calls`] and compiled for each, so that between the two
//! readings of the clock stands the system call, or the library's function, and nothing else.
//! Everything else (other I/O paths, direct I/O, the device below) is the kernel's alone.

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

/// The permissions of every file: its maker's alone.
pub(crate) const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
/// The buffer of one `getdents64`: what the C library uses.
pub(crate) const LISTING_BYTES: usize = 32 * 1024;

/// How the operations on a file set reach it.
#[derive(Debug, Clone)]
pub enum ReachedBy {
    /// By system calls, at its path.
    BySystemCalls,
    /// By calls of this library; paths name the arena's file, and behind it what is in the arena.
    ByLibrary(DenseFs),
}

impl ReachedBy {
    /// Makes a directory there.
    ///
    /// # Errors
    /// What the kernel or the library says.
    pub fn make_directory(&self, path: &Path) -> io::Result<()> {
        let made = match self {
            Self::BySystemCalls => Kernel.mkdir(path),
            Self::ByLibrary(files) => Library::of(files).mkdir(path),
        };
        Ok(made?)
    }
}

/// The calls that steps and file sets are made of, each as the system call of that name. What is
/// made is for its maker alone.
pub(crate) trait Calls: Clone + fmt::Debug + Send {
    /// An open file or directory, which is closed when it is dropped.
    type Open: fmt::Debug + Send;
    /// What a timed call has opened, for [`Calls::close`].
    type Descriptor: fmt::Debug + Send;
    /// How many entries of a listing are no names of ours: `.` and `..`.
    const DOTS: u64;

    fn open(&self, path: &Path, flags: OFlags) -> Result<Self::Open, Errno>;
    fn mkdir(&self, path: &Path) -> Result<(), Errno>;
    fn unlink(&self, path: &Path) -> Result<(), Errno>;
    /// Removes a directory with all that is in it.
    fn remove_tree(&self, path: &Path) -> Result<(), Errno>;

    fn pread(&self, file: &Self::Open, into: &mut [u8], offset_bytes: u64) -> Result<usize, Errno>;
    fn pwrite(&self, file: &Self::Open, from: &[u8], offset_bytes: u64) -> Result<usize, Errno>;
    fn write(&self, file: &Self::Open, from: &[u8]) -> Result<usize, Errno>;
    fn ftruncate(&self, file: &Self::Open, size_bytes: u64) -> Result<(), Errno>;
    fn fsync(&self, open: &Self::Open) -> Result<(), Errno>;
    fn fdatasync(&self, file: &Self::Open) -> Result<(), Errno>;
    /// Says that a file will be read in no order.
    fn fadvise_random(&self, file: &Self::Open) -> Result<(), Errno>;

    /// Opens an entry for reading.
    fn openat(&self, within: &Self::Open, name: &EntryName) -> Result<Self::Descriptor, Errno>;
    /// Makes a file that is not there, open for writing.
    fn creat(&self, within: &Self::Open, name: &EntryName) -> Result<Self::Descriptor, Errno>;
    /// Reads on from where it is.
    fn read(&self, from: &Self::Descriptor, into: &mut [u8]) -> Result<usize, Errno>;
    /// Writes on from where it is.
    fn write_to(&self, into: &Self::Descriptor, from: &[u8]) -> Result<usize, Errno>;
    fn close(&self, descriptor: Self::Descriptor);
    /// Makes an empty file; `PERM`, `NOSYS` or `OPNOTSUPP` where that takes an open.
    fn mknodat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    fn mkdirat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    fn fstatat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    /// Whether an entry may be read.
    fn faccessat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    fn linkat(&self, within: &Self::Open, old: &EntryName, new: &EntryName) -> Result<(), Errno>;
    /// Makes `new` point to the name `old`, beside it.
    fn symlinkat(&self, old: &EntryName, within: &Self::Open, new: &EntryName)
    -> Result<(), Errno>;
    fn renameat(&self, within: &Self::Open, old: &EntryName, new: &EntryName) -> Result<(), Errno>;
    fn unlinkat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;
    fn rmdirat(&self, within: &Self::Open, name: &EntryName) -> Result<(), Errno>;

    /// Puts a directory's position to its start.
    fn rewind(&self, directory: &Self::Open) -> Result<(), Errno>;
    /// Calls `act` for every name from the directory's position on.
    fn for_each_name(
        &self,
        directory: &Self::Open,
        buffer: &mut [MaybeUninit<u8>],
        act: impl FnMut(&[u8]),
    ) -> Result<(), Errno>;
}
