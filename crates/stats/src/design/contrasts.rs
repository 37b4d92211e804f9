//! Comparisons between the levels of one factor.
//!
//! The standard error of the difference of two levels' means is the errors' deviation times the
//! root of the sum of 1 / n, where n is the number of observations of each level (Jain, "The Art of
//! Computer Systems Performance Analysis", section 21.6). Comparing all pairs makes many
//! comparisons: [`Adjustment`] says how their p values allow for that.

use super::table::position_of;
use super::{Analysis, Estimate, Model, Refused};
use crate::distribution::studentized_range;
use crate::interval::Interval;
use crate::multiple;
use crate::refusal::Refusal;

/// How p values of all pairs are adjusted for their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjustment {
    /// Tukey's honestly significant difference, extended by Kramer to unequal replications (Miller,
    /// "Simultaneous Statistical Inference", 2nd edition, chapter 2; Hayter, "A proof of the
    /// conjecture that the Tukey-Kramer multiple comparisons procedure is conservative", The Annals
    /// of Statistics 12(1), 1984). Approximate if some combinations were never observed, since the
    /// means of levels then depend on each other.
    Tukey,
    /// Holm's step-down correction ([`multiple::holm`]).
    Holm,
}

/// The difference of two levels' means.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// The factor's name.
    pub factor: String,
    /// The name of the level whose mean is the minuend.
    pub first: String,
    /// The name of the level whose mean is subtracted.
    pub second: String,
    /// The difference of their means.
    pub difference: f64,
    /// Its standard error.
    pub std_error: f64,
    /// One interval per confidence level of the analysis, for this difference alone.
    pub intervals: Vec<Interval>,
    /// Two-sided p value of "they do not differ", for this difference alone.
    pub p: f64,
    /// The p value adjusted for the number of pairs.
    pub p_adjusted: f64,
    /// Under a multiplicative model, the first geometric mean divided by the second.
    pub ratio: Option<Estimate>,
    /// Intervals that contain all differences at once with the level's probability: Tukey's; empty
    /// with another adjustment.
    pub simultaneous: Vec<Interval>,
}

/// Compares all pairs of levels of a factor, (levels squared - levels) / 2 of them.
///
/// # Errors
/// Refuses a name that no factor has, and an analysis whose errors are 0.
pub fn contrasts(
    analysis: &Analysis,
    factor: &str,
    adjustment: Adjustment,
) -> Result<Vec<Contrast>, Refusal> {
    let axis = position_of(&analysis.factors, factor)?;
    let levels = analysis.factors[axis].levels.len();
    let mut pairs = Vec::with_capacity(levels * (levels - 1) / 2);
    for first in 0..levels {
        for second in first + 1..levels {
            pairs.push(pair(analysis, axis, first, second)?);
        }
    }
    match adjustment {
        Adjustment::Holm => adjust_holm(&mut pairs)?,
        Adjustment::Tukey => adjust_tukey(analysis, &mut pairs, levels),
    }
    Ok(pairs)
}

fn pair(analysis: &Analysis, axis: usize, a: usize, b: usize) -> Result<Contrast, Refused> {
    let (factor, margin) = (&analysis.factors[axis], &analysis.margins[axis]);
    let difference = margin.means[a] - margin.means[b];
    let variance = margin.difference_variance(a, b);
    let estimate = analysis.precision.estimate(difference, Some(variance));
    let p = analysis.precision.p(&estimate).ok_or(Refused::ExactFit)?;
    Ok(Contrast {
        factor: factor.name.clone(),
        first: factor.levels[a].clone(),
        second: factor.levels[b].clone(),
        difference,
        std_error: estimate.std_error.ok_or(Refused::ExactFit)?,
        ratio: (analysis.model == Model::Multiplicative).then(|| estimate.power_of_ten()),
        intervals: estimate.intervals,
        p,
        p_adjusted: p,
        simultaneous: Vec::new(),
    })
}

fn adjust_holm(pairs: &mut [Contrast]) -> Result<(), Refusal> {
    let p_values: Vec<f64> = pairs.iter().map(|pair| pair.p).collect();
    for (pair, p) in pairs.iter_mut().zip(multiple::holm(&p_values)?) {
        pair.p_adjusted = p;
    }
    Ok(())
}

fn adjust_tukey(analysis: &Analysis, pairs: &mut [Contrast], levels: usize) {
    let groups = u32::try_from(levels).expect("levels are counted by u32");
    let df = analysis.error_df as f64;
    let quantile =
        |&level: &f64| (level, studentized_range::quantile(level, groups, df) / 2_f64.sqrt());
    let quantiles: Vec<(f64, f64)> = analysis.precision.levels().iter().map(quantile).collect();
    for pair in pairs {
        let q = (pair.difference / pair.std_error).abs() * 2_f64.sqrt();
        pair.p_adjusted = studentized_range::sf(q, groups, df).max(pair.p);
        let ends = |&(level, t): &(f64, f64)| Interval {
            low: pair.difference - t * pair.std_error,
            high: pair.difference + t * pair.std_error,
            level,
        };
        pair.simultaneous = quantiles.iter().map(ends).collect();
    }
}
