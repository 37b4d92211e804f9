//! What each target costs in each dimension, with a line per dimension: drawn on an axis for two
//! targets, in columns for more.

use file_system::FileSystem;
use record::{Dimension, Document, TargetRecord, Verdict};
use textual::{GAP, percent, widest};

use super::axis::Axis;
use super::map::{Group, Row, groups};
use crate::terminal::grid::{self, CostRatio, RelativeCost};
use crate::terminal::names;
use crate::terminal::text::{Page, Style, StyledText};
use crate::units;

const INDENT: usize = 2;
/// With fewer characters, an axis is useless.
const AXIS_MIN: usize = 16;
/// Dimensions that need a device below the file system.
const OF_DEVICES: [Dimension; 3] = [Dimension::Io, Dimension::OnDiskLayout, Dimension::Caching];

/// Whether there is anything to compare.
pub(in crate::terminal) fn has_any(document: &Document) -> bool {
    let groups = groups(document);
    groups.iter().flat_map(|group| &group.rows).any(|row| row.comparison.is_some())
}

/// What the ratios are, and what the mark means if there is one.
pub(in crate::terminal) fn heading(document: &Document) -> String {
    let groups = groups(document);
    let rows = groups.iter().flat_map(|group| &group.rows);
    let alike = rows.filter(|row| row.verdict() == Some(Verdict::NotToldApart));
    let legend = grid::legend(alike.filter_map(Row::span));
    let level = percent(document.run.confidence_level);
    format!("Cost by dimension, cheapest = 1 [{level} interval]{legend}")
}

/// Draws a heading and an axis, if each dimension has two targets and there is room. Returns
/// whether it was drawn.
pub(in crate::terminal) fn draw_axis(page: &mut Page, document: &Document) -> bool {
    let groups = groups(document);
    if !groups.iter().all(|group| group.rows.len() == 2) {
        return false;
    }
    let mut axis = page.clone();
    axis.heading(&heading(document));
    let is_drawn = on_an_axis(&mut axis, &groups);
    if is_drawn {
        *page = axis;
    }
    is_drawn
}

/// Draws the more expensive of two targets relative to 1x; returns false if there is no room.
fn on_an_axis(page: &mut Page, groups: &[Group<'_>]) -> bool {
    let title = |group: &Group<'_>| group.dimension.heading();
    let figure = |row: &Row<'_>| {
        let label = names::label(row.target);
        row.span().map_or(label.clone(), |span| {
            let text = units::ratio(span.ratio, span.low, span.high);
            format!("{label} {} {}", text.value, text.interval)
        })
    };
    let dearer: Vec<(&Group<'_>, &Row<'_>)> =
        groups.iter().filter_map(|group| Some((group, group.rows.last()?))).collect();
    let (titles, figures) =
        (widest(groups.iter().map(title)), widest(dearer.iter().map(|(_, row)| figure(row))));
    let room = page.width().saturating_sub(INDENT + titles + 2 * GAP + figures);
    if room < AXIS_MIN {
        return false;
    }
    let spans: Vec<CostRatio> = dearer.iter().filter_map(|(_, row)| row.span()).collect();
    let axis = Axis::over(&spans, room);
    let ticks = axis.ticks(room + GAP + figures);
    page.line(&format!("{:start$}{ticks}", "", start = INDENT + titles + GAP), Style::Dim);
    for (group, row) in dearer {
        let is_real = row.verdict().is_some_and(Verdict::is_different);
        let drawn = row.span().map_or(" ".repeat(room), |span| {
            axis.draw(span, if is_real { 'o' } else { span.mark() })
        });
        let head = format!("{:INDENT$}{:titles$}{:GAP$}{drawn}{:GAP$}", "", title(group), "", "");
        let style = if is_real { Style::Worse } else { Style::Plain };
        page.pieces(&[StyledText::plain(head), StyledText { text: figure(row), style }]);
    }
    true
}

/// A row per dimension, with an entry for each of the targets.
pub(in crate::terminal) fn rows(document: &Document) -> Vec<grid::RatioRow> {
    let groups = groups(document);
    let row = |group: &Group<'_>| grid::RatioRow {
        title: group.dimension.heading().to_owned(),
        entries: document.targets.iter().map(|target| entry(group, target)).collect(),
    };
    groups.iter().map(row).collect()
}

fn entry(group: &Group<'_>, target: &TargetRecord) -> RelativeCost {
    let Some(row) = group.rows.iter().find(|row| row.target == target.label) else {
        let lives_in_memory =
            FileSystem::named(&target.file_system).is_some_and(FileSystem::lives_in_memory);
        let takes_device = OF_DEVICES.contains(&group.dimension);
        let why = if lives_in_memory && takes_device { "no device" } else { "not measured" };
        return RelativeCost::Without(why);
    };
    match (row.comparison, row.span()) {
        (None, Some(_)) => RelativeCost::Best,
        (Some(comparison), Some(span)) if comparison.verdict.is_different() => {
            RelativeCost::Worse(span)
        }
        (Some(_), Some(span)) => RelativeCost::Level(span),
        (_, None) => RelativeCost::Without("too little data"),
    }
}
