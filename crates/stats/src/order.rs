//! Intervals of quantiles from order statistics: exact for every distribution.
//!
//! Of n independent values, the number B that falls below the true `q` quantile is binomial (n, q).
//! The order statistics of ranks `low` and `high` therefore enclose that quantile with probability
//! at least P(low <= B < high), whatever the distribution, and exactly that if it is continuous: Le
//! Boudec, "Performance Evaluation of Computer and Communication Systems", section 2.2.2, theorem
//! 2.1; David & Nagaraja, "Order Statistics", 3rd edition, section 7.1.
//!
//! Several pairs of ranks can reach a level. The rule here: each side may miss with at most half of
//! 1 - level, and takes the innermost rank that satisfies this. If one side cannot, because even
//! its extreme value misses more often than that (few values and a quantile far out), it takes the
//! extreme, and the other side gets what remains. So an interval exists as soon as the smallest and
//! largest value together reach the level, that is, once 1 - q^n - (1 - q)^n >= level.

use crate::distribution::binomial;
use crate::interval::Interval;
use crate::refusal::{Refusal, check_open_unit};
use crate::sample::Sample;

/// Minimum share of values beyond a quantile: nobody has enough values to see less.
const BEYOND_MIN: f64 = 1e-16;

/// The ranks of two order statistics that enclose a quantile. Ranks count from 1, the smallest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranks {
    /// Rank of the interval's lower end.
    pub low: u64,
    /// Rank of the interval's upper end.
    pub high: u64,
    /// The probability that the interval contains the quantile: at least the level asked for.
    pub coverage: f64,
}

/// The ranks that enclose the `q` quantile of `n` values at `level` (0.95 for 95 %).
///
/// # Errors
/// Refuses a `q` or `level` outside 0 to 1, and an `n` below [`least_n`].
pub fn ranks(n: u64, q: f64, level: f64) -> Result<Ranks, Refusal> {
    let needed = least_n(q, level)?;
    if n < needed {
        let what = "an interval of this quantile at this level";
        return Err(Refusal::TooFew { what, needed, given: n });
    }
    let allowed = 1.0 - level;
    Ok(innermost_ranks(n, q, allowed))
}

/// Minimum number of values for a two-sided interval of the `q` quantile at `level`.
///
/// # Errors
/// Refuses a `q` or `level` outside 0 to 1, and a `q` below 1e-16.
pub fn least_n(q: f64, level: f64) -> Result<u64, Refusal> {
    check_open_unit("the quantile", q)?;
    check_open_unit("the level", level)?;
    let allowed = 1.0 - level;
    // The more likely of the two extremes alone must not miss more often than allowed. That gives a
    // starting point that the other extreme can only raise by a few.
    let beyond = q.min(1.0 - q);
    if beyond < BEYOND_MIN {
        let (what, range) = ("the quantile", "at least 1e-16 for an interval");
        return Err(Refusal::OutOfRange { what, value: q, range });
    }
    let start = (allowed.ln() / (-beyond).ln_1p()).floor().max(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1, and at most 37 / 1e-16"
    )]
    let mut n = start as u64;
    while extreme_misses(n, q).iter().sum::<f64>() > allowed {
        n += 1;
    }
    Ok(n)
}

/// The interval of the `q` quantile of the distribution that `sample` was drawn from, at `level`.
///
/// # Errors
/// Refuses a `q` or `level` outside 0 to 1, and a sample smaller than [`least_n`].
pub fn quantile_interval(sample: &Sample, q: f64, level: f64) -> Result<Interval, Refusal> {
    let ranks = ranks(sample.len() as u64, q, level)?;
    let at = |rank: u64| {
        let index = usize::try_from(rank - 1).expect("a rank is at most the sample's length");
        sample.ascending()[index]
    };
    Ok(Interval { low: at(ranks.low), high: at(ranks.high), level })
}

/// The interval of the median of the distribution that `sample` was drawn from, at `level`.
///
/// # Errors
/// Refuses a `level` outside 0 to 1, and a sample too small for it (6 values are needed at 95 %).
pub fn median_interval(sample: &Sample, level: f64) -> Result<Interval, Refusal> {
    quantile_interval(sample, 0.5, level)
}

fn innermost_ranks(n: u64, q: f64, allowed: f64) -> Ranks {
    let budget = MissBudget::new(n, q, allowed);
    // The lower end misses if fewer than `low` values are below the quantile. `low - 1` is the last
    // count whose cumulative probability fits into the budget; rank 1 always does.
    let low = partition_point(1, n, |rank| binomial::cdf(rank - 1, n, q) <= budget.low).max(2) - 1;
    // The upper end misses if at least `high` values do.
    let high = partition_point(1, n, |rank| binomial::sf(rank - 1, n, q) > budget.high).min(n);
    let missed = binomial::cdf(low - 1, n, q) + binomial::sf(high - 1, n, q);
    Ranks { low, high, coverage: 1.0 - missed }
}

/// How often each end of an interval may miss.
struct MissBudget {
    low: f64,
    high: f64,
}

impl MissBudget {
    fn new(n: u64, q: f64, allowed: f64) -> Self {
        let half = allowed / 2.0;
        let [low_extreme, high_extreme] = extreme_misses(n, q);
        if low_extreme > half {
            Self { low: low_extreme, high: allowed - low_extreme }
        } else if high_extreme > half {
            Self { low: allowed - high_extreme, high: high_extreme }
        } else {
            Self { low: half, high: half }
        }
    }
}

/// The probabilities that all `n` values are above the `q` quantile, and that all are below.
fn extreme_misses(n: u64, q: f64) -> [f64; 2] {
    [(n as f64 * (-q).ln_1p()).exp(), q.powf(n as f64)]
}

/// The first of `first..=last` for which `holds` is false, `last + 1` if there is none. `holds`
/// must be true up to some point and false from there on.
fn partition_point(first: u64, last: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut from, mut to) = (first, last.saturating_add(1));
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_that_nobody_can_see_are_refused() {
        for q in [1e-300, 1e-17] {
            assert!(matches!(least_n(q, 0.95), Err(Refusal::OutOfRange { .. })), "{q}");
        }
        // ln(0.05) / ln(1 - 1e-12)
        let n = least_n(1e-12, 0.95).unwrap() as f64;
        assert!((n / 2.995_732_273_554e12 - 1.0).abs() < 1e-9, "{n}");
    }

    #[test]
    fn median_ranks_are_those_of_the_published_tables() {
        let table = [(6, 1, 6), (10, 2, 9), (20, 6, 15), (50, 18, 33), (100, 40, 61)];
        for (n, low, high) in table {
            let got = ranks(n, 0.5, 0.95).unwrap();
            assert_eq!((got.low, got.high), (low, high), "n = {n}");
            assert!(got.coverage >= 0.95, "n = {n}");
        }
    }

    #[test]
    fn the_least_n_of_each_percentile() {
        let table = [(0.5, 6), (0.9, 29), (0.95, 59), (0.99, 299), (0.999, 2995)];
        for (q, least) in table {
            assert_eq!(least_n(q, 0.95), Ok(least), "q = {q}");
            assert!(ranks(least, q, 0.95).unwrap().coverage >= 0.95, "q = {q}");
            let refused = ranks(least - 1, q, 0.95).unwrap_err();
            assert!(matches!(refused, Refusal::TooFew { needed, given, .. }
                    if needed == least && given == least - 1));
        }
    }

    #[test]
    fn no_median_interval_below_six_values() {
        for n in 0..=5 {
            assert!(ranks(n, 0.5, 0.95).is_err(), "n = {n}");
        }
    }

    // From SciPy 1.17.1, with `b = scipy.stats.binom` and `a = .05/2`:
    // `[(n, q, int(b.ppf(a, n, q)), int(b.isf(a, n, q)) + 1) for n, q in ...]`, where the lower
    // rank is the first k with P(B <= k) > a, and the upper the first u with P(B >= u) <= a.
    #[test]
    fn ranks_of_large_samples_agree_with_scipy() {
        let table = [
            (399_000, 0.5, 198_881, 200_120),
            (1_000, 0.5, 469, 532),
            (1_000, 0.9, 881, 919),
            (1_000, 0.99, 983, 997),
            (12_345, 0.999, 12_325, 12_340),
            (1_000_000, 0.999, 998_938, 999_062),
            (1_000_000, 0.5, 499_020, 500_981),
            (100_000_000, 0.5, 49_990_200, 50_009_801),
            (100_000_000, 0.99, 98_998_049, 99_001_951),
            (100_000_000, 0.9995, 99_949_561, 99_950_439),
            (1_000_000_000, 0.999999, 999_998_938, 999_999_063),
        ];
        for (n, q, low, high) in table {
            let got = ranks(n, q, 0.95).unwrap();
            assert_eq!((got.low, got.high), (low, high), "n = {n}, q = {q}");
        }
    }

    #[test]
    fn every_interval_reaches_its_level_and_no_narrower_equal_tailed_one_does() {
        for q in [0.01, 0.25, 0.5, 0.9, 0.99] {
            for level in [0.5, 0.9, 0.95, 0.99] {
                let least = least_n(q, level).unwrap();
                for n in least..least + 60 {
                    let got = ranks(n, q, level).unwrap();
                    assert!(got.coverage >= level - 1e-12, "n = {n}, q = {q}, level = {level}");
                    assert!(1 <= got.low && got.low < got.high && got.high <= n);
                    let half = (1.0 - level) / 2.0;
                    assert!(
                        binomial::cdf(got.low, n, q) > half || got.high == n,
                        "low end too far out"
                    );
                    assert!(
                        got.low == 1 || binomial::sf(got.high - 2, n, q) > half,
                        "high end too far out"
                    );
                }
            }
        }
    }

    #[test]
    fn a_low_quantile_mirrors_a_high_one() {
        for n in [29, 50, 100, 999] {
            let (low, high) = (ranks(n, 0.1, 0.95).unwrap(), ranks(n, 0.9, 0.95).unwrap());
            assert_eq!((low.low, low.high), (n + 1 - high.high, n + 1 - high.low), "n = {n}");
        }
    }

    #[test]
    fn an_interval_is_made_of_the_values_at_its_ranks() {
        let sample = Sample::new([5.0, 1.0, 3.0, 2.0, 4.0, 6.0]).unwrap();
        let interval = median_interval(&sample, 0.95).unwrap();
        assert_eq!(interval, Interval { low: 1.0, high: 6.0, level: 0.95 });
    }

    #[test]
    fn levels_and_quantiles_outside_their_range_are_refused() {
        for bad in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(least_n(bad, 0.95).is_err(), "{bad}");
            assert!(ranks(100, 0.5, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_most_extreme_requests_end() {
        let almost_one = 1.0 - f64::EPSILON / 2.0;
        assert!(least_n(almost_one, almost_one).is_ok());
        assert!(ranks(u64::MAX, 0.5, almost_one).is_ok());
        assert!(ranks(u64::MAX, almost_one, 0.95).is_ok());
    }
}
