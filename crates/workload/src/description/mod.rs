//! The description of a workload: plain data, no behaviour.
//!
//! What is timed is exactly the call or calls an operation names. What has to happen around them
//! (the close after an open, the append before an fsync) happens outside the timed interval.

mod check;

use crate::choose::Access;
use crate::io_path::IoPath;
use crate::operation::Operation;

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

/// From where unverified writes take what they write.
///
/// A device that copies what it is given, such as that of a virtual machine, takes less time for
/// what lies in the processor's caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteMemory {
    /// From the least memory whose content does not compress.
    Reused,
    /// Each write from memory of its own.
    Own,
}

/// What does the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Workers {
    /// Threads of this process, which share its memory's map and its table of descriptors.
    Threads,
    /// Processes forked for it, which share neither. This process must have one thread then.
    Processes,
}

/// What makes changes of directories permanent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DirectorySync {
    /// Nothing: the file system writes when it likes.
    Never,
    /// An `fsync` of the directory after each operation, timed as one with it.
    EachOperation,
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
    /// Whether reads are announced as random (`POSIX_FADV_RANDOM`), so that none is read ahead.
    pub advises_random: bool,
    /// How they travel.
    pub io_path: IoPath,
    /// Threads (or processes), started together.
    pub threads: usize,
    /// Which of both.
    pub workers: Workers,
    /// Operations of each thread, at most: once one of several has done them, all end. Also bounds
    /// the extra entries that a thread adds to the directory set.
    pub operations_per_thread: u64,
    /// Operations of each thread before those, which bring about what is measured then: timed too,
    /// and recorded apart (see [`crate::Course`]). Operations in flight have no such start: 0.
    pub start_operations: u64,
    /// Operations in one timed interval; 1 times each.
    pub batch: usize,
    /// Operations of each thread in one round: whatever is untimed stands before all of them and
    /// after all of them, and threads wait for each other in between. So what one thread does
    /// untimed gives no other the time in which it would have had to wait for it. 1 leaves the
    /// untimed parts between operations.
    pub operations_per_round: usize,
    /// Where requests may begin.
    pub alignment: Alignment,
    /// What threads have in common.
    pub sharing: Sharing,
    /// Whether content is checked.
    pub verification: Verification,
    /// From where unverified writes to data files take what they write, by plain calls or io_uring;
    /// on a device each has memory of its own.
    pub write_memory: WriteMemory,
    /// Whether threads stay on their processors.
    pub pinning: Pinning,
    /// What makes changes of directories permanent. Other operations have only `Never`.
    pub directory_sync: DirectorySync,
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
            advises_random: false,
            io_path: IoPath::PsyncBuffered,
            threads: 1,
            workers: Workers::Threads,
            operations_per_thread: 1000,
            start_operations: 0,
            batch: 1,
            operations_per_round: 1,
            alignment: Alignment::Request,
            sharing: Sharing::Own,
            verification: Verification::Off,
            write_memory: WriteMemory::Reused,
            pinning: Pinning::EachToOneProcessor,
            directory_sync: DirectorySync::Never,
        }
    }

    /// Operations of each thread, those of the start among them.
    #[must_use]
    pub fn all_operations(&self) -> u64 {
        self.start_operations.saturating_add(self.operations_per_thread)
    }

    /// For how many operations at a time a step is prepared.
    pub(crate) fn slots(&self) -> usize {
        self.batch.max(self.operations_per_round)
    }

    /// For how many writes there is to be memory at least.
    pub(crate) fn writes_apart(&self) -> u64 {
        match self.write_memory {
            WriteMemory::Reused => 1,
            WriteMemory::Own => self.all_operations(),
        }
    }
}
