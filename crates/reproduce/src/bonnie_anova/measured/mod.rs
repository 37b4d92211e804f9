//! The paper's experiment, measured again: file systems under the phases of Bonnie, in blocks.
//!
//! Each block is the paper's own design once more, a full factorial without replications, and is
//! analysed by itself as the paper is. What such an analysis says (shares of the variation,
//! effects, differences) varies from block to block, and intervals are of its mean over blocks by
//! Student's t. So errors need not be equally large in all cells, and what a block has of its own
//! cancels. All blocks together are the same design with replications, whose errors are those of
//! repeating (Jain, chapter 22): it tests whether factors and their interaction matter.

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
    /// Instructions, as that of a guest: one for each nanosecond that it shows.
    Instructions,
}

/// What was measured, and how it stands to the paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The run.
    pub run: String,
    /// What its rates are by. By instructions they are in KiB per million.
    pub clock: Clock,
    /// Release of the kernel.
    pub kernel: String,
    /// The level of all intervals and tests.
    pub level: f64,
    /// Size of Bonnie's file; the paper has 320 MB.
    pub file_bytes: Option<u64>,
    /// The limit of memory; the paper has 64 MB.
    pub memory_bytes: Option<u64>,
    /// The file systems, in the run's order.
    pub file_systems: Vec<String>,
    /// Blocks in which each was measured with each action.
    pub blocks: usize,
    /// Rates by action.
    pub rates: Vec<RateRow>,
    /// Where the variation of a block comes from; none with fewer than two file systems.
    pub shares: Vec<ShareRow>,
    /// The analysis of variance of all blocks; none with fewer than two file systems.
    pub variance: Vec<SourceRow>,
    /// What its errors look like where they are not what it supposes.
    pub warnings: Vec<String>,
    /// Effects of file systems and actions.
    pub effects: Vec<EffectRow>,
    /// Differences between file systems.
    pub differences: Vec<DifferenceRow>,
    /// What the paper says, and what came out.
    pub statements: Vec<Statement>,
    /// What could not be measured, with why.
    pub missing: Vec<String>,
}

impl Measured {
    /// What a run measured, beside the analysis of what the paper measured.
    pub(super) fn of((run, name): NamedRun<'_>, clock: Clock, paper: &Analysis) -> Self {
        let gathered = Gathered::of(run);
        let observed = Observed::of(&gathered, clock);
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

    /// The text for people.
    pub(super) fn text(&self, width: usize) -> String {
        text::render(self, width)
    }
}

/// What the cells say of the size of the file.
fn file_bytes(run: &Run) -> Option<u64> {
    let parameters: Option<&BTreeMap<String, Value>> =
        run.manifest.cells.first().map(|cell| &cell.parameters);
    parameters?.get("size_bytes")?.as_u64()
}

#[cfg(test)]
mod tests;
