//! The analysis of variance: effects with their intervals, and where the variation comes from.

use super::cells::Cells;
use super::diagnostics::{self, Diagnostic};
use super::fit::{Fit, Margin, Term, fit};
use super::model::{Model, ModelChoice, ModelReason, Modelled, modelled};
use super::precision::Precision;
use super::{DesignKind, Estimate, Factor, Grid, Table, unbalanced};
use crate::distribution::fisher;
use crate::refusal::{Refusal, check_open_unit};

/// How to analyse.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Whether effects add up or multiply.
    pub model: ModelChoice,
    /// Confidence levels of the intervals and of the F quantiles, each strictly between 0 and 1.
    pub levels: Vec<f64>,
    /// Maximum number of factors that interact; interactions of more count as errors. None: all
    /// that the design allows, which without replications excludes only the interaction of all
    /// factors.
    pub interacting: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { model: ModelChoice::Auto, levels: vec![0.95], interacting: None }
    }
}

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The design, as the observations show it.
    pub design: DesignKind,
    /// The model used. Under a multiplicative one, all numbers below are in decimal logarithms,
    /// except those called ratios.
    pub model: Model,
    /// Why it was used.
    pub why: ModelReason,
    /// The mean of all observations. With several factors and unequal replications, or
    /// combinations never observed, the mean over all combinations of levels.
    pub grand_mean: Estimate,
    /// Under a multiplicative model, ten to the power of `grand_mean`: the geometric mean.
    pub geometric_mean: Option<Estimate>,
    /// The effect of each level of each factor, by factor.
    pub effects: Vec<Effect>,
    /// The effects of combinations of levels, if interactions are part of the model.
    pub interactions: Vec<Interaction>,
    /// Sums of squares of the observations and of their mean.
    pub totals: Totals,
    /// Where the variation comes from; the last source is the errors.
    pub anova: Vec<Source>,
    /// The standard deviation of errors, the square root of their mean square; none if the model
    /// fits exactly, apart from rounding.
    pub error_deviation: Option<f64>,
    /// The degrees of freedom of the errors, at least 1.
    pub error_df: u64,
    /// Checks of the errors.
    pub diagnostics: Vec<Diagnostic>,
    /// If combinations were never observed, or are too many to tell apart: the maximum number of
    /// factors that interact in the model whose predictions the level means are; 1 for a model
    /// without interactions. None if the level means are means of observations.
    pub predicting: Option<usize>,
    pub(super) factors: Vec<Factor>,
    pub(super) margins: Vec<Margin>,
    pub(super) precision: Precision,
}

/// The effect of one level of one factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The factor's name.
    pub factor: String,
    /// The level's name.
    pub level: String,
    /// The level's mean minus the grand mean.
    pub estimate: Estimate,
    /// Under a multiplicative model, the level's geometric mean divided by the overall one.
    pub ratio: Option<Estimate>,
    /// The level's mean.
    pub mean: f64,
}

/// The interaction of some factors: the effect of their combinations beyond the sum of the effects
/// of fewer of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// The factors' names.
    pub factors: Vec<String>,
    /// The number of levels of each.
    pub levels: Vec<usize>,
    /// One effect per combination of levels; the last factor's level varies fastest.
    pub effects: Vec<f64>,
    /// The standard error of each effect; none if it differs between combinations (unequal
    /// replications) or does not exist.
    pub std_error: Option<f64>,
    precision: Precision,
    variance: Option<f64>,
}

impl Interaction {
    /// The effect of the combination of these levels, counted from 0; none if it does not exist.
    pub fn at(&self, levels: &[usize]) -> Option<Estimate> {
        if levels.len() != self.levels.len() || levels.iter().zip(&self.levels).any(|(l, n)| l >= n)
        {
            return None;
        }
        let position = levels.iter().zip(&self.levels).fold(0, |at, (level, n)| at * n + level);
        Some(self.precision.estimate(self.effects[position], self.variance))
    }
}

/// Sums of squares about 0 (Jain's y, y.. and y - y..).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Of the observations.
    pub observations: f64,
    /// Of their mean, counted once per observation.
    pub mean: f64,
    /// Of the observations around their mean: the total variation.
    pub about_mean: f64,
    /// The degrees of freedom of the total variation: observations minus one.
    pub df: u64,
}

/// Name of the source for what interactions beyond those of the model explain.
pub const LACK_OF_FIT: &str = "lack of fit";

/// A source of variation: a row of the analysis of variance table.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The factor's name, several joined by " x ", [`LACK_OF_FIT`], or "errors".
    pub name: String,
    /// The sum of squares.
    pub sum_sq: f64,
    /// Its degrees of freedom.
    pub df: u64,
    /// The sum of squares divided by the degrees of freedom.
    pub mean_sq: f64,
    /// The mean square divided by that of the errors; none for the errors themselves, and if these
    /// are 0.
    pub f: Option<f64>,
    /// The probability of an F at least this large if the source had no effect.
    pub p: Option<f64>,
    /// The share of the total variation, in percent. With unequal replications of several factors
    /// the shares need not sum to 100.
    pub percent_of_variation: f64,
    /// The F that is exceeded with probability 1 - level, per confidence level.
    pub f_quantiles: Vec<FQuantile>,
}

/// An entry of a table of F variates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FQuantile {
    /// The confidence level.
    pub level: f64,
    /// The quantile.
    pub f: f64,
}

/// Analyses the observations of a factorial design of one, two or more factors. Combinations may be
/// observed unequally often, and some of them never.
///
/// # Errors
/// Refuses confidence levels outside 0 to 1, factors of one level, more than ten factors, levels
/// that were never observed, combinations from which it cannot be told which factor an effect
/// belongs to, so many combinations with unequal replications that a fit takes minutes,
/// observations that are all equal, a multiplicative model of values that are not above 0, and a
/// design that leaves no degrees of freedom for errors.
pub fn analyse(table: &Table, options: &Options) -> Result<Analysis, Refusal> {
    for &level in &options.levels {
        check_open_unit("the level", level)?;
    }
    let modelled = modelled(table, options.model)?;
    let fit = fit(&modelled.cells, options.interacting)?;
    let mean_sq = fit.error_sum_sq / fit.error_df as f64;
    let exact = mean_sq.sqrt() <= modelled.rounding;
    let deviation = (!exact).then(|| mean_sq.sqrt());
    let precision = Precision::new(deviation, fit.error_df, &options.levels);
    Ok(gathered(table, &modelled, &fit, precision))
}

fn gathered(table: &Table, modelled: &Modelled, fit: &Fit, precision: Precision) -> Analysis {
    let cells = &modelled.cells;
    let multiplicative = modelled.model == Model::Multiplicative;
    let grand_mean = precision.estimate(cells.pivot + fit.grand, Some(fit.grand_variance));
    let context = Context { table, modelled, fit, precision: &precision };
    Analysis {
        design: cells.design(),
        model: modelled.model,
        why: modelled.why,
        geometric_mean: multiplicative.then(|| grand_mean.power_of_ten()),
        grand_mean,
        effects: context.effects(),
        interactions: context.interactions(),
        totals: Totals::new(cells),
        anova: context.anova(),
        error_deviation: precision.deviation,
        error_df: fit.error_df,
        diagnostics: diagnostics::diagnose(cells, fit, precision.deviation.is_none()),
        factors: table.factors().to_vec(),
        predicting: fit.predicting,
        margins: fit.margins.clone(),
        precision,
    }
}

/// What the parts of an analysis are computed from.
struct Context<'a> {
    table: &'a Table,
    modelled: &'a Modelled,
    fit: &'a Fit,
    precision: &'a Precision,
}

impl Context<'_> {
    fn is_balanced(&self) -> bool {
        self.modelled.cells.balanced().is_some()
    }

    fn effects(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (axis, factor) in self.table.factors().iter().enumerate() {
            let margin = &self.fit.margins[axis];
            let variances = self.effect_variances(margin);
            let of_levels = &self.fit.effects_of(axis).data;
            for (level, name) in factor.levels.iter().enumerate() {
                let estimate = self.precision.estimate(of_levels[level], Some(variances[level]));
                effects.push(Effect {
                    factor: factor.name.clone(),
                    level: name.clone(),
                    ratio: (self.modelled.model == Model::Multiplicative)
                        .then(|| estimate.power_of_ten()),
                    estimate,
                    mean: self.modelled.cells.pivot + margin.means[level],
                });
            }
        }
        effects
    }

    fn effect_variances(&self, margin: &Margin) -> Vec<f64> {
        if self.table.factors().len() == 1 && !self.is_balanced() {
            return unbalanced::one_factor_variances(&self.modelled.cells);
        }
        margin.effect_variances()
    }

    fn interactions(&self) -> Vec<Interaction> {
        let of_several = self.fit.terms.iter().filter(|term| term.axes.len() > 1);
        of_several.filter_map(|term| Some(self.interaction(term, term.effects.as_ref()?))).collect()
    }

    fn interaction(&self, term: &Term, effects: &Grid) -> Interaction {
        let observations = self.modelled.cells.observations() as f64;
        let variance = self.is_balanced().then(|| term.df as f64 / observations);
        Interaction {
            factors: self.names(term),
            levels: effects.dims.clone(),
            effects: effects.data.clone(),
            std_error: self.precision.std_error(variance),
            precision: self.precision.clone(),
            variance,
        }
    }

    fn names(&self, term: &Term) -> Vec<String> {
        term.axes.iter().map(|&axis| self.table.factors()[axis].name.clone()).collect()
    }

    fn anova(&self) -> Vec<Source> {
        let total = self.modelled.cells.total_squares;
        let source = |name, sum_sq, df| Source::new(name, sum_sq, df, total);
        let name = |term: &Term| match term.axes[..] {
            [] => LACK_OF_FIT.to_owned(),
            _ => self.names(term).join(" x "),
        };
        let of_terms = self.fit.terms.iter().map(|term| source(name(term), term.sum_sq, term.df));
        let mut sources: Vec<Source> = of_terms.map(|s| self.precision.with_f_test(s)).collect();
        sources.push(source("errors".to_owned(), self.fit.error_sum_sq, self.fit.error_df));
        sources
    }
}

impl Totals {
    pub(super) fn new(cells: &Cells) -> Self {
        let observations = cells.observations();
        Self {
            observations: cells.raw_squares(),
            mean: observations as f64 * (cells.pivot + cells.mean).powi(2),
            about_mean: cells.total_squares,
            df: observations as u64 - 1,
        }
    }
}

impl Source {
    /// A source with its share of the total sum of squares, not yet compared with errors.
    pub(super) fn new(name: String, sum_sq: f64, df: u64, total: f64) -> Self {
        Self {
            name,
            sum_sq,
            df,
            mean_sq: sum_sq / df as f64,
            f: None,
            p: None,
            percent_of_variation: 100.0 * (sum_sq / total),
            f_quantiles: Vec::new(),
        }
    }
}

impl Precision {
    /// Adds F, its p value and its quantiles to a source of variation.
    pub(super) fn with_f_test(&self, source: Source) -> Source {
        let Some(deviation) = self.deviation else { return source };
        let (df1, df2) = (source.df as f64, self.df as f64);
        let f = source.mean_sq / (deviation * deviation);
        let quantile = |&level: &f64| FQuantile { level, f: fisher::quantile(level, df1, df2) };
        let f_quantiles = self.levels().iter().map(quantile).collect();
        Source { f: Some(f), p: Some(fisher::sf(f, df1, df2)), f_quantiles, ..source }
    }
}
