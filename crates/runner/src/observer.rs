//! What somebody watching a run is told.

use std::time::Duration;

use record::{Busy, SearchPlan};

/// Receives what happens, while it happens.
pub trait Observer {
    /// Called once per event, on the thread that measures: must be quick.
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
        /// Cells done in this block (or pilot), and how many there are.
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
        /// Values that this search has.
        done: usize,
        /// Budget used.
        used: Duration,
    },
    /// The run is planned: when the pilot is done, and again after the first block.
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
        /// Cells that it held.
        cells: usize,
        /// Blocks that fit into the budget, as this one and those before it took.
        blocks: u32,
        /// Widths of the intervals so far.
        width: Width,
    },
    /// There is more time than room for what would be measured in it.
    WillBeFull {
        /// Blocks that the journal holds.
        blocks: u32,
        /// Blocks that the budget would allow, or that were asked for.
        of: u32,
    },
    /// A replicate was thrown away.
    Discarded {
        /// Its cell.
        cell: u32,
        /// Why.
        why: &'a str,
    },
    /// Others keep the machine busy, so the run waits.
    Waiting {
        /// Who is busy.
        busy: &'a Busy,
        /// How long it waits at most.
        most: Duration,
    },
    /// It has waited.
    Waited {
        /// For how long.
        time: Duration,
        /// Whether the machine is quiet now; if not, the run measures all the same.
        is_quiet: bool,
    },
    /// A cell was given up.
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
    /// Cells that are narrow enough, and cells in all.
    pub narrow: usize,
    /// Cells that are still measured.
    pub of: usize,
}
