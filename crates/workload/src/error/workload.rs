//! Why a workload or a file set cannot be executed as it is described.

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
    /// The span of a file that operations range over holds no request, or more than the file.
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
    /// The operation is not a transfer that this I/O path can carry.
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
    /// What is read or written on the device itself has to be as this says.
    #[error("reading or writing a file on the device itself needs {0}")]
    NotOnDevice(&'static str),
    /// What only system calls can do.
    #[error("{0} cannot be done by library call; use a target that the kernel serves")]
    NotByLibrary(&'static str),
    /// The operation's untimed surroundings cannot be pulled out of a batch.
    #[error("{0} cannot be timed in batches; use a batch of 1")]
    NoBatch(&'static str),
    /// Rounds are of operations that are timed one by one and one after the other, and can be
    /// prepared again where they were not done.
    #[error("rounds are not possible for these operations; use rounds of 1")]
    NoRounds,
    /// The queue depth of the io_uring path.
    #[error("a queue depth of {0} is not possible; give 1 to 4096 for io_uring")]
    QueueDepth(u32),
    /// Operations in flight overlap, so there is no interval to time several in.
    #[error("operations in flight are timed one by one; use a batch of 1 on the io_uring path")]
    BatchInFlight,
    /// What an I/O path keeps between operations cannot be handed to other processes.
    #[error("processes cannot use this I/O path; use threads")]
    NotInProcesses,
    /// A start of its own, for operations in flight.
    #[error("operations in flight have no separately recorded start: ask for none")]
    NoStart,
    /// An fsync of the directory after an operation that leaves directories as they are.
    #[error("{0} changes no directory that could be synced; turn off the sync of directories")]
    NothingToSync(&'static str),
    /// The harness is compared with bare loops for some reads and writes only.
    #[error(
        "{0} has no bare loop to compare with; use reads or writes by psync, or sequential ones by \
         stdio"
    )]
    NotATransfer(&'static str),
    /// What only operations on names can do.
    #[error(
        "{0} is not an operation on names; only the directories of those can be closed and reopened"
    )]
    NotOnNames(&'static str),
    /// A file set description of names that would not fit.
    #[error("a file set may have at most {most} {what}")]
    FileSetTooLarge {
        /// Files, directories or entries.
        what: &'static str,
        /// The most that fit.
        most: u64,
    },
    /// A file set description that names or paths could not have.
    #[error("{what} must be between {least} and {most}")]
    OutOfBounds {
        /// What is out of bounds.
        what: &'static str,
        /// Its least value.
        least: usize,
        /// Its largest value.
        most: usize,
    },
}
