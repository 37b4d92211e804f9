//! Why a workload or a file set cannot be executed as described.

/// What is wrong with a description.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A count or size that must be at least one is zero.
    #[error("{0} is zero; give at least one")]
    Zero(&'static str),
    /// A count is larger than names or descriptors allow.
    #[error("{what} is {value}, but can be at most {most}")]
    TooLarge {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value that works.
        most: u64,
    },
    /// The zipf exponent is negative, infinite or not a number.
    #[error("invalid zipf exponent {0}; give a finite, non-negative number")]
    ZipfExponent(f64),
    /// The request does not fit into the files.
    #[error(
        "a request of {request_bytes} bytes, aligned as requested, does not fit into a file of \
         {file_bytes} bytes; use larger files or smaller requests"
    )]
    RequestTooLarge {
        /// The request size.
        request_bytes: u64,
        /// The size of each file.
        file_bytes: u64,
    },
    /// The span that operations range over has no room for a request, or is larger than the file.
    #[error(
        "a span of {span_bytes} bytes is not possible: give at least one request of \
         {request_bytes} bytes, aligned as requested, and at most the file's {file_bytes} bytes"
    )]
    Span {
        /// The span.
        span_bytes: u64,
        /// The request size.
        request_bytes: u64,
        /// The size of each file.
        file_bytes: u64,
    },
    /// The I/O path cannot carry this operation.
    #[error("{io_path} does not support the operation {operation}; use psync, or read or write")]
    NoSuchPath {
        /// The I/O path.
        io_path: &'static str,
        /// The operation.
        operation: &'static str,
    },
    /// Options of `preadv2` that contradict each other, the request or the operation.
    #[error("preadv2 with these options needs {wanted}")]
    Preadv2 {
        /// What would be needed.
        wanted: &'static str,
    },
    /// The file set lacks what the operation acts on.
    #[error("{operation} needs {needed} {what}, but the file set has {present}")]
    FileSetLacks {
        /// The operation.
        operation: &'static str,
        /// What is missing.
        what: &'static str,
        /// How many are needed.
        needed: u64,
        /// How many are there.
        present: u64,
    },
    /// Access to a file on the device itself requires this.
    #[error("reading or writing a file on the device itself needs {0}")]
    NotOnDevice(&'static str),
    /// Only system calls can do this.
    #[error("{0} cannot be done by library call; use a target that the kernel serves")]
    NotByLibrary(&'static str),
    /// The untimed work around each operation cannot be moved out of a batch.
    #[error("{0} cannot be timed in batches; use a batch of 1")]
    NoBatch(&'static str),
    /// Rounds need operations that are timed one by one, one after the other, and that can be
    /// prepared a second time if a round did not reach them.
    #[error("rounds are not possible for these operations; use rounds of 1")]
    NoRounds,
    /// Code between operations needs one thread whose operations can be prepared together.
    #[error(
        "code cannot be put between these operations: that takes one thread, batches as long as \
         a stretch, and operations for all turns"
    )]
    NotInterleaved,
    /// The queue depth is out of range for io_uring.
    #[error("a queue depth of {0} is not possible; give 1 to 4096 for io_uring")]
    QueueDepth(u32),
    /// Operations in flight overlap, so several cannot be timed as one interval.
    #[error("operations in flight are timed one by one; use a batch of 1 on the io_uring path")]
    BatchInFlight,
    /// The I/O path keeps state between operations that cannot be handed to other processes.
    #[error("processes cannot use this I/O path; use threads")]
    NotInProcesses,
    /// Operations in flight cannot have a separately recorded start.
    #[error("operations in flight have no separately recorded start: ask for none")]
    NoStart,
    /// An fsync of the directory was asked for, but the operation does not change directories.
    #[error("{0} changes no directory that could be synced; turn off the sync of directories")]
    NothingToSync(&'static str),
    /// There is no bare loop to compare this operation with; only some reads and writes have one.
    #[error(
        "{0} has no bare loop to compare with; use reads or writes by psync, or sequential ones by \
         stdio"
    )]
    NotATransfer(&'static str),
    /// Only operations on names can do this.
    #[error(
        "{0} is not an operation on names; only the directories of those can be closed and reopened"
    )]
    NotOnNames(&'static str),
    /// A file set needs more names than there can be.
    #[error("a file set may have at most {most} {what}")]
    FileSetTooLarge {
        /// Files, directories or entries.
        what: &'static str,
        /// The most that fit.
        most: u64,
    },
    /// A file set asks for names or paths of an impossible length.
    #[error("{what} must be between {least} and {most}")]
    OutOfBounds {
        /// What is out of bounds.
        what: &'static str,
        /// The smallest allowed value.
        least: usize,
        /// The largest allowed value.
        most: usize,
    },
}
