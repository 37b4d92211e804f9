//! What a replicate saw besides its metrics: the curves and maps that its figures come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that was seen during a replicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Observation {
    /// Values along an axis.
    Series(Series),
    /// Which pages of a file were resident at a moment.
    Pages(PageRuns),
}

/// Values along an axis, within one replicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// What it shows, in words: `resident pages over time`.
    pub title: String,
    /// The axis: its name and unit.
    pub axis: Quantity,
    /// The values: their name and unit.
    pub value: Quantity,
    /// Places on the axis, and the values there.
    pub points: Vec<(f64, f64)>,
}

/// A quantity by name and unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quantity {
    /// Name, in words.
    pub name: String,
    /// Unit, as those of metrics.
    pub unit: String,
}

impl Quantity {
    /// The quantity of this name, in this unit.
    #[must_use]
    pub fn new(name: &str, unit: &str) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned() }
    }
}

/// Which pages of a file were resident at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageRuns {
    /// The moment, in words: `after the first read`.
    pub title: String,
    /// Pages of the file, resident or not.
    pub pages: u64,
    /// Runs of resident pages: the first of each, and how many.
    pub resident: Vec<(u64, u64)>,
}
