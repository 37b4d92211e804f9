//! What each target costs in each dimension, a line per dimension: drawn on an axis where there are
//! two targets, in columns where there are more.

use record::{Document, Verdict};
use textual::{GAP, widest};

use super::axis::{Axis, Span};
use super::map::{Group, Row, groups};
use crate::terminal::names;
use crate::terminal::text::{Page, Piece, Style, shortened};
use crate::terminal::units;

const INDENT: usize = 2;
/// Below so many characters an axis shows nothing.
const AXIS_LEAST: usize = 16;
/// What marks a ratio that cannot be told apart from 1.
const UNSURE: char = '?';

/// Heading and lines; nothing where no two targets can be compared.
pub(in crate::terminal) fn render(page: &mut Page, document: &Document) {
    let groups = groups(document);
    if groups.iter().flat_map(|group| &group.rows).all(|row| row.comparison.is_none()) {
        return;
    }
    let is_alike = |row: &Row<'_>| row.verdict() == Some(Verdict::NotToldApart);
    let is_marked = groups.iter().flat_map(|group| &group.rows).any(is_alike);
    let mark = if is_marked { "; ?: not told apart" } else { "" };
    page.heading(&format!("Cost in each dimension, relative to the cheapest (1x){mark}"));
    let is_drawn = groups.iter().all(|group| group.rows.len() == 2) && on_an_axis(page, &groups);
    if !is_drawn {
        in_columns(page, document, &groups);
    }
}

/// The dearer of two, as it lies beyond 1x; false where there is no room.
fn on_an_axis(page: &mut Page, groups: &[Group<'_>]) -> bool {
    let title = |group: &Group<'_>| names::dimension(group.dimension);
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
    if room < AXIS_LEAST {
        return false;
    }
    let spans: Vec<Span> = dearer.iter().filter_map(|(_, row)| row.span()).collect();
    let axis = Axis::over(&spans, room);
    let ticks = axis.ticks(room + GAP + figures);
    page.line(&format!("{:start$}{ticks}", "", start = INDENT + titles + GAP), Style::Dim);
    for (group, row) in dearer {
        let is_real = row.verdict().is_some_and(Verdict::is_different);
        let drawn = row
            .span()
            .map_or(" ".repeat(room), |span| axis.draw(span, if is_real { 'o' } else { UNSURE }));
        let head = format!("{:INDENT$}{:titles$}{:GAP$}{drawn}{:GAP$}", "", title(group), "", "");
        let style = if is_real { Style::Worse } else { Style::Plain };
        page.pieces(&[Piece::plain(head), Piece { text: figure(row), style }]);
    }
    true
}

/// A column per target.
fn in_columns(page: &mut Page, document: &Document, groups: &[Group<'_>]) {
    let labels: Vec<&str> = document.targets.iter().map(|target| target.label.as_str()).collect();
    let titles = widest(groups.iter().map(|group| names::dimension(group.dimension)));
    let cell = |group: &Group<'_>, label: &str, wording: Wording| {
        let row = group.rows.iter().find(|row| row.target == label);
        row.map_or_else(|| Piece::plain("-".to_owned()), |row| figure(row, wording))
    };
    let width_of = |wording: Wording| {
        let cells = groups.iter().flat_map(|group| labels.iter().map(move |label| (group, label)));
        let figures = widest(cells.map(|(group, label)| cell(group, label, wording).text));
        figures.max(widest(labels.iter().map(|label| names::label(label))))
    };
    let room = page.width().saturating_sub(INDENT + titles);
    let fits = |wording: &Wording| (width_of(*wording) + GAP) * labels.len() <= room;
    let wording = [Wording::Interval, Wording::Width].into_iter().find(fits);
    let wording = wording.unwrap_or(Wording::Ratio);
    let width = width_of(wording);
    let shown = (room / (width + GAP)).clamp(1, labels.len());
    let line = |title: &str, cells: Vec<Piece>| {
        let mut pieces = vec![Piece::plain(format!("{:INDENT$}{title:titles$}", ""))];
        for Piece { text, style } in cells {
            pieces.push(Piece::plain(" ".repeat(GAP)));
            let text = shortened(&text, room.saturating_sub(GAP));
            pieces.push(Piece { text: format!("{text:width$}"), style });
        }
        pieces
    };
    let heads = labels
        .iter()
        .take(shown)
        .map(|label| Piece { text: names::label(label), style: Style::Dim });
    page.pieces(&line("", heads.collect()));
    for group in groups {
        let cells = labels.iter().take(shown).map(|label| cell(group, label, wording));
        page.pieces(&line(names::dimension(group.dimension), cells.collect()));
    }
    if shown < labels.len() {
        let more = labels.len() - shown;
        page.line(
            &format!("{:INDENT$}and {more} more, for which it is too narrow", ""),
            Style::Dim,
        );
    }
}

/// How much is said of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wording {
    /// `1.12x [1.05, 1.20]`.
    Interval,
    /// `1.12x (7 %)`.
    Width,
    /// `1.12x`.
    Ratio,
}

fn figure(row: &Row<'_>, wording: Wording) -> Piece {
    let Some(comparison) = row.comparison else {
        return Piece { text: "1x".to_owned(), style: Style::Better };
    };
    let Some(span) = row.span() else { return Piece::plain("-".to_owned()) };
    let ratio = units::ratio(span.ratio, span.low, span.high);
    let mut text = match wording {
        Wording::Interval => format!("{} {}", ratio.value, ratio.interval),
        Wording::Width => {
            let half = (span.high - span.low) / 2.0 / span.ratio * 100.0;
            format!("{} ({} %)", ratio.value, textual::two_digits(half))
        }
        Wording::Ratio => ratio.value,
    };
    let is_real = comparison.verdict.is_different();
    if !is_real {
        text = format!("{text} {UNSURE}");
    }
    Piece { text, style: if is_real { Style::Worse } else { Style::Plain } }
}
