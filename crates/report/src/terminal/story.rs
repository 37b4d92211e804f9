//! Where the mean and the median tell different stories about two targets.
//!
//! A mean over operations includes the few long ones, a median does not. Usually both say the same,
//! and then the mean's ratio is enough. `docs/verdicts.md` defines when they do not.

use record::{Document, Verdict, Warning};

use super::names;
use super::ranking::{RankedTarget, Relation, Slowdown, by_median, relation};
use crate::analysis::{self, BLOCKS_MIN, Certainty, SlowdownEstimate};
use crate::units;
use textual::{grouped, unbroken};

/// What the median says about two targets, and the mean does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Story<'a> {
    /// Ordered by the mean: `median` says how the second target compares with the first.
    second: RankedTarget<'a>,
    first: RankedTarget<'a>,
    median: Relation,
    /// The target whose mean is dominated by a few of its operations.
    carried: RankedTarget<'a>,
}

impl<'a> Story<'a> {
    /// The story of two targets, where `better` is better by the mean; `None` if mean and median
    /// agree, or if there is no median.
    pub(super) fn new(
        document: &Document,
        better: RankedTarget<'a>,
        worse: RankedTarget<'a>,
    ) -> Option<Self> {
        if !analysis::is_mean(&better.metric.name) {
            return None;
        }
        let mean = relation(document, better, worse);
        let median = by_median(document, better, worse);
        if mean.blocks < BLOCKS_MIN || !analysis::are_different(slowdown(&mean), slowdown(&median))
        {
            return None;
        }
        let ratio = |of: &Relation| of.slower.map_or(1.0, |slower| slower.ratio);
        let carried = if ratio(&mean) >= ratio(&median) { worse } else { better };
        Some(Self { second: worse, first: better, median, carried })
    }

    /// `ext4 2.1x slower [2.0, 2.2] (224 of its 35,840 operations took 93 % of its time)`.
    pub(super) fn clause(&self) -> String {
        let [second, first] = [self.second, self.first].map(label);
        let said = match (self.median.slower, self.median.verdict) {
            (Some(slower), Verdict::Real | Verdict::RealSizeUnknown) => {
                let (ratio, word) = worded(slower);
                let own = unbroken(&format!("{second} {} {word}", ratio.value));
                format!("{own} {}", unbroken(&ratio.interval))
            }
            (Some(Slowdown { ratio, low, high }), Verdict::NotToldApart) => {
                let range = units::ratio(ratio, low, high).range;
                format!(
                    "{first} and {second} cannot be told apart {}",
                    unbroken(&format!("({range})"))
                )
            }
            (None, _) | (Some(_), Verdict::NotEnoughData) => {
                format!("{first} and {second} cannot be told apart")
            }
        };
        match self.by_few() {
            Some(few) => format!("{said} ({few})"),
            None => said,
        }
    }

    /// `median 2.10x`, `median 1.30x faster`, `median not told apart`.
    pub(super) fn note(&self) -> String {
        match (self.median.slower, self.median.verdict) {
            (Some(slower), Verdict::Real | Verdict::RealSizeUnknown) => {
                let (ratio, word) = worded(slower);
                let is_reversed = slower.ratio < 1.0;
                let word = if is_reversed { format!(" {word}") } else { String::new() };
                format!("median {}{word}", ratio.value)
            }
            (None, _) | (Some(_), Verdict::NotToldApart | Verdict::NotEnoughData) => {
                "median not told apart".to_owned()
            }
        }
    }

    /// How few operations dominate the mean, if that is known.
    fn by_few(&self) -> Option<String> {
        let name = label(self.carried);
        let known = |warning: &Warning| {
            if let Warning::Stalls { operations, of, share_percent, .. } = warning {
                let [few, all] = [operations, of].map(|count| grouped(*count as f64));
                return Some(format!(
                    "{few} of {name}'s {all} operations took {share_percent:.0} % of its time"
                ));
            }
            let Warning::MeanAboveMedian { slowest_tenth_percent, .. } = warning else {
                return None;
            };
            let share = format!("{slowest_tenth_percent:.0} % of its time");
            Some(format!("the slowest tenth of {name}'s operations took {share}"))
        };
        self.carried.cell.warnings.iter().find_map(|report| known(&report.warning))
    }
}

/// `in the median, ext4 2.1x slower [2.0, 2.2]`: the targets whose median compares differently with
/// that of the best than the mean says.
pub(super) fn clause(
    document: &Document,
    best: RankedTarget<'_>,
    others: &[RankedTarget<'_>],
) -> Option<String> {
    let stories = others.iter().filter_map(|other| Story::new(document, best, *other));
    let said: Vec<String> = stories.map(|story| story.clause()).collect();
    (!said.is_empty()).then(|| format!("in the median, {}", said.join(", ")))
}

fn slowdown(relation: &Relation) -> SlowdownEstimate {
    let difference = match relation.verdict {
        Verdict::Real => Some(Certainty::BeyondMargin),
        Verdict::RealSizeUnknown => Some(Certainty::SizeUnknown),
        Verdict::NotToldApart | Verdict::NotEnoughData => None,
    };
    let ratio = relation.slower.map(|Slowdown { ratio, low, high }| [ratio, low, high]);
    SlowdownEstimate { difference, ratio }
}

/// The ratio, and `slower` or `faster`.
fn worded(Slowdown { ratio, low, high }: Slowdown) -> (units::RatioText, &'static str) {
    if ratio >= 1.0 {
        (units::ratio(ratio, low, high), "slower")
    } else {
        (units::ratio(1.0 / ratio, 1.0 / high, 1.0 / low), "faster")
    }
}

fn label(entry: RankedTarget<'_>) -> String {
    names::label(&entry.cell.target)
}

#[cfg(test)]
mod tests {
    use crate::sample::{Sample, around, swaying};

    use super::super::ranking::Ranking;
    use super::super::sentence::of_benchmark;

    /// The sentence about two targets with these means and medians in us.
    fn said(means: [f64; 2], medians: [f64; 2]) -> String {
        sentence(&sample(means, medians))
    }

    fn sample(means: [f64; 2], medians: [f64; 2]) -> Sample {
        let [first, second] = [around(1000.0 * means[0], 12), swaying(1000.0 * means[1], 12)];
        let [p50, other] = [around(1000.0 * medians[0], 12), swaying(1000.0 * medians[1], 12)];
        Sample::new(&["xfs", "ext4"])
            .benchmark("fsync", &[&first, &second])
            .quantiles("fsync", "xfs", &p50, &p50)
            .quantiles("fsync", "ext4", &other, &other)
    }

    fn sentence(sample: &Sample) -> String {
        let document = sample.document();
        let cells: Vec<_> = document.cells.iter().collect();
        of_benchmark(&document, "fsync", &Ranking::new(&cells)).replace('\u{a0}', " ")
    }

    fn median_of(text: &str) -> Option<&str> {
        text.split_once("; in the median, ").map(|(_, after)| after)
    }

    #[test]
    fn a_sentence_stays_as_it_is_where_both_say_the_same() {
        for (means, medians) in [
            ([100.0, 200.0], [90.0, 180.0]),
            ([100.0, 200.0], [90.0, 150.0]),
            ([100.0, 100.0], [90.0, 90.0]),
            // Real in one and not in the other, but too small to matter.
            ([100.0, 105.0], [90.0, 90.0]),
            ([100.0, 100.0], [90.0, 95.0]),
        ] {
            let text = said(means, medians);
            assert_eq!(median_of(&text), None, "{means:?} {medians:?}: {text}");
        }
    }

    #[test]
    fn a_median_that_says_much_less_is_said_with_the_operations_that_made_the_mean() {
        // In each replicate, ten of 1,000 operations take 40 ms.
        let sample = {
            let (mean, median) = (around(10_000.0, 12), swaying(440_000.0, 12));
            let (p50, other) = (around(9000.0, 12), swaying(18_900.0, 12));
            Sample::new(&["xfs", "ext4"])
                .operations(1000)
                .benchmark("fsync", &[&mean, &median])
                .quantiles("fsync", "xfs", &p50, &p50)
                .quantiles("fsync", "ext4", &other, &other)
                .stalled("fsync", "ext4", 10, 40_000_000)
        };
        let text = sentence(&sample);
        assert!(text.contains("ext4 43.9x slower ["), "{text}");
        let median = median_of(&text).expect("44x and 2.1x");
        assert!(median.starts_with("ext4 2.10x slower [2.0"), "{text}");
        let by = "(120 of ext4's 12,000 operations took 96 % of its time)";
        assert!(median.ends_with(by), "{text}");
    }

    #[test]
    fn opposite_and_one_sided_differences_are_said() {
        let opposite = said([100.0, 130.0], [90.0, 60.0]);
        assert!(median_of(&opposite).unwrap().starts_with("ext4 1.50x faster ["), "{opposite}");
        let mean_alone = said([100.0, 130.0], [90.0, 90.0]);
        let expected = "xfs and ext4 cannot be told apart (0.9";
        assert!(median_of(&mean_alone).unwrap().starts_with(expected), "{mean_alone}");
        let median_alone = said([100.0, 100.0], [90.0, 135.0]);
        assert!(median_alone.contains("cannot be told apart (0.99x to 1.01x"), "{median_alone}");
        assert!(median_of(&median_alone).unwrap().contains("1.50x"), "{median_alone}");
    }

    #[test]
    fn what_is_no_mean_or_has_no_median_tells_no_story() {
        let mut other = sample([100.0, 130.0], [90.0, 60.0]);
        other.change("fsync", |cell| cell.metrics[0].name = "synced_time_per_operation".to_owned());
        assert_eq!(median_of(&sentence(&other)), None);
        let batches = Sample::new(&["xfs", "ext4"])
            .batch(8)
            .benchmark("stat", &[&around(100.0, 12), &swaying(130.0, 12)])
            .quantiles("stat", "ext4", &swaying(60.0, 12), &swaying(60.0, 12));
        assert_eq!(median_of(&sentence(&batches)), None);
    }
}
