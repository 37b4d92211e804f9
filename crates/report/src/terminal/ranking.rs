//! The targets of one benchmark from best to worst, and how each compares with the others.

use record::{
    Better, CellReport, Comparison, Document, IntervalReport, MetricReport, StandardMetric, Verdict,
};

use crate::analysis::{BLOCKS_MIN, Quantile};

/// One measured target of a benchmark.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedTarget<'a> {
    pub(super) cell: &'a CellReport,
    /// The primary metric.
    pub(super) metric: &'a MetricReport,
}

/// One benchmark over all targets.
#[derive(Clone, Debug)]
pub(super) struct Ranking<'a> {
    /// Measured targets, the best first.
    pub(super) entries: Vec<RankedTarget<'a>>,
    /// Targets without a figure.
    pub(super) absent: Vec<&'a CellReport>,
}

/// How a target compares with a better one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Relation {
    pub(super) verdict: Verdict,
    /// Blocks in which both were measured.
    pub(super) blocks: u32,
    /// How many times slower it is, whichever direction of the metric is better.
    pub(super) slower: Option<Slowdown>,
    /// The p-value, adjusted for the number of comparisons in the run.
    pub(super) p: Option<f64>,
}

/// A ratio with its interval; above 1 for a slower target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slowdown {
    pub(super) ratio: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Slowdown {
    /// From a ratio of second over first: how much slower the second is or, if not `is_second`, the
    /// first.
    pub(super) fn new(ratio: f64, interval: &IntervalReport, is_second: bool) -> Self {
        let (low, high) = (interval.low, interval.high);
        if is_second {
            Self { ratio, low, high }
        } else {
            Self { ratio: 1.0 / ratio, low: 1.0 / high, high: 1.0 / low }
        }
    }
}

impl<'a> Ranking<'a> {
    /// The ranking of `cells`, which are those of one benchmark.
    pub(super) fn new(cells: &[&'a CellReport]) -> Self {
        let measured =
            |cell: &'a CellReport| cell.metrics.first().map(|metric| RankedTarget { cell, metric });
        Self::by_metric(cells, measured)
    }

    /// The ranking of `cells` by another metric; `None` if no cell has it.
    pub(super) fn of(standard: StandardMetric, cells: &[&'a CellReport]) -> Option<Self> {
        let measured = |cell: &'a CellReport| {
            let metric = cell.metric(standard)?;
            Some(RankedTarget { cell, metric })
        };
        Some(Self::by_metric(cells, measured)).filter(|ranking| !ranking.entries.is_empty())
    }

    fn by_metric(
        cells: &[&'a CellReport],
        measured: impl Fn(&'a CellReport) -> Option<RankedTarget<'a>>,
    ) -> Self {
        let mut entries: Vec<RankedTarget<'a>> =
            cells.iter().copied().filter_map(&measured).collect();
        entries.sort_by(|left, right| {
            let ascending = left.metric.figure.value.total_cmp(&right.metric.figure.value);
            if left.metric.better == Better::Higher { ascending.reverse() } else { ascending }
        });
        let absent = cells.iter().copied().filter(|&cell| measured(cell).is_none()).collect();
        Self { entries, absent }
    }
}

/// Whether no benchmark has enough blocks for comparisons: then that is said once, at the top.
pub(super) fn has_too_few_blocks(document: &Document) -> bool {
    let blocks = document.cells.iter().map(|cell| cell.replicates).max().unwrap_or(0);
    document.searches.is_empty() && (1..BLOCKS_MIN).contains(&blocks)
}

/// How `worse` compares with `better`.
pub(super) fn relation(
    document: &Document,
    better: RankedTarget<'_>,
    worse: RankedTarget<'_>,
) -> Relation {
    let RankedTarget { cell, metric } = better;
    relation_in(&document.comparisons, &metric.name, metric.better, cell, worse.cell)
}

/// Like [`relation`], in the time of programs without their start, which both are ranked by.
pub(super) fn without_start(
    document: &Document,
    better: RankedTarget<'_>,
    worse: RankedTarget<'_>,
) -> Relation {
    let (RankedTarget { cell, metric }, all) = (better, &document.comparisons_without_start);
    relation_in(all, &metric.name, metric.better, cell, worse.cell)
}

/// Like [`relation`], in the median of single operations.
pub(super) fn by_median(
    document: &Document,
    better: RankedTarget<'_>,
    worse: RankedTarget<'_>,
) -> Relation {
    let (comparisons, metric) = (&document.quantile_comparisons, Quantile::P50.name());
    relation_in(comparisons, metric, Better::Lower, better.cell, worse.cell)
}

/// How the target of `worse` compares with that of `better` in a metric, for which either direction
/// may be better.
fn relation_in(
    comparisons: &[Comparison],
    metric: &str,
    direction: Better,
    better: &CellReport,
    worse: &CellReport,
) -> Relation {
    let (a, b) = (&better.target, &worse.target);
    let found = comparisons.iter().find(|comparison| {
        let pair = (&comparison.first, &comparison.second);
        comparison.benchmark == better.benchmark
            && comparison.metric == metric
            && (pair == (a, b) || pair == (b, a))
    });
    let Some(comparison) = found else {
        return Relation { verdict: Verdict::NotEnoughData, blocks: 0, slower: None, p: None };
    };
    // The ratio is second over first; times increase with slowness, rates decrease.
    let grows = direction != Better::Higher;
    let is_slowness = (comparison.first == *a) == grows;
    let slower = comparison.ratio.zip(comparison.interval);
    let slower = slower.map(|(ratio, interval)| Slowdown::new(ratio, &interval, is_slowness));
    Relation {
        verdict: comparison.verdict,
        blocks: comparison.blocks,
        slower,
        p: comparison.p_adjusted,
    }
}
