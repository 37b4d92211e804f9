//! Rondinelli, "File Systems Performance Analysis" (ETH Zurich): ext2, FAT16 and FAT32 under the
//! five sequential workloads of Bonnie, a two-factor full factorial design without replications
//! following Jain, "The Art of Computer Systems Performance Analysis", chapter 21.
//!
//! One number in the paper is a slip: the standard deviation of the difference between two file
//! systems is printed as 1322.89, which is `s_e sqrt(5/2)`; the formula beside it, and Jain's, say
//! `s_e sqrt(2/5)` = 529.15. The paper's intervals and conclusion are based on the slip.
//!
//! [`RunAnalysis`] is the same experiment on this machine, with replications.

mod measured;
mod published;
mod raw;
mod tables;
mod text;

use record::Run;
use serde::Serialize;
use stats::Refusal;
use stats::design::{Analysis, ModelChoice, Options, TableBuilder, analyse};

use crate::item::{Agreement, Item};
pub use measured::{
    Clock, DifferenceRow, EffectRow, Estimate, Outcome, RateRow, RunAnalysis, ShareRow, SourceRow,
    Statement,
};
pub use published::RawRow;

/// The suite whose runs are reproduced here.
pub const SUITE: &str = "bonnie-anova";

/// What was reproduced, and with what results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// The paper.
    pub paper: &'static str,
    /// What Bonnie printed.
    pub raw: Vec<RawRow>,
    /// Its tables.
    pub tables: Vec<PaperTable>,
    /// Where the paper's numbers differ from the recomputed ones, and why.
    pub findings: Vec<Finding>,
    /// The experiment as measured here; `None` if there is no run and only the paper's numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<RunAnalysis>,
    /// The same as counted in a guest; `None` if this kernel has all of the paper's file systems,
    /// or no guest was available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<RunAnalysis>,
}

/// A run of Bonnie, and its name.
#[derive(Clone, Copy)]
pub struct NamedRun<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its name.
    pub name: &'a str,
}

/// One table of the paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaperTable {
    /// Its section and heading.
    pub title: &'static str,
    /// Its numbers.
    pub items: Vec<Item>,
}

/// A way in which the paper's numbers differ from the recomputed ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// In a few words.
    pub what: String,
    /// The explanation.
    pub why: String,
}

impl Reproduction {
    /// How many numbers agree in this way.
    #[must_use]
    pub fn count(&self, agreement: Agreement) -> usize {
        let items = self.tables.iter().flat_map(|table| &table.items);
        items.filter(|item| item.agreement == agreement).count()
    }

    /// Renders the reproduction for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        text::render(self, width)
    }
}

/// Whether a run lacks one of the paper's file systems.
#[must_use]
pub fn lacks_some(run: &Run) -> bool {
    let has = |name: &str| run.manifest.targets.iter().any(|target| target.label == name);
    published::FILE_SYSTEMS.into_iter().any(|name| !has(name))
}

/// Recomputes every number of section 3, and adds what runs have measured and counted, if there are
/// any.
///
/// # Errors
/// Never in practice: the paper's data support the analysis.
pub fn reproduce(
    measured: Option<NamedRun<'_>>,
    counted: Option<NamedRun<'_>>,
) -> Result<Reproduction, Refusal> {
    let analysis = analysis(published::RATES)?;
    let tables = tables::all(&analysis)?;
    Ok(Reproduction {
        paper: "Rondinelli, File Systems Performance Analysis (Bonnie, analysis of variance)",
        raw: published::RAW.to_vec(),
        findings: findings(&analysis, &tables)?,
        measured: measured.map(|run| RunAnalysis::new(run, Clock::Time, &analysis)),
        counted: counted.map(|run| RunAnalysis::new(run, Clock::Instructions, &analysis)),
        tables,
    })
}

/// The analysis of these rates, with a row for each action.
fn analysis(rates: [[f64; 3]; 5]) -> Result<Analysis, Refusal> {
    let levels = [0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
    let options =
        Options { model: ModelChoice::Additive, levels: levels.to_vec(), ..Options::default() };
    analyse(&observations(rates)?, &options)
}

fn observations(rates: [[f64; 3]; 5]) -> Result<stats::design::Table, Refusal> {
    let mut table = TableBuilder::new(["file system", "action"]);
    for (action, rates) in published::ACTIONS.iter().zip(rates) {
        for (file_system, rate) in published::FILE_SYSTEMS.iter().zip(rates) {
            table.row(&[*file_system, *action], rate)?;
        }
    }
    table.build()
}

fn findings(analysis: &Analysis, tables: &[PaperTable]) -> Result<Vec<Finding>, Refusal> {
    let error = analysis.error_deviation.unwrap_or(f64::NAN);
    let pairs = tables::pairs(analysis)?;
    let sentence: Vec<String> = pairs
        .iter()
        .map(|pair| {
            let interval = pair.intervals.iter().find(|one| tables::is_level(one.level, 0.95));
            let interval = interval
                .map_or_else(String::new, |one| format!(" ({:.0}, {:.0})", one.low, one.high));
            format!(
                "{} - {} = {:.0}{interval}, p = {}",
                pair.first,
                pair.second,
                pair.difference,
                Significant(pair.p)
            )
        })
        .collect();
    let slip = Finding {
        what: "the standard deviation of the difference between two file systems is wrong"
            .to_owned(),
        why: format!(
            "The paper prints 1322.89, which is s_e sqrt(5/2) = {:.2}. Its own formula, and Jain's \
             (equation of contrasts: s_e sqrt(sum of h^2 / b) with b = 5 actions), give s_e \
             sqrt(2/5) = {:.2}. With that, at 95 %: {}. So ext2 is faster than FAT32 with more \
             than 99 % confidence, not \"almost 80 %\"; FAT16 and FAT32 just miss 95 %.",
            error * 2.5f64.sqrt(),
            error * 0.4f64.sqrt(),
            sentence.join("; ")
        ),
    };
    let truncated = Finding {
        what: "two F quantiles are off by one in their last digit".to_owned(),
        why:
            "The table of F prints 4.4 where the quantile is 4.459, and 8.7 where it is 8.649. No \
              conclusion depends on it."
                .to_owned(),
    };
    let prose = Finding {
        what: "the prose says 17.0 where the table says 17.9".to_owned(),
        why: "The computed F of the action is 17.92; the table is right.".to_owned(),
    };
    let rounding = tables
        .iter()
        .flat_map(|table| &table.items)
        .filter(|item| item.agreement == Agreement::Rounding && item.column.starts_with("90 %"))
        .count();
    let rounded = Finding {
        what: format!("{rounding} ends of intervals at 90 % are off by one"),
        why: "The paper took 1.86 for the quantile of t, which is 1.8595.".to_owned(),
    };
    let mut all = vec![slip, misprint(analysis)?, truncated, prose, rounded];
    all.extend(raw::findings());
    Ok(all)
}

/// What changes if the observation is used that Bonnie printed.
fn misprint(analysis: &Analysis) -> Result<Finding, Refusal> {
    let mut rates = published::RATES;
    rates[3][2] = raw::PRINTED;
    let corrected = self::analysis(rates)?;
    let of = |analysis: &Analysis| {
        let f = |name: &str| {
            let source = analysis.anova.iter().find(|source| source.name == name);
            source.and_then(|source| source.f).unwrap_or(f64::NAN)
        };
        tables::FACTORS.map(f)
    };
    let ([file_system, action], [own_file_system, own_action]) = (of(&corrected), of(analysis));
    Ok(Finding {
        what: "one observation is not what Bonnie printed".to_owned(),
        why: format!(
            "Input per character on FAT32 is 2407 kB/s in section 2.2, and 2404 in 3.1 and in all \
             that follows. It matters little: with 2407, F is {file_system:.2} and {action:.2} \
             rather than {own_file_system:.2} and {own_action:.2}."
        ),
    })
}

/// A p-value with two significant digits.
struct Significant(f64);

impl std::fmt::Display for Significant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = if self.0 < 0.01 {
            4
        } else if self.0 < 0.1 {
            3
        } else {
            2
        };
        write!(f, "{:.digits$}", self.0)
    }
}
