//! Percentiles of single operations, over a cell's replicates.

use measure::Histogram;
use record::{IntervalReport, Percentile, PercentileOf};
use stats::clustered::{self, Cluster, Shares};
use stats::dependence::Dependence;

use super::OperationTimes;
use super::estimates;

/// The percentiles that are reported if enough operations support them, as percentages and as
/// quantiles, since dividing one does not give the other exactly.
const PERCENTILES: [(f64, f64); 5] =
    [(50.0, 0.5), (90.0, 0.9), (95.0, 0.95), (99.0, 0.99), (99.9, 0.999)];

/// The percentiles that the operations support. Each takes as many operations as an interval of the
/// quantile would. With that many, an interpolated rank is above the truth as often as below,
/// within 4 %, so that the median over many replicates is not biased (docs/coverage.md). Operations
/// of one replicate share whatever happened to it, so the interval comes from replicates, not from
/// operations. If any replicate has too few operations, all operations are pooled, and the interval
/// is that of clustered values.
pub(super) fn supported(
    times: &OperationTimes,
    level: f64,
    dependence: &Dependence,
) -> Vec<Percentile> {
    let OperationTimes { each, pooled } = times;
    let of_quantile = |(percentile, quantile): (f64, f64)| {
        let need = estimates::least_n(quantile, level)?;
        if pooled.count() < need {
            return None;
        }
        if each.iter().any(|histogram| histogram.count() < need) {
            return Some(of_all(times, percentile, quantile, level, dependence));
        }
        let own: Vec<f64> = each.iter().map(|histogram| histogram.quantile(quantile)).collect();
        let summary = estimates::summary_of_blocks(&own, level, dependence)?;
        let of = PercentileOf::EachReplicate;
        let (value, interval) = (summary.median, summary.interval);
        Some(Percentile { percentile, of, value, interval, operations_needed: None })
    };
    PERCENTILES.into_iter().filter_map(of_quantile).collect()
}

/// The percentile of all operations together, with its interval or with the number of operations
/// that an interval would need.
fn of_all(
    OperationTimes { each, pooled }: &OperationTimes,
    percentile: f64,
    quantile: f64,
    level: f64,
    dependence: &Dependence,
) -> Percentile {
    let of = PercentileOf::AllOperations;
    let value = pooled.quantile(quantile);
    let nearer = clustered::nearer(quantile).map(|nearer| pooled.quantile(nearer));
    let cluster = |histogram: &Histogram| Cluster {
        values: histogram.count(),
        beyond: from(histogram, value),
        beyond_nearer: nearer.map_or(0, |nearer| from(histogram, nearer)),
    };
    let clusters: Vec<Cluster> = each.iter().map(cluster).collect();
    let widening = dependence.widening(clusters.len() as u64);
    let needed = || clustered::needed(&clusters, quantile, level, widening).ok();
    let (interval, operations_needed) = match clustered::ranks(&clusters, quantile, level, widening)
    {
        Ok(Shares { low, high }) => {
            let at = |rank: u64| pooled.order_statistic(rank);
            (Some(IntervalReport { level, low: at(low), high: at(high) }), None)
        }
        Err(_) => (None, needed()),
    };
    Percentile { percentile, of, value, interval, operations_needed }
}

/// How many values are in the bucket of `value` and above. If many values are equal, as stalls of
/// the same length are, there may be none strictly beyond.
fn from(histogram: &Histogram, value: f64) -> u64 {
    let beyond = histogram.buckets().filter(|bucket| bucket.high as f64 >= value);
    beyond.map(|bucket| bucket.count).sum()
}

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod coverage_of_all;

#[cfg(test)]
mod tests {
    use measure::Histogram;

    use super::*;
    use crate::sample::Sample;

    const TIMES: [f64; 8] = [6100.0, 6000.0, 6200.0, 6050.0, 6150.0, 6080.0, 6120.0, 6090.0];

    #[test]
    fn percentiles_stop_where_operations_do() {
        let of = |operations: u64| {
            let sample = Sample::new(&["tmpfs"]).operations(operations);
            let document = sample.benchmark("create", &[&TIMES[..6]]).document();
            document.cells[0].metrics[0].percentiles.clone()
        };
        let which =
            |operations| of(operations).iter().map(|one| one.percentile).collect::<Vec<_>>();
        assert_eq!(which(49), [50.0, 90.0, 95.0], "294 operations; the 99th percentile needs 299");
        assert_eq!(which(50), [50.0, 90.0, 95.0, 99.0]);
        assert_eq!(which(500), [50.0, 90.0, 95.0, 99.0, 99.9]);
        // Within the resolution of the histogram.
        assert!((of(500)[0].value / 6090.0 - 1.0).abs() < 0.01, "{:?}", of(500)[0]);
    }

    #[test]
    fn a_percentile_has_an_interval_where_each_replicate_supports_it() {
        let of = |operations: u64, blocks: usize| {
            let sample = Sample::new(&["tmpfs"]).operations(operations);
            let document = sample.benchmark("create", &[&TIMES[..blocks]]).document();
            document.cells[0].metrics[0].percentiles.clone()
        };
        let each = PercentileOf::EachReplicate;
        // 298 operations are one too few for each replicate to have its own 99th percentile.
        let [p50, _, p95, p99] = &of(298, 8)[..] else { panic!("four percentiles") };
        let interval = p50.interval.unwrap();
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.01;
        assert!(near(interval.low, 6000.0) && near(interval.high, 6200.0), "{interval:?}");
        assert!(near(p50.value, 6095.0), "{p50:?}");
        assert!(p95.interval.is_some() && p95.of == each);
        assert_eq!(p99.of, PercentileOf::AllOperations);
        // Blocks differ in the speed of all their operations, so 2,384 operations are worth few.
        assert!(p99.interval.is_none() && p99.operations_needed > Some(2_384), "{p99:?}");
        assert!(of(299, 8)[3].interval.is_some());
        // Five blocks are too few for an interval, but do not change what is estimated.
        assert!(of(299, 5).iter().all(|one| one.interval.is_none() && one.of == each));
    }

    /// Eight blocks of 400 operations, with this many slow ones in each block.
    fn p999_of_stalls(slow: [u64; 8]) -> Percentile {
        let blocks = slow.map(|slow| {
            let mut histogram = Histogram::new();
            (0..400 - slow).for_each(|at| histogram.record(1000 + 2 * at));
            histogram.record_n(100_000, slow);
            histogram
        });
        let found =
            super::supported(&OperationTimes::new(blocks.to_vec()), 0.95, &Dependence::NONE);
        *found.last().expect("five percentiles")
    }

    #[test]
    fn a_percentile_of_all_operations_has_an_interval_or_says_what_it_takes() {
        let times = |blocks: usize, operations: u64| {
            let mut histogram = Histogram::new();
            (0..operations).for_each(|at| histogram.record(1000 + 7 * (at * 37 % operations)));
            OperationTimes::new(vec![histogram; blocks])
        };
        let p999 = |blocks, operations| {
            *super::supported(&times(blocks, operations), 0.95, &Dependence::NONE)
                .last()
                .expect("five")
        };
        let one = p999(10, 640);
        let interval = one.interval.expect("6,400 operations that differ by nothing else");
        assert!(interval.low < one.value && one.value <= interval.high, "{one:?}");
        assert_eq!((one.percentile, one.operations_needed), (99.9, None));
        let few = p999(10, 300);
        assert_eq!((few.interval, few.operations_needed), (None, Some(3900)));
        // Replicates that differ are worth less, so more operations are needed.
        let [even, uneven] = [[1; 8], [8, 0, 0, 0, 0, 0, 0, 0]].map(p999_of_stalls);
        let needs = |one: Percentile| one.operations_needed.expect("3,200 are too few");
        assert!(needs(uneven) > 3 * needs(even), "{even:?} {uneven:?}");
    }

    #[test]
    fn the_interval_of_a_percentile_is_wider_where_blocks_resemble_one_another() {
        let times = [6100, 6000, 6200, 6050, 6150, 6080, 6120, 6090].map(|time_ns| {
            let mut histogram = Histogram::new();
            histogram.record_n(time_ns, 100);
            histogram
        });
        let times = OperationTimes::new(times.to_vec());
        let of = |correlation| {
            let dependence = Dependence { correlation, p: 0.0, series: 9 };
            let interval = super::supported(&times, 0.95, &dependence)[0].interval.unwrap();
            interval.high - interval.low
        };
        assert!(of(0.5) > 1.3 * of(0.0));
    }
}
