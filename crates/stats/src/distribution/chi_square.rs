//! The chi-square distribution: twice a gamma distribution of shape df / 2 (Abramowitz & Stegun,
//! "Handbook of Mathematical Functions", equation 26.4.19).

use super::root::{self, Reading};
use super::{KnownTail, Tails, assert_degrees, gamma};

/// The probability of a value of at most `x`, with `df` degrees of freedom.
///
/// # Panics
/// If `df` is not above 0.
pub fn cdf(x: f64, df: f64) -> f64 {
    tails(x, df).lower
}

/// The probability of a value above `x`, with `df` degrees of freedom.
///
/// # Panics
/// If `df` is not above 0.
pub fn sf(x: f64, df: f64) -> f64 {
    tails(x, df).upper
}

/// The value that is exceeded with probability 1 - `probability`.
///
/// # Panics
/// If `probability` is not strictly between 0 and 1, or `df` not above 0.
pub fn quantile(probability: f64, df: f64) -> f64 {
    quantile_of(KnownTail::of_quantile(probability), df)
}

/// The value that is exceeded with `probability`, which may be far smaller than 1 - p can express.
///
/// # Panics
/// If `probability` is not strictly between 0 and 1, or `df` not above 0.
pub fn upper_quantile(probability: f64, df: f64) -> f64 {
    quantile_of(KnownTail::of_upper_quantile(probability), df)
}

fn tails(x: f64, df: f64) -> Tails {
    assert_degrees(df);
    gamma::tails(df / 2.0, x / 2.0)
}

fn quantile_of(target: KnownTail, df: f64) -> f64 {
    assert_degrees(df);
    let shape = df / 2.0;
    2.0 * root::quantile(target, shape, |x| Reading {
        tail: gamma::tails(shape, x).at(target.side),
        density_per_log: gamma::density_per_log(shape, x),
    })
}
