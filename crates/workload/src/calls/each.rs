//! Each call: what it is for, the system call that the kernel has for it, and the function that the
//! library has.

use std::fmt;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::path::Path;

use densefs_process::{File, Follow, Rename, Whence, flags};
use rustix::fd::OwnedFd;
use rustix::fs::{
    Access, Advice, AtFlags, CWD, FileType, Mode, OFlags, RawDir, SeekFrom, accessat, fadvise,
    fdatasync, fsync, ftruncate, linkat, mkdirat, mknodat, openat, renameat, seek, statat,
    symlinkat, unlinkat,
};
use rustix::io::{Errno, pread, pwrite, read, write};

use super::library::{Library, LibraryDescriptor, base, errno, library_flags};
use super::{FILE_MODE, Kernel};
use crate::names::EntryName;

pub(super) const READING: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);
pub(super) const CREATING: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);
const FILE_BITS: u32 = FILE_MODE.bits();
const REGULAR: u32 = FileType::RegularFile.as_raw_mode() | FILE_BITS;
const DIRECTORY: u32 = FileType::Directory.as_raw_mode() | 0o700;
const LIBRARY_CREATING: u32 = flags::WRITE | flags::CREATE | flags::EXCLUSIVE;

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

impl Calls for Library {
    type Open = File;
    type Descriptor = LibraryDescriptor;
    const DOTS: u64 = 0;

    fn open(&self, path: &Path, flags: OFlags) -> Result<File, Errno> {
        let path = self.inside(path)?;
        self.files.open(path, library_flags(flags), FILE_BITS).map_err(errno)
    }

    fn mkdir(&self, path: &Path) -> Result<(), Errno> {
        self.files.make_directory(self.inside(path)?, DIRECTORY).map_err(errno)
    }

    fn unlink(&self, path: &Path) -> Result<(), Errno> {
        self.files.remove(self.inside(path)?).map_err(errno)
    }

    fn remove_tree(&self, path: &Path) -> Result<(), Errno> {
        self.remove_tree_at(&self.inside(path)?).map_err(errno)
    }

    #[inline(always)]
    fn pread(&self, file: &File, into: &mut [u8], offset_bytes: u64) -> Result<usize, Errno> {
        let moved = self.files.read_from(file.descriptor(), offset_bytes, into).map_err(errno);
        // Pretend that somebody uses the data.
        black_box(into);
        moved
    }

    #[inline(always)]
    fn pwrite(&self, file: &File, from: &[u8], offset_bytes: u64) -> Result<usize, Errno> {
        self.files.write_to(file.descriptor(), offset_bytes, from).map_err(errno)
    }

    #[inline(always)]
    fn write(&self, file: &File, from: &[u8]) -> Result<usize, Errno> {
        self.files.write(file.descriptor(), from).map_err(errno)
    }

    #[inline(always)]
    fn ftruncate(&self, file: &File, size_bytes: u64) -> Result<(), Errno> {
        self.files.truncate_descriptor(file.descriptor(), size_bytes).map_err(errno)
    }

    /// Does nothing: there is no device to write to.
    #[inline(always)]
    fn fsync(&self, _open: &File) -> Result<(), Errno> {
        Ok(())
    }

    /// Does nothing: there is no device to write to.
    #[inline(always)]
    fn fdatasync(&self, _file: &File) -> Result<(), Errno> {
        Ok(())
    }

    /// Does nothing: there is no read-ahead.
    fn fadvise_random(&self, _file: &File) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn openat(&self, within: &File, name: &EntryName) -> Result<LibraryDescriptor, Errno> {
        let opened = self.files.open_descriptor(base(within), name.as_path(), 0, 0);
        opened.map(LibraryDescriptor).map_err(errno)
    }

    #[inline(always)]
    fn creat(&self, within: &File, name: &EntryName) -> Result<LibraryDescriptor, Errno> {
        let made =
            self.files.open_descriptor(base(within), name.as_path(), LIBRARY_CREATING, FILE_BITS);
        made.map(LibraryDescriptor).map_err(errno)
    }

    #[inline(always)]
    fn read(&self, from: &LibraryDescriptor, into: &mut [u8]) -> Result<usize, Errno> {
        let moved = self.files.read(from.0, into).map_err(errno);
        // Pretend that somebody uses the data.
        black_box(into);
        moved
    }

    #[inline(always)]
    fn write_to(&self, into: &LibraryDescriptor, from: &[u8]) -> Result<usize, Errno> {
        self.files.write(into.0, from).map_err(errno)
    }

    #[inline(always)]
    fn close(&self, descriptor: LibraryDescriptor) {
        // This cannot fail: a descriptor we were given is open.
        self.files.close(descriptor.0).ok();
    }

    #[inline(always)]
    fn mknodat(&self, within: &File, name: &EntryName) -> Result<(), Errno> {
        self.files.make_from(base(within), name.as_path(), REGULAR).map_err(errno)
    }

    #[inline(always)]
    fn mkdirat(&self, within: &File, name: &EntryName) -> Result<(), Errno> {
        self.files.make_from(base(within), name.as_path(), DIRECTORY).map_err(errno)
    }

    #[inline(always)]
    fn fstatat(&self, within: &File, name: &EntryName) -> Result<(), Errno> {
        let told = self.files.stat_from(base(within), name.as_path(), Follow::No);
        // Pretend that somebody uses the result.
        black_box(told).map(|_| ()).map_err(errno)
    }

    #[inline(always)]
    fn faccessat(&self, within: &File, name: &EntryName) -> Result<(), Errno> {
        let wanted = Access::READ_OK.bits();
        self.files.check_access(base(within), name.as_path(), wanted).map_err(errno)
    }

    #[inline(always)]
    fn linkat(&self, within: &File, old: &EntryName, new: &EntryName) -> Result<(), Errno> {
        let (base, old, new) = (base(within), old.as_path(), new.as_path());
        self.files.link_from(base, old, base, new, Follow::No).map_err(errno)
    }

    #[inline(always)]
    fn symlinkat(&self, old: &EntryName, within: &File, new: &EntryName) -> Result<(), Errno> {
        let (target, new) = (old.name_as_path(), new.as_path());
        self.files.make_link_from(target, base(within), new).map_err(errno)
    }

    #[inline(always)]
    fn renameat(&self, within: &File, old: &EntryName, new: &EntryName) -> Result<(), Errno> {
        let (base, old, new) = (base(within), old.as_path(), new.as_path());
        self.files.rename_from(base, old, base, new, Rename::Replace).map_err(errno)
    }

    #[inline(always)]
    fn unlinkat(&self, within: &File, name: &EntryName) -> Result<(), Errno> {
        self.files.remove_from(base(within), name.as_path(), false).map_err(errno)
    }

    #[inline(always)]
    fn rmdirat(&self, within: &File, name: &EntryName) -> Result<(), Errno> {
        self.files.remove_from(base(within), name.as_path(), true).map_err(errno)
    }

    fn rewind(&self, directory: &File) -> Result<(), Errno> {
        self.files.seek(directory.descriptor(), 0, Whence::Start).map(drop).map_err(errno)
    }

    #[inline]
    fn for_each_name(
        &self,
        directory: &File,
        _buffer: &mut [MaybeUninit<u8>],
        mut act: impl FnMut(&[u8]),
    ) -> Result<(), Errno> {
        let visit = |one: densefs_process::ListedEntry<'_>| {
            act(black_box(one.name));
            true
        };
        self.files.visit(directory.descriptor(), visit).map_err(errno)
    }
}
