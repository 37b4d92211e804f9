//! The ratio of two medians with a percentile bootstrap interval.
//!
//! Medians describe latencies better than means, and the ratio of two has no formula for its
//! interval: the medians are resampled and the quantiles of their ratios read off (Efron &
//! Tibshirani, "An Introduction to the Bootstrap", sections 8.3 and 13.3). The percentile interval
//! of a ratio is that of its logarithm, taken back, so that neither side of 1 is favoured.

use rand::RngExt;

use crate::bootstrap::{QuantileResampler, Resampling, VALUES_MIN, percentile_interval};
use crate::interval::Interval;
use crate::refusal::{Refusal, check_count};
use crate::sample::Sample;

/// A ratio of medians with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioOfMedians {
    /// The median of the first sample divided by that of the second.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
}

/// How the medians of the first and the second series are resampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianResampling {
    /// The number of resamples.
    pub resamples: u32,
    /// The seed: one seed gives one answer.
    pub seed: u64,
    /// The interval's confidence level, between 0 and 1.
    pub level: f64,
}

impl MedianResampling {
    fn as_percentile(&self) -> Resampling {
        let method = crate::bootstrap::Method::Percentile;
        Resampling { resamples: self.resamples, seed: self.seed, level: self.level, method }
    }
}

/// The ratio of the medians of two independent samples, each resampled on its own.
///
/// # Errors
/// Refuses fewer than [`VALUES_MIN`] values in either sample, values that are not finite and above
/// 0, a level outside 0 to 1, and too few resamples for the level.
pub fn independent(
    first: &[f64],
    second: &[f64],
    how: &MedianResampling,
) -> Result<RatioOfMedians, Refusal> {
    let how = how.as_percentile();
    how.check()?;
    let (first, second) = (positive_sample(first)?, positive_sample(second)?);
    let resamplers = [&first, &second].map(|sample| QuantileResampler::new(sample, 0.5));
    let mut random = how.generator();
    let ratios = (0..how.resamples)
        .map(|_| resamplers[0].draw(&mut random) / resamplers[1].draw(&mut random))
        .collect();
    let interval = percentile_interval(ratios, how.level)?;
    Ok(RatioOfMedians { ratio: first.median() / second.median(), interval })
}

/// The ratio of the medians of two series measured in pairs, the pairs being resampled.
///
/// # Errors
/// As for [`independent`], and series that differ in length.
pub fn paired(
    first: &[f64],
    second: &[f64],
    how: &MedianResampling,
) -> Result<RatioOfMedians, Refusal> {
    let how = how.as_percentile();
    how.check()?;
    if first.len() != second.len() {
        return Err(Refusal::LengthsDiffer { first: first.len(), second: second.len() });
    }
    let ratio = positive_sample(first)?.median() / positive_sample(second)?.median();
    let mut random = how.generator();
    let (mut of_first, mut of_second) = (vec![0.0; first.len()], vec![0.0; first.len()]);
    let ratios = (0..how.resamples).map(|_| {
        for (a, b) in of_first.iter_mut().zip(&mut of_second) {
            let pair = random.random_range(0..first.len());
            (*a, *b) = (first[pair], second[pair]);
        }
        median_in_place(&mut of_first) / median_in_place(&mut of_second)
    });
    let interval = percentile_interval(ratios.collect(), how.level)?;
    Ok(RatioOfMedians { ratio, interval })
}

fn positive_sample(values: &[f64]) -> Result<Sample, Refusal> {
    check_count("a bootstrap", values.len(), VALUES_MIN)?;
    let sample = Sample::new(values)?;
    match values.iter().position(|&value| value <= 0.0) {
        Some(index) => Err(Refusal::NotPositive { index, value: values[index] }),
        None => Ok(sample),
    }
}

/// The median of at least two values, whose order is lost.
fn median_in_place(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if is_odd {
        return *upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, *upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOW: MedianResampling = MedianResampling { resamples: 4_000, seed: 1, level: 0.95 };

    type Ratio = fn(&[f64], &[f64], &MedianResampling) -> Result<RatioOfMedians, Refusal>;
    const BOTH: [Ratio; 2] = [independent, paired];

    fn series(n: u32) -> Vec<f64> {
        (0..n).map(|i| 100.0 + f64::from(i * 37 % 101)).collect()
    }

    #[test]
    fn medians_in_place_are_medians() {
        for n in 2..12 {
            let mut values = series(n);
            let wanted = Sample::new(values.clone()).unwrap().median();
            assert!((median_in_place(&mut values) - wanted).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn a_ratio_lies_within_its_interval_and_one_seed_gives_one_answer() {
        let (first, second) = (series(60), series(61).split_off(1));
        for ratio in BOTH {
            let got = ratio(&first, &second, &HOW).unwrap();
            assert!(got.interval.contains(got.ratio));
            assert!(got.interval.low < got.interval.high);
            assert_eq!(ratio(&first, &second, &HOW), Ok(got));
            let other_seed = MedianResampling { seed: 2, ..HOW };
            assert_ne!(ratio(&first, &second, &other_seed), Ok(got));
        }
    }

    #[test]
    fn pairs_are_kept_together() {
        let first = series(80);
        let tripled: Vec<f64> = first.iter().map(|value| 3.0 * value).collect();
        let by_pairs = paired(&tripled, &first, &HOW).unwrap();
        assert!((by_pairs.interval.high - by_pairs.interval.low).abs() < 1e-12);
        let alone = independent(&tripled, &first, &HOW).unwrap();
        assert!(alone.interval.relative_half_width(3.0) > 0.02);
    }

    #[test]
    fn what_has_no_ratio_is_refused() {
        let good = series(9);
        for ratio in BOTH {
            let mut bad = good.clone();
            bad[3] = 0.0;
            let refusal = Refusal::NotPositive { index: 3, value: 0.0 };
            assert_eq!(ratio(&good, &bad, &HOW), Err(refusal));
            assert!(matches!(ratio(&good[..6], &good[..6], &HOW), Err(Refusal::TooFew { .. })));
            let few = MedianResampling { resamples: 199, ..HOW };
            assert!(matches!(ratio(&good, &good, &few), Err(Refusal::OutOfRange { .. })));
        }
        assert!(matches!(paired(&good, &good[1..], &HOW), Err(Refusal::LengthsDiffer { .. })));
    }
}
