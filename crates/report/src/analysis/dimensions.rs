//! What each target costs in each dimension, relative to each other target.
//!
//! The costs of several benchmarks are of different sizes, so only ratios can be summed up, and of
//! ratios only the geometric mean gives the same answer whichever target they are relative to
//! (Fleming & Wallace, "How Not To Lie With Statistics: The Correct Way To Summarize Benchmark
//! Results", Communications of the ACM 29(3), 1986). Per block, the mean over the benchmarks of
//! the log ratio of costs is one value; Student's t over blocks gives the ratio of the two
//! geometric means its interval, as in [`super::comparisons`].
//!
//! A cost is a primary metric turned so that less is better. No cost of a target are:
//! - what describes and does not judge, and what is better when larger but is no rate;
//! - a speed-up, which is a ratio already, and what it is relative to within its dimension, for it
//!   is measured for the speed-up's sake;
//! - the floor of another benchmark: what the device below takes.
//!
//! A curve counts as one benchmark, whose cost is the geometric mean over its points: a parameter
//! that was varied finely must not outvote the others. Only what both targets have counts, and
//! only the blocks that have all of it: were a benchmark missing in one block, that block's mean
//! would be over others. A cell that was given up does not count at all.
//!
//! The p-values are adjusted among themselves (Benjamini & Hochberg), not together with those of
//! the benchmarks: they ask other questions of the same values, and a benchmark's verdict must not
//! depend on which dimensions the run has besides. So it can be that two targets differ really in
//! a dimension and in none of its benchmarks by itself, or the other way round.

use std::collections::{BTreeMap, BTreeSet};

use record::{Better, Cell, Dimension, DimensionComparison, Manifest, Verdict};

use super::comparisons::{BLOCKS_LEAST, judged};
use super::{Gathered, estimates};

/// Every pair of targets in every dimension in which they have a cost in common; the dimensions in
/// their order, the targets in that of the manifest.
pub(super) fn all(gathered: &[Gathered<'_>], manifest: &Manifest) -> Vec<DimensionComparison> {
    let level = manifest.run.confidence_level;
    let mut of_dimensions: BTreeMap<Dimension, Vec<Costs<'_>>> = BTreeMap::new();
    for costs in gathered.iter().filter_map(|one| Costs::of(one, gathered)) {
        of_dimensions.entry(costs.cell.dimension).or_default().push(costs);
    }
    let labels: Vec<&str> = manifest.targets.iter().map(|target| target.label.as_str()).collect();
    let mut compared = Vec::new();
    for (dimension, costs) in &of_dimensions {
        for (position, first) in labels.iter().enumerate() {
            for second in &labels[position + 1..] {
                let pair = Pair::of(costs, first, second);
                compared.extend(pair.map(|pair| pair.compare(*dimension, level)));
            }
        }
    }
    let p_values: Vec<Option<f64>> = compared.iter().map(|comparison| comparison.p).collect();
    for (comparison, (p_adjusted, verdict)) in compared.iter_mut().zip(judged(&p_values, level)) {
        (comparison.p_adjusted, comparison.verdict) = (p_adjusted, verdict);
    }
    compared
}

/// What one cell costs.
struct Costs<'a> {
    cell: &'a Cell,
    /// Logarithms of the costs, by block.
    logs: BTreeMap<u32, f64>,
}

impl<'a> Costs<'a> {
    /// None where the cell has no cost, or one without a logarithm.
    fn of(one: &Gathered<'a>, all: &[Gathered<'a>]) -> Option<Self> {
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
        has_all.then_some(Self { cell, logs })
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
    /// What both have, by benchmark or curve: the costs of each point on the first and the second.
    benchmarks: Vec<Vec<(&'a Costs<'a>, &'a Costs<'a>)>>,
}

impl<'a> Pair<'a> {
    /// None where the two have nothing in common.
    fn of(costs: &'a [Costs<'a>], first: &'a str, second: &'a str) -> Option<Self> {
        let of_target = |label: &'a str| costs.iter().filter(move |one| one.cell.target == label);
        let mut benchmarks: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for one in of_target(first) {
            let other = of_target(second).find(|other| other.has_benchmark_of(one));
            if let Some(other) = other {
                benchmarks.entry(one.counts_as()).or_default().push((one, other));
            }
        }
        let benchmarks: Vec<_> = benchmarks.into_values().collect();
        (!benchmarks.is_empty()).then_some(Self { first, second, benchmarks })
    }

    fn compare(&self, dimension: Dimension, level: f64) -> DimensionComparison {
        let means = |block: u32| {
            let mean_first = self.geometric_mean(|(first, _)| first.logs[&block]);
            (mean_first, self.geometric_mean(|(_, second)| second.logs[&block]))
        };
        let (firsts, seconds): (Vec<f64>, Vec<f64>) = self.blocks().into_iter().map(means).unzip();
        let blocks = u32::try_from(firsts.len()).unwrap_or(u32::MAX);
        let enough = blocks >= BLOCKS_LEAST;
        let paired = enough.then(|| estimates::ratio_of_pairs(&firsts, &seconds, level)).flatten();
        DimensionComparison {
            dimension,
            first: self.first.to_owned(),
            second: self.second.to_owned(),
            benchmarks: u32::try_from(self.benchmarks.len()).unwrap_or(u32::MAX),
            blocks,
            ratio: paired.map(|paired| paired.ratio),
            interval: paired.map(|paired| paired.interval),
            p: paired.map(|paired| paired.p),
            p_adjusted: None,
            verdict: Verdict::NotEnoughData,
        }
    }

    /// Blocks that have all cells of both.
    fn blocks(&self) -> BTreeSet<u32> {
        let cells = self.benchmarks.iter().flatten().flat_map(|(first, second)| [first, second]);
        let blocks = cells.map(|costs| costs.logs.keys().copied().collect::<BTreeSet<u32>>());
        blocks.reduce(|all, of_cell| &all & &of_cell).unwrap_or_default()
    }

    /// Over the benchmarks, and before that over the points of each curve.
    fn geometric_mean(&self, log: impl Fn(&(&Costs<'_>, &Costs<'_>)) -> f64) -> f64 {
        let of_points = |points: &Vec<(&Costs<'_>, &Costs<'_>)>| mean(points.iter().map(&log));
        mean(self.benchmarks.iter().map(of_points)).exp()
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}
