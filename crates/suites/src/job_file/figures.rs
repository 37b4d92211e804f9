//! The figures of a job: of each direction that it goes in.
//!
//! How many operations a job does in a second says something of the target only if the target
//! decides it. Where the job does, by a rate or by the times of a log, latencies come first, and
//! those of a rate are counted from when operations were due.

use job_offsets::Direction;
use job_results::{DataDirection, DirectionResult, JobResult, Latencies, PercentileList};
use jobs::plan::JobPlan;
use record::{Better, MetricDefinition};

/// Percentiles of latencies that are metrics.
const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p999")];

/// What is told of a direction.
#[derive(Clone, Copy, Debug)]
enum Figure {
    Throughput,
    Bandwidth,
    Latency,
    Percentile(usize),
}

impl Figure {
    fn metric(self, prefix: &str) -> MetricDefinition {
        let (name, unit, better) = match self {
            Self::Throughput => ("throughput".to_owned(), "operations/s", Better::Higher),
            Self::Bandwidth => ("bandwidth".to_owned(), "bytes/s", Better::Higher),
            Self::Latency => ("latency".to_owned(), "ns", Better::Lower),
            Self::Percentile(at) => (format!("latency_{}", PERCENTILES[at].1), "ns", Better::Lower),
        };
        MetricDefinition::new(&format!("{prefix}{name}"), unit, better)
    }

    fn value(self, plan: &JobPlan, done: &DirectionResult) -> f64 {
        let seconds = done.runtime_ms.max(1) as f64 / 1000.0;
        let latencies = latencies(plan, done);
        match self {
            Self::Throughput => done.ios as f64 / seconds,
            Self::Bandwidth => done.bytes as f64 / seconds,
            Self::Latency => latencies.statistics.moments.mean,
            Self::Percentile(at) => {
                let list = PercentileList::new(&[PERCENTILES[at].0], 1);
                let samples = latencies.statistics.moments.samples;
                let found = latencies.histogram.percentiles(samples, &list);
                found.first().map_or(0.0, |ns| *ns as f64)
            }
        }
    }
}

fn latencies<'a>(plan: &JobPlan, done: &'a DirectionResult) -> &'a Latencies {
    if is_from_due(plan) { &done.total } else { &done.completion }
}

/// Whether latencies are counted from when operations were due.
pub(super) fn is_from_due(plan: &JobPlan) -> bool {
    plan.rate.limits() && plan.report.total_latency
}

/// Whether the job decides how many operations there are in a second.
fn has_own_pace(plan: &JobPlan) -> bool {
    plan.rate.limits() || plan.replay.as_ref().is_some_and(|replay| replay.lasts_us > 0)
}

fn figures(plan: &JobPlan) -> Vec<(DataDirection, Figure)> {
    let rates = [Figure::Throughput, Figure::Bandwidth].into_iter();
    let mean = plan.report.completion_latency.then_some(Figure::Latency).into_iter();
    let percentiles = if plan.report.completion_percentiles { PERCENTILES.len() } else { 0 };
    let latencies = mean.chain((0..percentiles).map(Figure::Percentile));
    let all: Vec<Figure> = match has_own_pace(plan) {
        true => latencies.chain(rates).collect(),
        false => rates.chain(latencies).collect(),
    };
    let shown = [DataDirection::Read, DataDirection::Write, DataDirection::Trim];
    let directions = Direction::ALL.into_iter().zip(shown);
    let own = directions.filter(|(direction, _)| plan.has(*direction));
    own.flat_map(|(_, shown)| all.iter().map(move |one| (shown, *one))).collect()
}

/// The metrics of a job, in the order of [`values`].
pub(super) fn metrics(plan: &JobPlan) -> Vec<MetricDefinition> {
    let is_mixed = Direction::ALL.into_iter().filter(|one| plan.has(*one)).count() > 1;
    let metric = |(shown, figure): (DataDirection, Figure)| match is_mixed {
        true => figure.metric(&format!("{}_", shown.name())),
        false => figure.metric(""),
    };
    figures(plan).into_iter().map(metric).collect()
}

/// Their values in a result.
pub(super) fn values(plan: &JobPlan, result: &JobResult) -> Vec<f64> {
    let value = |(direction, figure): (DataDirection, Figure)| {
        figure.value(plan, &result.directions[direction])
    };
    figures(plan).into_iter().map(value).collect()
}
