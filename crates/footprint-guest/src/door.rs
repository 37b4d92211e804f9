//! The door to a file system: the ordinary system calls, or DenseFS' own in the same kernel.
//!
//! A call's files are made through the same door as the call itself.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::c_long;

use crate::marked::{Call, MarkedCall, ReturnValue};

/// Size of a read or a write in bytes.
pub(crate) const BYTES: usize = 4096;

/// Permissions of files and directories that are made for a call.
const FILE_MODE: u64 = 0o666;
const DIRECTORY_MODE: u64 = 0o777;

/// How calls reach a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// By the ordinary system calls.
    Ordinary,
    /// By those of DenseFS.
    DenseFs,
}

/// A descriptor, which is closed when this is dropped.
#[derive(Debug)]
pub(crate) enum Descriptor {
    Ordinary(OwnedFd),
    DenseFs(DenseDescriptor),
}

/// A descriptor of DenseFS.
#[derive(Debug)]
pub(crate) struct DenseDescriptor(u64);

/// The calls of DenseFS that stand for ordinary ones.
const CALLS: [(c_long, &str); 19] = [
    (libc::SYS_creat, "creat"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_pread64, "pread64"),
    (libc::SYS_newfstatat, "newfstatat"),
    (libc::SYS_open, "open"),
    (libc::SYS_close, "close"),
    (libc::SYS_rename, "rename"),
    (libc::SYS_unlink, "unlink"),
    (libc::SYS_mkdir, "mkdir"),
    (libc::SYS_rmdir, "rmdir"),
    (libc::SYS_link, "link"),
    (libc::SYS_symlink, "symlink"),
    (libc::SYS_getdents64, "getdents64"),
    (libc::SYS_truncate, "truncate"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_write, "write"),
    (libc::SYS_read, "read"),
    (libc::SYS_stat, "stat"),
];

impl Door {
    /// The number of a call through this door. What no file system serves has the ordinary one.
    pub(crate) fn number(self, ordinary: c_long) -> c_long {
        let found = CALLS.iter().find(|(number, _)| self == Self::DenseFs && *number == ordinary);
        found.and_then(|(_, name)| densefs_module::number_of(name)).unwrap_or(ordinary)
    }

    /// Creates a file for reading and writing, which must not exist.
    pub(crate) fn create_new(self, path: &Path) -> io::Result<Descriptor> {
        match self {
            Self::Ordinary => Ok(Descriptor::Ordinary(File::create_new(path)?.into())),
            Self::DenseFs => self.open_dense(path, libc::O_CREAT | libc::O_EXCL | libc::O_RDWR),
        }
    }

    /// Opens a file or a directory for reading.
    pub(crate) fn open(self, path: &Path) -> io::Result<Descriptor> {
        match self {
            Self::Ordinary => Ok(Descriptor::Ordinary(File::open(path)?.into())),
            Self::DenseFs => self.open_dense(path, libc::O_RDONLY),
        }
    }

    /// Opens a file for reading and writing.
    pub(crate) fn open_to_write(self, path: &Path) -> io::Result<Descriptor> {
        match self {
            Self::Ordinary => {
                let file = OpenOptions::new().read(true).write(true).open(path)?;
                Ok(Descriptor::Ordinary(file.into()))
            }
            Self::DenseFs => self.open_dense(path, libc::O_RDWR),
        }
    }

    /// Creates a file of 4 KiB.
    pub(crate) fn full(self, path: &Path) -> io::Result<Descriptor> {
        match self.create_new(path)? {
            Descriptor::Ordinary(descriptor) => {
                let mut file = File::from(descriptor);
                file.write_all(&[0x5a; BYTES])?;
                Ok(Descriptor::Ordinary(file.into()))
            }
            dense @ Descriptor::DenseFs(_) => {
                self.write_at_start(&dense)?;
                Ok(dense)
            }
        }
    }

    /// Writes the first 4 KiB of a file.
    pub(crate) fn write_at_start(self, to: &Descriptor) -> io::Result<()> {
        let bytes = [0x5a; BYTES];
        match to {
            Descriptor::Ordinary(descriptor) => {
                rustix::io::pwrite(descriptor, &bytes, 0)?;
            }
            Descriptor::DenseFs(DenseDescriptor(number)) => {
                let at = bytes.as_ptr().expose_provenance() as u64;
                dense(libc::SYS_pwrite64, [*number, at, BYTES as u64, 0])?;
            }
        }
        Ok(())
    }

    pub(crate) fn create_directory(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Ordinary => fs::create_dir(path),
            Self::DenseFs => dense_path(libc::SYS_mkdir, path, [DIRECTORY_MODE, 0]).map(drop),
        }
    }

    pub(crate) fn remove_directory(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Ordinary => fs::remove_dir(path),
            Self::DenseFs => dense_path(libc::SYS_rmdir, path, [0, 0]).map(drop),
        }
    }

    pub(crate) fn remove_file(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Ordinary => fs::remove_file(path),
            Self::DenseFs => dense_path(libc::SYS_unlink, path, [0, 0]).map(drop),
        }
    }

    /// Closes a descriptor that a traced call has returned.
    pub(crate) fn close_number(self, number: u64) {
        if self == Self::DenseFs {
            drop(DenseDescriptor(number));
        }
    }

    /// What becomes of what a traced call returns, when it is made.
    pub(crate) fn returns(self, returns: ReturnValue) -> ReturnValue {
        // Descriptors of DenseFS are not the system's.
        if self == Self::DenseFs { ReturnValue::Number } else { returns }
    }

    fn open_dense(self, path: &Path, flags: libc::c_int) -> io::Result<Descriptor> {
        let flags = u64::try_from(flags).unwrap_or(0);
        let number = dense_path(libc::SYS_open, path, [flags, FILE_MODE])?;
        Ok(Descriptor::DenseFs(DenseDescriptor(number)))
    }
}

/// Makes a call of DenseFS.
fn dense(ordinary: c_long, arguments: [u64; 4]) -> io::Result<u64> {
    let number = u64::try_from(Door::DenseFs.number(ordinary)).unwrap_or(u64::MAX);
    let [first, second, third, fourth] = arguments;
    let call: Call = [number, first, second, third, fourth, 0, 0];
    MarkedCall::unmarked()?.execute(&call, ReturnValue::Number)
}

/// Makes a call of DenseFS with a path and two more arguments.
fn dense_path(ordinary: c_long, path: &Path, further: [u64; 2]) -> io::Result<u64> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    let at = name.as_ptr().expose_provenance() as u64;
    dense(ordinary, [at, further[0], further[1], 0])
}

impl Descriptor {
    /// Its number.
    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::Ordinary(descriptor) => u64::try_from(descriptor.as_raw_fd()).unwrap_or(u64::MAX),
            Self::DenseFs(DenseDescriptor(number)) => *number,
        }
    }

    /// Leaves it open: a call closes it.
    pub(crate) fn leave(self) {
        match self {
            Self::Ordinary(descriptor) => {
                let _the_calls = descriptor.into_raw_fd();
            }
            Self::DenseFs(descriptor) => std::mem::forget(descriptor),
        }
    }
}

impl Drop for DenseDescriptor {
    fn drop(&mut self) {
        let _is_open = dense(libc::SYS_close, [self.0, 0, 0, 0]);
    }
}
