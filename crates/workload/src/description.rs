//! The description of a workload: plain data, no behaviour.
//!
//! What is timed is exactly the call or calls an operation names. What has to happen around them
//! (the close after an open, the append before an fsync) happens outside the timed interval.

use crate::error::WorkloadError;
use crate::names::{NUMBERS, NUMBERS_PER_THREAD};

/// What is done, once per operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// `pread` of one request from a read file.
    Read,
    /// `pwrite` of one request over existing bytes of a write file.
    Write,
    /// `write` of one request at the end (`O_APPEND`) of a file made for it.
    Append,
    /// `fsync`, after an untimed append of one request.
    Fsync,
    /// `fdatasync`, after an untimed append of one request.
    Fdatasync,
    /// `openat` of an entry for reading; the close is untimed.
    Open,
    /// `close` of a descriptor; the open is untimed.
    Close,
    /// `openat` that makes a new empty file (`O_CREAT | O_EXCL`); the close is untimed.
    Create,
    /// `fstatat` of an entry.
    StatPresent,
    /// `fstatat` of a name that does not exist.
    StatMissing,
    /// All the `getdents64` calls that list a directory once; the seek to its start is untimed.
    Readdir,
    /// `renameat` of an entry to another name in its directory, and later back.
    Rename,
    /// `linkat` of an entry to a new name.
    Link,
    /// `symlinkat` of a new name that points to an entry.
    Symlink,
    /// `unlinkat` of an empty file made before the run.
    Unlink,
    /// `mkdirat` of a new directory.
    Mkdir,
    /// `unlinkat` of an empty directory made before the run.
    Rmdir,
    /// `ftruncate` to nothing of a file that an untimed write made one request long.
    Truncate,
    /// `openat` of an entry and `close`, timed as one.
    OpenClose,
    /// `write` at the end and `fsync`, timed as one.
    AppendFsync,
}

/// The part of a file set that an operation acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The read files.
    ReadFiles,
    /// The write files.
    WriteFiles,
    /// Files that prepare makes and restore removes, which grow by the operations' requests.
    GrowingFiles,
    /// The directory set.
    Directories,
}

impl Operation {
    /// All of them, in the order of their definition.
    pub const ALL: [Self; 20] = [
        Self::Read,
        Self::Write,
        Self::Append,
        Self::Fsync,
        Self::Fdatasync,
        Self::Open,
        Self::Close,
        Self::Create,
        Self::StatPresent,
        Self::StatMissing,
        Self::Readdir,
        Self::Rename,
        Self::Link,
        Self::Symlink,
        Self::Unlink,
        Self::Mkdir,
        Self::Rmdir,
        Self::Truncate,
        Self::OpenClose,
        Self::AppendFsync,
    ];

    /// The name by which reports call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Append => "append",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::Open => "open",
            Self::Close => "close",
            Self::Create => "create",
            Self::StatPresent => "stat",
            Self::StatMissing => "stat of a missing name",
            Self::Readdir => "readdir",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Symlink => "symlink",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::Truncate => "truncate",
            Self::OpenClose => "open+close",
            Self::AppendFsync => "append+fsync",
        }
    }

    /// What it acts on.
    #[must_use]
    pub fn subject(self) -> Subject {
        match self {
            Self::Read => Subject::ReadFiles,
            Self::Write => Subject::WriteFiles,
            Self::Append | Self::Fsync | Self::Fdatasync | Self::Truncate | Self::AppendFsync => {
                Subject::GrowingFiles
            }
            _ => Subject::Directories,
        }
    }

    /// Whether several can be timed as one interval. Not where the untimed part must stand between
    /// two of them.
    #[must_use]
    pub fn can_batch(self) -> bool {
        !matches!(self, Self::Fsync | Self::Fdatasync | Self::Truncate | Self::Readdir)
    }

    /// Whether directories hold other entries while it runs; [`crate::Session::restore`] undoes
    /// that.
    #[must_use]
    pub fn changes_directories(self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::Rename
                | Self::Link
                | Self::Symlink
                | Self::Unlink
                | Self::Mkdir
                | Self::Rmdir
        )
    }
}

/// Which block, or which entry of a directory, comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Access {
    /// One after the other; from the end on to the beginning. Threads on the same files start
    /// evenly spread.
    Sequential,
    /// Each equally likely, independent of those before.
    Uniform,
    /// In random order, none again before each came once. Threads on the same files share them out.
    Shuffled,
    /// The k-th hottest has a probability proportional to 1 / k^exponent; hot ones are not
    /// neighbours.
    Zipf {
        /// At least 0 (which is uniform), finite.
        exponent: f64,
    },
}

/// How bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IoPath {
    /// One system call per request, through the page cache.
    PsyncBuffered,
    /// One system call per request, with `O_DIRECT`.
    PsyncDirect,
}

/// Where a request may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alignment {
    /// At multiples of the request size.
    Request,
    /// At multiples of 512. Uniform access uses all of them; sequential and zipf blocks begin 512
    /// bytes into the file.
    Sector,
    /// Anywhere. Uniform access uses every byte; sequential and zipf blocks begin one byte into the
    /// file.
    Unaligned,
}

/// What threads have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// Files and directories are dealt out: thread t of T has those whose number is t modulo T.
    Own,
    /// All threads work on the first file, or in the first directory.
    Same,
}

/// Whether content is made and compared, outside the timed intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verification {
    /// Reads are not looked at; writes write what does not compress and has
    /// nothing to do with the place, after which a write file is not checkable.
    Off,
    /// Reads are compared; writes write the right content for their offset. Without meaning for
    /// other operations.
    On,
}

/// Whether threads stay on one processor each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pinning {
    /// Thread t stays on the t-th processor that this process may use, counted round.
    EachToOneProcessor,
    /// The kernel moves threads as it likes.
    Off,
}

/// All that has to be said about a workload. Execution adds a file set and a seed, nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// What is done.
    pub operation: Operation,
    /// To which block or entry.
    pub access: Access,
    /// Bytes moved by one read, write or append.
    pub request_bytes: usize,
    /// Reads and writes range over the first so many bytes of each file: at least a request, at
    /// most the file. None: over the whole file. Without meaning for other operations.
    pub span_bytes: Option<u64>,
    /// How they travel.
    pub io_path: IoPath,
    /// Threads, started together.
    pub threads: usize,
    /// Operations of each thread, at most: once one of several has done them, all end. Also bounds
    /// the extra entries that a thread adds to the directory set.
    pub operations_per_thread: u64,
    /// Operations in one timed interval; 1 times each.
    pub batch: usize,
    /// Where requests may begin.
    pub alignment: Alignment,
    /// What threads have in common.
    pub sharing: Sharing,
    /// Whether content is checked.
    pub verification: Verification,
    /// Whether threads stay on their processors.
    pub pinning: Pinning,
}

impl Workload {
    /// One pinned thread that does `operation` to 4 KiB requests at aligned, uniformly random
    /// places of whole files, through the page cache, each timed, 1000 times, unverified.
    #[must_use]
    pub fn new(operation: Operation) -> Self {
        Self {
            operation,
            access: Access::Uniform,
            request_bytes: 4096,
            span_bytes: None,
            io_path: IoPath::PsyncBuffered,
            threads: 1,
            operations_per_thread: 1000,
            batch: 1,
            alignment: Alignment::Request,
            sharing: Sharing::Own,
            verification: Verification::Off,
            pinning: Pinning::EachToOneProcessor,
        }
    }

    /// Checks what can be checked without a file set.
    ///
    /// # Errors
    /// The first thing that could not be executed.
    pub fn check(&self) -> Result<(), WorkloadError> {
        self.check_counts()?;
        if let Access::Zipf { exponent } = self.access
            && !(exponent.is_finite() && exponent >= 0.0)
        {
            return Err(WorkloadError::ZipfExponent(exponent));
        }
        let unaligned =
            self.alignment == Alignment::Unaligned || !self.request_bytes.is_multiple_of(512);
        if self.io_path == IoPath::PsyncDirect && unaligned {
            return Err(WorkloadError::DirectAlignment);
        }
        if self.batch > 1 && !self.operation.can_batch() {
            return Err(WorkloadError::NoBatch(self.operation.name()));
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<(), WorkloadError> {
        let counts = [
            ("the request size", self.request_bytes as u64, 1 << 30),
            ("the number of threads", self.threads as u64, NUMBERS / NUMBERS_PER_THREAD),
            ("the number of operations", self.operations_per_thread, NUMBERS_PER_THREAD),
            ("the batch", self.batch as u64, 1 << 20),
        ];
        for (what, value, most) in counts {
            if value == 0 {
                return Err(WorkloadError::Zero(what));
            }
            if value > most {
                return Err(WorkloadError::TooLarge { what, value, most });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_executed_is_refused_with_its_reason() {
        let good = Workload::new(Operation::Read);
        assert_eq!(good.check(), Ok(()));
        let refused = |change: fn(&mut Workload)| {
            let mut workload = Workload::new(Operation::Read);
            change(&mut workload);
            workload.check().expect_err("it cannot be executed")
        };
        assert!(matches!(refused(|w| w.threads = 0), WorkloadError::Zero(_)));
        assert!(matches!(refused(|w| w.batch = 0), WorkloadError::Zero(_)));
        assert!(matches!(refused(|w| w.request_bytes = 0), WorkloadError::Zero(_)));
        assert!(matches!(refused(|w| w.threads = 5000), WorkloadError::TooLarge { .. }));
        for exponent in [-0.1, f64::NAN, f64::INFINITY] {
            let workload = Workload { access: Access::Zipf { exponent }, ..good.clone() };
            assert!(matches!(workload.check(), Err(WorkloadError::ZipfExponent(_))));
        }
        let direct = Workload { io_path: IoPath::PsyncDirect, ..good };
        assert_eq!(direct.check(), Ok(()));
        let odd = Workload { request_bytes: 1000, ..direct.clone() };
        assert_eq!(odd.check(), Err(WorkloadError::DirectAlignment));
        let unaligned = Workload { alignment: Alignment::Unaligned, ..direct };
        assert_eq!(unaligned.check(), Err(WorkloadError::DirectAlignment));
    }

    #[test]
    fn batches_are_refused_where_untimed_work_stands_between_operations() {
        for operation in Operation::ALL {
            let workload = Workload { batch: 2, ..Workload::new(operation) };
            assert_eq!(workload.check().is_ok(), operation.can_batch(), "{}", operation.name());
        }
    }
}
