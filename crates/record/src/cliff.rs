//! Searches for cliffs: what is searched, what was found, and what proves its cause.
//!
//! A search adds cells to its run as it proceeds: the journal contains the plan of each search
//! ([`SearchPlan`]) and, before its first replicate, each cell ([`CellAdded`]). Everything else
//! here is computed from the journal and can be computed again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::manifest::Cell;

/// The axis of a search for cliffs: a parameter of Chen & Patterson, "A New Approach to I/O
/// Performance Evaluation", SIGMETRICS 1993, section 4, or the size of the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Size of the range that the operations cover, in bytes.
    WorkingSet,
    /// Bytes moved by one operation.
    RequestSize,
    /// Number of threads that work at the same time.
    Threads,
    /// Share of operations that are reads, in percent; the others are writes.
    ReadShare,
    /// Share of operations that begin where the previous one ended, in percent; the others begin
    /// anywhere.
    SequentialShare,
    /// Size of the volume, in bytes: each probe makes the file system anew, of another size.
    VolumeSize,
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
            Self::VolumeSize => "volume-size",
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
            Self::VolumeSize => "volume size",
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
            Self::WorkingSet | Self::RequestSize | Self::VolumeSize => "bytes",
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
            Self::VolumeSize => "volume_bytes",
        }
    }
}

/// How values served by a device are compared with values served from memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// As a class of their own, within which there are no cliffs. This finds where a device begins
    /// to be read, however much its speed varies. Only reads decide the class, never writes.
    #[default]
    DeviceApart,
    /// Like any others: for ranges served entirely by the device or entirely from memory.
    Alike,
}

/// What is searched on one target. Together with the values measured, it determines every next
/// position, so a search can be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchPlan {
    /// Label of the target.
    pub target: String,
    /// The axis.
    pub axis: Axis,
    /// The metric whose breaks are searched for.
    pub metric: String,
    /// What is done at each position, in words, apart from what the axis varies.
    #[serde(default)]
    pub workload: String,
    /// How values served by the device are compared with values served from memory.
    #[serde(default)]
    pub compared: Compared,
    /// The smallest position, in the axis's unit.
    pub low: f64,
    /// The largest position.
    pub high: f64,
    /// Positions are multiples of this.
    pub grain: f64,
    /// The desired width of an interval, in percent of its lower end; for shares, in percentage
    /// points.
    pub width_percent: f64,
    /// The smallest change that can be a cliff: the factor by which values change while the
    /// position changes by a factor of 2, or by a tenth of a range of shares.
    pub ratio_least: f64,
    /// Confidence level of the intervals, between 0 and 1.
    pub level: f64,
    /// Maximum number of probes for the grid and the largest cliff.
    pub probes_max: u32,
    /// Maximum number of additional probes for each further cliff.
    pub probes_max_further: u32,
    /// Seed for the order of probes.
    pub seed: u64,
}

/// A cell that a search adds; its index follows those that the run already has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellAdded {
    /// Its index.
    pub cell: u32,
    /// The cell.
    pub definition: Cell,
}

/// How far one search got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchReport {
    /// What was searched.
    pub plan: SearchPlan,
    /// The unit of positions.
    pub unit: String,
    /// The unit of values.
    pub metric_unit: String,
    /// Number of values measured for the search, excluding those that show how fragile a cliff is.
    pub probes: u32,
    /// Number of different positions among them.
    pub positions: u32,
    /// Whether the search has learned all that its probes allow; otherwise its findings are
    /// preliminary.
    pub finished: bool,
    /// Relative standard deviation of a value, in percent; none before the grid has been measured.
    /// With [`Compared::DeviceApart`], positions at which the device served a value are excluded.
    pub noise_percent: Option<f64>,
}

/// A cliff: a break in a performance curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CliffReport {
    /// Label of the target.
    pub target: String,
    /// The axis.
    pub axis: Axis,
    /// The unit of `low` and `high`.
    pub unit: String,
    /// Lower end of the interval: the largest position found to be before the cliff. The cliff's
    /// position is where the device begins to be read, if one side is served from memory and the
    /// other is not, and [`Compared::DeviceApart`] was chosen. Otherwise, it is where the metric
    /// crosses the geometric mean of the two plateaus, or on the axis of threads, where it has
    /// changed from the plateau before by a factor of [`SearchPlan::ratio_least`].
    pub low: f64,
    /// Upper end of the interval: the smallest position found to be after the cliff.
    pub high: f64,
    /// Confidence level of the interval, between 0 and 1.
    pub level: f64,
    /// Why the interval is no narrower.
    pub reached: Reached,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub metric_unit: String,
    /// Level of the plateau before it: the median of the values measured there.
    pub plateau_before: f64,
    /// Level after it: the median of the values from `after_from` to `after_to`. Beyond a cache,
    /// there is no true plateau.
    pub plateau_after: f64,
    /// The smallest position on the plateau before it.
    pub before_from: f64,
    /// The largest position on the plateau before it.
    pub before_to: f64,
    /// The smallest position on the plateau after it.
    pub after_from: f64,
    /// The largest position on the plateau after it.
    pub after_to: f64,
    /// What causes it, as far as the measured state proves it.
    pub cause: Cause,
    /// How much values vary within it; none if too few were measured there.
    pub zone: Option<FragileZone>,
}

/// Why an interval is no narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// It is as narrow as requested, or as the axis allows.
    Width,
    /// What remains undecided lies on a slope or is too noisy.
    Noise,
    /// The probes or the budget are used up.
    Probes,
}

/// How much values vary within a cliff and on either side of it: relative standard deviations over
/// replicates of the same position, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FragileZone {
    /// The position within the cliff at which replicates were measured.
    pub position: f64,
    /// Number of replicates there.
    pub replicates: u32,
    /// Their spread.
    pub spread_inside_percent: f64,
    /// The spread on the plateau before the cliff, pooled over positions; none if no position there
    /// was repeated.
    pub spread_before_percent: Option<f64>,
    /// The same on the plateau after the cliff.
    pub spread_after_percent: Option<f64>,
}

/// What causes a cliff, with the numbers that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cause {
    /// A memory limit. Up to it, all pages stay resident and the device is hardly read (at most 1 %
    /// of the bytes that operations move, for other purposes). Beyond it, the device is read, pages
    /// are missing, and those that are resident fill between half and all of the limit.
    MemoryLimit {
        /// Whose limit it is.
        of: LimitOwner,
        /// The limit, in bytes.
        limit_bytes: u64,
        /// The largest working set that was entirely resident, in bytes.
        resident_to_bytes: u64,
        /// The smallest working set beyond that for which the device was read, in bytes.
        read_from_bytes: u64,
        /// How much was resident beyond the cliff: the median, in bytes.
        resident_bytes: u64,
    },
    /// A processor cache: on both sides, all pages are resident and the device is hardly used, and
    /// the cliff is within a factor of 2 of the cache's size.
    ProcessorCache {
        /// Its level, from 1.
        level: u32,
        /// Its size, in bytes.
        cache_bytes: u64,
        /// Number of replicates, on both sides, that prove it.
        replicates: u32,
    },
    /// More threads than processors: the interval includes the number of processors or begins at
    /// most 25 % above it, all pages are resident, the device is hardly used, and beyond it all
    /// threads together do at most 1.25 times as much.
    Processors {
        /// Number of processors that this process may use.
        processors: u32,
        /// Operations per second of all threads together at the last position before the cliff.
        together_before: f64,
        /// The same at the last position of the axis.
        together_after: f64,
    },
    /// A limit on dirty data: on the slower side, threads were seen waiting for dirty data to be
    /// written (in at least 10 % of samples), and on the other side they were not (in at most 2 %).
    DirtyLimit {
        /// The tightest limit that the kernel's settings impose, in bytes; none if unknown.
        limit_bytes: Option<u64>,
        /// Maximum amount of dirty data during a probe, including data being written back: the
        /// median over probes before the cliff, in bytes.
        dirty_before_bytes: Option<u64>,
        /// The same after the cliff.
        dirty_after_bytes: Option<u64>,
        /// Share of samples before the cliff in which a thread was waiting, in percent.
        waiting_before_percent: f64,
        /// The same after the cliff.
        waiting_after_percent: f64,
    },
    /// The file system's journal: on the slower side, threads were seen waiting for room in it or
    /// for a commit (in at least 10 % of samples), and on the other side they were not (in at most
    /// 2 %).
    Journal {
        /// Bytes that the device wrote per byte that operations wrote, before the cliff.
        written_before: Option<f64>,
        /// The same after the cliff.
        written_after: Option<f64>,
        /// Share of samples before the cliff in which a thread was waiting, in percent.
        waiting_before_percent: f64,
        /// The same after the cliff.
        waiting_after_percent: f64,
    },
    /// Read-ahead: on the faster side, one device read fetches more than an operation requests, and
    /// the smaller number of device reads accounts for at least half of the change, on a
    /// logarithmic scale.
    ReadAhead {
        /// Maximum read-ahead of the kernel, in bytes.
        window_bytes: u64,
        /// Mean size of a device read before the cliff, in bytes.
        device_read_before_bytes: u64,
        /// The same after the cliff.
        device_read_after_bytes: u64,
        /// Mean size of an operation's request on the faster side, in bytes.
        request_bytes: u64,
    },
    /// Nothing that was measured proves a cause.
    Unknown,
}

/// Whose memory limit it is.
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
