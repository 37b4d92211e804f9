//! What each target costs in each dimension, relative to each other target.
//!
//! The costs of several benchmarks differ in size, so only ratios can be summarised, and of all
//! summaries of ratios only the geometric mean gives the same answer whichever target is the
//! reference (Fleming & Wallace, "How Not To Lie With Statistics: The Correct Way To Summarize
//! Benchmark Results", Communications of the ACM 29(3), 1986). Each block contributes one value:
//! the mean log ratio of costs over the benchmarks. Student's t over blocks gives the interval of
//! the ratio of the two geometric means, as in [`super::comparisons`].
//!
//! A cost is a primary metric, inverted if necessary so that less is better. These are not costs:
//! - a metric that describes rather than judges, and one that is better when larger but is not a
//!   rate;
//! - a speed-up, which already is a ratio, and its baseline if that is in the same dimension, since
//!   it is measured only for the speed-up;
//! - the floor of another benchmark, which is what the device below takes.
//!
//! A curve counts as one benchmark, whose cost is the geometric mean over its points: a parameter
//! that was varied in fine steps must not outvote the others. Only what both targets have is
//! counted, and it is the same in each block: if a benchmark were missing in one block, that
//! block's mean would be over a different set. Blocks and benchmarks are selected to keep as many
//! values as possible. A cell that was abandoned is not counted.
//!
//! The p-values are adjusted among themselves (Benjamini & Hochberg), not together with those of
//! the benchmarks: they ask different questions of the same values, and a benchmark's verdict must
//! not depend on which dimensions the run also covers. Two targets can therefore have a real
//! difference in a dimension without one in any of its benchmarks, or the other way round.

use std::collections::{BTreeMap, BTreeSet};

use record::{Better, Cell, Dimension, DimensionComparison, Manifest};

use stats::dependence::Dependence;

use super::Gathered;
use super::judged::{self, IsBusy, Judgement, MARGIN, Pairs, most_complete};

/// Every pair of targets in every dimension in which both have a cost: dimensions in their usual
/// order, targets in that of the manifest. Successive blocks are taken to be correlated at least as
/// strongly as those of the benchmarks.
pub(super) fn all(
    gathered: &[Gathered<'_>],
    manifest: &Manifest,
    dependence: Dependence,
) -> Vec<DimensionComparison> {
    let level = manifest.run.confidence_level;
    let of_run = IsBusy::of_run(gathered);
    let mut of_dimensions: BTreeMap<Dimension, Vec<CellCosts<'_>>> = BTreeMap::new();
    for costs in gathered.iter().filter_map(|one| CellCosts::new(one, gathered)) {
        of_dimensions.entry(costs.cell.dimension).or_default().push(costs);
    }
    let labels: Vec<&str> = manifest.targets.iter().map(|target| target.label.as_str()).collect();
    let mut questions = Vec::new();
    for (dimension, costs) in &of_dimensions {
        for (position, first) in labels.iter().enumerate() {
            for second in &labels[position + 1..] {
                let pair = Pair::new(costs, first, second);
                questions.extend(pair.map(|pair| (*dimension, pair)));
            }
        }
    }
    let pairs: Vec<Pairs> = questions.iter().map(|(_, pair)| pair.by_block()).collect();
    // Averaging leaves what the benchmarks have in common, which may persist for longer.
    let own = judged::dependence(pairs.iter());
    let dependence = if own.correlation > dependence.correlation { own } else { dependence };
    let answers = pairs.iter().map(|pairs| pairs.compared(&dependence)).collect();
    let judged = judged::judge(answers, level, MARGIN);
    let answers = questions.iter().zip(&pairs).zip(judged);
    answers
        .map(|(((dimension, pair), pairs), judged)| {
            pair.comparison(
                *dimension,
                pairs,
                judged.allowing_for(pair.is_busy().or(of_run), level),
            )
        })
        .collect()
}

/// What one cell costs.
struct CellCosts<'a> {
    cell: &'a Cell,
    /// Logarithms of the costs, by block.
    logs: BTreeMap<u32, f64>,
    is_busy: IsBusy,
}

impl<'a> CellCosts<'a> {
    /// `None` if the cell has no cost, or one without a logarithm.
    fn new(one: &Gathered<'a>, all: &[Gathered<'a>]) -> Option<Self> {
        let cell = one.cell;
        let metric = cell.metrics.first()?;
        let sign = match metric.better {
            Better::Lower => 1.0,
            Better::Higher if metric.unit.ends_with("/s") => -1.0,
            Better::Higher | Better::Neither => return None,
        };
        let is_own = !one.is_searched && one.failed.is_none() && !one.has_speed_up(all);
        let serves = |other: &Gathered<'_>| {
            let is_baseline = other.cell.baseline.as_ref() == Some(&cell.benchmark)
                && other.cell.dimension == cell.dimension;
            is_baseline || other.cell.floor.as_ref() == Some(&cell.benchmark)
        };
        if !is_own || all.iter().any(serves) {
            return None;
        }
        let logs: BTreeMap<u32, f64> =
            one.values(0).into_iter().map(|(block, cost)| (block, sign * cost.ln())).collect();
        let has_all = !logs.is_empty() && logs.values().all(|log| log.is_finite());
        let is_busy = IsBusy::in_some(one.replicates.values().copied());
        has_all.then_some(Self { cell, logs, is_busy })
    }

    /// Whether the two measured the same thing.
    fn has_benchmark_of(&self, other: &Self) -> bool {
        let key = |cell: &'a Cell| (&cell.suite, &cell.benchmark, &cell.metrics[0].name);
        key(self.cell) == key(other.cell)
    }

    /// The benchmark, or the curve that the cell is a point of.
    fn counts_as(&self) -> (&'a str, bool, &'a str) {
        let Cell { suite, benchmark, curve, .. } = self.cell;
        let name = curve.as_ref().map_or(benchmark, |point| &point.curve);
        (suite, curve.is_some(), name)
    }
}

/// Two targets in one dimension.
struct Pair<'a> {
    first: &'a str,
    second: &'a str,
    /// What both have, by benchmark or curve: the costs of each point on the first and on the
    /// second.
    benchmarks: Vec<Vec<(&'a CellCosts<'a>, &'a CellCosts<'a>)>>,
    /// The blocks that count.
    blocks: BTreeSet<u32>,
}

impl<'a> Pair<'a> {
    /// `None` if the two have nothing in common.
    fn new(costs: &'a [CellCosts<'a>], first: &'a str, second: &'a str) -> Option<Self> {
        let of_target = |label: &'a str| costs.iter().filter(move |one| one.cell.target == label);
        let mut benchmarks: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for one in of_target(first) {
            let other = of_target(second).find(|other| other.has_benchmark_of(one));
            if let Some(other) = other {
                benchmarks.entry(one.counts_as()).or_default().push((one, other));
            }
        }
        let benchmarks: Vec<_> = benchmarks.into_values().collect();
        let blocks = BTreeSet::new();
        let pair = Self { first, second, benchmarks, blocks };
        (!pair.benchmarks.is_empty()).then(|| pair.complete())
    }

    /// Whether other programs kept the machine busy while any of it was measured.
    fn is_busy(&self) -> IsBusy {
        let mut all = self.benchmarks.iter().flatten().flat_map(|(one, other)| [one, other]);
        if all.any(|one| one.is_busy == IsBusy::Yes) { IsBusy::Yes } else { IsBusy::No }
    }

    /// The mean cost on each of the two, by block.
    fn by_block(&self) -> Pairs {
        let of = |cost: fn(&(&CellCosts<'_>, &CellCosts<'_>), u32) -> f64| -> BTreeMap<u32, f64> {
            let mean = |block| (block, self.geometric_mean(|pair| cost(pair, block)));
            self.blocks.iter().copied().map(mean).collect()
        };
        Pairs::new(
            &of(|(first, _), block| first.logs[&block]),
            &of(|(_, second), block| second.logs[&block]),
        )
    }

    fn comparison(
        &self,
        dimension: Dimension,
        pairs: &Pairs,
        judged: Judgement,
    ) -> DimensionComparison {
        DimensionComparison {
            dimension,
            first: self.first.to_owned(),
            second: self.second.to_owned(),
            benchmarks: u32::try_from(self.benchmarks.len()).unwrap_or(u32::MAX),
            blocks: pairs.len(),
            ratio: judged.ratio,
            interval: judged.interval,
            p: judged.p,
            p_adjusted: judged.p_adjusted,
            verdict: judged.verdict,
        }
    }

    /// Selects the blocks that count, and drops benchmarks that were not measured in all of them.
    fn complete(mut self) -> Self {
        let blocks_of = |points: &Vec<(&CellCosts<'_>, &CellCosts<'_>)>| {
            let cells = points.iter().flat_map(|(first, second)| [first, second]);
            let blocks = cells.map(|costs| costs.logs.keys().copied().collect::<BTreeSet<u32>>());
            blocks.reduce(|all, of_cell| &all & &of_cell).unwrap_or_default()
        };
        let sets: Vec<BTreeSet<u32>> = self.benchmarks.iter().map(blocks_of).collect();
        self.blocks = most_complete(&sets);
        let mut have = sets.iter().map(|set| self.blocks.is_subset(set));
        self.benchmarks.retain(|_| have.next().unwrap_or(false));
        self
    }

    /// The mean over benchmarks, where a curve contributes the mean over its points.
    fn geometric_mean(&self, log: impl Fn(&(&CellCosts<'_>, &CellCosts<'_>)) -> f64) -> f64 {
        let of_points =
            |points: &Vec<(&CellCosts<'_>, &CellCosts<'_>)>| mean(points.iter().map(&log));
        mean(self.benchmarks.iter().map(of_points)).exp()
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}
