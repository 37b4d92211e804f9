//! 2^k designs and their regular fractions 2^(k-p): every factor at two levels.
//!
//! With the levels coded -1 (the first) and +1 (the second), the effect q of a set of factors is
//! the mean of the observations, each multiplied by its codes (Jain, "The Art of Computer Systems
//! Performance Analysis", chapters 17 and 18): half the difference that the factor makes. All are
//! found at once by the fast Walsh-Hadamard transform, which is Yates's algorithm. Replications
//! give the errors' deviation; the standard error of every effect is that / sqrt(observations).
//!
//! A fraction observes only sums of effects: those whose words differ by a word of the defining
//! relation are confounded (chapter 19). Which words those are is found from the runs themselves,
//! see the module `fraction`.

mod fraction;
#[cfg(test)]
mod tests;

use super::analysis::{Options, Source, Totals};
use super::design_kind::Replications;
use super::model::{Model, Modelled, Why, modelled};
use super::precision::Precision;
use super::{DesignKind, Estimate, Refused, Table};
use crate::refusal::{Refusal, check_open_unit};
use fraction::Fraction;
pub use fraction::Word;

/// The most factors of a two-level design, which have 65,536 sets.
pub const FACTORS_MOST: usize = 16;

/// What a two-level experiment says.
#[derive(Clone, Debug)]
pub struct TwoLevel {
    /// The design, as the observations show it.
    pub design: DesignKind,
    /// The model used. A multiplicative one has all numbers in decimal logarithms.
    pub model: Model,
    /// Why it was used.
    pub why: Why,
    /// q0, the mean of all observations.
    pub grand_mean: Estimate,
    /// The effect of every set of factors that can be told apart, by size, then in their order.
    pub effects: Vec<TwoLevelEffect>,
    /// Sums of squares of the observations and of their mean.
    pub totals: Totals,
    /// Where the variation comes from, effect by effect; the last source is the errors, where
    /// there are replications.
    pub anova: Vec<Source>,
    /// The standard deviation of errors; none without replications.
    pub error_deviation: Option<f64>,
    /// How the fraction was chosen; none for all combinations.
    pub confounding: Option<Confounding>,
    names: Vec<String>,
}

/// The effect of a set of factors, with those it cannot be told from.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoLevelEffect {
    /// The set; of confounded ones, the one with fewest factors.
    pub word: Word,
    /// q: half the change from the first to the second level.
    pub estimate: Estimate,
    /// The share of the total variation, in percent.
    pub percent_of_variation: f64,
    /// The sets that the estimate sums with this one, each with its sign.
    pub aliases: Vec<Word>,
}

/// Which effects a fraction confounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confounding {
    /// The words that define the fraction, one per factor saved: each product is 1 at every run.
    pub generators: Vec<Word>,
    /// All words that are 1 at every run: the generators and their products.
    pub defining_relation: Vec<Word>,
    /// The number of factors of the shortest of them: main effects are confounded with sets of
    /// this size less one.
    pub resolution: u32,
}

/// Analyses a 2^k design or a regular fraction of one, each run observed as often. Options of
/// interaction do not apply: all effects are reported.
///
/// # Errors
/// Refuses levels of confidence outside 0 to 1, more than 16 factors, a factor that has not two
/// levels, runs which are no regular fraction or observed a different number of times,
/// observations that are all equal, and a multiplicative model of values that are not above 0.
pub fn analyse(table: &Table, options: &Options) -> Result<TwoLevel, Refusal> {
    for &level in &options.levels {
        check_open_unit("the level", level)?;
    }
    check_factors(table)?;
    let runs = runs_of(table);
    let fraction = Fraction::of(&runs.codes, table.factors().len())?;
    let modelled = modelled(&runs.table, options.model)?;
    let replications = match modelled.cells.replications() {
        Replications::Equal(times) => times,
        Replications::Unequal { least, most } => {
            let what = "a 2^k design";
            return Err(Refused::Unbalanced { what, least, most }.into());
        }
    };
    let precision = precision(&modelled, &runs, &options.levels);
    let context = Context { table, runs: &runs, fraction: &fraction, modelled, precision };
    Ok(context.gathered(replications))
}

/// The different runs, each a level of the only factor of a table, and the observations of each.
struct Runs {
    /// Bit f says at which level factor f was. Ascending.
    codes: Vec<u32>,
    table: Table,
}

fn check_factors(table: &Table) -> Result<(), Refused> {
    let (given, most) = (table.factors().len(), FACTORS_MOST);
    if given > most {
        return Err(Refused::TooMany { what: "factors", given, most });
    }
    match table.factors().iter().find(|factor| factor.levels.len() != 2) {
        None => Ok(()),
        Some(f) => Err(Refused::NotTwoLevels { factor: f.name.clone(), levels: f.levels.len() }),
    }
}

fn runs_of(table: &Table) -> Runs {
    let mut code_of = vec![0_u32; table.values().len()];
    for (factor, column) in table.levels().iter().enumerate() {
        code_of.iter_mut().zip(column).for_each(|(code, level)| *code |= level << factor);
    }
    let mut codes = code_of.clone();
    codes.sort_unstable();
    codes.dedup();
    let mut number_of = vec![0_u32; 1 << table.factors().len()];
    for (number, &code) in (0..).zip(&codes) {
        number_of[code as usize] = number;
    }
    let levels = code_of.iter().map(|&code| number_of[code as usize]).collect();
    let factor = super::Factor {
        name: "run".to_owned(),
        levels: codes.iter().map(u32::to_string).collect(),
    };
    let table = Table::new(vec![factor], vec![levels], table.values().to_vec())
        .and_then(|runs| runs.with_offset(table.offset()))
        .expect("the same observations as of a valid table");
    Runs { codes, table }
}

/// The errors' deviation, from the observations of each run about their mean.
fn precision(modelled: &Modelled, runs: &Runs, levels: &[f64]) -> Precision {
    let df = (runs.table.values().len() - runs.codes.len()) as u64;
    let deviation = (df > 0)
        .then(|| (modelled.cells.squares_within() / df as f64).sqrt())
        .filter(|deviation| *deviation > modelled.rounding);
    Precision::new(deviation, df, levels)
}

/// What the parts of the analysis are worked out from.
struct Context<'a> {
    table: &'a Table,
    runs: &'a Runs,
    fraction: &'a Fraction,
    modelled: Modelled,
    precision: Precision,
}

impl Context<'_> {
    fn gathered(&self, replications: u64) -> TwoLevel {
        let cells = &self.modelled.cells;
        let variance = 1.0 / cells.observations() as f64;
        let (factors, generators) = (self.table.factors().len(), self.fraction.generators.len());
        let effects = self.effects(variance);
        let names: Vec<String> = self.table.factors().iter().map(|f| f.name.clone()).collect();
        TwoLevel {
            design: DesignKind::TwoLevel { factors, generators, replications },
            model: self.modelled.model,
            why: self.modelled.why,
            grand_mean: self
                .precision
                .estimate(cells.pivot + super::sums::mean(&cells.means), Some(variance)),
            anova: self.anova(&effects, &names),
            effects,
            totals: Totals::of(cells),
            error_deviation: self.precision.deviation,
            confounding: self.fraction.confounding(),
            names,
        }
    }

    fn effects(&self, variance: f64) -> Vec<TwoLevelEffect> {
        let cells = &self.modelled.cells;
        let (observations, total) = (cells.observations() as f64, cells.total_squares);
        let mut effects: Vec<TwoLevelEffect> = self
            .fraction
            .effects(&self.runs.codes, &cells.means)
            .into_iter()
            .map(|(word, q)| TwoLevelEffect {
                word,
                estimate: self.precision.estimate(q, Some(variance)),
                percent_of_variation: 100.0 * (observations * q * q / total),
                aliases: self.fraction.aliases(word),
            })
            .collect();
        effects.sort_by_key(|effect| effect.word.place());
        effects
    }

    fn anova(&self, effects: &[TwoLevelEffect], names: &[String]) -> Vec<Source> {
        let cells = &self.modelled.cells;
        let total = cells.total_squares;
        let source = |name, sum_sq, df| Source::new(name, (sum_sq, df), total);
        let observations = cells.observations() as f64;
        let of_effect = |effect: &TwoLevelEffect| {
            let sum_sq = observations * effect.estimate.estimate.powi(2);
            self.precision.judged(source(effect.word.name(names), sum_sq, 1))
        };
        let mut sources: Vec<Source> = effects.iter().map(of_effect).collect();
        if self.precision.df > 0 {
            let errors = cells.squares_within();
            sources.push(source("errors".to_owned(), errors, self.precision.df));
        }
        sources
    }
}

impl TwoLevel {
    /// A word by the names of its factors, joined by " x ", "-" before it where it is negative.
    pub fn name(&self, word: Word) -> String {
        word.name(&self.names)
    }
}
