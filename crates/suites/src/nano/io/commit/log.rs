//! A file to which small records are committed, one after another.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use workload::Content;

/// What makes a write durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::nano::io) enum SyncMethod {
    /// A following `fsync`.
    Fsync,
    /// A following `fdatasync`.
    Fdatasync,
    /// The write itself, through a descriptor opened with `O_DSYNC`. To the kernel this is the same
    /// as `RWF_DSYNC` on each write (`iocb_is_dsync`), and for buffered writes, the same as an
    /// `fdatasync` of the bytes written (`generic_write_sync`).
    Dsync,
}

/// Which bytes of a file a log writes, in order, starting over at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::nano::io) struct LogExtent {
    /// Where it begins.
    pub(in crate::nano::io) start: u64,
    /// Its length.
    pub(in crate::nano::io) bytes: u64,
}

impl LogExtent {
    /// The whole file: each write appends to a file that was empty at first.
    pub(in crate::nano::io) const WHOLE_FILE: Self = Self { start: 0, bytes: u64::MAX };
}

/// A log in a file, or in a part of one.
#[derive(Debug)]
pub(in crate::nano::io) struct Log {
    file: File,
    sync_method: SyncMethod,
    part: LogExtent,
    next: u64,
    record: Vec<u8>,
}

impl Log {
    /// Opens a log of incompressible records of `record_bytes` in an existing file.
    pub(in crate::nano::io) fn open(
        path: &Path,
        sync_method: SyncMethod,
        part: LogExtent,
        record_bytes: usize,
        seed: u64,
    ) -> io::Result<Self> {
        // Not the flag from rustix, whose `DSYNC` is the kernel's `O_SYNC` (1.1.6, `linux_raw`),
        // which makes timestamps durable too.
        let flags = match sync_method {
            SyncMethod::Dsync => libc::O_DSYNC,
            SyncMethod::Fsync | SyncMethod::Fdatasync => 0,
        };
        let file = File::options().write(true).custom_flags(flags).open(path)?;
        let mut record = vec![0; record_bytes];
        Content::new(seed, 0).fill(&mut record, part.start);
        Ok(Self { file, sync_method, part, next: part.start, record })
    }

    /// Makes a log in a new, empty file.
    pub(in crate::nano::io) fn create(
        path: &Path,
        sync_method: SyncMethod,
        record_bytes: usize,
        seed: u64,
    ) -> io::Result<Self> {
        File::create_new(path)?.sync_all()?;
        Self::open(path, sync_method, LogExtent::WHOLE_FILE, record_bytes, seed)
    }

    /// Writes the next record and returns when it is durable; this is what is timed.
    pub(in crate::nano::io) fn commit(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.record, self.next)?;
        self.step();
        match self.sync_method {
            SyncMethod::Fsync => self.file.sync_all(),
            SyncMethod::Fdatasync => self.file.sync_data(),
            SyncMethod::Dsync => Ok(()),
        }
    }

    /// Writes the next record without making it durable.
    pub(in crate::nano::io) fn write(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.record, self.next)?;
        self.step();
        Ok(())
    }

    /// Makes everything written durable.
    pub(in crate::nano::io) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn step(&mut self) {
        let length = self.record.len() as u64;
        let offset = self.next - self.part.start + length;
        let has_room = offset.checked_add(length).is_some_and(|end| end <= self.part.bytes);
        self.next = self.part.start + if has_room { offset } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("fsprism-log-{name}-{}", std::process::id()))
    }

    #[test]
    fn records_follow_each_other_and_begin_again_where_their_part_ends() {
        let path = path("part");
        std::fs::write(&path, vec![0; 16_384]).expect("it is writable");
        for sync_method in [SyncMethod::Fsync, SyncMethod::Fdatasync, SyncMethod::Dsync] {
            let part = LogExtent { start: 4096, bytes: 8192 };
            let mut log = Log::open(&path, sync_method, part, 4096, 1).expect("it is there");
            let mut places = Vec::new();
            for _ in 0..4 {
                places.push(log.next);
                log.commit().expect("it has room");
            }
            assert_eq!(places, [4096, 8192, 4096, 8192], "{sync_method:?}");
        }
        let content = std::fs::read(&path).expect("it is there");
        assert!(content[..4096].iter().chain(&content[12_288..]).all(|&byte| byte == 0));
        std::fs::remove_file(&path).expect("it is there");
    }

    /// A library's constant once did more than it said, which only showed in the device's flushes.
    #[test]
    fn writes_are_synchronous_as_far_as_data_goes_and_no_further() {
        let path = path("flags");
        std::fs::write(&path, [0; 4096]).expect("it is writable");
        let flags = |sync_method| {
            let log =
                Log::open(&path, sync_method, LogExtent::WHOLE_FILE, 4096, 1).expect("it is there");
            let all = rustix::fs::fcntl_getfl(&log.file).expect("it is open").bits();
            all & libc::O_SYNC.cast_unsigned()
        };
        assert_eq!(flags(SyncMethod::Dsync), libc::O_DSYNC.cast_unsigned());
        assert_ne!(libc::O_DSYNC, libc::O_SYNC);
        assert_eq!((flags(SyncMethod::Fsync), flags(SyncMethod::Fdatasync)), (0, 0));
        std::fs::remove_file(&path).expect("it is there");
    }

    #[test]
    fn an_empty_log_grows_by_what_is_committed() {
        let path = path("growing");
        let mut log = Log::create(&path, SyncMethod::Fsync, 4096, 1).expect("it is new");
        log.commit().expect("it has room");
        log.write().expect("it has room");
        log.sync().expect("there is a disk");
        assert_eq!(std::fs::metadata(&path).expect("it is there").len(), 8192);
        std::fs::remove_file(&path).expect("it is there");
    }
}
