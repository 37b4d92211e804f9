//! What a single target takes, beside what the machine takes for the least that a kernel does.

use record::{Better, CellReport, Dimension, Document};

use super::super::text::{Page, Style, shortened};
use super::super::units::{self, Wording};
use super::super::{names, section};
use textual::{GAP, widest};

/// Benchmarks of a dimension that are shown.
const SHOWN_OF_EACH: usize = 2;

/// Heading and lines; nothing where there are several targets.
pub(super) fn render(page: &mut Page, document: &Document) {
    let rows = rows(document);
    if document.targets.len() != 1 || rows.is_empty() {
        return;
    }
    let call = document.clock.system_call_ns;
    page.heading(&format!("Times of an operation; {call:.0} ns is a bare system call (1x)"));
    let width = |of: fn(&Row) -> &String| widest(rows.iter().map(of));
    let (titles, times) = (width(|row| &row.title), width(|row| &row.time));
    for Row { title, time, calls } in &rows {
        let line = format!("  {title:titles$}{:GAP$}{time:>times$}{:GAP$}{calls}", "", "");
        page.line(&shortened(line.trim_end(), page.width()), Style::Plain);
    }
}

struct Row {
    title: String,
    time: String,
    calls: String,
}

/// The first benchmarks of each dimension that say how long an operation takes.
fn rows(document: &Document) -> Vec<Row> {
    let times: Vec<&CellReport> = document
        .cells
        .iter()
        .filter(|cell| cell.baseline.is_none() && cell.curve.is_none())
        .filter(|cell| {
            let metric = cell.metrics.first();
            metric.is_some_and(|metric| metric.unit == "ns" && metric.better == Better::Lower)
        })
        .collect();
    let mut dimensions: Vec<Dimension> = times.iter().map(|cell| cell.dimension).collect();
    dimensions.sort_unstable();
    dimensions.dedup();
    let of_dimension = |dimension: Dimension| {
        let cells: Vec<&CellReport> =
            times.iter().filter(|cell| cell.dimension == dimension).copied().collect();
        let benchmarks = section::by_benchmark(&cells).into_iter().take(SHOWN_OF_EACH);
        benchmarks.filter_map(|cells| row(document, cells[0])).collect::<Vec<_>>()
    };
    dimensions.into_iter().flat_map(of_dimension).collect()
}

fn row(document: &Document, cell: &CellReport) -> Option<Row> {
    let metric = cell.metrics.first()?;
    let text = units::figure(&metric.unit, metric.median, metric.interval.as_ref(), Wording::Short);
    let interval = text.interval.map(|interval| format!(" {interval}")).unwrap_or_default();
    let call = document.clock.system_call_ns;
    let calls = metric.median / call;
    let calls = if call > 0.0 && calls < 1000.0 {
        units::ratio(calls, calls, calls).value
    } else {
        String::new()
    };
    let title = format!("{} ({})", cell.title, names::dimension(cell.dimension));
    Some(Row { title, time: format!("{}{interval}", text.value.trim_end()), calls })
}
