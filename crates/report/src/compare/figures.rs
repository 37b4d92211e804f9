//! What each target took over several runs of one side.

use record::IntervalReport;
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Sample, interval, trimmed};
use tables::answer::IntervalDocument;

use super::sides::{self, Series};
use crate::units::{self, Wording};

/// The figure of a target on a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunFigure {
    /// The suite.
    pub suite: String,
    /// The benchmark.
    pub benchmark: String,
    /// Its title.
    pub title: String,
    /// The target.
    pub target: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// How many runs measured it.
    pub runs: u64,
    /// The geometric mean of what is typical of each run.
    pub value: f64,
    /// Its confidence interval: none of one run.
    pub interval: Option<IntervalDocument>,
}

/// The figure of each target on each benchmark, in their order.
pub(super) fn all(series: &[Series], level: f64) -> Vec<RunFigure> {
    sides::of_one_target(series).iter().filter_map(|group| figure(group, level)).collect()
}

/// `None` if a run has a value that is not positive.
fn figure(group: &[&Series], level: f64) -> Option<RunFigure> {
    let typical = |one: &&Series| {
        let values: Vec<f64> = one.values.values().copied().collect();
        trimmed::typical(&values)
    };
    let of_runs = group.iter().map(typical).collect::<Option<Vec<f64>>>()?;
    let sample = Sample::new(of_runs.as_slice()).ok()?;
    let found = interval::geometric_mean(&sample, level).ok();
    let first = group[0];
    Some(RunFigure {
        suite: first.suite.clone(),
        benchmark: first.benchmark.clone(),
        title: first.title.clone(),
        target: first.target.clone(),
        metric: first.metric.clone(),
        unit: first.unit.clone(),
        runs: group.len() as u64,
        value: found.map_or_else(|| sample.mean(), |found| found.mean),
        interval: found.map(|found| found.interval.into()),
    })
}

impl RunFigure {
    /// `ext4 12.3 us [11.9, 12.7]`.
    pub(super) fn text(&self) -> String {
        let interval = self.interval.map(|one| IntervalReport {
            level: one.level,
            low: one.low,
            high: one.high,
        });
        let text = units::figure(&self.unit, self.value, interval.as_ref(), Wording::Short);
        let interval = text.interval.map_or_else(String::new, |interval| format!(" {interval}"));
        textual::unbroken(&format!("{} {}{interval}", self.target, text.value.trim_end()))
    }
}
