//! Estimates that are t distributed around the truth: means, and differences of two means.
//!
//! The variances of two samples are not assumed to be equal. The difference divided by its standard
//! error sqrt(s1^2 / n1 + s2^2 / n2) is treated as t distributed with the degrees of freedom of
//! Welch and Satterthwaite (Jain, "The Art of Computer Systems Performance Analysis", section
//! 13.4.2; Welch, "The Generalization of Student's Problem when Several Different Population
//! Variances Are Involved", Biometrika 34, 1947). This assumes nearly normal means.

use crate::distribution::student;
use crate::interval::Interval;
use crate::refusal::{Refusal, check_count, check_finite, check_spread};
use crate::sample;

/// An estimate that is t distributed around the truth.
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

    /// The difference of the means of two independent samples with a common variance, estimated
    /// from both (Jain, section 13.4.3).
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

    /// The interval for the truth at `level`, which is between 0 and 1.
    pub(crate) fn interval(&self, level: f64) -> Interval {
        let reach = student::quantile((1.0 + level) / 2.0, self.df) * self.standard_error;
        Interval { low: self.estimate - reach, high: self.estimate + reach, level }
    }

    /// The probability of an estimate at least this far above `value` if that were the truth.
    pub(crate) fn p_above(&self, value: f64) -> f64 {
        let half = self.two_sided_p(value) / 2.0;
        if self.estimate >= value { half } else { 1.0 - half }
    }

    /// The probability of an estimate at least this far below `value` if that were the truth.
    pub(crate) fn p_below(&self, value: f64) -> f64 {
        let half = self.two_sided_p(value) / 2.0;
        if self.estimate <= value { half } else { 1.0 - half }
    }

    /// The probability of an estimate at least this far from `value` if that were the truth.
    pub(crate) fn two_sided_p(&self, value: f64) -> f64 {
        student::two_sided_p((self.estimate - value) / self.standard_error, self.df)
    }
}

/// The degrees of freedom of a sum of two variances, neither negative nor both 0, estimated from
/// this many values (Welch, as above; Satterthwaite, "An Approximate Distribution of Estimates of
/// Variance Components", Biometrics Bulletin 2(6), 1946).
pub(crate) fn satterthwaite(variances: [f64; 2], lengths: [usize; 2]) -> f64 {
    let larger = variances[0].max(variances[1]);
    let [a, b] = variances.map(|variance| variance / larger);
    let [df_a, df_b] = lengths.map(|length| length as f64 - 1.0);
    let df = (a + b).powi(2) / (a.powi(2) / df_a + b.powi(2) / df_b);
    // Bounds that hold in exact arithmetic.
    df.clamp(df_a.min(df_b), df_a + df_b)
}
