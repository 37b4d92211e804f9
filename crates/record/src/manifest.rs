//! The manifest: what was asked for, where it ran, and on which targets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::metric::MetricDefinition;
use crate::simulated::SimulatedCaches;

/// Everything that is known of a run before its first replicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of the format of the run directory; see [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The program that made the run.
    pub tool: Tool,
    /// What was asked for.
    pub run: RunRecord,
    /// The machine it ran on.
    pub machine: Machine,
    /// The clock that timed every operation.
    pub clock: ClockRecord,
    /// The targets that were measured.
    pub targets: Vec<TargetRecord>,
    /// The targets and benchmarks that were not, each with why.
    pub skipped: Vec<Skipped>,
    /// The cells, in the order of their declaration; journal lines refer to them by index.
    pub cells: Vec<Cell>,
    /// The whole path of the directory in which images of scratch targets lie; none where it is no
    /// plain text, and in runs of before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<String>,
}

/// A program and its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Name of the program.
    pub name: String,
    /// Its semantic version.
    pub version: String,
}

/// What one command was asked to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// The command: `survey`, `run` or `cliff`.
    pub command: String,
    /// The whole command line, program name first.
    pub arguments: Vec<String>,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// The suite that was run.
    pub suite: String,
    /// Seed of every random choice: order of cells, offsets, names, content.
    pub seed: u64,
    /// Time allowed for measuring, in seconds.
    pub budget_s: f64,
    /// Wanted relative half-width of every cell's interval, in percent.
    pub precision_percent: f64,
    /// Confidence level of all intervals, between 0 and 1.
    pub confidence_level: f64,
    /// Number of blocks asked for in so many words, if any.
    pub blocks: Option<u32>,
    /// Whether the content of what was read was verified.
    pub verify: bool,
    /// Size of the data file that reads and writes work on, in bytes.
    pub data_file_bytes: u64,
    /// Release of the kernel whose operations were traced in guests, as `uname -r` says it; none
    /// where nothing was, and in runs of before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest_kernel: Option<String>,
    /// The caches whose misses were simulated; none where none were, and in runs of
    /// before they were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_caches: Option<SimulatedCaches>,
    /// The load that was asked for where operations begin on a schedule; none where the declared
    /// ones were measured, and in runs of before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_load: Option<OfferedLoad>,
    /// The order of cells within a block.
    #[serde(default)]
    pub order: Order,
}

/// The order in which the cells of a block are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Another random one in each block.
    #[default]
    Random,
    /// As they are declared, target by target.
    Declared,
    /// The same backwards.
    Reversed,
}

/// How many operations are to begin per second, and how they follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedLoad {
    /// Operations per second.
    pub rate_per_s: u64,
    /// How they are spaced.
    pub spacing: Spacing,
}

/// How the moments at which operations are to begin are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// As independent users come: gaps are exponential.
    Poisson,
    /// All gaps are the same.
    Constant,
}

/// The clock behind every time of the run, as calibrated when it began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockRecord {
    /// `tsc` or `monotonic`, and why where it is not the TSC.
    pub source: String,
    /// Ticks per second.
    pub frequency_hz: f64,
    /// Least non-zero difference between two successive readings, in nanoseconds.
    pub precision_ns: f64,
    /// Cost of one reading, in nanoseconds.
    pub cost_ns: f64,
    /// Uncertainty of the frequency, in parts per million.
    pub calibration_error_ppm: f64,
    /// Cost of the cheapest system call, in nanoseconds.
    pub system_call_ns: f64,
}

/// A target: a file system under test in one stated configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRecord {
    /// What the target is called throughout the run.
    pub label: String,
    /// As written on the command line, label apart.
    pub specification: String,
    /// The file system's type as the kernel reports it.
    pub file_system: String,
    /// Whether fsprism made it (and makes it anew for every block) or it was there before.
    pub scratch: bool,
    /// The mkfs command that made it, with its options; none for a path, tmpfs or ramfs.
    pub mkfs: Option<String>,
    /// Version text of that mkfs program.
    pub mkfs_version: Option<String>,
    /// Mount options as the kernel reports them.
    pub mount_options: String,
    /// Size of the file system, in bytes.
    pub size_bytes: u64,
    /// The device below, where there is one.
    pub device: Option<crate::machine::BlockDevice>,
    /// For an image behind a loop device: whether it bypasses the backing file's page cache.
    pub loop_direct_io: Option<bool>,
    /// Whether every block of that image was written before it was used (`image=allocated`).
    #[serde(default)]
    pub image_allocated: bool,
    /// How far the kernel reads ahead in its files, at most, whoever set that, in bytes; none
    /// where no setting governs them.
    pub read_ahead_bytes: Option<u64>,
    /// How it was aged; none for a fresh file system, and for a path.
    pub aged: Option<Ageing>,
    /// Limits put on the target, as the kernel reports them.
    pub conditions: Conditions,
    /// What these limits do not do here, in sentences.
    pub condition_caveats: Vec<String>,
}

/// Conditions of a target: limits that the kernel enforces while it is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Limit of the memory control group, in bytes.
    pub memory_bytes: Option<u64>,
    /// Throttle of device reads, in bytes per second.
    pub read_bps: Option<u64>,
    /// Throttle of device writes, in bytes per second.
    pub write_bps: Option<u64>,
    /// Throttle of device reads, in operations per second.
    pub read_iops: Option<u64>,
    /// Throttle of device writes, in operations per second.
    pub write_iops: Option<u64>,
    /// How far the kernel reads ahead, at most, where that was set; 0 is not at all, in bytes.
    pub read_ahead_bytes: Option<u64>,
}

impl Conditions {
    /// Whether the device's rate is limited in any way.
    #[must_use]
    pub fn throttle_device(&self) -> bool {
        let limits = [self.read_bps, self.write_bps, self.read_iops, self.write_iops];
        limits.iter().any(Option::is_some)
    }

    /// Whether nothing is limited.
    #[must_use]
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }
}

/// How a scratch target was aged before each block: filled, and in rounds deleted and written
/// again, so that its free space lies in fragments. Shares are of the space that the fresh file
/// system offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ageing {
    /// Rounds of deleting and writing again.
    pub rounds: u32,
    /// How full it was once, at first, in percent.
    pub peak_percent: u32,
    /// How full it was in each round, in percent.
    pub fill_percent: u32,
    /// How much of the fill was deleted and written again in each round, in percent.
    pub round_percent: u32,
    /// How full it was left for the benchmarks, in percent.
    pub left_percent: u32,
}

impl Ageing {
    /// The fill where none is said, in percent.
    pub const FILL_PERCENT: u32 = 80;
    /// How full it is made once, in percent: what was never used would stay in one piece.
    pub(crate) const PEAK_PERCENT: u32 = 90;
    /// The share of the fill that a round writes again, in percent.
    pub(crate) const ROUND_PERCENT: u32 = 25;
    /// What is left at most, in percent: the benchmarks need the rest.
    pub(crate) const LEFT_PERCENT_MAX: u32 = 50;

    /// So many rounds at this fill, 1 to 100 percent.
    #[must_use]
    pub fn of(rounds: u32, fill_percent: u32) -> Self {
        Self {
            rounds,
            peak_percent: fill_percent.max(Self::PEAK_PERCENT),
            fill_percent,
            round_percent: Self::ROUND_PERCENT,
            left_percent: fill_percent.min(Self::LEFT_PERCENT_MAX),
        }
    }
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// The target, or `target: benchmark`.
    pub target: String,
    /// Why, and what would change it.
    pub why: String,
}

/// A dimension of a file system's performance (It *IS* Rocket Science, section 2).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    /// Bandwidth and latency of the device below.
    Io,
    /// Where data and metadata lie on the device.
    OnDiskLayout,
    /// Served from memory alone.
    InMemory,
    /// Warm-up, eviction, prefetch.
    Caching,
    /// Operations on names and attributes.
    Metadata,
    /// Behaviour under concurrent load.
    Scaling,
    /// Cache lines of the processor that are touched.
    CpuFootprint,
    /// What is pushed out of the application's caches.
    Pollution,
}

impl Dimension {
    /// Its name as in documents, such as `in-memory`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::OnDiskLayout => "on-disk-layout",
            Self::InMemory => "in-memory",
            Self::Caching => "caching",
            Self::Metadata => "metadata",
            Self::Scaling => "scaling",
            Self::CpuFootprint => "cpu-footprint",
            Self::Pollution => "pollution",
        }
    }
}

/// The state of the caches in which a cell is measured; verified, never assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// No page of the touched files is resident before the first operation.
    Cold,
    /// Every page of the touched files is resident, and the device is not read.
    Warm,
    /// The state that the operations themselves keep up: brought about before they are timed, and
    /// recorded with each replicate.
    Steady,
    /// No state is asked for: the operation goes to the device by its nature.
    Any,
}

/// One target x one benchmark x one setting of its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Label of the target.
    pub target: String,
    /// Name of the suite.
    pub suite: String,
    /// Name of the benchmark, unique within the suite.
    pub benchmark: String,
    /// The same in words, for people.
    pub title: String,
    /// The dimension that the benchmark isolates.
    pub dimension: Dimension,
    /// Dimensions that it merely exercises.
    pub exercises: Vec<Dimension>,
    /// Its parameters, by standard name with the unit in the name.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// The cache state that is made and verified for each replicate.
    pub cache_state: CacheState,
    /// What is measured; the first is the primary metric, which is compared between targets.
    pub metrics: Vec<MetricDefinition>,
    /// Benchmark whose throughput this one's speed-up is relative to.
    pub baseline: Option<String>,
    /// Bytes that the operations of one replicate range over, where that is meaningful.
    pub working_set_bytes: Option<u64>,
    /// The curve that it is a point of, if it is one.
    #[serde(default)]
    pub curve: Option<CurvePoint>,
    /// Benchmark of the layer below, whose time per operation is taken away to get this layer's
    /// own cost.
    #[serde(default)]
    pub floor: Option<String>,
    /// How late it is left out where the budget has no room for all: 0 comes last.
    #[serde(default)]
    pub rank: u32,
    /// What a replicate must have to count; none where it is a procedure that has its own measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Least>,
}

/// What a replicate must have for its figure to mean what the benchmark's name says. It does not
/// depend on the budget, and nothing is shrunk below it: what cannot have it is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Least {
    /// Operations of each thread before those that are measured: the start, which is a figure of
    /// its own.
    pub start_operations: u64,
    /// Operations of each thread that are measured.
    pub operations: u64,
    /// Time that these take, in nanoseconds.
    pub time_ns: u64,
    /// Share of that time in which all threads run, in percent; none with a single one.
    pub overlap_percent: Option<u32>,
    /// Why these numbers.
    pub why: String,
}

/// A point of a curve: cells that are alike but for one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Name of the curve, unique within the suite.
    pub curve: String,
    /// The same in words, for people.
    pub title: String,
    /// The parameter along the axis, in words: `request size`.
    pub axis: String,
    /// Unit of the axis: `bytes`, or `count`.
    pub unit: String,
    /// Where the point lies on the axis.
    pub value: f64,
}
