//! Which metric is compared: each benchmark's primary one, or one that is named, such as the median
//! of its operations.

use std::collections::BTreeSet;

use textual::list;

use super::CompareError;
use super::sides::{self, NamedRun, Series};
use crate::analysis::{Quantile, gather};

/// The common name of the benchmarks' primary metrics: most are means over operations.
const MEAN: &str = "mean";

/// The metric by which runs are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ComparedMetric {
    /// The primary metric of each benchmark, or its speed-up if it has a baseline.
    #[default]
    Mean,
    /// The metric of this name: `p50` or `p99` of single operations, or one that cells have.
    Named(String),
}

impl ComparedMetric {
    /// The metric of this name: `mean`, `p50`, `p99`, or the standard name of one that cells have.
    #[must_use]
    pub fn named(name: &str) -> Self {
        if name == MEAN { Self::Mean } else { Self::Named(name.to_owned()) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Mean => MEAN,
            Self::Named(name) => name,
        }
    }

    /// Fails if a run has no benchmark with this metric.
    pub(super) fn check(&self, runs: &[NamedRun], series: &[Series]) -> Result<(), CompareError> {
        let Self::Named(name) = self else { return Ok(()) };
        let has = |place: usize| series.iter().any(|one| one.run == place);
        let Some(place) = (0..runs.len()).find(|&place| !has(place)) else { return Ok(()) };
        let named = &runs[place];
        let level = named.run.manifest.run.confidence_level;
        let least = Quantile::named(name).and_then(|one| one.operations_least(level));
        let takes = least.map_or_else(String::new, |least| {
            format!(", which takes {least} operations timed one by one in each replicate")
        });
        let (run, metric) = (named.name.clone(), name.clone());
        Err(CompareError::NoMetric { run, metric, takes, known: list(&metric_names(named), "and") })
    }

    /// Titles of the benchmarks that were measured on some target in some run without having this
    /// metric there.
    pub(super) fn lacking(&self, runs: &[NamedRun], series: &[Series]) -> Vec<String> {
        let mut titles = Vec::new();
        if *self == Self::Mean {
            return titles;
        }
        for one in sides::series_of(runs, &Self::Mean) {
            let is_its = |other: &Series| {
                (other.run, &other.target, &other.suite, &other.benchmark)
                    == (one.run, &one.target, &one.suite, &one.benchmark)
            };
            let is_lacking = !one.values.is_empty() && !series.iter().any(is_its);
            if is_lacking && !titles.contains(&one.title) {
                titles.push(one.title);
            }
        }
        titles
    }
}

/// The names of the metrics that can be compared in a run.
fn metric_names(named: &NamedRun) -> Vec<String> {
    let all = gather(&named.run);
    let metrics = all.iter().flat_map(|one| one.series(&all));
    let names: BTreeSet<String> = metrics.map(|(metric, _)| metric.name).collect();
    let is_quantile = |name: &&String| Quantile::named(name).is_some();
    let (quantiles, others): (Vec<&String>, Vec<&String>) = names.iter().partition(is_quantile);
    let first = std::iter::once(MEAN.to_owned());
    first.chain(quantiles.into_iter().chain(others).cloned()).collect()
}

/// What is compared, on one line; `None` for the benchmarks' primary metrics.
pub(super) fn description(name: &str) -> Option<String> {
    let what = match Quantile::named(name) {
        Some(Quantile::P50) => "p50, the median of each block's operations".to_owned(),
        Some(Quantile::P99) => "p99, the 99th percentile of each block's operations".to_owned(),
        None if name == MEAN => return None,
        None => name.replace('_', " "),
    };
    Some(format!("Compared: {what}"))
}

/// Whether the metric of this name is a quantile of the times of operations.
pub(super) fn is_quantile(name: &str) -> bool {
    Quantile::named(name).is_some()
}
