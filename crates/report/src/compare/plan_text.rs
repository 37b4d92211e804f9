//! A plan as text: what varies, a table of runs, and the commands to copy.

use std::fmt::Write as _;

use textual::{Columns, list, paragraph, percent, plural, program};

use super::plan::{MOST_PERCENT, PlanDocument, RUNS_MAX};
use crate::units;

/// Number of comparisons that are named because they need the most runs.
const NAMED: usize = 3;

impl PlanDocument {
    /// The text for people. `command` is what each side should measure, such as `survey ext4`.
    #[must_use]
    pub fn text(&self, command: &str, width: usize) -> String {
        let runs = plural(self.runs.len(), "run");
        let pilot = format!(
            "Pilot: {runs} of {} ({}) of {}; {}.",
            units::seconds(self.measured_s),
            plural(count(self.blocks), "block"),
            list(&self.targets, "and"),
            plural(self.comparisons.len(), "comparison")
        );
        let mut text = paragraph("", "  ", &pilot, width);
        text += &paragraph("", "  ", &self.what_varies(), width);
        let of = percent(self.change_percent / 100.0);
        let heading = format!(
            "Runs a side, before and after, with which half of all comparisons, or 9 of 10, would \
             show a change of {of} four times in five (and how long both sides take)"
        );
        text += &paragraph("\n", "", &heading, width);
        text += &self.table();
        let of_all = "All ruled out: if nothing changed, --fail-above ends with status 0 four \
                      times in five.";
        text += &paragraph("  ", "  ", of_all, width);
        text += &self.proposed(command, width);
        text += &self.hardest(width);
        if !self.not_planned.is_empty() {
            let many = plural(self.not_planned.len(), "comparison");
            let said = format!("not planned: {many} with fewer than two runs of values above 0");
            text += &paragraph("! ", "  ", &said, width);
        }
        for warning in &self.warnings {
            text += &paragraph("! ", "  ", warning, width);
        }
        text
    }

    fn what_varies(&self) -> String {
        format!(
            "Figures vary from run to run by {:.1} % (standard deviation, the median over \
             comparisons). Of that variance, {:.0} % is noise within a run, which longer runs \
             average out; the rest lies between runs, where only more runs help.",
            self.runs_differ_percent,
            100.0 * self.within_share,
        )
    }

    fn table(&self) -> String {
        let mut table = Columns::headed(["", "half of all", "9 of 10", "all ruled out"]);
        for length in &self.lengths {
            let cell = |runs: Option<u64>| match runs {
                Some(runs) => {
                    format!("{runs} ({})", units::seconds(length.seconds(runs, self.beside_s)))
                }
                None => format!("over {RUNS_MAX}"),
            };
            let runs = format!("runs of {}", units::seconds(length.measured_s));
            table.row([runs, cell(length.half), cell(length.most), cell(length.all)]);
        }
        table.render()
    }

    fn proposed(&self, command: &str, width: usize) -> String {
        let Some(proposal) = &self.proposal else {
            return paragraph("\n", "", &self.too_little(), width);
        };
        let length = self.lengths.iter().find(|length| length.times == proposal.times);
        let each = length.map_or(self.measured_s, |length| length.measured_s);
        let of_all = if proposal.share_percent < MOST_PERCENT { "half" } else { "nine in ten" };
        let said = format!(
            "Quickest for {of_all} of the comparisons: {} of {} before the change, and as many \
             after it; {} in all.",
            plural(count(proposal.runs), "run"),
            units::seconds(each),
            units::seconds(proposal.seconds)
        );
        let mut text = paragraph("\n", "", &said, width);
        let (program, runs, limit) = (program(), proposal.runs, self.change_percent);
        let budget = each.round().max(1.0);
        for side in ["before", "after"] {
            let _infallible = writeln!(
                text,
                "  {program} {command} --budget {budget}s --runs {runs} --out {side}"
            );
        }
        text + &format!("  {program} compare before after --fail-above {limit}%\n")
    }

    /// Why nothing is proposed, and what could be detected.
    fn too_little(&self) -> String {
        format!(
            "Even {RUNS_MAX} runs a side would not show a change of {} in half of the comparisons. \
             Plan for a larger one, or measure while the machine does nothing else.",
            percent(self.change_percent / 100.0)
        )
    }

    fn hardest(&self, width: usize) -> String {
        let mut all: Vec<_> = self.comparisons.iter().collect();
        all.sort_by(|one, other| other.runs_differ_percent.total_cmp(&one.runs_differ_percent));
        let named: Vec<String> = all
            .iter()
            .take(NAMED)
            .map(|one| {
                let varies = one.runs_differ_percent;
                let digits = usize::from(varies < 10.0);
                format!("{}, {} ({varies:.digits$} %)", one.title, one.target)
            })
            .collect();
        let said = format!("These vary most from run to run: {}.", named.join("; "));
        paragraph("", "  ", &said, width)
    }
}

fn count(runs: u64) -> usize {
    usize::try_from(runs).unwrap_or(usize::MAX)
}
