//! The rows of the plot: the targets of each dimension, each compared with the cheapest.

use record::{Dimension, DimensionComparison, Document, Verdict};

use crate::terminal::grid::CostRatio;

/// One dimension.
#[derive(Clone, Debug)]
pub(in crate::terminal) struct Group<'a> {
    pub(in crate::terminal) dimension: Dimension,
    /// Number of benchmarks in the comparison that has the most.
    pub(in crate::terminal) benchmarks: u32,
    /// The cheapest first.
    pub(in crate::terminal) rows: Vec<Row<'a>>,
    /// Targets of the run that have nothing to compare in this dimension.
    pub(in crate::terminal) absent: Vec<&'a str>,
}

/// One target in one dimension.
#[derive(Clone, Copy, Debug)]
pub(in crate::terminal) struct Row<'a> {
    pub(in crate::terminal) target: &'a str,
    /// Its comparison with the cheapest; `None` for the cheapest itself, or if they have nothing in
    /// common.
    pub(in crate::terminal) comparison: Option<&'a DimensionComparison>,
    is_cheapest: bool,
}

impl Row<'_> {
    /// Its cost over that of the cheapest; `None` if that is unknown.
    pub(super) fn span(&self) -> Option<CostRatio> {
        if self.is_cheapest {
            return Some(CostRatio { ratio: 1.0, low: 1.0, high: 1.0 });
        }
        span(self.comparison?, self.target)
    }

    /// The verdict on it and the cheapest.
    pub(in crate::terminal) fn verdict(&self) -> Option<Verdict> {
        self.comparison.map(|comparison| comparison.verdict)
    }
}

/// The cost of `target` over that of the other in the comparison.
fn span(comparison: &DimensionComparison, target: &str) -> Option<CostRatio> {
    let (ratio, interval) = comparison.ratio.zip(comparison.interval)?;
    Some(if comparison.second == target {
        CostRatio { ratio, low: interval.low, high: interval.high }
    } else {
        CostRatio { ratio: 1.0 / ratio, low: 1.0 / interval.high, high: 1.0 / interval.low }
    })
}

/// The dimensions in which at least two targets can be compared, in their order.
pub(in crate::terminal) fn groups(document: &Document) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for of_dimension in document.dimensions.chunk_by(|one, next| one.dimension == next.dimension) {
        if of_dimension.iter().any(|comparison| comparison.ratio.is_some()) {
            groups.push(group(document, of_dimension));
        }
    }
    groups
}

fn group<'a>(document: &'a Document, comparisons: &'a [DimensionComparison]) -> Group<'a> {
    let labels = document.targets.iter().map(|target| target.label.as_str());
    let is_compared = |label: &&str| comparisons.iter().any(|one| holds(one, label));
    let (targets, absent): (Vec<&str>, Vec<&str>) = labels.partition(is_compared);
    let cheapest = cheapest(&targets, comparisons);
    let row = |target: &&'a str| Row {
        target,
        comparison: comparisons
            .iter()
            .find(|one| *target != cheapest && holds(one, target) && holds(one, cheapest)),
        is_cheapest: *target == cheapest,
    };
    let mut rows: Vec<Row<'_>> = targets.iter().map(row).collect();
    let ratio = |row: &Row<'_>| row.span().map_or(f64::INFINITY, |span| span.ratio);
    rows.sort_by(|left, right| {
        right.is_cheapest.cmp(&left.is_cheapest).then(ratio(left).total_cmp(&ratio(right)))
    });
    let benchmarks = comparisons.iter().map(|one| one.benchmarks).max().unwrap_or(0);
    Group { dimension: comparisons[0].dimension, benchmarks, rows, absent }
}

fn holds(comparison: &DimensionComparison, label: &str) -> bool {
    comparison.first == label || comparison.second == label
}

/// The target that is cheaper than most others. If pairs have different benchmarks in common, three
/// targets can be cheaper than one another in a circle; then it is the one with the largest
/// factors.
fn cheapest<'a>(targets: &[&'a str], comparisons: &[DimensionComparison]) -> &'a str {
    let standing = |target: &&str| {
        let of_target = comparisons.iter().filter(|one| holds(one, target));
        let logs = of_target.filter_map(|one| span(one, target)).map(|span| span.ratio.ln());
        let (mut wins, mut sum) = (0_i64, 0.0);
        for log in logs {
            wins += if log <= 0.0 { 1 } else { -1 };
            sum -= log;
        }
        (wins, sum)
    };
    let best = targets.iter().copied().reduce(|best, target| {
        let (one, other) = (standing(&best), standing(&target));
        let is_better = other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)).is_gt();
        if is_better { target } else { best }
    });
    best.unwrap_or_default()
}
