//! The manifest: what was asked for, where it ran, and on which targets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cache_state::CacheState;
use crate::classic::SuiteOptions;
use crate::custom::{CustomWorkload, ReplicateLength};
use crate::dimension::Dimension;
use crate::machine::Machine;
use crate::metric::MetricDefinition;
use crate::run_kind::RunKind;
use crate::simulated::SimulatedCaches;

/// Everything known about a run before its first replicate.
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
    /// What the least takes on this machine that operations are held beside; none if the run
    /// predates this field or timed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<References>,
    /// The targets that were measured.
    pub targets: Vec<TargetRecord>,
    /// The targets and benchmarks that were not measured, and why.
    pub skipped: Vec<Skipped>,
    /// The cells, in order of declaration; journal lines refer to them by index.
    pub cells: Vec<Cell>,
    /// Absolute path of the directory that holds the images of scratch targets; none if it is not
    /// valid UTF-8 or the run predates this field.
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
    /// The command: `survey`, `run`, `cliff` or `reproduce`.
    pub command: String,
    /// The full command line, starting with the program's name.
    pub arguments: Vec<String>,
    /// When it began, in UTC, in the format of RFC 3339.
    pub started: String,
    /// The suite that was run.
    pub suite: String,
    /// What kind of run it is; for a run that predates this field, as its command and suite say.
    #[serde(default)]
    pub kind: RunKind,
    /// Seed of all random choices: order of cells, offsets, names and content.
    pub seed: u64,
    /// Time allowed for measuring, in seconds.
    pub budget_s: f64,
    /// Desired relative half-width of every cell's interval, in percent; for `cliff`, the desired
    /// width of the interval around a cliff.
    pub precision_percent: f64,
    /// Confidence level of all intervals, between 0 and 1.
    pub confidence_level: f64,
    /// Number of blocks explicitly requested, if any; for footprints, the number of repetitions.
    pub blocks: Option<u32>,
    /// Whether the content read was verified.
    pub verify: bool,
    /// Size of the data file that reads and writes work on, in bytes.
    pub data_file_bytes: u64,
    /// Release of the kernel whose operations were traced in guests, as reported by `uname -r`;
    /// none if nothing was traced or the run predates this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest_kernel: Option<String>,
    /// The caches whose misses were simulated; none if none were or the run predates this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_caches: Option<SimulatedCaches>,
    /// The load requested for operations that begin on a schedule; none if the declared loads were
    /// used or the run predates this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_load: Option<OfferedLoad>,
    /// The options of a classic benchmark; none if another suite was run or the run predates this
    /// field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classic: Option<SuiteOptions>,
    /// The operations that the user described; none if a suite of fsprism's was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<CustomWorkload>,
    /// How long replicates were to last; none if benchmarks decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicate_length: Option<ReplicateLength>,
    /// The order of cells within a block.
    #[serde(default)]
    pub order: Order,
}

/// The order in which the cells of a block are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A new random order in each block.
    #[default]
    Random,
    /// In order of declaration, target by target.
    Declared,
    /// The reverse of that.
    Reversed,
}

/// How many operations are meant to begin per second, and how they are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedLoad {
    /// Operations per second.
    pub rate_per_s: u64,
    /// How they are spaced.
    pub spacing: Spacing,
}

/// How the intended start times of operations are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// As if from independent users: the gaps are exponentially distributed.
    Poisson,
    /// The gaps are equal.
    Constant,
}

/// The clock behind all times of the run, as calibrated when it began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockRecord {
    /// Which clock it is, in words: `invariant TSC`, or `CLOCK_MONOTONIC` and why the TSC is not
    /// used.
    pub source: String,
    /// Ticks per second.
    pub frequency_hz: f64,
    /// Smallest non-zero difference between two successive readings, in nanoseconds.
    pub precision_ns: f64,
    /// Cost of one reading, in nanoseconds.
    pub cost_ns: f64,
    /// Uncertainty of the frequency, in parts per million.
    pub calibration_error_ppm: f64,
    /// Cost of the cheapest system call, in nanoseconds.
    pub system_call_ns: f64,
}

/// What operations are held beside where there is no second target, as measured when the run began:
/// medians.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct References {
    /// A copy of 4 KiB in memory, in nanoseconds.
    pub copy_4k_ns: f64,
    /// A copy of 1 MiB in memory, in nanoseconds.
    pub copy_1m_ns: f64,
    /// A random read of 4 KiB from the disk past the page cache, in nanoseconds; none if there are
    /// several targets, no disk, or such reads cannot be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_read_4k_ns: Option<f64>,
    /// The same of 1 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_read_1m_ns: Option<f64>,
}

/// A target: a file system under test in one particular configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRecord {
    /// The target's name throughout the run.
    pub label: String,
    /// The target as specified on the command line, without its label; a directory is given by its
    /// absolute path.
    pub specification: String,
    /// The file system's type as the kernel reports it.
    pub file_system: String,
    /// Whether fsprism made it, anew for every block; if not, it already existed.
    pub scratch: bool,
    /// The mkfs command that made it, with its options; none for a path, tmpfs or ramfs.
    pub mkfs: Option<String>,
    /// Version that this mkfs program reports.
    pub mkfs_version: Option<String>,
    /// Mount options as the kernel reports them.
    pub mount_options: String,
    /// Size of the file system, in bytes.
    pub size_bytes: u64,
    /// The underlying block device, if there is one.
    pub device: Option<crate::machine::BlockDevice>,
    /// For an image behind a loop device: whether the device bypasses the image's page cache.
    pub loop_direct_io: Option<bool>,
    /// Whether every block of that image was written before it was used (`image=allocated`).
    #[serde(default)]
    pub image_allocated: bool,
    /// Maximum read-ahead in its files, in bytes, whoever set it; none if no setting governs it, as
    /// on tmpfs.
    pub read_ahead_bytes: Option<u64>,
    /// How full it was made before it was aged or measured, in percent of the space that users can
    /// have; none if it was not filled or the run predates this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled_percent: Option<u32>,
    /// How it was aged; none for a fresh file system or a path.
    pub aged: Option<Ageing>,
    /// Limits put on the target, as the kernel reports them.
    pub conditions: Conditions,
    /// What these limits do not cover here, and what else the target does that changes figures: one
    /// sentence each.
    pub condition_caveats: Vec<String>,
}

impl TargetRecord {
    /// A target of which nothing else is known: made by fsprism, with no image, age or limits.
    #[must_use]
    pub fn plain(label: &str, specification: String, file_system: &str) -> Self {
        Self {
            label: label.to_owned(),
            specification,
            file_system: file_system.to_owned(),
            scratch: true,
            mkfs: None,
            mkfs_version: None,
            mount_options: String::new(),
            size_bytes: 0,
            device: None,
            loop_direct_io: None,
            image_allocated: false,
            read_ahead_bytes: None,
            filled_percent: None,
            aged: None,
            conditions: Conditions::default(),
            condition_caveats: Vec::new(),
        }
    }
}

/// Conditions of a target: limits that the kernel enforces while it is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Memory limit of the control group, in bytes.
    pub memory_bytes: Option<u64>,
    /// Limit on device reads, in bytes per second.
    pub read_bps: Option<u64>,
    /// Limit on device writes, in bytes per second.
    pub write_bps: Option<u64>,
    /// Limit on device reads, in operations per second.
    pub read_iops: Option<u64>,
    /// Limit on device writes, in operations per second.
    pub write_iops: Option<u64>,
    /// Maximum read-ahead, in bytes, if it was set; 0 turns read-ahead off.
    pub read_ahead_bytes: Option<u64>,
    /// How long each request of the device takes at least, in nanoseconds, if it was slowed down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// How many bytes of most recently used blocks the device reads in a tenth of that, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_cache_bytes: Option<u64>,
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

/// How a scratch target was aged before each block: it was filled, then partly deleted and
/// rewritten in rounds, so that its free space is fragmented. Percentages are of the space that the
/// fresh file system offers, unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ageing {
    /// Number of rounds of deleting and rewriting.
    pub rounds: u32,
    /// How full it was made at first, in percent.
    pub peak_percent: u32,
    /// How full it was in each round, in percent.
    pub fill_percent: u32,
    /// How much of the fill was deleted and rewritten in each round, in percent.
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
    pub fn new(rounds: u32, fill_percent: u32) -> Self {
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
    /// What it is: a target's label, `label: benchmark`, or the title of a benchmark or curve.
    pub target: String,
    /// Why, and what would change it.
    pub why: String,
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
    /// Title of the benchmark, for people.
    pub title: String,
    /// The dimension that the benchmark isolates.
    pub dimension: Dimension,
    /// Dimensions that it merely exercises.
    pub exercises: Vec<Dimension>,
    /// Its parameters, by standard names that include the unit.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// The cache state that is set up and verified for each replicate.
    pub cache_state: CacheState,
    /// What is measured; the first is the primary metric, which is compared between targets.
    pub metrics: Vec<MetricDefinition>,
    /// Benchmark whose throughput this one's speed-up is relative to, if any.
    pub baseline: Option<String>,
    /// Size of the range that one replicate's operations cover, in bytes; none if that is
    /// meaningless.
    pub working_set_bytes: Option<u64>,
    /// The cell's point on a curve, if it belongs to one.
    #[serde(default)]
    pub curve: Option<CurvePoint>,
    /// Benchmark of the layer below, whose time per operation is subtracted to get this layer's own
    /// cost, if any.
    #[serde(default)]
    pub floor: Option<String>,
    /// Order of being left out if the budget has no room for everything: the highest rank goes
    /// first, 0 last.
    #[serde(default)]
    pub rank: u32,
    /// The minimum that a replicate needs to count; none for procedures with their own criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Least>,
    /// The sequence that it is a phase of, if it is one: an execution measures all of its phases,
    /// so none of them is left out, or measured in a block, without the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<String>,
}

/// The minimum that a replicate needs for its figure to mean what the benchmark's name says. It
/// does not depend on the budget and is never lowered: what cannot reach it is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Least {
    /// Operations per thread before those that are measured: the start, which has figures of its
    /// own.
    pub start_operations: u64,
    /// Operations per thread that are measured.
    pub operations: u64,
    /// Minimum time for these, in nanoseconds.
    pub time_ns: u64,
    /// Minimum share of that time in which all threads run, in percent; none for a single thread.
    pub overlap_percent: Option<u32>,
    /// The reason for these numbers.
    pub why: String,
}

/// A point of a curve, whose cells differ only in one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Name of the curve, unique within the suite.
    pub curve: String,
    /// Title of the curve, for people.
    pub title: String,
    /// The parameter along the axis, in words, such as `request size`.
    pub axis: String,
    /// Unit of the axis: `bytes` or `count`.
    pub unit: String,
    /// Position of the point on the axis.
    pub value: f64,
    /// Where the curve lies among others that together cover a plane, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<CurveFamily>,
}

/// The place of a curve among others that differ from it only in a second parameter, so that their
/// points form a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveFamily {
    /// Name of the family, unique within the suite.
    pub family: String,
    /// Title of the family, for people.
    pub title: String,
    /// The second parameter, in words.
    pub axis: String,
    /// Its unit: `bytes` or `count`.
    pub unit: String,
    /// The curve's position on this axis.
    pub value: f64,
}
