//! The figures that are shown beside ratios.
//!
//! A reader divides one figure by another and expects the ratio. But medians are taken for each
//! target separately, while ratios are taken block by block, which cancels whatever disturbed a
//! block. In surveys on a busy machine, two in five quotients of medians are off by more than 5 %,
//! and from one run to the next they vary half as much again as ratios do. So the ratios are kept,
//! and figures are medians moved, for all targets of a benchmark together, until their quotients
//! are the ratios. The ratios among three targets need not be consistent. In that case both are the
//! closest fit ([`stats::reconciled`]), which moves ratios by 0.5 % or so, within their intervals.

use record::{CellReport, Comparison, Figure, IntervalReport, MetricReport, StandardMetric};
use stats::reconciled::{Distance, reconciled};

/// No ratio is weighted as if its interval were narrower than this fraction of the widest one: if
/// weights are further apart, the equations lose precision.
const WIDTH_MIN: f64 = 1e-3;

/// Anything smaller is a rounding error.
const STEP_MIN: f64 = 1e-9;

/// Metrics that all express the time of an operation: if one moves, the others move with it.
const OF_ONE_TIME: [StandardMetric; 4] = [
    StandardMetric::TIME_PER_OPERATION,
    StandardMetric::TIME_PER_KIB,
    StandardMetric::THROUGHPUT,
    StandardMetric::BANDWIDTH,
];

/// Moves the figures of each compared metric so that their quotients are the ratios, and makes the
/// ratios of the comparisons consistent with them.
pub(super) fn settle(cells: &mut [CellReport], comparisons: &mut [Comparison]) {
    let is_of_one = |one: &Comparison, other: &Comparison| {
        one.benchmark == other.benchmark && one.metric == other.metric
    };
    for of_one in comparisons.chunk_by_mut(is_of_one) {
        let metric = of_one[0].metric.clone();
        let mut own: Vec<&mut CellReport> =
            cells.iter_mut().filter(|cell| cell.benchmark == of_one[0].benchmark).collect();
        own.retain(|cell| level(cell, &metric).is_some());
        settle_one(&mut own, of_one, &metric);
    }
}

/// The logarithm of the metric's figure, if it has one.
fn level(cell: &CellReport, metric: &str) -> Option<f64> {
    let own = cell.metrics.iter().find(|own| own.name == metric)?;
    (own.figure.value > 0.0).then(|| own.figure.value.ln())
}

/// Like [`settle`], for one metric of one benchmark.
fn settle_one(cells: &mut [&mut CellReport], comparisons: &mut [Comparison], metric: &str) {
    let place = |target: &String| cells.iter().position(|cell| cell.target == *target);
    let compared: Vec<(usize, usize, &mut Comparison)> = comparisons
        .iter_mut()
        .filter_map(|one| Some((place(&one.first)?, place(&one.second)?, one)))
        .collect();
    let known = |(from, to, one): &(usize, usize, &mut Comparison)| {
        let width = one.interval.map_or(0.0, |interval| (interval.high / interval.low).ln());
        Some(KnownRatio { from: *from, to: *to, log_ratio: one.ratio?.ln(), width })
    };
    let known: Vec<KnownRatio> = compared.iter().filter_map(known).collect();
    let levels: Vec<f64> = cells.iter().filter_map(|cell| level(cell, metric)).collect();
    let settled = settled(&levels, &known);
    for (from, to, one) in compared {
        let ratio = (settled[to] - settled[from]).exp();
        if let Some(own) = one.ratio.as_mut().filter(|own| is_step(ratio / **own)) {
            *own = ratio;
        }
    }
    for (cell, (to, from)) in cells.iter_mut().zip(settled.iter().zip(&levels)) {
        let by = (to - from).exp();
        if is_step(by) {
            move_by(cell, metric, by);
        }
    }
}

/// What is known about two targets: the logarithm of their ratio, and the width of its interval.
struct KnownRatio {
    from: usize,
    to: usize,
    log_ratio: f64,
    width: f64,
}

/// The levels closest to those of the medians whose differences agree with what is known.
fn settled(medians: &[f64], known: &[KnownRatio]) -> Vec<f64> {
    let widest = known.iter().map(|one| one.width).fold(0.0, f64::max);
    let distance = |one: &KnownRatio| {
        let width = one.width.max(WIDTH_MIN * widest);
        let weight = if width > 0.0 { width.powi(-2) } else { 1.0 };
        Distance { from: one.from, to: one.to, distance: one.log_ratio, weight }
    };
    reconciled(medians, &known.iter().map(distance).collect::<Vec<_>>())
}

fn is_step(by: f64) -> bool {
    (by - 1.0).abs() > STEP_MIN
}

/// Moves the metric's figure, and those of metrics that express the same time.
fn move_by(cell: &mut CellReport, metric: &str, by: f64) {
    let is_time = |own: &MetricReport| OF_ONE_TIME.iter().any(|one| own.is(*one));
    let own = cell.metrics.iter().find(|own| own.name == metric);
    let Some((better, has_others)) = own.map(|own| (own.better, is_time(own))) else { return };
    for other in &mut cell.metrics {
        if other.name == metric || has_others && is_time(other) {
            let by = if other.better == better { by } else { by.recip() };
            other.figure = moved(other.figure, by);
        }
    }
}

fn moved(figure: Figure, by: f64) -> Figure {
    let interval = figure.interval.map(|IntervalReport { level, low, high }| IntervalReport {
        level,
        low: low * by,
        high: high * by,
    });
    Figure { value: figure.value * by, interval }
}

#[cfg(test)]
mod coverage;

#[cfg(test)]
mod tests {
    use record::{Better, Document};

    use super::*;
    use crate::sample::{Sample, noisy};

    /// Blocks that are up to four times slower, for all targets alike; each target has its own
    /// noise as well, and one outlier per block.
    fn swept() -> Document {
        let pace = [1.0, 1.1, 3.9, 1.0, 1.2, 1.0, 2.2, 1.4, 1.0];
        let series = |centre: f64, seed: u64| -> Vec<f64> {
            let own = noisy(centre, 0.03, seed, pace.len());
            own.iter().zip(&pace).map(|(own, pace)| own * pace).collect()
        };
        let mut far_off = series(1300.0, 3);
        far_off[4] *= 40.0;
        Sample::new(&["a", "b", "c"])
            .benchmark("create", &[&series(1000.0, 1), &series(1100.0, 2), &far_off])
            .document()
    }

    fn figure_of<'a>(document: &'a Document, target: &str, metric: &str) -> &'a MetricReport {
        let cell = document.cells.iter().find(|cell| cell.target == target).unwrap();
        cell.metrics.iter().find(|own| own.name == metric).unwrap()
    }

    #[test]
    fn each_ratio_is_the_quotient_of_the_figures_beside_it() {
        let document = swept();
        assert_eq!(document.comparisons.len(), 3);
        for one in &document.comparisons {
            let of = |target| figure_of(&document, target, &one.metric).figure.value;
            let (ratio, quotient) = (one.ratio.unwrap(), of(&one.second) / of(&one.first));
            assert!((ratio / quotient - 1.0).abs() < 1e-9, "{one:?} {quotient}");
            let interval = one.interval.unwrap();
            assert!(interval.low <= ratio && ratio <= interval.high, "{one:?}");
        }
    }

    #[test]
    fn figures_are_about_where_medians_are_and_intervals_go_along() {
        let document = swept();
        let mut middle = 1.0;
        for cell in &document.cells {
            let MetricReport { figure, median, interval, .. } = &cell.metrics[0];
            let (own, of_median) = (figure.interval.unwrap(), interval.unwrap());
            let by = figure.value / median;
            assert!((own.low / of_median.low / by - 1.0).abs() < 1e-9);
            assert!((own.high / of_median.high / by - 1.0).abs() < 1e-9);
            assert!((by - 1.0).abs() < 0.2, "{by}");
            middle *= by;
        }
        assert!((middle - 1.0).abs() < 1e-9, "{middle}");
    }

    #[test]
    fn what_follows_from_a_time_moves_with_it() {
        let document = swept();
        let of = |target, metric: StandardMetric| {
            let own = figure_of(&document, target, metric.name);
            own.figure.value / own.median
        };
        for target in ["a", "b", "c"] {
            let time = of(target, StandardMetric::TIME_PER_OPERATION);
            assert!((time * of(target, StandardMetric::THROUGHPUT) - 1.0).abs() < 1e-9);
        }
        assert!(document.cells.iter().all(|cell| cell.metrics[0].better == Better::Lower));
    }

    #[test]
    fn what_is_not_compared_keeps_its_median() {
        let few = Sample::new(&["a", "b"]).benchmark("create", &[&[1.0, 2.0, 4.0], &[3.0; 3]]);
        let alone = Sample::new(&["a"]).benchmark("create", &[&noisy(1000.0, 0.1, 1, 9)]);
        for document in [few.document(), alone.document()] {
            for cell in &document.cells {
                let MetricReport { figure, median, interval, .. } = &cell.metrics[0];
                assert_eq!((figure.value, figure.interval), (*median, *interval));
            }
        }
    }
}
