//! The interval of a ratio of two means, by Fieller's theorem.
//!
//! The interval of m1 / m2 holds every ratio r for which m1 - r m2 is not told apart from 0: those
//! with (m1 - r m2)^2 <= t^2 (v11 - 2 r v12 + r^2 v22), v11 and v22 being the estimated variances
//! of the means and v12 their covariance, 0 for independent samples (Fieller, "Some Problems in
//! Interval Estimation", Journal of the Royal Statistical Society B 16(2), 1954). They form an
//! interval only where m2 itself is told apart from 0, t^2 v22 < m2^2; elsewhere they are two rays
//! or everything, and the answer is refused.

use crate::distribution::student;
use crate::interval::Interval;
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit, check_spread};
use crate::sample;
use crate::welch::satterthwaite;

/// A ratio of means with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioOfMeans {
    /// The mean of the numerator divided by that of the denominator.
    pub ratio: f64,
    /// Its interval, not symmetric about it.
    pub interval: Interval,
}

/// The ratio of the means of two independent samples, whose variances may differ: t has the
/// degrees of freedom of Welch and Satterthwaite for m1 - r m2 at the estimated ratio r (Hasler,
/// Vonk & Hothorn, "Assessing Non-inferiority of a New Treatment in a Three-arm Trial in the
/// Presence of Heteroscedasticity", Statistics in Medicine 27(4), 2008).
///
/// # Errors
/// Refuses fewer than two values in either sample, values that are not finite, two samples without
/// any spread, a level outside 0 to 1, and a denominator that is not told apart from 0.
pub fn unpaired(
    numerator: &[f64],
    denominator: &[f64],
    level: f64,
) -> Result<RatioOfMeans, Refusal> {
    check_open_unit("the level", level)?;
    let scaled = Scaled::new(numerator, denominator)?;
    let (of_numerator, of_denominator) = scaled.variances;
    let in_ratio = [of_numerator, scaled.ratio.powi(2) * of_denominator];
    check_spread(WHAT, (in_ratio[0] + in_ratio[1]).sqrt())?;
    let df = satterthwaite(in_ratio, [numerator.len(), denominator.len()]);
    scaled.solve(0.0, df, level)
}

/// The ratio of the means of two series measured in pairs, with n - 1 degrees of freedom.
///
/// # Errors
/// As for [`unpaired`], and series that differ in length.
pub fn paired(numerator: &[f64], denominator: &[f64], level: f64) -> Result<RatioOfMeans, Refusal> {
    check_open_unit("the level", level)?;
    if numerator.len() != denominator.len() {
        let (first, second) = (numerator.len(), denominator.len());
        return Err(Refusal::LengthsDiffer { first, second });
    }
    let scaled = Scaled::new(numerator, denominator)?;
    check_spread(WHAT, (scaled.variances.0 + scaled.variances.1).sqrt())?;
    let covariance = scaled.covariance_of_means(numerator, denominator);
    scaled.solve(covariance, numerator.len() as f64 - 1.0, level)
}

const WHAT: &str = "an interval of a ratio of means";

/// What the interval is computed from, in units of the denominator's mean.
struct Scaled {
    ratio: f64,
    unit: f64,
    /// Of the means of the numerator and of the denominator.
    variances: (f64, f64),
}

impl Scaled {
    fn new(numerator: &[f64], denominator: &[f64]) -> Result<Self, Refusal> {
        for values in [numerator, denominator] {
            check_count(WHAT, values.len(), 2)?;
            check_finite(values)?;
        }
        let unit = sample::mean(denominator);
        let ratio = sample::mean(numerator) / unit;
        let relative = |values: &[f64]| (sample::variance_of_mean(values).sqrt() / unit).powi(2);
        let variances = (relative(numerator), relative(denominator));
        // A mean of 0, or as near to it as makes this overflow, is not told apart from it.
        if !(ratio.is_finite() && variances.0.is_finite() && variances.1.is_finite()) {
            return Err(Refusal::DenominatorNearZero);
        }
        Ok(Self { ratio, unit, variances })
    }

    fn covariance_of_means(&self, numerator: &[f64], denominator: &[f64]) -> f64 {
        let n = numerator.len() as f64;
        let centres = (sample::mean(numerator), sample::mean(denominator));
        let product =
            |(a, b): (&f64, &f64)| ((a - centres.0) / self.unit) * ((b - centres.1) / self.unit);
        numerator.iter().zip(denominator).map(product).sum::<f64>() / (n * (n - 1.0))
    }

    /// The roots in r of (ratio - r)^2 = t^2 (v11 - 2 r v12 + r^2 v22).
    fn solve(&self, v12: f64, df: f64, level: f64) -> Result<RatioOfMeans, Refusal> {
        let t_squared = student::quantile((1.0 + level) / 2.0, df).powi(2);
        let (ratio, (v11, v22)) = (self.ratio, self.variances);
        let leading = 1.0 - t_squared * v22;
        if leading <= 0.0 {
            return Err(Refusal::DenominatorNearZero);
        }
        // The discriminant with what cancels taken out. Below 0 it can be by rounding alone, as
        // the difference of both sides is not above 0 at r = ratio and grows beyond all bounds.
        let at_ratio = v11 - 2.0 * ratio * v12 + ratio.powi(2) * v22;
        let discriminant = t_squared * (at_ratio - t_squared * (v11 * v22 - v12.powi(2)));
        let reach = discriminant.max(0.0).sqrt();
        let centre = ratio - t_squared * v12;
        let (low, high) = ((centre - reach) / leading, (centre + reach) / leading);
        Ok(RatioOfMeans { ratio, interval: Interval { low, high, level } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: [f64; 6] = [10.2, 11.5, 9.8, 10.9, 12.1, 10.4];
    const SECOND: [f64; 6] = [9.1, 10.9, 9.9, 9.6, 10.8, 9.7];

    type Ratio = fn(&[f64], &[f64], f64) -> Result<RatioOfMeans, Refusal>;
    const BOTH: [Ratio; 2] = [unpaired, paired];

    #[test]
    fn a_ratio_turned_over_has_its_interval_turned_over() {
        for ratio in BOTH {
            let there = ratio(&FIRST, &SECOND, 0.95).unwrap();
            let back = ratio(&SECOND, &FIRST, 0.95).unwrap();
            assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
            assert!((there.interval.low * back.interval.high - 1.0).abs() < 1e-9, "{there:?}");
            assert!((there.interval.high * back.interval.low - 1.0).abs() < 1e-9, "{there:?}");
        }
    }

    // (1.0 +- 1.0) / sqrt(2) has mean 1 with standard error 1 at n = 2, where t(0.975, 1) = 12.7.
    #[test]
    fn a_denominator_that_may_be_0_is_refused() {
        for ratio in BOTH {
            assert_eq!(ratio(&[1.0, 2.0], &[0.0, 2.0], 0.95), Err(Refusal::DenominatorNearZero));
            assert_eq!(ratio(&[1.0, 2.0], &[-1.0, 1.0], 0.95), Err(Refusal::DenominatorNearZero));
            assert_eq!(ratio(&[1.0, 2.0], &[0.0, 0.0], 0.95), Err(Refusal::DenominatorNearZero));
        }
    }

    #[test]
    fn pairs_that_go_together_give_a_narrower_interval() {
        let together = FIRST.map(|value| 0.9 * value + 0.01 * (value - 10.0).powi(2));
        let half_width = |ratio: Ratio| ratio(&FIRST, &together, 0.95).unwrap().interval;
        assert!(half_width(paired).half_width() < 0.1 * half_width(unpaired).half_width());
    }

    #[test]
    fn a_proportional_pair_of_series_has_its_ratio_as_interval() {
        let doubled = FIRST.map(|value| 2.0 * value);
        let got = paired(&doubled, &FIRST, 0.95).unwrap();
        assert!((got.interval.low - 2.0).abs() < 1e-6 && (got.interval.high - 2.0).abs() < 1e-6);
    }

    #[test]
    fn what_has_no_ratio_is_refused() {
        for ratio in BOTH {
            assert!(matches!(ratio(&[1.0], &[1.0], 0.95), Err(Refusal::TooFew { .. })));
            assert!(matches!(ratio(&[1.0; 3], &[2.0; 3], 0.95), Err(Refusal::NoSpread { .. })));
            assert!(ratio(&FIRST, &SECOND, 1.0).is_err());
            assert!(ratio(&[f64::NAN, 1.0], &[1.0, 2.0], 0.95).is_err());
        }
        assert!(matches!(paired(&FIRST, &[1.0], 0.9), Err(Refusal::LengthsDiffer { .. })));
    }
}
