//! Searches for cliffs: what is searched, what was found, and what proves its cause.
//!
//! A search adds cells to its run as it goes: the journal holds the plan of each search
//! ([`SearchPlan`]) and each cell before its first replicate ([`CellAdded`]). Everything else here
//! is computed from the journal and can be computed again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::manifest::Cell;

/// The axis along which performance is searched: the parameters of Chen & Patterson, "A New
/// Approach to I/O Performance Evaluation", SIGMETRICS 1993, section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Bytes that the operations range over.
    WorkingSet,
    /// Bytes moved by one operation.
    RequestSize,
    /// Threads that work at the same time.
    Threads,
    /// Reads among the operations, the others being writes.
    ReadShare,
    /// Operations that begin where the one before ended, the others being anywhere.
    SequentialShare,
}

impl Axis {
    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WorkingSet => "working-set",
            Self::RequestSize => "request-size",
            Self::Threads => "threads",
            Self::ReadShare => "read-share",
            Self::SequentialShare => "sequential-share",
        }
    }

    /// The same in words, for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::WorkingSet => "working set",
            Self::RequestSize => "request size",
            Self::Threads => "threads",
            Self::ReadShare => "read share",
            Self::SequentialShare => "sequential share",
        }
    }

    /// Whether positions are shares, from 0 to 100 %, which are compared by their difference.
    #[must_use]
    pub fn is_share(self) -> bool {
        matches!(self, Self::ReadShare | Self::SequentialShare)
    }

    /// The unit of positions on it.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::WorkingSet | Self::RequestSize => "bytes",
            Self::Threads => "threads",
            Self::ReadShare | Self::SequentialShare => "percent",
        }
    }

    /// The parameter of a cell that holds its position on it.
    #[must_use]
    pub fn parameter(self) -> &'static str {
        match self {
            Self::WorkingSet => "working_set_bytes",
            Self::RequestSize => "request_bytes",
            Self::Threads => "threads",
            Self::ReadShare => "read_percent",
            Self::SequentialShare => "sequential_percent",
        }
    }
}

/// How values that a device served are compared with those that came from memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// As a class of their own, within which there are no cliffs: the way to find where a device
    /// begins to be read, whatever its mood. What was read decides, never what was written.
    #[default]
    DeviceApart,
    /// Like any others: for ranges on which nothing but the device serves, or nothing but memory.
    Alike,
}

/// What is searched on one target. With the values that were measured it names every next
/// position, so that a search can be gone through again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchPlan {
    /// Label of the target.
    pub target: String,
    /// The axis.
    pub axis: Axis,
    /// The metric whose breaks are searched for.
    pub metric: String,
    /// What is done at each position, in words, the axis apart.
    #[serde(default)]
    pub workload: String,
    /// How values of a device are compared with those of memory.
    #[serde(default)]
    pub compared: Compared,
    /// The least position, in the axis' unit.
    pub low: f64,
    /// The largest position.
    pub high: f64,
    /// Positions are multiples of this.
    pub grain: f64,
    /// The wanted width of an interval, in percent of its lower end; of a share, in points.
    pub width_percent: f64,
    /// Changes by a smaller factor over a factor of 2 in position, or over a tenth of a range of
    /// shares, are no cliff.
    pub ratio_least: f64,
    /// How often an interval shall hold the position, between 0 and 1.
    pub level: f64,
    /// The most probes for the grid and the highest cliff.
    pub probes_max: u32,
    /// The most further probes for each further cliff.
    pub probes_max_further: u32,
    /// The seed of the order of probes.
    pub seed: u64,
}

/// A cell that a search asks for: its index is the next after those that the run has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellAdded {
    /// Its index.
    pub cell: u32,
    /// The cell.
    pub definition: Cell,
}

/// How far one search came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchReport {
    /// What was searched.
    pub plan: SearchPlan,
    /// The unit of positions.
    pub unit: String,
    /// The unit of values.
    pub metric_unit: String,
    /// Values measured for the search, without those that show how fragile a cliff is.
    pub probes: u32,
    /// Different positions among them.
    pub positions: u32,
    /// Whether nothing more could be learnt within the probes allowed; otherwise what was found is
    /// preliminary.
    pub finished: bool,
    /// The relative standard deviation of a value, in percent; none before the grid is measured.
    /// Values that a device served count with a tenth of theirs.
    pub noise_percent: Option<f64>,
}

/// A break of a performance curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CliffReport {
    /// Label of the target.
    pub target: String,
    /// The axis.
    pub axis: Axis,
    /// The unit of `low` and `high`.
    pub unit: String,
    /// The largest position found before the cliff. The cliff's own position is where the device
    /// begins to be read, if one side is served from memory and the other is not (and
    /// [`Compared::DeviceApart`] was asked); else where the metric crosses the geometric mean of
    /// both plateaus.
    pub low: f64,
    /// The smallest position found after it.
    pub high: f64,
    /// Confidence level of the interval, between 0 and 1.
    pub level: f64,
    /// Why the interval is no narrower.
    pub reached: Reached,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub metric_unit: String,
    /// The level of the plateau before it: the median of what was measured there.
    pub plateau_before: f64,
    /// The level after it. Behind a cache there is no plateau in truth: the level is that of
    /// `after_from` to `after_to`.
    pub plateau_after: f64,
    /// The least position of the plateau before it.
    pub before_from: f64,
    /// The largest position of the plateau before it.
    pub before_to: f64,
    /// The least position of the plateau after it.
    pub after_from: f64,
    /// The largest position of the plateau after it.
    pub after_to: f64,
    /// What makes it, as far as the measured state proves it.
    pub cause: Cause,
    /// How much values spread within it; none where too few were measured there.
    pub zone: Option<FragileZone>,
}

/// Why an interval is no narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// It is as narrow as was asked, or as the axis allows.
    Width,
    /// Whatever is left undecided lies on a slope, or is too noisy.
    Noise,
    /// The probes or the budget are used up.
    Probes,
}

/// How much values spread within a cliff and beside it: relative standard deviations over
/// replicates of one position, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FragileZone {
    /// The position within the cliff at which replicates were measured.
    pub position: f64,
    /// Replicates there.
    pub replicates: u32,
    /// Their spread.
    pub spread_inside_percent: f64,
    /// The spread of replicates on the plateau before it, pooled over positions; none where none
    /// was repeated.
    pub spread_before_percent: Option<f64>,
    /// The same on the plateau after it.
    pub spread_after_percent: Option<f64>,
}

/// What makes a cliff, with the numbers that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cause {
    /// A limit of memory: up to it all pages stay resident and the device is hardly read (less than
    /// one byte in a hundred, for something else), beyond it the device is read and pages are
    /// missing, and those that are resident are as many as the limit allows.
    MemoryLimit {
        /// Whose limit it is.
        of: LimitOwner,
        /// The limit, in bytes.
        limit_bytes: u64,
        /// The largest working set that was wholly resident.
        resident_to_bytes: u64,
        /// The smallest working set beyond it for which the device was read.
        read_from_bytes: u64,
        /// What was resident beyond the cliff: the median, in bytes.
        resident_bytes: u64,
    },
    /// A cache of the processor: on both sides all pages are resident and the device is not read,
    /// and the interval is within a factor of 2 of the cache's size.
    ProcessorCache {
        /// Its level, from 1.
        level: u32,
        /// Its size, in bytes.
        cache_bytes: u64,
        /// Replicates on both sides that prove it.
        replicates: u32,
    },
    /// More threads than processors: the interval begins at their number, every page is resident
    /// and the device is not read, and all threads together do no more beyond it.
    Processors {
        /// Processors that this process may use.
        processors: u32,
        /// Operations per second of all threads together at the last position before the cliff.
        together_before: f64,
        /// The same at the last position of the axis.
        together_after: f64,
    },
    /// A limit on dirty data: on the slower side threads were seen waiting until there is less of
    /// it (at least one look in ten), on the other they were not.
    DirtyLimit {
        /// The tightest limit that the kernel's settings give, in bytes, where they are known.
        limit_bytes: Option<u64>,
        /// Dirty data and data on its way, the most of a probe: the median before the cliff, in
        /// bytes.
        dirty_before_bytes: Option<u64>,
        /// The same after it.
        dirty_after_bytes: Option<u64>,
        /// The share of looks at which a thread waited, before the cliff, in percent.
        waiting_before_percent: f64,
        /// The same after it.
        waiting_after_percent: f64,
    },
    /// The file system's journal: on the slower side threads were seen waiting for room in it or
    /// for a commit (at least one look in ten), on the other they were not.
    Journal {
        /// What the device wrote per byte that operations wrote, before the cliff.
        written_before: Option<f64>,
        /// The same after it.
        written_after: Option<f64>,
        /// The share of looks at which a thread waited, before the cliff, in percent.
        waiting_before_percent: f64,
        /// The same after it.
        waiting_after_percent: f64,
    },
    /// Read-ahead: on the faster side a read of the device brings more than an operation asks for,
    /// and that the device is read less often accounts for half of the change or more, in
    /// logarithms.
    ReadAhead {
        /// How far the kernel reads ahead at most, in bytes.
        window_bytes: u64,
        /// What one read of the device brought before the cliff, in bytes.
        device_read_before_bytes: u64,
        /// The same after it.
        device_read_after_bytes: u64,
        /// What an operation asked for on the faster side, in bytes.
        request_bytes: u64,
    },
    /// Nothing that was measured proves a cause.
    Unknown,
}

/// Whose limit of memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitOwner {
    /// The target's own control group.
    Target,
    /// The control group in which fsprism runs.
    ControlGroup,
    /// The machine: all of its memory.
    Machine,
}
