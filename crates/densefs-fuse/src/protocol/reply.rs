//! What the kernel is answered. It may cache none of it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use densefs::{FileLock, Stat, time};

/// The block size that stat(2) and statfs(2) report.
pub(crate) const BLOCK: u32 = 4096;

/// An answer without its header.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply(Vec<u8>);

impl Reply {
    /// That it is done, and nothing more.
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn u32(mut self, word: u32) -> Self {
        self.0.extend(word.to_ne_bytes());
        self
    }

    fn u64(mut self, word: u64) -> Self {
        self.0.extend(word.to_ne_bytes());
        self
    }

    /// `struct fuse_attr`.
    fn stat(self, stat: &Stat) -> Self {
        let times = [stat.atime_ns, stat.mtime_ns, stat.ctime_ns].map(time::parts);
        let reply = self.u64(stat.ino).u64(stat.size).u64(stat.blocks);
        let reply = times.iter().fold(reply, |reply, time| reply.u64(time.0.cast_unsigned()));
        let reply = times.iter().fold(reply, |reply, time| reply.u32(time.1));
        let mode = &stat.mode;
        let reply = reply.u32(mode.mode).u32(stat.links).u32(mode.uid).u32(mode.gid);
        reply.u32(stat.device).u32(BLOCK).u32(0)
    }

    /// `struct fuse_entry_out`.
    pub(crate) fn entry(stat: &Stat) -> Self {
        let (generation, valid) = (0, 0);
        Self::default().u64(stat.ino).u64(generation).u64(valid).u64(valid).u64(valid).stat(stat)
    }

    /// `struct fuse_attr_out`.
    pub(crate) fn attributes(stat: &Stat) -> Self {
        let valid = 0;
        Self::default().u64(valid).u64(valid).stat(stat)
    }

    /// `struct fuse_open_out`.
    pub(crate) fn opened(descriptor: u32) -> Self {
        Self::default().and_opened(descriptor)
    }

    /// With a `struct fuse_open_out` behind.
    pub(crate) fn and_opened(self, descriptor: u32) -> Self {
        let flags = 0;
        self.u64(descriptor.into()).u64(flags)
    }

    /// A length or a size: `struct fuse_write_out` and `struct fuse_getxattr_out`.
    pub(crate) fn length(length: usize) -> Self {
        Self::default().u32(u32::try_from(length).unwrap_or(u32::MAX)).u32(0)
    }

    /// `struct fuse_lseek_out`.
    pub(crate) fn offset(offset: u64) -> Self {
        Self::default().u64(offset)
    }

    /// `struct fuse_statfs_out`.
    pub(crate) fn usage(all_bytes: u64, free_bytes: u64) -> Self {
        /// How many bytes there are for each inode that is told, for none has a fixed number.
        const PER_INODE: u64 = 128;
        let block = u64::from(BLOCK);
        let reply = Self::default().u64(all_bytes / block).u64(free_bytes / block);
        let reply = reply.u64(free_bytes / block);
        let reply = reply.u64(all_bytes / PER_INODE).u64(free_bytes / PER_INODE);
        (0..7).fold(reply.u32(BLOCK).u32(255).u32(BLOCK), |reply, _| reply.u32(0))
    }

    /// `struct fuse_lk_out`: a lock that conflicts, or none.
    pub(crate) fn lock(lock: Option<&FileLock>) -> Self {
        // The kernel names the last byte, not the one after it.
        let last = |end: u64| if end == u64::MAX { i64::MAX.cast_unsigned() } else { end - 1 };
        let kind = |kind: i32| kind.cast_unsigned();
        let Some(lock) = lock else {
            return Self::default().u64(0).u64(0).u32(kind(libc::F_UNLCK)).u32(0);
        };
        let how = if lock.is_exclusive { libc::F_WRLCK } else { libc::F_RDLCK };
        Self::default().u64(lock.start).u64(last(lock.end)).u32(kind(how)).u32(lock.pid)
    }
}

/// An entry of a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedName<'n> {
    pub(crate) ino: u64,
    /// Where a listing continues after it.
    pub(crate) next: u64,
    /// The type, as in a mode.
    pub(crate) type_bits: u32,
    pub(crate) name: &'n OsStr,
}

/// Entries of a directory, up to a size.
#[derive(Debug)]
pub(crate) struct DirectoryReply {
    reply: Reply,
    size_max: usize,
}

impl DirectoryReply {
    pub(crate) fn new(size_max: u32) -> Self {
        Self { reply: Reply::default(), size_max: size_max as usize }
    }

    /// Adds an entry, a `struct fuse_dirent`; false if there is no room for it.
    pub(crate) fn add(&mut self, entry: &ListedName<'_>) -> bool {
        const HEADER: usize = 24;
        let name = entry.name.as_bytes();
        let end = self.reply.0.len() + (HEADER + name.len()).next_multiple_of(8);
        if end > self.size_max {
            return false;
        }
        let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
        let kind = (entry.type_bits & densefs::modes::TYPE) >> 12;
        let reply = std::mem::take(&mut self.reply);
        self.reply = reply.u64(entry.ino).u64(entry.next).u32(length).u32(kind);
        self.reply.0.extend(name);
        self.reply.0.resize(end, 0);
        true
    }

    pub(crate) fn done(self) -> Reply {
        self.reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use densefs::modes::{FILE, Mode};

    #[test]
    fn answers_have_the_sizes_that_the_kernel_expects() {
        let mode = Mode { uid: 1, gid: 2, mode: FILE | 0o644 };
        let stat = Stat {
            ino: 1,
            mode,
            links: 1,
            size: 2,
            blocks: 3,
            atime_ns: -1,
            mtime_ns: 0,
            ctime_ns: 1,
            device: 0,
        };
        let sizes = [
            (Reply::entry(&stat), 128),
            (Reply::entry(&stat).and_opened(3), 144),
            (Reply::attributes(&stat), 104),
            (Reply::opened(3), 16),
            (Reply::length(1), 8),
            (Reply::offset(1), 8),
            (Reply::usage(1, 1), 80),
            (Reply::lock(None), 24),
        ];
        for (reply, size) in sizes {
            assert_eq!(reply.as_bytes().len(), size);
        }
    }

    #[test]
    fn entries_are_added_as_long_as_there_is_room() {
        let mut reply = DirectoryReply::new(2 * 32);
        let name = OsStr::new("12345678");
        let entry = ListedName { ino: 1, next: 2, type_bits: FILE, name };
        assert!(reply.add(&entry) && reply.add(&entry) && !reply.add(&entry));
        let bytes = reply.done().0;
        assert_eq!(
            (bytes.len(), bytes[16], bytes[20], &bytes[24..32]),
            (64, 8, 8, &b"12345678"[..])
        );
    }
}
