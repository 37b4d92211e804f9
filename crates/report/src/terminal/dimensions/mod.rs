//! What each target costs in each dimension, drawn on one axis: a line per target, relative to the
//! target that costs least in that dimension.
//!
//! Each dimension has its own 1x, and conclusions over several of them are left to the reader,
//! since it depends on the load which dimension matters.

mod axis;
pub(super) mod compact;
mod map;
#[cfg(test)]
mod tests;

use record::{Dimension, Document, Verdict};

use super::grid::CostRatio;
use super::names;
use super::sentence::why_not_compared;
use super::table::percent;
use super::text::{Page, Style, shortened};
use crate::units;
use axis::Axis;
use map::Row;
pub(super) use map::{Group, groups};
use textual::{GAP, list, plural, unbroken, widest};

const INDENT: usize = 4;
/// If the axis would have fewer characters, figures are shortened; beyond that, nothing is gained.
const AXIS_MIN: usize = 24;
const AXIS_MAX: usize = 64;

/// The plot; nothing if no two targets can be compared.
pub(super) fn render(page: &mut Page, document: &Document) {
    let groups = groups(document);
    let spans: Vec<CostRatio> =
        groups.iter().flat_map(|group| &group.rows).filter_map(Row::span).collect();
    if spans.is_empty() {
        return;
    }
    page.heading("Cost in each dimension");
    page.sentence(&legend(document, &groups));
    page.blank();
    let layout = Layout::new(page.width(), &groups, &spans);
    let start = layout.start();
    let ticks = layout.axis.ticks(page.width().saturating_sub(start));
    page.line(format!("{:start$}{ticks}", "").trim_end(), Style::Dim);
    for group in &groups {
        page.line(&shortened(&title(group), page.width()), Style::Plain);
        for row in &group.rows {
            page.line(&layout.line(group, row), Style::Plain);
        }
    }
}

/// How to read it, and what it does not say.
fn legend(document: &Document, groups: &[Group<'_>]) -> String {
    let level = document.run.confidence_level;
    let mut text = format!(
        "Costs relative to the cheapest target in each dimension (1x): o is the geometric mean \
         over the benchmarks that both targets have, |-| its {} interval",
        unbroken(&format!("{} %", percent(level)))
    );
    let verdicts = || groups.iter().flat_map(|group| &group.rows).filter_map(Row::verdict);
    if verdicts().any(|verdict| verdict == Verdict::NotToldApart) {
        text.push_str(", and ? an o that cannot be told apart from 1x");
    }
    if let Some(share) =
        groups.iter().find_map(|group| group.rows.iter().find_map(|row| share(group, row)))
    {
        text.push_str(&format!("; {} if they have only some in common", unbroken(&share)));
    }
    if groups.len() > 1 {
        text.push_str(". Dimensions are not added up: which one matters depends on the load");
    }
    text.push('.');
    let without: Vec<String> = without_costs(document)
        .into_iter()
        .map(|dimension| dimension.heading().to_owned())
        .collect();
    if !without.is_empty() {
        let verb = if without.len() == 1 { "has" } else { "have" };
        let without = list(&without, "and");
        text.push_str(&format!(" {without} {verb} no costs to compare: see below."));
    }
    text
}

/// Dimensions of the run in which no two targets have a cost in common.
fn without_costs(document: &Document) -> Vec<Dimension> {
    let mut dimensions: Vec<Dimension> = document.cells.iter().map(|cell| cell.dimension).collect();
    dimensions.sort_unstable();
    dimensions.dedup();
    dimensions
        .retain(|dimension| document.dimensions.iter().all(|one| one.dimension != *dimension));
    dimensions
}

/// `In memory (8 benchmarks)`, `I/O (5 benchmarks; without tmpfs)`.
fn title(group: &Group<'_>) -> String {
    let benchmarks = plural(group.benchmarks as usize, "benchmark");
    let absent: Vec<String> = group.absent.iter().map(|label| names::label(label)).collect();
    let without = match absent.as_slice() {
        [] => String::new(),
        absent => format!("; without {}", list(absent, "and")),
    };
    format!("  {} ({benchmarks}{without})", group.dimension.heading())
}

/// How much of a ratio is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wording {
    /// `1.12x [1.05, 1.20]`.
    Full,
    /// `1.12x`.
    Short,
    /// Nothing.
    None,
}

/// The text after a row's drawing.
fn figure(group: &Group<'_>, row: &Row<'_>, wording: Wording) -> String {
    let Some(span) = row.span().filter(|_| row.comparison.is_some()) else { return String::new() };
    let ratio = units::ratio(span.ratio, span.low, span.high);
    let text = match wording {
        Wording::Full => format!("{} {}", ratio.value, ratio.interval),
        Wording::Short => ratio.value,
        Wording::None => return String::new(),
    };
    share(group, row).map_or_else(|| text.clone(), |share| format!("{text} {share}"))
}

/// `(3 of 5)`: benchmarks that a target and the cheapest have in common, if others have more.
fn share(group: &Group<'_>, row: &Row<'_>) -> Option<String> {
    let benchmarks = row.comparison.filter(|found| found.ratio.is_some())?.benchmarks;
    let is_less = benchmarks < group.benchmarks;
    is_less.then(|| format!("({benchmarks} of {})", group.benchmarks))
}

/// The columns of all parts of a row.
struct Layout {
    label_width: usize,
    axis: Axis,
    wording: Wording,
    width: usize,
}

impl Layout {
    fn new(width: usize, groups: &[Group<'_>], spans: &[CostRatio]) -> Self {
        let rows =
            || groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
        let label_width = widest(rows().map(|(_, row)| names::label(row.target)));
        let room = |wording| {
            let figures = match widest(rows().map(|(group, row)| figure(group, row, wording))) {
                0 => 0,
                width => width + GAP,
            };
            width.saturating_sub(INDENT + label_width + GAP + figures)
        };
        let wordings = [Wording::Full, Wording::Short, Wording::None];
        let wording = wordings.into_iter().find(|wording| room(*wording) >= AXIS_MIN);
        let wording = wording.unwrap_or(Wording::None);
        let axis = Axis::over(spans, room(wording).min(AXIS_MAX));
        Self { label_width, axis, wording, width }
    }

    /// The column in which the axis begins.
    fn start(&self) -> usize {
        INDENT + self.label_width + GAP
    }

    fn line(&self, group: &Group<'_>, row: &Row<'_>) -> String {
        let label = names::label(row.target);
        let drawn = match (row.span(), row.comparison) {
            (Some(span), found) => {
                let is_alike = found.is_some_and(|one| one.verdict == Verdict::NotToldApart);
                self.axis.draw(span, if is_alike { '?' } else { 'o' })
            }
            (None, Some(found)) => why_not_compared(found.blocks),
            (None, None) => "no benchmark in common with the cheapest".to_owned(),
        };
        let figure = figure(group, row, self.wording);
        let line = format!(
            "{:INDENT$}{label:<width$}{:GAP$}{drawn}{:GAP$}{figure}",
            "",
            "",
            "",
            width = self.label_width
        );
        shortened(line.trim_end(), self.width)
    }
}
