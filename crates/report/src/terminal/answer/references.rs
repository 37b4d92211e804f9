//! What a single target takes, beside the least that stands under it: a system call, a copy in
//! memory, a read of the disk.

use record::{Better, CacheState, CellReport, Dimension, Document};

use super::super::section;
use super::super::text::{Page, Style, shortened};
use super::super::units::{self, Wording};
use textual::{GAP, widest};

/// Benchmarks of a dimension that are shown.
const SHOWN_OF_EACH: usize = 2;

/// Sizes of requests that a copy or the disk was timed with.
const KIB_4: u64 = 4 << 10;
const MIB: u64 = 1 << 20;

/// Heading and lines; nothing where there are several targets.
pub(super) fn render(page: &mut Page, document: &Document) {
    let rows = rows(document);
    if document.targets.len() != 1 || rows.is_empty() {
        return;
    }
    page.heading("Times of an operation, beside the least that it could take");
    let width = |of: fn(&Row) -> &String| widest(rows.iter().map(of));
    let (titles, times) = (width(|row| &row.title), width(|row| &row.time));
    for Row { title, time, beside } in &rows {
        let line = format!("  {title:titles$}{:GAP$}{time:>times$}{:GAP$}{beside}", "", "");
        page.line(&shortened(line.trim_end(), page.width()), Style::Plain);
    }
    page.line(&shortened(&least_times(document), page.width()), Style::Plain);
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
    format!("  {}", all.join("; "))
}

struct Row {
    title: String,
    time: String,
    beside: String,
}

/// What an operation is held beside: its name, and how long it takes. What is in memory has to be
/// copied at least; what is not has to be read from the disk, if there is one.
fn reference(document: &Document, cell: &CellReport) -> (&'static str, f64) {
    let call = ("a call", document.clock.system_call_ns);
    let Some(of) = &document.references else { return call };
    let request = cell.parameters.get("request_bytes").and_then(serde_json::Value::as_u64);
    let (copy_ns, disk_ns) = match request {
        Some(KIB_4) => (Some(of.copy_4k_ns), of.disk_read_4k_ns),
        Some(MIB) => (Some(of.copy_1m_ns), of.disk_read_1m_ns),
        _ => (None, None),
    };
    let disk = disk_ns.map(|nanos| ("the disk", nanos));
    let copy = copy_ns.map(|nanos| ("a copy", nanos));
    let reads_disk = cell.cache_state == CacheState::Cold
        || matches!(cell.dimension, Dimension::Io | Dimension::OnDiskLayout);
    disk.filter(|_| reads_disk).or(copy).unwrap_or(call)
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
    let (name, least_ns) = reference(document, cell);
    let times = metric.median / least_ns;
    let beside = if least_ns > 0.0 && times < 1000.0 {
        format!("{} {name}", units::ratio(times, times, times).value)
    } else {
        String::new()
    };
    Some(Row {
        title: cell.title.clone(),
        time: format!("{}{interval}", text.value.trim_end()),
        beside,
    })
}
