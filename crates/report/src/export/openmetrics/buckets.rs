//! A histogram in a few cumulative buckets, two per octave, as in `OpenMetrics`.

use crate::export::latencies::Distribution;

/// Bounds in seconds, each with the number of operations that took no longer; the last bound is
/// `+Inf`.
///
/// Bounds are 2^k and 1.5 * 2^k nanoseconds, which are also ends of the recorded histogram's
/// buckets, so no count is an estimate. A recorded time is truncated to whole nanoseconds: 1023
/// means less than 1024. Bounds below all values, except the highest one, and above all values,
/// except the lowest one, are left out, since they add nothing.
pub(super) fn cumulative(distribution: &Distribution) -> Vec<(String, u64)> {
    let at_most = |bound: u64| {
        let below = distribution.buckets.iter().take_while(|bucket| bucket.high < bound);
        below.map(|bucket| bucket.count).sum::<u64>()
    };
    let counts: Vec<(u64, u64)> = bounds().map(|bound| (bound, at_most(bound))).collect();
    let first = counts.iter().rposition(|&(_, count)| count == 0).unwrap_or(0);
    let all = distribution.count;
    let last = counts.iter().position(|&(_, count)| count == all).unwrap_or(counts.len() - 1);
    let kept = counts[first..=last.max(first)].iter();
    let seconds = |bound: u64| (bound as f64 / 1e9).to_string();
    let mut buckets: Vec<_> = kept.map(|&(bound, count)| (seconds(bound), count)).collect();
    buckets.push(("+Inf".to_owned(), all));
    buckets
}

/// From 2 nanoseconds to 5 hours.
fn bounds() -> impl Iterator<Item = u64> {
    (1..44).flat_map(|exponent| [1_u64 << exponent, 3_u64 << (exponent - 1)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_on_a_bound_is_above_it() {
        let expected = [("0.000000768", 0), ("0.000001024", 1), ("0.000001536", 3), ("+Inf", 3)];
        let expected: Vec<_> =
            expected.iter().map(|&(bound, count)| (bound.to_owned(), count)).collect();
        assert_eq!(cumulative(&Distribution::of_values(&[1023, 1024, 1535])), expected);
        // Also where each value has its own bucket.
        let counts =
            cumulative(&Distribution::of_values(&[127, 128])).into_iter().map(|(_, count)| count);
        assert_eq!(counts.collect::<Vec<_>>(), [0, 1, 2, 2]);
    }

    #[test]
    fn values_beyond_all_bounds_are_in_the_last_bucket() {
        let buckets = cumulative(&Distribution::of_values(&[5, 1 << 60]));
        assert_eq!(buckets.last(), Some(&("+Inf".to_owned(), 2)));
        assert_eq!(buckets[buckets.len() - 2].1, 1);
    }

    proptest! {
        #[test]
        fn counts_are_exact_at_every_bound(
            values in prop::collection::vec(1_u64..1 << 40, 1..50)
        ) {
            let mut before = 0;
            for (bound, count) in cumulative(&Distribution::of_values(&values)) {
                let bound: f64 = bound.replace("+Inf", "inf").parse().unwrap();
                let below = values.iter().filter(|&&value| (value as f64) < bound * 1e9 - 0.5);
                prop_assert_eq!(count, below.count() as u64);
                prop_assert!(count >= before);
                before = count;
            }
            prop_assert_eq!(before, values.len() as u64);
        }
    }
}
