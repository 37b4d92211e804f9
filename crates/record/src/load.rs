//! Loads: mixes of operations, and how long they would take on each target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::IntervalReport;
use crate::verdict::Verdict;

/// What one unit of a load, such as one transaction, would take on each target: the times of its
/// operations, as the run measured them, added up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadReport {
    /// Name of the load.
    pub name: String,
    /// Title of the load, for people.
    pub title: String,
    /// What one unit of the load is.
    pub unit: String,
    /// Where its operations and their numbers are taken from.
    pub source: String,
    /// What the mix leaves out.
    pub leaves_out: String,
    /// Estimated time of one unit on each target that has all of its operations.
    pub costs: Vec<LoadCost>,
    /// Comparison of each pair of these targets.
    pub comparisons: Vec<LoadComparison>,
    /// Targets for which it cannot be estimated, and why.
    pub missing: Vec<LoadMissing>,
    /// What running a program of this mix has shown, elsewhere and before; none for a mix of the
    /// user's own.
    #[serde(default)]
    pub validation: Option<LoadValidation>,
}

/// A program that does what the mix says, and which rankings it has confirmed or
/// contradicted (docs/loads.md).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadValidation {
    /// The program.
    pub program: String,
    /// Pairs of file systems that it ranked as a survey did, both beyond doubt.
    pub confirmed: Vec<SurveyRanking>,
    /// Pairs that it ranked the other way around, both beyond doubt.
    #[serde(default)]
    pub contradicted: Vec<SurveyRanking>,
}

/// Two file systems, made and mounted with no options, in the order in which a survey has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurveyRanking {
    /// The faster.
    pub faster: String,
    /// The slower.
    pub slower: String,
}

/// What one unit of a load would take on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadCost {
    /// Label of the target.
    pub target: String,
    /// Median over the blocks, in nanoseconds.
    pub time_ns: f64,
    /// Confidence interval of the median; none if there are too few blocks.
    pub interval: Option<IntervalReport>,
    /// How much of that each kind of operation takes: medians over the blocks.
    pub parts: Vec<LoadPart>,
}

/// What one kind of operation takes in a unit of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPart {
    /// The kind of operation, such as `fsync` or `reads`.
    pub kind: String,
    /// Time in nanoseconds.
    pub time_ns: f64,
}

/// Comparison of two targets under a load, paired by block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadComparison {
    /// Label of the first target.
    pub first: String,
    /// Label of the second target.
    pub second: String,
    /// Number of blocks in which all operations were measured on both targets.
    pub blocks: u32,
    /// Typical ratio over the blocks, second over first; none if there are too few blocks.
    pub ratio: Option<f64>,
    /// Confidence interval of the ratio, as in [`crate::Comparison`].
    pub interval: Option<IntervalReport>,
    /// Two-sided p-value of "the ratio is 1".
    pub p: Option<f64>,
    /// The p-value adjusted for the number of comparisons under all loads.
    pub p_adjusted: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether a program of the mix has ranked these file systems alike; none where the verdict
    /// ranks nothing, and for a mix of the user's own.
    #[serde(default)]
    pub confirmed: Option<bool>,
    /// Whether a program has ranked the two the other way around.
    #[serde(default)]
    pub contradicted: bool,
}

/// A target for which a load cannot be estimated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadMissing {
    /// Label of the target.
    pub target: String,
    /// Why.
    pub why: String,
}
