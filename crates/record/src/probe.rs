//! What was seen while a search for cliffs measured a position, beside the state of the cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was seen during the timed operations of one probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeEvidence {
    /// Requests that the device read for; none where the target has no device of its own.
    pub device_reads: Option<u64>,
    /// Requests that the device wrote for.
    pub device_writes: Option<u64>,
    /// Bytes that operations wrote.
    pub written_bytes: u64,
    /// The most of the working set that was dirty or on its way to the device, in bytes; none
    /// where nothing is written, or the kernel does not tell.
    pub dirty_bytes_max: Option<u64>,
    /// The limit on dirty data of the whole machine, as memory allowed then, in bytes.
    pub machine_dirty_limit_bytes: Option<u64>,
    /// That of the device, where it has one of its own (`strict_limit`), in bytes.
    pub device_dirty_limit_bytes: Option<u64>,
    /// What threads waited for; none where nothing is written, or the kernel does not tell.
    pub waits: Option<Waits>,
}

/// What threads waited for, as the kernel's stacks say: they were looked at again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waits {
    /// Looks, each at one thread that does operations.
    pub looks: u64,
    /// Of these, waiting until there is less dirty data (`balance_dirty_pages`).
    pub dirty_limit: u64,
    /// Of these, waiting for a file system's journal: for room in it, or for a commit.
    pub journal: u64,
    /// Of these, waiting until memory is reclaimed.
    pub reclaim: u64,
}
