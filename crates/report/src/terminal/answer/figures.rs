//! How long a few operations take on the fastest of several targets: what users of other tools look
//! for first.

use record::{Better, CellReport, Document, StandardMetric};

use super::super::names;
use super::super::text::{HANGING, Page, Style};
use crate::units::{self, Wording};

/// A benchmark, the name of one operation of it, and what is shown: a time or a bandwidth.
struct ShownMetric {
    benchmark: &'static str,
    what: &'static str,
    metric: StandardMetric,
}

const SHOWN: [ShownMetric; 5] = [
    metric_of("random-read-4k-warm", "warm 4 KiB read", StandardMetric::TIME_PER_OPERATION),
    metric_of("random-read-4k-cold", "cold 4 KiB read", StandardMetric::TIME_PER_OPERATION),
    metric_of("sequential-read-1m-cold", "cold stream", StandardMetric::BANDWIDTH),
    metric_of("create-100", "create", StandardMetric::TIME_PER_OPERATION),
    metric_of("append-fsync-4k", "fsync", StandardMetric::TIME_PER_OPERATION),
];

const fn metric_of(
    benchmark: &'static str,
    what: &'static str,
    metric: StandardMetric,
) -> ShownMetric {
    ShownMetric { benchmark, what, metric }
}

/// A sentence; nothing for a single target, whose figures are all shown elsewhere.
pub(super) fn render(page: &mut Page, document: &Document) {
    if document.targets.len() < 2 {
        return;
    }
    let told: Vec<String> = SHOWN.iter().filter_map(|one| one.fastest(document)).collect();
    if !told.is_empty() {
        let text = format!("Best figures: {}.", told.join(", "));
        page.paragraph(&text, HANGING, Style::Plain);
    }
}

impl ShownMetric {
    /// `create 5.2 us (tmpfs)`, if it was measured.
    fn fastest(&self, document: &Document) -> Option<String> {
        let cells = document.cells.iter().filter(|cell| cell.benchmark == self.benchmark);
        let found = cells.filter_map(|cell| Some((self.value(cell)?, cell)));
        let better = |one: &(f64, &CellReport), other: &(f64, &CellReport)| {
            let order = one.0.total_cmp(&other.0);
            if self.metric.better == Better::Higher { order.reverse() } else { order }
        };
        let (value, cell) = found.min_by(better)?;
        let text = units::figure(self.metric.unit, value, None, Wording::Short).value;
        Some(format!("{} {} ({})", self.what, text.trim(), names::label(&cell.target)))
    }

    fn value(&self, cell: &CellReport) -> Option<f64> {
        let metric = cell.metrics.iter().find(|metric| metric.is(self.metric))?;
        let value = metric.figure.value;
        (cell.replicates > 0 && value > 0.0).then_some(value)
    }
}
