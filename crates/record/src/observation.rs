//! What a replicate observed other than metrics: the curves and maps behind its figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::probe::ProbeEvidence;

/// One observation made during a replicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Observation {
    /// Values along an axis.
    Series(Series),
    /// Which pages of a file were resident at one moment.
    Pages(PageRuns),
    /// How well replacement policies explain which pages stayed resident.
    Policies(PolicyRanking),
    /// What was observed while a search for cliffs measured a position.
    Probe(ProbeEvidence),
}

/// Values along an axis, within one replicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// What it shows, in words: `throughput over time`.
    pub title: String,
    /// The axis: its name and unit.
    pub axis: Quantity,
    /// The values: their name and unit.
    pub value: Quantity,
    /// Positions on the axis, each with the value there.
    pub points: Vec<(f64, f64)>,
}

/// A quantity: its name and unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quantity {
    /// Name, in words.
    pub name: String,
    /// Unit, as for metrics.
    pub unit: String,
}

impl Quantity {
    /// The quantity of this name, in this unit.
    #[must_use]
    pub fn new(name: &str, unit: &str) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned() }
    }
}

/// Which pages of a file were resident at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageRuns {
    /// The moment, in words: `after one read`.
    pub title: String,
    /// Number of pages in the file, resident or not.
    pub pages: u64,
    /// Runs of resident pages: the first page of each, and the number of pages.
    pub resident: Vec<(u64, u64)>,
}

/// How well replacement policies explain which pages stayed resident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyRanking {
    /// What was explained, in words.
    pub title: String,
    /// Whether the first policy can be told apart from the others, as a sentence.
    pub verdict: String,
    /// Number of neighbouring pages that are loaded and evicted together.
    pub pages_per_group: u32,
    /// The policies, the most likely first.
    pub ranking: Vec<PolicyFit>,
}

/// How well one replacement policy explains which pages stayed resident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyFit {
    /// Name of the policy, as in the literature.
    pub policy: String,
    /// Cohen's kappa of prediction and observation, page by page: 1 is perfect agreement, 0 is no
    /// better than chance, and less than 0 is worse.
    pub agreement: f64,
    /// Confidence interval of the agreement: low, high.
    pub interval: (f64, f64),
    /// How much of what chance leaves unexplained the policy explains, from 0 to 1.
    pub explained: f64,
    /// The capacity at which it explains most, in pages.
    pub capacity_pages: u32,
}
