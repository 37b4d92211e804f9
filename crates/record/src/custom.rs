//! What the user requested beyond a suite: custom operations, and the length of replicates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cache_state::CacheState;

/// Reads and writes that the user described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CustomWorkload {
    /// Whether each begins anywhere in the file, not where the one before ended.
    pub is_random: bool,
    /// Share of reads, in percent; the rest are writes.
    pub read_percent: u8,
    /// Bytes of each.
    pub request_bytes: u64,
    /// Threads, all on one file.
    pub threads: u32,
    /// Operations that each thread keeps in flight, by io_uring; 1 does one system call after the
    /// other.
    pub queue_depth: u32,
    /// Whether they bypass the page cache (`O_DIRECT`).
    pub is_direct: bool,
    /// The state of the page cache in which they are measured.
    pub cache_state: CacheState,
}

/// How long replicates last where the user asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplicateLength {
    /// What each lasts at least, on the fastest target, in seconds; none if benchmarks decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Whether the operations go on before each until they are in a steady state by the rule of the
    /// SNIA.
    #[serde(default)]
    pub until_steady: bool,
}
