//! What is compared: the targets of one run with one another, or each target with itself in
//! another run.

use std::collections::BTreeMap;

use record::{Better, Cell, Run, StandardMetric};

use super::ComparedMetric;
use crate::analysis::{Gathered, gather};

/// The unit of counts.
const COUNT_UNIT: &str = "count";

/// A run and its name in the comparison.
#[derive(Clone, Debug)]
pub struct NamedRun {
    /// Short and unique: the last component of its path, or more of them if two are alike.
    pub name: String,
    /// The run.
    pub run: Run,
}

/// The values of one target on one benchmark in one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    /// Index of the run in the list.
    pub(super) run: usize,
    pub(super) target: String,
    pub(super) suite: String,
    pub(super) benchmark: String,
    pub(super) title: String,
    pub(super) dimension: String,
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) better: Better,
    /// What was measured, and how.
    pub(super) cell: Cell,
    /// By block.
    pub(super) values: BTreeMap<u32, f64>,
}

impl Series {
    /// Whether the two measured the same thing.
    pub(super) fn has_benchmark_of(&self, other: &Self) -> bool {
        (&self.suite, &self.benchmark, &self.metric)
            == (&other.suite, &other.benchmark, &other.metric)
    }

    /// Whether it is a cost by itself: neither a ratio of two costs, nor merely descriptive.
    pub(super) fn is_cost(&self) -> bool {
        self.metric != StandardMetric::SPEED_UP.name && self.better != Better::Neither
    }

    /// Whether its values are counts, all of them whole numbers.
    pub(super) fn is_counted(&self) -> bool {
        let is_count = |metric: &record::MetricDefinition| {
            metric.name == self.metric && metric.unit == COUNT_UNIT
        };
        self.cell.metrics.iter().any(is_count)
            && self.values.values().all(|value| value.fract() == 0.0)
    }

    /// Values for which smaller is better, by block.
    pub(super) fn costs(&self) -> BTreeMap<u32, f64> {
        let cost = |(&block, &value): (&u32, &f64)| match self.better {
            Better::Lower | Better::Neither => (block, value),
            Better::Higher => (block, 1.0 / value),
        };
        self.values.iter().map(cost).collect()
    }

    /// Whether it is a cost whose values all have a logarithm.
    pub(super) fn has_log_costs(&self) -> bool {
        self.is_cost() && !self.values.is_empty() && self.values.values().all(|&value| value > 0.0)
    }

    /// Whether a value that would be a cost is not positive.
    pub(super) fn has_zero(&self) -> bool {
        self.is_cost() && self.values.values().any(|&value| value <= 0.0)
    }
}

/// Every cell's values of the metric, run by run in the order of the manifests.
pub(super) fn series_of(runs: &[NamedRun], metric: &ComparedMetric) -> Vec<Series> {
    let of_run = |(position, named): (usize, &NamedRun)| {
        let gathered = gather(&named.run);
        let one = |one: &Gathered<'_>| series(position, metric, one, &gathered);
        gathered.iter().filter_map(one).collect::<Vec<Series>>()
    };
    runs.iter().enumerate().flat_map(of_run).collect()
}

/// The named metric; otherwise the primary one or, if the benchmark has a baseline, the speed-up,
/// as in the report of a run.
fn series(
    run: usize,
    metric: &ComparedMetric,
    one: &Gathered<'_>,
    all: &[Gathered<'_>],
) -> Option<Series> {
    let cell = one.cell;
    let (metric, values) = match metric {
        ComparedMetric::Named(name) => {
            one.series(all).into_iter().find(|(metric, _)| metric.name == *name)?
        }
        ComparedMetric::Mean if one.has_speed_up(all) => {
            (StandardMetric::SPEED_UP.definition(), one.speed_up(all))
        }
        ComparedMetric::Mean => (cell.metrics.first()?.clone(), one.values(0)),
    };
    Some(Series {
        run,
        target: cell.target.clone(),
        suite: whole_suite(&cell.suite).to_owned(),
        benchmark: cell.benchmark.clone(),
        title: cell.title.clone(),
        dimension: cell.dimension.name().to_owned(),
        metric: metric.name,
        unit: metric.unit,
        better: metric.better,
        cell: cell.clone(),
        values,
    })
}

/// The suite that a part such as `survey/metadata` belongs to: the benchmarks are the same.
fn whole_suite(suite: &str) -> &str {
    suite.split_once('/').map_or(suite, |(whole, _)| whole)
}

/// What is compared with what: series of one run on each side, or of several runs.
#[derive(Clone, Debug)]
pub(super) struct Question<'a> {
    pub(super) firsts: Vec<&'a Series>,
    pub(super) seconds: Vec<&'a Series>,
    /// The names of the sides, if they are not named after their run.
    pub(super) sides: [Option<&'static str>; 2],
}

/// Pairs to compare, as indices into `series`: within one run all pairs of targets; between runs
/// every later run with the first, target by target.
pub(super) fn pairs(series: &[Series], between_runs: bool) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (first, one) in series.iter().enumerate() {
        for (second, other) in series.iter().enumerate().skip(first + 1) {
            let wanted = if between_runs {
                one.run == 0 && other.run > 0 && one.target == other.target
            } else {
                one.run == other.run
            };
            if wanted && one.has_benchmark_of(other) {
                pairs.push((first, second));
            }
        }
    }
    // Cells may be ordered target by target; comparisons are ordered benchmark by benchmark.
    let place = |index: usize| series.iter().position(|one| one.has_benchmark_of(&series[index]));
    pairs.sort_by_key(|&(first, _)| place(first));
    pairs
}

/// The first series of each target on each benchmark, paired with each later one, whichever runs
/// they belong to: all of them should have measured the same thing.
pub(super) fn with_first(series: &[Series]) -> Vec<(usize, usize)> {
    let first_of = |one: &Series| {
        series.iter().position(|other| other.target == one.target && other.has_benchmark_of(one))
    };
    let pair = |(place, one): (usize, &Series)| Some((first_of(one)?, place));
    series.iter().enumerate().filter_map(pair).filter(|(first, place)| first < place).collect()
}

/// Every pair as a question.
pub(super) fn one_by_one<'a>(series: &'a [Series], pairs: &[(usize, usize)]) -> Vec<Question<'a>> {
    let question = |&(first, second): &(usize, usize)| Question {
        firsts: vec![&series[first]],
        seconds: vec![&series[second]],
        sides: [None; 2],
    };
    pairs.iter().map(question).collect()
}

/// Every target and benchmark that both sides have, with all their runs; the first `firsts` runs
/// form the first side.
pub(super) fn side_by_side(series: &[Series], firsts: usize) -> Vec<Question<'_>> {
    let mut questions: Vec<Question<'_>> = Vec::new();
    for one in series.iter().filter(|one| !one.values.is_empty()) {
        let is_its = |question: &&mut Question<'_>| {
            let first = question.firsts.first().or(question.seconds.first());
            first.is_some_and(|other| other.target == one.target && other.has_benchmark_of(one))
        };
        let own = questions.iter_mut().find(is_its);
        let own = match own {
            Some(own) => own,
            None => {
                let sides = [Some(SIDES[0]), Some(SIDES[1])];
                questions.push(Question { firsts: Vec::new(), seconds: Vec::new(), sides });
                questions.last_mut().expect("it was just pushed")
            }
        };
        (if one.run < firsts { &mut own.firsts } else { &mut own.seconds }).push(one);
    }
    questions.retain(|one| !one.firsts.is_empty() && !one.seconds.is_empty());
    let place = |question: &Question<'_>| {
        series.iter().position(|one| one.has_benchmark_of(question.firsts[0]))
    };
    questions.sort_by_key(place);
    questions
}

/// The series of each target on each benchmark over all runs, benchmark by benchmark.
pub(super) fn of_one_target(series: &[Series]) -> Vec<Vec<&Series>> {
    let mut groups: Vec<Vec<&Series>> = Vec::new();
    for one in series.iter().filter(|one| !one.values.is_empty()) {
        let is_its = |group: &&mut Vec<&Series>| {
            group[0].target == one.target && group[0].has_benchmark_of(one)
        };
        match groups.iter_mut().find(is_its) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    // Cells may be ordered target by target.
    let place = |one: &Series| series.iter().position(|other| other.has_benchmark_of(one));
    groups.sort_by_key(|group| place(group[0]));
    groups
}

/// All pairs of targets on each benchmark, with all their runs: each run contributes a pair.
pub(super) fn over_runs(series: &[Series]) -> Vec<Question<'_>> {
    let mut questions: Vec<Question<'_>> = Vec::new();
    for (first, second) in pairs(series, false) {
        let (one, other) = (&series[first], &series[second]);
        let is_of = |question: &&mut Question<'_>, targets: (&String, &String)| {
            let (first, second) = (question.firsts[0], question.seconds[0]);
            (&first.target, &second.target) == targets && first.has_benchmark_of(one)
        };
        let targets = (&one.target, &other.target);
        if let Some(own) = questions.iter_mut().find(|question| is_of(question, targets)) {
            own.firsts.push(one);
            own.seconds.push(other);
        } else if let Some(own) =
            // A run may have its targets in another order.
            questions
                .iter_mut()
                .find(|question| is_of(question, (targets.1, targets.0)))
        {
            own.firsts.push(other);
            own.seconds.push(one);
        } else {
            let (firsts, seconds) = (vec![one], vec![other]);
            questions.push(Question { firsts, seconds, sides: [Some(SIDES[0]); 2] });
        }
    }
    questions
}

/// The names of the sides in a comparison of several runs.
pub(super) const SIDES: [&str; 2] = ["a", "b"];
