//! System calls.

use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{
    Access, Advice, AtFlags, CWD, FileType, Mode, OFlags, RawDir, SeekFrom, accessat, fadvise,
    fdatasync, fsync, ftruncate, linkat, mkdirat, mknodat, openat, renameat, seek, statat,
    symlinkat, unlinkat,
};
use rustix::io::{Errno, pread, pwrite, read, write};

use super::{Calls, FILE_MODE};
use crate::names::EntryName;

const READING: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);
const CREATING: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);

/// The kernel: each method is the system call of the same name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel;

impl Calls for Kernel {
    type Open = OwnedFd;
    type Descriptor = OwnedFd;
    const DOTS: u64 = 2;

    fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        openat(CWD, path, flags | OFlags::CLOEXEC, FILE_MODE)
    }

    fn mkdir(&self, path: &Path) -> Result<(), Errno> {
        mkdirat(CWD, path, Mode::RWXU)
    }

    fn unlink(&self, path: &Path) -> Result<(), Errno> {
        unlinkat(CWD, path, AtFlags::empty())
    }

    fn remove_tree(&self, path: &Path) -> Result<(), Errno> {
        std::fs::remove_dir_all(path)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }

    #[inline(always)]
    fn pread(&self, file: &OwnedFd, into: &mut [u8], offset_bytes: u64) -> Result<usize, Errno> {
        pread(file, into, offset_bytes)
    }

    #[inline(always)]
    fn pwrite(&self, file: &OwnedFd, from: &[u8], offset_bytes: u64) -> Result<usize, Errno> {
        pwrite(file, from, offset_bytes)
    }

    #[inline(always)]
    fn write(&self, file: &OwnedFd, from: &[u8]) -> Result<usize, Errno> {
        write(file, from)
    }

    #[inline(always)]
    fn ftruncate(&self, file: &OwnedFd, size_bytes: u64) -> Result<(), Errno> {
        ftruncate(file, size_bytes)
    }

    #[inline(always)]
    fn fsync(&self, open: &OwnedFd) -> Result<(), Errno> {
        fsync(open)
    }

    #[inline(always)]
    fn fdatasync(&self, file: &OwnedFd) -> Result<(), Errno> {
        fdatasync(file)
    }

    fn fadvise_random(&self, file: &OwnedFd) -> Result<(), Errno> {
        fadvise(file, 0, None, Advice::Random)
    }

    #[inline(always)]
    fn openat(&self, within: &OwnedFd, name: &EntryName) -> Result<OwnedFd, Errno> {
        openat(within, name.as_c_str(), READING, Mode::empty())
    }

    #[inline(always)]
    fn creat(&self, within: &OwnedFd, name: &EntryName) -> Result<OwnedFd, Errno> {
        openat(within, name.as_c_str(), CREATING, FILE_MODE)
    }

    #[inline(always)]
    fn read(&self, from: &OwnedFd, into: &mut [u8]) -> Result<usize, Errno> {
        read(from, into)
    }

    #[inline(always)]
    fn write_to(&self, into: &OwnedFd, from: &[u8]) -> Result<usize, Errno> {
        write(into, from)
    }

    #[inline(always)]
    fn close(&self, descriptor: OwnedFd) {
        drop(descriptor);
    }

    #[inline(always)]
    fn mknodat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        mknodat(within, name.as_c_str(), FileType::RegularFile, FILE_MODE, 0)
    }

    #[inline(always)]
    fn mkdirat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        mkdirat(within, name.as_c_str(), Mode::RWXU)
    }

    #[inline(always)]
    fn fstatat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        statat(within, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW).map(drop)
    }

    #[inline(always)]
    fn faccessat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        accessat(within, name.as_c_str(), Access::READ_OK, AtFlags::empty())
    }

    #[inline(always)]
    fn linkat(&self, within: &OwnedFd, old: &EntryName, new: &EntryName) -> Result<(), Errno> {
        linkat(within, old.as_c_str(), within, new.as_c_str(), AtFlags::empty())
    }

    #[inline(always)]
    fn symlinkat(&self, old: &EntryName, within: &OwnedFd, new: &EntryName) -> Result<(), Errno> {
        symlinkat(old.name(), within, new.as_c_str())
    }

    #[inline(always)]
    fn renameat(&self, within: &OwnedFd, old: &EntryName, new: &EntryName) -> Result<(), Errno> {
        renameat(within, old.as_c_str(), within, new.as_c_str())
    }

    #[inline(always)]
    fn unlinkat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        unlinkat(within, name.as_c_str(), AtFlags::empty())
    }

    #[inline(always)]
    fn rmdirat(&self, within: &OwnedFd, name: &EntryName) -> Result<(), Errno> {
        unlinkat(within, name.as_c_str(), AtFlags::REMOVEDIR)
    }

    fn rewind(&self, directory: &OwnedFd) -> Result<(), Errno> {
        seek(directory, SeekFrom::Start(0)).map(drop)
    }

    #[inline]
    fn for_each_name(
        &self,
        directory: &OwnedFd,
        buffer: &mut [MaybeUninit<u8>],
        mut act: impl FnMut(&[u8]),
    ) -> Result<(), Errno> {
        let mut listing = RawDir::new(directory, buffer);
        while let Some(entry) = listing.next() {
            act(entry?.file_name().to_bytes());
        }
        Ok(())
    }
}
