//! Whether two things are the same for practical purposes: two one-sided tests (TOST).
//!
//! A test that finds no difference does not show that there is none. Two one-sided tests turn the
//! question around: they show that the difference is above the lower and below the upper limit of
//! what does not matter, each at 1 - level (Schuirmann, "A Comparison of the Two One-Sided Tests
//! Procedure and the Power Approach for Assessing the Equivalence of Average Bioavailability",
//! Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987). That is the same as the interval
//! at 2 level - 1 (90 % for 95 %) lying between the limits. Together with the usual test of "no
//! difference" at the same level there are four verdicts, none of which says more than was shown:
//!
//! |                       | shown to be within the limits | not shown to be          |
//! |-----------------------|-------------------------------|--------------------------|
//! | shown to differ       | [`Verdict::DifferentByLess`]  | [`Verdict::Different`]   |
//! | not shown to          | [`Verdict::SameWithin`]       | [`Verdict::NotToldApart`]|
//!
//! Tests are Student's t, for independent samples Welch's. Ratios are compared by logarithms, so
//! that they are ratios of geometric means, and the limits of "the same within 2 %" are 1 / 1.02
//! and 1.02: exchanging the two series changes no verdict.

use crate::interval::Interval;
use crate::paired::LogRatios;
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit, check_positive};
use crate::sample;
use crate::welch::Estimated;

/// What a comparison has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is a difference, and it was not shown to be within the limits.
    Different,
    /// Neither a difference was shown nor that there is none which matters: too few values.
    NotToldApart,
    /// Any difference is within the limits, and none was shown.
    SameWithin,
    /// There is a difference, and it is within the limits.
    DifferentByLess,
}

impl Verdict {
    /// The verdict on the two p values, each of which shows something where it is at most
    /// 1 - `level`. Where many comparisons are made, pass p values adjusted for that.
    pub fn of(p_different: f64, p_within: f64, level: f64) -> Self {
        match (p_different <= 1.0 - level, p_within <= 1.0 - level) {
            (true, false) => Self::Different,
            (false, false) => Self::NotToldApart,
            (false, true) => Self::SameWithin,
            (true, true) => Self::DifferentByLess,
        }
    }
}

/// What does not matter, and how sure the answer is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The largest difference that does not matter, above 0: in the unit of the values for a
    /// difference, as a share for a ratio (0.02 is "the same within 2 %").
    pub within: f64,
    /// The confidence level, above 0.5 and below 1.
    pub level: f64,
}

impl Limits {
    fn check(&self) -> Result<(), Refusal> {
        check_open_unit("the level", self.level)?;
        if self.level <= 0.5 {
            let (what, range) = ("the level", "between 0.5 and 1 for a test of equivalence");
            return Err(Refusal::OutOfRange { what, value: self.level, range });
        }
        check_positive("the difference that does not matter", self.within)
    }

    fn as_log(self) -> Self {
        Self { within: self.within.ln_1p(), level: self.level }
    }
}

/// A comparison, and whether what it compares is the same for practical purposes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// The first mean less the second, or the first geometric mean divided by the second.
    pub estimate: f64,
    /// Its interval at the level asked for, which goes with `p_different`.
    pub interval: Interval,
    /// Its interval at 2 level - 1, which goes with `p_within`.
    pub inner_interval: Interval,
    /// Two-sided p value of "there is no difference".
    pub p_different: f64,
    /// The larger p value of the two one-sided tests: that of "the difference is beyond a limit".
    pub p_within: f64,
    /// What has been shown.
    pub verdict: Verdict,
}

impl Equivalence {
    /// Takes a comparison of logarithms back to ratios.
    fn as_ratio(self) -> Self {
        let exp = |of: Interval| Interval { low: of.low.exp(), high: of.high.exp(), ..of };
        Self {
            estimate: self.estimate.exp(),
            interval: exp(self.interval),
            inner_interval: exp(self.inner_interval),
            ..self
        }
    }
}

/// Compares the means of two series measured in pairs, by their differences.
///
/// Differences without any spread leave t nothing to divide by. As for
/// [`crate::paired::paired_ratio`] n equal differences are worth their n equal signs: 2^(1 - n) for
/// `p_different` if they are not 0, and 2^-n for `p_within` if they are within the limits.
///
/// # Errors
/// Refuses fewer than three pairs, series that differ in length, values that are not finite, a
/// level outside 0.5 to 1 and limits that are not above 0.
pub fn paired_difference(
    first: &[f64],
    second: &[f64],
    limits: Limits,
) -> Result<Equivalence, Refusal> {
    limits.check()?;
    if first.len() != second.len() {
        return Err(Refusal::LengthsDiffer { first: first.len(), second: second.len() });
    }
    check_count("a paired comparison", first.len(), 3)?;
    for series in [first, second] {
        check_finite(series)?;
    }
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    check_finite(&differences)?;
    if sample::is_constant(&differences) {
        return Ok(judge_constant(differences[0], one_sign(differences.len()), limits));
    }
    Ok(judge(&Estimated::mean(&differences)?, limits))
}

/// Compares the geometric means of two series measured in pairs, by their log ratios. Pairs that
/// all have one ratio are treated as in [`paired_difference`].
///
/// # Errors
/// As for [`paired_difference`], and values that are not above 0.
pub fn paired_ratio(first: &[f64], second: &[f64], limits: Limits) -> Result<Equivalence, Refusal> {
    limits.check()?;
    let logs = LogRatios::new(first, second)?;
    check_count("a paired comparison", logs.values.len(), 3)?;
    if logs.are_constant() {
        let log_ratio = sample::mean(&logs.values);
        let log_ratio = if logs.is_zero(log_ratio) { 0.0 } else { log_ratio };
        let chance = one_sign(logs.values.len());
        return Ok(judge_constant(log_ratio, chance, limits.as_log()).as_ratio());
    }
    Ok(judge(&Estimated::mean(&logs.values)?, limits.as_log()).as_ratio())
}

/// Compares the means of two independent samples.
///
/// Samples of which neither has any spread leave t nothing to divide by. They are worth their
/// order, as in [`crate::mann_whitney::mann_whitney`]: of the ways to choose n1 of n1 + n2 values
/// one alone has all larger ones, so `p_within` is 1 in that number if the difference is within the
/// limits, and `p_different` 2 in it if there is one.
///
/// # Errors
/// Refuses fewer than two values in either sample, values that are not finite, a level outside 0.5
/// to 1 and limits that are not above 0.
pub fn unpaired_difference(
    first: &[f64],
    second: &[f64],
    limits: Limits,
) -> Result<Equivalence, Refusal> {
    limits.check()?;
    for values in [first, second] {
        check_count("a comparison of two means", values.len(), 2)?;
        check_finite(values)?;
    }
    if sample::is_constant(first) && sample::is_constant(second) {
        let chance = one_order([first.len(), second.len()]);
        return Ok(judge_constant(first[0] - second[0], chance, limits));
    }
    Ok(judge(&Estimated::difference_of_means(first, second)?, limits))
}

/// Compares the geometric means of two independent samples, by the logarithms of their values.
/// Samples without any spread are treated as in [`unpaired_difference`].
///
/// # Errors
/// As for [`unpaired_difference`], and values that are not above 0.
pub fn unpaired_ratio(
    first: &[f64],
    second: &[f64],
    limits: Limits,
) -> Result<Equivalence, Refusal> {
    limits.check()?;
    let (first, second) = (logarithms(first)?, logarithms(second)?);
    Ok(unpaired_difference(&first, &second, limits.as_log())?.as_ratio())
}

fn logarithms(values: &[f64]) -> Result<Vec<f64>, Refusal> {
    check_finite(values)?;
    match values.iter().position(|&value| value <= 0.0) {
        Some(index) => Err(Refusal::NotPositive { index, value: values[index] }),
        None => Ok(values.iter().map(|value| value.ln()).collect()),
    }
}

fn judge(of: &Estimated, limits: Limits) -> Equivalence {
    let p_within = of.p_above(-limits.within).max(of.p_below(limits.within));
    let p_different = of.two_sided_p(0.0);
    Equivalence {
        estimate: of.estimate,
        interval: of.interval(limits.level),
        inner_interval: of.interval(2.0 * limits.level - 1.0),
        p_different,
        p_within,
        verdict: Verdict::of(p_different, p_within, limits.level),
    }
}

/// The probability that chance alone gives `n` differences one sign that was named before.
fn one_sign(n: usize) -> f64 {
    2f64.powf(-(n as f64))
}

/// The probability that chance alone puts all values of the first of two samples above those of
/// the second: 1 in binomial(n1 + n2, n1).
fn one_order([n1, n2]: [usize; 2]) -> f64 {
    (1..=n1).map(|k| k as f64 / (n2 + k) as f64).product()
}

/// A comparison of what differs by `value` without any spread. `chance` is the probability that
/// this comes about, in one direction, where there is no difference.
fn judge_constant(value: f64, chance: f64, limits: Limits) -> Equivalence {
    let p_different = if value == 0.0 { 1.0 } else { 2.0 * chance };
    let p_within = if value.abs() < limits.within { chance } else { 1.0 };
    let at = |level: f64| Interval { low: value, high: value, level };
    Equivalence {
        estimate: value,
        interval: at(limits.level),
        inner_interval: at(2.0 * limits.level - 1.0),
        p_different,
        p_within,
        verdict: Verdict::of(p_different, p_within, limits.level),
    }
}

#[cfg(test)]
mod tests;
