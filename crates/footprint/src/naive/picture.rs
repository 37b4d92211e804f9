//! The pictures of Figures 2 and 3: step by step, what the cache holds.
//!
//! What is left out of a large model is said where it is left out.

use std::fmt::Write as _;

use tables::text::{Columns, wrapped};

use super::{Answer, Found, Held, Lines, Naive, Phase, Question};

/// Steps of a phase that are shown; of more, the first and the last half of them.
const STEPS_SHOWN: u64 = 24;
/// Lines of the cache that are shown of those that are left for the file; of more, the first.
const LINES_SHOWN: usize = 8;
/// Lines of the footprint that are shown.
const FOOTPRINT_SHOWN: u64 = 4;
/// Phases of which the steps are shown.
const PHASES_SHOWN: usize = 8;

impl Naive {
    /// The answer for people: the steps of each phase, and what they come to, in lines of at most
    /// `width` columns, unless the cache has more lines in it.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let question = &self.question;
        let mut lines = Lines::new(question);
        let mut text = wrapped("", "", &legend(question, lines.held.len()), width);
        for (index, &phase) in question.phases.iter().enumerate().take(PHASES_SHOWN) {
            let _infallible = write!(text, "\nPhase {}: sequential {}\n", index + 1, noun(phase));
            text.push_str(&steps(question, &mut lines, phase));
        }
        if let Some(more @ 1..) = question.phases.len().checked_sub(PHASES_SHOWN) {
            let _infallible = writeln!(text, "\nThe steps of {more} more phases are left out.");
        }
        text.push('\n');
        text.push_str(&summary(&self.answer()));
        text
    }
}

fn legend(question: &Question, held: usize) -> String {
    let Question { lines, footprint, file, .. } = question;
    let mut text = format!(
        "A cache of {lines} lines, {footprint} of them occupied by the footprint (##), and a file \
         of {file} segments of one line each, numbered from 1. An asterisk marks a line that was \
         written and is not in memory yet, a dot an empty one."
    );
    if held > LINES_SHOWN {
        let _infallible = write!(text, " Of the file's lines the first {LINES_SHOWN} are shown.");
    }
    text
}

/// The table of a phase.
fn steps(question: &Question, lines: &mut Lines, phase: Phase) -> String {
    let mut columns = Columns::headed(["step", "access", "the cache afterwards", "what it took"]);
    columns.row(["", "", &cache(question, &lines.held), "before"]);
    let left_out = question.file.checked_sub(STEPS_SHOWN).filter(|&more| more > 0);
    let half = STEPS_SHOWN / 2;
    let mut flushed = 0;
    for segment in 0..question.file {
        let found = lines.access(phase, segment);
        let Some(left_out) = left_out.filter(|more| (half..half + more).contains(&segment)) else {
            columns.row([
                (segment + 1).to_string(),
                format!("{} {}", verb(phase), segment + 1),
                cache(question, &lines.held),
                words(found),
            ]);
            continue;
        };
        flushed += u64::from(matches!(found, Found::Flushed(_)));
        if segment + 1 == half + left_out {
            let what = format!("{left_out} steps left out, {flushed} flushes");
            columns.row(["...", "", "", &what]);
        }
    }
    columns.render()
}

/// The cache as in the figures: the footprint's lines, then the file's.
fn cache(question: &Question, held: &[Option<Held>]) -> String {
    let digits = question.file.to_string().len();
    let footprint = question.footprint.min(FOOTPRINT_SHOWN);
    let mut boxes: Vec<String> = (0..footprint).map(|_| "##".to_owned()).collect();
    if question.footprint > FOOTPRINT_SHOWN {
        boxes.push(format!("{} more", question.footprint - FOOTPRINT_SHOWN));
    }
    boxes.extend(held.iter().take(LINES_SHOWN).map(|held| match held {
        None => format!("{:>digits$} ", "."),
        Some(Held { segment, is_dirty }) => {
            let mark = if *is_dirty { '*' } else { ' ' };
            format!("{:>digits$}{mark}", segment + 1)
        }
    }));
    // Lines of the cache that the file cannot fill, for it has no more segments.
    let never = question.lines - question.footprint - held.len() as u64;
    let more = held.len().saturating_sub(LINES_SHOWN);
    if more as u64 + never > 0 {
        boxes.push(format!("{} more", more as u64 + never));
    }
    format!("[{}]", boxes.join("|"))
}

fn words(found: Found) -> String {
    match found {
        Found::Hit => "found there".to_owned(),
        Found::Empty => "an empty line".to_owned(),
        Found::Replaced(segment) => format!("the line of {}", segment + 1),
        Found::Flushed(segment) => format!("flush of {}", segment + 1),
    }
}

/// Table 7.
fn summary(answer: &Answer) -> String {
    let mut columns = Columns::headed(["phase", "accesses", "flushes"]);
    for one in &answer.phases {
        let accesses = format!("{} {}s", one.accesses, noun(one.phase));
        columns.row([format!("sequential {}", noun(one.phase)), accesses, one.flushes.to_string()]);
    }
    columns.render()
}

fn noun(phase: Phase) -> &'static str {
    match phase {
        Phase::Write => "write",
        Phase::Read => "read",
    }
}

fn verb(phase: Phase) -> &'static str {
    noun(phase)
}
