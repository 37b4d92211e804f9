//! Runs compared: the targets of one run with one another, or later runs with the first one.
//!
//! [`compare`] turns runs into a [`CompareDocument`]; its `text` says the same for people.

mod analysis;
mod changes;
mod comparisons;
mod differences;
mod figures;
mod gate;
mod metric;
mod plan;
mod plan_text;
mod power;
mod sides;
mod stories;
mod text;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use record::{Line, Run, WarningReport};
use schemars::JsonSchema;
use serde::Serialize;
use stats::dependence::Dependence;
use tables::answer::AnovaAnswer;
use textual::{list, plain_path, plural};

use crate::analysis::MARGIN;
use crate::analysis::busy_of_run;

pub use analysis::Factor;
pub use comparisons::{Comparison, MedianReport};
pub use differences::{RunDifference, Unlike};
pub use figures::RunFigure;
pub use gate::GateAnswer;
pub use metric::ComparedMetric;
pub use plan::{PlanDocument, PlannedComparison, PlannedLength, Proposal, plan};
pub use power::Power;
pub use sides::NamedRun;
use sides::{Question, Series};
pub use verdict::RunVerdict;

/// How to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// What is compared.
    pub metric: ComparedMetric,
    /// Factors of the analysis of variance; empty for those of run, target and benchmark of which
    /// there are several.
    pub factors: Vec<Factor>,
    /// How far from 1 a ratio may be and still be the same: 0.02 is 2 %.
    pub margin: f64,
    /// Confidence level; by default that of the first run.
    pub level: Option<f64>,
    /// Whether cells of two runs are compared that did not measure the same.
    pub unlike: bool,
    /// How many of the runs are the first side, the others being the second, or all, to compare
    /// targets over several runs; none to compare each later run with the first.
    pub first_side: Option<usize>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            metric: ComparedMetric::Mean,
            factors: Vec::new(),
            margin: MARGIN,
            level: None,
            unlike: false,
            first_side: None,
        }
    }
}

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A factor of a name that there is not.
    #[error("unknown factor {name}: --factors takes {known}")]
    NoFactor {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A run of which no benchmark has the metric.
    #[error("no benchmark of {run} has {metric}{takes}: it has {known}")]
    NoMetric {
        /// The run.
        run: String,
        /// The metric.
        metric: String,
        /// What it takes of operations, if it is a quantile of them.
        takes: String,
        /// The metrics that the run has.
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
    #[error("{run} has no replicates: it never started, or its journal is lost")]
    NothingMeasured {
        /// The run.
        run: String,
    },
    /// Positions of a search are no benchmarks: each has as many replicates as the search needed.
    #[error(
        "{run} is a search for cliffs, and their positions cannot be compared: see `fsprism report`"
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
    /// Runs that have cells in common, none of which measured the same.
    #[error(
        "the runs measured no benchmark the same way ({title} on {target}: {why}); --unlike \
         compares them anyway"
    )]
    AllUnlike {
        /// One of them.
        title: String,
        /// Its target.
        target: String,
        /// In what they differ.
        why: String,
    },
    /// A pilot that has nothing in two of its runs.
    #[error(
        "these runs have no benchmark in common that could get worse: a plan takes two or more \
         runs of one command, as --runs makes them"
    )]
    NothingToPlan,
    /// A side with a single run.
    #[error(
        "--a and --b take at least two runs each, because one cannot show how much runs vary; to \
         compare two single runs, use `fsprism compare A B`"
    )]
    OneRunASide,
    /// Runs that have no target in common.
    #[error(
        "the runs share no target of the same name: give targets the same labels (LABEL=TARGET)"
    )]
    NoTargetBetween,
    /// Runs that have no benchmark in common on the targets that they share.
    #[error(
        "the runs share no benchmark on {target}: measure the same suite, or the same benchmarks, \
         in each"
    )]
    NoBenchmarkBetween {
        /// The targets that they share.
        target: String,
    },
}

/// The result of comparing runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CompareDocument {
    /// The runs.
    pub runs: Vec<RunDocument>,
    /// How the later runs differ from the first, other than in what is compared.
    pub differences: Vec<RunDifference>,
    /// What is not compared because the runs measured it differently.
    pub unlike: Vec<Unlike>,
    /// What is compared: `mean` for the primary metric of each benchmark, `p50` or `p99` for that
    /// quantile of each block's operations, or the name of a metric.
    pub metric: String,
    /// Titles of the benchmarks that do not have that metric on every target of every run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_metric: Vec<String>,
    /// The confidence level.
    pub level: f64,
    /// How far from 1 a ratio may be and still count as the same: 0.02 is 2 %.
    pub margin: f64,
    /// What each target took over the runs of a single side, benchmark by benchmark.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<RunFigure>,
    /// Every comparison, benchmark by benchmark.
    pub comparisons: Vec<Comparison>,
    /// What this number of runs per side can show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// The analysis of variance of the costs.
    pub analysis: Option<AnovaAnswer>,
    /// Why there is no analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis_refused: Option<String>,
    /// Titles of the benchmarks left out of the analysis: those that do not have a cost above 0 on
    /// every target of every run, in the blocks that count.
    pub left_out: Vec<String>,
    /// Reasons to doubt the comparison.
    pub warnings: Vec<String>,
}

/// A run in brief.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunDocument {
    /// Its name in this document.
    pub name: String,
    /// The side it is on, if sides have several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Its targets.
    pub targets: Vec<String>,
    /// Its seed.
    pub seed: u64,
}

/// Names for runs read from `paths`: the last component, or more of them if two are alike.
#[must_use]
pub fn name_runs(paths: &[&Path], runs: Vec<Run>) -> Vec<NamedRun> {
    let last = |path: &Path| {
        let name = path.file_name().map(Path::new);
        plain_path(name.unwrap_or(path))
    };
    let short: Vec<String> = paths.iter().map(|path| last(path)).collect();
    let mut names: Vec<String> = Vec::new();
    for (place, name) in short.iter().enumerate() {
        let is_alone = short.iter().filter(|other| *other == name).count() == 1;
        let name = if is_alone { name.clone() } else { plain_path(paths[place]) };
        let again = names.contains(&name);
        names.push(if again { format!("{name} ({})", place + 1) } else { name });
    }
    names.into_iter().zip(runs).map(|(name, run)| NamedRun { name, run }).collect()
}

/// Compares the targets of one run, or each later run with the first.
///
/// # Errors
/// If there is nothing to compare.
pub fn compare(
    runs: &[NamedRun],
    options: &CompareOptions,
) -> Result<CompareDocument, CompareError> {
    check(runs, options)?;
    let mut series = sides::series_of(runs, &options.metric);
    options.metric.check(runs, &series)?;
    let without_metric = options.metric.lacking(runs, &series);
    let not_shared = not_shared(&series, runs.len());
    let unlike = set_aside(runs, &mut series, options);
    let questions = questions(runs, &series, options, &unlike)?;
    let level = options.level.unwrap_or(runs[0].run.manifest.run.confidence_level);
    let rules = comparisons::Rules { level, margin: options.margin };
    let mut compared = comparisons::all(runs, &questions, rules);
    stories::add(runs, options, rules, &mut compared.comparisons);
    let sides = options.first_side.map(|firsts| [firsts, runs.len() - firsts]);
    let sides = sides.filter(|[_, seconds]| *seconds > 0);
    let counts = sides.map(|counts| counts.map(|count| count as u64));
    let power = counts.and_then(|counts| Power::new(compared.deviations, counts, level));

    let over_runs = options.first_side == Some(runs.len());
    let figures = if over_runs { figures::all(&series, level) } else { Vec::new() };
    let found = analysis::analyse(runs, &series, &options.factors, options.first_side, level);
    let (analysis, analysis_refused) = match found.answer {
        Ok(answer) => (Some(answer), None),
        Err(why) if options.factors.is_empty() => (None, Some(why)),
        Err(why) => return Err(CompareError::NoDesign { why }),
    };
    Ok(CompareDocument {
        runs: (0..).zip(runs).map(|(at, run)| describe(at, run, options.first_side)).collect(),
        differences: differences::all(runs),
        unlike,
        metric: options.metric.name().to_owned(),
        without_metric,
        level,
        margin: options.margin,
        figures,
        comparisons: compared.comparisons,
        power,
        analysis,
        analysis_refused,
        left_out: found.left_out,
        warnings: warnings(runs, options, &compared.dependence, not_shared),
    })
}

/// Removes from `series` what the runs measured differently, unless the options ask to compare it.
fn set_aside(runs: &[NamedRun], series: &mut Vec<Series>, options: &CompareOptions) -> Vec<Unlike> {
    if runs.len() < 2 || options.unlike {
        return Vec::new();
    }
    let pairs = sides::with_first(series);
    let different = |&(first, second): &(usize, usize)| {
        let (first, second) = (&series[first], &series[second]);
        differences::unlike(first, second, runs).map(|unlike| (unlike, second.clone()))
    };
    let found: Vec<(Unlike, Series)> = pairs.iter().filter_map(different).collect();
    series.retain(|one| {
        !found.iter().any(|(_, other)| {
            let is_side = one.run == other.run && one.target == other.target;
            is_side && one.has_benchmark_of(other)
        })
    });
    found.into_iter().map(|(unlike, _)| unlike).collect()
}

/// What is compared with what.
fn questions<'a>(
    runs: &[NamedRun],
    series: &'a [Series],
    options: &CompareOptions,
    unlike: &[Unlike],
) -> Result<Vec<Question<'a>>, CompareError> {
    let questions = match options.first_side {
        Some(firsts) if firsts == runs.len() => sides::over_runs(series),
        Some(firsts) => sides::side_by_side(series, firsts),
        None => sides::one_by_one(series, &sides::pairs(series, runs.len() > 1)),
    };
    if let (true, Some(Unlike { title, target, why, .. })) = (questions.is_empty(), unlike.first())
    {
        let (title, target, why) = (title.clone(), target.clone(), why.clone());
        return Err(CompareError::AllUnlike { title, target, why });
    }
    let over_runs = options.first_side == Some(runs.len());
    if questions.is_empty() && !over_runs {
        return Err(match runs {
            [only] => CompareError::NothingWithin { run: only.name.clone() },
            _ => nothing_between(runs),
        });
    }
    Ok(questions)
}

/// Why several runs have nothing to compare.
fn nothing_between(runs: &[NamedRun]) -> CompareError {
    let labels = |named: &NamedRun| -> BTreeSet<String> {
        named.run.manifest.targets.iter().map(|target| target.label.clone()).collect()
    };
    let shared = runs.iter().map(labels).reduce(|all, more| &all & &more).unwrap_or_default();
    if shared.is_empty() {
        return CompareError::NoTargetBetween;
    }
    let shared: Vec<String> = shared.into_iter().collect();
    CompareError::NoBenchmarkBetween { target: list(&shared, "and") }
}

fn check(runs: &[NamedRun], options: &CompareOptions) -> Result<(), CompareError> {
    let factors = &options.factors;
    if let Some(firsts) = options.first_side {
        let seconds = runs.len() - firsts;
        if firsts < 2 || seconds == 1 {
            return Err(CompareError::OneRunASide);
        }
    }
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

fn describe(position: usize, named: &NamedRun, first_side: Option<usize>) -> RunDocument {
    let manifest = &named.run.manifest;
    let side = |firsts| sides::SIDES[usize::from(position >= firsts)].to_owned();
    RunDocument {
        name: named.name.clone(),
        side: first_side.map(side),
        targets: manifest.targets.iter().map(|target| target.label.clone()).collect(),
        seed: manifest.run.seed,
    }
}

/// Why there are fewer comparisons than a run has benchmarks: some were measured in only some of
/// the runs.
fn not_shared(series: &[Series], runs: usize) -> Option<String> {
    const NAMED: usize = 3;
    let mut measured: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for one in series {
        measured.entry(&one.title).or_default().insert(one.run);
    }
    let partly = measured.into_iter().filter(|(_, of)| of.len() < runs);
    let mut titles: Vec<String> = partly.map(|(title, _)| title.to_owned()).collect();
    let count = titles.len();
    titles.truncate(NAMED);
    titles.extend((count > NAMED).then(|| format!("and {}", plural(count - NAMED, "other"))));
    (count > 0).then(|| {
        format!(
            "{} not measured in every run, so not compared: {}",
            plural(count, "benchmark"),
            titles.join("; ")
        )
    })
}

/// Reasons to doubt each of the runs.
fn warnings_of_runs(runs: &[NamedRun]) -> Vec<String> {
    let has_ended = |run: &Run| run.lines.iter().any(|line| matches!(line, Line::End(_)));
    let unfinished = runs.iter().filter(|named| !has_ended(&named.run));
    let mut warnings: Vec<String> = unfinished
        .map(|named| {
            let can_be_resumed = named.run.manifest.run.kind.can_be_resumed();
            let how = if can_be_resumed { " (--resume continues it)" } else { "" };
            format!("{} was cut off{how}", named.name)
        })
        .collect();
    warnings.extend(runs.iter().filter_map(|named| {
        let left_out = WarningReport::from(named.run.left_out()?);
        Some(format!("{}: {}", named.name, left_out.message))
    }));
    warnings.extend(runs.iter().filter_map(|named| {
        let busy = WarningReport::from(busy_of_run(&named.run)?);
        Some(format!("{}: {}", named.name, busy.message))
    }));
    warnings
}

/// Reasons to doubt the comparison.
fn warnings(
    runs: &[NamedRun],
    options: &CompareOptions,
    dependence: &Dependence,
    not_shared: Option<String>,
) -> Vec<String> {
    let Some((first, rest)) = runs.split_first() else { return Vec::new() };
    let mut warnings = warnings_of_runs(runs);
    warnings.extend(not_shared);
    let is_alone = |named: &NamedRun| named.run.manifest.targets.len() == 1;
    if options.first_side == Some(runs.len()) && runs.iter().all(is_alone) {
        let why = "these runs have only one target: compare them with other runs of it (--a, --b)";
        warnings.push(why.to_owned());
    }
    if options.first_side.is_none() {
        warnings.extend(rest.iter().filter_map(|other| between(first, other)));
    }
    if options.factors.iter().any(|factor| factor.is_of_benchmarks()) {
        warnings.push(
            "the analysis of variance assumes that benchmarks in a block are independent; but what \
             slows a target in a block slows all of them, so p is too small for the other factors: \
             leave out --factors to test those"
                .to_owned(),
        );
    }
    if dependence.is_seen() {
        let resemble = if dependence.p <= 0.05 { "resemble" } else { "may resemble" };
        warnings.push(format!(
            "the targets' ratios {resemble} those of the block before (correlation {:.2}): the \
             blocks count as fewer independent blocks, so the intervals are widened",
            dependence.correlation
        ));
    }
    warnings
}

/// A reason to doubt the comparison of two runs. Counts taken in guests do not depend on chance.
fn between(first: &NamedRun, other: &NamedRun) -> Option<String> {
    let is_counted = |named: &NamedRun| named.run.manifest.run.guest_kernel.is_some();
    if is_counted(first) && is_counted(other) {
        return None;
    }
    let (first, other) = (&first.name, &other.name);
    Some(format!(
        "{first} and {other} are single runs, which cannot show how much runs vary by themselves: \
         a difference seen here may not appear in the next two runs; measure each side again and \
         compare with --a and --b"
    ))
}

#[cfg(test)]
mod common_tests;
#[cfg(test)]
mod count_tests;
#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod quantile_tests;
#[cfg(test)]
mod tests;
