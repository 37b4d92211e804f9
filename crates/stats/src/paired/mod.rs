//! Comparing two targets block by block: the ratio of their typical values.
//!
//! Each block measures both targets, one soon after the other, so a disturbance of the machine
//! affects both, and comparing within blocks cancels it (Jain, "The Art of Computer Systems
//! Performance Analysis", section 13.4.1, paired observations). Storage measurements are positive
//! and their errors are multiplicative, so the pairs are compared as log ratios: the mean of
//! ln(first / second) is the log of the ratio of the two geometric means.
//!
//! Student's t on these (section 13.2) is the best test for normal values, but blind as soon as one
//! block in twenty is disturbed. That of the trimmed mean ([`crate::trimmed`]) sees through such
//! blocks, but needs a few more blocks when none is disturbed. So both are computed, and their p
//! values combined by Cauchy's method (Liu & Xie, "Cauchy Combination Test: A Powerful Test With
//! Analytic p-Value Calculation Under Arbitrary Dependency Structures", JASA 115(529), 2020): the
//! mean of cot(pi p) is read as the cotangent of one p. A p above one half counts as one half, so
//! that a test that sees nothing does not outvote one that does. If the trimmed mean cuts off all
//! values that are far off, it alone is used, since t is meaningless then. The interval contains
//! all ratios that this test does not reject. The ratio is the biweight mean (Mosteller & Tukey,
//! 1977), which for undisturbed pairs is as accurate as the mean, and more accurate than either if
//! pairs are disturbed; if the trimmed mean alone is used, it is that.

use std::f64::consts::PI;

use crate::biweight;
use crate::dependence::Dependence;
use crate::estimated::Estimated;
use crate::interval::Interval;
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit};
use crate::sample;
use crate::trimmed::{cuts_off_what_is_far, trimmed_mean};

/// Number of steps in the search for the end of an interval, in case p does not fall monotonically
/// towards it.
const STEPS: u32 = 64;
/// Number of halvings of the last step; more than the digits that are printed.
const HALVINGS: u32 = 48;

/// A ratio with its interval, by one way of estimating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioEstimate {
    /// The first series divided by the second.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: Interval,
    /// Two-sided p value of "the ratio is 1".
    pub p: f64,
}

/// Two series compared pair by pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    n: u64,
    estimator: Estimator,
}

/// How the log ratios are estimated.
#[derive(Clone, Debug, PartialEq)]
enum Estimator {
    /// All pairs have the same ratio, so t has nothing to divide by.
    Constant { log_ratio: f64 },
    Spread {
        mean: Estimated,
        middle: Middle,
        /// Whether a few pairs are far off, so that the mean says little.
        is_disturbed: bool,
        /// The biweight mean of the log ratios, unless half of them are equal.
        typical: Option<f64>,
    },
}

/// The estimate from the middle of the log ratios.
#[derive(Clone, Debug, PartialEq)]
enum Middle {
    Trimmed(Estimated),
    /// The middle is a single value, so the numbers of values above and below are counted instead.
    Point {
        at: f64,
        logs: Vec<f64>,
        rounding: f64,
    },
}

/// The direction of a test: in which direction the log ratios may be away from a value.
#[derive(Clone, Copy)]
enum Tail {
    Both,
    Above,
    Below,
}

impl Paired {
    /// Pairs `first[i]` with `second[i]`.
    ///
    /// # Errors
    /// Refuses fewer than three pairs, series that differ in length, and values that are not
    /// finite and above 0.
    pub fn new(first: &[f64], second: &[f64]) -> Result<Self, Refusal> {
        let logs = LogRatios::new(first, second)?;
        check_count("a paired comparison", logs.values.len(), 3)?;
        let n = logs.values.len() as u64;
        let middle_of = |logs: &LogRatios| match trimmed_mean(&logs.values, logs.rounding) {
            Some(trimmed) => Middle::Trimmed(trimmed),
            None => Middle::Point {
                at: crate::Sample::new(logs.values.clone()).map_or(0.0, |it| it.median()),
                logs: logs.values.clone(),
                rounding: logs.rounding,
            },
        };
        let estimator = if logs.are_constant() {
            let log_ratio = sample::mean(&logs.values);
            Estimator::Constant { log_ratio: if logs.is_zero(log_ratio) { 0.0 } else { log_ratio } }
        } else {
            let middle = middle_of(&logs);
            let is_disturbed =
                matches!(middle, Middle::Trimmed(_)) && cuts_off_what_is_far(&logs.values);
            let typical = biweight::centre(&logs.values);
            Estimator::Spread {
                mean: Estimated::mean(&logs.values)?,
                middle,
                is_disturbed,
                typical,
            }
        };
        Ok(Self { n, estimator })
    }

    /// Adjusts for each pair depending on the previous one, which makes them worth fewer pairs.
    #[must_use]
    pub fn with(mut self, dependence: &Dependence) -> Self {
        if let Estimator::Spread { mean, middle, .. } = &mut self.estimator {
            *mean = dependence.widened(*mean, self.n);
            if let Middle::Trimmed(trimmed) = middle {
                *trimmed = dependence.widened(*trimmed, self.n);
            }
        }
        self
    }

    /// Whether all pairs have the same ratio.
    pub fn is_constant(&self) -> bool {
        matches!(self.estimator, Estimator::Constant { .. })
    }

    /// The typical value of the first series divided by that of the second.
    pub fn ratio(&self) -> f64 {
        let typical = match &self.estimator {
            Estimator::Spread {
                middle: Middle::Trimmed(_), is_disturbed: false, typical, ..
            } => *typical,
            Estimator::Spread { .. } | Estimator::Constant { .. } => None,
        };
        typical.unwrap_or_else(|| self.centre()).exp()
    }

    /// Two-sided p value of "the ratio is 1". A constant ratio other than 1, as from counts or a
    /// coarse clock, has 2^(1 - n): that is all that n equal signs can support (the sign test:
    /// Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.4). Verdicts are based
    /// on p, since a few such pairs prove little although their interval has no width.
    pub fn p(&self) -> f64 {
        self.p_of(0.0)
    }

    /// The larger p value of two one-sided tests: that of "the ratio differs from 1 by more than
    /// `margin`", where 0.02 means 1/1.02 to 1.02.
    pub fn p_within(&self, margin: f64) -> f64 {
        let limit = margin.ln_1p();
        match &self.estimator {
            Estimator::Constant { log_ratio } if log_ratio.abs() < limit => one_sign(self.n),
            Estimator::Constant { .. } => 1.0,
            // Both the mean and the middle must be within the margin: a difference in a fifth of
            // the blocks, which the middle cannot see, rules out equality.
            Estimator::Spread { mean, middle, .. } => [
                mean.p_above(-limit),
                mean.p_below(limit),
                middle.p_of(-limit, Tail::Above),
                middle.p_of(limit, Tail::Below),
            ]
            .into_iter()
            .fold(0.0, f64::max),
        }
    }

    /// The interval of the ratio, consistent with [`Self::p`].
    ///
    /// # Errors
    /// Refuses a `level` outside 0 to 1.
    pub fn interval(&self, level: f64) -> Result<Interval, Refusal> {
        check_open_unit("the level", level)?;
        let centre = self.centre();
        let (low, high) = match &self.estimator {
            Estimator::Constant { .. } => (centre, centre),
            Estimator::Spread { middle, is_disturbed: true, .. } => {
                let of = middle.interval(level);
                (of.low, of.high)
            }
            Estimator::Spread { mean, middle, .. } => {
                // The counted p of a point can be anything. At the level used here, the p of the
                // mean alone is small enough for rejection, whatever the other p is.
                let is_point = matches!(middle, Middle::Point { .. });
                let at = if is_point { f64::midpoint(1.0, level) } else { level };
                let (one, other) = (mean.interval(at), middle.interval(at));
                let farthest = (one.low.min(other.low), one.high.max(other.high));
                let end = |outside| self.end(outside, centre, 1.0 - level);
                // If the two estimates reject each other, no ratio is left.
                let is_none = self.p_of(centre) <= 1.0 - level;
                if is_none { farthest } else { (end(farthest.0), end(farthest.1)) }
            }
        };
        Ok(Interval { low: low.exp(), high: high.exp(), level })
    }

    /// The ratio of the geometric means, by Student's t alone.
    ///
    /// # Errors
    /// Refuses a `level` outside 0 to 1.
    pub fn of_means(&self, level: f64) -> Result<RatioEstimate, Refusal> {
        check_open_unit("the level", level)?;
        Ok(match &self.estimator {
            Estimator::Constant { .. } => self.constant(level),
            Estimator::Spread { mean, .. } => {
                in_ratios(mean.estimate, mean.two_sided_p(0.0), mean.interval(level))
            }
        })
    }

    /// The ratio in the middle three fifths of the pairs, by the trimmed mean alone.
    ///
    /// # Errors
    /// Refuses a `level` outside 0 to 1.
    pub fn of_the_middle(&self, level: f64) -> Result<RatioEstimate, Refusal> {
        check_open_unit("the level", level)?;
        Ok(match &self.estimator {
            Estimator::Constant { .. } => self.constant(level),
            Estimator::Spread { middle, .. } => {
                in_ratios(middle.centre(), middle.p_of(0.0, Tail::Both), middle.interval(level))
            }
        })
    }

    fn constant(&self, level: f64) -> RatioEstimate {
        let ratio = self.ratio();
        RatioEstimate { ratio, interval: Interval { low: ratio, high: ratio, level }, p: self.p() }
    }

    /// The log ratio: both estimates, weighted by their precision.
    fn centre(&self) -> f64 {
        match &self.estimator {
            Estimator::Constant { log_ratio } => *log_ratio,
            Estimator::Spread { middle, is_disturbed: true, .. } => middle.centre(),
            Estimator::Spread { mean, middle: Middle::Trimmed(trimmed), .. } => {
                // Relative to the larger error, so that no square overflows or vanishes.
                let larger = mean.standard_error.max(trimmed.standard_error);
                let weight = |of: &Estimated| (larger / of.standard_error).powi(2).min(1e300);
                let (one, other) = (weight(mean), weight(trimmed));
                let share = one / (one + other);
                share * mean.estimate + (1.0 - share) * trimmed.estimate
            }
            Estimator::Spread { middle: Middle::Point { at, .. }, .. } => *at,
        }
    }

    /// Two-sided p value of "the log ratio is `value`".
    fn p_of(&self, value: f64) -> f64 {
        match &self.estimator {
            Estimator::Constant { log_ratio } if *log_ratio == value => 1.0,
            Estimator::Constant { .. } => 2.0 * one_sign(self.n),
            Estimator::Spread { middle, is_disturbed: true, .. } => middle.p_of(value, Tail::Both),
            Estimator::Spread { mean, middle, .. } => {
                combined(mean.two_sided_p(value), middle.p_of(value, Tail::Both))
            }
        }
    }

    /// The end of the interval between `outside`, which is rejected, and `centre`, which is not.
    fn end(&self, outside: f64, centre: f64, refused: f64) -> f64 {
        let is_refused = |value: f64| self.p_of(value) <= refused;
        let step = (centre - outside) / f64::from(STEPS);
        let at = |index: u32| outside + f64::from(index) * step;
        let first = (1..STEPS).find(|&index| !is_refused(at(index))).unwrap_or(STEPS);
        let (mut out, mut within) = (at(first - 1), at(first));
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(out, within);
            *(if is_refused(middle) { &mut out } else { &mut within }) = middle;
        }
        within
    }
}

impl Middle {
    fn centre(&self) -> f64 {
        match self {
            Self::Trimmed(trimmed) => trimmed.estimate,
            Self::Point { at, .. } => *at,
        }
    }

    fn interval(&self, level: f64) -> Interval {
        match self {
            Self::Trimmed(trimmed) => trimmed.interval(level),
            Self::Point { at, .. } => Interval { low: *at, high: *at, level },
        }
    }

    fn p_of(&self, value: f64, tail: Tail) -> f64 {
        match (self, tail) {
            (Self::Trimmed(trimmed), Tail::Both) => trimmed.two_sided_p(value),
            (Self::Trimmed(trimmed), Tail::Above) => trimmed.p_above(value),
            (Self::Trimmed(trimmed), Tail::Below) => trimmed.p_below(value),
            (Self::Point { logs, rounding, .. }, _) => {
                let above = logs.iter().filter(|&&log| log > value + rounding).count();
                let below = logs.iter().filter(|&&log| log < value - rounding).count();
                match tail {
                    Tail::Both => (2.0 * at_most(above.min(below), above + below)).min(1.0),
                    Tail::Above => at_most(below, above + below),
                    Tail::Below => at_most(above, above + below),
                }
            }
        }
    }
}

fn in_ratios(log_ratio: f64, p: f64, interval: Interval) -> RatioEstimate {
    let interval =
        Interval { low: interval.low.exp(), high: interval.high.exp(), level: interval.level };
    RatioEstimate { ratio: log_ratio.exp(), interval, p }
}

/// Combines two p values into one.
fn combined(one: f64, other: f64) -> f64 {
    let least = one.min(other);
    if least >= 0.5 || least == 0.0 {
        return least;
    }
    let cotangent = |p: f64| 1.0 / (PI * p.min(0.5)).tan();
    let mean = f64::midpoint(cotangent(one), cotangent(other));
    // The angle with this cotangent.
    1f64.atan2(mean) / PI
}

/// The probability that chance alone gives `n` pairs the same, predetermined sign.
fn one_sign(n: u64) -> f64 {
    2f64.powf(-(n as f64))
}

/// The probability that at most `few` of `n` pairs have a predetermined sign.
fn at_most(few: usize, n: usize) -> f64 {
    let mut term = one_sign(n as u64);
    let mut sum = term;
    for k in 1..=few {
        term *= (n - k + 1) as f64 / k as f64;
        sum += term;
    }
    sum.min(1.0)
}

/// The log ratios of two paired series, and how much of them may be rounding.
struct LogRatios {
    /// ln(first / second), per pair.
    values: Vec<f64>,
    /// Values closer than this may differ only by rounding in the logarithms.
    rounding: f64,
}

impl LogRatios {
    /// Validates the pairs; any number of them is accepted here.
    fn new(first: &[f64], second: &[f64]) -> Result<Self, Refusal> {
        if first.len() != second.len() {
            return Err(Refusal::LengthsDiffer { first: first.len(), second: second.len() });
        }
        for series in [first, second] {
            check_finite(series)?;
            if let Some(index) = series.iter().position(|&value| value <= 0.0) {
                return Err(Refusal::NotPositive { index, value: series[index] });
            }
        }
        let pairs = first.iter().zip(second);
        let largest_log =
            pairs.clone().map(|(a, b)| a.ln().abs().max(b.ln().abs())).fold(1.0, f64::max);
        // The inputs, both logarithms and the difference are each rounded by at most half a unit in
        // the last place; eight units leave room for inputs that were themselves computed.
        let rounding = 8.0 * f64::EPSILON * largest_log;
        // The difference of logs, since the quotient could overflow.
        let values = pairs.map(|(a, b)| a.ln() - b.ln()).collect();
        Ok(Self { values, rounding })
    }

    /// Whether a log ratio is that of two equal values.
    fn is_zero(&self, log_ratio: f64) -> bool {
        log_ratio.abs() <= self.rounding
    }

    /// Whether all log ratios are equal apart from rounding.
    fn are_constant(&self) -> bool {
        let low = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        high - low <= self.rounding
    }
}

#[cfg(test)]
mod tests;
