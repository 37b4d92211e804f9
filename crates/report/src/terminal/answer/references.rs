//! How long operations on a single target take, compared with the least that they are based on: a
//! system call, a copy in memory, a read of the disk.

use record::{Better, CellReport, Dimension, Document};

use super::super::section;
use super::super::text::{Page, Style, shortened};
use crate::units::{self, Wording};
use textual::{GAP, widest};

/// Number of benchmarks that are shown of each dimension.
const SHOWN_OF_EACH: usize = 2;
/// Maximum number of lines for a run without times.
const FIGURES_MAX: usize = 15;

/// Request sizes for which a copy or the disk was timed.
const KIB_4: u64 = 4 << 10;
const MIB: u64 = 1 << 20;

/// Heading and lines; nothing if there are several targets.
pub(super) fn render(page: &mut Page, document: &Document) {
    if document.targets.len() != 1 {
        return;
    }
    let times = times(document);
    let are_times = !times.is_empty();
    let rows = if are_times { times } else { figures(document) };
    if rows.is_empty() {
        return;
    }
    page.heading(if are_times {
        "Times of an operation, beside a call, a copy or a read of the disk"
    } else {
        "Figures"
    });
    let width = |of: fn(&ReferenceRow) -> &String| widest(rows.iter().map(of));
    let (titles, times) = (width(|row| &row.title), width(|row| &row.time));
    let benchmarks: Vec<&CellReport> = document
        .cells
        .iter()
        .filter(|cell| cell.baseline.is_none() && cell.curve.is_none() && cell.replicates > 0)
        .collect();
    let untold = section::by_benchmark(&benchmarks).len().saturating_sub(rows.len());
    for ReferenceRow { title, time, beside } in &rows {
        let line = format!("  {title:titles$}{:GAP$}{time:>times$}{:GAP$}{beside}", "", "");
        page.line(&shortened(line.trim_end(), page.width()), Style::Plain);
    }
    if untold > 0 {
        page.line(&format!("  and {untold} more (--full)"), Style::Plain);
    }
    if are_times {
        page.sentence(&least_times(document));
    }
}

/// `  call 213 ns; copy of 4 KiB 110 ns, 1 MiB 38.0 us; disk 55.0 us, 420 us`.
fn least_times(document: &Document) -> String {
    let time = |nanos: f64| units::figure("ns", nanos, None, Wording::Short).value;
    let call = Some(format!("call {}", time(document.clock.system_call_ns)));
    let of = document.references.as_ref();
    let copy = of
        .map(|of| format!("copy of 4 KiB {}, 1 MiB {}", time(of.copy_4k_ns), time(of.copy_1m_ns)));
    let disk = of.and_then(|of| of.disk_read_4k_ns.zip(of.disk_read_1m_ns));
    let disk = disk.map(|(small, large)| format!("disk {}, {}", time(small), time(large)));
    let all: Vec<String> = [call, copy, disk].into_iter().flatten().collect();
    all.join("; ")
}

struct ReferenceRow {
    title: String,
    time: String,
    beside: String,
}

/// What an operation is compared with: its name, and how long it takes. Data in memory must at
/// least be copied. A sequential read from the disk is part of a large read; a random read, or an
/// operation that makes something durable, is an access of its own.
fn reference(document: &Document, cell: &CellReport) -> (&'static str, f64) {
    let call = ("a call", document.clock.system_call_ns);
    let Some(of) = &document.references else { return call };
    let parameter = |name: &str| cell.parameters.get(name);
    let text = |name: &str| parameter(name).and_then(serde_json::Value::as_str);
    let Some(bytes) = parameter("request_bytes").and_then(serde_json::Value::as_u64) else {
        return call;
    };
    let [copy_ns, access_ns] = match bytes {
        KIB_4 => [Some(of.copy_4k_ns), of.disk_read_4k_ns],
        MIB => [Some(of.copy_1m_ns), of.disk_read_1m_ns],
        _ => [None, None],
    };
    let stream_ns = of.disk_read_1m_ns.map(|nanos| nanos * bytes as f64 / MIB as f64);
    let is_cold = cell.cache_state.is_cold();
    let held = match text("operation") {
        Some("read") if is_cold && text("access") == Some("sequential") => ("the disk", stream_ns),
        Some("read") if is_cold => ("the disk", access_ns),
        Some("read" | "write") => ("a copy", copy_ns),
        _ if cell.dimension == Dimension::Io => ("the disk", access_ns),
        _ => return call,
    };
    held.1.map_or(call, |nanos| (held.0, nanos))
}

/// The first benchmarks of each dimension that give the time of an operation.
fn times(document: &Document) -> Vec<ReferenceRow> {
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

/// For a run without times: each benchmark, and points of each curve, as far apart as the available
/// lines require.
fn figures(document: &Document) -> Vec<ReferenceRow> {
    let mut groups: Vec<Vec<&CellReport>> = Vec::new();
    for cell in document.cells.iter().filter(|cell| cell.baseline.is_none()) {
        let curve_of = |cell: &CellReport| cell.curve.as_ref().map(|point| point.curve.clone());
        let curve = curve_of(cell);
        match groups.iter_mut().find(|group| curve.is_some() && curve_of(group[0]) == curve) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    let each = (FIGURES_MAX / groups.len().max(1)).max(1);
    let points = |group: Vec<&CellReport>| {
        let shown = each.min(group.len());
        let last = (group.len() - 1) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let at = move |number: usize| {
            (last * number as f64 / (shown - 1).max(1) as f64).round() as usize
        };
        (0..shown).filter_map(move |number| figure(group[at(number)])).collect::<Vec<_>>()
    };
    groups.into_iter().flat_map(points).take(FIGURES_MAX).collect()
}

/// A cell's first metric, without a comparison.
fn figure(cell: &CellReport) -> Option<ReferenceRow> {
    let metric = cell.metrics.first()?;
    let text = units::of_metric(metric, Wording::Short);
    let interval = text.interval.map(|interval| format!(" {interval}")).unwrap_or_default();
    Some(ReferenceRow {
        title: cell.title.clone(),
        time: format!("{}{interval}", text.value.trim_end()),
        beside: String::new(),
    })
}

fn row(document: &Document, cell: &CellReport) -> Option<ReferenceRow> {
    let metric = cell.metrics.first()?;
    let (name, least_ns) = reference(document, cell);
    let times = metric.figure.value / least_ns;
    let is_figure = !units::of_metric(metric, Wording::Short).is_none();
    let is_comparable = least_ns > 0.0 && times < 1000.0 && is_figure;
    let beside =
        is_comparable.then(|| format!("{} {name}", units::ratio(times, times, times).value));
    Some(ReferenceRow { beside: beside.unwrap_or_default(), ..figure(cell)? })
}
