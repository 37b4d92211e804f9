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
    /// A metric of this name, in this unit.
    #[must_use]
    pub fn new(name: &str, unit: &str, better: Better) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), better }
    }
}

/// A metric that more than one place knows by its name: its row. Metrics of one experiment alone
/// are declared there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandardMetric {
    /// Standard name in snake case.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Which direction is better.
    pub better: Better,
}

impl StandardMetric {
    /// Mean time of one operation; of operations in flight, the time from one to the next.
    pub const TIME_PER_OPERATION: Self = Self::lower("time_per_operation", "ns");
    /// The same by the amount that one moves.
    pub const TIME_PER_KIB: Self = Self::lower("time_per_kib", "ns");
    /// Operations per second, all threads together.
    pub const THROUGHPUT: Self = Self::higher("throughput", "operations/s");
    /// Operations per second of each thread, on average.
    pub const THROUGHPUT_PER_THREAD: Self = Self::higher("throughput_per_thread", "operations/s");
    /// Bytes moved per second, all threads together.
    pub const BANDWIDTH: Self = Self::higher("bandwidth", "bytes/s");
    /// Throughput over that of the baseline cell of the same target and block.
    pub const SPEED_UP: Self = Self::higher("speed_up", "x");
    /// Time per operation less that of the cell's floor: what this layer costs by itself.
    pub const OWN_COST: Self = Self::lower("own_cost", "ns");
    /// Mean time of the first operations after the state was made.
    pub const START_TIME: Self = Self::lower("start_time_per_operation", "ns");
    /// Processor time that an operation takes of the thread that does it.
    pub const PROCESSOR_TIME: Self = Self::lower("processor_time_per_operation", "ns");
    /// Processor time of the threads that work, over the time that passed: `%CPU`, which says how
    /// much of the machine a rate costs, and judges nothing by itself.
    pub const PROCESSOR_SHARE: Self =
        Self { name: "processor_share", unit: "%", better: Better::Neither };
    /// Processor time of kernel threads and of servers of file systems until what was changed is
    /// written, per operation.
    pub const OTHER_TIME: Self = Self::lower("other_time_per_operation", "ns");
    /// Time until a file is read at half of the speed that it reaches.
    pub const TIME_TO_HALF_SPEED: Self = Self::lower("time_to_half_speed", "ns");
    /// Bytes of the working set that are in memory after the last operation.
    pub const RESIDENT: Self = Self::higher("resident", "bytes");
    /// Bytes that the device read, per operation.
    pub const DEVICE_READ: Self = Self::lower("device_read_per_operation", "bytes");
    /// Time of an operation and its share of the sync after all.
    pub const SYNCED_TIME: Self = Self::lower("synced_time_per_operation", "ns");
    /// What the device wrote for an operation, in bytes.
    pub const DEVICE_BYTES: Self = Self::lower("device_bytes_written_per_operation", "bytes");
    /// What the device wrote for an operation, in requests.
    pub const DEVICE_WRITES: Self = Self::lower("device_writes_per_operation", "count");
    /// Of operations in flight, the mean time from submission, or from when one was due, to
    /// completion.
    pub const LATENCY: Self = Self::lower("latency", "ns");
    /// The median time of its first part: handing it to the kernel.
    pub const SUBMISSION_LATENCY: Self = Self::lower("submission_latency", "ns");
    /// The median time of its second part.
    pub const COMPLETION_LATENCY: Self = Self::lower("completion_latency", "ns");

    /// Time of a whole program less that of its start.
    pub const WITHOUT_START: Self = Self::lower("wall_time_without_start", "ns");

    const fn lower(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, better: Better::Lower }
    }

    const fn higher(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, better: Better::Higher }
    }

    /// As a cell declares it.
    #[must_use]
    pub fn definition(self) -> MetricDefinition {
        MetricDefinition::new(self.name, self.unit, self.better)
    }
}
