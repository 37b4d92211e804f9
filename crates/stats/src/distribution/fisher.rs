//! Fisher's F distribution: df1 f / df2 are the odds of a beta distribution of df1 / 2 and df2 / 2
//! (Abramowitz & Stegun, "Handbook of Mathematical Functions", equation 26.6.2).

use super::beta::{Beta, UnitPosition};
use super::root::{self, Reading};
use super::{KnownTail, Tails, assert_degrees, chi_square};

/// The probability of a value of at most `f`, with `df1` and `df2` degrees of freedom (`df2` may
/// be infinite).
///
/// # Panics
/// If a number of degrees of freedom is not above 0.
pub fn cdf(f: f64, df1: f64, df2: f64) -> f64 {
    if df2.is_infinite() { chi_square::cdf(f * df1, df1) } else { tails(f, df1, df2).lower }
}

/// The probability of a value above `f`, with `df1` and `df2` degrees of freedom (`df2` may be
/// infinite).
///
/// # Panics
/// If a number of degrees of freedom is not above 0.
pub fn sf(f: f64, df1: f64, df2: f64) -> f64 {
    if df2.is_infinite() { chi_square::sf(f * df1, df1) } else { tails(f, df1, df2).upper }
}

/// The value that is exceeded with probability 1 - `probability`.
///
/// # Panics
/// If `probability` is not strictly between 0 and 1, or a number of degrees of freedom is not above
/// 0.
pub fn quantile(probability: f64, df1: f64, df2: f64) -> f64 {
    if df2.is_infinite() {
        return chi_square::quantile(probability, df1) / df1;
    }
    quantile_of(KnownTail::of_quantile(probability), df1, df2)
}

/// The value that is exceeded with `probability`, which may be far smaller than 1 - p can express.
///
/// # Panics
/// If `probability` is not strictly between 0 and 1, or a number of degrees of freedom is not above
/// 0.
pub fn upper_quantile(probability: f64, df1: f64, df2: f64) -> f64 {
    if df2.is_infinite() {
        return chi_square::upper_quantile(probability, df1) / df1;
    }
    quantile_of(KnownTail::of_upper_quantile(probability), df1, df2)
}

fn tails(f: f64, df1: f64, df2: f64) -> Tails {
    beta(df1, df2).tails(UnitPosition::from_odds(f * (df1 / df2)))
}

fn quantile_of(target: KnownTail, df1: f64, df2: f64) -> f64 {
    let beta = beta(df1, df2);
    df2 / df1 * odds_quantile(target, beta)
}

/// The odds x / y at the position given by `target`.
pub(super) fn odds_quantile(target: KnownTail, beta: Beta) -> f64 {
    root::quantile(target, beta.a / beta.b, |odds| {
        let place = UnitPosition::from_odds(odds);
        let tail = beta.tails(place).at(target.side);
        Reading { tail, density_per_log: beta.density_per_log_odds(place) }
    })
}

fn beta(df1: f64, df2: f64) -> Beta {
    assert_degrees(df1);
    assert_degrees(df2);
    Beta { a: df1 / 2.0, b: df2 / 2.0 }
}
