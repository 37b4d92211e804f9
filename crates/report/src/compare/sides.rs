//! What is compared: the targets of one run with one another, or each target with itself in
//! another run.

use std::collections::BTreeMap;

use record::{Better, Cell, MetricDefinition, Run};

use crate::analysis::{Gathered, gather};

/// A run and what it is called here.
#[derive(Clone, Debug)]
pub struct NamedRun {
    /// Short and unique: the last part of its path, or more of it where two are alike.
    pub name: String,
    /// The run.
    pub run: Run,
}

/// The values of one target on one benchmark in one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    /// Place of the run in the list.
    pub(super) run: usize,
    pub(super) target: String,
    pub(super) suite: String,
    pub(super) benchmark: String,
    pub(super) title: String,
    pub(super) dimension: String,
    pub(super) metric: String,
    pub(super) better: Better,
    /// What was measured, and how.
    pub(super) cell: Cell,
    /// By block.
    pub(super) values: BTreeMap<u32, f64>,
}

impl Series {
    /// Whether the two measured the same thing.
    pub(super) fn has_benchmark_of(&self, other: &Self) -> bool {
        (&self.suite, &self.benchmark, &self.metric)
            == (&other.suite, &other.benchmark, &other.metric)
    }

    /// Whether it is a cost by itself: neither a ratio of two, nor what only describes.
    pub(super) fn is_cost(&self) -> bool {
        self.metric != MetricDefinition::speed_up().name && self.better != Better::Neither
    }

    /// Values for which smaller is better, in order of blocks.
    pub(super) fn costs(&self) -> Vec<f64> {
        let cost = |value: &f64| match self.better {
            Better::Lower | Better::Neither => *value,
            Better::Higher => 1.0 / value,
        };
        self.values.values().map(cost).collect()
    }
}

/// Every cell's primary metric, run by run in the order of the manifests.
pub(super) fn series_of(runs: &[NamedRun]) -> Vec<Series> {
    let of_run = |(position, named): (usize, &NamedRun)| {
        let gathered = gather(&named.run);
        let one = |one: &Gathered<'_>| series(position, one, &gathered);
        gathered.iter().filter_map(one).collect::<Vec<Series>>()
    };
    runs.iter().enumerate().flat_map(of_run).collect()
}

/// The primary metric or, as in the report of a run, the speed-up where a benchmark has a baseline.
fn series(run: usize, one: &Gathered<'_>, all: &[Gathered<'_>]) -> Option<Series> {
    let cell = one.cell;
    let (metric, values) = if one.has_speed_up(all) {
        (MetricDefinition::speed_up(), one.speed_up(all))
    } else {
        (cell.metrics.first()?.clone(), one.values(0))
    };
    Some(Series {
        run,
        target: cell.target.clone(),
        suite: cell.suite.clone(),
        benchmark: cell.benchmark.clone(),
        title: cell.title.clone(),
        dimension: cell.dimension.name().to_owned(),
        metric: metric.name,
        better: metric.better,
        cell: cell.clone(),
        values,
    })
}

/// Pairs to compare, as places in `series`: within one run every two targets; between runs every
/// later run with the first, target by target.
pub(super) fn pairs(series: &[Series], between_runs: bool) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (first, one) in series.iter().enumerate() {
        for (second, other) in series.iter().enumerate().skip(first + 1) {
            let wanted = if between_runs {
                one.run == 0 && other.run > 0 && one.target == other.target
            } else {
                one.run == other.run
            };
            if wanted && one.has_benchmark_of(other) {
                pairs.push((first, second));
            }
        }
    }
    // Cells may stand target by target; comparisons stand benchmark by benchmark.
    let place = |index: usize| series.iter().position(|one| one.has_benchmark_of(&series[index]));
    pairs.sort_by_key(|&(first, _)| place(first));
    pairs
}
