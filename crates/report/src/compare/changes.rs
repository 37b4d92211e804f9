//! The result of a comparison: how many differences there are, and the largest.

use textual::{paragraph, percent, plural};

use super::{CompareDocument, Comparison, RunVerdict};

/// Number of differences that are listed individually.
const SHOWN: usize = 10;

impl RunVerdict {
    /// Whether a difference was found, at least in these runs.
    pub(super) fn is_different(self) -> bool {
        match self {
            Self::Real
            | Self::RealButSmall
            | Self::RealSizeUnknown
            | Self::DiffersBetweenTheseRuns => true,
            Self::Same | Self::SameInTheseRuns | Self::NotToldApart | Self::NotEnoughData => false,
        }
    }
}

impl Comparison {
    /// How much worse the second is than the first, at the end of the interval that is nearer to 1;
    /// above 1 if it is worse. `None` if no difference was found, or neither direction is better.
    fn worse_by(&self) -> Option<f64> {
        let (low, high) = self.worsening().filter(|_| self.verdict.is_different())?;
        Some(if low > 1.0 { low } else { high })
    }
}

impl CompareDocument {
    /// The result for people: the counts on one line, and the largest differences.
    #[must_use]
    pub fn summary(&self, width: usize) -> String {
        let mut text = self.sides_text(width);
        text += &paragraph("", "  ", &self.counts(), width);
        let mut found: Vec<(f64, &Comparison)> = self
            .comparisons
            .iter()
            .filter(|one| one.verdict.is_different())
            .filter_map(|one| Some((nearest_to_1(one)?, one)))
            .collect();
        found.sort_by(|left, right| right.0.total_cmp(&left.0));
        if !found.is_empty() {
            text += "\nLargest differences\n";
        }
        for (_, one) in found.iter().take(SHOWN) {
            let said = format!("{}: {}", one.title, self.sentence(one));
            text += &paragraph("  ", "      ", &said, width);
        }
        if found.len() > SHOWN {
            text += &format!("  and {} smaller ones\n", found.len() - SHOWN);
        }
        text += &self.power_text(width);
        if !self.unlike.is_empty() {
            let many = plural(self.unlike.len(), "benchmark");
            let said = format!("{many} measured differently are not compared");
            text += &paragraph("! ", "  ", &said, width);
        }
        if !self.without_metric.is_empty() {
            let many = plural(self.without_metric.len(), "benchmark");
            let said = format!("{many} without {} on some target: not compared there", self.metric);
            text += &paragraph("! ", "  ", &said, width);
        }
        for warning in &self.warnings {
            text += &paragraph("! ", "  ", warning, width);
        }
        text + "\nAll comparisons and the analysis of variance: the same with --full\n"
    }

    /// `43 comparisons at 95 % confidence: 3 worse, 2 better, 5 the same within 2 %, 33 not told
    /// apart.`
    fn counts(&self) -> String {
        let count = |is_it: &dyn Fn(&Comparison) -> bool| {
            self.comparisons.iter().filter(|one| is_it(one)).count()
        };
        let different = count(&|one| one.verdict.is_different());
        let untested = count(&|one| one.verdict == RunVerdict::NotEnoughData);
        let mut facts = Vec::new();
        if self.runs.len() > 1 && self.sides() != 1 {
            let worse = count(&|one| one.worse_by().is_some_and(|by| by > 1.0));
            let better = count(&|one| one.worse_by().is_some_and(|by| by < 1.0));
            facts.extend([format!("{worse} worse"), format!("{better} better")]);
            let neither = different - worse - better;
            facts.extend((neither > 0).then(|| format!("{neither} different")));
        } else {
            facts.push(format!("{different} with a difference"));
        }
        let same =
            count(&|one| matches!(one.verdict, RunVerdict::Same | RunVerdict::SameInTheseRuns));
        facts.push(format!("{same} the same within {}", percent(self.margin)));
        let rest = self.comparisons.len() - different - same - untested;
        facts.push(format!("{rest} not told apart"));
        facts.extend((untested > 0).then(|| format!("{untested} with too little data")));
        let all = plural(self.comparisons.len(), "comparison");
        format!("{all} at {} confidence: {}.", percent(self.level), facts.join(", "))
    }
}

/// The distance of the interval's nearer end from 1, as a ratio above 1.
fn nearest_to_1(comparison: &Comparison) -> Option<f64> {
    let interval = comparison.interval.as_ref()?;
    Some(if interval.low > 1.0 { interval.low } else { 1.0 / interval.high })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{named, options, verdicts};
    use super::super::{RunVerdict, compare};
    use crate::sample::{Sample, around, noisy};

    #[test]
    fn a_run_on_a_busy_machine_is_said_to_be_one() {
        let run = || Sample::new(&["ext4"]).benchmark("create", &[&around(1000.0, 12)]).ended();
        let runs = [named("a", run()), named("b", run().busy_before(2))];
        let document = compare(&runs, &options()).unwrap();
        let of_busy = document.warnings.iter().filter(|it| it.contains("the machine was busy"));
        assert_eq!(of_busy.collect::<Vec<_>>().len(), 1, "{:?}", document.warnings);
        assert!(document.warnings.iter().any(|it| it.starts_with("b: 2 of 12 replicates")));
    }

    #[test]
    fn the_summary_counts_and_tells_the_largest_and_what_got_worse_is_found() {
        let times = |factor: f64| noisy(1000.0 * factor, 0.01, 7, 12);
        let run = |factors: [f64; 3]| {
            let [slow, fast, alike] = factors.map(times);
            Sample::new(&["ext4"])
                .benchmark("slow", &[&slow])
                .benchmark("fast", &[&fast])
                .benchmark("alike", &[&alike])
        };
        let runs = [named("before", run([1.0; 3])), named("after", run([1.5, 0.5, 1.0]))];
        let document = compare(&runs, &options()).unwrap();
        let text = document.summary(100);
        let counts = "3 comparisons at 95 % confidence: 1 worse, 1 better, 1 the same within 2 %, \
                      0 not told apart.";
        assert!(text.contains(counts), "{text}");
        let (fast, slow) = (text.find("fast: ext4 in after"), text.find("slow: ext4 in after"));
        assert!(fast.is_some() && fast < slow, "the largest first: {text}");
        assert!(!text.contains("alike:"), "{text}");
        let titles = |share: f64| -> Vec<&str> {
            document.gate(share).worse.iter().map(|one| one.title.as_str()).collect()
        };
        assert_eq!(titles(0.05), [""; 0], "of single runs");
    }

    #[test]
    fn a_rate_that_falls_got_worse() {
        let run = |time: f64| {
            let times = noisy(time, 0.01, 3, 12);
            Sample::new(&["ext4"]).throughput_first().benchmark("create", &[&times])
        };
        let counts = |before, after| {
            let runs = [named("before", run(before)), named("after", run(after))];
            compare(&runs, &options()).unwrap().counts()
        };
        assert!(counts(1000.0, 1500.0).contains("1 worse"), "{}", counts(1000.0, 1500.0));
        assert!(counts(1500.0, 1000.0).contains("1 better"), "{}", counts(1500.0, 1000.0));
    }

    #[test]
    fn beside_a_busy_run_only_what_is_far_surer_is_called_a_difference() {
        let runs = |blocks: u32| {
            let sample = |times: &[f64]| Sample::new(&["a"]).benchmark("create", &[times]);
            let after = sample(&noisy(1100.0, 0.1, 5, 8)).busy_before(blocks);
            let runs = [named("before", sample(&noisy(1000.0, 0.01, 5, 8))), named("after", after)];
            let document = compare(&runs, &options()).unwrap();
            let p = document.comparisons[0].p;
            assert!(blocks > 0 || p.is_some_and(|p| (0.001..0.05).contains(&p)), "{p:?}");
            verdicts(&document)
        };
        let quiet = runs(0);
        assert_ne!(quiet, [RunVerdict::NotEnoughData], "they differ");
        assert_ne!(quiet, [RunVerdict::NotToldApart], "they differ");
        assert_eq!(runs(8), [RunVerdict::NotEnoughData]);
    }
}
