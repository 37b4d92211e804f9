//! The analysis of variance over the cells of the runs: which of run, target and dimension the cost
//! depends on, and how much.
//!
//! Costs are values of the primary metrics, inverted if necessary so that less is better. They
//! differ in kind and size, so effects are multiplicative. Whatever happens to a target in one
//! block happens to all its benchmarks there, so these are not independent observations: as in the
//! dimensions of a report, the geometric mean over the benchmarks of a block is one value. Within
//! one run, the blocks are a factor too, since all targets were measured in each; over several
//! runs, the runs are. If a side has several runs, each run is one value.
//!
//! Only what every combination has can be compared. A benchmark that some target or run lacks, or
//! whose costs have no logarithm, is left out and named; blocks and benchmarks are selected to keep
//! as many values as possible. If factors of the benchmarks themselves are asked for, each
//! benchmark is an observation after all, and a warning says what that does to p.

use std::collections::{BTreeMap, BTreeSet};

use stats::design::{ModelChoice, Options};
use tables::Observations;
use tables::answer::AnovaAnswer;

use super::CompareError;
use super::sides::{NamedRun, SIDES, Series};
use crate::analysis::most_complete;

/// A factor of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    /// Which side, if either has several runs.
    Side,
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
    pub const ALL: [Self; 5] =
        [Self::Side, Self::Run, Self::Target, Self::Benchmark, Self::Dimension];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Side => "side",
            Self::Run => "run",
            Self::Target => "target",
            Self::Benchmark => "benchmark",
            Self::Dimension => "dimension",
        }
    }

    /// The factor of this name.
    ///
    /// # Errors
    /// If there is no factor of this name.
    pub fn named(name: &str) -> Result<Self, CompareError> {
        Self::ALL.into_iter().find(|factor| factor.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            CompareError::NoFactor { name: name.to_owned(), known }
        })
    }

    /// Whether its levels are benchmarks, or kinds of them.
    pub(super) fn is_of_benchmarks(self) -> bool {
        matches!(self, Self::Benchmark | Self::Dimension)
    }

    fn level(self, runs: &[NamedRun], firsts: usize, series: &Series) -> String {
        match self {
            Self::Side => SIDES[usize::from(series.run >= firsts)].to_owned(),
            Self::Run => runs[series.run].name.clone(),
            Self::Target => series.target.clone(),
            Self::Benchmark => series.benchmark.clone(),
            Self::Dimension => series.dimension.clone(),
        }
    }
}

/// The analysis, or why there is none, and the benchmarks that are not in it.
pub(super) struct FoundEffects {
    pub(super) answer: Result<AnovaAnswer, String>,
    pub(super) left_out: Vec<String>,
}

/// Analyses `factors`, or the usual ones if it is empty; `first_side` is the number of runs on the
/// first side.
pub(super) fn analyse(
    runs: &[NamedRun],
    series: &[Series],
    factors: &[Factor],
    first_side: Option<usize>,
    level: f64,
) -> FoundEffects {
    let CompleteSeries { series: kept, blocks, left_out } = complete(series, runs.len() > 1);
    if kept.is_empty() {
        let answer = Err("no benchmark has a cost on every target of every run".to_owned());
        return FoundEffects { answer, left_out };
    }
    let firsts = first_side.unwrap_or(runs.len());
    let several = |factor: &Factor| {
        let mut levels = kept.iter().map(|one| factor.level(runs, firsts, one));
        levels.next().is_some_and(|first| levels.any(|level| level != first))
    };
    let of_runs = if first_side.is_some() { Factor::Side } else { Factor::Run };
    let usual = [of_runs, Factor::Target].into_iter().filter(several);
    let is_usual = factors.is_empty();
    let factors = if is_usual { usual.collect() } else { factors.to_vec() };
    let over_runs = first_side == Some(runs.len());
    let has_blocks = is_usual && (runs.len() == 1 || over_runs);
    // One value per combination of levels, run and block; if a side has several runs, per run.
    let mut logs: BTreeMap<(Vec<String>, usize, Option<u32>), Vec<f64>> = BTreeMap::new();
    for one in &kept {
        let levels: Vec<String> =
            factors.iter().map(|factor| factor.level(runs, firsts, one)).collect();
        let costs = one.costs();
        let least = blocks.get(&one.run).into_iter().flatten();
        for block in least {
            let own = first_side.is_none().then_some(*block);
            logs.entry((levels.clone(), one.run, own)).or_default().push(costs[block].ln());
        }
    }
    let row = |((mut levels, run, block), logs): ((Vec<String>, usize, Option<u32>), Vec<f64>)| {
        let block = block.map_or_else(|| runs[run].name.clone(), |block| format!("{block:04}"));
        levels.extend(has_blocks.then_some(block));
        (levels, (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    let rows = equally_many(logs.into_iter().map(row).collect());
    let mut names: Vec<String> = factors.iter().map(|factor| factor.name().to_owned()).collect();
    // It is expected that benchmarks differ in cost, and that blocks differ.
    let no_news = Factor::Benchmark.name();
    let compared: Vec<String> = names.iter().filter(|name| *name != no_news).cloned().collect();
    let blocks = if over_runs { Factor::Run.name() } else { BLOCK };
    names.extend(has_blocks.then(|| blocks.to_owned()));
    let options =
        Options { model: ModelChoice::Multiplicative, levels: vec![level], ..Options::default() };
    let observations = Observations { factors: names, offset: 0.0, rows, lines: Vec::new() };
    let answer = AnovaAnswer::with_pairs_of(&observations, &options, &compared)
        .map(|answer| if has_blocks { answer.without(blocks) } else { answer })
        .map_err(|refusal| refusal.to_string());
    FoundEffects { answer, left_out }
}

/// The factor that absorbs what all targets of a block have in common.
const BLOCK: &str = "block";

/// The earliest rows of each combination, as many as the combination with the fewest rows has.
fn equally_many(rows: Vec<(Vec<String>, f64)>) -> Vec<(Vec<String>, f64)> {
    let mut counts: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (levels, _) in &rows {
        *counts.entry(levels.clone()).or_default() += 1;
    }
    let least = counts.values().copied().min().unwrap_or(0);
    let mut taken: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let is_early = |(levels, _): &(Vec<String>, f64)| {
        let count = taken.entry(levels.clone()).or_default();
        *count += 1;
        *count <= least
    };
    rows.into_iter().filter(is_early).collect()
}

/// The data to analyse.
struct CompleteSeries<'a> {
    series: Vec<&'a Series>,
    /// The blocks that count, by run.
    blocks: BTreeMap<usize, BTreeSet<u32>>,
    left_out: Vec<String>,
}

/// The series of benchmarks that every target of every run has in the selected blocks, and the
/// titles of the other benchmarks.
fn complete(series: &[Series], between: bool) -> CompleteSeries<'_> {
    let mut sides: Vec<(usize, &str)> =
        series.iter().map(|one| (one.run, one.target.as_str())).collect();
    sides.sort_unstable();
    sides.dedup();
    let mut of_benchmark: BTreeMap<(&str, &str), Vec<&Series>> = BTreeMap::new();
    for one in series.iter().filter(|one| one.has_log_costs()) {
        of_benchmark.entry((&one.suite, &one.benchmark)).or_default().push(one);
    }
    of_benchmark.retain(|_, own| own.len() == sides.len());
    let mut blocks = BTreeMap::new();
    let runs: BTreeSet<usize> = sides.iter().map(|&(run, _)| run).collect();
    for run in runs {
        let of_run = |own: &Vec<&Series>| {
            let own = own.iter().filter(|one| one.run == run);
            let blocks = own.map(|one| one.values.keys().copied().collect::<BTreeSet<u32>>());
            blocks.reduce(|all, own| &all & &own).unwrap_or_default()
        };
        let sets: Vec<BTreeSet<u32>> = of_benchmark.values().map(of_run).collect();
        let most = most_complete(&sets);
        let mut have = sets.iter().map(|set| most.is_subset(set) && !most.is_empty());
        of_benchmark.retain(|_, _| have.next().unwrap_or(false));
        blocks.insert(run, most);
    }
    if between {
        let least = blocks.values().map(BTreeSet::len).min().unwrap_or(0);
        for own in blocks.values_mut() {
            *own = own.iter().copied().take(least).collect();
        }
    }
    let is_kept = |one: &&Series| {
        one.has_log_costs()
            && of_benchmark.contains_key(&(one.suite.as_str(), one.benchmark.as_str()))
    };
    // Each title once, with whether any value is 0 on any side.
    let mut left_out: Vec<(&str, bool)> = Vec::new();
    for one in series.iter().filter(|one| !is_kept(one)) {
        match left_out.iter_mut().find(|(title, _)| *title == one.title) {
            Some((_, has_zero)) => *has_zero |= one.has_zero(),
            None => left_out.push((&one.title, one.has_zero())),
        }
    }
    let named = |(title, has_zero): (&str, bool)| {
        if has_zero { format!("{title} (a value is 0)") } else { title.to_owned() }
    };
    let left_out = left_out.into_iter().map(named).collect();
    CompleteSeries { series: series.iter().filter(is_kept).collect(), blocks, left_out }
}
