//! Tests the histogram against a sorted vector, which keeps everything exactly.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Values of every magnitude, unlike a plain `u64` strategy, which gives mostly large ones.
fn any_value() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0_u32..64).prop_map(|(bits, shift)| bits >> shift)
}

fn histogram_of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|&value| histogram.record(value));
    histogram
}

/// The result of R's `quantile(type = 8)` for sorted values.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 200")]
fn median_unbiased(sorted: &[u64], q: f64) -> f64 {
    let count = sorted.len() as f64;
    let rank = (q * (count + 1.0 / 3.0) + 1.0 / 3.0).clamp(1.0, count);
    let at = |rank: f64| sorted[rank as usize - 1] as f64;
    at(rank.floor()) * (1.0 - rank.fract()) + at(rank.ceil()) * rank.fract()
}

proptest! {
    #[test]
    fn every_quantile_is_within_one_percent_of_the_sorted_values(
        values in vec(any_value(), 1..200),
        q in 0.0..=1.0,
    ) {
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let exact = median_unbiased(&sorted, q);
        let got = histogram_of(&values).quantile(q);
        prop_assert!((got - exact).abs() <= exact * 0.01, "q = {}: {} for {}", q, got, exact);
    }

    #[test]
    fn a_larger_share_never_has_a_smaller_quantile(
        values in vec(any_value(), 1..200),
        (one, other) in (0.0..=1.0, 0.0..=1.0),
    ) {
        let histogram = histogram_of(&values);
        let (least, most) = (f64::min(one, other), f64::max(one, other));
        // Two points on the same line may differ by rounding.
        prop_assert!(histogram.quantile(least) <= histogram.quantile(most) * (1.0 + 1e-12));
    }

    #[test]
    fn extremes_count_and_sum_are_exact(values in vec(any_value(), 1..200)) {
        let histogram = histogram_of(&values);
        let sum: u128 = values.iter().copied().map(u128::from).sum();
        prop_assert_eq!(histogram.count(), values.len() as u64);
        prop_assert_eq!(histogram.min(), *values.iter().min().unwrap());
        prop_assert_eq!(histogram.max(), *values.iter().max().unwrap());
        prop_assert_eq!(histogram.sum(), sum);
        prop_assert_eq!(histogram.mean(), sum as f64 / values.len() as f64);
    }

    #[test]
    fn merging_equals_recording_all(
        mut values in vec(any_value(), 0..100),
        others in vec(any_value(), 0..100),
    ) {
        let mut merged = histogram_of(&values);
        merged.merge(&histogram_of(&others));
        values.extend(others);
        prop_assert_eq!(merged, histogram_of(&values));
    }

    #[test]
    fn recording_n_equals_recording_n_times(value in any_value(), count in 0_u64..50) {
        let mut at_once = Histogram::new();
        at_once.record_n(value, count);
        let mut one_by_one = Histogram::new();
        (0..count).for_each(|_| one_by_one.record(value));
        prop_assert_eq!(at_once, one_by_one);
    }

    #[test]
    fn buckets_partition_the_values(values in vec(any_value(), 1..100)) {
        let histogram = histogram_of(&values);
        for bucket in histogram.buckets() {
            let inside = values.iter().filter(|v| (bucket.low..=bucket.high).contains(v)).count();
            prop_assert_eq!(bucket.count, inside as u64);
        }
        prop_assert_eq!(histogram.buckets().map(|b| b.count).sum::<u64>(), values.len() as u64);
    }

    #[test]
    fn storing_and_rebuilding_changes_nothing(values in vec(any_value(), 1..100)) {
        let histogram = histogram_of(&values);
        let rebuilt = Histogram::from_buckets(histogram.buckets()).unwrap();
        prop_assert!(rebuilt.min() <= histogram.min() && rebuilt.max() >= histogram.max());
        prop_assert!((rebuilt.mean() - histogram.mean()).abs() <= histogram.mean() * 0.01);
        let exact = histogram.exact().unwrap();
        prop_assert_eq!(rebuilt.with_exact(exact).unwrap(), histogram);
    }
}

#[test]
fn an_empty_histogram_answers_zero() {
    let mut empty = Histogram::new();
    empty.record_n(7, 0);
    assert_eq!((empty.count(), empty.min(), empty.max(), empty.sum()), (0, 0, 0, 0));
    assert_eq!((empty.quantile(0.5), empty.mean()), (0.0, 0.0));
    assert_eq!((empty.buckets().count(), empty.exact()), (0, None));
    assert_eq!(Histogram::from_buckets([]).unwrap(), empty);
}

#[test]
fn first_and_last_rank_are_exact_and_the_rest_stays_between() {
    let histogram = histogram_of(&[1000, 1000, 2000, 3001, 3001]);
    // Rank (5 + 1/3) q + 1/3 is at most 1 up to 0.125, and 5 from 0.875 on.
    for q in [-1.0, 0.0, 0.125, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(histogram.quantile(q), 1000.0, "{q}");
    }
    for q in [0.875, 1.0, 1.5, f64::INFINITY] {
        assert_eq!(histogram.quantile(q), 3001.0, "{q}");
    }
    // The third of five: the middle of the bucket from 2000 to 2007.
    assert_eq!(histogram.quantile(0.5), 2003.5);
    assert_eq!(histogram_of(&[1003, 1003, 1003]).quantile(0.5), 1003.0, "1001.5 is too low");
    assert_eq!(histogram_of(&[2991, 2991, 2991]).quantile(0.5), 2991.0, "2999.5 is too high");
}

/// Expected values from R 4, `quantile(x, probs, type = 8)`; each value has a bucket of its own.
#[test]
fn quantiles_lie_between_ranks() {
    let six = histogram_of(&[10, 20, 30, 40, 50, 60]);
    for (q, expected) in [(0.5, 35.0), (0.25, 19.0 + 1.0 / 6.0), (0.9, 60.0), (0.8, 54.0)] {
        assert!((six.quantile(q) - expected).abs() < 1e-9, "{q}: {}", six.quantile(q));
    }
    assert_eq!(histogram_of(&[7]).quantile(0.5), 7.0);
    assert_eq!(histogram_of(&[7, 9]).quantile(0.5), 8.0);
}

#[test]
fn values_of_one_bucket_are_spread_evenly_over_it() {
    // 8192 to 8255 share a bucket; the extremes, which are exact, are far away from it.
    let mut histogram = histogram_of(&[1, 1, 1, 1_000_000, 1_000_000, 1_000_000]);
    histogram.record_n(8200, 100);
    let [quarter, half] = [0.25, 0.5].map(|q| histogram.quantile(q));
    assert_eq!(half, f64::midpoint(8192.0, 8255.0));
    assert!(quarter > 8205.0 && quarter < 8208.0, "{quarter}");
}

#[test]
fn counts_stop_at_the_greatest_number() {
    let mut histogram = Histogram::new();
    histogram.record_n(u64::MAX, u64::MAX);
    let sum = u128::from(u64::MAX) * u128::from(u64::MAX);
    assert_eq!((histogram.count(), histogram.sum()), (u64::MAX, sum));
    histogram.merge(&histogram.clone());
    assert_eq!((histogram.count(), histogram.sum()), (u64::MAX, u128::MAX));
    assert_eq!(histogram.quantile(1.0), histogram.max() as f64);
}

#[test]
fn damaged_buckets_are_refused() {
    let good = Bucket { low: 256, high: 257, count: 3 };
    for (low, high) in [(257, 258), (256, 256), (256, 259), (10, 11), (u64::MAX, 0)] {
        let bad = Bucket { low, high, count: 1 };
        let refused = Histogram::from_buckets([good, bad]).unwrap_err();
        assert_eq!(refused, HistogramError::NoSuchBucket { low, high });
    }
    let all = Bucket { low: 9, high: 9, count: u64::MAX };
    assert_eq!(Histogram::from_buckets([good, all]).unwrap_err(), HistogramError::TooMany);
    // Three values of 256 or 257 each.
    for (min, max, sum) in [(255, 257, 770), (256, 258, 770), (257, 256, 770), (256, 257, 767)] {
        let exact = Exact { min, max, sum };
        let refused = Histogram::from_buckets([good]).unwrap().with_exact(exact).unwrap_err();
        assert_eq!(refused, HistogramError::Contradiction { exact });
    }
    let exact = Exact { min: 0, max: 0, sum: 0 };
    assert!(Histogram::new().with_exact(exact).is_err(), "nothing has no extremes");
}

#[test]
fn refusals_are_sentences() {
    let no_bucket = HistogramError::NoSuchBucket { low: 1, high: 9 };
    assert!(no_bucket.to_string().starts_with("values 1 to 9 are not a bucket"));
    assert!(HistogramError::TooMany.to_string().contains("damaged"));
    let exact = Exact { min: 1, max: 2, sum: 3 };
    assert!(HistogramError::Contradiction { exact }.to_string().contains("min: 1, max: 2, sum: 3"));
}
