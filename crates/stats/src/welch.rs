//! Two independent samples: the difference of their means, by Welch's t.
//!
//! The variances are not supposed to be equal. The difference divided by its standard error
//! sqrt(s1^2 / n1 + s2^2 / n2) is taken as t distributed with the degrees of freedom of Welch and
//! Satterthwaite (Jain, "The Art of Computer Systems Performance Analysis", section 13.4.2; Welch,
//! "The Generalization of Student's Problem when Several Different Population Variances Are
//! Involved", Biometrika 34, 1947). It supposes means near enough to normal.

use crate::distribution::student;
use crate::interval::Interval;
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit, check_spread};
use crate::sample;

/// How the mean of the first sample differs from that of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// The first mean less the second.
    pub difference: f64,
    /// The interval of the difference.
    pub interval: Interval,
    /// The difference in standard errors.
    pub t: f64,
    /// Degrees of freedom, not a whole number in general.
    pub df: f64,
    /// Two-sided p value of "the means are equal".
    pub p: f64,
}

/// Compares the means of two independent samples, with an interval at `level`.
///
/// # Errors
/// Refuses fewer than two values in either sample, values that are not finite, two samples without
/// any spread, and a level outside 0 to 1.
pub fn welch(first: &[f64], second: &[f64], level: f64) -> Result<Welch, Refusal> {
    check_open_unit("the level", level)?;
    let of = Estimated::difference_of_means(first, second)?;
    let t = of.estimate / of.standard_error;
    let p = of.two_sided_p(0.0);
    Ok(Welch { difference: of.estimate, interval: of.interval(level), t, df: of.df, p })
}

/// An estimate that is t distributed about the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimated {
    pub(crate) estimate: f64,
    /// Finite and above 0.
    pub(crate) standard_error: f64,
    /// At least 1.
    pub(crate) df: f64,
}

impl Estimated {
    /// The mean of at least two finite values, with n - 1 degrees of freedom.
    pub(crate) fn mean(values: &[f64]) -> Result<Self, Refusal> {
        let standard_error = sample::variance_of_mean(values).sqrt();
        check_spread("a test of a mean", standard_error)?;
        Ok(Self { estimate: sample::mean(values), standard_error, df: values.len() as f64 - 1.0 })
    }

    /// The difference of the means of two independent samples.
    pub(crate) fn difference_of_means(first: &[f64], second: &[f64]) -> Result<Self, Refusal> {
        let what = "a comparison of two means";
        for values in [first, second] {
            check_count(what, values.len(), 2)?;
            check_finite(values)?;
        }
        let variances = [first, second].map(sample::variance_of_mean);
        let standard_error = variances[0].sqrt().hypot(variances[1].sqrt());
        check_spread(what, standard_error)?;
        let df = satterthwaite(variances, [first.len(), second.len()]);
        let estimate = sample::mean(first) - sample::mean(second);
        Ok(Self { estimate, standard_error, df })
    }

    /// The difference of the means of two independent samples of one variance, estimated from both
    /// (Jain, section 13.4.3).
    pub(crate) fn difference_of_one_spread(first: &[f64], second: &[f64]) -> Result<Self, Refusal> {
        let squares = |values: &[f64]| {
            let mean = sample::mean(values);
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        };
        let counts = [first, second].map(|values| values.len() as f64);
        let df = counts[0] + counts[1] - 2.0;
        let variance = (squares(first) + squares(second)) / df;
        let standard_error = (variance * (1.0 / counts[0] + 1.0 / counts[1])).sqrt();
        check_spread("a comparison of two means", standard_error)?;
        Ok(Self { estimate: sample::mean(first) - sample::mean(second), standard_error, df })
    }

    /// The interval of the truth at `level`, which is between 0 and 1.
    pub(crate) fn interval(&self, level: f64) -> Interval {
        let reach = student::quantile((1.0 + level) / 2.0, self.df) * self.standard_error;
        Interval { low: self.estimate - reach, high: self.estimate + reach, level }
    }

    /// The probability of an estimate this far above `value` or further, were that the truth.
    pub(crate) fn p_above(&self, value: f64) -> f64 {
        let half = self.two_sided_p(value) / 2.0;
        if self.estimate >= value { half } else { 1.0 - half }
    }

    /// The probability of an estimate this far below `value` or further, were that the truth.
    pub(crate) fn p_below(&self, value: f64) -> f64 {
        let half = self.two_sided_p(value) / 2.0;
        if self.estimate <= value { half } else { 1.0 - half }
    }

    /// The probability of an estimate this far from `value` or further, were that the truth.
    pub(crate) fn two_sided_p(&self, value: f64) -> f64 {
        student::two_sided_p((self.estimate - value) / self.standard_error, self.df)
    }
}

/// The degrees of freedom of a sum of two variances, neither negative nor both 0, estimated from
/// so many values (Welch, as above; Satterthwaite, "An Approximate Distribution of Estimates of
/// Variance Components", Biometrics Bulletin 2(6), 1946).
pub(crate) fn satterthwaite(variances: [f64; 2], lengths: [usize; 2]) -> f64 {
    let larger = variances[0].max(variances[1]);
    let [a, b] = variances.map(|variance| variance / larger);
    let [df_a, df_b] = lengths.map(|length| length as f64 - 1.0);
    let df = (a + b).powi(2) / (a.powi(2) / df_a + b.powi(2) / df_b);
    // The bounds that hold without rounding.
    df.clamp(df_a.min(df_b), df_a + df_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: [f64; 6] = [10.2, 11.5, 9.8, 10.9, 12.1, 10.4];
    const SECOND: [f64; 4] = [9.1, 10.9, 9.9, 9.6];

    #[test]
    fn swapping_the_samples_turns_the_difference_around() {
        let there = welch(&FIRST, &SECOND, 0.9).unwrap();
        let back = welch(&SECOND, &FIRST, 0.9).unwrap();
        assert!((there.difference + back.difference).abs() < 1e-12);
        assert!((there.interval.low + back.interval.high).abs() < 1e-12);
        assert!((there.p - back.p).abs() < 1e-12);
    }

    #[test]
    fn the_interval_ends_at_0_where_p_is_what_the_level_leaves_over() {
        let p = welch(&FIRST, &SECOND, 0.9).unwrap().p;
        let at_p = welch(&FIRST, &SECOND, 1.0 - p).unwrap();
        assert!(at_p.interval.low.abs() < 1e-6, "{at_p:?}");
    }

    #[test]
    fn a_sample_without_spread_leaves_the_degrees_of_freedom_to_the_other() {
        let got = welch(&FIRST, &[9.1; 4], 0.95).unwrap();
        assert!((got.df - 5.0).abs() < 1e-12);
        assert!(matches!(welch(&[1.1; 3], &[0.7; 3], 0.95), Err(Refusal::NoSpread { .. })));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        assert!(matches!(welch(&FIRST, &[1.0], 0.95), Err(Refusal::TooFew { needed: 2, .. })));
        assert!(matches!(welch(&[1.0, f64::NAN], &FIRST, 0.9), Err(Refusal::NotFinite { .. })));
        assert!(welch(&FIRST, &SECOND, 95.0).is_err());
        assert!(welch(&[1e300, -1e300], &[0.0, 1.0], 0.95).is_err());
    }
}
