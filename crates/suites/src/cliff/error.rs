//! Why a search for cliffs cannot be begun.

use thiserror::Error;

/// A search for cliffs is impossible as asked for.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CliffError {
    /// The ends of the range are too near each other, or in the wrong order.
    #[error(
        "the search needs a range of at least a factor of 2, and from {low} to {high} {unit} is \
         none: give a smaller --low or a larger --high"
    )]
    Range {
        /// The lower end.
        low: u64,
        /// The upper end.
        high: u64,
        /// Their unit.
        unit: &'static str,
    },
    /// The lower end is smaller than one step of the axis.
    #[error("the search begins with at least {least} {unit}: give a larger --low than {low}")]
    LowTooSmall {
        /// The lower end.
        low: u64,
        /// What it must be at least.
        least: u64,
        /// Their unit.
        unit: &'static str,
    },
    /// Neither a memory limit nor the caches of the processor suggest a range.
    #[error(
        "{target} has no memory limit, and this machine does not tell the sizes of its caches: say \
         what to search with --low and --high, or give the target a limit, such as memory=64m"
    )]
    NoRange {
        /// The target.
        target: String,
    },
    /// The file of the largest working set does not fit.
    #[error(
        "a file of {needed_bytes} bytes does not fit into {target}, which has {free_bytes} bytes \
         free: give a smaller --high{larger}"
    )]
    NoRoom {
        /// The target.
        target: String,
        /// The size of the file.
        needed_bytes: u64,
        /// What is free.
        free_bytes: u64,
        /// What else would help.
        larger: &'static str,
    },
    /// Files of a file system in memory count towards the limit whole.
    #[error(
        "{target} keeps its only copy of a file in memory, so a memory limit would end the search \
         instead of showing a cliff: leave memory= out, or take a file system on a device, such as \
         ext4:memory=64m"
    )]
    LimitOnMemory {
        /// The target.
        target: String,
    },
    /// The largest request is larger than the file.
    #[error(
        "requests of up to {high} bytes are larger than the file of {file_bytes} bytes, which is \
         to stay in memory: give a smaller --high, or the target more memory="
    )]
    RequestTooLarge {
        /// The largest request.
        high: u64,
        /// The size of the file.
        file_bytes: u64,
    },
    /// More threads than can be had.
    #[error("{high} threads are more than {most}: give a smaller --high")]
    TooManyThreads {
        /// Threads asked for.
        high: u64,
        /// The most.
        most: u64,
    },
    /// Something failed on a target.
    #[error("{target}: {why}")]
    Target {
        /// The target.
        target: String,
        /// What.
        why: String,
    },
    /// It was told to stop.
    #[error("interrupted before anything was measured")]
    Stopped,
}
