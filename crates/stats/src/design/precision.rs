//! Estimates and their intervals, all from a single standard deviation of errors.

use crate::distribution::student;
use crate::interval::Interval;

/// An estimate and its uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate, in the unit of the observations; under a multiplicative model, in decimal
    /// logarithms.
    pub estimate: f64,
    /// Its standard error; none if there are no errors to estimate it from.
    pub std_error: Option<f64>,
    /// One interval per confidence level asked for; empty if there is no standard error.
    pub intervals: Vec<Interval>,
}

impl Estimate {
    /// Ten to the power of an estimate in decimal logarithms, and of its intervals' ends, capped at
    /// the largest number.
    pub(super) fn power_of_ten(&self) -> Self {
        let power = |value: f64| 10_f64.powf(value).min(f64::MAX);
        let intervals = self.intervals.iter();
        Self {
            estimate: power(self.estimate),
            std_error: None,
            intervals: intervals
                .map(|i| Interval { low: power(i.low), high: power(i.high), level: i.level })
                .collect(),
        }
    }
}

/// Turns variances into standard errors, intervals and p values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Precision {
    /// The standard deviation of errors, above 0; none if there are no errors.
    pub(super) deviation: Option<f64>,
    /// Its degrees of freedom.
    pub(super) df: u64,
    levels: Vec<f64>,
    /// The quantile of t for each level.
    t: Vec<f64>,
}

impl Precision {
    pub(super) fn new(deviation: Option<f64>, df: u64, levels: &[f64]) -> Self {
        // The last levels below 1 would otherwise be rounded to 1.
        let upper = |level: f64| ((1.0 + level) / 2.0).min(1.0 - f64::EPSILON / 2.0);
        let t = |&level: &f64| student::quantile(upper(level), df as f64);
        let t = if df > 0 { levels.iter().map(t).collect() } else { Vec::new() };
        Self { deviation, df, levels: levels.to_vec(), t }
    }

    pub(super) fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// The standard error for this variance, in units of that of one observation.
    pub(super) fn std_error(&self, variance: Option<f64>) -> Option<f64> {
        Some(self.deviation? * variance?.sqrt())
    }

    /// An estimate with this variance, in units of that of one observation.
    pub(super) fn estimate(&self, estimate: f64, variance: Option<f64>) -> Estimate {
        let std_error = self.std_error(variance);
        let intervals = std_error.map_or_else(Vec::new, |std_error| {
            let ends = |(&level, t): (&f64, &f64)| {
                let half_width = t * std_error;
                Interval { low: estimate - half_width, high: estimate + half_width, level }
            };
            self.levels.iter().zip(&self.t).map(ends).collect()
        });
        Estimate { estimate, std_error, intervals }
    }

    /// The two-sided p value of "the true value is 0".
    pub(super) fn p(&self, estimate: &Estimate) -> Option<f64> {
        let t = estimate.estimate / estimate.std_error?;
        Some(student::two_sided_p(t, self.df as f64))
    }
}
