//! The statistics that a report uses, in the report's own terms: what the numbers do not support is
//! absent rather than an error, so that the report goes on and says less.

use record::IntervalReport;
use stats::dependence::Dependence;
use stats::{Interval, Sample, order};

/// A summary of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) mean: f64,
    /// Interval of the median, from order statistics.
    pub(crate) interval: Option<IntervalReport>,
}

/// Median, mean and interval of `values`; `None` if there are no values.
pub(crate) fn summary(values: &[f64], level: f64) -> Option<Summary> {
    let sample = Sample::new(values).ok()?;
    let interval = order::median_interval(&sample, level).ok().map(report);
    Some(Summary { median: sample.median(), mean: sample.mean(), interval })
}

/// Like [`summary`], for values of successive blocks that may be correlated, which widens the
/// interval: by a power of the ratio to the median or, if values are not positive, by a multiple of
/// the distance from it.
pub(super) fn summary_of_blocks(
    values: &[f64],
    level: f64,
    dependence: &Dependence,
) -> Option<Summary> {
    let summary = summary(values, level)?;
    let (median, by) = (summary.median, dependence.widening(values.len() as u64));
    let wider = |end: f64| {
        if end > 0.0 && median > 0.0 {
            median * (end / median).powf(by)
        } else {
            median + (end - median) * by
        }
    };
    let widened = |interval: IntervalReport| {
        if by > 1.0 {
            IntervalReport { level, low: wider(interval.low), high: wider(interval.high) }
        } else {
            interval
        }
    };
    Some(Summary { interval: summary.interval.map(widened), ..summary })
}

/// The median of `values`, if there are any.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    Sample::new(values).ok().map(|sample| sample.median())
}

/// The smallest number of values with which an interval of this quantile is possible.
pub(super) fn least_n(quantile: f64, level: f64) -> Option<u64> {
    order::least_n(quantile, level).ok()
}

fn report(interval: Interval) -> IntervalReport {
    IntervalReport { level: interval.level, low: interval.low, high: interval.high }
}

/// The pooled standard deviation within groups, in percent, with each value taken relative to its
/// group's mean; `None` if no group has two values.
pub(super) fn pooled_percent(groups: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut degrees_of_freedom) = (0.0, 0.0);
    for group in groups.iter().filter(|group| group.len() >= 2) {
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        squares += group.iter().map(|value| (value / mean - 1.0).powi(2)).sum::<f64>();
        degrees_of_freedom += group.len() as f64 - 1.0;
    }
    (degrees_of_freedom > 0.0).then(|| (squares / degrees_of_freedom).sqrt() * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_blocks_that_go_with_the_ones_before_is_wider() {
        let values = [8.0, 9.0, 9.5, 10.0, 10.0, 10.5, 11.0, 12.5];
        let of = |correlation| {
            let dependence = Dependence { correlation, p: 0.0, series: 9 };
            summary_of_blocks(&values, 0.95, &dependence).unwrap()
        };
        let (none, half) = (of(0.0), of(0.5));
        assert_eq!(Some(none), summary(&values, 0.95));
        assert_eq!((half.median, half.mean), (none.median, none.mean));
        let by = Dependence { correlation: 0.5, p: 0.0, series: 9 }.widening(8);
        let (low, high) = (half.interval.unwrap().low, half.interval.unwrap().high);
        let plain = none.interval.unwrap();
        assert!((low - 10.0 * (plain.low / 10.0).powf(by)).abs() < 1e-12 && by > 1.3);
        assert!((high - 10.0 * (plain.high / 10.0).powf(by)).abs() < 1e-12);
    }

    #[test]
    fn groups_are_pooled_by_their_degrees_of_freedom() {
        assert_eq!(pooled_percent(&[vec![5.0]]), None);
        // Two values 10 % above and below their mean have a standard deviation of 14.1 %.
        let one = pooled_percent(&[vec![0.9, 1.1]]).unwrap();
        assert!((one - 200.0_f64.sqrt()).abs() < 1e-9, "{one}");
        let other = pooled_percent(&[vec![0.9, 1.1], vec![7.0, 7.0, 7.0]]).unwrap();
        assert!((other - (200.0_f64 / 3.0).sqrt()).abs() < 1e-9, "{other}");
    }
}
