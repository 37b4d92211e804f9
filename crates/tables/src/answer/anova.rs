//! A designed experiment: effects, the analysis of variance, contrasts.

use schemars::JsonSchema;
use serde::Serialize;
use stats::Refusal;
use stats::design::{
    Adjustment, Analysis, Contrast, DesignKind, Effect, Estimate, Factor, LACK_OF_FIT, Model,
    Options, Replications, Source, Table, TableBuilder, WARNING_P, analyse, contrasts, ranks,
    ranks::RankTest,
};

use super::IntervalDocument;
use super::anova_text;
use crate::observations::Observations;

/// All pairs of more levels than this are not compared: nobody reads their table.
const LEVELS_MAX: usize = 60;

/// The analysis of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AnovaAnswer {
    /// The design in words.
    pub design: String,
    /// `additive` or `multiplicative`; if multiplicative, estimates are decimal logarithms and
    /// `ratio` converts them back.
    pub model: String,
    /// Why this model was chosen.
    pub why: String,
    /// The mean of all observations. With several factors and unequal replications, or
    /// combinations never observed, the mean over all combinations of levels.
    pub grand_mean: EstimateDocument,
    /// The geometric mean, under a multiplicative model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometric_mean: Option<RatioDocument>,
    /// The effect of each level of each factor.
    pub effects: Vec<EffectDocument>,
    /// Sums of squares: of the observations, of their mean, and of the observations about their
    /// mean.
    pub totals: TotalsDocument,
    /// Where the variation comes from; the last source is the errors.
    pub anova: Vec<SourceDocument>,
    /// All pairs of levels, factor by factor, with p adjusted by Tukey's method.
    pub contrasts: Vec<ContrastDocument>,
    /// Checks of the errors.
    pub diagnostics: Vec<DiagnosticDocument>,
    /// Rank tests, which do not assume normality: for one factor, or for two without replications.
    pub rank_tests: Vec<RankTestDocument>,
}

/// An estimate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EstimateDocument {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error; none if the model fits exactly.
    pub std_error: Option<f64>,
    /// One interval for each confidence level.
    pub intervals: Vec<IntervalDocument>,
}

impl From<&Estimate> for EstimateDocument {
    fn from(estimate: &Estimate) -> Self {
        Self {
            estimate: estimate.estimate,
            std_error: estimate.std_error,
            intervals: estimate.intervals.iter().map(|&one| one.into()).collect(),
        }
    }
}

/// An estimate that is a ratio: its error is a factor, so it has no standard error.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RatioDocument {
    /// The estimate.
    pub estimate: f64,
    /// One interval for each confidence level.
    pub intervals: Vec<IntervalDocument>,
}

impl RatioDocument {
    /// The same without a standard error.
    pub(super) fn as_estimate(&self) -> EstimateDocument {
        let (estimate, intervals) = (self.estimate, self.intervals.clone());
        EstimateDocument { estimate, std_error: None, intervals }
    }
}

impl From<&Estimate> for RatioDocument {
    fn from(estimate: &Estimate) -> Self {
        let EstimateDocument { estimate, intervals, .. } = estimate.into();
        Self { estimate, intervals }
    }
}

/// The effect of a level.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EffectDocument {
    /// The factor.
    pub factor: String,
    /// The level.
    pub level: String,
    /// The level's mean less the grand mean.
    #[serde(flatten)]
    pub estimate: EstimateDocument,
    /// The level's geometric mean over the overall one, under a multiplicative model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioDocument>,
}

impl From<&Effect> for EffectDocument {
    fn from(effect: &Effect) -> Self {
        Self {
            factor: effect.factor.clone(),
            level: effect.level.clone(),
            estimate: (&effect.estimate).into(),
            ratio: effect.ratio.as_ref().map(Into::into),
        }
    }
}

/// Sums of squares: the first two about 0, the third about the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TotalsDocument {
    /// Of the observations.
    pub observations: f64,
    /// Of their mean.
    pub mean: f64,
    /// Of the observations about their mean.
    pub about_mean: f64,
    /// Degrees of freedom of `about_mean`.
    pub df: u64,
}

/// A row of the analysis of variance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SourceDocument {
    /// A factor, several joined by " x ", or `errors`.
    pub source: String,
    /// Sum of squares.
    pub sum_sq: f64,
    /// Degrees of freedom.
    pub df: u64,
    /// Mean square.
    pub mean_sq: f64,
    /// F against the errors.
    pub f: Option<f64>,
    /// Probability of an F at least this large if there is no effect.
    pub p: Option<f64>,
    /// Share of the variation, in percent.
    pub percent_of_variation: f64,
    /// For each confidence level, the F that chance exceeds with probability 1 minus the level.
    pub f_quantiles: Vec<FQuantileDocument>,
}

/// A quantile of the F distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FQuantileDocument {
    /// The confidence level.
    pub level: f64,
    /// The quantile.
    pub f: f64,
}

impl From<&Source> for SourceDocument {
    fn from(source: &Source) -> Self {
        let quantiles = source.f_quantiles.iter();
        Self {
            source: source.name.clone(),
            sum_sq: source.sum_sq,
            df: source.df,
            mean_sq: source.mean_sq,
            f: source.f,
            p: source.p,
            percent_of_variation: source.percent_of_variation,
            f_quantiles: quantiles
                .map(|one| FQuantileDocument { level: one.level, f: one.f })
                .collect(),
        }
    }
}

/// The difference of two levels.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ContrastDocument {
    /// The factor.
    pub factor: String,
    /// The level that the other is subtracted from.
    pub first: String,
    /// The level that is subtracted.
    pub second: String,
    /// The difference of their means.
    pub difference: f64,
    /// Its standard error.
    pub std_error: f64,
    /// Intervals for this difference alone.
    pub intervals: Vec<IntervalDocument>,
    /// p for this difference alone.
    pub p: f64,
    /// p adjusted for the number of pairs (Tukey's honestly significant difference).
    pub p_adjusted: f64,
    /// The first geometric mean over the second, under a multiplicative model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioDocument>,
}

impl From<&Contrast> for ContrastDocument {
    fn from(contrast: &Contrast) -> Self {
        Self {
            factor: contrast.factor.clone(),
            first: contrast.first.clone(),
            second: contrast.second.clone(),
            difference: contrast.difference,
            std_error: contrast.std_error,
            intervals: contrast.intervals.iter().map(|&one| one.into()).collect(),
            p: contrast.p,
            p_adjusted: contrast.p_adjusted,
            ratio: contrast.ratio.as_ref().map(Into::into),
        }
    }
}

/// One check of the errors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiagnosticDocument {
    /// Whether it casts doubt on the analysis.
    pub warning: bool,
    /// The result in a sentence, with its number.
    pub message: String,
}

/// A test of a factor by ranks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RankTestDocument {
    /// `Kruskal-Wallis` or `Friedman`; for Friedman, each level of the other factor is a block.
    pub test: &'static str,
    /// The factor.
    pub factor: String,
    /// The statistic, which follows chi-square if there is no effect.
    pub statistic: f64,
    /// Degrees of freedom.
    pub df: u64,
    /// Probability of a statistic at least this large if there is no effect.
    pub p: f64,
}

impl AnovaAnswer {
    /// Analyses the observations.
    ///
    /// # Errors
    /// What [`analyse`] refuses.
    pub fn new(observations: &Observations, options: &Options) -> Result<Self, Refusal> {
        let mut table = TableBuilder::new(observations.factors.iter().cloned())
            .with_offset(observations.offset);
        for (levels, value) in &observations.rows {
            table.row(levels, *value)?;
        }
        let table = table.build()?;
        Ok(Self::from_analysis(&table, &analyse(&table, options)?))
    }

    /// The same, with the levels of these factors alone compared in pairs.
    ///
    /// # Errors
    /// What [`analyse`] refuses.
    pub fn with_pairs_of(
        observations: &Observations,
        options: &Options,
        factors: &[String],
    ) -> Result<Self, Refusal> {
        let mut answer = Self::new(observations, options)?;
        answer.contrasts.retain(|contrast| factors.contains(&contrast.factor));
        Ok(answer)
    }

    /// The answer without what it says of a factor besides its line in the table: one that only
    /// takes up what nobody asks about.
    #[must_use]
    pub fn without(mut self, factor: &str) -> Self {
        self.effects.retain(|effect| effect.factor != factor);
        self.rank_tests.retain(|test| test.factor != factor);
        let of_it = format!(" levels of {factor} are not compared");
        self.diagnostics.retain(|diagnostic| !diagnostic.message.contains(&of_it));
        self
    }

    /// The answer that an analysis of this table gives.
    #[must_use]
    pub fn from_analysis(table: &Table, analysis: &Analysis) -> Self {
        let (factors, totals) = (table.factors(), analysis.totals);
        let diagnostic = |one: &stats::design::Diagnostic| DiagnosticDocument {
            warning: one.is_warning(),
            message: one.to_string(),
        };
        let many = factors.iter().filter(|factor| factor.levels.len() > LEVELS_MAX);
        let not_paired = many.map(|factor| DiagnosticDocument {
            warning: false,
            message: format!(
                "the {} levels of {} are not compared in pairs: the limit is {LEVELS_MAX}",
                factor.levels.len(),
                factor.name
            ),
        });
        Self {
            design: analysis.design.to_string(),
            model: analysis.model.to_string(),
            why: analysis.why.to_string(),
            grand_mean: (&analysis.grand_mean).into(),
            geometric_mean: analysis.geometric_mean.as_ref().map(Into::into),
            effects: analysis.effects.iter().map(Into::into).collect(),
            totals: TotalsDocument {
                observations: totals.observations,
                mean: totals.mean,
                about_mean: totals.about_mean,
                df: totals.df,
            },
            anova: analysis.anova.iter().map(Into::into).collect(),
            contrasts: factors.iter().flat_map(|factor| pairs(analysis, &factor.name)).collect(),
            diagnostics: analysis
                .diagnostics
                .iter()
                .map(diagnostic)
                .chain(not_paired)
                .chain(predicted(analysis))
                .collect(),
            rank_tests: rank_tests(table, analysis.design),
        }
    }

    /// Whether effects multiply.
    #[must_use]
    pub(crate) fn is_multiplicative(&self) -> bool {
        self.model == Model::Multiplicative.to_string()
    }

    /// The text for people, at most `width` columns where sentences can be wrapped.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        anova_text::render(self, width)
    }
}

/// Which model's the means of levels are, where they are not means of what was observed.
fn predicted(analysis: &Analysis) -> Option<DiagnosticDocument> {
    let model = match analysis.predicting? {
        1 => "a model without interactions".to_owned(),
        more => format!("a model with interactions of up to {more} factors"),
    };
    let lack = analysis.anova.iter().find(|source| source.name == LACK_OF_FIT);
    let warning = lack.and_then(|source| source.p).is_some_and(|p| p < WARNING_P);
    let but = if warning { ", which does not fit (see lack of fit)" } else { "" };
    Some(DiagnosticDocument {
        warning,
        message: format!("level means are predicted by {model}{but}"),
    })
}

/// All pairs of levels of a factor; none where the model fits exactly.
fn pairs(analysis: &Analysis, factor: &str) -> Vec<ContrastDocument> {
    let levels = analysis.effects.iter().filter(|effect| effect.factor == factor).count();
    if levels > LEVELS_MAX {
        return Vec::new();
    }
    let pairs = contrasts(analysis, factor, Adjustment::Tukey).unwrap_or_default();
    pairs.iter().map(Into::into).collect()
}

/// The rank tests that there are for a design; those which are refused are left out.
fn rank_tests(table: &Table, design: DesignKind) -> Vec<RankTestDocument> {
    let DesignKind::FullFactorial { factors, replications } = design else { return Vec::new() };
    let of_factor = |factor: &Factor| {
        let (test, found) = match (factors, replications) {
            (1, _) => ("Kruskal-Wallis", ranks::kruskal_wallis(table)),
            (2, Replications::Equal(1)) => ("Friedman", ranks::friedman(table, &factor.name)),
            _ => return None,
        };
        let RankTest { statistic, df, p } = found.ok()?;
        Some(RankTestDocument { test, factor: factor.name.clone(), statistic, df, p })
    };
    table.factors().iter().filter_map(of_factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    fn answer(text: &str, factors: &[&str]) -> AnovaAnswer {
        let grid = Grid::parse("t.csv", text).unwrap();
        let factors: Vec<String> = factors.iter().map(|&name| name.to_owned()).collect();
        let observations = Observations::long(&grid, "y", &factors).unwrap();
        AnovaAnswer::new(&observations, &Options::default()).unwrap()
    }

    /// Statistics and p of `SciPy`'s `friedmanchisquare` and `kruskal`.
    #[track_caller]
    fn assert_tests(answer: &AnovaAnswer, wanted: &[(&str, &str, f64, u64, f64)]) {
        assert_eq!(answer.rank_tests.len(), wanted.len());
        for (got, &(test, factor, statistic, df, p)) in answer.rank_tests.iter().zip(wanted) {
            assert_eq!((got.test, got.factor.as_str(), got.df), (test, factor, df));
            assert!((got.statistic - statistic).abs() < 1e-12, "{got:?}");
            assert!((got.p / p - 1.0).abs() < 1e-9, "{got:?}");
        }
    }

    #[test]
    fn two_factors_without_replications_are_ranked_within_blocks() {
        let mut text = "fs,action,y\n".to_owned();
        for (fs, rates) in [
            ("ext2", "2876 8002 3321 2629 7601"),
            ("FAT16", "2607 6208 2812 2529 7172"),
            ("FAT32", "2325 3781 1779 2404 5030"),
        ] {
            for (action, rate) in rates.split(' ').enumerate() {
                text += &format!("{fs},{action},{rate}\n");
            }
        }
        let found = answer(&text, &["fs", "action"]);
        assert_tests(
            &found,
            &[
                ("Friedman", "fs", 10.0, 2, 0.006_737_946_999_085_468),
                ("Friedman", "action", 28.0 / 3.0, 4, 0.053_286_854_458_472_79),
            ],
        );
        let line = "- rank test: Friedman of fs, chi-square(2) = 10, p = 0.0067\n";
        assert!(found.text(100).contains(line), "{}", found.text(100));
    }

    #[test]
    fn a_combination_that_was_never_observed_is_said_to_be_predicted() {
        let rows = "x,u,1\nx,v,2\ny,u,3\ny,v,4.5\nz,u,5\nx,u,1.5\nx,v,2.5\ny,u,3\ny,v,4\n";
        let found = answer(&format!("a,b,y\n{rows}"), &["a", "b"]);
        let text = found.text(100);
        let design = "Two-factor factorial with 1 to 2 replications, 5 of 6 combinations observed";
        assert!(text.starts_with(design), "{text}");
        assert!(
            text.contains("- level means are predicted by a model without interactions\n"),
            "{text}"
        );
        assert!(text.contains("- No lack of fit is found at 95 % (F = "), "{text}");
        let apart = rows.replace("y,v,4", "y,v,9");
        let text = answer(&format!("a,b,y\n{apart}"), &["a", "b"]).text(100);
        assert!(
            text.contains("! level means are predicted by a model without interactions, which")
        );
        assert!(text.contains("- The model does not fit at 95 % (lack of fit: F = "), "{text}");
        assert_eq!(found.rank_tests, []);
        // (1.25 + 2.25) / 2, (3 + 4.25) / 2, and 5 plus what v adds to u elsewhere.
        let means: Vec<f64> = found.effects[..3]
            .iter()
            .map(|effect| effect.estimate.estimate + found.grand_mean.estimate)
            .collect();
        for (got, wanted) in means.iter().zip([1.75, 3.625, 5.0 + 1.125 / 2.0]) {
            assert!((got - wanted).abs() < 1e-12, "{means:?}");
        }
    }

    #[test]
    fn one_factor_is_ranked_over_all_levels() {
        let text = "a,y\nx,1\nx,2\nx,5\ny,3\ny,6\ny,7\nz,8\nz,9\nz,10\n";
        let found = answer(text, &["a"]);
        let p = 0.038_990_219_574_487_3;
        assert_tests(&found, &[("Kruskal-Wallis", "a", 292.0 / 45.0, 2, p)]);
        let line = "- rank test: Kruskal-Wallis of a, chi-square(2) = 6.4889, p = 0.039\n";
        assert!(found.text(100).ends_with(line), "{}", found.text(100));
    }

    #[test]
    fn replications_of_two_factors_and_tied_blocks_have_no_rank_test() {
        let text = "a,b,y\nx,u,1\nx,v,2\ny,u,3\ny,v,4.5\nx,u,1.5\nx,v,2\ny,u,3\ny,v,4\n";
        assert_tests(&answer(text, &["a", "b"]), &[]);
        let text = "a,b,y\nx,u,1\nx,v,1\ny,u,3\ny,v,3\nz,u,4\nz,v,4\n";
        let found = answer(text, &["a", "b"]);
        assert_eq!(found.rank_tests.iter().map(|one| &one.factor).collect::<Vec<_>>(), ["a"]);
    }
}
