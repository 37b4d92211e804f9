//! Events for whoever watches a run.

use std::time::Duration;

use record::{Busy, SearchPlan};

/// Receives events as they happen.
pub trait Observer {
    /// Called once per event, on the thread that measures, so it must return quickly.
    fn observe(&mut self, event: &Event<'_>);
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// Targets are being made (anew) for a block; for the first, before the pilot.
    PreparingTargets {
        /// The block.
        block: u32,
    },
    /// A cell is about to be executed.
    Executing {
        /// Its index.
        cell: u32,
        /// The block; none for the pilot.
        block: Option<u32>,
        /// Position in the order of the block (or pilot), from 0.
        done: usize,
        /// Cells in a block.
        of: usize,
        /// Budget used.
        used: Duration,
    },
    /// A search is about to measure a position.
    Probing {
        /// What is searched.
        plan: &'a SearchPlan,
        /// The position.
        position: f64,
        /// Number of values that this search has so far.
        done: usize,
        /// Budget used.
        used: Duration,
    },
    /// The run has been planned: after the pilot, after the first block, and whenever the plan
    /// changes after that.
    Planned {
        /// Blocks that fit into the budget.
        blocks: u32,
        /// Benchmarks that were left out just now.
        left_out: usize,
    },
    /// A block is complete.
    BlockDone {
        /// The block.
        block: u32,
        /// Number of cells in it.
        cells: usize,
        /// Total number of blocks that fit into the budget, judging by those so far.
        blocks: u32,
        /// Widths of the intervals so far.
        width: Width,
    },
    /// The journal will be full before the budget is used up.
    WillBeFull {
        /// Total number of blocks that fit into the journal.
        blocks: u32,
        /// Total number of blocks that fit into the budget, or that were requested.
        of: u32,
    },
    /// A replicate was discarded.
    Discarded {
        /// Its cell.
        cell: u32,
        /// Why.
        why: &'a str,
    },
    /// Other programs keep the machine busy, so the run waits.
    Waiting {
        /// Which programs are busy.
        busy: &'a Busy,
        /// How long it will wait at most.
        time_max: Duration,
    },
    /// The wait is over.
    Waited {
        /// How long it lasted.
        time: Duration,
        /// Whether the machine is quiet now. If not, the run measures anyway.
        is_quiet: bool,
    },
    /// A cell was abandoned.
    CellFailed {
        /// Its index.
        cell: u32,
        /// Why.
        why: &'a str,
    },
}

/// Relative half-widths of the cells' intervals: 0.02 is 2 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// The median over the cells; none before there are enough blocks.
    pub median: Option<f64>,
    /// The widest; none before there are enough blocks.
    pub widest: Option<f64>,
    /// Number of cells that are narrow enough.
    pub narrow: usize,
    /// Number of cells that are still being measured.
    pub of: usize,
}
