//! Open files and directories.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use densefs::modes::{Caller, DIRECTORY, FILE, TYPE};
use densefs::{Batch, EntrySink, Errno, ListedEntry, Start, Stat, Whence, flags};

use crate::dense_fs::{Base, DenseFs, DirectoryEntry};

impl DenseFs {
    /// Opens a file or a directory; it is closed when the value is dropped.
    ///
    /// # Errors
    /// As open(2).
    pub fn open(&self, path: impl AsRef<Path>, how: u32, mode: u32) -> Result<File, Errno> {
        let descriptor = self.open_descriptor(Base::Working, path.as_ref(), how, mode)?;
        Ok(File { files: self.clone(), descriptor })
    }

    /// Opens a file or a directory; the caller must close it.
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
        let opened = match base {
            Base::Working if how & flags::NEED_CARE == 0 => self.briefly(|member, caller| {
                member.open_at_a_glance(caller, Start::Working, path, how)
            }),
            Base::Working | Base::Descriptor(_) => None,
        };
        opened.unwrap_or_else(|| self.open_carefully(base, path, how, mode))
    }

    #[inline(never)]
    fn open_carefully(&self, base: Base, path: &[u8], how: u32, mode: u32) -> Result<u32, Errno> {
        let how = flags::usual(how)?;
        self.with(|member, caller| {
            member.retry(|| {
                const NAMED: u32 = flags::CREATE | flags::TEMPORARY;
                if how & NAMED == flags::CREATE
                    && let Some(last) = base.only_name(member, path)?
                {
                    return member.open_last(caller, &last, how, mode);
                }
                member.open(caller, base.node(member, path)?, path, how, mode)
            })
        })
    }

    /// Closes a descriptor.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    #[inline]
    pub fn close(&self, descriptor: u32) -> Result<(), Errno> {
        self.with_core(|member| member.close(descriptor))
    }

    /// Reads at a descriptor's offset.
    ///
    /// # Errors
    /// As read(2).
    #[inline]
    pub fn read(&self, descriptor: u32, into: &mut [u8]) -> Result<usize, Errno> {
        self.with_core(|member| member.read_on(descriptor, into))
    }

    /// Writes at a descriptor's offset.
    ///
    /// # Errors
    /// As write(2).
    #[inline]
    pub fn write(&self, descriptor: u32, from: &[u8]) -> Result<usize, Errno> {
        self.with_core(|member| member.write_on(descriptor, from))
    }

    /// Reads at an offset.
    ///
    /// # Errors
    /// As pread(2).
    #[inline]
    pub fn read_from(&self, descriptor: u32, offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        self.with_core(|member| member.read_from(descriptor, offset, into))
    }

    /// Writes at an offset.
    ///
    /// # Errors
    /// As pwrite(2).
    #[inline]
    pub fn write_to(&self, descriptor: u32, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        self.with_core(|member| member.write_to(descriptor, offset, from))
    }

    /// Moves a descriptor's offset.
    ///
    /// # Errors
    /// As lseek(2).
    #[inline]
    pub fn seek(&self, descriptor: u32, by: i64, from: Whence) -> Result<u64, Errno> {
        self.with_core(|member| member.seek(descriptor, by, from))
    }

    /// The attributes of an open file.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    #[inline]
    pub fn stat_descriptor(&self, descriptor: u32) -> Result<Stat, Errno> {
        self.with_core(|member| member.retry(|| member.stat(member.node(descriptor)?)))
    }

    /// The flags with which a descriptor was opened.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    pub fn flags(&self, descriptor: u32) -> Result<u32, Errno> {
        self.with_core(|member| member.flags(descriptor))
    }

    /// Truncates an open file, or extends it with zeros.
    ///
    /// # Errors
    /// As ftruncate(2).
    pub fn truncate_descriptor(&self, descriptor: u32, size: u64) -> Result<(), Errno> {
        self.with_core(|member| member.truncate_open(descriptor, size))
    }

    /// Makes sure that writes to this range of bytes will find space. If it extends past the end,
    /// the file grows, unless `keeps_size` is set.
    ///
    /// # Errors
    /// As fallocate(2).
    pub fn allocate(
        &self,
        descriptor: u32,
        offset: u64,
        length: u64,
        keeps_size: bool,
    ) -> Result<(), Errno> {
        self.with_core(|member| member.allocate_open(descriptor, offset, length, keeps_size))
    }

    /// Punches a hole.
    ///
    /// # Errors
    /// As fallocate(2) with `FALLOC_FL_PUNCH_HOLE`.
    pub fn punch(&self, descriptor: u32, offset: u64, length: u64) -> Result<(), Errno> {
        self.with_core(|member| member.punch_open(descriptor, offset, length))
    }

    /// Copies bytes from one open file to another, each at a given offset or at its own; returns
    /// how many.
    ///
    /// # Errors
    /// As `copy_file_range(2)`.
    pub fn copy_range(
        &self,
        from: u32,
        from_offset: Option<u64>,
        to: u32,
        to_offset: Option<u64>,
        length: usize,
    ) -> Result<usize, Errno> {
        const PIECE: usize = 16 << 10;
        let (source, into) = (self.stat_descriptor(from)?, self.stat_descriptor(to)?);
        let types = [source.mode.mode & TYPE, into.mode.mode & TYPE];
        if types.contains(&DIRECTORY) {
            return Err(Errno::ISDIR);
        }
        if types != [FILE; 2] {
            return Err(Errno::INVAL);
        }
        let is_same = source.ino == into.ino;
        // These check how the files were opened.
        self.read_from(from, 0, &mut [])?;
        self.write_to(to, 0, &[])?;
        if self.flags(to)? & flags::APPEND != 0 {
            return Err(Errno::BADF);
        }
        let start = |descriptor, offset: Option<u64>| match offset {
            Some(offset) => Ok(offset),
            None => self.seek(descriptor, 0, Whence::Current),
        };
        let (begin, target) = (start(from, from_offset)?, start(to, to_offset)?);
        // Bytes past the end are not copied, so they do not count for an overlap.
        let left = usize::try_from(source.size.saturating_sub(begin)).unwrap_or(usize::MAX);
        let length = length.min(left);
        if is_same && begin.abs_diff(target) < length as u64 {
            return Err(Errno::INVAL);
        }
        let mut buffer = [0; PIECE];
        let mut done = 0;
        let why = loop {
            let wanted = (length - done).min(PIECE);
            let moved = self.read_from(from, begin + done as u64, &mut buffer[..wanted]);
            let moved = moved.and_then(|read| match read {
                0 => Ok(0),
                read => self.write_to(to, target + done as u64, &buffer[..read]),
            });
            match moved {
                Ok(0) => break Ok(()),
                Ok(moved) => done += moved,
                Err(why) => break Err(why),
            }
        };
        if done == 0 {
            why?;
        }
        for (descriptor, offset, now) in [(from, from_offset, begin), (to, to_offset, target)] {
            if offset.is_none() {
                let now = i64::try_from(now + done as u64).map_err(|_| Errno::OVERFLOW)?;
                self.seek(descriptor, now, Whence::Start)?;
            }
        }
        Ok(done)
    }

    /// Gives a file that was created without a name its first name.
    ///
    /// # Errors
    /// As linkat(2) with `AT_EMPTY_PATH`.
    pub fn link_open(&self, descriptor: u32, base: Base, path: &Path) -> Result<(), Errno> {
        self.with_last(base, path, |member, caller, last| {
            member.link_open_last(caller, descriptor, last)
        })
    }

    /// Duplicates a descriptor, to the lowest free one from `lowest` on.
    ///
    /// # Errors
    /// As fcntl(2) with `F_DUPFD`.
    pub fn duplicate(&self, descriptor: u32, lowest: u32, how: u32) -> Result<u32, Errno> {
        self.with_core(|member| member.duplicate(descriptor, lowest, how))
    }

    /// Makes the descriptor `to` refer to the same open file as another.
    ///
    /// # Errors
    /// As dup3(2), except that both may be the same.
    pub fn duplicate_to(&self, descriptor: u32, to: u32, how: u32) -> Result<(), Errno> {
        self.with_core(|member| member.duplicate_to(descriptor, to, how))
    }

    /// Changes the permissions of an open file.
    ///
    /// # Errors
    /// As fchmod(2).
    pub fn set_mode_of(&self, descriptor: u32, mode: u32) -> Result<(), Errno> {
        self.with(|member, caller| {
            member.retry(|| {
                if member.flags(descriptor)? & flags::PATH != 0 {
                    return Err(Errno::BADF);
                }
                member.set_mode(caller, member.node(descriptor)?, mode)
            })
        })
    }

    /// Changes the working directory to an open directory.
    ///
    /// # Errors
    /// As fchdir(2).
    pub fn change_directory_to(&self, descriptor: u32) -> Result<(), Errno> {
        self.with(|member, caller| {
            member.retry(|| {
                let node = member.node(descriptor)?;
                member.check_search(caller, node)?;
                member.set_working_directory(caller, node)
            })
        })
    }

    /// The inode number of `.` or `..` in an open directory, which whoever lists it need not be
    /// allowed to search.
    ///
    /// # Errors
    /// [`Errno::BADF`]; [`Errno::NOENT`] if it has been removed.
    pub fn ino_of_dots(&self, descriptor: u32, name: &str) -> Result<u64, Errno> {
        self.with_core(|member| {
            member.retry(|| {
                let found =
                    member.step(&Caller::ROOT, member.node(descriptor)?, name.as_bytes())?;
                Ok(member.stat(found)?.ino)
            })
        })
    }

    /// Up to `most` entries of an open directory, from its offset on.
    ///
    /// # Errors
    /// As getdents(2).
    pub fn list(&self, descriptor: u32, most: usize) -> Result<Vec<DirectoryEntry>, Errno> {
        let mut entries = Entries { all: Vec::new(), kept: 0, most };
        self.list_into(descriptor, &mut entries)?;
        Ok(entries.all)
    }

    /// Passes the entries of an open directory to a sink, from its offset on, as long as it takes
    /// them. The sink must not use the file system.
    ///
    /// # Errors
    /// As getdents(2).
    #[inline]
    pub fn list_into(&self, descriptor: u32, sink: &mut impl EntrySink) -> Result<(), Errno> {
        self.with_core(|member| member.list_on(descriptor, sink))
    }

    /// Calls `visit` with the entries of an open directory from its offset on, until it returns
    /// false.
    ///
    /// # Errors
    /// As getdents(2).
    pub fn visit(
        &self,
        descriptor: u32,
        mut visit: impl FnMut(ListedEntry<'_>) -> bool,
    ) -> Result<(), Errno> {
        let mut batch = Batch::default();
        let mut next = self.seek(descriptor, 0, Whence::Current)?;
        loop {
            batch.clear();
            self.list_into(descriptor, &mut batch)?;
            for one in batch.entries() {
                let behind = one.position + 1;
                if !visit(one) {
                    return self.seek(descriptor, next.cast_signed(), Whence::Start).map(drop);
                }
                next = behind;
            }
            if !batch.is_full() {
                return Ok(());
            }
        }
    }

    /// All entries of a directory, except `.` and `..`.
    ///
    /// # Errors
    /// As open(2) and getdents(2).
    pub fn read_directory(&self, path: impl AsRef<Path>) -> Result<Vec<DirectoryEntry>, Errno> {
        let directory = self.open(path, flags::DIRECTORY, 0)?;
        self.list(directory.descriptor, usize::MAX)
    }
}

/// Collects up to `most` entries of a listing.
struct Entries {
    all: Vec<DirectoryEntry>,
    kept: usize,
    most: usize,
}

impl EntrySink for Entries {
    fn take(&mut self, one: ListedEntry<'_>) -> bool {
        if self.all.len() >= self.most {
            return false;
        }
        let (name, next) = (one.name.to_vec(), one.position + 1);
        self.all.push(DirectoryEntry { name, ino: one.ino, type_bits: one.type_bits, next });
        true
    }

    fn take_back(&mut self) {
        self.all.truncate(self.kept);
    }

    fn keep(&mut self) {
        self.kept = self.all.len();
    }
}

/// An open file or directory, which is closed when this is dropped.
#[derive(Debug)]
pub struct File {
    files: DenseFs,
    descriptor: u32,
}

impl File {
    /// Its descriptor.
    #[must_use]
    pub fn descriptor(&self) -> u32 {
        self.descriptor
    }

    /// Reads at its offset.
    ///
    /// # Errors
    /// As read(2).
    pub fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.files.read(self.descriptor, into)
    }

    /// Writes at its offset.
    ///
    /// # Errors
    /// As write(2).
    pub fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        self.files.write(self.descriptor, from)
    }

    /// Its attributes.
    ///
    /// # Errors
    /// [`Errno::BADF`] if its descriptor has been closed explicitly.
    pub fn stat(&self) -> Result<Stat, Errno> {
        self.files.stat_descriptor(self.descriptor)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // There is nobody to report an error to.
        self.files.close(self.descriptor).ok();
    }
}
