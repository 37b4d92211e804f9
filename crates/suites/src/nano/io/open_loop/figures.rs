//! The figures for operations on a schedule.

use record::{Better, MetricDefinition, StandardMetric};
use workload::OnSchedule;

/// Percentiles, each with the fewest operations needed for a two-sided interval at 95 %; with
/// fewer, the maximum would be passed off as a percentile. Exact order statistics, as in Hahn &
/// Meeker, "Statistical Intervals", section 5.2.
const PERCENTILES: [(&str, f64, u64); 3] =
    [("latency_p50", 0.5, 6), ("latency_p99", 0.99, 299), ("latency_p999", 0.999, 2995)];

fn supported(operations: u64) -> impl Iterator<Item = (&'static str, f64)> {
    let is_supported = move |one: &(&str, f64, u64)| operations >= one.2;
    PERCENTILES.into_iter().filter(is_supported).map(|(name, quantile, _)| (name, quantile))
}

/// The metrics for this many operations, the primary one first.
pub(in crate::nano::io) fn metrics(operations: u64) -> Vec<MetricDefinition> {
    let time = |name: &str| MetricDefinition::new(name, "ns", Better::Lower);
    let mut all = vec![StandardMetric::LATENCY.definition()];
    all.extend(supported(operations).map(|(name, _)| time(name)));
    all.extend([
        time("service_time"),
        MetricDefinition::new("achieved_rate", "operations/s", Better::Higher),
        MetricDefinition::new("started_late", "%", Better::Lower),
    ]);
    all
}

/// The values of [`metrics`].
pub(in crate::nano::io) fn values(done: &OnSchedule, operations: u64) -> Vec<f64> {
    let latency = &done.latency;
    let mut all = vec![latency.mean_ns()];
    let quantile = |(_, quantile): (&str, f64)| latency.histogram().quantile(quantile);
    all.extend(supported(operations).map(quantile));
    all.extend([done.service.mean(), done.rate_per_s(), 100.0 * done.late_share()]);
    all
}
