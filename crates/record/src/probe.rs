//! What was observed while a search for cliffs measured a position, apart from the cache state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was observed during the timed operations of one probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeEvidence {
    /// Number of read requests to the device; none if the target has no device of its own.
    pub device_reads: Option<u64>,
    /// Number of write requests to the device; none if the target has no device of its own.
    pub device_writes: Option<u64>,
    /// Bytes that operations wrote.
    pub written_bytes: u64,
    /// The largest amount of the working set that was dirty or being written back, in bytes; none
    /// if nothing is written or the kernel does not report it.
    pub dirty_bytes_max: Option<u64>,
    /// The machine-wide limit on dirty data, given the memory available at the time, in bytes; none
    /// if nothing is written or the kernel does not report it.
    pub machine_dirty_limit_bytes: Option<u64>,
    /// The device's own limit on dirty data, if it has one (`strict_limit`), in bytes.
    pub device_dirty_limit_bytes: Option<u64>,
    /// What threads waited for; none if nothing is written or the kernel does not report it.
    pub waits: Option<Waits>,
}

/// What threads waited for, from repeated samples of their kernel stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waits {
    /// Number of samples, each of one thread that performs operations.
    pub looks: u64,
    /// Of these, waiting for dirty data to be written (`balance_dirty_pages`).
    pub dirty_limit: u64,
    /// Of these, waiting for a file system's journal: for room in it or for a commit.
    pub journal: u64,
    /// Of these, waiting for memory to be reclaimed.
    pub reclaim: u64,
}
