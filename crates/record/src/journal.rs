//! The journal: one line per event of a run, in the order in which they happened.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cliff::{CellAdded, SearchPlan};
use crate::histogram_log::HistogramLocation;
use crate::observation::Observation;
use crate::warning::Warning;

/// One line of `cells.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Line {
    /// Measuring began, or was taken up again.
    Start(Start),
    /// A search was planned; one line per target, before its first cell.
    Search(Box<SearchPlan>),
    /// A search asks for a cell that the manifest does not have.
    CellAdded(Box<CellAdded>),
    /// Targets were made for a block.
    Block(Block),
    /// The pilot is done: every cell's operations are counted out. Again after the first block,
    /// which tells what a block takes.
    Planned(Planned),
    /// A replicate was measured in the state that its cell asks for.
    Replicate(Box<Replicate>),
    /// A replicate was thrown away.
    Discarded(Discarded),
    /// A cell was given up.
    CellFailed(CellFailed),
    /// Measuring ended in an orderly way.
    End(End),
}

/// Measuring began, or was taken up again after being cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// Budget already used by earlier parts of this run, in seconds.
    pub used_s: f64,
}

/// Targets were made for a block, or for the pilot and the block that follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// The block, from 0.
    pub block: u32,
    /// Moment within the run's budget when they were made, in seconds.
    pub at_s: f64,
    /// How long that took, in seconds.
    pub making_s: f64,
    /// The cells that it is to hold, where it does not hold all that are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<u32>>,
}

/// What the pilot led to. One line for all cells: a run has all of it, or none; a later one takes
/// the place of an earlier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    /// Moment within the run's budget, in seconds.
    pub at_s: f64,
    /// Blocks that fit into the budget.
    pub blocks: u32,
    /// Each cell that is measured.
    pub pilots: Vec<Pilot>,
    /// What is not, for want of time or of operations; by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// How long the pilot took, in seconds, making targets apart; 0 where it is not known.
    #[serde(default)]
    pub pilot_s: f64,
}

/// A benchmark that is left out, rather than measured with less than it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Its name.
    pub benchmark: String,
    /// Its indices into the manifest's cells.
    pub cells: Vec<u32>,
    /// Why, and what would change it.
    pub why: String,
}

/// How many operations a replicate of a cell holds, and what that was derived from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pilot {
    /// Index into the manifest's cells.
    pub cell: u32,
    /// Operations per thread of every replicate, those of its start apart.
    pub operations: u64,
    /// Operations per thread of its start.
    #[serde(default)]
    pub start_operations: u64,
    /// Operations per timed interval: 1, or more where one is too short for the clock.
    pub batch: u32,
    /// Time per operation seen in the pilot, in nanoseconds.
    pub time_per_operation_ns: f64,
    /// Time around the operations (preparing, verifying, restoring), in nanoseconds.
    pub overhead_ns: u64,
}

/// One execution of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replicate {
    /// Index into the manifest's cells.
    pub cell: u32,
    /// The block it belongs to, from 0.
    pub block: u32,
    /// Position within the block, from 0.
    pub order: u32,
    /// 1 for the first execution in this block, more after discarded ones.
    pub attempt: u32,
    /// When it began, within the run's budget, in seconds.
    pub at_s: f64,
    /// One value per metric of the cell, in its order.
    pub metrics: Vec<f64>,
    /// Operations, all threads together.
    pub operations: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// From the barrier to the end of the last thread, in nanoseconds.
    pub elapsed_ns: u64,
    /// Sum of all operations' times, in nanoseconds.
    pub busy_ns: u64,
    /// The distribution in short; the histogram has it whole.
    pub latency: LatencySummary,
    /// Where the histogram of this replicate lies.
    pub histogram: Option<HistogramLocation>,
    /// How the latency developed within the replicate, its start apart.
    pub timeline: Option<TimelineRecord>,
    /// How the time of operations developed by their number, from the first of the start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<CourseRecord>,
    /// Where the time around the operations went; none in runs of before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// What was in the cache before and after, and what the device was asked for meanwhile.
    pub evidence: CacheEvidence,
    /// Processor time stolen by the hypervisor meanwhile, in nanoseconds.
    pub steal_ns: u64,
    /// What is doubtful about this replicate.
    pub warnings: Vec<Warning>,
    /// What was seen besides its metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
}

/// Stretch by stretch, the operations of one replicate in their order: how many, and the time spent
/// in them in nanoseconds, all threads together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CourseRecord {
    /// Those of the start: of each thread 1, 1, 2, 4 and so on.
    pub start: Vec<(u64, u64)>,
    /// Those that follow, in parts of equal numbers.
    pub steady: Vec<(u64, u64)>,
}

/// Where the time of one turn of a cell went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// In operations that were timed, those of the start among them; of several threads, of one.
    pub timed_ns: u64,
    /// Making the cache state, and what operations need: files opened, filled, rehearsed.
    pub state_ns: u64,
    /// Proving the state: pages counted, counters read.
    pub proof_ns: u64,
    /// Undoing what operations did, and writing it back.
    pub undo_ns: u64,
    /// The whole turn, attempts that were thrown away and everything else among it.
    pub turn_ns: u64,
}

/// The distribution of one replicate's latencies in short, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Least.
    pub min_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

/// Log2 histograms per time slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineRecord {
    /// Width of a slice, in nanoseconds.
    pub slice_ns: u64,
    /// Per slice, from the barrier on: pairs of (floor of log2 of the latency in ns, operations).
    pub slices: Vec<Vec<(u8, u64)>>,
}

/// What proves (or refutes) the cache state of a replicate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheEvidence {
    /// Pages of the touched files, resident or not; none where no data file is touched.
    pub pages: Option<u64>,
    /// Of these, resident before the first operation.
    pub resident_before: Option<u64>,
    /// Of these, resident after the last.
    pub resident_after: Option<u64>,
    /// Dirty pages before the first operation.
    pub dirty_before: Option<u64>,
    /// Resident pages of a warm file by the order of the folio that they lie in (order 4 is 16
    /// pages in one), as they were read in: once per file of a run, where the kernel tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folio_pages: Option<BTreeMap<u32, u64>>,
    /// Bytes read from the device meanwhile; none where the target has no device.
    pub device_read_bytes: Option<u64>,
    /// Requests in which they were read; none where the target has no device of its own, and in
    /// runs of before they were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_reads: Option<u64>,
    /// Of these, at most so many were asked for by the measuring process: its threads, and worker
    /// processes that have ended. The rest was read by the file system's own threads, or by other
    /// processes. None where that cannot be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_read_bytes: Option<u64>,
    /// Of these, so many were read before the operations that are measured, by those of the start;
    /// none where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_read_bytes: Option<u64>,
    /// Bytes written to the device meanwhile; none where the target has no device of its own.
    pub device_written_bytes: Option<u64>,
}

/// A replicate whose cache state was not what its cell asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Discarded {
    /// Index into the manifest's cells.
    pub cell: u32,
    /// The block it belonged to.
    pub block: u32,
    /// Which execution in this block it was, from 1.
    pub attempt: u32,
    /// Time since the cell's turn in this block began, in nanoseconds; not in runs of before it
    /// was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ns: Option<u64>,
    /// What was not as asked.
    pub why: String,
    /// The measured state.
    pub evidence: CacheEvidence,
}

/// A cell that is not measured any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellFailed {
    /// Index into the manifest's cells.
    pub cell: u32,
    /// The block in which it failed.
    pub block: u32,
    /// Why, and what would change it.
    pub why: String,
}

/// The orderly end of measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// Why measuring ended.
    pub reason: EndReason,
    /// Budget used, in seconds.
    pub used_s: f64,
    /// How far the clock went astray since its calibration, in parts per million.
    pub clock_drift_ppm: f64,
}

/// Why measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// Every interval is as narrow as was asked.
    Precision,
    /// The number of blocks that was asked for is done.
    Blocks,
    /// The budget is used.
    Budget,
    /// A signal asked for the end.
    Interrupted,
    /// No cell is left to measure.
    NothingLeft,
    /// Every search for cliffs has learnt what its probes allow.
    Searched,
}
