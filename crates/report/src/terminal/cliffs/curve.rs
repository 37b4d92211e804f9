//! The curve of a search: a row per position with a bar, and a mark where it breaks.
//!
//! The length of a bar is proportional to its value.

use record::{CellReport, CliffReport, Document, SearchReport, StandardMetric};
use textual::{GAP, INDENT, Layout};

use super::super::text::{Page, Style};
use super::position;
use crate::units::{self, Wording};

/// Widths of the columns for the position, the value, the probes and what the device read.
const WIDTHS: [usize; 4] = [12, 12, 6, 11];

/// A position and what was measured there.
struct ProbeRow<'a> {
    position: f64,
    value: f64,
    cell: &'a CellReport,
}

/// The rows of `search` by position; `cliffs` are those of this search.
pub(super) fn render(
    page: &mut Page,
    document: &Document,
    search: &SearchReport,
    cliffs: &[&CliffReport],
) {
    let rows = rows(document, search);
    let columns = INDENT + WIDTHS.iter().map(|width| width + GAP).sum::<usize>();
    let bar_width = page.width().saturating_sub(columns).max(4);
    let largest = rows.iter().map(|row| row.value).fold(f64::MIN_POSITIVE, f64::max);
    page.line(&head(search), Style::Dim);
    let mut marked = vec![false; cliffs.len()];
    for row in &rows {
        for (cliff, is_marked) in cliffs.iter().zip(&mut marked) {
            if !*is_marked && row.position >= cliff.high {
                *is_marked = true;
                page.line(&mark(cliff, page.width()), Style::Doubt);
            }
        }
        page.line(&line(row, search, largest, bar_width), Style::Plain);
    }
}

fn rows<'a>(document: &'a Document, search: &SearchReport) -> Vec<ProbeRow<'a>> {
    let plan = &search.plan;
    let row = |cell: &'a CellReport| {
        let position = cell.parameters.get(plan.axis.parameter())?.as_f64()?;
        let metric = cell.metrics.iter().find(|metric| metric.name == plan.metric)?;
        Some(ProbeRow { position, value: metric.median, cell })
    };
    let own = document.cells.iter().filter(|cell| cell.target == plan.target);
    let mut rows: Vec<ProbeRow<'a>> = own.filter_map(row).collect();
    rows.sort_by(|a, b| a.position.total_cmp(&b.position));
    rows
}

/// All columns are right-aligned.
fn layout() -> Layout {
    Layout { left: 0, widths: WIDTHS.to_vec() }
}

fn head(search: &SearchReport) -> String {
    layout().line([search.plan.axis.title(), "median", "probes", "dev read/op"])
}

fn line(row: &ProbeRow<'_>, search: &SearchReport, largest: f64, bar_width: usize) -> String {
    let place = position(&search.unit, row.position);
    let value = units::figure(&search.metric_unit, row.value, None, Wording::Short).value;
    let device = device_text(row.cell);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the width")]
    let length = (row.value / largest * bar_width as f64).round() as usize;
    let bar = if length == 0 { ".".to_owned() } else { "#".repeat(length.min(bar_width)) };
    let figures = layout().line([place, value, row.cell.replicates.to_string(), device]);
    format!("{figures}{:GAP$}{bar}", "")
}

/// Bytes that the device read per operation; a dash if it read nothing.
fn device_text(cell: &CellReport) -> String {
    match cell.metric(StandardMetric::DEVICE_READ) {
        Some(metric) if metric.median > 0.0 && metric.median < 1.0 => "< 1 byte".to_owned(),
        Some(metric) if metric.median > 0.0 => {
            units::figure("bytes", metric.median, None, Wording::Short).value
        }
        _ => "-".to_owned(),
    }
}

/// `--- cliff 1: 62.38 MiB to 62.91 MiB ---------`.
fn mark(cliff: &CliffReport, width: usize) -> String {
    let (low, high) = (position(&cliff.unit, cliff.low), position(&cliff.unit, cliff.high));
    let text = format!("  --- between {low} and {high} ");
    let rest = width.saturating_sub(text.chars().count());
    format!("{text}{}", "-".repeat(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn what_the_device_read_fits_its_column() {
        let mut cell =
            Sample::new(&["ext4"]).benchmark("a", &[&[1.0; 6]]).document().cells.remove(0);
        cell.metrics[0].name = StandardMetric::DEVICE_READ.name.to_owned();
        for (bytes, text) in [(0.0, "-"), (0.527, "< 1 byte"), (527.0, "527 bytes")] {
            cell.metrics[0].median = bytes;
            assert_eq!(device_text(&cell), text);
            assert!(device_text(&cell).len() <= WIDTHS[3]);
        }
    }
}
