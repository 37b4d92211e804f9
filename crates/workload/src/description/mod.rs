//! The description of a workload: data without behaviour.
//!
//! Exactly the call or calls that an operation names are timed. Whatever must happen around them
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
    /// At multiples of 512. Uniform access uses all of them; the blocks of all other patterns begin
    /// 512 bytes into the file.
    Sector,
    /// Anywhere. Uniform access uses every byte; the blocks of all other patterns begin one byte
    /// into the file.
    Unaligned,
}

/// What threads share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// Files and directories are divided up: thread t of T gets those whose number is t modulo T.
    Own,
    /// All threads work on the first file, or in the first directory.
    Same,
}

/// Whether content is generated and compared, outside the timed intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verification {
    /// Reads are not checked. Writes write incompressible data unrelated to their offset, so write
    /// files cannot be checked afterwards.
    Off,
    /// Reads are compared; writes write the correct content for their offset. Has no effect on
    /// other operations.
    On,
}

/// Where unverified writes take their data from.
///
/// A device that copies the data, such as a virtual machine's, takes less time if they are in the
/// processor's caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteMemory {
    /// As little memory as possible without the content becoming compressible.
    Reused,
    /// Separate memory for each write.
    Own,
}

/// What executes the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Workers {
    /// Threads of this process, which share its address space and its descriptor table.
    Threads,
    /// Processes forked for the run, which share neither. This process must be single-threaded.
    Processes,
}

/// How changes of directories are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DirectorySync {
    /// They are not: the file system writes them back whenever it likes.
    Never,
    /// An `fsync` of the directory after each operation, timed together with it.
    EachOperation,
}

/// Whether each thread stays on one processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pinning {
    /// Thread t stays on the t-th processor that this process may use, wrapping around.
    EachToOneProcessor,
    /// The kernel moves threads as it likes.
    Off,
}

/// The complete description of a workload. Executing it takes only a file set and a seed besides.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// What each operation does.
    pub operation: Operation,
    /// Which block or entry each operation uses.
    pub access: Access,
    /// Bytes moved by one read, write or append.
    pub request_bytes: usize,
    /// Reads and writes stay within the first `span_bytes` of each file: at least one request, at
    /// most the whole file, which is also what None means. Has no effect on other operations.
    pub span_bytes: Option<u64>,
    /// Whether reads are announced as random (`POSIX_FADV_RANDOM`), which turns read-ahead off.
    pub advises_random: bool,
    /// How the bytes travel.
    pub io_path: IoPath,
    /// The number of threads (or processes), which start together.
    pub threads: usize,
    /// Whether they are threads or processes.
    pub workers: Workers,
    /// The most operations of each thread: as soon as one of several threads has done them, all
    /// stop. Also bounds the extra entries that a thread adds to the directory set.
    pub operations_per_thread: u64,
    /// Operations that each thread does first, to reach the state to be measured. They are timed
    /// too, but recorded separately (see [`crate::Course`]). Must be 0 for operations in flight.
    pub start_operations: u64,
    /// Operations per timed interval; 1 times each separately.
    pub batch: usize,
    /// Operations of each thread in one round. Untimed work happens only before and after all of
    /// them, and threads wait for each other in between. Otherwise one thread's untimed work would
    /// hide the time for which another would have had to wait. With 1, untimed work is done around
    /// each operation.
    pub operations_per_round: usize,
    /// Where requests may begin.
    pub alignment: Alignment,
    /// What threads share.
    pub sharing: Sharing,
    /// Whether content is checked.
    pub verification: Verification,
    /// Where unverified writes to data files take their data from, with plain calls or io_uring.
    /// Writes on a device always have separate memory.
    pub write_memory: WriteMemory,
    /// Whether each thread stays on one processor.
    pub pinning: Pinning,
    /// How changes of directories are made durable. Must be `Never` for operations that make none.
    pub directory_sync: DirectorySync,
}

impl Workload {
    /// One pinned thread that does `operation` 1000 times, on 4 KiB requests at aligned, uniformly
    /// random offsets in whole files, through the page cache, timed one by one, unverified.
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

    /// Operations of each thread, including those of the start.
    #[must_use]
    pub fn all_operations(&self) -> u64 {
        self.start_operations.saturating_add(self.operations_per_thread)
    }

    /// How many operations a step prepares at a time.
    pub(crate) fn slots(&self) -> usize {
        self.batch.max(self.operations_per_round)
    }

    /// The number of writes for which there must be separate memory, at least.
    pub(crate) fn writes_apart(&self) -> u64 {
        match self.write_memory {
            WriteMemory::Reused => 1,
            WriteMemory::Own => self.all_operations(),
        }
    }
}
