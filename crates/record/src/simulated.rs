//! The caches whose misses a run simulated.
//!
//! They are recorded so that whatever is computed of a run's traces later, maybe on another
//! machine, takes the same caches as its metrics did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Caches below each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedCaches {
    /// Where their shapes are from.
    pub origin: CachesOrigin,
    /// The caches by name, from the first level down.
    pub caches: Vec<SimulatedCache>,
}

/// Where the shapes of simulated caches are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachesOrigin {
    /// The machine that made the run, which does not tell how its caches replace and include.
    Machine,
    /// The command line.
    Given,
}

/// One simulated cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedCache {
    /// `l1i` and `l1d`, or `l1` where one holds both, or `l1d` alone; then `l2` and so on.
    pub name: String,
    /// Bytes of data that it holds.
    pub size_bytes: u64,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Which line of a full set leaves.
    pub replacement: Replacement,
    /// Whether lines of the levels above leave with its own; of a first level it says nothing.
    pub inclusive: bool,
}

/// Which line of a full set leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The one not used for the longest time.
    Lru,
    /// The one that a binary tree of bits points at.
    TreePlru,
    /// Any.
    Random {
        /// The seed of the choice.
        seed: u64,
    },
}
