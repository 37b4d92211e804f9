//! Why a mean is far above the median: because of stalls, which are a few long operations that
//! dominate the mean, or because a sizeable part of the operations is slow.
//!
//! Some file systems now and then make one operation wait for the work of many. A mean over few
//! operations may include no stall, and a mean over many does: the mean then says how often a stall
//! occurred, and the median how long an operation takes otherwise. The report says how many stalls
//! there were, how long they took, and what share of the time that was.

use measure::Histogram;
use record::Warning;

/// A stall takes at least as long as this many ordinary operations.
const TIMES_THE_MEDIAN: f64 = 32.0;
/// A stall takes longer than an interrupt or another task would, in nanoseconds.
const STALL_NS_MIN: f64 = 100_000.0;
/// At most this share of all operations counts as few.
const FEW: f64 = 0.01;
/// Below this share of the time, stalls do not dominate the mean, in percent.
const SHARE_PERCENT_MIN: f64 = 10.0;

/// A mean that is this many times the median needs an explanation.
const MEAN_OVER_MEDIAN: f64 = 2.0;
/// The share of operations that count as the slowest.
const SLOWEST: f64 = 0.1;

/// Why the mean of these operations is above their median, if it is.
pub(super) fn why_mean_is_above(pooled: &Histogram) -> Option<Warning> {
    stalls(pooled).or_else(|| slow_tenth(pooled))
}

/// The share of the slowest tenth, if the mean is far above the median.
fn slow_tenth(pooled: &Histogram) -> Option<Warning> {
    let (mean_ns, p50_ns) = (pooled.mean(), pooled.quantile(0.5));
    if p50_ns <= 0.0 || mean_ns < MEAN_OVER_MEDIAN * p50_ns {
        return None;
    }
    let mut left = pooled.count() as f64 * (1.0 - SLOWEST);
    let mut others_ns = 0.0;
    for bucket in pooled.buckets() {
        let taken = left.min(bucket.count as f64);
        others_ns += taken * (bucket.low as f64 + bucket.high as f64) / 2.0;
        left -= taken;
    }
    let slowest_tenth_percent = 100.0 * (1.0 - others_ns / pooled.sum() as f64).clamp(0.0, 1.0);
    Some(Warning::MeanAboveMedian { mean_ns, p50_ns, slowest_tenth_percent })
}

/// The stalls among these operations, if they dominate the mean.
fn stalls(pooled: &Histogram) -> Option<Warning> {
    let bound_ns = (pooled.quantile(0.5) * TIMES_THE_MEDIAN).max(STALL_NS_MIN);
    let (mut operations, mut time_ns, mut shortest_ns) = (0, 0.0, u64::MAX);
    for bucket in pooled.buckets().filter(|bucket| bucket.low as f64 >= bound_ns) {
        operations += bucket.count;
        time_ns += bucket.count as f64 * (bucket.low as f64 + bucket.high as f64) / 2.0;
        shortest_ns = shortest_ns.min(bucket.low);
    }
    let of = pooled.count();
    let share_percent = 100.0 * (time_ns / pooled.sum() as f64).min(1.0);
    let are_few = operations > 0 && operations as f64 <= FEW * of as f64;
    (are_few && share_percent >= SHARE_PERCENT_MIN).then(|| Warning::Stalls {
        operations,
        of,
        longer_than_ns: shortest_ns,
        longest_ns: pooled.max(),
        share_percent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(times: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        times.iter().for_each(|&(time_ns, count)| histogram.record_n(time_ns, count));
        histogram
    }

    #[test]
    fn few_long_operations_that_carry_the_mean_are_counted() {
        let pooled = histogram(&[(2_000, 19_997), (90_000_000, 3)]);
        let Some(Warning::Stalls { operations, of: all, longest_ns, share_percent, .. }) =
            why_mean_is_above(&pooled)
        else {
            panic!("three stalls")
        };
        assert_eq!((operations, all), (3, 20_000));
        assert!((89_000_000..=91_000_000).contains(&longest_ns), "{longest_ns}");
        // 270 ms of 310 ms.
        assert!((share_percent - 87.1).abs() < 1.0, "{share_percent}");
    }

    #[test]
    fn what_is_short_common_or_does_not_weigh_is_no_stall() {
        assert_eq!(stalls(&Histogram::new()), None);
        assert_eq!(stalls(&histogram(&[(2_000, 10_000), (90_000, 50)])), None, "interrupts");
        assert_eq!(stalls(&histogram(&[(2_000, 100), (500_000, 20)])), None, "another kind");
        assert_eq!(stalls(&histogram(&[(2_000, 1_000_000), (500_000, 10)])), None, "light");
    }

    #[test]
    fn a_slow_part_that_is_not_small_explains_the_mean() {
        let pooled = histogram(&[(1_000, 900), (30_000, 100)]);
        let found = why_mean_is_above(&pooled);
        let Some(Warning::MeanAboveMedian { mean_ns, p50_ns, slowest_tenth_percent }) = found
        else {
            panic!("the mean is 3.9 x the median: {found:?}")
        };
        assert!((mean_ns / 3900.0 - 1.0).abs() < 0.02 && (p50_ns / 1000.0 - 1.0).abs() < 0.02);
        assert!((slowest_tenth_percent - 76.9).abs() < 1.0, "{slowest_tenth_percent}");
        assert_eq!(why_mean_is_above(&histogram(&[(1_000, 900), (5_000, 100)])), None);
    }
}
