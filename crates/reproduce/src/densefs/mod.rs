//! Weiss, Arpaci-Dusseau & Arpaci-Dusseau, "`DenseFS`: A Cache-Compact Filesystem" (`HotStorage`
//! 2018): section 2, the cache access patterns of existing file systems, traced here.
//!
//! The paper prints its figures without tables, so ours are compared with what its text says and
//! what can be read off the axes. Footprints are the medians of a run's cells, with their intervals
//! over the repetitions; stacks come from the traces of the run, by way of [`TargetStacks`].

mod figure_4;
mod figures;
mod statements;
mod text;

use footprint_study::OperationStacks;
use record::Run;
use serde::Serialize;

pub use self::figure_4::{FIGURE_4_TARGETS, PollutionPoint, PollutionReproduction};
pub use crate::gathered::Estimate;
use crate::gathered::{self, Gathered};
pub use crate::statement::{Outcome, Statement};

/// The operations of Figure 1. Figure 2 uses them here too, since the paper does not name its own.
pub const FIGURE_OPERATIONS: [&str; 3] = ["create", "unlink", "rename"];
/// The paper's file systems.
const FILE_SYSTEMS: [&str; 5] = ["btrfs", "ext4", "f2fs", "tmpfs", "xfs"];
/// The operations against which the statements of section 2 are checked.
const OPERATIONS: [&str; 6] = ["create", "unlink", "rename", "stat", "write", "read"];

/// What can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Figure 1: cachemaps of three operations on xfs.
    Figure1,
    /// Figure 2: cgstacks of five file systems.
    Figure2,
    /// What section 2 says about footprints.
    Section2,
}

/// The stacks from a target's trace, which its cells do not contain.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetStacks {
    /// The target.
    pub target: String,
    /// The release of its kernel, if known.
    pub kernel: Option<String>,
    /// Its operations.
    pub operations: Vec<OperationStacks>,
}

/// Section 2, as reproduced here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// The paper.
    pub paper: &'static str,
    /// The name of the run.
    pub run: String,
    /// The releases of the kernels that were traced.
    pub kernels: Vec<String>,
    /// Figure 1: the lines of each operation on xfs.
    pub figure_1: Vec<CachemapSize>,
    /// Figure 2: the code of each file system by category.
    pub figure_2: Vec<CodeShares>,
    /// The footprints that section 2 is about.
    pub footprints: Vec<OperationFootprint>,
    /// What the paper says, and what was found here.
    pub statements: Vec<Statement>,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
}

/// The size of one cachemap of Figure 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CachemapSize {
    /// The paper's name for the operation.
    pub operation: &'static str,
    /// The paper's rows of instructions.
    pub published_instruction_lines: &'static str,
    /// The paper's rows of data.
    pub published_data_lines: &'static str,
    /// Instruction lines measured here.
    pub instruction_lines: Estimate,
    /// Data lines measured here.
    pub data_lines: Estimate,
}

/// One flame graph of Figure 2, as shares of the code of all [`FIGURE_OPERATIONS`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeShares {
    /// The target.
    pub target: String,
    /// Bytes of code, with each instruction counted once per stack of an operation.
    pub code_bytes: f64,
    /// The categories, largest first.
    pub categories: Vec<CategoryShare>,
    /// The coarse-grained stacks, largest first.
    pub cgstacks: Vec<CgstackShare>,
}

/// The share of a category in a flame graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryShare {
    /// Its name.
    pub category: String,
    /// Percentage of code in stacks with this category on top.
    pub own_percent: f64,
    /// Percentage of code in stacks that contain this category anywhere.
    pub with_callees_percent: f64,
}

/// The share of a coarse-grained stack in a flame graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CgstackShare {
    /// Its categories from callers to callees, joined by `;`.
    pub cgstack: String,
    /// Percentage of the bytes of code.
    pub percent: f64,
}

/// The footprint of an operation on a target: medians over the repetitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationFootprint {
    /// The target.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// Instruction lines.
    pub instruction_lines: Estimate,
    /// Data lines.
    pub data_lines: Estimate,
    /// Instruction lines divided by data lines.
    pub ratio: f64,
    /// Percentage of the bytes of instruction lines that were not executed.
    pub instruction_bytes_unused_percent: f64,
    /// Percentage of the bytes of data lines that were not accessed.
    pub data_bytes_unused_percent: f64,
    /// Percentage of instruction lines in which no byte was executed twice.
    pub instruction_lines_used_once_percent: f64,
    /// Percentage of data lines that only a single access touched.
    pub data_lines_used_once_percent: f64,
    /// Percentage of data lines in which at most eight bytes were accessed; `None` without a trace.
    pub sparse_data_lines_percent: Option<f64>,
}

impl Part {
    /// The parts by name, except the whole.
    const NAMED: [(&str, Self); 3] =
        [("figure-1", Self::Figure1), ("figure-2", Self::Figure2), ("section-2", Self::Section2)];

    /// The names of all parts.
    #[must_use]
    pub fn names() -> [&'static str; 3] {
        Self::NAMED.map(|(name, _)| name)
    }

    /// The part with this name: `figure-1`, `figure-2` or `section-2`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(one, _)| *one == name).map(|(_, part)| part)
    }

    /// The file systems that are traced for it.
    #[must_use]
    pub fn file_systems(self) -> &'static [&'static str] {
        if let Self::Figure1 = self { &["xfs"] } else { &FILE_SYSTEMS }
    }

    /// The operations that are traced for it.
    #[must_use]
    pub fn operations(self) -> &'static [&'static str] {
        match self {
            Self::Figure1 | Self::Figure2 => &FIGURE_OPERATIONS,
            Self::Whole | Self::Section2 => &OPERATIONS,
        }
    }

    fn has(self, other: Self) -> bool {
        self == Self::Whole || self == other
    }
}

impl Reproduction {
    /// Reproduces a part from a run and the stacks in its targets' traces. `name` is the run's
    /// name.
    #[must_use]
    pub fn from_run(part: Part, run: &Run, name: &str, traced: &[TargetStacks]) -> Self {
        let mut kernels: Vec<String> = traced.iter().filter_map(|one| one.kernel.clone()).collect();
        kernels.sort();
        kernels.dedup();
        let all = figures::footprints(&Gathered::new(run), traced);
        let mut reproduction = Self {
            paper: "Weiss et al., DenseFS: A Cache-Compact Filesystem (section 2)",
            run: name.to_owned(),
            kernels,
            figure_1: figures::cachemaps(&all, &figures::targets_of(run, "xfs")),
            figure_2: figures::flame_graphs(traced),
            footprints: all,
            statements: Vec::new(),
            missing: gathered::missing(run),
        };
        reproduction.statements = statements::all(&reproduction, part);
        reproduction.keep(part);
        reproduction
    }

    /// Drops what belongs to other parts.
    fn keep(&mut self, part: Part) {
        if !part.has(Part::Figure1) {
            self.figure_1.clear();
        }
        if !part.has(Part::Figure2) {
            self.figure_2.clear();
        }
        if !part.has(Part::Section2) {
            self.footprints.clear();
        }
    }

    /// Renders the reproduction for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        text::render(self, width)
    }
}

#[cfg(test)]
mod tests;
