//! The document that `--format json` prints: the report of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cache_state::CacheState;
use crate::cliff::{CliffReport, SearchReport};
use crate::dimension::Dimension;
use crate::interval::IntervalReport;
use crate::journal::End;
use crate::load::LoadReport;
use crate::machine::Machine;
use crate::manifest::{
    ClockRecord, CurvePoint, Least, References, RunRecord, Skipped, TargetRecord, Tool,
};
use crate::metric::{Better, StandardMetric};
use crate::observation::Observation;
use crate::verdict::Verdict;
use crate::warning::Warning;

/// The report of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Version of this format. Fields may be added but are never renamed.
    pub schema_version: u32,
    /// The program that made the run.
    pub tool: Option<Tool>,
    /// What was asked for.
    pub run: RunRecord,
    /// The machine it ran on.
    pub machine: Machine,
    /// The clock that timed every operation.
    pub clock: ClockRecord,
    /// What the least takes on this machine that operations are held beside; none if this was not
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<References>,
    /// The targets that were measured.
    pub targets: Vec<TargetRecord>,
    /// Each cell with its metrics.
    pub cells: Vec<CellReport>,
    /// Comparison of each pair of targets on each benchmark.
    pub comparisons: Vec<Comparison>,
    /// The same in the median (`p50`) and in the 99th percentile (`p99`) of single operations, by
    /// the value of each block, on benchmarks with enough of them. Each of the two is judged by
    /// itself: p is adjusted for the comparisons of the same quantile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantile_comparisons: Vec<Comparison>,
    /// The same in the time of whole programs without their start, which may hide the file system
    /// (`wall_time_without_start`). It is judged by itself, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons_without_start: Vec<Comparison>,
    /// Comparison of each pair of targets in each dimension, as relative costs. There is no total
    /// across dimensions.
    #[serde(default)]
    pub dimensions: Vec<DimensionComparison>,
    /// What known loads would take on each target, estimated from the cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<LoadReport>,
    /// Scalability laws fitted to each target's curves over threads or processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits: Vec<CurveFit>,
    /// The cliffs that searches found, by target and position.
    #[serde(default)]
    pub cliffs: Vec<CliffReport>,
    /// The searches for cliffs, and how far each got.
    #[serde(default)]
    pub searches: Vec<SearchReport>,
    /// What was not measured, and why.
    pub skipped: Vec<Skipped>,
    /// Warnings about the run as a whole.
    pub warnings: Vec<WarningReport>,
    /// How measuring ended; none if it was cut off.
    pub end: Option<End>,
    /// How the run's time was spent; none if this was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spending: Option<Spending>,
}

/// How the run's time was spent, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    /// Total.
    pub all_s: f64,
    /// Timed operations, including those of the start.
    pub timed_s: f64,
    /// Preparing cache states and whatever the operations need.
    pub states_s: f64,
    /// Making file systems and the files that benchmarks use.
    pub targets_s: f64,
    /// Verifying cache states: counting pages and reading counters.
    pub proofs_s: f64,
    /// Undoing the effects of operations and writing the changes back.
    pub undoing_s: f64,
    /// The pilot, without the time to make its file systems.
    pub pilot_s: f64,
    /// Discarded replicates and everything else.
    pub other_s: f64,
}

/// The results for one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellReport {
    /// Label of the target.
    pub target: String,
    /// Name of the suite.
    pub suite: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// Title of the benchmark, for people.
    pub title: String,
    /// The dimension that the benchmark isolates.
    pub dimension: Dimension,
    /// Its parameters, by name.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// The verified cache state.
    pub cache_state: CacheState,
    /// Benchmark whose throughput this one's speed-up is relative to, if any.
    pub baseline: Option<String>,
    /// Number of replicates that count.
    pub replicates: u32,
    /// Number of replicates discarded.
    pub discarded: u32,
    /// Why the cell was abandoned, if it was.
    pub failed: Option<String>,
    /// Total number of operations in all replicates.
    pub operations: u64,
    /// Operations per thread in each replicate, excluding the start; none if there was no pilot.
    pub operations_per_replicate: Option<u64>,
    /// How long a replicate lasted, excluding its start: the median over replicates, in
    /// nanoseconds; none if none counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicate_length_ns: Option<f64>,
    /// The minimum that a replicate needs to count; none for procedures with their own criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Least>,
    /// The cell's point on a curve, if it belongs to one.
    pub curve: Option<CurvePoint>,
    /// Benchmark of the layer below, whose time is subtracted to get this layer's own cost, if any.
    pub floor: Option<String>,
    /// Its working set compared with the processor's caches; none if either is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_set: Option<WorkingSet>,
    /// Its metrics, the primary one first; empty if no replicate counts.
    pub metrics: Vec<MetricReport>,
    /// Observations other than metrics, from the first block that counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// Reasons to doubt this cell's results.
    pub warnings: Vec<WarningReport>,
}

/// A working set compared with the processor's caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkingSet {
    /// Size of the range that one replicate's operations cover, all threads together, in bytes.
    pub bytes: u64,
    /// The smallest single cache that can hold all of it, such as `L1d`, `L2` or `L3`; `memory` if
    /// none can. Other data shares the cache.
    pub fits_into: String,
    /// Size of that cache, in bytes; none for memory.
    pub cache_bytes: Option<u64>,
}

/// A scalability law fitted to one target's values along a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveFit {
    /// Label of the target.
    pub target: String,
    /// Name of the curve.
    pub curve: String,
    /// Title of the curve, for people.
    pub title: String,
    /// The axis along which the law holds: `threads` or `processes`.
    pub axis: String,
    /// `linear`, `amdahl`, `coherency` or `usl`; none if no law could be fitted.
    pub law: Option<String>,
    /// `gamma`, the throughput of one thread or process; `alpha`, the cost of waiting for each
    /// other; `beta`, the cost of agreeing with each other; and `peak_n`, where throughput peaks,
    /// if that is known. They belong to the full law (`usl`) if there is enough data to fit it,
    /// otherwise to `law`.
    pub parameters: Vec<FitParameter>,
    /// For the `linear` law, if the full law could not be fitted: the largest `alpha` that the
    /// values do not exclude.
    #[serde(default)]
    pub alpha_max: Option<f64>,
    /// Positions on the axis at which there are values.
    pub points: Vec<f64>,
    /// Number of processors that the run could use; beyond it, threads take turns.
    pub processors: Option<u32>,
    /// What could not be fitted, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

/// A parameter of a law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitParameter {
    /// Its name.
    pub name: String,
    /// Unit of its value; empty for a pure number.
    pub unit: String,
    /// The estimate.
    pub value: f64,
    /// Its confidence interval.
    pub interval: IntervalReport,
}

/// One metric of one cell over its replicates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricReport {
    /// Standard name of the metric.
    pub name: String,
    /// Unit of all its values.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
    /// The figure to show beside ratios and to quote.
    pub figure: Figure,
    /// Median over the replicates.
    pub median: f64,
    /// Mean over the replicates.
    pub mean: f64,
    /// Confidence interval of the median; none if there are too few replicates.
    pub interval: Option<IntervalReport>,
    /// Percentiles of individual operations, if the metric is their time and enough were timed
    /// individually.
    pub percentiles: Vec<Percentile>,
    /// One value per replicate, in block order.
    pub values: Vec<f64>,
}

/// The median over replicates, adjusted so that dividing one target's figure by another's gives
/// their ratio, which compares them block by block. Where nothing is compared, the median itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Its value, in the metric's unit.
    pub value: f64,
    /// The interval of the median, adjusted likewise; none if there are too few replicates.
    pub interval: Option<IntervalReport>,
}

impl MetricReport {
    /// Whether it is this standard metric.
    #[must_use]
    pub fn is(&self, metric: StandardMetric) -> bool {
        self.name == metric.name
    }
}

impl CellReport {
    /// This standard metric, where the cell has it.
    #[must_use]
    pub fn metric(&self, metric: StandardMetric) -> Option<&MetricReport> {
        self.metrics.iter().find(|report| report.is(metric))
    }
}

/// A percentile of the times of individual operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// Which percentile: 99.9 is the 99.9th.
    pub percentile: f64,
    /// What it is taken over.
    pub of: PercentileOf,
    /// Its value, in the metric's unit.
    pub value: f64,
    /// Confidence interval: of the median over replicates, or of the percentile of all operations,
    /// which allows for differences between replicates; none if there are too few of either.
    pub interval: Option<IntervalReport>,
    /// If a percentile of all operations has no interval: how many operations one takes, in as many
    /// more replicates of the same length, if they differ as those so far do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_needed: Option<u64>,
}

/// What a percentile is taken over. The two kinds differ if some replicates are slower than others:
/// the slowest of all operations then come mostly from the slow replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PercentileOf {
    /// The median over replicates of each replicate's own percentile: that of a typical replicate.
    EachReplicate,
    /// All operations of all replicates together, because at least one replicate has too few
    /// operations for its own percentile.
    AllOperations,
}

/// Comparison of two targets on one benchmark, paired by block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Name of the metric: the primary one, or `speed_up` if the benchmark has a baseline; `p50` or
    /// `p99` for a quantile of single operations.
    pub metric: String,
    /// Label of the first target.
    pub first: String,
    /// Label of the second target.
    pub second: String,
    /// Number of blocks in which both were measured.
    pub blocks: u32,
    /// Typical ratio over the blocks, second over first; none if there are too few blocks.
    pub ratio: Option<f64>,
    /// Confidence interval of the ratio. For a difference called real, it is wider than at the
    /// run's confidence level, to allow for selection: see its own level.
    pub interval: Option<IntervalReport>,
    /// Two-sided p-value of "the ratio is 1".
    pub p: Option<f64>,
    /// The p-value adjusted for the number of comparisons in the run.
    pub p_adjusted: Option<f64>,
    /// The ratio of geometric means over all blocks, given if it disagrees with that of the middle
    /// blocks or is far less certain, because some block was far off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_means: Option<RatioReport>,
    /// The ratio over the middle three fifths of the blocks, given together with `of_means`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_the_middle: Option<RatioReport>,
    /// The verdict.
    pub verdict: Verdict,
    /// How many of the blocks were measured on one of the two while other programs kept the machine
    /// busy: the difference may be theirs.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub busy_blocks: u32,
}

/// Whether a count is 0.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_none_of_them(count: &u32) -> bool {
    *count == 0
}

/// A ratio, by one of the ways to estimate it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioReport {
    /// Second over first.
    pub ratio: f64,
    /// Its confidence interval.
    pub interval: IntervalReport,
    /// Two-sided p-value of "the ratio is 1".
    pub p: f64,
}

/// Comparison of two targets in one dimension, over the benchmarks that both have, paired by block.
///
/// The cost of a benchmark is its primary metric, inverted if necessary so that less is better; a
/// curve counts as one benchmark. Metrics that are not costs of the target are left out: speed-ups
/// and their baselines, floors, and metrics that describe without judging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DimensionComparison {
    /// The dimension.
    pub dimension: Dimension,
    /// Label of the first target.
    pub first: String,
    /// Label of the second target.
    pub second: String,
    /// Number of benchmarks and curves compared.
    pub benchmarks: u32,
    /// Number of blocks in which all of these were measured on both targets.
    pub blocks: u32,
    /// Typical ratio over the blocks of the geometric mean cost over benchmarks, second over first;
    /// none if there are too few blocks.
    pub ratio: Option<f64>,
    /// Confidence interval of the ratio, as in [`Comparison`].
    pub interval: Option<IntervalReport>,
    /// Two-sided p-value of "the ratio is 1".
    pub p: Option<f64>,
    /// The p-value adjusted for the number of comparisons in this list.
    pub p_adjusted: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// A warning and its message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarningReport {
    /// The warning with its numbers.
    #[serde(flatten)]
    pub warning: Warning,
    /// The warning as a sentence.
    pub message: String,
    /// Where the problem is described.
    pub source: String,
}

impl From<Warning> for WarningReport {
    fn from(warning: Warning) -> Self {
        let (message, source) = (warning.to_string(), warning.source().to_owned());
        Self { warning, message, source }
    }
}
