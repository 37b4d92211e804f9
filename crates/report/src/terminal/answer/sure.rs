//! How certain the answer is, what it leaves out, and what would make it more certain: one line
//! each.

use std::path::Path;

use record::{Document, EndReason, Verdict, Warning};

use super::super::text::{HANGING, Page, Style};
use super::super::{closing, heading, warnings};
use crate::analysis::BLOCKS_MIN;
use textual::{percent, plural, program, shell_path};

/// Confidence, what was left out, the number of known mistakes if given, and what to do next.
pub(super) fn render(page: &mut Page, document: &Document, run: &Path, mistakes: Option<u32>) {
    let left_out = match left_out(document) {
        none if none.is_empty() => "nothing".to_owned(),
        some => some.join("; "),
    };
    for text in [confidence(document), format!("Left out: {left_out}.")] {
        page.paragraph(&text, HANGING, Style::Plain);
    }
    // Commands are meant to be copied, so they are never cut.
    if let Some(count) = mistakes {
        let text = format!("Known mistakes: {count} ({} check {}).", program(), shell_path(run));
        page.command(&text, Style::Plain);
    }
    let (text, style) = next(document, run);
    if text.contains(program()) {
        page.command(&text, style);
    } else {
        page.paragraph(&text, HANGING, style);
    }
}

/// `Confidence 95 %: 27 of 43 differences real; intervals +/- 4.2 %; 3 warnings.`
fn confidence(document: &Document) -> String {
    if let Some(text) = heading::too_few(document) {
        return text;
    }
    let count = |is_it: fn(Verdict) -> bool| {
        document.comparisons.iter().filter(|one| is_it(one.verdict)).count()
    };
    if document.cells.iter().all(|cell| cell.replicates == 0) {
        return "Nothing was measured yet.".to_owned();
    }
    let mut facts = Vec::new();
    let all = count(|verdict| verdict != Verdict::NotEnoughData);
    if all > 0 {
        let real = count(Verdict::is_different);
        let is_busy = |one: &&record::Comparison| one.verdict.is_different() && one.busy_blocks > 0;
        let busy = match document.comparisons.iter().filter(is_busy).count() {
            0 => String::new(),
            count => format!(" ({count} on a busy machine)"),
        };
        facts.push(format!("{real} of {all} comparisons differ{busy}"));
    }
    facts.extend(closing::median_width(document).map(|width| format!("intervals +/- {width} %")));
    let doubts = warnings::doubts(document).len();
    facts.extend((doubts > 0).then(|| plural(doubts, "warning")));
    format!("Confidence {}: {}.", percent(document.run.confidence_level), facts.join("; "))
}

/// What was left out, in short: `2 cells failed`, `f2fs: no mkfs.f2fs`.
pub(crate) fn left_out(document: &Document) -> Vec<String> {
    let cells = |is_it: fn(&record::CellReport) -> bool, what: &str| {
        let count = document.cells.iter().filter(|cell| is_it(cell)).count();
        (count > 0).then(|| format!("{} {what}", plural(count, "cell")))
    };
    let lines = damaged_lines(document).map(|(places, first)| {
        let first = format!("line {first} of cells.jsonl is damaged");
        match places {
            0 | 1 => first,
            2 => format!("{first}, as is another"),
            _ => format!("{first}, as are {} others", places - 1),
        }
    });
    let mut texts: Vec<String> =
        lines.into_iter().chain(cells(|cell| cell.failed.is_some(), "failed")).collect();
    let is_missing = |cell: &record::CellReport| cell.failed.is_none() && cell.replicates == 0;
    texts.extend(cells(is_missing, "not reached"));
    texts.extend(warnings::not_measured_in_short(document));
    texts
}

/// How many lines of the journal are damaged, and the first of them.
fn damaged_lines(document: &Document) -> Option<(u32, u64)> {
    document.warnings.iter().find_map(|report| {
        let Warning::JournalDamaged { places, line, .. } = report.warning else { return None };
        Some((places, line))
    })
}

/// The one step that would help most.
fn next(document: &Document, run: &Path) -> (String, Style) {
    if damaged_lines(document).is_some() {
        let text = "Next: run it anew; a damaged journal cannot be resumed.";
        return (text.to_owned(), Style::Doubt);
    }
    let Some(reason) = document.end.as_ref().map(|end| end.reason) else {
        return (resume(document, run), Style::Doubt);
    };
    let blocks = document.cells.iter().map(|cell| cell.replicates).max().unwrap_or(0);
    let text = match reason {
        EndReason::Interrupted | EndReason::Busy => return (resume(document, run), Style::Doubt),
        EndReason::Precision => "Next: nothing; every interval is as narrow as asked.".to_owned(),
        EndReason::Full => {
            "Next: nothing; this run is full. To measure more, make several (--runs).".to_owned()
        }
        EndReason::NothingLeft | EndReason::Searched => {
            "Next: nothing is left to measure.".to_owned()
        }
        EndReason::Blocks | EndReason::Budget => {
            let used_s = document.end.as_ref().map_or(0.0, |end| end.used_s);
            let (factor, what, heading) = match blocks {
                ..BLOCKS_MIN => {
                    let factor = f64::from(BLOCKS_MIN) / f64::from(blocks.max(1));
                    (factor, "get intervals", "With intervals")
                }
                BLOCKS_MIN.. => (4.0, "halve the intervals", "Half as wide"),
            };
            let more = closing::option_seconds(used_s * (factor - 1.0));
            if document.run.kind.can_be_resumed() {
                let (command, run) = (&document.run.command, shell_path(run));
                format!("{heading}: {} {command} --resume {run} --budget {more}", program())
            } else {
                let blocks = f64::from(blocks.max(1)) * factor;
                format!("Next: to {what}, run it anew with --blocks {blocks:.0}.")
            }
        }
    };
    (text, Style::Plain)
}

fn resume(document: &Document, run: &Path) -> String {
    if !document.run.kind.can_be_resumed() {
        return "Next: run it anew; it cannot be resumed.".to_owned();
    }
    format!("Continue: {} {} --resume {}", program(), document.run.command, shell_path(run))
}
