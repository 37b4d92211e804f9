//! The figures of a job: of each direction that it goes in.

use job_offsets::Direction;
use job_results::{DataDirection, JobResult, PercentileList};
use jobs::plan::JobPlan;
use record::{Better, MetricDefinition};

/// Percentiles of completion latencies that are metrics.
const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p99_9")];

fn directions(plan: &JobPlan) -> Vec<(Direction, DataDirection)> {
    let shown = [DataDirection::Read, DataDirection::Write, DataDirection::Trim];
    Direction::ALL.into_iter().zip(shown).filter(|(direction, _)| plan.has(*direction)).collect()
}

/// The metrics of a job, in the order of [`values`].
pub(super) fn metrics(plan: &JobPlan) -> Vec<MetricDefinition> {
    let all = directions(plan);
    let is_mixed = all.len() > 1;
    let mut metrics = Vec::new();
    for (_, direction) in all {
        let name = |what: &str| match is_mixed {
            true => format!("{}_{what}", direction.name()),
            false => what.to_owned(),
        };
        metrics.push(MetricDefinition::new(&name("throughput"), "operations/s", Better::Higher));
        metrics.push(MetricDefinition::new(&name("bandwidth"), "bytes/s", Better::Higher));
        if plan.report.completion_latency {
            metrics.push(MetricDefinition::new(&name("latency"), "ns", Better::Lower));
        }
        if plan.report.completion_percentiles {
            metrics.extend(PERCENTILES.iter().map(|(_, what)| {
                MetricDefinition::new(&name(&format!("latency_{what}")), "ns", Better::Lower)
            }));
        }
    }
    metrics
}

/// Their values in a result.
pub(super) fn values(plan: &JobPlan, result: &JobResult) -> Vec<f64> {
    let list = PercentileList::new(&PERCENTILES.map(|(percent, _)| percent), 1);
    let mut values = Vec::new();
    for (_, direction) in directions(plan) {
        let done = &result.directions[direction];
        let seconds = done.runtime_ms.max(1) as f64 / 1000.0;
        values.push(done.ios as f64 / seconds);
        values.push(done.bytes as f64 / seconds);
        if plan.report.completion_latency {
            values.push(done.completion.statistics.moments.mean);
        }
        if plan.report.completion_percentiles {
            let samples = done.completion.statistics.moments.samples;
            let found = done.completion.histogram.percentiles(samples, &list);
            values.extend(
                (0..PERCENTILES.len()).map(|at| found.get(at).map_or(0.0, |ns| *ns as f64)),
            );
        }
    }
    values
}
