//! Comparing two independent series: the ratio of their geometric means.
//!
//! Series from different runs have nothing in common by which they could be paired. Their
//! logarithms are compared, since the errors of storage measurements are multiplicative. If each
//! side is a single series, that is done by Welch's t, which does not assume equal variances (Jain,
//! section 13.4.2). If each value is the result of one of several runs, it is done by Student's
//! two-sample t: differences between runs are due to the machine, which affects both sides alike,
//! so one spread is estimated from both (Jain, "The Art of Computer Systems Performance Analysis",
//! section 13.4.3; Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013, section
//! 9.3). With two runs per side, that leaves two degrees of freedom, where Welch's t has between
//! one and two.

use crate::estimated::Estimated;
use crate::interval::Interval;
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit};
use crate::sample;

/// Two independent series compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Independent {
    estimator: Estimator,
}

/// How the logarithm of the ratio is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Estimator {
    /// Neither series has any spread, so t has nothing to divide by. Only their order counts: of
    /// the ways to choose n1 of n1 + n2 values, exactly one has all the larger ones.
    Constant {
        log_ratio: f64,
        chance: f64,
        /// The p value of "the ratio is 1", if it is not.
        differs: f64,
    },
    Spread(Estimated),
}

impl Independent {
    /// Compares single values, by Welch's t.
    ///
    /// # Errors
    /// Refuses fewer than two values in either series, and values that are not finite and above 0.
    pub fn of_values(first: &[f64], second: &[f64]) -> Result<Self, Refusal> {
        Self::compare(first, second, Estimated::difference_of_means)
    }

    /// Compares the results of several runs on either side, one value per run, by Student's t.
    ///
    /// # Errors
    /// As for [`Self::of_values`].
    pub fn of_runs(first: &[f64], second: &[f64]) -> Result<Self, Refusal> {
        Self::compare(first, second, Estimated::difference_of_one_spread)
    }

    /// Compares whole numbers that were counted, each in a run of its own. If neither side has any
    /// spread, the true spread is too small to show in counts, hence no larger than that of
    /// rounding to whole numbers, which has a variance of 1/12. So counts that differ from all
    /// those of the other side are told apart sooner than by their order alone. Two sides with only
    /// zeros are equal.
    ///
    /// # Errors
    /// As for [`Self::of_values`], except that all may be 0.
    pub fn of_counts(first: &[f64], second: &[f64]) -> Result<Self, Refusal> {
        if first.iter().chain(second).all(|&count| count == 0.0) {
            let ones = |side: &[f64]| vec![1.0; side.len()];
            return Self::of_values(&ones(first), &ones(second));
        }
        let mut found = Self::of_runs(first, second)?;
        if let Estimator::Constant { log_ratio, differs, .. } = &mut found.estimator {
            let of_mean = |side: &[f64]| 1.0 / (12.0 * side[0].powi(2) * side.len() as f64);
            let standard_error = (of_mean(first) + of_mean(second)).sqrt();
            let df = (first.len() + second.len()) as f64 - 2.0;
            let rounded = Estimated { estimate: *log_ratio, standard_error, df };
            *differs = differs.min(rounded.two_sided_p(0.0));
        }
        Ok(found)
    }

    fn compare(
        first: &[f64],
        second: &[f64],
        spread: fn(&[f64], &[f64]) -> Result<Estimated, Refusal>,
    ) -> Result<Self, Refusal> {
        let (first, second) = (logarithms(first)?, logarithms(second)?);
        let estimator = if sample::is_constant(&first) && sample::is_constant(&second) {
            let chance = one_order([first.len(), second.len()]);
            Estimator::Constant { log_ratio: first[0] - second[0], chance, differs: 2.0 * chance }
        } else {
            Estimator::Spread(spread(&first, &second)?)
        };
        Ok(Self { estimator })
    }

    /// Whether neither series has any spread, as is common for exact counts.
    pub fn is_constant(&self) -> bool {
        matches!(self.estimator, Estimator::Constant { .. })
    }

    /// The geometric mean of the first series divided by that of the second.
    pub fn ratio(&self) -> f64 {
        match self.estimator {
            Estimator::Constant { log_ratio, .. } => log_ratio.exp(),
            Estimator::Spread(estimated) => estimated.estimate.exp(),
        }
    }

    /// Two-sided p value of "the ratio is 1".
    pub fn p(&self) -> f64 {
        match self.estimator {
            Estimator::Constant { log_ratio: 0.0, .. } => 1.0,
            Estimator::Constant { differs, .. } => differs,
            Estimator::Spread(estimated) => estimated.two_sided_p(0.0),
        }
    }

    /// The larger p value of two one-sided tests: that of "the ratio differs from 1 by more than
    /// `margin`", where 0.02 means 1/1.02 to 1.02 (Schuirmann, "A Comparison of the Two One-Sided
    /// Tests Procedure and the Power Approach for Assessing the Equivalence of Average
    /// Bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987).
    pub fn p_within(&self, margin: f64) -> f64 {
        let limit = margin.ln_1p();
        match self.estimator {
            Estimator::Constant { log_ratio, chance, .. } if log_ratio.abs() < limit => chance,
            Estimator::Constant { .. } => 1.0,
            Estimator::Spread(estimated) => estimated.p_above(-limit).max(estimated.p_below(limit)),
        }
    }

    /// The interval of the ratio.
    ///
    /// # Errors
    /// Refuses a `level` outside 0 to 1.
    pub fn interval(&self, level: f64) -> Result<Interval, Refusal> {
        check_open_unit("the level", level)?;
        let logs = match self.estimator {
            Estimator::Constant { log_ratio, .. } => {
                Interval { low: log_ratio, high: log_ratio, level }
            }
            Estimator::Spread(estimated) => estimated.interval(level),
        };
        Ok(Interval { low: logs.low.exp(), high: logs.high.exp(), level })
    }
}

fn logarithms(values: &[f64]) -> Result<Vec<f64>, Refusal> {
    check_count("a comparison of two series", values.len(), 2)?;
    check_finite(values)?;
    match values.iter().position(|&value| value <= 0.0) {
        Some(index) => Err(Refusal::NotPositive { index, value: values[index] }),
        None => Ok(values.iter().map(|value| value.ln()).collect()),
    }
}

/// The probability that chance alone puts all values of the first of two samples above those of the
/// second: 1 in binomial(n1 + n2, n1).
fn one_order([n1, n2]: [usize; 2]) -> f64 {
    (1..=n1).map(|k| k as f64 / (n2 + k) as f64).product()
}

#[cfg(test)]
mod tests;
