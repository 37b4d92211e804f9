//! Many rows of figures, with the targets side by side.
//!
//! A figure is shown with half the width of its interval in percent, which takes less space than
//! the interval. If the interval is wide, as for differences near 0, a percentage is meaningless,
//! and the interval itself is shown. If the targets do not fit side by side, they are split into
//! several tables, one below the other.

use std::iter::{once, repeat_n};

use record::MetricReport;

use super::text::{Page, Style, shortened};
use crate::units::{self, Wording};
use textual::{GAP, INDENT, Layout, two_digits, widest};

/// A row: its subject, and a figure per target; without figures it is a heading within the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FigureRow {
    pub(super) label: String,
    pub(super) figures: Vec<String>,
}

impl FigureRow {
    pub(super) fn new(label: &str, figures: Vec<String>) -> Self {
        Self { label: label.to_owned(), figures }
    }
}

/// The rows below their head, with as many targets side by side as there is room for.
pub(super) fn side_by_side(page: &mut Page, head: &FigureRow, rows: &[FigureRow]) {
    let both = || once(head).chain(rows);
    let with_figures = both().filter(|row| !row.figures.is_empty());
    let label_width = widest(with_figures.map(|row| &row.label));
    let width = widest(both().flat_map(|row| &row.figures));
    let room = page.width().saturating_sub(INDENT + label_width) / (width + GAP).max(1);
    let room = room.max(1);
    let widths = once(label_width).chain(repeat_n(width, room)).collect();
    let layout = Layout { left: 1, widths };
    for part in (0..head.figures.len()).step_by(room) {
        for row in both() {
            let line = layout.line(once(&row.label).chain(row.figures.iter().skip(part)));
            let style = if std::ptr::eq(row, head) { Style::Dim } else { Style::Plain };
            page.line(&shortened(&line, page.width()), style);
        }
    }
}

/// From this half-width on, an interval is written out.
const WIDE_PERCENT: f64 = 50.0;

/// `1.12 us (3 %)`, or `1.1 us [-0.4, 2.6]`.
pub(super) fn figure(metric: &MetricReport) -> String {
    let text = units::of_metric(metric, Wording::Short);
    let figure = metric.figure;
    let value = text.value.trim_end().to_owned();
    match figure.interval {
        Some(interval) if figure.value != 0.0 && text.interval.is_some() => {
            let half = (interval.high - interval.low) / 2.0 / figure.value.abs() * 100.0;
            match text.interval {
                _ if half < 0.05 => value,
                Some(interval) if half >= WIDE_PERCENT => format!("{value} {interval}"),
                _ => format!("{value} ({} %)", two_digits(half)),
            }
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::nanoseconds;

    #[test]
    fn a_wide_interval_is_written_out() {
        let of = |median, low, high| figure(&nanoseconds("own_cost", median, [low, high]));
        assert_eq!(of(1000.0, 970.0, 1030.0), "1.00 us (3 %)");
        assert_eq!(of(-1100.0, -2600.0, 400.0), "-1.1 us [-2.6, 0.4]");
        assert_eq!(of(1000.0, 1000.0, 1000.0), "1.00 us");
    }
}
