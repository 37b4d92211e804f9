//! The journal: one line per event of a run, in the order in which they happened.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::cliff::{CellAdded, SearchPlan};
use crate::histogram_log::HistogramLocation;
use crate::neighbours::{Busy, Neighbours};
use crate::observation::Observation;
use crate::warning::Warning;

/// One line of `cells.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Line {
    /// Measuring began or was resumed.
    Start(Start),
    /// A search was planned: one line per target, before its first cell.
    Search(Box<SearchPlan>),
    /// A search asks for a cell that the manifest does not have.
    CellAdded(Box<CellAdded>),
    /// Targets were made for a block.
    Block(Block),
    /// The pilot is done, and the number of operations in each cell is settled. Written again after
    /// the first block, which shows how long a block takes.
    Planned(Planned),
    /// A replicate was measured in the state that its cell asks for.
    Replicate(Box<Replicate>),
    /// A replicate was discarded.
    Discarded(Discarded),
    /// The run waited for the machine to be quiet, or did without.
    Waited(Waited),
    /// A cell was abandoned.
    CellFailed(CellFailed),
    /// Measuring ended in an orderly way.
    End(End),
}

/// Measuring began, or was resumed after being cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// Budget already used by earlier parts of this run, in seconds.
    pub used_s: f64,
    /// Budget of the whole run from here on, in seconds, if it was given more than its manifest
    /// says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
}

/// Targets were made for a block, or for the pilot and the block that follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// The block, from 0.
    pub block: u32,
    /// Budget used when they were ready, in seconds.
    pub at_s: f64,
    /// How long making them took, in seconds.
    pub making_s: f64,
    /// The cells that the block is to contain, if not all that are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<u32>>,
}

/// What the pilot led to, for all cells at once. A later line replaces an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    /// Budget used at that moment, in seconds.
    pub at_s: f64,
    /// Number of blocks that fit into the budget.
    pub blocks: u32,
    /// The cells that are measured.
    pub pilots: Vec<Pilot>,
    /// The benchmarks that are not, for lack of time or of operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// How long the pilot took, in seconds, without making targets; 0 if unknown.
    #[serde(default)]
    pub pilot_s: f64,
}

/// A benchmark that is left out rather than measured with less than it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Its name.
    pub benchmark: String,
    /// Indices of its cells in the manifest.
    pub cells: Vec<u32>,
    /// Why, and what would change it.
    pub why: String,
}

/// What was left out and has not come back since, in the order of the journal: a run that is given
/// more time may have room for it.
#[must_use]
pub fn left_out(lines: &[Line]) -> Vec<&LeftOut> {
    let mut left_out: Vec<&LeftOut> = Vec::new();
    for line in lines {
        let Line::Planned(planned) = line else { continue };
        let is_back = |one: &LeftOut| {
            let is_measured = planned.pilots.iter().any(|pilot| one.cells.contains(&pilot.cell));
            is_measured || planned.left_out.iter().any(|later| later.benchmark == one.benchmark)
        };
        left_out.retain(|one| !is_back(one));
        left_out.extend(&planned.left_out);
    }
    left_out
}

/// How many operations a replicate of a cell has, and what this was derived from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pilot {
    /// Index into the manifest's cells.
    pub cell: u32,
    /// Operations per thread in every replicate, excluding the start.
    pub operations: u64,
    /// Operations per thread in the start.
    #[serde(default)]
    pub start_operations: u64,
    /// Operations per timed interval: 1, or more if a single one is too short for the clock.
    pub batch: u32,
    /// Time per operation seen in the pilot, in nanoseconds.
    pub time_per_operation_ns: f64,
    /// Time around the operations (preparing, verifying, restoring) that does not grow with them,
    /// in nanoseconds.
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
    /// 1 for the first execution in this block, higher after discarded ones.
    pub attempt: u32,
    /// Budget used when it began, in seconds.
    pub at_s: f64,
    /// One value for each metric of the cell, in the cell's order.
    pub metrics: Vec<f64>,
    /// Number of operations, all threads together.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// From the barrier to the end of the last thread, in nanoseconds.
    pub elapsed_ns: u64,
    /// Sum of all operations' times, in nanoseconds.
    pub busy_ns: u64,
    /// Summary of the latency distribution, which the histogram has in full.
    pub latency: LatencySummary,
    /// Where this replicate's histogram is stored.
    pub histogram: Option<HistogramLocation>,
    /// How latency developed within the replicate, excluding its start.
    pub timeline: Option<TimelineRecord>,
    /// How the time per operation developed with the number of operations, from the first of the
    /// start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<CourseRecord>,
    /// How the time of the cell's turn was spent; none if the run predates this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// What was in the cache before and after, and what the device was asked for in between.
    pub evidence: CacheEvidence,
    /// Processor time stolen by the hypervisor during the replicate, in nanoseconds.
    pub steal_ns: u64,
    /// What else the machine did meanwhile; none if the run predates this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    /// Reasons to doubt this replicate.
    pub warnings: Vec<Warning>,
    /// Observations other than metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
}

impl Replicate {
    /// One operation of which nothing was timed: its metrics are all that is known. The first
    /// attempt, and the first of its block.
    #[must_use]
    pub fn from_metrics(cell: u32, block: u32, metrics: Vec<f64>) -> Self {
        Self {
            cell,
            block,
            order: 0,
            attempt: 1,
            at_s: 0.0,
            metrics,
            operations: 1,
            bytes: 0,
            elapsed_ns: 0,
            busy_ns: 0,
            latency: LatencySummary::default(),
            histogram: None,
            timeline: None,
            course: None,
            spent: None,
            evidence: CacheEvidence::default(),
            steal_ns: 0,
            neighbours: None,
            warnings: Vec::new(),
            observations: Vec::new(),
        }
    }
}

/// The operations of one replicate in order, stretch by stretch: how many there are, and the time
/// spent in them in nanoseconds, all threads together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CourseRecord {
    /// Stretches of the start: 1, 1, 2, 4 and so on operations of each thread.
    pub start: Vec<(u64, u64)>,
    /// Stretches after the start, with equal numbers of operations.
    pub steady: Vec<(u64, u64)>,
}

/// How the time of one turn of a cell was spent, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// In timed operations, including those of the start; of several threads, the time of one.
    pub timed_ns: u64,
    /// Preparing the cache state and whatever operations need: opening, filling and rehearsing
    /// files.
    pub state_ns: u64,
    /// Verifying the state: counting pages and reading counters.
    pub proof_ns: u64,
    /// Undoing the effects of operations and writing the changes back.
    pub undo_ns: u64,
    /// The whole turn, including discarded attempts and everything else.
    pub turn_ns: u64,
}

/// Summary of one replicate's latency distribution, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Minimum.
    pub min_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Maximum.
    pub max_ns: u64,
}

/// Log2 histograms per time slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineRecord {
    /// Width of a slice, in nanoseconds.
    pub slice_ns: u64,
    /// For each slice, from the barrier on: pairs of (floor of log2 of the latency in ns,
    /// operations).
    pub slices: Vec<Vec<(u8, u64)>>,
}

/// Numbers as the keys of an object, which are texts. In a line, whose kind must be known first,
/// serde does not read them as numbers by itself.
fn by_order<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<u32, u64>>, D::Error> {
    let texts: Option<BTreeMap<String, u64>> = Option::deserialize(deserializer)?;
    let number = |(order, pages): (String, u64)| {
        let order = order.parse().map_err(|_| D::Error::custom(format!("no order: {order}")))?;
        Ok((order, pages))
    };
    texts.map(|texts| texts.into_iter().map(number).collect()).transpose()
}

/// What proves (or refutes) the cache state of a replicate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheEvidence {
    /// Number of pages in the files touched, resident or not; none if no data file is touched.
    pub pages: Option<u64>,
    /// How many of them were resident before the first operation.
    pub resident_before: Option<u64>,
    /// How many of them were resident after the last operation.
    pub resident_after: Option<u64>,
    /// Number of dirty pages before the first operation.
    pub dirty_before: Option<u64>,
    /// Resident pages of a warm file as it was read in, by the order of their folio (order 4 is a
    /// folio of 16 pages). Recorded once per file of a run, if the kernel provides it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "by_order")]
    pub folio_pages: Option<BTreeMap<u32, u64>>,
    /// Bytes read from the device during the replicate; none if the target has no device.
    pub device_read_bytes: Option<u64>,
    /// Number of requests for these bytes; none if the target has no device of its own or the run
    /// predates this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_reads: Option<u64>,
    /// Upper limit on how many of these bytes the measuring process requested: its threads, and
    /// worker processes that have ended. The rest was read by the file system's own threads or by
    /// other processes. None if the two cannot be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_read_bytes: Option<u64>,
    /// How many bytes the measuring threads read from devices during the start, before the
    /// operations that are measured; none if there were none or they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_read_bytes: Option<u64>,
    /// Bytes written to the device during the replicate; none if the target has no device of its
    /// own.
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
    /// Time since the cell's turn in this block began, in nanoseconds; none if the run predates
    /// this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ns: Option<u64>,
    /// What was not as required.
    pub why: String,
    /// The measured state.
    pub evidence: CacheEvidence,
}

/// Others kept the machine busy, so the run waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waited {
    /// Budget used when it began to wait, in seconds.
    pub at_s: f64,
    /// How long it waited, in seconds.
    pub waited_s: f64,
    /// Whether the machine was quiet then. If not, what follows was measured all the same, where it
    /// was to be.
    pub is_quiet: bool,
    /// Who was busy.
    pub busy: Busy,
}

/// A cell that is no longer measured.
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
    /// How far the clock has drifted since its calibration, in parts per million.
    pub clock_drift_ppm: f64,
}

/// Why measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// Every interval is as narrow as requested.
    Precision,
    /// The requested number of blocks is done.
    Blocks,
    /// The budget is used up.
    Budget,
    /// A signal interrupted it.
    Interrupted,
    /// No cell is left to measure.
    NothingLeft,
    /// Others kept the machine busy, which the run was to refuse.
    Busy,
    /// Every search for cliffs has learned all that its probes allow.
    Searched,
    /// The journal holds as much as can be read again.
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_by_the_order_of_their_folio_are_read_as_they_were_written() {
        let evidence = CacheEvidence {
            folio_pages: Some(BTreeMap::from([(0, 256), (9, 512)])),
            ..CacheEvidence::default()
        };
        let line = Line::Discarded(Discarded {
            cell: 0,
            block: 0,
            attempt: 1,
            turn_ns: None,
            why: String::new(),
            evidence,
        });
        let text = serde_json::to_string(&line).expect("it can be written");
        assert_eq!(serde_json::from_str::<Line>(&text).expect("it can be read"), line);
        let odd = text.replace("\"9\"", "\"nine\"");
        let why = serde_json::from_str::<Line>(&odd).expect_err("no number").to_string();
        assert!(why.contains("no order: nine"), "{why}");
    }
}
