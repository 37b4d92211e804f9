//! A comparison of runs in sentences and tables.

use record::RatioReport;
use textual::{figure, p_equation, paragraph, percent, plural};

use super::{
    CompareDocument, Comparison, MedianReport, RunDifference, RunFigure, RunVerdict, Unlike, metric,
};
use crate::analysis::BLOCKS_MIN;

impl CompareDocument {
    /// The text for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let mut text = self.sides_text(width);
        let tested = self.comparisons.iter().filter(|one| one.p.is_some()).count();
        let basis = format!(
            "{} confidence; \"the same\" means within {}; p is adjusted for {}, and \
             intervals of differences are widened because these were picked out of many",
            percent(self.level),
            percent(self.margin),
            plural(tested, "comparison"),
        );
        text += &paragraph("", "", &basis, width);
        let untested = self.comparisons.len() - tested;
        if untested > 0 {
            let needs = match self.sides() {
                0 => "6 blocks",
                1 => "3 runs",
                _ => "2 runs a side",
            };
            let few = format!("not compared (needs {needs} and values above 0): {untested}");
            text += &paragraph("", "", &few, width);
        }
        text += &self.power_text(width);
        let title = |text: &mut String, title: &str| *text += &format!("\n{title}\n");
        let mut add =
            |comparison: &Comparison| paragraph("  ", "      ", &self.sentence(comparison), width);
        if let Some(first) = self.figures.first() {
            let runs = plural(usize::try_from(first.runs).unwrap_or(usize::MAX), "run");
            let said = format!("figures are geometric means over {runs}");
            text += &paragraph("", "", &said, width);
        }
        let is_of_one = |one: &RunFigure, other: &RunFigure| {
            (&one.suite, &one.benchmark) == (&other.suite, &other.benchmark)
        };
        for of_one in self.figures.chunk_by(is_of_one) {
            title(&mut text, &of_one[0].title);
            let said: Vec<String> = of_one.iter().map(RunFigure::text).collect();
            text += &paragraph("  ", "      ", &said.join(", "), width);
            let own = self.comparisons.iter().filter(|one| {
                (&one.suite, &one.benchmark) == (&of_one[0].suite, &of_one[0].benchmark)
            });
            text.extend(own.map(&mut add));
        }
        let is_of_one = |one: &Comparison, other: &Comparison| one.title == other.title;
        let without = self.comparisons.chunk_by(is_of_one).filter(|_| self.figures.is_empty());
        for of_one in without {
            title(&mut text, &of_one[0].title);
            text.extend(of_one.iter().map(&mut add));
        }
        if let Some(analysis) = &self.analysis {
            text += "\nCosts over all benchmarks\n";
            text += &analysis.text(width);
        }
        if let Some(why) = &self.analysis_refused {
            text += &paragraph("\n! ", "  ", &format!("no analysis of variance: {why}"), width);
        }
        text += &self.set_aside(width);
        for warning in &self.warnings {
            text += &paragraph("! ", "  ", warning, width);
        }
        text
    }

    /// The runs, and how they differ otherwise.
    pub(super) fn sides_text(&self, width: usize) -> String {
        let mut text = String::new();
        for run in &self.runs {
            let side = run.side.as_ref().map_or_else(String::new, |side| format!("{side}: "));
            text += &format!("{side}{}: {}\n", run.name, run.targets.join(", "));
        }
        if !self.differences.is_empty() {
            text += "The runs also differ in:\n";
        }
        for RunDifference { run, what, first, second } in &self.differences {
            let said = format!("{what}: {first} in {}, {second} in {run}", self.runs[0].name);
            text += &paragraph("  ", "      ", &said, width);
        }
        if let Some(said) = metric::description(&self.metric) {
            text += &paragraph("", "  ", &said, width);
        }
        text
    }

    /// What this number of runs can show.
    pub(super) fn power_text(&self, width: usize) -> String {
        let power = self.power.as_ref();
        power.map_or_else(String::new, |power| paragraph("", "", &power.sentence(), width))
    }

    /// What was not compared, and what is missing from the analysis, with the reasons.
    fn set_aside(&self, width: usize) -> String {
        let mut text = String::new();
        if !self.unlike.is_empty() {
            let count = self.unlike.len();
            let be = if count == 1 { "was" } else { "were" };
            let many = format!(
                "{} {be} measured differently, so not compared (--unlike compares \
                 them anyway):",
                plural(count, "benchmark")
            );
            text += &paragraph("\n! ", "  ", &many, width);
            for Unlike { target, title, why, .. } in &self.unlike {
                let said = format!("{title}, {target}: {why}");
                text += &paragraph("  ", "      ", &said, width);
            }
        }
        if !self.without_metric.is_empty() {
            let names = self.without_metric.join("; ");
            let why = format!("without {} on some target, so not compared there", self.metric);
            text += &paragraph("- ", "  ", &format!("{why}: {names}"), width);
        }
        if !self.left_out.is_empty() {
            let names = self.left_out.join("; ");
            let why = "not in the analysis, because they are ratios or a side lacks them in some \
                       or all blocks";
            text += &paragraph("- ", "  ", &format!("{why}: {names}"), width);
        }
        text
    }

    /// Whether both sides have as many values as a comparison needs.
    fn has_enough(&self, comparison: &Comparison) -> bool {
        let least = match self.sides() {
            0 => u64::from(BLOCKS_MIN),
            1 => 3,
            _ => 2,
        };
        comparison.first_values.min(comparison.second_values) >= least
    }

    /// Number of sides with several runs.
    pub(super) fn sides(&self) -> usize {
        let mut sides: Vec<&String> =
            self.runs.iter().filter_map(|run| run.side.as_ref()).collect();
        sides.dedup();
        sides.len()
    }

    pub(super) fn sentence(&self, comparison: &Comparison) -> String {
        let name = |run: &str, target: &str| match (self.sides(), self.runs.len()) {
            (2, _) => format!("{target} ({run})"),
            (1, _) | (_, 1) => target.to_owned(),
            _ => format!("{target} in {run}"),
        };
        let first = name(&comparison.first_run, &comparison.first);
        let second = name(&comparison.second_run, &comparison.second);
        let (Some(ratio), Some(interval)) = (comparison.ratio, comparison.interval) else {
            let why = if self.has_enough(comparison) {
                "no ratio, because a value is 0 or less"
            } else {
                "not enough data"
            };
            return format!("{second} and {first}: {why}");
        };
        let numbers = format!(
            "{}x [{}, {}]",
            figure_of_ratio(ratio),
            figure_of_ratio(interval.low),
            figure_of_ratio(interval.high)
        );
        let p = comparison.p_adjusted.map_or_else(String::new, p_equation);
        let metric = comparison.metric.replace('_', " ");
        let both = both_ways(comparison);
        let said = match comparison.verdict {
            RunVerdict::Real => {
                format!("{second}: {metric} {numbers} that of {first} ({p})")
            }
            RunVerdict::RealSizeUnknown => format!(
                "{second}: {metric} {numbers} that of {first}; different ({p}), perhaps by \
                 under {}",
                percent(self.margin)
            ),
            RunVerdict::DiffersBetweenTheseRuns => {
                format!("{second}: {metric} {numbers} that of {first} between these two runs ({p})")
            }
            RunVerdict::SameInTheseRuns => format!(
                "{second} and {first} are the same within {} in these two runs: {numbers} ({p})",
                percent(self.margin)
            ),
            RunVerdict::RealButSmall => format!(
                "{second}: {metric} {numbers} that of {first}, different by less than {} ({p})",
                percent(self.margin)
            ),
            RunVerdict::Same => format!(
                "{second} and {first} are the same within {}: {numbers} ({p})",
                percent(self.margin)
            ),
            RunVerdict::NotToldApart => {
                let seen = comparison.least_detectable_ratio.map_or_else(String::new, |least| {
                    format!("; {}x would have been seen", figure_of_ratio(least))
                });
                format!("{second} and {first} cannot be told apart: {numbers} ({p}{seen})")
            }
            RunVerdict::NotEnoughData => format!("{second} and {first}: not enough data"),
        };
        said + &both + &comparison.median.as_ref().map_or_else(String::new, in_the_median)
    }
}

/// `; in the median 0.502x [0.48, 0.52] (p = 0.004)`, if that is a different story.
fn in_the_median(median: &MedianReport) -> String {
    let (low, high) = (median.interval.low, median.interval.high);
    let [ratio, low, high] = [median.ratio, low, high].map(figure_of_ratio);
    let p = median.p_adjusted.map_or_else(String::new, |p| format!(" ({})", p_equation(p)));
    let alike = if median.verdict.is_different() { "" } else { "not told apart: " };
    format!("; in the median {alike}{ratio}x [{low}, {high}]{p}")
}

/// `; over all blocks 1.95x [0.616, 6.22], over the middle ones 1.2x [1.199, 1.201]`, if the two
/// disagree.
fn both_ways(comparison: &Comparison) -> String {
    let figures = |one: &RatioReport| {
        let (low, high) = (one.interval.low, one.interval.high);
        let [ratio, low, high] = [one.ratio, low, high].map(figure_of_ratio);
        format!("{ratio}x [{low}, {high}]")
    };
    let both = comparison.of_means.as_ref().zip(comparison.of_the_middle.as_ref());
    both.map_or_else(String::new, |(means, middle)| {
        format!(
            "; the mean over all blocks is {}, over the middle blocks {}",
            figures(means),
            figures(middle)
        )
    })
}

/// Three digits are enough for a ratio.
fn figure_of_ratio(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) { format!("{ratio:.3}") } else { figure(ratio) }
}
