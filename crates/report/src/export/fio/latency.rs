//! Latencies in fio's buckets, percentiles and shares.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Ordered;
use crate::export::latencies::{Distribution, middle};

/// The percentiles that fio reports by default.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// `clat_ns` and similar. All 0 if nothing was measured, as with fio's `disable_clat`.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Ordered<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<BTreeMap<u64, u64>>,
}

impl Latency {
    /// The whole distribution.
    pub(super) fn from_distribution(distribution: &Distribution) -> Self {
        let bins = bins(distribution);
        let percentile = |percent: f64| {
            let value = quantile(&bins, distribution, percent / 100.0);
            (format!("{percent:.6}"), value)
        };
        Self {
            min: distribution.min_ns,
            max: distribution.max_ns,
            mean: distribution.mean_ns(),
            stddev: distribution.standard_deviation_ns(),
            count: distribution.count,
            percentile: Some(Ordered(PERCENTILES.into_iter().map(percentile).collect())),
            bins: Some(bins),
        }
    }
}

/// Counts by the value that represents fio's bucket: two of our buckets make one of fio's.
fn bins(distribution: &Distribution) -> BTreeMap<u64, u64> {
    let mut bins = BTreeMap::new();
    for bucket in &distribution.buckets {
        *bins.entry(bin_of(bucket.low)).or_default() += bucket.count;
    }
    bins
}

/// The value by which fio names a bucket: `plat_idx_to_val` of `stat.c`, the middle of a 64th of an
/// octave. fio has a single bucket for everything above 17 s; here the buckets continue.
fn bin_of(value: u64) -> u64 {
    const EXACT_BITS: u32 = 7;
    let shift = (value | ((1 << EXACT_BITS) - 1)).ilog2() + 1 - EXACT_BITS;
    let low = value >> shift << shift;
    low + (1 << shift) / 2
}

/// The lowest bin up to which this share of all operations is reached, limited to the extremes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the count")]
fn quantile(bins: &BTreeMap<u64, u64>, distribution: &Distribution, share: f64) -> u64 {
    let rank = (share * distribution.count as f64).ceil() as u64;
    let mut counted = 0;
    let reached = bins.iter().find(|&(_, &count)| {
        counted += count;
        counted >= rank
    });
    let value = reached.map_or(distribution.max_ns, |(&bin, _)| bin);
    value.clamp(distribution.min_ns, distribution.max_ns)
}

/// `latency_ns`, `latency_us` and `latency_ms`: the share of operations, in percent, below each key
/// but not below the previous one.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    pub(super) ns: Ordered<f64>,
    pub(super) us: Ordered<f64>,
    pub(super) ms: Ordered<f64>,
}

const BELOW: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

impl Shares {
    /// Without a distribution, all shares are 0.
    pub(super) fn from_distribution(distribution: Option<&Distribution>) -> Self {
        let between = |from: u64, to: u64| {
            let Some(known) = distribution else { return 0.0 };
            let is_there = |value: u64| from <= value && value < to;
            let inside = known.buckets.iter().filter(|bucket| is_there(middle(bucket)));
            let count: u64 = inside.map(|bucket| bucket.count).sum();
            100.0 * count as f64 / known.count as f64
        };
        let of_unit = |unit: u64| {
            let mut from = if unit == 1 { 0 } else { unit };
            let mut shares = Vec::new();
            for below in BELOW {
                let to = below * unit;
                shares.push((below.to_string(), between(from, to)));
                from = to;
            }
            Ordered(shares)
        };
        let mut ms = of_unit(1_000_000);
        ms.0.push(("2000".to_owned(), between(1_000_000_000, 2_000_000_000)));
        ms.0.push((">=2000".to_owned(), between(2_000_000_000, u64::MAX)));
        Self { ns: of_unit(1), us: of_unit(1000), ms }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bins_have_the_names_that_fio_gives_them() {
        // Keys from a file that fio 3.33 wrote, and exact ones.
        for key in [0, 127, 46_336, 47_360, 47_872, 48_384, 48_896, 101_888, 10_420_224] {
            assert_eq!(bin_of(key), key);
        }
        assert_eq!(
            [bin_of(128), bin_of(129), bin_of(46_080), bin_of(46_591)],
            [129, 129, 46_336, 46_336]
        );
    }

    #[test]
    fn shares_lie_below_their_keys() {
        let shares = Shares::from_distribution(Some(&Distribution::of_values(&[
            1,
            3,
            1500,
            1_500_000,
            1_500_000_000,
            3_000_000_000,
        ])));
        let nonzero = |shares: &Ordered<f64>| -> Vec<String> {
            let there = shares.0.iter().filter(|(_, share)| *share > 0.0);
            there.map(|(key, _)| key.clone()).collect()
        };
        assert_eq!(nonzero(&shares.ns), ["2", "4"]);
        let on_a_key = Shares::from_distribution(Some(&Distribution::of_values(&[2, 4000])));
        assert_eq!(
            (nonzero(&on_a_key.ns), nonzero(&on_a_key.us)),
            (vec!["4".into()], vec!["10".into()])
        );
        assert_eq!(nonzero(&shares.us), ["2"]);
        assert_eq!(nonzero(&shares.ms), ["2", "2000", ">=2000"]);
    }

    proptest! {
        #[test]
        fn no_operation_is_lost(values in prop::collection::vec(1_u64..1 << 36, 1..60)) {
            let distribution = Distribution::of_values(&values);
            let latency = Latency::from_distribution(&distribution);
            let bins = latency.bins.clone().unwrap();
            prop_assert_eq!(bins.values().sum::<u64>(), values.len() as u64);
            let shares = Shares::from_distribution(Some(&distribution));
            let all = [&shares.ns, &shares.us, &shares.ms];
            let sum: f64 = all.iter().flat_map(|some| some.0.iter().map(|(_, share)| share)).sum();
            prop_assert!((sum - 100.0).abs() < 1e-6, "{}", sum);
            let percentiles = latency.percentile.unwrap();
            prop_assert!(percentiles.0.is_sorted_by_key(|(_, value)| *value));
            let extremes = latency.min..=latency.max;
            prop_assert!(percentiles.0.iter().all(|(_, value)| extremes.contains(value)));
        }
    }
}
