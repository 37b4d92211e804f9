//! Changes of any kind in a short series: E-divisive, with a permutation test of each change.
//!
//! Matteson & James, "A Nonparametric Approach for Multiple Change Point Analysis of Multivariate
//! Data", Journal of the American Statistical Association 109, 2014, sections 2 and 3. The energy
//! distance between two stretches X and Y (exponent 1) is twice the mean distance between their
//! values minus the mean distances within each. The best change of a segment is the split, together
//! with the end of the stretch after it, for which m n / (m + n) times that distance is largest.
//! The best change of all segments is kept if permuting values within the segments found so far
//! rarely gives a larger one; then the search continues within the two new segments.
//!
//! If values depend on their neighbours, their innovations are permuted instead, so that slow
//! swings are not mistaken for changes.
//!
//! A search examines every split and end, n^2 / 2 of them, in constant time each: the sums of the
//! distances within a stretch grow from those within the stretch that starts one value later.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::changepoint::Segmentation;
use crate::changepoint::dependent::{can_tell, correlation, permuted};
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit};
use crate::sample;

/// Maximum length of a series: at this length, each change takes a second or two.
pub const LENGTH_MAX: usize = 2_000;

/// How to look for changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Minimum number of values in a segment, at least 2.
    pub length_min: usize,
    /// A change is kept if its p value is at most this: 0 to 1. It must be at least
    /// 1 / (permutations + 1) for any change to be kept.
    pub significance: f64,
    /// Number of permutations for testing a change.
    pub permutations: u32,
    /// The seed of the permutations.
    pub seed: u64,
}

impl Default for Options {
    /// Five values, 0.05, 199 permutations, seed 0.
    fn default() -> Self {
        Self { length_min: 5, significance: 0.05, permutations: 199, seed: 0 }
    }
}

/// A change that was kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first value after the change.
    pub at: usize,
    /// The scaled energy distance, in the values' unit.
    pub statistic: f64,
    /// (permutations that reach the statistic + 1) / (permutations + 1).
    pub p: f64,
}

/// A series cut at its changes, and the tests of these changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Divided {
    /// The segments.
    pub segmentation: Segmentation,
    /// The changes in the order in which they were found.
    pub changes: Vec<Change>,
    /// Rank correlation of neighbours, 0 to 1, after the changes have been removed.
    pub correlation: f64,
    /// Whether there are enough values to tell a change from a slow swing at this correlation. If
    /// not, there may be more changes than were found.
    pub can_tell: bool,
}

/// Cuts `values`, in the order in which they were measured, where their distribution changes.
///
/// # Errors
/// Refuses values that are not finite, fewer than `length_min` or more than [`LENGTH_MAX`] of them,
/// a `length_min` below 2, and a significance that is outside 0 to 1 or too small for the number of
/// permutations.
pub fn e_divisive(values: &[f64], options: Options) -> Result<Divided, Refusal> {
    check(values, options)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let mut bounds = vec![0, values.len()];
    let mut changes = Vec::new();
    let mut of_neighbours = correlation(values, &bounds);
    while let Some(best) = best_split(values, &bounds, options.length_min) {
        of_neighbours = correlation(values, &with_split(&bounds, best));
        if !can_tell(values.len(), of_neighbours) {
            break;
        }
        let reached = (0..options.permutations)
            .filter(|_| {
                let shuffled = permuted(values, &bounds, of_neighbours, &mut random);
                let other = best_split(&shuffled, &bounds, options.length_min);
                // Equal sums may differ by rounding if they were added in another order.
                other.is_some_and(|it| it.statistic >= best.statistic * (1.0 - 1e-12))
            })
            .count();
        let p = (reached + 1) as f64 / (f64::from(options.permutations) + 1.0);
        if p > options.significance {
            break;
        }
        changes.push(Change { at: best.at, statistic: best.statistic, p });
        bounds.push(best.at);
        bounds.sort_unstable();
    }
    let inner = bounds[1..bounds.len() - 1].to_vec();
    Ok(Divided {
        segmentation: Segmentation::cut(values, inner),
        changes,
        correlation: of_neighbours,
        can_tell: can_tell(values.len(), of_neighbours),
    })
}

/// Number of series in which each change is located again, to see how certain its position is.
const REPETITIONS: u32 = 199;

/// The range of indices in which each change of `divided` lies at `level`, in order of position.
/// The innovations of both stretches around a change are permuted within their own stretch, and the
/// best split is located again. For changes by three deviations, the position is exact in most
/// series; by one deviation, it is within about ten values.
///
/// # Errors
/// Refuses a level outside 0 to 1, and whatever [`e_divisive`] refuses.
pub fn places(
    values: &[f64],
    divided: &Divided,
    level: f64,
    options: Options,
) -> Result<Vec<[usize; 2]>, Refusal> {
    check(values, options)?;
    check_open_unit("the confidence level", level)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let inner = &divided.segmentation.changepoints;
    let bounds = [&[0], inner.as_slice(), &[values.len()]].concat();
    let place = |three: &[usize]| {
        let (stretch, at) = (&values[three[0]..three[2]], three[1] - three[0]);
        let parts = [0, at, stretch.len()];
        let mut found: Vec<usize> = (0..REPETITIONS)
            .filter_map(|_| {
                let other = permuted(stretch, &parts, divided.correlation, &mut random);
                split_of(&other, options.length_min).map(|best| three[0] + best.at)
            })
            .chain([three[1]])
            .collect();
        found.sort_unstable();
        let outside = (1.0 - level) / 2.0 * found.len() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let outside = outside.floor() as usize;
        [found[outside], found[found.len() - 1 - outside]]
    };
    Ok(bounds.windows(3).map(place).collect())
}

/// The bounds, with those of the stretch after a split added.
fn with_split(bounds: &[usize], split: Split) -> Vec<usize> {
    let mut all = [bounds, &[split.at, split.end]].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The largest shift to try, in standard deviations.
const SHIFT_MAX: f64 = 64.0;
/// Number of bisection steps for the smallest shift: to a thousandth of the first one detected.
const HALVINGS: u32 = 10;
/// Number of permutations that show which statistic chance alone reaches.
const PERMUTATIONS_OF_SHIFT: u32 = 39;
/// Number of orders of the values in which a shift is looked for, and in how many of them it must
/// be detected.
const ORDERS: u32 = 20;
const ORDERS_SEEN: usize = 16;

/// The smallest shift of the mean in the middle of a series that [`e_divisive`] would detect in
/// four of five series like this one: this says how steady a series without a change is. Series
/// like this one have its values in other orders, since in the original order they may lean to one
/// side without a change being detected. None if the series is too short for any shift to be
/// detected, or all its values are equal.
///
/// # Errors
/// As for [`e_divisive`].
pub fn least_shift(values: &[f64], options: Options) -> Result<Option<f64>, Refusal> {
    check(values, options)?;
    let deviation = sample::standard_deviation(values);
    if values.len() < 2 * options.length_min || !(deviation > 0.0 && deviation.is_finite()) {
        return Ok(None);
    }
    let bounds = [0, values.len()];
    let middle = values.len() / 2;
    let of_neighbours = correlation(values, &bounds);
    let statistic = |values: &[f64]| {
        best_split(values, &bounds, options.length_min).map_or(0.0, |best| best.statistic)
    };
    // How many of the statistics reached by chance may exceed one that counts as a change.
    let exceeding = (f64::from(PERMUTATIONS_OF_SHIFT) + 1.0) * options.significance;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 40")]
    let exceeding = (exceeding + 1e-9).floor().max(1.0) as usize - 1;
    let is_seen = |shift: f64| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
        let orders: Vec<Vec<f64>> = (0..ORDERS)
            .map(|_| {
                let mut order = permuted(values, &bounds, of_neighbours, &mut random);
                order[middle..].iter_mut().for_each(|value| *value += shift);
                order
            })
            .collect();
        let mut by_chance: Vec<f64> = orders
            .iter()
            .cycle()
            .take(PERMUTATIONS_OF_SHIFT as usize)
            .map(|order| statistic(&permuted(order, &bounds, of_neighbours, &mut random)))
            .collect();
        by_chance.sort_by(|one, other| other.total_cmp(one));
        let taken = by_chance[exceeding] * (1.0 + 1e-12);
        orders.iter().filter(|order| statistic(order) > taken).count() >= ORDERS_SEEN
    };
    let mut seen = deviation / 4.0;
    while !is_seen(seen) {
        seen *= 2.0;
        if seen > SHIFT_MAX * deviation {
            return Ok(None);
        }
    }
    let mut unseen = 0.0;
    for _ in 0..HALVINGS {
        let between = f64::midpoint(unseen, seen);
        *(if is_seen(between) { &mut seen } else { &mut unseen }) = between;
    }
    Ok(Some(seen))
}

fn check(values: &[f64], options: Options) -> Result<(), Refusal> {
    let length_min = options.length_min;
    if length_min < 2 {
        let (what, value) = ("the least length of a segment", length_min as f64);
        return Err(Refusal::OutOfRange { what, value, range: "at least 2" });
    }
    check_count("a search for changes", values.len(), length_min as u64)?;
    if values.len() > LENGTH_MAX {
        let (what, value) = ("the number of values", values.len() as f64);
        return Err(Refusal::OutOfRange { what, value, range: "at most 2000" });
    }
    check_finite(values)?;
    check_open_unit("the significance", options.significance)?;
    if options.significance * (f64::from(options.permutations) + 1.0) < 1.0 {
        let (what, value) = ("the number of permutations", f64::from(options.permutations));
        return Err(Refusal::OutOfRange { what, value, range: "at least 1 / significance - 1" });
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Split {
    at: usize,
    /// Where the stretch after it ends.
    end: usize,
    statistic: f64,
}

/// The best split of all segments; none if all are too short or contain equal values.
fn best_split(values: &[f64], bounds: &[usize], length_min: usize) -> Option<Split> {
    let splits = bounds.windows(2).filter_map(|pair| {
        let inner = split_of(&values[pair[0]..pair[1]], length_min)?;
        Some(Split { at: pair[0] + inner.at, end: pair[0] + inner.end, ..inner })
    });
    splits.max_by(|a, b| a.statistic.total_cmp(&b.statistic))
}

fn split_of(values: &[f64], length_min: usize) -> Option<Split> {
    let n = values.len();
    if n < 2 * length_min {
        return None;
    }
    let mut best = Split { at: 0, end: n, statistic: 0.0 };
    let from_start = distances_from_start(values);
    // For every value, the sum of its distances to the values from `at` up to it.
    let mut to_earlier = vec![0.0; n];
    for at in (length_min..n).rev() {
        let mut within = 0.0;
        for end in at + 1..=n {
            to_earlier[end - 1] += (values[at] - values[end - 1]).abs();
            within += to_earlier[end - 1];
            if end - at < length_min {
                continue;
            }
            let sums = [from_start[at], within, from_start[end]];
            let statistic = scaled_distance(at as f64, (end - at) as f64, sums);
            if statistic > best.statistic {
                best = Split { at, end, statistic };
            }
        }
    }
    (best.statistic > 0.0).then_some(best)
}

/// For every prefix, by its length, the sum of the distances within it.
fn distances_from_start(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for (index, value) in values.iter().enumerate() {
        let to_earlier: f64 = values[..index].iter().map(|earlier| (value - earlier).abs()).sum();
        sums.push(sums[index] + to_earlier);
    }
    sums
}

/// m n / (m + n) times the energy distance, from the sums of distances within the first stretch,
/// the second and both together (section 2 of the paper).
fn scaled_distance(m: f64, n: f64, [first, second, both]: [f64; 3]) -> f64 {
    let between = 2.0 * (both - first - second) / (m * n);
    let within = 2.0 * first / (m * (m - 1.0)) + 2.0 * second / (n * (n - 1.0));
    m * n / (m + n) * (between - within)
}

#[cfg(test)]
mod tests;
