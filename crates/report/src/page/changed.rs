//! What changed between runs, in a few sentences, for the head of their page.

use record::{Better, Document};
use textual::{list, percent};

use crate::compare::{CompareDocument, Comparison, RunVerdict};
use crate::units::ratio;

/// What is true of everything first, then the largest difference, then the reason to doubt both.
/// Empty if there is one run, or nothing to compare.
pub(super) fn answer(comparison: &CompareDocument, documents: &[&Document]) -> Vec<String> {
    let Some((first, later)) = comparison.runs.split_first().filter(|(_, later)| !later.is_empty())
    else {
        return Vec::new();
    };
    let later: Vec<String> = later.iter().map(|run| run.name.clone()).collect();
    let mut tally = Tally::default();
    for one in &comparison.comparisons {
        tally.count(one, direction(documents, one));
    }
    let mut clauses: Vec<String> = Vec::new();
    clauses.extend(tally.different());
    let same = format!("the same within {}", percent(comparison.margin));
    for (count, what) in [(tally.same, same.as_str()), (tally.open, "not told apart")] {
        if count > 0 {
            clauses.push(format!("{count} {what}"));
        }
    }
    if clauses.is_empty() {
        return Vec::new();
    }
    let largest = tally.largest.map(|(one, _)| largest(one, direction(documents, one)));
    let what = clauses.join("; ");
    let head = format!("From {} to {}: {what}.", first.name, list(&later, "and"));
    let bound = tally.of_single_runs.then(|| OF_SINGLE_RUNS.to_owned());
    [Some(head), largest, bound].into_iter().flatten().collect()
}

/// The caveat for differences between single runs.
const OF_SINGLE_RUNS: &str = "These are single runs. Even two runs of the same system differ: \
                              only several of each (--runs 4) can tell whether this would \
                              recur.";

/// Comparisons, grouped by what they show.
#[derive(Default)]
struct Tally<'a> {
    worse: usize,
    better: usize,
    other: usize,
    same: usize,
    open: usize,
    /// Whether any of them is between single runs.
    of_single_runs: bool,
    /// The one with the largest difference, and that difference.
    largest: Option<(&'a Comparison, f64)>,
}

impl<'a> Tally<'a> {
    fn count(&mut self, one: &'a Comparison, direction: Better) {
        self.of_single_runs |= matches!(
            one.verdict,
            RunVerdict::DiffersBetweenTheseRuns | RunVerdict::SameInTheseRuns
        );
        match one.verdict {
            RunVerdict::Real
            | RunVerdict::RealButSmall
            | RunVerdict::RealSizeUnknown
            | RunVerdict::DiffersBetweenTheseRuns => self.differs(one, direction),
            RunVerdict::Same | RunVerdict::SameInTheseRuns => self.same += 1,
            RunVerdict::NotToldApart => self.open += 1,
            RunVerdict::NotEnoughData => {}
        }
    }

    fn differs(&mut self, one: &'a Comparison, direction: Better) {
        let Some(ratio) = one.ratio else { return };
        match direction {
            Better::Neither => self.other += 1,
            Better::Lower | Better::Higher if is_worse(ratio, direction) => self.worse += 1,
            Better::Lower | Better::Higher => self.better += 1,
        }
        let distance = ratio.ln().abs();
        if self.largest.is_none_or(|(_, most)| distance > most) {
            self.largest = Some((one, distance));
        }
    }

    fn different(&self) -> Vec<String> {
        let kinds = [(self.worse, "worse"), (self.better, "better"), (self.other, "different")];
        let found: Vec<String> = kinds
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        match (found.is_empty(), self.same + self.open) {
            (true, 0) => Vec::new(),
            (true, _) => vec!["no difference shown".to_owned()],
            (false, _) => vec![list(&found, "and")],
        }
    }
}

fn is_worse(ratio: f64, direction: Better) -> bool {
    (ratio > 1.0) == (direction == Better::Lower)
}

/// `The largest: create on ext4, 1.32x worse.`
fn largest(one: &Comparison, direction: Better) -> String {
    let value = one.ratio.unwrap_or(1.0);
    let is_turned = value < 1.0;
    let turned = |it: f64| if is_turned { 1.0 / it } else { it };
    let (low, high) = one.interval.map_or((value, value), |it| (it.low, it.high));
    let (low, high) =
        if is_turned { (turned(high), turned(low)) } else { (turned(low), turned(high)) };
    let word = match (direction, is_worse(value, direction), is_turned) {
        (Better::Neither, _, true) => "less",
        (Better::Neither, _, false) => "more",
        (_, true, _) => "worse",
        (_, false, _) => "better",
    };
    let text = ratio(turned(value), low, high).value;
    format!("The largest difference: {}, {}, {text} {word}.", one.title, one.second)
}

/// Which direction of the metric is better.
fn direction(documents: &[&Document], one: &Comparison) -> Better {
    let cells = documents.iter().flat_map(|document| &document.cells);
    let mut metrics = cells
        .filter(|cell| cell.benchmark == one.benchmark && cell.suite == one.suite)
        .flat_map(|cell| &cell.metrics);
    let found = metrics.find(|metric| metric.name == one.metric);
    found.map_or(Better::Neither, |metric| metric.better)
}

#[cfg(test)]
mod tests {
    use record::Document;

    use crate::compare::{CompareOptions, NamedRun, compare};
    use crate::sample::{Sample, around};

    use super::*;

    fn said(before: &Sample, after: &Sample) -> Vec<String> {
        let named = |name: &str, sample: &Sample| NamedRun {
            name: name.to_owned(),
            run: sample.run.clone(),
        };
        let runs = [named("before", before), named("after", after)];
        let comparison = compare(&runs, &CompareOptions::default()).unwrap();
        let documents: Vec<Document> = vec![before.document(), after.document()];
        answer(&comparison, &documents.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_got_worse_is_said_first_and_the_largest_by_name() {
        let (low, high) = (around(1000.0, 12), around(2000.0, 12));
        let before = Sample::new(&["ext4"])
            .benchmark("create", &[&low])
            .benchmark("stat", &[&high])
            .benchmark("read", &[&low]);
        let after = Sample::new(&["ext4"])
            .benchmark("create", &[&around(1500.0, 12)])
            .benchmark("stat", &[&low])
            .benchmark("read", &[&low]);
        let said = said(&before, &after);
        let [head, largest, bound] = said.as_slice() else { panic!("{said:?}") };
        assert!(head.starts_with("From before to after: 1 worse and 1 better; 1 "), "{head}");
        assert_eq!(largest, "The largest difference: stat, ext4, 2.00x better.");
        assert!(bound.ends_with("can tell whether this would recur."), "{bound}");
    }

    #[test]
    fn that_nothing_changed_is_an_answer() {
        let low = around(1000.0, 12);
        let sample = Sample::new(&["ext4"]).benchmark("create", &[&low]);
        let text = said(&sample, &sample).join(" ");
        assert!(text.starts_with("From before to after: no difference shown; 1 "), "{text}");
    }
}
