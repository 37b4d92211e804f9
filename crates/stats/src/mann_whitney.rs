//! The Mann-Whitney test on two independent samples, and by how much one is shifted.
//!
//! All values are ranked together, tied ones sharing their mean rank. U counts the pairs of a
//! first and a second value in which the first is larger, ties by half. Were the two samples drawn
//! alike, each choice of ranks for the first would be as likely as another (Hollander & Wolfe,
//! "Nonparametric Statistical Methods", 2nd edition, section 4.1; Conover, "Practical
//! Nonparametric Statistics", 3rd edition, section 5.1). For few values those choices are counted
//! out, ties included; beyond, U is taken as normal, with a correction for ties and one for its
//! steps.

use std::cmp::Ordering;

use crate::distribution::normal;
use crate::refusal::{Refusal, check_count, check_finite};

/// The largest product of the smaller sample's size with the number of all values for which the
/// choices are counted out: 31 values in each sample, or 3 and 600.
pub const EXACT_PRODUCT_MAX: usize = 2_000;

/// How a p value was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All choices of ranks were counted out.
    Exact,
    /// U was taken as normal.
    Normal,
}

/// What the ranks say of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// The number of pairs in which the first sample's value is the larger, ties by half.
    pub u: f64,
    /// Two-sided p value of "both samples are drawn alike".
    pub p: f64,
    /// How p was reached.
    pub method: Method,
    /// By how much the first sample is shifted up against the second: the median of all
    /// differences of a first and a second value (Hodges & Lehmann; Hollander & Wolfe, section
    /// 4.2).
    pub shift: f64,
}

/// Tests whether values of `first` tend to be larger, or smaller, than those of `second`.
///
/// Samples in which all values are the same one have p = 1.
///
/// # Errors
/// Refuses an empty sample and values that are not finite.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Result<MannWhitney, Refusal> {
    for values in [first, second] {
        check_count("a Mann-Whitney test", values.len(), 1)?;
        check_finite(values)?;
    }
    let ranked = DoubledRanks::new(first, second);
    let product = ranked.lengths[0].min(ranked.lengths[1]) * ranked.ranks.len();
    let (method, p) = if product <= EXACT_PRODUCT_MAX {
        (Method::Exact, ranked.exact_p())
    } else {
        (Method::Normal, ranked.normal_p())
    };
    Ok(MannWhitney { u: ranked.u(), p, method, shift: shift(first, second) })
}

/// Ranks times two, which makes whole numbers of the halves that ties give.
struct DoubledRanks {
    /// Of all values, ascending.
    ranks: Vec<usize>,
    /// The number of values in each group of equal ones.
    group_sizes: Vec<usize>,
    /// The sizes of the first and the second sample.
    lengths: [usize; 2],
    /// The sum of the first sample's ranks, times two.
    of_first: usize,
}

impl DoubledRanks {
    fn new(first: &[f64], second: &[f64]) -> Self {
        let in_first = first.iter().map(|&value| (value, true));
        let mut all: Vec<(f64, bool)> =
            in_first.chain(second.iter().map(|&value| (value, false))).collect();
        // Not the total order, which tells the two zeros apart.
        all.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
        let (mut ranks, mut group_sizes, mut of_first) = (Vec::new(), Vec::new(), 0);
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            // The mean of ranks r + 1 to r + k is r + (k + 1) / 2.
            let rank = 2 * ranks.len() + group.len() + 1;
            of_first += rank * group.iter().filter(|one| one.1).count();
            ranks.extend(std::iter::repeat_n(rank, group.len()));
            group_sizes.push(group.len());
        }
        Self { ranks, group_sizes, lengths: [first.len(), second.len()], of_first }
    }

    /// The rank sum of the first sample less the least it can be.
    fn u(&self) -> f64 {
        let n = self.lengths[0];
        (self.of_first - n * (n + 1)) as f64 / 2.0
    }

    /// Counts, for every sum, the choices of ranks for the smaller sample that give it. Counts
    /// beyond 2^53 round, in the sixteenth digit.
    fn exact_p(&self) -> f64 {
        let all: usize = self.ranks.iter().sum();
        let (size, sum) = if self.lengths[0] <= self.lengths[1] {
            (self.lengths[0], self.of_first)
        } else {
            (self.lengths[1], all - self.of_first)
        };
        let largest: usize = self.ranks.iter().rev().take(size).sum();
        // ways[k][s]: the choices of k ranks among those seen so far whose sum is s.
        let mut ways = vec![vec![0.0_f64; largest + 1]; size + 1];
        ways[0][0] = 1.0;
        for &rank in &self.ranks {
            for chosen in (1..=size).rev() {
                let (before, after) = ways.split_at_mut(chosen);
                let fewer = &before[chosen - 1];
                for (way, one_fewer) in after[0][rank.min(largest + 1)..].iter_mut().zip(fewer) {
                    *way += one_fewer;
                }
            }
        }
        let ways = &ways[size];
        let total: f64 = ways.iter().sum();
        let at_most: f64 = ways[..=sum].iter().sum();
        let at_least: f64 = ways[sum..].iter().sum();
        (2.0 * at_most.min(at_least) / total).min(1.0)
    }

    /// Hollander & Wolfe, section 4.1, the large-sample approximation with its correction of the
    /// variance for ties; half a step towards the mean allows for U being a count.
    fn normal_p(&self) -> f64 {
        let [a, b] = self.lengths.map(|length| length as f64);
        let n = a + b;
        let ties: f64 =
            self.group_sizes.iter().map(|&size| size as f64).map(|t| t.powi(3) - t).sum();
        let variance = a * b / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0)));
        if self.group_sizes.len() == 1 {
            return 1.0;
        }
        let beyond = (self.u() - a * b / 2.0).abs() - 0.5;
        (2.0 * normal::sf(beyond / variance.sqrt())).min(1.0)
    }
}

/// The median of the differences of every first and every second value, without writing them out:
/// the number of differences up to a bound takes one pass through both sorted samples, and the
/// bound is searched for by halving among the f64.
fn shift(first: &[f64], second: &[f64]) -> f64 {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let (first, second) = (sorted(first), sorted(second));
    let pairs = first.len() * second.len();
    let upper = difference_of_rank(&first, &second, pairs / 2 + 1);
    if pairs % 2 == 1 {
        return upper;
    }
    f64::midpoint(difference_of_rank(&first, &second, pairs / 2), upper)
}

/// The difference of which `rank` differences are no larger, and no smaller one is such.
fn difference_of_rank(first: &[f64], second: &[f64], rank: usize) -> f64 {
    let smallest = first[0] - second[second.len() - 1];
    let largest = first[first.len() - 1] - second[0];
    let (mut low, mut high) = (place(smallest), place(largest));
    while low < high {
        // The mean of both, rounded down, which does not overflow.
        let middle = (low & high) + ((low ^ high) >> 1);
        if count_up_to(first, second, at_place(middle)) >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    at_place(low)
}

/// How many differences are at most `bound`.
fn count_up_to(first: &[f64], second: &[f64], bound: f64) -> usize {
    let (mut count, mut too_small) = (0, 0);
    for value in first {
        // The larger `value`, the more of the second's smallest leave too large a difference.
        while too_small < second.len() && value - second[too_small] > bound {
            too_small += 1;
        }
        count += second.len() - too_small;
    }
    count
}

/// Numbers the f64 in ascending order, -0.0 just before 0.0.
fn place(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    // Below zero a larger magnitude has larger bits.
    bits ^ (((bits >> 63).cast_unsigned() >> 1).cast_signed())
}

/// The f64 at a place.
fn at_place(place: i64) -> f64 {
    let bits = place ^ (((place >> 63).cast_unsigned() >> 1).cast_signed());
    f64::from_bits(bits.cast_unsigned())
}

#[cfg(test)]
mod tests;
