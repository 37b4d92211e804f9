//! Series whose values depend on their neighbours: which changes chance alone would produce.
//!
//! A permutation test assumes that every order of the values is equally likely. If each value
//! resembles the previous one, slow swings would be mistaken for changes. So what is permuted are
//! the innovations, the part of each value that is not inherited from the previous one, and the
//! series is rebuilt from them as a first-order autoregression (prewhitening; Robbins, Gallagher,
//! Lund & Aue, "Mean Shift Testing in Correlated Data", Journal of Time Series Analysis 32(5),
//! 2011). Without dependence, this is a permutation of the values. The inherited share is estimated
//! after removing the best change, since otherwise each change would make its own values look
//! dependent. It is estimated from ranks, so that outliers do not dominate it.
//!
//! In simulations at 5 %, with a hundred series of each kind without a change: 2 to 8 independent
//! series of 20 to 100 values were cut; with a share of 0.3 to 0.7, 6 to 16 series of 60 to 100
//! values; with a share of 0.9, or with 20 to 30 values, 12 to 33 series. Shifts by three
//! deviations were found in 79 to 100 series of 60 to 100 values with a share up to 0.7, and in 93
//! series of 20 independent values.

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::sample;

/// Rank correlation of neighbouring `values`, 0 to 1, around the means of the stretches between
/// these changes.
#[must_use]
pub fn correlation_of_neighbours(values: &[f64], changepoints: &[usize]) -> f64 {
    let bounds = [&[0], changepoints, &[values.len()]].concat();
    correlation(values, &bounds)
}

/// Correlations within this many standard errors of independent values may well be chance.
const BY_CHANCE: f64 = 1.645;
/// How much larger the bias is when the means are those of a best change, found from the values
/// themselves, than when the parts are given.
const BIAS_OF_BEST: f64 = 2.0;
/// With a correlation closer to 1, the whole series is a single swing.
const CORRELATION_MAX: f64 = 0.99;
/// Minimum number of independent values that a series must be worth for a change to be told from a
/// swing.
const WORTH_MIN: f64 = 4.0;

/// Like [`correlation_of_neighbours`], given `bounds` that include both ends.
pub(super) fn correlation(values: &[f64], bounds: &[usize]) -> f64 {
    let mut residuals = values.to_vec();
    for pair in bounds.windows(2) {
        let stretch = &mut residuals[pair[0]..pair[1]];
        let mean = sample::mean(stretch);
        stretch.iter_mut().for_each(|value| *value -= mean);
    }
    let n = values.len() as f64;
    let stretches = bounds.len() as f64 - 1.0;
    let seen = neighbours(&ranks(&residuals), bounds);
    // Each mean that was subtracted removes some of the correlation (Kendall, Biometrika 41, 1954).
    let bias = stretches * (1.0 + 3.0 * seen) / n;
    let is_by_chance = seen + bias <= BY_CHANCE / n.sqrt();
    let correlation = if is_by_chance { seen + bias } else { seen + BIAS_OF_BEST * bias };
    correlation.clamp(0.0, CORRELATION_MAX)
}

/// Whether this many values are enough to tell a change from a swing.
pub(super) fn can_tell(values: usize, correlation: f64) -> bool {
    values as f64 * (1.0 - correlation) / (1.0 + correlation) >= WORTH_MIN
}

/// `values` as chance might equally have produced them: the innovations are permuted within each
/// stretch between `bounds`.
pub(super) fn permuted(
    values: &[f64],
    bounds: &[usize],
    correlation: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<f64> {
    // The first value of a stretch has no predecessor, so all of it is innovation; scale it to
    // match the others.
    let of_first = (1.0 - correlation * correlation).sqrt();
    let mut built = Vec::with_capacity(values.len());
    for pair in bounds.windows(2) {
        let stretch = &values[pair[0]..pair[1]];
        let mean = sample::mean(stretch);
        let first = stretch.first().map(|first| (first - mean) * of_first);
        let later = stretch.windows(2).map(|two| two[1] - mean - correlation * (two[0] - mean));
        let mut new: Vec<f64> = first.into_iter().chain(later).collect();
        new.shuffle(random);
        let mut last = None;
        for news in new {
            let value = last.map_or(news / of_first, |last| correlation * last + news);
            built.push(mean + value);
            last = Some(value);
        }
    }
    built
}

/// The rank of each value, from 0; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for equal in order.chunk_by(|&one, &other| values[one] == values[other]) {
        let rank = start as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&index| ranks[index] = rank);
        start += equal.len();
    }
    ranks
}

/// The correlation of neighbours not separated by a bound; 0 if the values are equal.
fn neighbours(values: &[f64], bounds: &[usize]) -> f64 {
    let mean = sample::mean(values);
    let variance: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let stretches = bounds.windows(2).map(|pair| &values[pair[0]..pair[1]]);
    let products: f64 = stretches
        .flat_map(|stretch| stretch.windows(2))
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    if variance > 0.0 { products / variance } else { 0.0 }
}
