//! How many runs of what length detect a change, based on a pilot of a few runs of one command.
//!
//! A run's figure varies for two reasons: its blocks vary, which longer runs average out; and runs
//! differ from one another, which only more runs average out ([`stats::planning::runs`]). A
//! comparison detects a change with some number of runs per side if it would show it at least four
//! times in five. If nothing changed, the same number of runs rules out a change of that size just
//! as often. A gate over many comparisons is green only if all of them rule it out at once.

use record::{Better, Line};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Sample;
use stats::planning::fewest;
use stats::planning::power::{power_of_runs, runs_needed};
use stats::planning::runs::{RunSpread, spreads};

use super::comparisons::POWER;
use super::sides::{self, Series};
use super::{CompareError, CompareOptions, NamedRun, Unlike, check, set_aside, warnings_of_runs};

/// Largest number of runs per side that is considered.
pub(super) const RUNS_MAX: u64 = 100;
/// Lengths of runs that are considered, as multiples of the pilot's.
const LENGTHS: [u32; 3] = [1, 2, 4];
/// The shares of comparisons for which there are plans, in percent.
const HALF_PERCENT: usize = 50;
pub(super) const MOST_PERCENT: usize = 90;

/// How many runs of what length show a change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanDocument {
    /// Names of the runs of the pilot.
    pub runs: Vec<String>,
    /// The targets.
    pub targets: Vec<String>,
    /// The change that is to be seen, in percent.
    pub change_percent: f64,
    /// The confidence level.
    pub level: f64,
    /// How often each comparison would show the change, from 0 to 1.
    pub power: f64,
    /// Blocks of a run of the pilot, the median over its runs.
    pub blocks: u64,
    /// How long a run of the pilot measured, in seconds, the median over its runs.
    pub measured_s: f64,
    /// What a run takes in addition to measuring, in seconds: for making targets, and for its page.
    pub beside_s: f64,
    /// How much results vary from run to run: the standard deviation of their logarithm in percent,
    /// the median over comparisons.
    pub runs_differ_percent: f64,
    /// The part of that variance that is due to blocks, from 0 to 1, the median over comparisons.
    pub within_share: f64,
    /// Lengths of runs, and how many of each it takes.
    pub lengths: Vec<PlannedLength>,
    /// The runs that take least time to show it in nine in ten of the comparisons or, if none do,
    /// in half of them; none if not even half would show it with 100 runs a side.
    pub proposal: Option<Proposal>,
    /// Each comparison, in the order of the benchmarks.
    pub comparisons: Vec<PlannedComparison>,
    /// Titles of benchmarks, one for each target, that have fewer than two runs whose values are
    /// all above 0.
    pub not_planned: Vec<String>,
    /// Reasons to doubt the pilot.
    pub warnings: Vec<String>,
}

/// Runs of one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlannedLength {
    /// How many times as long as a run of the pilot.
    pub times: u32,
    /// How long it measures, in seconds.
    pub measured_s: f64,
    /// How many blocks it has.
    pub blocks: u64,
    /// Number of runs a side with which half of the comparisons would show the change; none if more
    /// than 100.
    pub half: Option<u64>,
    /// Number of runs a side with which nine in ten of the comparisons would show it.
    pub most: Option<u64>,
    /// Number of runs a side with which all comparisons at once rule the change out if nothing
    /// changed.
    pub all: Option<u64>,
}

/// What to measure before the change, and again after it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Proposal {
    /// How many times as long as a run of the pilot.
    pub times: u32,
    /// Number of runs a side.
    pub runs: u64,
    /// The share of comparisons that would show the change, in percent.
    pub share_percent: usize,
    /// How long both sides take, in seconds.
    pub seconds: f64,
}

/// One benchmark on one target, compared with itself.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlannedComparison {
    /// The suite.
    pub suite: String,
    /// The benchmark.
    pub benchmark: String,
    /// Its title.
    pub title: String,
    /// The target.
    pub target: String,
    /// How much its figure varies from run to run: the standard deviation of its logarithm in
    /// percent, drawn towards that of the other comparisons, since few runs say little of one
    /// alone.
    pub runs_differ_percent: f64,
    /// The part of that variance that is due to blocks, from 0 to 1.
    pub within_share: f64,
    /// Number of runs a side, each as long as those of the pilot, that show the change; none if
    /// more than 100.
    pub runs_needed: Option<u64>,
}

/// Plans how to detect a change (0.05 for 5 %), based on the runs of a pilot.
///
/// # Errors
/// If the runs cannot be compared, or have no benchmark in common.
pub fn plan(
    runs: &[NamedRun],
    change: f64,
    options: &CompareOptions,
) -> Result<PlanDocument, CompareError> {
    let options = CompareOptions { first_side: Some(runs.len()), ..options.clone() };
    check(runs, &options)?;
    let mut series = sides::series_of(runs, &options.metric);
    options.metric.check(runs, &series)?;
    let unlike = set_aside(runs, &mut series, &options);
    let can_get_worse =
        |group: &Vec<&Series>| group[0].better != Better::Neither && !group[0].is_counted();
    let groups: Vec<Vec<&Series>> =
        sides::of_one_target(&series).into_iter().filter(can_get_worse).collect();
    let values = |group: &Vec<&Series>| -> Vec<Vec<f64>> {
        group.iter().map(|one| one.values.values().copied().collect()).collect()
    };
    let all: Vec<Vec<Vec<f64>>> = groups.iter().map(values).collect();
    let found: Vec<(&Vec<&Series>, Option<RunSpread>)> = groups.iter().zip(spreads(&all)).collect();
    let spread: Vec<RunSpread> = found.iter().filter_map(|(_, spread)| *spread).collect();
    if spread.is_empty() {
        return Err(CompareError::NothingToPlan);
    }
    let level = options.level.unwrap_or(runs[0].run.manifest.run.confidence_level);
    let wish = DetectableChange { change: change.ln_1p(), level };
    let length = PilotLength::from_runs(runs);
    let lengths: Vec<PlannedLength> =
        LENGTHS.iter().map(|&times| wish.length(times, &length, &spread)).collect();
    let compared = found.iter().filter_map(|(group, spread)| Some((group[0], (*spread)?)));
    let missing = found.iter().filter(|(_, spread)| spread.is_none());
    Ok(PlanDocument {
        runs: runs.iter().map(|run| run.name.clone()).collect(),
        targets: targets(&groups),
        change_percent: 100.0 * change,
        level,
        power: POWER,
        blocks: length.blocks,
        measured_s: length.measured_s,
        beside_s: length.beside_s,
        runs_differ_percent: 100.0 * median(spread.iter().map(|one| one.variance.sqrt())),
        within_share: median(spread.iter().map(share_within)),
        proposal: proposal(&lengths, length.beside_s),
        lengths,
        comparisons: compared.map(|(one, spread)| wish.comparison(one, &spread)).collect(),
        not_planned: missing.map(|(group, _)| group[0].title.clone()).collect(),
        warnings: unlike
            .first()
            .map(of_two_commands)
            .into_iter()
            .chain(warnings_of_runs(runs))
            .collect(),
    })
}

/// Runs that measured different things do not show how much runs vary.
fn of_two_commands(Unlike { title, target, why, .. }: &Unlike) -> String {
    format!("these are not runs of one command: {title} on {target}: {why}")
}

fn targets(groups: &[Vec<&Series>]) -> Vec<String> {
    let mut targets: Vec<String> = Vec::new();
    for group in groups {
        if !targets.contains(&group[0].target) {
            targets.push(group[0].target.clone());
        }
    }
    targets
}

fn share_within(spread: &RunSpread) -> f64 {
    if spread.variance > 0.0 { spread.within / spread.variance } else { 0.0 }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    Sample::new(values).map_or(0.0, |sample| sample.median())
}

/// How long a run of the pilot is.
struct PilotLength {
    blocks: u64,
    measured_s: f64,
    beside_s: f64,
}

impl PilotLength {
    fn from_runs(runs: &[NamedRun]) -> Self {
        let measured = |run: &NamedRun| {
            let end =
                run.run.lines.iter().find_map(|line| {
                    if let Line::End(end) = line { Some(end.used_s) } else { None }
                });
            end.unwrap_or(run.run.manifest.run.budget_s)
        };
        let blocks = |run: &NamedRun| {
            let blocks = run.run.lines.iter().filter_map(|line| {
                if let Line::Replicate(one) = line { Some(one.block + 1) } else { None }
            });
            u64::from(blocks.max().unwrap_or(1))
        };
        let mut blocks: Vec<u64> = runs.iter().map(blocks).collect();
        blocks.sort_unstable();
        let began = |run: &NamedRun| humantime::parse_rfc3339(&run.run.manifest.run.started).ok();
        // One run follows the other: the shortest time between them includes the least unrelated
        // work.
        let beside = runs.windows(2).filter_map(|pair| {
            let between = began(&pair[1])?.duration_since(began(&pair[0])?).ok()?;
            Some((between.as_secs_f64() - measured(&pair[0])).max(0.0))
        });
        let beside = beside.fold(f64::INFINITY, f64::min);
        Self {
            blocks: blocks[blocks.len() / 2],
            measured_s: median(runs.iter().map(measured)),
            beside_s: if beside.is_finite() { beside } else { 0.0 },
        }
    }
}

/// The change to detect.
struct DetectableChange {
    /// The logarithm of the ratio.
    change: f64,
    level: f64,
}

impl DetectableChange {
    /// Number of runs per side that detect the change; `None` if more than [`RUNS_MAX`].
    fn needed(&self, variance: f64) -> Option<u64> {
        let deviations = self.change / variance.sqrt();
        runs_needed(deviations, self.level, POWER, RUNS_MAX).ok().flatten()
    }

    fn length(&self, times: u32, pilot: &PilotLength, spreads: &[RunSpread]) -> PlannedLength {
        let variances: Vec<f64> =
            spreads.iter().map(|one| one.of_longer(f64::from(times))).collect();
        let mut needed: Vec<Option<u64>> =
            variances.iter().map(|&variance| self.needed(variance)).collect();
        needed.sort_by_key(|runs| runs.unwrap_or(u64::MAX));
        PlannedLength {
            times,
            measured_s: pilot.measured_s * f64::from(times),
            blocks: pilot.blocks * u64::from(times),
            half: needed[at_percent(needed.len(), HALF_PERCENT)],
            most: needed[at_percent(needed.len(), MOST_PERCENT)],
            all: self.needed_at_once(&variances),
        }
    }

    /// Number of runs per side with which all comparisons rule the change out at once, as often as
    /// one alone would detect it, if they vary independently.
    fn needed_at_once(&self, variances: &[f64]) -> Option<u64> {
        let is_enough = |runs: u64| {
            let logs = variances.iter().map(|variance| {
                let deviations = self.change / variance.sqrt();
                power_of_runs(deviations, [runs; 2], self.level).map_or(f64::NEG_INFINITY, f64::ln)
            });
            logs.sum::<f64>() >= POWER.ln()
        };
        fewest(RUNS_MAX, is_enough)
    }

    fn comparison(&self, one: &Series, spread: &RunSpread) -> PlannedComparison {
        PlannedComparison {
            suite: one.suite.clone(),
            benchmark: one.benchmark.clone(),
            title: one.title.clone(),
            target: one.target.clone(),
            runs_differ_percent: 100.0 * spread.variance.sqrt(),
            within_share: share_within(spread),
            runs_needed: self.needed(spread.variance),
        }
    }
}

/// Index of the last of the first `percent` percent.
pub(super) fn at_percent(count: usize, percent: usize) -> usize {
    (count * percent).div_ceil(100).max(1) - 1
}

/// The plan that takes least time, for most of the comparisons or else for half of them.
fn proposal(lengths: &[PlannedLength], beside_s: f64) -> Option<Proposal> {
    let cheapest = |share_percent, runs: fn(&PlannedLength) -> Option<u64>| {
        let all = lengths.iter().filter_map(|length| {
            let runs = runs(length)?;
            let seconds = length.seconds(runs, beside_s);
            Some(Proposal { times: length.times, runs, share_percent, seconds })
        });
        all.min_by(|one, other| one.seconds.total_cmp(&other.seconds))
    };
    cheapest(MOST_PERCENT, |length| length.most)
        .or_else(|| cheapest(HALF_PERCENT, |length| length.half))
}

impl PlannedLength {
    /// How long this many runs per side take, for both sides together.
    pub(super) fn seconds(&self, runs: u64, beside_s: f64) -> f64 {
        2.0 * runs as f64 * (self.measured_s + beside_s)
    }
}
