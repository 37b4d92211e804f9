//! The paper's experiment, measured again: file systems under the phases of Bonnie, in blocks.
//!
//! Each block repeats the paper's design, a full factorial without replications, and is analysed
//! separately as in the paper. The results of such an analysis (shares of the variation, effects,
//! differences) vary from block to block; intervals are for their means over blocks, by Student's
//! t. So errors need not have the same size in all cells, and whatever is common to a block cancels
//! out. All blocks together are the same design with replications, whose errors are those of
//! repetition (Jain, chapter 22): this tests whether the factors and their interaction matter.

mod blocks;
mod figures;
mod statements;
mod text;

use std::collections::BTreeMap;

use record::Run;
use serde::Serialize;
use serde_json::Value;
use stats::design::Analysis;

pub use self::blocks::Estimate;
use self::blocks::Observed;
pub use self::figures::{DifferenceRow, EffectRow, RateRow, ShareRow, SourceRow};
use super::NamedRun;
use crate::gathered::{self, Gathered};
pub use crate::statement::{Outcome, Statement};

/// The level of all intervals and tests: that of the paper's section 3.2.
const LEVEL: f64 = 0.95;

/// What the clock of a run counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Time.
    Time,
    /// Instructions, as in a guest whose clock advances one nanosecond per instruction.
    Instructions,
}

/// What was measured, and how it compares with the paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunAnalysis {
    /// The name of the run.
    pub run: String,
    /// What its rates are relative to. With instructions, they are in KiB per million.
    pub clock: Clock,
    /// Release of the kernel.
    pub kernel: String,
    /// The level of all intervals and tests.
    pub level: f64,
    /// Size of Bonnie's file; 320 MB in the paper.
    pub file_bytes: Option<u64>,
    /// The memory limit; 64 MB in the paper.
    pub memory_bytes: Option<u64>,
    /// The file systems, in the run's order.
    pub file_systems: Vec<String>,
    /// The number of blocks in which every action was measured on every file system.
    pub blocks: usize,
    /// Rates by action.
    pub rates: Vec<RateRow>,
    /// Where the variation within a block comes from; empty with fewer than two file systems.
    pub shares: Vec<ShareRow>,
    /// The joint analysis of variance of all blocks; empty with fewer than two file systems.
    pub variance: Vec<SourceRow>,
    /// In which ways its errors violate its assumptions.
    pub warnings: Vec<String>,
    /// Effects of file systems and actions.
    pub effects: Vec<EffectRow>,
    /// Differences between file systems.
    pub differences: Vec<DifferenceRow>,
    /// What the paper says, and what was found here.
    pub statements: Vec<Statement>,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
}

impl RunAnalysis {
    /// What a run measured, compared with the analysis of the paper's rates.
    pub(super) fn new(named: NamedRun<'_>, clock: Clock, paper: &Analysis) -> Self {
        let NamedRun { run, name } = named;
        let gathered = Gathered::new(run);
        let observed = Observed::new(&gathered, clock);
        let blocks = observed.blocks(&observed.file_systems);
        let together = observed.together();
        let anova = together.iter().flat_map(|analysis| &analysis.anova);
        let diagnostics = together.iter().flat_map(|analysis| &analysis.diagnostics);
        Self {
            run: name.to_owned(),
            clock,
            kernel: run.manifest.machine.kernel.release.clone().unwrap_or_default(),
            level: LEVEL,
            file_bytes: file_bytes(run),
            memory_bytes: Some(gathered.memory_bytes).filter(|&bytes| bytes > 0),
            blocks: observed.complete(&observed.file_systems).len(),
            rates: figures::rates(&observed),
            shares: figures::shares(&blocks, paper),
            variance: anova.map(|source| figures::source(source, paper)).collect(),
            warnings: diagnostics.filter(|one| one.is_warning()).map(ToString::to_string).collect(),
            effects: figures::effects(&blocks, paper),
            differences: figures::differences(&blocks, &observed.file_systems, paper),
            statements: statements::all(&observed, &blocks, together.as_ref()),
            file_systems: observed.file_systems,
            missing: gathered::missing(run),
        }
    }

    /// Renders the comparison for people.
    pub(super) fn text(&self, width: usize) -> String {
        text::render(self, width)
    }
}

/// The size of the file, according to the cells.
fn file_bytes(run: &Run) -> Option<u64> {
    let parameters: Option<&BTreeMap<String, Value>> =
        run.manifest.cells.first().map(|cell| &cell.parameters);
    parameters?.get("size_bytes")?.as_u64()
}

#[cfg(test)]
mod tests;
