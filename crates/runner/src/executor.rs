//! The seam between the rules of a run and the measuring itself.

use std::time::Duration;

use measure::Histogram;
use record::{
    Busy, CacheEvidence, CourseRecord, LatencySummary, Neighbours, Observation, Spent,
    TimelineRecord, Warning,
};

/// Executes cells. The suites implement it with real targets; tests with a table of numbers.
pub trait Executor {
    /// Brings every target into its initial state for a new block that holds these cells. Returns
    /// the cells that cannot go on, each with why.
    fn begin_block(&mut self, block: u32, cells: &[u32]) -> Vec<(u32, String)>;

    /// How long making what these cells work on takes, by what was seen so far; none before.
    fn making(&self, cells: &[u32]) -> Option<Duration>;

    /// Executes a cell briefly, to learn how long its operations take.
    ///
    /// # Errors
    /// As [`Executor::execute`].
    fn pilot(&mut self, cell: u32, seed: u64) -> Result<PilotMeasure, Failure>;

    /// Executes one replicate: makes the cache state, verifies it, measures, verifies again,
    /// restores the target.
    ///
    /// # Errors
    /// When the state was not as asked, an operation failed, or the run is to stop.
    fn execute(&mut self, request: &Request) -> Result<Measured, Failure>;

    /// Watches the machine for so long, doing nothing: who keeps it busy, if somebody does.
    fn busy(&mut self, watched: Duration) -> Option<Busy>;

    /// How far the clock went astray since it was calibrated, in parts per million.
    fn clock_drift_ppm(&self) -> f64;
}

/// One replicate to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Index of the cell in the plan.
    pub cell: u32,
    /// The block it belongs to.
    pub block: u32,
    /// Operations per thread, those of the start apart.
    pub operations: u64,
    /// Operations per thread of the start.
    pub start_operations: u64,
    /// Operations per timed interval.
    pub batch: u32,
    /// Seed of the replicate's own choices.
    pub seed: u64,
}

/// What a pilot learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PilotMeasure {
    /// Time per operation and thread, in nanoseconds.
    pub time_per_operation_ns: f64,
    /// Time around the operations that does not grow with them, in nanoseconds.
    pub overhead_ns: u64,
    /// What a turn takes beyond that with each operation, as a multiple of its time: 1 where
    /// nothing else grows with them.
    pub turn_per_timed: f64,
    /// Operations per thread that come first.
    pub start_operations: u64,
    /// Fewest operations per thread, after those, that show what the cell is to show.
    pub operations_min: u64,
    /// Most operations per thread, all together, that the file set allows in one replicate.
    pub operations_max: u64,
    /// Time that the operations after the start take at least, in nanoseconds.
    pub time_min_ns: u64,
    /// Time that they are to take where there may be more of them, in nanoseconds.
    pub time_wanted_ns: u64,
    /// Operations that must share a timed interval because one is too short for the clock.
    pub batch: u32,
}

/// One replicate as it was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// One value per metric of the cell, in its order.
    pub metrics: Vec<f64>,
    /// Operations, all threads together.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// From the barrier to the end of the last thread, in nanoseconds.
    pub elapsed_ns: u64,
    /// Sum of all operations' times, in nanoseconds.
    pub busy_ns: u64,
    /// The distribution in short.
    pub latency: LatencySummary,
    /// The distribution.
    pub histogram: Histogram,
    /// The distribution over time.
    pub timeline: Option<TimelineRecord>,
    /// The time of operations by their number, where single ones were timed.
    pub course: Option<CourseRecord>,
    /// Where the time around the operations went; the runner adds that of the whole turn.
    pub spent: Spent,
    /// What proves the cache state.
    pub evidence: CacheEvidence,
    /// Processor time stolen meanwhile, in nanoseconds.
    pub steal_ns: u64,
    /// What else the machine did meanwhile.
    pub neighbours: Option<Neighbours>,
    /// What is doubtful about it.
    pub warnings: Vec<Warning>,
    /// What was seen besides.
    pub observations: Vec<Observation>,
}

/// Why there is no replicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The cache state was not what the cell says; worth another attempt.
    State {
        /// What was found instead.
        why: String,
        /// The numbers.
        evidence: Box<CacheEvidence>,
    },
    /// Something beside the target was in the way: worth another attempt, and another block.
    Disturbed {
        /// What it was.
        why: String,
        /// The numbers.
        evidence: Box<CacheEvidence>,
    },
    /// The cell cannot be measured.
    Cell {
        /// Why, and what would change it.
        why: String,
    },
    /// The run was told to stop while the cell was measured.
    Interrupted,
}
