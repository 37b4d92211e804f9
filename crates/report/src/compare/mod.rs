//! Runs compared: the targets of one run with one another, or later runs with the first one.
//!
//! [`compare`] turns runs into a [`CompareDocument`]; its `text` says the same for people.

mod analysis;
mod comparisons;
mod sides;
mod text;
mod verdict;

use std::path::Path;

use record::{Line, Run};
use schemars::JsonSchema;
use serde::Serialize;
use stats::equivalence::Limits;
use tables::answer::AnovaAnswer;

pub use analysis::Factor;
pub use comparisons::Comparison;
pub use sides::NamedRun;
pub use verdict::Verdict;

/// How to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// Factors of the analysis of variance; empty for those of run, target and benchmark of which
    /// there are several.
    pub factors: Vec<Factor>,
    /// How far from 1 a ratio may be and still be the same: 0.02 is 2 %.
    pub margin: f64,
    /// Confidence level; by default that of the first run.
    pub level: Option<f64>,
}

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A factor of a name that there is not.
    #[error("there is no factor {name}: --factors takes {known}")]
    NoFactor {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// One run, in which nothing was measured on two targets.
    #[error("{run} has no benchmark measured on two targets: name another run to compare it with")]
    NothingWithin {
        /// The run.
        run: String,
    },
    /// The factors that were named do not make a design.
    #[error("no analysis of variance over these factors: {why}")]
    NoDesign {
        /// Why not.
        why: String,
    },
    /// A run in which nothing was measured.
    #[error("{run} holds no replicate: it was not begun, or its journal is lost")]
    NothingMeasured {
        /// The run.
        run: String,
    },
    /// Positions of a search are no benchmarks: each has as many replicates as the search needed.
    #[error(
        "{run} is a search for cliffs, whose positions cannot be compared: see `fsprism report`"
    )]
    Search {
        /// The run.
        run: String,
    },
    /// A factor was named twice.
    #[error("--factors names {name} twice")]
    FactorTwice {
        /// The factor.
        name: String,
    },
    /// Runs that have no cell in common.
    #[error(
        "the runs have no benchmark on a target of one name in common: give targets the same \
         labels (LABEL=TARGET)"
    )]
    NothingBetween,
}

/// What a comparison of runs says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CompareDocument {
    /// The runs.
    pub runs: Vec<RunDocument>,
    /// The confidence level.
    pub level: f64,
    /// How far from 1 a ratio may be and still be the same.
    pub margin: f64,
    /// Every comparison, benchmark by benchmark.
    pub comparisons: Vec<Comparison>,
    /// The analysis of variance of the costs.
    pub analysis: Option<AnovaAnswer>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis_refused: Option<String>,
    /// Benchmarks that are not in the analysis, because not every side has them.
    pub left_out: Vec<String>,
    /// What makes the comparison doubtful.
    pub warnings: Vec<String>,
}

/// A run in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunDocument {
    /// What it is called here.
    pub name: String,
    /// Its targets.
    pub targets: Vec<String>,
    /// Its seed.
    pub seed: u64,
}

/// Names for runs read from `paths`: the last parts, longer where two are alike.
#[must_use]
pub fn name_runs(paths: &[&Path], runs: Vec<Run>) -> Vec<NamedRun> {
    let last = |path: &Path| {
        path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into())
    };
    let short: Vec<String> = paths.iter().map(|path| last(path)).collect();
    let mut names: Vec<String> = Vec::new();
    for (place, name) in short.iter().enumerate() {
        let is_alone = short.iter().filter(|other| *other == name).count() == 1;
        let name = if is_alone { name.clone() } else { paths[place].display().to_string() };
        let again = names.contains(&name);
        names.push(if again { format!("{name} ({})", place + 1) } else { name });
    }
    names.into_iter().zip(runs).map(|(name, run)| NamedRun { name, run }).collect()
}

/// Compares the targets of one run, or each later run with the first.
///
/// # Errors
/// Where there is nothing to compare.
pub fn compare(
    runs: &[NamedRun],
    options: &CompareOptions,
) -> Result<CompareDocument, CompareError> {
    check(runs, &options.factors)?;
    let between = runs.len() > 1;
    let series = sides::series_of(runs);
    let pairs = sides::pairs(&series, between);
    if pairs.is_empty() {
        return Err(match runs {
            [only] => CompareError::NothingWithin { run: only.name.clone() },
            _ => CompareError::NothingBetween,
        });
    }
    let level = options.level.unwrap_or(runs[0].run.manifest.run.confidence_level);
    let limits = Limits { within: options.margin, level };
    let found = analysis::analyse(runs, &series, &options.factors, level);
    let (analysis, analysis_refused) = match found.answer {
        Ok(answer) => (Some(answer), None),
        Err(why) if options.factors.is_empty() => (None, Some(why)),
        Err(why) => return Err(CompareError::NoDesign { why }),
    };
    Ok(CompareDocument {
        runs: runs.iter().map(describe).collect(),
        level,
        margin: options.margin,
        comparisons: comparisons::all(runs, &series, &pairs, limits),
        analysis,
        analysis_refused,
        left_out: found.left_out,
        warnings: warnings(runs),
    })
}

fn check(runs: &[NamedRun], factors: &[Factor]) -> Result<(), CompareError> {
    let is_empty =
        |named: &&NamedRun| !named.run.lines.iter().any(|line| matches!(line, Line::Replicate(_)));
    if let Some(named) = runs.iter().find(is_empty) {
        return Err(CompareError::NothingMeasured { run: named.name.clone() });
    }
    let is_search =
        |named: &&NamedRun| named.run.lines.iter().any(|line| matches!(line, Line::Search(_)));
    if let Some(named) = runs.iter().find(is_search) {
        return Err(CompareError::Search { run: named.name.clone() });
    }
    let twice = |(place, factor): &(usize, &Factor)| factors[..*place].contains(factor);
    match factors.iter().enumerate().find(twice) {
        Some((_, factor)) => Err(CompareError::FactorTwice { name: factor.name().to_owned() }),
        None => Ok(()),
    }
}

fn describe(named: &NamedRun) -> RunDocument {
    let manifest = &named.run.manifest;
    RunDocument {
        name: named.name.clone(),
        targets: manifest.targets.iter().map(|target| target.label.clone()).collect(),
        seed: manifest.run.seed,
    }
}

/// What differs between the runs beside what is compared.
fn warnings(runs: &[NamedRun]) -> Vec<String> {
    let Some((first, rest)) = runs.split_first() else { return Vec::new() };
    let has_ended = |run: &Run| run.lines.iter().any(|line| matches!(line, Line::End(_)));
    let unfinished = runs.iter().filter(|named| !has_ended(&named.run));
    let mut warnings: Vec<String> = unfinished
        .map(|named| {
            format!("{} was cut off before its end (--resume goes on with it)", named.name)
        })
        .collect();
    warnings.extend(rest.iter().flat_map(|other| between(first, other)));
    warnings
}

/// What makes the comparison of two runs doubtful. What was counted in guests depends neither on
/// the machine nor on chance.
fn between(first: &NamedRun, other: &NamedRun) -> Vec<String> {
    let [a, b] = [&first.run.manifest, &other.run.manifest];
    let (first, other) = (&first.name, &other.name);
    if let (Some(one), Some(another)) = (&a.run.guest_kernel, &b.run.guest_kernel) {
        let said = || format!("{first} traced Linux {one}, {other} Linux {another}");
        return (one != another).then(said).into_iter().collect();
    }
    let mut warnings = Vec::new();
    if a.machine.kernel != b.machine.kernel {
        warnings.push(format!("{first} and {other} ran on different kernels"));
    }
    if a.machine.processor != b.machine.processor {
        warnings.push(format!("{first} and {other} ran on different processors"));
    }
    warnings.push(format!(
        "{first} and {other} are one run each, and their blocks do not pair: what the machine did \
         to one and not to the other is in the difference, and how much runs differ by themselves \
         is not known"
    ));
    warnings
}

#[cfg(test)]
mod tests;
