//! Values that depend on their neighbours: permuted in blocks that keep neighbours together.
//!
//! A permutation test supposes that any order of the values is as likely as another. Where each
//! value resembles the one before, slow swings are taken for changes, so blocks of values change
//! places instead (Künsch, "The Jackknife and the Bootstrap for General Stationary Observations",
//! Annals of Statistics 17(3), 1989). They have twice the length that estimates the variance of a
//! mean best where each value depends on the one before alone (Carlstein, Annals of Statistics
//! 14(3), 1986): with that length, 15 to 35 % of 30 to 60 such values without a change were cut at
//! 5 %; with twice as much, 5 to 16 % (of independent values 2 to 10 %). The price: of 20 values, a
//! shift by three deviations is found four times in five, instead of always. The dependence is that
//! of what is left once the best change is taken away, or each change would make its own values
//! dependent; and of ranks, which outliers do not decide.

use rand::RngExt as _;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::sample;

/// With fewer blocks there are not enough orders of them.
const BLOCKS_LEAST: usize = 6;
/// How many times as long as Carlstein's blocks are.
const TIMES_AS_LONG: f64 = 2.0;

/// Rank correlation of neighbours in `values`, 0 to 1, about the means of the stretches between
/// these changes.
#[must_use]
pub fn correlation_of_neighbours(values: &[f64], changepoints: &[usize]) -> f64 {
    let bounds = [&[0], changepoints, &[values.len()]].concat();
    Dependence::of(values, &bounds).correlation
}

/// So much of a correlation is taken for chance, in standard errors of independent values: with
/// more, short series that do depend are cut; with less, independent ones are left with few blocks.
const BY_CHANCE: f64 = 0.35;

/// How values depend on their neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dependence {
    /// Rank correlation of neighbours, 0 to 1.
    pub(super) correlation: f64,
    /// Values in a block.
    pub(super) block: usize,
}

impl Dependence {
    /// That of `values` about the means of the stretches between `bounds`.
    pub(super) fn of(values: &[f64], bounds: &[usize]) -> Self {
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
        let correlation = seen + stretches * (1.0 + 3.0 * seen) / n;
        let correlation = (correlation - BY_CHANCE / n.sqrt()).clamp(0.0, 0.99);
        let times = 2.0 * correlation / (1.0 - correlation * correlation);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is small")]
        let block = (TIMES_AS_LONG * times.powf(2.0 / 3.0) * n.cbrt()).round().max(1.0) as usize;
        Self { correlation, block }
    }

    /// Whether so many values are enough to tell a change from a swing.
    pub(super) fn can_tell(self, values: usize) -> bool {
        values >= BLOCKS_LEAST * self.block
    }
}

/// `values` in another order within each stretch between `bounds`: blocks of so many change places,
/// wherever the first begins.
pub(super) fn permuted(
    values: &[f64],
    bounds: &[usize],
    block: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<f64> {
    let mut shuffled = Vec::with_capacity(values.len());
    for pair in bounds.windows(2) {
        let mut stretch = values[pair[0]..pair[1]].to_vec();
        if block == 1 {
            stretch.shuffle(random);
            shuffled.extend(stretch);
            continue;
        }
        let length = stretch.len();
        stretch.rotate_left(random.random_range(0..length));
        let mut blocks: Vec<&[f64]> = stretch.chunks(block).collect();
        blocks.shuffle(random);
        shuffled.extend(blocks.concat());
    }
    shuffled
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
