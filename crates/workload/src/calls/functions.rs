//! Calls by functions of the C library, which a library that the process has loaded before it may
//! serve, such as DenseFS' for programs as they are.

use std::ffi::CString;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::FILE_MODE;
use super::each::{CREATING, Calls, READING};
use crate::edge::functions;
use crate::names::EntryName;

/// The C library: each call is its function of the same name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Functions;

fn text(path: &Path) -> Result<CString, Errno> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)
}

fn number_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

impl Calls for Functions {
    type Open = OwnedFd;
    type Descriptor = OwnedFd;
    const DOTS: u64 = 0;

    fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        functions::openat(&CWD, &text(path)?, flags | OFlags::CLOEXEC, FILE_MODE)
    }

    fn mkdir(&self, path: &Path) -> Result<(), Errno> {
        functions::mkdirat(&CWD, &text(path)?, Mode::RWXU)
    }

    fn unlink(&self, path: &Path) -> Result<(), Errno> {
        functions::unlinkat(&CWD, &text(path)?, AtFlags::empty())
    }

    fn remove_tree(&self, path: &Path) -> Result<(), Errno> {
        std::fs::remove_dir_all(path).map_err(|error| number_of(&error))
    }

    #[inline(always)]
    fn pread(&self, file: &OwnedFd, into: &mut [u8], offset_bytes: u64) -> Result<usize, Errno> {
        let moved = functions::pread(file, into, offset_bytes);
        // Pretend that somebody uses the data.
        black_box(into);
        moved
    }

    #[inline(always)]
    fn pwrite(&self, file: &OwnedFd, from: &[u8], offset_bytes: u64) -> Result<usize, Errno> {
        functions::pwrite(file, from, offset_bytes)
    }

    #[inline(always)]
    fn write(&self, file: &OwnedFd, from: &[u8]) -> Result<usize, Errno> {
        functions::write(file, from)
    }

    #[inline(always)]
    fn ftruncate(&self, file: &OwnedFd, size_bytes: u64) -> Result<(), Errno> {
        functions::ftruncate(file, size_bytes)
    }

    #[inline(always)]
    fn fsync(&self, open: &OwnedFd) -> Result<(), Errno> {
        functions::fsync(open)
    }

    #[inline(always)]
    fn fdatasync(&self, file: &OwnedFd) -> Result<(), Errno> {
        functions::fdatasync(file)
    }

    fn fadvise_random(&self, file: &OwnedFd) -> Result<(), Errno> {
        functions::fadvise_random(file)
    }

    #[inline(always)]
    fn openat(&self, within: &OwnedFd, name: &EntryName) -> Result<OwnedFd, Errno> {
        functions::openat(within, name.as_c_str(), READING, Mode::empty())
    }

    #[inline(always)]
    fn creat(&self, within: &OwnedFd, name: &EntryName) -> Result<OwnedFd, Errno> {
        functions::openat(within, name.as_c_str(), CREATING, FILE_MODE)
    }

    #[inline(always)]
    fn read(&self, from: &OwnedFd, into: &mut [u8]) -> Result<usize, Errno> {
        let moved = functions::read(from, into);
        // Pretend that somebody uses the data.
        black_box(into);
        moved
    }

    #[inline(always)]
    fn write_to(&self, into: &OwnedFd, from: &[u8]) -> Result<usize, Errno> {
        functions::write(into, from)
    }

    /// std closes it by the C library's function.
    #[inline(always)]
    fn close(&self, descriptor: OwnedFd) {
        drop(descriptor);
    }

    #[inline(always)]
    fn mknodat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        let mode = FileType::RegularFile.as_raw_mode() | FILE_MODE.bits();
        functions::mknodat(within, name.as_c_str(), mode)
    }

    #[inline(always)]
    fn mkdirat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        functions::mkdirat(within, name.as_c_str(), Mode::RWXU)
    }

    #[inline(always)]
    fn fstatat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        functions::fstatat(within, name.as_c_str())
    }

    #[inline(always)]
    fn faccessat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        functions::faccessat(within, name.as_c_str())
    }

    #[inline(always)]
    fn linkat(&self, within: &OwnedFd, old: &EntryName, new: &EntryName) -> Result<(), Errno> {
        functions::linkat(within, old.as_c_str(), new.as_c_str())
    }

    #[inline(always)]
    fn symlinkat(&self, old: &EntryName, within: &OwnedFd, new: &EntryName) -> Result<(), Errno> {
        functions::symlinkat(old.name(), within, new.as_c_str())
    }

    #[inline(always)]
    fn renameat(&self, within: &OwnedFd, old: &EntryName, new: &EntryName) -> Result<(), Errno> {
        functions::renameat(within, old.as_c_str(), new.as_c_str())
    }

    #[inline(always)]
    fn unlinkat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        functions::unlinkat(within, name.as_c_str(), AtFlags::empty())
    }

    #[inline(always)]
    fn rmdirat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        functions::unlinkat(within, name.as_c_str(), AtFlags::REMOVEDIR)
    }

    fn rewind(&self, directory: &OwnedFd) -> Result<(), Errno> {
        functions::rewind(directory)
    }

    /// From the start, whatever the position: opens the directory once more, as `opendir` takes no
    /// descriptor.
    fn for_each_name(
        &self,
        directory: &OwnedFd,
        _buffer: &mut [MaybeUninit<u8>],
        mut act: impl FnMut(&[u8]),
    ) -> Result<(), Errno> {
        let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
        for entry in std::fs::read_dir(path).map_err(|error| number_of(&error))? {
            act(entry.map_err(|error| number_of(&error))?.file_name().as_bytes());
        }
        Ok(())
    }
}
