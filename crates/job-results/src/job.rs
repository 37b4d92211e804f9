//! What one thread or process of a job did; merged, what a group of them did.

use crate::blocks::BlockLife;
use crate::direction::PerDirection;
use crate::distributions::{BatchDistribution, DepthDistribution, LatencyBins};
use crate::histogram::LatencyHistogram;
use crate::presentation::Presentation;
use crate::statistics::{LatencyStatistics, SampledStatistics};
use crate::steady_state::SteadyState;

/// Latencies of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies {
    /// Their statistics.
    pub statistics: LatencyStatistics,
    /// Their histogram, which percentiles are read from; may be empty where none are shown.
    pub histogram: LatencyHistogram,
}

impl Latencies {
    /// Takes in a latency, for percentiles as well.
    #[inline]
    pub fn add(&mut self, latency_ns: u64) {
        self.statistics.add(latency_ns);
        self.histogram.add(latency_ns);
    }

    /// Takes in the latencies of another job.
    pub fn merge(&mut self, other: &Self) {
        self.statistics.merge(&other.statistics);
        self.histogram.merge(&other.histogram);
    }
}

/// Latencies of operations of one priority.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityLatencies {
    /// The priority as the kernel takes it: class in bits 13 to 15, level in bits 0 to 2.
    pub priority: u16,
    /// Completion latencies, or total latencies if those have percentiles.
    pub latencies: Latencies,
}

impl PriorityLatencies {
    /// The class of the priority.
    pub fn class(&self) -> u16 {
        self.priority >> 13
    }

    /// The level within its class.
    pub fn level(&self) -> u16 {
        self.priority & 7
    }
}

/// What was done in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionResult {
    /// Bytes that were transferred.
    pub bytes: u64,
    /// Operations that were issued.
    pub ios: u64,
    /// Operations that transferred less than they were asked to.
    pub short_ios: u64,
    /// Operations that were dropped.
    pub dropped_ios: u64,
    /// How long this direction was in use.
    pub runtime_ms: u64,
    /// Latencies from making an operation to having submitted it: slat.
    pub submission: Latencies,
    /// Latencies from submission to completion: clat.
    pub completion: Latencies,
    /// Latencies from making an operation to completion: lat.
    pub total: Latencies,
    /// Bandwidth in KiB/s, sampled.
    pub bandwidth: SampledStatistics,
    /// Operations per second, sampled.
    pub iops: SampledStatistics,
    /// Latencies by priority, if the job has more than one.
    pub priorities: Vec<PriorityLatencies>,
}

impl DirectionResult {
    /// Priorities that any operation had.
    pub(crate) fn used_priorities(&self) -> impl Iterator<Item = &PriorityLatencies> {
        self.priorities.iter().filter(|one| one.latencies.statistics.moments.samples > 0)
    }

    /// Whether operations had different priorities: only then are those shown.
    pub(crate) fn has_several_priorities(&self) -> bool {
        self.used_priorities().count() > 1
    }
}

/// What was made durable: fsync, fdatasync, `sync_file_range`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncResult {
    /// Operations that were issued.
    pub ios: u64,
    /// How long they took.
    pub latencies: Latencies,
}

/// What was used of processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorUsage {
    /// In the program.
    pub user_ms: u64,
    /// In the kernel.
    pub system_ms: u64,
    /// Context switches.
    pub context_switches: u64,
    /// Page faults that something had to be read for.
    pub major_faults: u64,
    /// Other page faults.
    pub minor_faults: u64,
}

impl ProcessorUsage {
    /// Shares of a run time in percent: in the program, in the kernel.
    pub fn shares(&self, runtime_ms: u64) -> (f64, f64) {
        let share = |time_ms: u64| {
            if runtime_ms == 0 { 0.0 } else { time_ms as f64 * 100.0 / runtime_ms as f64 }
        };
        (share(self.user_ms), share(self.system_ms))
    }
}

/// Why a job ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError {
    /// The error's number.
    pub number: i32,
    /// What is printed about it in parentheses.
    pub text: String,
}

/// Errors that did not end a job: `continue_on_error`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Whether the job continues on some errors; else nothing is shown.
    pub are_shown: bool,
    /// How many there were.
    pub total: u64,
    /// The number of the first; 0 if there was none.
    pub first: i32,
}

/// Up to which depth a latency was held: `latency_target` and its companions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyGoal {
    /// The depth that was reached: `iodepth` without a target. Nothing is shown if it is 0.
    pub depth: u32,
    /// The target, in nanoseconds; 0 without one.
    pub target_ns: u64,
    /// How long it was to be held, in microseconds.
    pub window_us: u64,
    /// Which share of operations must hold it.
    pub percentile: f64,
}

impl Default for LatencyGoal {
    fn default() -> Self {
        Self { depth: 0, target_ns: 0, window_us: 0, percentile: 100.0 }
    }
}

/// What one thread or process of a job did; or several, merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobResult {
    /// The job's name.
    pub name: String,
    /// The job's description; empty without one.
    pub description: String,
    /// The number of its group.
    pub group: u32,
    /// The id of its process or thread; of the first, in a group.
    pub pid: u32,
    /// How many threads or processes this is about. [`crate::Report::new`] counts them.
    pub jobs: u32,
    /// How it is shown.
    pub presentation: Presentation,
    /// Options of the job as its user gave them, in order.
    pub options: Vec<(String, String)>,
    /// Why it ended early.
    pub error: Option<JobError>,
    /// Errors that did not end it.
    pub errors: ErrorCounts,
    /// What was done, by direction.
    pub directions: PerDirection<DirectionResult>,
    /// What was made durable.
    pub sync: SyncResult,
    /// How deep the queue was.
    pub depths: DepthDistribution,
    /// How many operations were submitted at a time.
    pub submitted: BatchDistribution,
    /// How many operations were completed at a time.
    pub completed: BatchDistribution,
    /// How long operations took, coarsely.
    pub latency_bins: LatencyBins,
    /// What was used of processors.
    pub processor: ProcessorUsage,
    /// How long it ran; of a group, the sum.
    pub runtime_ms: u64,
    /// Zones that were reset.
    pub zone_resets: u64,
    /// Up to which depth a latency was held.
    pub latency_goal: LatencyGoal,
    /// What became of the blocks that it trims; empty unless wanted.
    pub blocks: Vec<BlockLife>,
    /// Whether the steady state was reached that it was to end with.
    pub steady_state: Option<SteadyState>,
    /// The priority of its operations, as the kernel takes it.
    pub priority: u16,
}

impl JobResult {
    /// Operations of all directions, without those that make data durable.
    pub fn ios(&self) -> u64 {
        self.directions.iter().map(|direction| direction.ios).sum()
    }

    /// The number of the error that ended it; 0 without one.
    pub(crate) fn error_number(&self) -> u64 {
        self.error.as_ref().map_or(0, |error| u64::from(error.number.unsigned_abs()))
    }

    /// Bytes of all directions.
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|direction| direction.bytes).sum()
    }
}
