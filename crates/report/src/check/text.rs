//! The text of a check: the answer, each mistake that was found with its numbers and what avoids
//! it, what the run cannot tell, and what it has passed.

use textual::{list, paragraph};

use super::{Check, CheckDocument, Evidence, Outcome};
use crate::units::{self, Wording};

impl CheckDocument {
    /// The text for people, in lines of at most `width` columns.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let answer = format!("{}: {} of {}", self.answer(), self.suite, list(&self.targets, "and"));
        let mut text = paragraph("", "  ", &answer, width);
        for check in self.with(Outcome::Found) {
            text += &check_text(check, width);
        }
        let untold = self.checks.iter().filter_map(|check| {
            let part = if check.outcome == Outcome::CannotTell { "" } else { ", in part" };
            Some(format!("{}{part}: {}", check.title, check.cannot_tell.as_ref()?))
        });
        let untold: Vec<String> = untold.collect();
        if !untold.is_empty() {
            text += "\nCannot tell\n";
        }
        for said in untold {
            text += &paragraph("  - ", "    ", &said, width);
        }
        let passed: Vec<&str> =
            self.with(Outcome::Passed).map(|check| check.title.as_str()).collect();
        if !passed.is_empty() {
            text += &paragraph("\nPassed: ", "  ", &format!("{}.", passed.join("; ")), width);
        }
        text
    }

    /// `3 of 10 known mistakes`.
    fn answer(&self) -> String {
        match self.found {
            0 => format!("None of {} known mistakes", self.known),
            found => format!("{found} of {} known mistakes", self.known),
        }
    }

    fn with(&self, outcome: Outcome) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.outcome == outcome)
    }
}

fn check_text(check: &Check, width: usize) -> String {
    let mut text = format!("\n{}\n", capitalised(&check.title));
    for finding in &check.findings {
        text += &paragraph("  - ", "    ", &finding.message, width);
    }
    let mut avoids: Vec<&str> = Vec::new();
    for finding in &check.findings {
        if !avoids.contains(&finding.avoid.as_str()) {
            avoids.push(&finding.avoid);
        }
    }
    text + &paragraph("  Avoid it: ", "    ", &avoids.join("; "), width)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// `1.24x [1.1, 1.4]`.
pub(super) fn figure(evidence: &Evidence) -> String {
    let Evidence { unit, value, interval, .. } = evidence;
    if let ("x", Some(interval)) = (unit.as_str(), interval) {
        let text = units::ratio(*value, interval.low, interval.high);
        return format!("{} {}", text.value, text.interval);
    }
    let text = units::figure(unit, *value, interval.as_ref(), Wording::Full);
    match text.interval {
        Some(interval) => format!("{} {interval}", text.value),
        None => text.value,
    }
}

/// `1.24x [1.1, 1.4] (tmpfs), 1.58x [1.4, 1.8] (ext4)`: each number with its target.
pub(super) fn by_target(evidence: &[Evidence]) -> String {
    let one = |evidence: &Evidence| match &evidence.target {
        Some(target) => format!("{} ({target})", figure(evidence)),
        None => figure(evidence),
    };
    list(&evidence.iter().map(one).collect::<Vec<_>>(), "and")
}

/// The largest value of each target.
pub(super) fn largest(all: &[Evidence]) -> Vec<Evidence> {
    let mut largest: Vec<Evidence> = Vec::new();
    for one in all {
        match largest.iter_mut().find(|known| known.target == one.target) {
            Some(known) if known.value < one.value => *known = one.clone(),
            Some(_) => {}
            None => largest.push(one.clone()),
        }
    }
    largest
}
