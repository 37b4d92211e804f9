//! The analysis of variance over the cells of the runs: which of run, target, benchmark and
//! dimension the cost depends on, and how much.
//!
//! Costs are values of the primary metrics turned so that less is better. They are of different
//! kinds and sizes, so effects multiply. Only what every combination has can be compared: a
//! benchmark that some target or run lacks is left out, and named; of all cells as many values
//! count as the least of them has, the earliest blocks.

use std::collections::BTreeMap;

use stats::design::{ModelChoice, Options};
use tables::Observations;
use tables::answer::AnovaAnswer;

use super::CompareError;
use super::sides::{NamedRun, Series};

/// A factor of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    /// Which run.
    Run,
    /// Which target.
    Target,
    /// Which benchmark.
    Benchmark,
    /// Which dimension the benchmark isolates.
    Dimension,
}

impl Factor {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Run, Self::Target, Self::Benchmark, Self::Dimension];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Target => "target",
            Self::Benchmark => "benchmark",
            Self::Dimension => "dimension",
        }
    }

    /// The factor of this name.
    ///
    /// # Errors
    /// A name that no factor has.
    pub fn named(name: &str) -> Result<Self, CompareError> {
        Self::ALL.into_iter().find(|factor| factor.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            CompareError::NoFactor { name: name.to_owned(), known }
        })
    }

    fn level(self, runs: &[NamedRun], series: &Series) -> String {
        match self {
            Self::Run => runs[series.run].name.clone(),
            Self::Target => series.target.clone(),
            Self::Benchmark => series.benchmark.clone(),
            Self::Dimension => series.dimension.clone(),
        }
    }
}

/// The analysis, or why there is none, and which benchmarks are not in it.
pub(super) struct Found {
    pub(super) answer: Result<AnovaAnswer, String>,
    pub(super) left_out: Vec<String>,
}

pub(super) fn analyse(
    runs: &[NamedRun],
    series: &[Series],
    factors: &[Factor],
    level: f64,
) -> Found {
    let (complete, left_out) = complete(series);
    if complete.is_empty() {
        let answer = Err("no benchmark has a cost on every target of every run".to_owned());
        return Found { answer, left_out };
    }
    let several = |factor: &Factor| {
        let mut levels = complete.iter().map(|one| factor.level(runs, one));
        levels.next().is_some_and(|first| levels.any(|level| level != first))
    };
    let usual = [Factor::Run, Factor::Target, Factor::Benchmark].into_iter().filter(several);
    let factors = if factors.is_empty() { usual.collect() } else { factors.to_vec() };
    let least = complete.iter().map(|one| one.values.len()).min().unwrap_or(0);
    let mut rows = Vec::new();
    for one in &complete {
        let levels: Vec<String> = factors.iter().map(|factor| factor.level(runs, one)).collect();
        rows.extend(one.costs().into_iter().take(least).map(|cost| (levels.clone(), cost)));
    }
    let factors = factors.iter().map(|factor| factor.name().to_owned()).collect();
    let options =
        Options { model: ModelChoice::Multiplicative, levels: vec![level], ..Options::default() };
    let observations = Observations { factors, offset: 0.0, rows, lines: Vec::new() };
    // That one benchmark costs more than another is no news.
    let no_news = Factor::Benchmark.name();
    let compared: Vec<String> =
        observations.factors.iter().filter(|name| *name != no_news).cloned().collect();
    let answer = AnovaAnswer::with_pairs_of(&observations, &options, &compared)
        .map_err(|refusal| refusal.to_string());
    Found { answer, left_out }
}

/// The series of benchmarks that every target of every run has, all in one kind of metric, and the
/// titles of the others.
fn complete(series: &[Series]) -> (Vec<&Series>, Vec<String>) {
    let mut sides: Vec<(usize, &str)> =
        series.iter().map(|one| (one.run, one.target.as_str())).collect();
    sides.sort_unstable();
    sides.dedup();
    let mut of_benchmark: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for one in series.iter().filter(|one| one.is_cost() && !one.values.is_empty()) {
        *of_benchmark.entry((&one.suite, &one.benchmark)).or_default() += 1;
    }
    let is_complete = |one: &&Series| {
        one.is_cost()
            && !one.values.is_empty()
            && of_benchmark.get(&(one.suite.as_str(), one.benchmark.as_str())) == Some(&sides.len())
    };
    let complete: Vec<&Series> = series.iter().filter(is_complete).collect();
    let mut left_out: Vec<String> = Vec::new();
    for one in series.iter().filter(|one| !is_complete(one)) {
        if !left_out.contains(&one.title) {
            left_out.push(one.title.clone());
        }
    }
    (complete, left_out)
}
