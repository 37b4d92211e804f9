//! Student's t distribution: t^2 / df are the odds of a beta distribution of 1/2 and df / 2
//! (Abramowitz & Stegun, "Handbook of Mathematical Functions", equation 26.7.1).

use super::beta::{Beta, UnitPosition};
use super::fisher::odds_quantile;
use super::{KnownTail, Side, Tails, assert_degrees, assert_open_unit, normal};

/// Beyond these odds, a tail is a power of t to the last digit; further out, odds overflow.
const ODDS_FARTHEST: f64 = 1e280;

/// The probability of a value of at most `t`, with `df` degrees of freedom (may be infinite).
///
/// # Panics
/// If `df` is not above 0.
pub fn cdf(t: f64, df: f64) -> f64 {
    sf(-t, df)
}

/// The probability of a value above `t`, with `df` degrees of freedom (may be infinite).
///
/// # Panics
/// If `df` is not above 0.
pub fn sf(t: f64, df: f64) -> f64 {
    let outside = two_sided_p(t, df);
    if t >= 0.0 { outside / 2.0 } else { 1.0 - outside / 2.0 }
}

/// The probability that t with `df` degrees of freedom (may be infinite) is at least |`t`| away
/// from 0, on either side.
///
/// # Panics
/// If `df` is not above 0.
pub fn two_sided_p(t: f64, df: f64) -> f64 {
    assert_degrees(df);
    if df.is_infinite() {
        return 2.0 * normal::sf(t.abs());
    }
    tails_of_square(t.abs(), df).upper
}

/// The `probability` quantile of t with `df` degrees of freedom (may be infinite).
///
/// # Panics
/// If `probability` is not strictly between 0 and 1, or `df` not above 0.
pub fn quantile(probability: f64, df: f64) -> f64 {
    assert_open_unit(probability);
    assert_degrees(df);
    if df.is_infinite() {
        return normal::quantile(probability);
    }
    let above_median = probability - 0.5;
    if above_median == 0.0 {
        return 0.0;
    }
    // Near the median, the difference from it is exact; further out, the tail is.
    let target = if above_median.abs() < 0.25 {
        KnownTail { side: Side::Lower, probability: 2.0 * above_median.abs() }
    } else {
        KnownTail { side: Side::Upper, probability: 2.0 * probability.min(1.0 - probability) }
    };
    root_of_square(target, df).copysign(above_median)
}

/// The t above 0 whose square has the tail `target`.
fn root_of_square(target: KnownTail, df: f64) -> f64 {
    if target.side == Side::Upper {
        let excess = tail_at_farthest(df) / target.probability;
        if excess > 1.0 {
            return (df * ODDS_FARTHEST).sqrt() * excess.powf(1.0 / df);
        }
    }
    (df * odds_quantile(target, beta(df))).sqrt()
}

/// The tails of t^2 at the square of `t`, which is at least 0.
fn tails_of_square(t: f64, df: f64) -> Tails {
    let odds = t * (t / df);
    if odds <= ODDS_FARTHEST {
        return beta(df).tails(UnitPosition::from_odds(odds));
    }
    let root_ratio = (df * ODDS_FARTHEST).sqrt() / t;
    Tails::from_upper(tail_at_farthest(df) * root_ratio.powf(df))
}

fn tail_at_farthest(df: f64) -> f64 {
    beta(df).tails(UnitPosition::from_odds(ODDS_FARTHEST)).upper
}

fn beta(df: f64) -> Beta {
    Beta { a: 0.5, b: df / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::assert_relative;

    // From SciPy 1.17.1, confirmed by mpmath 1.4.1: `[(df, t.ppf(.975, df), t.ppf(.9995, df)) for
    // df in (1, 2, 9, 30)]` of `scipy.stats.t`.
    const SCIPY: [(f64, f64, f64); 4] = [
        (1.0, 12.706204736174694, 636.6192487687897),
        (2.0, 4.302652729749462, 31.599054576445365),
        (9.0, 2.262157162798205, 4.780912585931217),
        (30.0, 2.0422724563012378, 3.6459586350420627),
    ];

    #[test]
    fn quantiles_agree_with_scipy() {
        for (df, q975, q9995) in SCIPY {
            assert_relative(quantile(0.975, df), q975, 1e-12);
            assert_relative(quantile(0.0005, df), -q9995, 1e-12);
        }
    }

    // With 1 degree of freedom, the Cauchy distribution: sf(t) = atan(1 / t) / pi; with 2, sf(t) =
    // 1 / (r (r + t)) with r = sqrt(2 + t^2).
    #[test]
    fn one_and_two_degrees_of_freedom_have_closed_forms() {
        for t in [1e-9, 0.1, 1.0, 1.7, 2.0, 30.0, 1e9, 1e140] {
            assert_relative(sf(t, 1.0), (1.0 / t).atan() / std::f64::consts::PI, 1e-13);
            let r = 2f64.sqrt().hypot(t);
            assert_relative(sf(t, 2.0), 1.0 / r / (r + t), 1e-13);
        }
        assert_relative(sf(1e290, 1.0), 1e-290 / std::f64::consts::PI, 1e-12);
    }

    #[test]
    fn quantiles_of_heavy_tails_reach_as_far_as_an_f64() {
        assert_relative(quantile(1e-300, 1.0), -1e300 / std::f64::consts::PI, 1e-12);
        assert_relative(cdf(quantile(1e-200, 0.7), 0.7), 1e-200, 1e-12);
    }

    #[test]
    fn near_the_median_quantiles_keep_their_digits() {
        // The density at 0 with 1 degree of freedom is 1 / pi.
        let step = 2f64.powi(-40);
        assert_relative(quantile(0.5 + step, 1.0), step * std::f64::consts::PI, 1e-14);
        assert_eq!(quantile(0.5, 7.5), 0.0);
    }

    #[test]
    fn infinitely_many_degrees_of_freedom_are_the_normal_distribution() {
        for t in [-3.0, 0.5, 6.0] {
            assert_relative(sf(t, f64::INFINITY), normal::sf(t), 1e-15);
            assert_relative(sf(t, 1e15), normal::sf(t), 1e-12);
        }
        assert_relative(quantile(0.975, f64::INFINITY), normal::quantile(0.975), 1e-15);
    }

    #[test]
    fn no_distance_is_certain_and_an_infinite_one_impossible() {
        assert_eq!(two_sided_p(0.0, 4.0), 1.0);
        assert_eq!(two_sided_p(f64::INFINITY, 4.0), 0.0);
        assert!(two_sided_p(1e300, 1e6) < 1e-300);
    }
}
