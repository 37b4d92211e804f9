//! Wilcoxon's signed-rank test on paired log ratios: a second opinion that supposes no normality.
//!
//! The pairs are ranked by the size of their log ratio; W+ is the sum of the ranks of those above
//! 0. Were the two targets alike, each rank would be as likely above 0 as below (Conover,
//! "Practical Nonparametric Statistics", 3rd edition, section 5.7; Hollander & Wolfe,
//! "Nonparametric Statistical Methods", 2nd edition, section 3.1). Pairs that are equal are left
//! out, as Wilcoxon did; tied sizes share their mean rank. Up to [`EXACT_PAIRS_MAX`] pairs the
//! distribution of W+ is counted out, ties included; beyond, it is taken as normal.

use crate::distribution::normal;
use crate::paired::LogRatios;
use crate::refusal::{Refusal, check_count};

/// The most pairs whose signs are counted out exactly.
pub const EXACT_PAIRS_MAX: usize = 25;

/// What the signed ranks say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// The sum of the ranks of the pairs whose first value is the larger.
    pub w_plus: f64,
    /// Two-sided p value of "first and second are alike".
    pub p: f64,
    /// The number of pairs that differ, on which the test rests.
    pub n_differing: u64,
}

/// Tests whether `first[i]` tends to be larger, or smaller, than `second[i]`.
///
/// Series that are equal in every pair have p = 1.
///
/// # Errors
/// Refuses no pairs, series that differ in length, and values that are not finite and above 0.
pub fn signed_rank(first: &[f64], second: &[f64]) -> Result<SignedRank, Refusal> {
    let logs = LogRatios::new(first, second)?;
    check_count("a signed-rank test", logs.values.len(), 1)?;
    let ranked = DoubledRanks::new(&logs);
    let n = ranked.ranks.len();
    let p = if n <= EXACT_PAIRS_MAX { ranked.exact_p() } else { ranked.normal_p() };
    Ok(SignedRank { w_plus: ranked.w_plus as f64 / 2.0, p, n_differing: n as u64 })
}

/// Ranks times two, which makes whole numbers of the halves that ties give.
struct DoubledRanks {
    /// One per differing pair, in ascending order of size.
    ranks: Vec<usize>,
    /// The number of pairs in each group of one size.
    group_sizes: Vec<usize>,
    /// W+ times two.
    w_plus: usize,
}

impl DoubledRanks {
    fn new(logs: &LogRatios) -> Self {
        let mut differing: Vec<f64> =
            logs.values.iter().copied().filter(|&value| !logs.is_zero(value)).collect();
        differing.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let groups = differing.chunk_by(|a, b| logs.are_equal(a.abs(), b.abs()));
        let (mut ranks, mut group_sizes, mut w_plus) = (Vec::new(), Vec::new(), 0);
        for group in groups {
            // The mean of ranks r + 1 to r + k is r + (k + 1) / 2.
            let rank = 2 * ranks.len() + group.len() + 1;
            w_plus += rank * group.iter().filter(|&&value| value > 0.0).count();
            ranks.extend(std::iter::repeat_n(rank, group.len()));
            group_sizes.push(group.len());
        }
        Self { ranks, group_sizes, w_plus }
    }

    /// Counts, for every sum, the choices of signs that give it. 2^25 choices are exact in f64.
    fn exact_p(&self) -> f64 {
        let total: usize = self.ranks.iter().sum();
        let mut ways = vec![0.0; total + 1];
        ways[0] = 1.0;
        let mut reached = 0;
        for &rank in &self.ranks {
            for sum in (0..=reached).rev() {
                ways[sum + rank] += ways[sum];
            }
            reached += rank;
        }
        let all: f64 = ways.iter().sum();
        let at_most: f64 = ways[..=self.w_plus].iter().sum();
        let at_least: f64 = ways[self.w_plus..].iter().sum();
        (2.0 * at_most.min(at_least) / all).min(1.0)
    }

    /// Hollander & Wolfe, section 3.1, the large-sample approximation with its correction of the
    /// variance for ties.
    fn normal_p(&self) -> f64 {
        let n = self.ranks.len() as f64;
        let ties: f64 =
            self.group_sizes.iter().map(|&size| size as f64).map(|t| t.powi(3) - t).sum();
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
        let z = (self.w_plus as f64 / 2.0 - n * (n + 1.0) / 4.0) / variance.sqrt();
        (2.0 * normal::sf(z.abs())).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The test of log ratios `ln(2) * halves[i]`, whose sizes tie where `halves` do.
    fn of_steps(steps: &[i32]) -> SignedRank {
        let first: Vec<f64> = steps.iter().map(|&step| 2f64.powi(step)).collect();
        signed_rank(&first, &vec![1.0; steps.len()]).unwrap()
    }

    fn assert_close(got: f64, wanted: f64) {
        assert!((got - wanted).abs() <= 1e-12, "{got} is not {wanted}");
    }

    // From SciPy 1.17.1: `[scipy.stats.wilcoxon(d, method="exact")[:] for d in (`
    // `[1, 2, 3, 4, 5, 6], [-1, 2, 3, -4, 5, 6, 7, 8], list(range(-3, 0)) + list(range(4, 26)))]`,
    // with the statistic for `alternative="greater"`.
    #[test]
    fn exact_p_without_ties_agrees_with_scipy() {
        let got = of_steps(&[1, 2, 3, 4, 5, 6]);
        assert_close(got.w_plus, 21.0);
        assert_close(got.p, 0.03125);
        let got = of_steps(&[-1, 2, 3, -4, 5, 6, 7, 8]);
        assert_close(got.w_plus, 31.0);
        assert_close(got.p, 0.078125);
        let got = of_steps(&(-3..0).chain(4..26).collect::<Vec<_>>());
        assert_close(got.w_plus, 319.0);
        assert_close(got.p, 8.344650268554688e-07);
    }

    // Every choice of signs, counted out in Python:
    // `r = scipy.stats.rankdata(np.abs(d)); w = (r * (d > 0)).sum()`;
    // `s = [np.dot(r, c) for c in itertools.product([0, 1], repeat=len(r))]`;
    // `min(1, 2 * min(np.mean(np.array(s) <= w), np.mean(np.array(s) >= w)))`,
    // the zeros of `d` left out before.
    #[test]
    fn exact_p_with_ties_and_zeros_agrees_with_full_enumeration() {
        let got = of_steps(&[1, 1, 1, -1, 2]);
        assert_close(got.w_plus, 12.5);
        assert_close(got.p, 0.3125);
        let got = of_steps(&[3, -3, 3, 3, 0, 5, 5, -1, 2, 2]);
        assert_close(got.w_plus, 38.5);
        assert_close(got.p, 0.0625);
        let got = of_steps(&[1, 1, -1, -1]);
        assert_close(got.w_plus, 5.0);
        assert_close(got.p, 1.0);
    }

    // From SciPy 1.17.1: `d = [(i * 7) % 11 - 3 for i in range(1, 41)]`;
    // `scipy.stats.wilcoxon(d, method="approx", correction=False).pvalue`.
    #[test]
    fn the_normal_approximation_agrees_with_scipy() {
        let steps: Vec<i32> = (1..41).map(|i| (i * 7) % 11 - 3).collect();
        let got = of_steps(&steps);
        assert_close(got.p, 0.00028924663357590864);
        assert_eq!(got.n_differing, 36);
    }

    #[test]
    fn equal_series_are_alike() {
        let got = signed_rank(&[3.0, 4.0], &[3.0, 4.0]).unwrap();
        assert_eq!(got, SignedRank { w_plus: 0.0, p: 1.0, n_differing: 0 });
    }

    #[test]
    fn swapping_the_series_keeps_p() {
        let (a, b) = ([1.0, 5.0, 2.5, 9.0, 3.0], [2.0, 4.0, 2.0, 3.0, 1.0]);
        let (there, back) = (signed_rank(&a, &b).unwrap(), signed_rank(&b, &a).unwrap());
        assert_close(there.p, back.p);
        assert_close(there.w_plus + back.w_plus, 15.0);
    }

    #[test]
    fn bad_pairs_are_refused() {
        assert!(signed_rank(&[], &[]).is_err());
        assert!(signed_rank(&[1.0], &[0.0]).is_err());
        assert!(signed_rank(&[1.0], &[1.0, 2.0]).is_err());
    }
}
