//! The pictures of Figures 2 and 3: the contents of the cache, step by step.
//!
//! Whatever is left out of the picture of a large model is mentioned in its place.

use std::fmt::Write as _;

use textual::{Columns, paragraph};

use super::{AccessOutcome, Answer, CachedSegment, Lines, Naive, Phase, Question};

/// The maximum number of steps shown per phase; if there are more, the first and the last half of
/// that number.
const STEPS_SHOWN: u64 = 24;
/// The maximum number of lines shown of those left for the file; if there are more, the ones up to
/// the line taken last.
const LINES_SHOWN: usize = 16;
/// The maximum number of footprint lines shown; if there are more, just their number is.
const FOOTPRINT_SHOWN: u64 = 4;
/// The number of phases whose steps are shown.
const PHASES_SHOWN: usize = 8;

impl Naive {
    /// The answer as text: the steps of each phase, and their totals, in lines of at most `width`
    /// columns, which should be at least 80.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let question = &self.question;
        let mut lines = Lines::new(question);
        let shown = shown(question, width).min(lines.held.len());
        let mut text = paragraph("", "", &legend(question, shown), width);
        for (index, &phase) in question.phases.iter().enumerate().take(PHASES_SHOWN) {
            let _infallible = write!(text, "\nPhase {}: sequential {}\n", index + 1, word(phase));
            text.push_str(&steps(question, &mut lines, phase, shown));
        }
        if let Some(more @ 1..) = question.phases.len().checked_sub(PHASES_SHOWN) {
            let _infallible = writeln!(text, "\nThe steps of {more} more phases are left out.");
        }
        text.push('\n');
        text.push_str(&summary(&self.answer()));
        text
    }
}

/// How many of the file's lines fit in `width` columns next to the other columns.
fn shown(question: &Question, width: usize) -> usize {
    let digits = question.file.to_string().len();
    let others = "  write   [67108864 x ##|..|..]  replaced ".len() + 2 * digits;
    (width.saturating_sub(others) / (digits + 2)).clamp(1, LINES_SHOWN)
}

fn legend(question: &Question, shown: usize) -> String {
    let Question { lines, footprint, file, .. } = question;
    let mut text = format!(
        "A cache of {lines} lines, {footprint} of them occupied by the footprint (##), and a file \
         of {file} segments of one line each, numbered from 1. An asterisk marks a line that was \
         written but is not in memory yet; a dot marks empty line."
    );
    let left_out = lines - footprint - shown as u64;
    if left_out > 0 {
        let _infallible = write!(text, " {left_out} of the file's lines are not shown (..).");
    }
    text
}

/// The table of a phase.
fn steps(question: &Question, lines: &mut Lines, phase: Phase, shown: usize) -> String {
    let mut columns = Columns::headed(["access", "cache afterwards", "outcome"]);
    columns.row(["before", &cache(question, lines, shown)]);
    let left_out = question.file.checked_sub(STEPS_SHOWN).filter(|&more| more > 0);
    let half = STEPS_SHOWN / 2;
    let mut flushed = 0;
    for segment in 0..question.file {
        let found = lines.access(phase, segment);
        let Some(left_out) = left_out.filter(|more| (half..half + more).contains(&segment)) else {
            let access = format!("{} {}", word(phase), segment + 1);
            columns.row([access, cache(question, lines, shown), words(found)]);
            continue;
        };
        flushed += u64::from(matches!(found, AccessOutcome::Flushed(_)));
        if segment + 1 == half + left_out {
            let what = format!("{left_out} steps left out, {flushed} flushes");
            columns.row(["...", &what]);
        }
    }
    columns.render()
}

/// The cache as in the figures: the footprint's lines, then the file's; if there are many, the ones
/// up to the line taken last.
fn cache(question: &Question, lines: &Lines, shown: usize) -> String {
    let digits = question.file.to_string().len();
    let mut boxes: Vec<String> =
        (0..question.footprint.min(FOOTPRINT_SHOWN)).map(|_| "##".to_owned()).collect();
    if question.footprint > FOOTPRINT_SHOWN {
        boxes = vec![format!("{} x ##", question.footprint)];
    }
    let count = lines.held.len();
    let last = lines.last.unwrap_or(0);
    let first = (last + 1).saturating_sub(shown).min(count.saturating_sub(shown));
    if first > 0 {
        boxes.push("..".to_owned());
    }
    boxes.extend(lines.held.iter().skip(first).take(shown).map(|held| match held {
        None => format!("{:>digits$} ", "."),
        Some(CachedSegment { segment, is_dirty }) => {
            let mark = if *is_dirty { '*' } else { ' ' };
            format!("{:>digits$}{mark}", segment + 1)
        }
    }));
    // A file shorter than the space left over does not use the other lines.
    let is_used_up = question.lines - question.footprint == count as u64;
    if first + shown < count || !is_used_up {
        boxes.push("..".to_owned());
    }
    format!("[{}]", boxes.join("|"))
}

fn words(found: AccessOutcome) -> String {
    match found {
        AccessOutcome::Hit => "hit".to_owned(),
        AccessOutcome::Empty => "empty line".to_owned(),
        AccessOutcome::Replaced(segment) => format!("replaced {}", segment + 1),
        AccessOutcome::Flushed(segment) => format!("flushed {}", segment + 1),
    }
}

/// Table 7.
fn summary(answer: &Answer) -> String {
    let mut columns = Columns::headed(["phase", "accesses", "flushes"]);
    for one in &answer.phases {
        let accesses = format!("{} {}s", one.accesses, word(one.phase));
        columns.row([format!("sequential {}", word(one.phase)), accesses, one.flushes.to_string()]);
    }
    columns.render()
}

/// The word for a phase, used both as a noun and as a verb.
fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Write => "write",
        Phase::Read => "read",
    }
}
