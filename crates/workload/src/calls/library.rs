//! Calls to the DenseFS library, on an arena that this process has attached.
//!
//! A path is the path of the arena's file followed by the path inside the arena:
//! `/dev/shm/arena/a/b` is `/a/b` in the arena stored in `/dev/shm/arena`. No system call can
//! resolve such a path, because a regular file has nothing below it.

use std::ffi::OsStr;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use densefs_process::{Base, DenseFs, File, Follow, Mode, Rename, Whence, flags};
use rustix::fs::{Access, FileType, OFlags};
use rustix::io::Errno;

use super::{Calls, FILE_MODE};
use crate::error::EngineError;
use crate::names::EntryName;

const FILE_BITS: u32 = FILE_MODE.bits();
const REGULAR: u32 = FileType::RegularFile.as_raw_mode() | FILE_BITS;
const DIRECTORY: u32 = FileType::Directory.as_raw_mode() | 0o700;
const CREATING: u32 = flags::WRITE | flags::CREATE | flags::EXCLUSIVE;

/// The library: each method calls the function that does what the system call of that name does.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    files: DenseFs,
}

/// One of the library's descriptors.
#[derive(Debug)]
pub(crate) struct LibraryDescriptor(u32);

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
    fn inside(&self, path: &Path) -> Result<PathBuf, Errno> {
        let rest = path.strip_prefix(self.files.path()).map_err(|_| Errno::XDEV)?;
        Ok(Path::new("/").join(rest))
    }

    fn remove_tree_at(&self, path: &Path) -> Result<(), densefs_process::Errno> {
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
fn errno(why: densefs_process::Errno) -> Errno {
    Errno::from_raw_os_error(why.0)
}

fn base(within: &File) -> Base {
    Base::Descriptor(within.descriptor())
}

/// Converts open flags to the library's. It has no equivalent of the others, and needs none.
fn library_flags(all: OFlags) -> u32 {
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
        let made = self.files.open_descriptor(base(within), name.as_path(), CREATING, FILE_BITS);
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
