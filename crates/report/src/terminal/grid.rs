//! Ratios to the best of each row, with a column per target: one notation, however wide the page.
//!
//! If columns do not fit, ratios have fewer digits; if that is not enough, the remaining targets
//! are placed below the others. Nothing is cut.

use textual::{GAP, widest};

use super::text::{Page, Style, StyledText};
use crate::units;

const INDENT: usize = 2;
/// Decimals, and the gap between columns: the first that fits is used.
const WORDINGS: [(usize, usize); 5] = [(3, GAP), (2, GAP), (2, 1), (1, GAP), (1, 1)];
/// The mark of a ratio that cannot be told apart from 1.
const LEVEL: char = '=';
/// The mark of such a ratio whose interval excludes 1: among so many comparisons, it may be chance.
const BY_CHANCE: char = '?';

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CostRatio {
    pub(super) ratio: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// How a target compares in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RelativeCost {
    /// The others are compared with it.
    Best,
    /// It costs this many times as much.
    Worse(CostRatio),
    /// It cannot be told apart from the best.
    Level(CostRatio),
    /// It has no ratio, for this reason.
    Without(&'static str),
}

/// One row: its subject, and an entry for each target.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RatioRow {
    pub(super) title: String,
    pub(super) entries: Vec<RelativeCost>,
}

/// Rows under a heading.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowGroup {
    pub(super) heading: String,
    pub(super) rows: Vec<RatioRow>,
    /// A note below the rows.
    pub(super) note: Option<String>,
}

/// The positions of columns, for all rows that share them.
#[derive(Clone, Debug)]
pub(super) struct Grid<'a> {
    labels: &'a [String],
    titles: usize,
    digits: usize,
    gap: usize,
    widths: Vec<usize>,
    /// The targets that are side by side.
    lines: Vec<Vec<usize>>,
}

impl<'a> Grid<'a> {
    /// For pages of this width.
    pub(super) fn new(width: usize, labels: &'a [String], parts: &[RowGroup]) -> Self {
        let rows: Vec<&RatioRow> = parts.iter().flat_map(|part| &part.rows).collect();
        let titles = widest(rows.iter().map(|row| &row.title));
        let room = width.saturating_sub(INDENT + titles);
        let column = |target: usize, digits: usize| {
            let texts = rows.iter().map(|row| row.entries[target].text(digits));
            widest(texts.chain([labels[target].clone()]))
        };
        let fitting = |(digits, gap): &(usize, usize)| {
            let columns = (0..labels.len()).map(|target| gap + column(target, *digits));
            columns.sum::<usize>() <= room
        };
        let last = WORDINGS[WORDINGS.len() - 1];
        let (digits, gap) = WORDINGS.into_iter().find(fitting).unwrap_or(last);
        let widths: Vec<usize> =
            (0..labels.len()).map(|target| column(target, digits).min(room - gap)).collect();
        let lines = lines_of(&widths, gap, room);
        Self { labels, titles, digits, gap, widths, lines }
    }

    /// A part with its heading; the labels of the targets are repeated only if necessary.
    pub(super) fn render(&self, page: &mut Page, part: &RowGroup, with_labels: bool) {
        page.heading(&part.heading);
        for targets in &self.lines {
            if with_labels || self.lines.len() > 1 {
                let label = |target: usize| StyledText {
                    text: self.labels[target].clone(),
                    style: Style::Dim,
                };
                self.line(page, "", targets, label);
            }
            for row in &part.rows {
                self.line(page, &row.title, targets, |target| {
                    row.entries[target].piece(self.digits)
                });
            }
        }
        if let Some(note) = &part.note {
            page.line(&format!("{:INDENT$}{note}", ""), Style::Plain);
        }
    }

    fn line(
        &self,
        page: &mut Page,
        title: &str,
        targets: &[usize],
        entry: impl Fn(usize) -> StyledText,
    ) {
        let head = format!("{:INDENT$}{title:width$}", "", width = self.titles);
        let mut pieces = vec![StyledText::plain(head)];
        for &target in targets {
            let StyledText { text, style } = entry(target);
            let text = format!("{text:width$}", width = self.widths[target]);
            pieces.push(StyledText::plain(" ".repeat(self.gap)));
            pieces.push(StyledText { text, style });
        }
        page.pieces(&pieces);
    }
}

/// Splits the targets into lines: as many side by side as fit, then the next ones.
fn lines_of(widths: &[usize], gap: usize, room: usize) -> Vec<Vec<usize>> {
    let mut lines: Vec<Vec<usize>> = vec![Vec::new()];
    let mut taken = 0;
    for (target, width) in widths.iter().enumerate() {
        let last = lines.len() - 1;
        if taken + gap + width > room && !lines[last].is_empty() {
            lines.push(Vec::new());
            taken = 0;
        }
        taken += gap + width;
        if let Some(line) = lines.last_mut() {
            line.push(target);
        }
    }
    lines
}

impl RelativeCost {
    /// `1.12 [1.05, 1.20]`, with a mark if the difference is not certain.
    fn text(self, digits: usize) -> String {
        match self {
            Self::Best => "1".to_owned(),
            Self::Worse(span) => span.text(digits),
            Self::Level(span) => format!("{} {}", span.text(digits), span.mark()),
            Self::Without(why) => why.to_owned(),
        }
    }

    fn piece(self, digits: usize) -> StyledText {
        let style = match self {
            Self::Best => Style::Better,
            Self::Worse(_) => Style::Worse,
            Self::Level(_) => Style::Plain,
            Self::Without(_) => Style::Dim,
        };
        StyledText { text: self.text(digits), style }
    }
}

/// What the marks in these rows mean, for a heading: `; =: not told apart; ?: may be chance`.
pub(super) fn legend(spans: impl IntoIterator<Item = CostRatio>) -> String {
    let found: Vec<char> = spans.into_iter().map(CostRatio::mark).collect();
    let said = [(LEVEL, "not told apart"), (BY_CHANCE, "may be chance")];
    let said = said.into_iter().filter(|(mark, _)| found.contains(mark));
    said.map(|(mark, what)| format!("; {mark}: {what}")).collect()
}

impl CostRatio {
    /// The mark if it cannot be told apart from 1.
    pub(super) fn mark(self) -> char {
        if self.low <= 1.0 && self.high >= 1.0 { LEVEL } else { BY_CHANCE }
    }

    fn text(self, digits: usize) -> String {
        let [ratio, low, high] = units::ratio_digits([self.ratio, self.low, self.high], digits);
        format!("{ratio} [{low}, {high}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Options;

    fn span(ratio: f64, low: f64, high: f64) -> CostRatio {
        CostRatio { ratio, low, high }
    }

    fn part(heading: &str, rows: &[(&str, Vec<RelativeCost>)]) -> RowGroup {
        let row = |(title, entries): &(&str, Vec<RelativeCost>)| RatioRow {
            title: (*title).to_owned(),
            entries: entries.clone(),
        };
        RowGroup { heading: heading.to_owned(), rows: rows.iter().map(row).collect(), note: None }
    }

    fn four() -> Vec<RowGroup> {
        let worse = RelativeCost::Worse;
        let first = part(
            "Cost",
            &[
                (
                    "I/O",
                    vec![
                        RelativeCost::Without("no device"),
                        worse(span(1.054, 1.047, 1.061)),
                        RelativeCost::Best,
                        worse(span(1.287, 1.278, 1.296)),
                    ],
                ),
                (
                    "On-disk layout",
                    vec![
                        RelativeCost::Without("no device"),
                        RelativeCost::Best,
                        RelativeCost::Level(span(1.083, 0.981, 1.196)),
                        worse(span(12.4, 10.1, 15.2)),
                    ],
                ),
            ],
        );
        let second = part(
            "Best for",
            &[(
                "mail",
                vec![
                    RelativeCost::Best,
                    worse(span(2.24, 2.22, 2.26)),
                    worse(span(1.39, 1.386, 1.395)),
                    RelativeCost::Level(span(1.3, 0.9, 1.9)),
                ],
            )],
        );
        vec![first, second]
    }

    fn rendered(width: usize, parts: &[RowGroup]) -> String {
        let mut page = Page::new(&Options { width, colour: false });
        let labels = ["tmpfs", "ext4", "xfs", "btrfs"].map(str::to_owned);
        let grid = Grid::new(width, &labels, parts);
        for (number, part) in parts.iter().enumerate() {
            grid.render(&mut page, part, number == 0);
        }
        page.finish()
    }

    #[test]
    fn columns_of_both_parts_stand_under_one_head_with_the_digits_that_fit() {
        let expected = "\
Cost
                  tmpfs      ext4                  xfs                   btrfs
  I/O             no device  1.054 [1.047, 1.061]  1                     1.287 [1.278, 1.296]
  On-disk layout  no device  1                     1.1 [1.0, 1.2] =      12.4 [10.1, 15.2]

Best for
  mail            1          2.24 [2.22, 2.26]     1.390 [1.386, 1.395]  1.3 [0.9, 1.9] =
";
        assert_eq!(rendered(100, &four()), expected);
        let narrow = rendered(80, &four());
        assert!(
            narrow.contains("1.05 [1.05, 1.06]") || narrow.contains("1.1 [1.0, 1.1]"),
            "{narrow}"
        );
        assert!(narrow.contains("1.3 [0.9, 1.9] ="), "{narrow}");
    }

    #[test]
    fn a_ratio_that_may_be_chance_is_not_called_level() {
        let (level, by_chance) = (span(1.1, 0.9, 1.3), span(1.2, 1.1, 1.5));
        assert_eq!(RelativeCost::Level(level).text(3), "1.1 [0.9, 1.3] =");
        assert_eq!(RelativeCost::Level(by_chance).text(3), "1.2 [1.1, 1.5] ?");
        assert_eq!(legend([level]), "; =: not told apart");
        assert_eq!(legend([by_chance, level]), "; =: not told apart; ?: may be chance");
        assert_eq!(legend([]), "");
    }

    #[test]
    fn what_does_not_fit_stands_below_and_nothing_is_cut() {
        for width in [40, 50, 60, 72, 80] {
            let text = rendered(width, &four());
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            assert!(!text.contains('~') && text.matches('[').count() == 7, "{width}:\n{text}");
            for label in ["tmpfs", "ext4", "xfs", "btrfs"] {
                assert!(text.contains(label), "{width}:\n{text}");
            }
        }
        assert!(rendered(40, &four()).lines().count() > rendered(80, &four()).lines().count());
    }
}
