//! Metrics: what a number means, so that any two numbers of the same metric can be compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which direction of a metric is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better: a rate, a bandwidth, a speed-up.
    Higher,
    /// Less is better: a time, a count of device reads.
    Lower,
    /// Neither: it describes the file system without judging it, like the size of a read-ahead
    /// window.
    Neither,
}

/// One metric of a cell, as declared before anything is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricDefinition {
    /// Standard name in snake case, such as `time_per_operation`.
    pub name: String,
    /// Unit of the values: `ns`, `operations/s`, `bytes/s`, `bytes`, `x` for a ratio, `%`, `count`.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
}

impl MetricDefinition {
    /// Mean time of one operation, in nanoseconds.
    #[must_use]
    pub fn time_per_operation() -> Self {
        Self::new("time_per_operation", "ns", Better::Lower)
    }

    /// Operations per second, all threads together.
    #[must_use]
    pub fn throughput() -> Self {
        Self::new("throughput", "operations/s", Better::Higher)
    }

    /// Bytes moved per second, all threads together.
    #[must_use]
    pub fn bandwidth() -> Self {
        Self::new("bandwidth", "bytes/s", Better::Higher)
    }

    /// Operations per second of each thread, on average.
    #[must_use]
    pub fn throughput_per_thread() -> Self {
        Self::new("throughput_per_thread", "operations/s", Better::Higher)
    }

    /// Throughput over that of the baseline cell of the same target and block.
    #[must_use]
    pub fn speed_up() -> Self {
        Self::new("speed_up", "x", Better::Higher)
    }

    /// Time per operation less that of the cell's floor: what this layer costs by itself.
    #[must_use]
    pub fn own_cost() -> Self {
        Self::new("own_cost", "ns", Better::Lower)
    }

    /// A metric of this name, in this unit.
    #[must_use]
    pub fn new(name: &str, unit: &str, better: Better) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), better }
    }
}
