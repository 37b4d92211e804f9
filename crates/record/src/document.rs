//! The document that `--format json` prints: what a run says.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cliff::{CliffReport, SearchReport};
use crate::journal::End;
use crate::machine::Machine;
use crate::manifest::{
    CacheState, ClockRecord, CurvePoint, Dimension, Least, RunRecord, Skipped, TargetRecord, Tool,
};
use crate::metric::Better;
use crate::observation::Observation;
use crate::warning::Warning;

/// A run and what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Version of the format; fields are added, never renamed.
    pub schema_version: u32,
    /// The program that made the run.
    pub tool: Option<Tool>,
    /// What was asked for.
    pub run: RunRecord,
    /// The machine it ran on.
    pub machine: Machine,
    /// The clock that timed every operation.
    pub clock: ClockRecord,
    /// The targets that were measured.
    pub targets: Vec<TargetRecord>,
    /// Each cell with its metrics.
    pub cells: Vec<CellReport>,
    /// Each pair of targets on each benchmark.
    pub comparisons: Vec<Comparison>,
    /// Each pair of targets in each dimension: relative costs, never added up over dimensions.
    #[serde(default)]
    pub dimensions: Vec<DimensionComparison>,
    /// Each curve along which a law can hold, for each target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits: Vec<CurveFit>,
    /// The breaks of performance curves that searches found, by target and position.
    #[serde(default)]
    pub cliffs: Vec<CliffReport>,
    /// How far each search for them came.
    #[serde(default)]
    pub searches: Vec<SearchReport>,
    /// What was not measured, with why.
    pub skipped: Vec<Skipped>,
    /// What makes the whole run doubtful.
    pub warnings: Vec<WarningReport>,
    /// How measuring ended; none when it was cut off.
    pub end: Option<End>,
    /// What the time of the run went into; none where that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spending: Option<Spending>,
}

/// What the time of a run went into, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    /// All of it.
    pub all_s: f64,
    /// Operations that were timed, those of starts among them.
    pub timed_s: f64,
    /// Making cache states, and what operations need.
    pub states_s: f64,
    /// Making file systems, and the files that benchmarks work on.
    pub targets_s: f64,
    /// Proving states: counting pages, reading counters.
    pub proofs_s: f64,
    /// Undoing what operations did, and writing it back.
    pub undoing_s: f64,
    /// The pilot, making file systems for it apart.
    pub pilot_s: f64,
    /// Replicates that were thrown away, and everything else.
    pub other_s: f64,
}

/// One cell's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellReport {
    /// Label of the target.
    pub target: String,
    /// Name of the suite.
    pub suite: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// The same in words.
    pub title: String,
    /// The dimension that the benchmark isolates.
    pub dimension: Dimension,
    /// Its parameters.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// The verified cache state.
    pub cache_state: CacheState,
    /// Benchmark whose throughput this one's speed-up is relative to.
    pub baseline: Option<String>,
    /// How many replicates count.
    pub replicates: u32,
    /// How many were thrown away.
    pub discarded: u32,
    /// Why the cell was given up, if it was.
    pub failed: Option<String>,
    /// Operations of all replicates together.
    pub operations: u64,
    /// Operations per thread of each replicate, those of its start apart; none without a pilot.
    pub operations_per_replicate: Option<u64>,
    /// What a replicate must have to count; none where it is a procedure with its own measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Least>,
    /// The curve that it is a point of, if it is one.
    pub curve: Option<CurvePoint>,
    /// Benchmark of the layer below, whose time is taken away to get this layer's own cost.
    pub floor: Option<String>,
    /// What its operations range over, beside the processor's caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_set: Option<WorkingSet>,
    /// Each metric's figures; the first is the primary one.
    pub metrics: Vec<MetricReport>,
    /// What was seen besides, in the first block that counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// What makes this cell doubtful.
    pub warnings: Vec<WarningReport>,
}

/// A working set, beside the processor's caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkingSet {
    /// Bytes that the operations of one replicate range over, all threads together.
    pub bytes: u64,
    /// The first cache that one processor has and that holds all of it, `L1d`, `L2` or `L3`;
    /// `memory` where none does. Other data share the cache.
    pub fits_into: String,
    /// Size of that cache; none of memory.
    pub cache_bytes: Option<u64>,
}

/// A law fitted to one target's values along a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveFit {
    /// Label of the target.
    pub target: String,
    /// Name of the curve.
    pub curve: String,
    /// The same in words.
    pub title: String,
    /// The axis along which the law holds: `threads` or `processes`.
    pub axis: String,
    /// `linear`, `amdahl`, `coherency` or `usl`; none where none could be fitted.
    pub law: Option<String>,
    /// The law's parameters: `gamma`, the throughput of one; `alpha`, the cost of waiting for each
    /// other; `beta`, that of agreeing with each other; where throughput peaks, `peak_n`.
    pub parameters: Vec<FitParameter>,
    /// Of a law without alpha: the largest alpha that the values do not exclude.
    #[serde(default)]
    pub alpha_max: Option<f64>,
    /// Places on the axis that it was fitted to.
    pub points: Vec<f64>,
    /// Processors that the run might use: beyond so many, threads take turns.
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
    /// Unit of its values; empty of a pure number.
    pub unit: String,
    /// The estimate.
    pub value: f64,
    /// Its interval.
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
    /// Median over the replicates.
    pub median: f64,
    /// Mean over the replicates.
    pub mean: f64,
    /// Interval of the median; none with too few replicates.
    pub interval: Option<IntervalReport>,
    /// Percentiles of single operations, where the metric is their time and enough were recorded.
    pub percentiles: Vec<Percentile>,
    /// One value per replicate, in the order of the blocks.
    pub values: Vec<f64>,
}

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalReport {
    /// Confidence level, between 0 and 1.
    pub level: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A percentile of single operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// Which, in percent: 99.9 is the 99.9th percentile.
    pub percentile: f64,
    /// What it is a percentile of.
    pub of: PercentileOf,
    /// Its value, in the metric's unit.
    pub value: f64,
    /// Interval of the median over replicates. None where there are too few replicates, or where
    /// the percentile is of all operations.
    pub interval: Option<IntervalReport>,
}

/// What a percentile is taken over. The two kinds differ wherever some replicates are slower than
/// others: the slowest of all operations are then mostly from the slow replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PercentileOf {
    /// The median over the replicates of each one's own percentile: a typical replicate's.
    EachReplicate,
    /// All operations of all replicates together, because at least one replicate has too few
    /// operations for a percentile of its own.
    AllOperations,
}

/// Two targets on one benchmark, paired by block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Name of the metric: the primary one, or `speed_up` where the benchmark has a baseline.
    pub metric: String,
    /// Label of the first target.
    pub first: String,
    /// Label of the second target.
    pub second: String,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// Second over first: what is typical of the blocks' ratios; none with too few blocks.
    pub ratio: Option<f64>,
    /// Interval of the ratio. Of a difference that is called real it is wider than at the run's
    /// level, for having been picked out: see its level.
    pub interval: Option<IntervalReport>,
    /// Two-sided p of "the ratio is 1".
    pub p: Option<f64>,
    /// The same, adjusted for the number of comparisons in the run.
    pub p_adjusted: Option<f64>,
    /// The ratio of geometric means over all blocks alone, where it and that of the middle blocks
    /// say different things: some block was far off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_means: Option<RatioReport>,
    /// The ratio over the middle three fifths of the blocks alone; where `of_means` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_the_middle: Option<RatioReport>,
    /// What may be said.
    pub verdict: Verdict,
}

/// A ratio by one way of estimating it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioReport {
    /// Second over first.
    pub ratio: f64,
    /// Its interval.
    pub interval: IntervalReport,
    /// Two-sided p of "the ratio is 1".
    pub p: f64,
}

/// Two targets in one dimension, over the benchmarks that both have, paired by block.
///
/// The cost of a benchmark is its primary metric turned so that less is better; a curve counts as
/// one benchmark. What is no cost of the target does not count: speed-ups and what they are
/// relative to, floors, and metrics that describe and do not judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DimensionComparison {
    /// The dimension.
    pub dimension: Dimension,
    /// Label of the first target.
    pub first: String,
    /// Label of the second target.
    pub second: String,
    /// How many benchmarks and curves of the dimension both have a cost of.
    pub benchmarks: u32,
    /// Blocks in which all of these were measured on both.
    pub blocks: u32,
    /// Cost of the second over that of the first: the geometric mean over benchmarks and blocks;
    /// none with too few blocks.
    pub ratio: Option<f64>,
    /// Interval of the ratio over blocks, as in [`Comparison`].
    pub interval: Option<IntervalReport>,
    /// Two-sided p of "the ratio is 1".
    pub p: Option<f64>,
    /// The same, adjusted for the number of comparisons in this list.
    pub p_adjusted: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
}

/// What may be said of two targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The difference is real at the run's confidence level, and larger than 2 %.
    Real,
    /// The difference is real, but may be smaller than 2 %.
    RealSizeUnknown,
    /// They cannot be told apart; that does not mean that they are the same.
    NotToldApart,
    /// Too few blocks to say anything.
    NotEnoughData,
}

impl Verdict {
    /// Whether a difference is real, however large.
    #[must_use]
    pub fn is_different(self) -> bool {
        match self {
            Self::Real | Self::RealSizeUnknown => true,
            Self::NotToldApart | Self::NotEnoughData => false,
        }
    }
}

/// A warning with its sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarningReport {
    /// The numbers.
    #[serde(flatten)]
    pub warning: Warning,
    /// The sentence.
    pub message: String,
    /// Where the danger is described.
    pub source: String,
}

impl From<Warning> for WarningReport {
    fn from(warning: Warning) -> Self {
        let (message, source) = (warning.to_string(), warning.source().to_owned());
        Self { warning, message, source }
    }
}
