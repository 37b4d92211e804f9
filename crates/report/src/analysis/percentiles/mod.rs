//! Percentiles of single operations, over a cell's replicates.

use record::{Percentile, PercentileOf};
use stats::dependence::Dependence;

use super::OperationTimes;
use super::estimates;

/// Those that are reported, each where enough operations support it;
/// as percentage and as quantile, since dividing one does not give the other exactly.
const PERCENTILES: [(f64, f64); 5] =
    [(50.0, 0.5), (90.0, 0.9), (95.0, 0.95), (99.0, 0.99), (99.9, 0.999)];

/// The percentiles that the operations support: as many as an interval of the quantile takes. With
/// those an interpolated rank lies above the truth as often as below, within 4 %, so that the
/// median over many replicates does not settle on something else (docs/coverage.md). Operations of
/// one replicate share what happened to it, so an interval comes from replicates, not from
/// operations. Where a replicate has too few, all operations are taken together.
pub(super) fn of(times: &OperationTimes, level: f64, dependence: &Dependence) -> Vec<Percentile> {
    let OperationTimes { each, pooled } = times;
    let of_quantile = |(percentile, quantile): (f64, f64)| {
        let need = estimates::least_n(quantile, level)?;
        if pooled.count() < need {
            return None;
        }
        if each.iter().any(|histogram| histogram.count() < need) {
            let (of, value) = (PercentileOf::AllOperations, pooled.quantile(quantile));
            return Some(Percentile { percentile, of, value, interval: None });
        }
        let own: Vec<f64> = each.iter().map(|histogram| histogram.quantile(quantile)).collect();
        let summary = estimates::summary_of_blocks(&own, level, dependence)?;
        let of = PercentileOf::EachReplicate;
        Some(Percentile { percentile, of, value: summary.median, interval: summary.interval })
    };
    PERCENTILES.into_iter().filter_map(of_quantile).collect()
}

#[cfg(test)]
mod coverage;

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
        // 298 operations are one too few for a 99th percentile of each replicate's own.
        let [p50, _, p95, p99] = &of(298, 8)[..] else { panic!("four percentiles") };
        let interval = p50.interval.unwrap();
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.01;
        assert!(near(interval.low, 6000.0) && near(interval.high, 6200.0), "{interval:?}");
        assert!(near(p50.value, 6095.0), "{p50:?}");
        assert!(p95.interval.is_some() && p95.of == each);
        assert_eq!((p99.interval, p99.of), (None, PercentileOf::AllOperations));
        assert!(of(299, 8)[3].interval.is_some());
        // Five blocks are too few for an interval, but change nothing of what is estimated.
        assert!(of(299, 5).iter().all(|one| one.interval.is_none() && one.of == each));
    }

    #[test]
    fn the_interval_of_a_percentile_is_wider_where_blocks_resemble_one_another() {
        let times = [6100, 6000, 6200, 6050, 6150, 6080, 6120, 6090].map(|time_ns| {
            let mut histogram = Histogram::new();
            histogram.record_n(time_ns, 100);
            histogram
        });
        let times = OperationTimes::of(times.to_vec());
        let of = |correlation| {
            let dependence = Dependence { correlation, p: 0.0, series: 9 };
            let interval = super::of(&times, 0.95, &dependence)[0].interval.unwrap();
            interval.high - interval.low
        };
        assert!(of(0.5) > 1.3 * of(0.0));
    }
}
