//! The closing screen: which, how much and how sure, on one screen of a terminal. Everything else
//! is in the full report.

mod busy;
mod differences;
mod figures;
mod references;
mod sure;

pub(crate) use sure::left_out;
#[cfg(test)]
mod agreement_tests;
#[cfg(test)]
mod question_tests;
#[cfg(test)]
mod tests;

use std::path::Path;

use record::Document;

use super::dimensions::compact;
use super::grid::{Grid, RowGroup};
use super::text::{Page, SENTENCE, Style};
use super::{footprint, heading, loads, names, volumes};
use crate::layout::Options;
use textual::list;

/// Maximum number of lines; with those for the run's path, the page and how to see everything, 25.
const LINES_MAX: usize = 22;
/// Minimum number of lines for loads.
const LOADS_MIN: usize = 2;

/// Whether a run has an answer: searches for cliffs and counts of footprints have their own
/// reports.
#[must_use]
pub fn has_answer(document: &Document) -> bool {
    document.searches.is_empty() && !footprint::is_counted(document)
}

/// The answer of the run at `run`; `mistakes` is how many known mistakes it contains, if that is to
/// be shown.
#[must_use]
pub fn render_answer(
    document: &Document,
    run: &Path,
    mistakes: Option<u32>,
    options: &Options,
) -> String {
    let section = |render: &dyn Fn(&mut Page)| {
        let mut page = Page::new(options);
        render(&mut page);
        page.finish()
    };
    let before = [
        section(&|page| {
            title(page, document);
            busy::render(page, document);
        }),
        section(&|page| references::render(page, document)),
    ];
    let figures = section(&|page| figures::render(page, document));
    let differences = section(&|page| differences::render(page, document));
    let sure = |mistakes| section(&|page| sure::render(page, document, run, mistakes));
    let lines =
        |sections: &[String]| -> usize { sections.iter().map(|text| text.lines().count()).sum() };
    let costs = |loads_most| costs(document, loads_most, options);
    let others = [figures.clone(), differences.clone(), sure(None)];
    let taken = lines(&before) + lines(&others) + lines(&costs(0));
    let mistakes = mistakes.filter(|_| taken < LINES_MAX);
    let taken = taken + usize::from(mistakes.is_some());
    // There can be any number of loads; they get what the others leave, plus the line that counts
    // them.
    let costs = costs((LINES_MAX + 1).saturating_sub(taken).max(LOADS_MIN));
    let after = [figures, differences, sure(mistakes)];
    let sections = before.into_iter().chain(costs).chain(after);
    let sections: Vec<String> = sections.filter(|text| !text.is_empty()).collect();
    let gaps = sections.len().saturating_sub(1);
    // Sections are separated by blank lines if there is room.
    sections.join(if lines(&sections) + gaps <= LINES_MAX { "\n" } else { "" })
}

/// What each target costs in each dimension and under each load, with at most `loads_most` lines
/// for loads.
fn costs(document: &Document, loads_most: usize, options: &Options) -> Vec<String> {
    let mut page = Page::new(options);
    if !compact::has_any(document) || compact::draw_axis(&mut page, document) {
        let mut loads = Page::new(options);
        loads::render_lines(&mut loads, document, loads_most);
        return vec![page.finish(), loads.finish()];
    }
    let (heading, rows) = (compact::heading(document), compact::rows(document));
    let costs = RowGroup { heading, rows, note: None };
    let parts: Vec<RowGroup> =
        [costs].into_iter().chain(loads::part(document, loads_most)).collect();
    let labels: Vec<String> =
        document.targets.iter().map(|target| names::label(&target.label)).collect();
    let grid = Grid::new(page.width(), &labels, &parts);
    let rendered = |(number, part): (usize, &RowGroup)| {
        let mut page = Page::new(options);
        grid.render(&mut page, part, number == 0);
        page.finish()
    };
    parts.iter().enumerate().map(rendered).collect()
}

/// `survey of ext4 and xfs: 23 blocks in 90 s, on volumes of 64 GiB, half full`, on two lines if
/// one is too short.
fn title(page: &mut Page, document: &Document) {
    let labels: Vec<String> =
        document.targets.iter().map(|target| names::label(&target.label)).collect();
    let extent = heading::extent_in_short(document);
    let title = format!("{} of {}: {extent}", document.run.suite, list(&labels, "and"));
    let Some(volumes) = volumes::in_short(document) else { return page.heading(&title) };
    let whole = format!("{title}, on {volumes}");
    if whole.chars().count() <= page.width() {
        return page.heading(&whole);
    }
    page.heading(&format!("{title},"));
    page.paragraph(&format!("on {volumes}"), SENTENCE, Style::Heading);
}
