//! The binomial distribution: the number of successes in `n` independent trials.
//!
//! P(B > k) is the incomplete beta function of k + 1 and n - k (Abramowitz & Stegun, "Handbook of
//! Mathematical Functions", equation 26.5.24), whose cost does not grow with n.

use super::Tails;
use super::beta::{Beta, UnitPosition};

/// The probability of at most `k` successes in `n` trials, each of probability `p`.
///
/// # Panics
/// If `p` is not between 0 and 1.
pub fn cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 1.0 } else { tails(k, n, p).upper }
}

/// The probability of more than `k` successes in `n` trials, each of probability `p`.
///
/// # Panics
/// If `p` is not between 0 and 1.
pub fn sf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 0.0 } else { tails(k, n, p).lower }
}

fn tails(k: u64, n: u64, p: f64) -> Tails {
    assert!((0.0..=1.0).contains(&p), "a probability lies between 0 and 1, and {p} does not");
    let beta = Beta { a: k as f64 + 1.0, b: (n - k) as f64 };
    beta.tails(UnitPosition { x: p, y: 1.0 - p })
}
