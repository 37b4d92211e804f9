//! A comparison of runs in sentences and tables.

use tables::text::{figure, p_equation, percent, wrapped};

use super::{CompareDocument, Comparison, RunDifference, Unlike, Verdict};
use crate::analysis::BLOCKS_LEAST;

impl CompareDocument {
    /// The text for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let mut text = String::new();
        let tested = self.comparisons.iter().filter(|one| one.p.is_some()).count();
        for run in &self.runs {
            text += &format!("{}: {}\n", run.name, run.targets.join(", "));
        }
        if !self.differences.is_empty() {
            text += "The runs also differ in:\n";
        }
        for RunDifference { run, what, first, second } in &self.differences {
            let said = format!("{what}: {first} in {}, {second} in {run}", self.runs[0].name);
            text += &wrapped("  ", "      ", &said, width);
        }
        let basis = format!(
            "{} confidence; the same means within {}; p is adjusted for {tested} comparisons, each \
             interval is of its own alone",
            percent(self.level),
            percent(self.margin),
        );
        text += &wrapped("", "", &basis, width);
        let untested = self.comparisons.len() - tested;
        if untested > 0 {
            let few =
                format!("without data enough ({BLOCKS_LEAST} blocks): {untested} comparisons");
            text += &wrapped("", "", &few, width);
        }
        let mut title = "";
        for comparison in &self.comparisons {
            if comparison.title != title {
                title = &comparison.title;
                text += &format!("\n{title}\n");
            }
            text += &wrapped("  ", "      ", &self.sentence(comparison), width);
        }
        if let Some(analysis) = &self.analysis {
            text += "\nCosts over all benchmarks\n";
            text += &analysis.text(width);
        }
        if let Some(why) = &self.analysis_refused {
            text += &wrapped("\n! ", "  ", &format!("no analysis of variance: {why}"), width);
        }
        if !self.unlike.is_empty() {
            let count = self.unlike.len();
            let (noun, be) = if count == 1 { ("benchmark", "was") } else { ("benchmarks", "were") };
            let many = format!(
                "{count} {noun} {be} measured differently, so not compared (--unlike compares \
                 them anyway):"
            );
            text += &wrapped("\n! ", "  ", &many, width);
            for Unlike { target, title, why, .. } in &self.unlike {
                let said = format!("{title}, {target}: {why}");
                text += &wrapped("  ", "      ", &said, width);
            }
        }
        if !self.left_out.is_empty() {
            let names = self.left_out.join("; ");
            let why = "not in the analysis, because not every side has them or they are ratios";
            text += &wrapped("- ", "  ", &format!("{why}: {names}"), width);
        }
        for warning in &self.warnings {
            text += &wrapped("! ", "  ", warning, width);
        }
        text
    }

    fn sentence(&self, comparison: &Comparison) -> String {
        let several = self.runs.len() > 1;
        let name = |run: &str, target: &str| {
            if several { format!("{target} in {run}") } else { target.to_owned() }
        };
        let first = name(&comparison.first_run, &comparison.first);
        let second = name(&comparison.second_run, &comparison.second);
        let (Some(ratio), Some(interval)) = (comparison.ratio, comparison.interval) else {
            return format!("{second} and {first}: not enough data");
        };
        let numbers = format!(
            "{}x [{}, {}]",
            figure_of_ratio(ratio),
            figure_of_ratio(interval.low),
            figure_of_ratio(interval.high)
        );
        let p = comparison.p_adjusted.map_or_else(String::new, p_equation);
        let metric = comparison.metric.replace('_', " ");
        match comparison.verdict {
            Verdict::Real => {
                format!("{second}: {metric} {numbers} that of {first} ({p})")
            }
            Verdict::RealButSmall => format!(
                "{second}: {metric} {numbers} that of {first}, different by less than {} ({p})",
                percent(self.margin)
            ),
            Verdict::Same => format!(
                "{second} and {first} are the same within {}: {numbers} ({p})",
                percent(self.margin)
            ),
            Verdict::NotToldApart => {
                let seen = comparison.least_detectable_ratio.map_or_else(String::new, |least| {
                    format!("; {}x would have been seen", figure_of_ratio(least))
                });
                format!("{second} and {first} cannot be told apart: {numbers} ({p}{seen})")
            }
            Verdict::NotEnoughData => format!("{second} and {first}: not enough data"),
        }
    }
}

/// Three digits are enough for a ratio.
fn figure_of_ratio(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) { format!("{ratio:.3}") } else { figure(ratio) }
}
