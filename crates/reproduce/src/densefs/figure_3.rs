//! Figure 3: the lines that creat touches on DenseFS in a kernel, before and after its code was
//! made compact.

use record::{Run, TargetRecord};
use serde::Serialize;
use textual::Columns;

use super::text::with_interval;
use super::{Estimate, OperationFootprint, Reproduction};
use crate::statement::{Outcome, Statement, statement};

/// The end of the axis after compaction, for instructions and data.
const AXES: [f64; 2] = [70.0, 55.0];

/// One side of Figure 3.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compaction {
    /// How the module's code is laid out: `plain` or `ordered`.
    pub layout: &'static str,
    /// The target.
    pub target: String,
    /// The paper's rows of instructions, as far as they can be read off the axis.
    pub published_instruction_lines: &'static str,
    /// The paper's rows of data, likewise.
    pub published_data_lines: &'static str,
    /// Instruction lines measured here.
    pub instruction_lines: Estimate,
    /// Data lines measured here.
    pub data_lines: Estimate,
}

/// Whether a target is DenseFS in the kernel of a guest.
pub(super) fn is_densefs(target: &TargetRecord) -> bool {
    target.file_system.starts_with("densefs")
}

/// Both sides, as far as the run has them.
pub(super) fn compaction(run: &Run, all: &[OperationFootprint]) -> Vec<Compaction> {
    let side = |(layout, instructions, data): (&'static str, &'static str, &'static str)| {
        let option = format!("layout={layout}");
        let is_it = |one: &&TargetRecord| {
            is_densefs(one) && one.specification.split([':', ',']).any(|part| part == option)
        };
        let target = run.manifest.targets.iter().find(is_it)?;
        let found =
            all.iter().find(|one| one.target == target.label && one.operation == "create")?;
        Some(Compaction {
            layout,
            target: target.label.clone(),
            published_instruction_lines: instructions,
            published_data_lines: data,
            instruction_lines: found.instruction_lines,
            data_lines: found.data_lines,
        })
    };
    let sides = [("plain", "not printed", "not printed"), ("ordered", "under 70", "under 55")];
    sides.into_iter().filter_map(side).collect()
}

pub(super) const STATEMENTS: &[fn(&Reproduction) -> Statement] =
    &[fewer_instructions, fewer_data, few_instructions, few_data];

fn sides(of: &Reproduction) -> Option<(&Compaction, &Compaction)> {
    let side = |layout| of.figure_3.iter().find(|one| one.layout == layout);
    Some((side("plain")?, side("ordered")?))
}

fn fewer_instructions(of: &Reproduction) -> Statement {
    let found = sides(of).map(|(before, after)| {
        let (before, after) = (before.instruction_lines.median, after.instruction_lines.median);
        (format!("medians: {before:.0} before, {after:.0} after"), after < before)
    });
    let claim = "compaction makes creat on DenseFS touch fewer instruction lines";
    statement("Figure 3", claim, "fewer, hatched in the figure", found).within("any fewer")
}

fn fewer_data(of: &Reproduction) -> Statement {
    let claim = "compaction makes creat on DenseFS touch fewer data lines";
    let none = statement("Figure 3", claim, "fewer, hatched in the figure", None);
    let Some((before, after)) = sides(of) else { return none.within("any fewer") };
    let (before, after) = (before.data_lines.median, after.data_lines.median);
    Statement {
        measured: format!("medians: {before:.0} and {after:.0}"),
        outcome: Outcome::Unknown,
        ..none
    }
    .within("any fewer")
    .because("both modules have the compact inode: only their code differs (section 3.1)")
}

fn few_instructions(of: &Reproduction) -> Statement {
    let found = sides(of).map(|(_, after)| {
        let lines = after.instruction_lines.median;
        (format!("{lines:.0} lines, the median"), lines < AXES[0])
    });
    let claim = "after compaction, creat on DenseFS touches under 70 instruction lines, the \
                 kernel's entry and exit included";
    statement("Figure 3", claim, "under 70, read off the axis", found).within("none: a bound")
}

fn few_data(of: &Reproduction) -> Statement {
    let found = sides(of).map(|(_, after)| {
        let lines = after.data_lines.median;
        (format!("{lines:.0} lines, the median"), lines < AXES[1])
    });
    let claim = "after compaction, creat on DenseFS touches under 55 data lines";
    statement("Figure 3", claim, "under 55, read off the axis", found).within("none: a bound")
}

pub(super) fn text(sides: &[Compaction]) -> String {
    if sides.is_empty() {
        return String::new();
    }
    let heading = ["DenseFS' code", "instr., paper", "instr., here", "data, paper", "data, here"];
    let mut columns = Columns::headed(heading);
    for one in sides {
        let layout = match one.layout {
            "plain" => "before (plain)",
            _ => "after (ordered)",
        };
        columns.row([
            layout.to_owned(),
            one.published_instruction_lines.to_owned(),
            with_interval(&one.instruction_lines),
            one.published_data_lines.to_owned(),
            with_interval(&one.data_lines),
        ]);
    }
    format!("\nFigure 3: lines of creat on DenseFS in a guest's kernel\n{}", columns.render())
}
