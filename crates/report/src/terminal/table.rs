//! The numbers of one dimension: a row per benchmark and target, with the best target first.
//!
//! The benchmark's title appears once, to the left of its rows, and is wrapped there. If the page
//! is too narrow, the least informative columns are left out.

use record::{CellReport, MetricReport, PercentileOf, StandardMetric};

use super::names;
use super::ranking::{RankedTarget, Ranking};
use super::text::{Page, Style};
use crate::units::{self, Wording};
use textual::{GAP, INDENT, Indent, Layout, widest, wrap};

/// Titles are not made narrower than this while there are columns to leave out.
const TITLE_WIDTH_MIN: usize = 21;
const TARGET: &str = "target";
/// Metrics whose value in a block is the mean over its operations.
const MEANS: [StandardMetric; 4] = [
    StandardMetric::TIME_PER_OPERATION,
    StandardMetric::START_TIME,
    StandardMetric::THROUGHPUT,
    StandardMetric::BANDWIDTH,
];

/// A column of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// The figure of each block: the median over blocks.
    Figure,
    Interval,
    P50,
    P99,
    P999,
    Bandwidth,
    /// How long a replicate takes, if that is short.
    Length,
}

/// The length of shorter replicates is shown, in nanoseconds: a device or a cache may behave
/// differently if an operation continues for longer.
const SHORT_NS: f64 = 1e9;

impl Column {
    const ALL: [Self; 7] = [
        Self::Figure,
        Self::Interval,
        Self::P50,
        Self::P99,
        Self::P999,
        Self::Bandwidth,
        Self::Length,
    ];
    /// The columns that are left out first on a narrow page.
    const LEAST_FIRST: [Self; 6] =
        [Self::P999, Self::Bandwidth, Self::Length, Self::P99, Self::P50, Self::Interval];

    fn head(self, level: f64, is_mean: bool) -> String {
        match self {
            Self::Figure if is_mean => "mean".to_owned(),
            Self::Figure => "figure".to_owned(),
            Self::Interval => format!("{} % interval", percent(level)),
            Self::P50 => "p50".to_owned(),
            Self::P99 => "p99".to_owned(),
            Self::P999 => "p99.9".to_owned(),
            Self::Bandwidth => "bandwidth".to_owned(),
            Self::Length => "each for".to_owned(),
        }
    }

    fn text(self, entry: RankedTarget<'_>) -> String {
        let RankedTarget { cell, metric } = entry;
        let primary = || units::of_metric(metric, Wording::Short);
        match self {
            Self::Figure => primary().value,
            Self::Interval => primary().interval.unwrap_or_default(),
            Self::P50 => percentile(cell, 50.0),
            Self::P99 => percentile(cell, 99.0),
            Self::P999 => percentile(cell, 99.9),
            Self::Bandwidth => bandwidth(entry),
            Self::Length => length(cell),
        }
    }
}

/// The rows of one benchmark: a label and the figures.
struct Group<'a> {
    title: &'a str,
    rows: Vec<Vec<String>>,
}

/// The table of these benchmarks, if any of them was measured.
pub(super) fn render(page: &mut Page, benchmarks: &[(&str, Ranking<'_>)]) {
    let entries = || benchmarks.iter().flat_map(|(_, ranking)| &ranking.entries);
    let Some(first) = entries().next() else { return };
    let level = first.metric.interval.map_or(0.95, |interval| interval.level);
    let is_mean = entries().all(|entry| MEANS.iter().any(|metric| entry.metric.is(*metric)));
    let filled = |column: &Column| entries().any(|entry| !column.text(*entry).is_empty());
    let mut columns: Vec<Column> = Column::ALL.into_iter().filter(filled).collect();
    let label_width = widest(entries().map(|entry| label(*entry)).chain([TARGET.to_owned()]));
    let column_width = |column: Column| {
        let texts = entries().map(|entry| column.text(*entry));
        widest(texts.chain([column.head(level, is_mean)]))
    };
    let longest = widest(benchmarks.iter().map(|(title, _)| title));
    let title_room = |columns: &[Column]| {
        let figures: usize = columns.iter().map(|column| column_width(*column) + GAP).sum();
        page.width().saturating_sub(INDENT + GAP + label_width + figures)
    };
    for least in Column::LEAST_FIRST {
        if title_room(&columns) >= TITLE_WIDTH_MIN.min(longest) {
            break;
        }
        columns.retain(|column| *column != least);
    }
    let title_width = longest.min(title_room(&columns)).max(1);
    let figures = columns.iter().map(|column| column_width(*column));
    let widths = [title_width, label_width].into_iter().chain(figures).collect();
    let layout = Layout { left: 2, widths };
    page.blank();
    let head = columns.iter().map(|column| column.head(level, is_mean));
    page.line(&layout.line([String::new(), TARGET.to_owned()].into_iter().chain(head)), Style::Dim);
    for (title, ranking) in benchmarks.iter().filter(|(_, ranking)| !ranking.entries.is_empty()) {
        let row = |entry: &RankedTarget<'_>| {
            let figures = columns.iter().map(|column| column.text(*entry));
            std::iter::once(label(*entry)).chain(figures).collect()
        };
        let group = Group { title, rows: ranking.entries.iter().map(row).collect() };
        render_group(page, &layout, &group);
    }
}

/// The title to the left of its rows, wrapped in its column.
fn render_group(page: &mut Page, layout: &Layout, group: &Group<'_>) {
    let titles = wrap(group.title, Indent { first: 0, rest: 1 }, layout.widths[0]);
    for index in 0..titles.len().max(group.rows.len()) {
        let title = titles.get(index).map_or("", String::as_str);
        let row = group.rows.get(index).into_iter().flatten().map(String::as_str);
        page.line(&layout.line(std::iter::once(title).chain(row)), Style::Plain);
    }
}

fn label(entry: RankedTarget<'_>) -> String {
    names::label(&entry.cell.target)
}

/// A percentile of single operations, whatever the primary metric is. A percentile of all
/// operations together has a star, which the end of the report explains.
fn percentile(cell: &CellReport, which: f64) -> String {
    let found = cell.metrics.iter().find_map(|metric| {
        let one = metric.percentiles.iter().find(|one| (one.percentile - which).abs() < 1e-9)?;
        let figure = units::figure(&metric.unit, one.value, None, Wording::Short).value;
        let star = if one.of == PercentileOf::AllOperations { "*" } else { "" };
        Some(format!("{figure}{star}"))
    });
    found.unwrap_or_default()
}

/// Median bandwidth, unless it is the primary metric.
fn bandwidth(entry: RankedTarget<'_>) -> String {
    let is_bandwidth = |metric: &&MetricReport| metric.is(StandardMetric::BANDWIDTH);
    let metric = entry.cell.metrics.iter().skip(1).find(is_bandwidth);
    let text = |metric: &MetricReport| {
        units::figure(&metric.unit, metric.figure.value, None, Wording::Short).value
    };
    metric.map(text).unwrap_or_default()
}

/// How long a replicate takes, if that is short.
fn length(cell: &CellReport) -> String {
    let short_ns = cell.replicate_length_ns.filter(|&ns| ns < SHORT_NS);
    let text = |ns| units::figure("ns", ns, None, Wording::Short).value;
    short_ns.map(text).unwrap_or_default()
}

/// A level as a percentage: 95, or 99.9.
pub(super) fn percent(level: f64) -> String {
    let percent = format!("{:.2}", level * 100.0);
    percent.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use crate::sample::{Sample, around, swaying};

    use super::*;
    use crate::layout::Options;

    fn heads(width: usize) -> Vec<String> {
        let values = [around(6100.0, 12), swaying(26_200.0, 12)];
        let mut sample = Sample::new(&["tmpfs", "ext4"]).operations(3000);
        sample = sample.benchmark("create", &[&values[0], &values[1]]);
        sample.change("create", |cell| cell.title = "create, in a directory of 100".to_owned());
        let document = sample.document();
        let cells: Vec<&CellReport> = document.cells.iter().collect();
        let mut page = Page::new(&Options { width, colour: false });
        render(&mut page, &[(cells[0].title.as_str(), Ranking::new(&cells))]);
        let text = page.finish();
        let head = text.lines().find(|line| line.contains(TARGET)).expect("a head");
        head.split("  ").map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn the_median_stands_beside_the_mean_longer_than_the_tail_does() {
        let [mean, interval] = ["mean", "95 % interval"];
        assert_eq!(heads(110), [TARGET, mean, interval, "p50", "p99", "p99.9", "each for"]);
        assert_eq!(heads(68), [TARGET, mean, interval, "p50"]);
    }
}
