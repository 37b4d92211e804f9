//! The interface between the rules of a run and the code that measures.

use std::time::Duration;

use measure::Histogram;
use record::{
    Busy, CacheEvidence, CourseRecord, LatencySummary, Neighbours, Observation, Spent,
    TimelineRecord, Warning,
};

/// Executes cells. The suites implement it with real targets, tests with a table of numbers.
pub trait Executor {
    /// Brings every target into its initial state for a block with these cells. Returns the cells
    /// that can no longer be measured, each with the reason.
    fn begin_block(&mut self, block: u32, cells: &[u32]) -> Vec<(u32, String)>;

    /// How long it takes to make the targets and file sets of these cells, judging by earlier
    /// blocks; none before the first.
    fn making(&self, cells: &[u32]) -> Option<Duration>;

    /// Executes a cell briefly, to learn how long its operations take.
    ///
    /// # Errors
    /// As [`Executor::execute`].
    fn pilot(&mut self, cell: u32, seed: u64) -> Result<PilotMeasure, Failure>;

    /// Executes one replicate: prepares and verifies the cache state, measures, verifies again, and
    /// restores the target.
    ///
    /// # Errors
    /// If the state was not as requested, an operation failed, or the run was told to stop.
    fn execute(&mut self, request: &Request) -> Result<Measured, Failure>;

    /// Watches the machine for this long without doing anything. Returns who keeps it busy, if
    /// anyone does.
    fn busy(&mut self, watched: Duration) -> Option<Busy>;

    /// How far the clock has drifted since its calibration, in parts per million.
    fn clock_drift_ppm(&self) -> f64;
}

/// A request to execute one replicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Index of the cell in the plan.
    pub cell: u32,
    /// The block it belongs to.
    pub block: u32,
    /// Operations per thread, excluding the start.
    pub operations: u64,
    /// Operations per thread in the start.
    pub start_operations: u64,
    /// Operations per timed interval.
    pub batch: u32,
    /// Seed for the replicate's random choices.
    pub seed: u64,
}

/// What a pilot measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PilotMeasure {
    /// Time per operation of one thread, in nanoseconds.
    pub time_per_operation_ns: f64,
    /// Time spent around the operations that does not depend on their number, in nanoseconds.
    pub overhead_ns: u64,
    /// The part of a turn that grows with the number of operations, as a multiple of their timed
    /// time: 1 if nothing else grows with it.
    pub turn_per_timed: f64,
    /// Operations per thread in the start, before those that count.
    pub start_operations: u64,
    /// Minimum number of operations per thread after the start that the cell needs to mean what its
    /// name says.
    pub operations_min: u64,
    /// Maximum number of operations per thread, including the start, that the file set allows in
    /// one replicate.
    pub operations_max: u64,
    /// Minimum time of the operations after the start, in nanoseconds.
    pub time_min_ns: u64,
    /// Time that they should take if more of them are possible, in nanoseconds.
    pub time_wanted_ns: u64,
    /// Number of operations that share a timed interval because a single one is too short for the
    /// clock.
    pub batch: u32,
}

/// The result of one replicate.
#[derive(Clone, Debug)]
pub struct Measured {
    /// One value for each metric of the cell, in the cell's order.
    pub metrics: Vec<f64>,
    /// Number of operations, all threads together.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// From the barrier to the end of the last thread, in nanoseconds.
    pub elapsed_ns: u64,
    /// Sum of all operations' times, in nanoseconds.
    pub busy_ns: u64,
    /// Summary of the latency distribution.
    pub latency: LatencySummary,
    /// The latency distribution.
    pub histogram: Histogram,
    /// The latency distribution over time.
    pub timeline: Option<TimelineRecord>,
    /// How the time per operation developed with the number of operations, if they were timed
    /// individually.
    pub course: Option<CourseRecord>,
    /// How the time around the operations was spent; the runner adds the time of the whole turn.
    pub spent: Spent,
    /// Evidence of the cache state.
    pub evidence: CacheEvidence,
    /// Processor time stolen by the hypervisor meanwhile, in nanoseconds.
    pub steal_ns: u64,
    /// What else the machine did meanwhile.
    pub neighbours: Option<Neighbours>,
    /// Reasons to doubt it.
    pub warnings: Vec<Warning>,
    /// Observations other than metrics.
    pub observations: Vec<Observation>,
}

/// Why there is no replicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The cache state was not as requested. Worth another attempt.
    State {
        /// What was found instead.
        why: String,
        /// The measured state.
        evidence: Box<CacheEvidence>,
    },
    /// Something other than the target interfered. Worth another attempt, and in another block too.
    Disturbed {
        /// What it was.
        why: String,
        /// The measured state.
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
