//! Values that depend on their neighbours: what chance alone makes of them.
//!
//! A permutation test supposes that any order of the values is as likely as another. Where each
//! value resembles the one before, slow swings are taken for changes. So what changes places is
//! what is new in each value, beyond its share of the one before, and the values are built up again
//! from that, as a first-order autoregression (prewhitening; Robbins, Gallagher, Lund & Aue, "Mean
//! Shift Testing in Correlated Data", Journal of Time Series Analysis 32(5), 2011). Without
//! dependence, that is the permutation of the values. The share is that of what is left once the
//! best change is taken away, or each change would make its own values dependent; and of ranks,
//! which outliers do not decide.
//!
//! Of a hundred simulated series each, without a change, at 5 %: independent ones of 20 to 100
//! values were cut in 2 to 8; with a share of 0.3 to 0.7, 60 to 100 values in 6 to 16; with 0.9,
//! or of 20 to 30 values, in 12 to 33. Shifts by three deviations were found in 79 to 100 of 60 to
//! 100 values with up to 0.7, and in 93 of 20 independent ones.

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::sample;

/// Rank correlation of neighbours in `values`, 0 to 1, about the means of the stretches between
/// these changes.
#[must_use]
pub fn correlation_of_neighbours(values: &[f64], changepoints: &[usize]) -> f64 {
    let bounds = [&[0], changepoints, &[values.len()]].concat();
    correlation(values, &bounds)
}

/// Correlations of so many standard errors of independent values may well be chance.
const BY_CHANCE: f64 = 1.645;
/// How many times as much the means take along that part values best, as those of a change do.
const BIAS_OF_BEST: f64 = 2.0;
/// Nearer to 1, a series is one swing.
const CORRELATION_MAX: f64 = 0.99;
/// Independent values that a series is worth at least, where a change is told from a swing.
const WORTH_LEAST: f64 = 4.0;

/// The same about the means of the stretches between `bounds`, the ends among them.
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
    // Each mean that was taken away takes some of it along (Kendall, Biometrika 41, 1954).
    let bias = stretches * (1.0 + 3.0 * seen) / n;
    let is_by_chance = seen + bias <= BY_CHANCE / n.sqrt();
    let correlation = if is_by_chance { seen + bias } else { seen + BIAS_OF_BEST * bias };
    correlation.clamp(0.0, CORRELATION_MAX)
}

/// Whether so many values are enough to tell a change from a swing.
pub(super) fn can_tell(values: usize, correlation: f64) -> bool {
    values as f64 * (1.0 - correlation) / (1.0 + correlation) >= WORTH_LEAST
}

/// `values` as chance might have made them too, within each stretch between `bounds`: what is new
/// in each changes places.
pub(super) fn permuted(
    values: &[f64],
    bounds: &[usize],
    correlation: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<f64> {
    // The first of a stretch has no other before it: all of it is new, and as large as all others.
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

/// The rank of each value, from 0; equal ones have the mean of theirs.
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

/// The correlation of neighbours that no bound parts; 0 of equal values.
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
