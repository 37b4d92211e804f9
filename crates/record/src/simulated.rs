//! The caches whose misses a run simulated.
//!
//! They are recorded so that whatever is computed from a run's traces later, perhaps on another
//! machine, uses the same caches as its metrics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A hierarchy of simulated caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedCaches {
    /// Where their parameters come from.
    pub origin: CachesOrigin,
    /// The caches, from the first level down.
    pub caches: Vec<SimulatedCache>,
}

/// Where the parameters of simulated caches come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachesOrigin {
    /// The machine that made the run. It does not report replacement and inclusion policies, so LRU
    /// and non-inclusive are assumed.
    Machine,
    /// The command line.
    Given,
}

/// One simulated cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedCache {
    /// `l1i` and `l1d`, or `l1` if one cache holds both, or `l1d` alone; then `l2` and so on.
    pub name: String,
    /// Capacity, in bytes.
    pub size_bytes: u64,
    /// Size of a line, in bytes.
    pub line_bytes: u32,
    /// Number of lines in a set.
    pub ways: u32,
    /// Which line of a full set is replaced.
    pub replacement: Replacement,
    /// Whether evicting a line also evicts it from the levels above; of no meaning for a first
    /// level.
    pub inclusive: bool,
}

/// Which line of a full set is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The least recently used one.
    Lru,
    /// The one that a binary tree of bits points to.
    TreePlru,
    /// A random one.
    Random {
        /// Seed of the random choice.
        seed: u64,
    },
}
