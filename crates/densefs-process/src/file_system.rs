//! A file system as programs use it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use densefs::check::{Problem, Report};
use densefs::modes::{Caller, DIRECTORY, FILE, Mode, SYMLINK, TYPE};
use densefs::{Errno, Follow, Last, Member, Node, Owner, Remove, Rename, Stat, Whence, flags};

use crate::attachment::{Attachment, Surroundings};
use crate::file::ArenaError;
use crate::{fork, seat};

type Us<'m> = &'m Member<'static, Surroundings>;

/// From where a path that does not begin with a slash starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The working directory that the process has in this file system.
    Working,
    /// An open directory.
    Descriptor(u32),
}

impl Base {
    /// Where a path starts.
    #[inline(always)]
    fn node(self, member: Us<'_>, path: &[u8]) -> Result<Node, Errno> {
        match self {
            _ if path.first() == Some(&b'/') => member.root(),
            Self::Working => member.working_directory(),
            Self::Descriptor(descriptor) => member.node(descriptor),
        }
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; `.` and `..` are not among them.
    pub name: Vec<u8>,
    /// Its inode's number.
    pub ino: u64,
    /// Its inode's type, as in `st_mode`.
    pub type_bits: u32,
    /// Where a list goes on behind it.
    pub next: u64,
}

/// How full a file system is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes for inodes, names and content.
    pub bytes: u64,
    /// Of them, those in pages that are free.
    pub free_bytes: u64,
}

/// A DenseFS that this process has attached. Clones are the same.
///
/// A fork's child has it, too, with all that is open. Children that are made otherwise must not use
/// it, nor live on when their parent dies before they execute another program.
#[derive(Clone, Debug)]
pub struct FileSystem {
    attachment: Arc<Attachment>,
}

impl FileSystem {
    /// Attaches the arena in a file. What processes that died had not finished is finished.
    ///
    /// # Errors
    /// [`ArenaError`].
    pub fn attach(path: impl AsRef<Path>) -> Result<Self, ArenaError> {
        let attachment = Attachment::of(path.as_ref())?;
        fork::note(&attachment);
        Ok(Self { attachment })
    }

    /// The file that the arena is in.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.attachment.path()
    }

    #[inline]
    fn with<T>(&self, act: impl Fn(Us<'_>, &Caller<'_>) -> Result<T, Errno>) -> Result<T, Errno> {
        let caller = self.attachment.credentials.caller();
        seat::with(&self.attachment, |member| act(member, &caller))
    }

    /// Does something with the inode that a path names.
    #[inline]
    fn with_node<T>(
        &self,
        (base, path): (Base, &Path),
        follow: Follow,
        act: impl Fn(Us<'_>, &Caller<'_>, Node) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let path = path.as_os_str().as_bytes();
        self.with(|member, caller| {
            member.again(|| {
                let node = member.walk(caller, base.node(member, path)?, path, follow)?;
                act(member, caller, node)
            })
        })
    }

    /// Does something with the last name of a path.
    #[inline]
    fn with_last<T>(
        &self,
        (base, path): (Base, &Path),
        act: impl Fn(Us<'_>, &Caller<'_>, Last<'_>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let path = path.as_os_str().as_bytes();
        self.with(|member, caller| {
            member.again(|| {
                let last = member.walk_to_last(caller, base.node(member, path)?, path)?;
                act(member, caller, last)
            })
        })
    }

    /// Opens a file or a directory; it is closed when the value is dropped.
    ///
    /// # Errors
    /// As open(2), by number.
    pub fn open(&self, path: impl AsRef<Path>, how: u32, mode: u32) -> Result<File, Errno> {
        let descriptor = self.open_descriptor(Base::Working, path.as_ref(), how, mode)?;
        Ok(File { files: self.clone(), descriptor })
    }

    /// Opens, and leaves it to the caller to close.
    ///
    /// # Errors
    /// As [`Self::open`].
    #[inline]
    pub fn open_descriptor(
        &self,
        base: Base,
        path: &Path,
        how: u32,
        mode: u32,
    ) -> Result<u32, Errno> {
        let path = path.as_os_str().as_bytes();
        self.with(|member, caller| {
            member.again(|| member.open(caller, base.node(member, path)?, path, how, mode))
        })
    }

    /// Closes a descriptor.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    #[inline]
    pub fn close(&self, descriptor: u32) -> Result<(), Errno> {
        self.with(|member, _| member.close(descriptor))
    }

    /// Reads from where a descriptor's offset is.
    ///
    /// # Errors
    /// As read(2).
    #[inline]
    pub fn read(&self, descriptor: u32, into: &mut [u8]) -> Result<usize, Errno> {
        let into = std::cell::RefCell::new(into);
        self.with(|member, _| member.read_on(descriptor, &mut into.borrow_mut()))
    }

    /// Writes where a descriptor's offset is.
    ///
    /// # Errors
    /// As write(2).
    #[inline]
    pub fn write(&self, descriptor: u32, from: &[u8]) -> Result<usize, Errno> {
        self.with(|member, _| member.write_on(descriptor, from))
    }

    /// Reads from an offset.
    ///
    /// # Errors
    /// As pread(2).
    #[inline]
    pub fn read_from(&self, descriptor: u32, offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let into = std::cell::RefCell::new(into);
        self.with(|member, _| member.read_from(descriptor, offset, &mut into.borrow_mut()))
    }

    /// Writes at an offset.
    ///
    /// # Errors
    /// As pwrite(2).
    #[inline]
    pub fn write_to(&self, descriptor: u32, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        self.with(|member, _| member.write_to(descriptor, offset, from))
    }

    /// Moves a descriptor's offset.
    ///
    /// # Errors
    /// As lseek(2).
    #[inline]
    pub fn seek(&self, descriptor: u32, by: i64, from: Whence) -> Result<u64, Errno> {
        self.with(|member, _| member.seek(descriptor, by, from))
    }

    /// What is known of what a descriptor refers to.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    #[inline]
    pub fn stat_descriptor(&self, descriptor: u32) -> Result<Stat, Errno> {
        self.with(|member, _| member.again(|| member.stat(member.node(descriptor)?)))
    }

    /// The flags with which a descriptor was opened.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    pub fn flags(&self, descriptor: u32) -> Result<u32, Errno> {
        self.with(|member, _| member.flags(descriptor))
    }

    /// Cuts an open file off, or gives it zeros behind.
    ///
    /// # Errors
    /// As ftruncate(2).
    pub fn truncate_descriptor(&self, descriptor: u32, size: u64) -> Result<(), Errno> {
        self.with(|member, _| member.truncate_open(descriptor, size))
    }

    /// Makes another descriptor for what one refers to, the lowest from `lowest` on.
    ///
    /// # Errors
    /// As fcntl(2) with `F_DUPFD`.
    pub fn duplicate(&self, descriptor: u32, lowest: u32, how: u32) -> Result<u32, Errno> {
        self.with(|member, _| member.duplicate(descriptor, lowest, how))
    }

    /// Makes a descriptor refer to what another does.
    ///
    /// # Errors
    /// As dup3(2), but that both may be the same.
    pub fn duplicate_to(&self, descriptor: u32, to: u32, how: u32) -> Result<(), Errno> {
        self.with(|member, _| member.duplicate_to(descriptor, to, how))
    }

    /// What is known of what a path names; a symbolic link stands for what it refers to.
    ///
    /// # Errors
    /// As stat(2).
    #[inline]
    pub fn stat(&self, path: impl AsRef<Path>) -> Result<Stat, Errno> {
        self.stat_from(Base::Working, path.as_ref(), Follow::Yes)
    }

    /// The same from a base, and of a symbolic link itself if it is not to be followed.
    ///
    /// # Errors
    /// As fstatat(2).
    #[inline]
    pub fn stat_from(&self, base: Base, path: &Path, follow: Follow) -> Result<Stat, Errno> {
        let stat = self.with_node((base, path), Follow::No, |member, _, node| member.stat(node))?;
        if stat.mode.mode & TYPE == SYMLINK && follow == Follow::Yes {
            return self.stat_through(base, path);
        }
        Ok(stat)
    }

    #[cold]
    #[inline(never)]
    fn stat_through(&self, base: Base, path: &Path) -> Result<Stat, Errno> {
        self.with_node((base, path), Follow::Yes, |member, _, node| member.stat(node))
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// As mkdir(2).
    pub fn make_directory(&self, path: impl AsRef<Path>, mode: u32) -> Result<(), Errno> {
        self.make_from(Base::Working, path.as_ref(), mode & 0o7777 | DIRECTORY)
    }

    /// Makes a directory, or an empty file of any type but a device.
    ///
    /// # Errors
    /// As mkdir(2) and mknod(2).
    pub fn make_from(&self, base: Base, path: &Path, mode: u32) -> Result<(), Errno> {
        const CHARACTERS: u32 = 0o020_000;
        const BLOCKS: u32 = 0o060_000;
        if matches!(mode & TYPE, CHARACTERS | BLOCKS) {
            return Err(Errno::PERM);
        }
        let mode = if mode & TYPE == 0 { mode | FILE } else { mode };
        self.with_last((base, path), |member, caller, last| {
            let is_there = last.name.is_empty() || matches!(last.name, b"." | b"..");
            if is_there {
                return Err(Errno::EXIST);
            }
            if last.is_directory && mode & TYPE != DIRECTORY {
                return Err(Errno::NOENT);
            }
            member.make_at(caller, last.directory, last.name, mode).map(drop)
        })
    }

    /// Removes a name of anything but a directory.
    ///
    /// # Errors
    /// As unlink(2).
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<(), Errno> {
        self.remove_from(Base::Working, path.as_ref(), false)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// As rmdir(2).
    pub fn remove_directory(&self, path: impl AsRef<Path>) -> Result<(), Errno> {
        self.remove_from(Base::Working, path.as_ref(), true)
    }

    /// Removes a name, or an empty directory.
    ///
    /// # Errors
    /// As unlinkat(2).
    #[inline]
    pub fn remove_from(&self, base: Base, path: &Path, is_directory: bool) -> Result<(), Errno> {
        let what = if is_directory { Remove::Directory } else { Remove::Name };
        self.with_last((base, path), |member, caller, last| {
            if last.name.is_empty() {
                return Err(if is_directory { Errno::BUSY } else { Errno::ISDIR });
            }
            if last.is_directory && !is_directory {
                let mode = member.stat_at(caller, last.directory, last.name)?.mode;
                return Err(if mode.is_directory() { Errno::ISDIR } else { Errno::NOTDIR });
            }
            member.remove_at(caller, last.directory, last.name, what)
        })
    }

    /// Gives what has a name another one.
    ///
    /// # Errors
    /// As rename(2).
    pub fn rename(&self, old: impl AsRef<Path>, new: impl AsRef<Path>) -> Result<(), Errno> {
        let (old, new) = (old.as_ref(), new.as_ref());
        self.rename_from((Base::Working, old), (Base::Working, new), Rename::Replace)
    }

    /// The same from bases, and with flags.
    ///
    /// # Errors
    /// As renameat2(2).
    #[inline]
    pub fn rename_from(
        &self,
        (old_base, old): (Base, &Path),
        new: (Base, &Path),
        how: Rename,
    ) -> Result<(), Errno> {
        let old = old.as_os_str().as_bytes();
        self.with_last(new, |member, caller, to| {
            let from = member.walk_to_last(caller, old_base.node(member, old)?, old)?;
            if from.name.is_empty() || to.name.is_empty() {
                return Err(Errno::BUSY);
            }
            if from.is_directory || to.is_directory {
                let mode = member.stat_at(caller, from.directory, from.name)?.mode;
                if !mode.is_directory() {
                    return Err(Errno::NOTDIR);
                }
            }
            member.rename_at(caller, (from.directory, from.name), (to.directory, to.name), how)
        })
    }

    /// Gives a file another name.
    ///
    /// # Errors
    /// As link(2).
    pub fn link(&self, old: impl AsRef<Path>, new: impl AsRef<Path>) -> Result<(), Errno> {
        let old = (Base::Working, old.as_ref());
        self.link_from(old, (Base::Working, new.as_ref()), Follow::No)
    }

    /// The same from bases.
    ///
    /// # Errors
    /// As linkat(2).
    pub fn link_from(
        &self,
        (old_base, old): (Base, &Path),
        new: (Base, &Path),
        follow: Follow,
    ) -> Result<(), Errno> {
        let old = old.as_os_str().as_bytes();
        self.with_last(new, |member, caller, to| {
            let node = member.walk(caller, old_base.node(member, old)?, old, follow)?;
            if to.name.is_empty() {
                return Err(Errno::EXIST);
            }
            if to.is_directory {
                return Err(Errno::NOENT);
            }
            member.link_at(caller, node, to.directory, to.name)
        })
    }

    /// Makes a symbolic link.
    ///
    /// # Errors
    /// As symlink(2).
    pub fn make_link(&self, target: impl AsRef<Path>, path: impl AsRef<Path>) -> Result<(), Errno> {
        self.make_link_from(target.as_ref(), (Base::Working, path.as_ref()))
    }

    /// The same from a base.
    ///
    /// # Errors
    /// As symlinkat(2).
    pub fn make_link_from(&self, target: &Path, new: (Base, &Path)) -> Result<(), Errno> {
        self.with_last(new, |member, caller, last| {
            if last.name.is_empty() || matches!(last.name, b"." | b"..") {
                return Err(Errno::EXIST);
            }
            if last.is_directory {
                return Err(Errno::NOENT);
            }
            let target = target.as_os_str().as_bytes();
            member.symlink_at(caller, last.directory, last.name, target).map(drop)
        })
    }

    /// Where a symbolic link leads.
    ///
    /// # Errors
    /// As readlink(2).
    pub fn read_link(&self, path: impl AsRef<Path>) -> Result<PathBuf, Errno> {
        self.read_link_from(Base::Working, path.as_ref())
    }

    /// The same from a base.
    ///
    /// # Errors
    /// As readlinkat(2).
    pub fn read_link_from(&self, base: Base, path: &Path) -> Result<PathBuf, Errno> {
        self.with_node((base, path), Follow::No, |member, _, node| {
            let mut target = [0; densefs::PATH_MOST];
            let length = member.read_link(node, &mut target)?;
            Ok(PathBuf::from(OsStr::from_bytes(&target[..length])))
        })
    }

    /// Cuts a file off, or gives it zeros behind.
    ///
    /// # Errors
    /// As truncate(2).
    pub fn truncate(&self, path: impl AsRef<Path>, size: u64) -> Result<(), Errno> {
        let place = (Base::Working, path.as_ref());
        self.with_node(place, Follow::Yes, |member, caller, node| {
            let mode = member.stat(node)?.mode;
            if mode.is_directory() {
                return Err(Errno::ISDIR);
            }
            mode.allow(caller, densefs::modes::WRITE)?;
            member.truncate(node, size)
        })
    }

    /// Changes permissions.
    ///
    /// # Errors
    /// As fchmodat(2).
    pub fn set_mode(&self, base: Base, path: &Path, mode: u32) -> Result<(), Errno> {
        self.with_node((base, path), Follow::Yes, |member, caller, node| {
            member.set_mode(caller, node, mode)
        })
    }

    /// Changes the permissions of what is open.
    ///
    /// # Errors
    /// As fchmod(2).
    pub fn set_mode_of(&self, descriptor: u32, mode: u32) -> Result<(), Errno> {
        self.with(|member, caller| {
            member.again(|| member.set_mode(caller, member.node(descriptor)?, mode))
        })
    }

    /// Changes owner and group, where they are given.
    ///
    /// # Errors
    /// As fchownat(2).
    pub fn set_owner(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        owner: (Option<u32>, Option<u32>),
    ) -> Result<(), Errno> {
        let owner = Owner { uid: owner.0, gid: owner.1 };
        self.with_node((base, path), follow, |member, caller, node| {
            member.set_owner(caller, node, owner)
        })
    }

    /// Sets when the content last changed, in nanoseconds since 1970; to now if none is given.
    ///
    /// # Errors
    /// As utimensat(2).
    pub fn set_mtime(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        mtime_ns: Option<u64>,
    ) -> Result<(), Errno> {
        self.with_node((base, path), follow, |member, caller, node| {
            member.touch_node(caller, node, mtime_ns)
        })
    }

    /// Whether the process may read (4), write (2) or execute (1) what a path names.
    ///
    /// # Errors
    /// As access(2).
    pub fn check_access(&self, base: Base, path: &Path, wanted: u32) -> Result<(), Errno> {
        self.with_node((base, path), Follow::Yes, |member, caller, node| {
            member.stat(node)?.mode.allow(caller, wanted & 7)
        })
    }

    /// Changes the process' working directory in this file system.
    ///
    /// # Errors
    /// As chdir(2).
    pub fn change_directory(&self, path: impl AsRef<Path>) -> Result<(), Errno> {
        let place = (Base::Working, path.as_ref());
        self.with_node(place, Follow::Yes, |member, caller, node| {
            let mode = member.stat(node)?.mode;
            if !mode.is_directory() {
                return Err(Errno::NOTDIR);
            }
            mode.allow(caller, densefs::modes::EXECUTE)?;
            member.set_working_directory(caller, node)
        })
    }

    /// Changes it to a directory that is open.
    ///
    /// # Errors
    /// As fchdir(2).
    pub fn change_directory_to(&self, descriptor: u32) -> Result<(), Errno> {
        self.with(|member, caller| {
            member.again(|| member.set_working_directory(caller, member.node(descriptor)?))
        })
    }

    /// The path of the working directory.
    ///
    /// # Errors
    /// As getcwd(3).
    pub fn directory(&self) -> Result<PathBuf, Errno> {
        self.with(|member, _| {
            member.again(|| {
                let mut bytes = [0; densefs::PATH_MOST];
                let path = member.path_of(member.working_directory()?, &mut bytes)?;
                Ok(PathBuf::from(OsStr::from_bytes(path)))
            })
        })
    }

    /// The entries of an open directory from where its offset is, `most` of them at most.
    ///
    /// # Errors
    /// As getdents(2).
    pub fn list(&self, descriptor: u32, most: usize) -> Result<Vec<Entry>, Errno> {
        self.with(|member, caller| {
            let mut entries = Vec::new();
            member.list_on(caller, descriptor, |one| {
                if entries.len() == most {
                    return false;
                }
                let (name, next) = (one.name.to_vec(), one.position + 1);
                entries.push(Entry { name, ino: one.ino, type_bits: one.type_bits, next });
                true
            })?;
            Ok(entries)
        })
    }

    /// All entries of a directory, but for `.` and `..`.
    ///
    /// # Errors
    /// As open(2) and getdents(2).
    pub fn read_directory(&self, path: impl AsRef<Path>) -> Result<Vec<Entry>, Errno> {
        let directory = self.open(path, flags::DIRECTORY, 0)?;
        self.list(directory.descriptor, usize::MAX)
    }

    /// How full it is.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`].
    pub fn usage(&self) -> Result<Usage, Errno> {
        self.with(|member, _| {
            let (all, free) = member.pages()?;
            let bytes = |pages: u32| u64::from(pages) * crate::file::PAGE_BYTES;
            Ok(Usage { bytes: bytes(all), free_bytes: bytes(free) })
        })
    }

    /// Sets the mask of permissions that new files do not get; the one before.
    #[must_use]
    pub fn set_umask(&self, umask: u32) -> u32 {
        self.attachment.credentials.set_umask(umask)
    }

    /// Closes all that this process has open, and makes the root its working directory.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`].
    pub fn close_all(&self) -> Result<(), Errno> {
        let record = self.attachment.record();
        self.with(|member, _| {
            member.reap(record)?;
            member.begin_process(record)
        })
    }

    /// Checks the whole arena, which no other process may have attached.
    ///
    /// # Errors
    /// [`ArenaError::InUse`]; [`ArenaError::Core`]. What is wrong with it is a value.
    pub fn check(&self) -> Result<Result<Report, Problem>, ArenaError> {
        let path = || self.path().to_owned();
        let checked = self.with(|member, _| {
            self.attachment.sweep(member);
            if self.attachment.is_shared(member) {
                return Err(Errno::BUSY);
            }
            let mut seen = vec![0; member.arena().lines() as usize];
            Ok(member.check(&mut seen))
        });
        checked.map_err(|why| match why {
            Errno::BUSY => ArenaError::InUse { path: path() },
            why => ArenaError::Core { path: path(), why },
        })
    }

    /// Owner, group and mode of the process, for what it makes.
    #[must_use]
    pub fn new_root(mode: u32) -> Mode {
        Mode {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            mode,
        }
    }
}

/// An open file or directory, which is closed when this is dropped.
#[derive(Debug)]
pub struct File {
    files: FileSystem,
    descriptor: u32,
}

impl File {
    /// Its descriptor.
    #[must_use]
    pub fn descriptor(&self) -> u32 {
        self.descriptor
    }

    /// Reads from where its offset is.
    ///
    /// # Errors
    /// As read(2).
    pub fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.files.read(self.descriptor, into)
    }

    /// Writes where its offset is.
    ///
    /// # Errors
    /// As write(2).
    pub fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        self.files.write(self.descriptor, from)
    }

    /// What is known of it.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it was closed by its number.
    pub fn stat(&self) -> Result<Stat, Errno> {
        self.files.stat_descriptor(self.descriptor)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // There is nobody to tell.
        self.files.close(self.descriptor).ok();
    }
}
