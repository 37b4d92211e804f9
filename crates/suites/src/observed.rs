//! What was observed during a replicate, and what the run keeps of it.

use measure::{Clock, Histogram};
use record::{
    CacheEvidence, CacheState, CourseRecord, LatencySummary, Neighbours, Spent, TimelineRecord,
    Warning,
};
use runner::Measured;
use workload::{Course, Outcome, Stretch};

use crate::counters::CounterDeltas;
use crate::device_work::WorkPerOperation;
use crate::metrics::Values;
use crate::operations::Operations;

/// Slices of a replicate's timeline that the journal keeps at most.
const SLICES_MAX: usize = 32;

/// One in this many bytes written by a start may reach the device while its pages still count as
/// dirty: journal writes, or what others write.
const WRITTEN_BACK_SHARE: u64 = 8;

/// One execution as it was observed.
pub(crate) struct Observed {
    pub(crate) outcome: Outcome,
    pub(crate) evidence: CacheEvidence,
    pub(crate) deltas: CounterDeltas,
    /// What the rest of the machine did.
    pub(crate) neighbours: Neighbours,
    /// Bytes that others read from a target that was supposed to be in memory.
    pub(crate) others_read_bytes: Option<u64>,
    /// What was written, if that is the question.
    pub(crate) written: Option<WorkPerOperation>,
    /// Processor time per operation of what works for the operating threads; `None` if that is
    /// unknown.
    pub(crate) other_time_ns: Option<f64>,
    /// A warning if the operations had not settled before the measured ones.
    pub(crate) restless: Option<Warning>,
    /// Time of everything around the operations.
    pub(crate) overhead_ns: u64,
    /// How that time was spent.
    pub(crate) spent: Spent,
}

impl Observed {
    /// The replicate as the runner keeps it.
    pub(crate) fn into_measured(self, of: &Operations, clock: &impl Clock) -> Measured {
        let outcome = self.outcome;
        let operations = outcome.recorder.operations();
        let busy_ns = outcome.recorder.busy_ns();
        let page_bytes = rustix::param::page_size() as u64;
        let values = Values {
            outcome: &outcome,
            evidence: &self.evidence,
            written: self.written.unwrap_or_default(),
            other_time_ns: self.other_time_ns,
            request_bytes: of.workload.request_bytes as f64,
            threads: of.workload.threads as f64,
        };
        let metrics = of.metric_rows().iter().map(|metric| metric.value(&values)).collect();
        let mut warnings: Vec<Warning> = self.restless.into_iter().collect();
        if let Some(dirty) = self.evidence.dirty_before.filter(|&dirty| dirty > 0) {
            warnings.push(Warning::DirtyCarried { dirty_bytes: dirty * page_bytes });
        }
        if self.deltas.throttled_periods > 0 {
            warnings.push(Warning::CpuThrottled { periods: self.deltas.throttled_periods });
        }
        let written_bytes = self.evidence.device_written_bytes.unwrap_or(0);
        if written_bytes > 0 && !of.changes_anything() {
            let what = format!("{written_bytes} bytes were written while nothing was changed");
            warnings.push(Warning::BackgroundWork { what });
        }
        let start = outcome.course.whole_start().operations * of.workload.request_bytes as u64;
        let is_warm = self.evidence.resident_before.is_some_and(|pages| pages > 0);
        let stays_dirty = written_bytes <= start / WRITTEN_BACK_SHARE;
        if is_warm && of.writes_dirty_pages(CacheState::Warm) && !stays_dirty {
            let what = "it wrote dirty pages back while they were written to again, so that some \
                        were clean";
            warnings.push(Warning::BackgroundWork { what: what.to_owned() });
        }
        if let Some(bytes) = self.others_read_bytes {
            let what = format!("{bytes} bytes were read by others while nothing needed to be read");
            warnings.push(Warning::BackgroundWork { what });
        }
        let timeline = timeline(outcome.recorder.timeline(), clock);
        let course = course(&outcome.course);
        let latency = summary(outcome.recorder.histogram());
        let (histogram, _) = outcome.recorder.into_parts();
        Measured {
            metrics,
            operations,
            bytes: outcome.bytes,
            elapsed_ns: outcome.elapsed_ns,
            busy_ns,
            latency,
            histogram,
            timeline: Some(timeline),
            course: Some(course),
            spent: self.spent,
            evidence: self.evidence,
            steal_ns: self.deltas.steal_ns,
            neighbours: Some(self.neighbours),
            warnings,
            observations: Vec::new(),
        }
    }
}

/// The course as the journal keeps it.
fn course(course: &Course) -> CourseRecord {
    let pairs = |stretches: &[Stretch]| {
        stretches.iter().map(|stretch| (stretch.operations, stretch.busy_ns)).collect()
    };
    CourseRecord { start: pairs(&course.start), steady: pairs(&course.steady) }
}

/// A summary of a distribution.
pub(crate) fn summary(histogram: &Histogram) -> LatencySummary {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "those of u64")]
    let quantile = |q| histogram.quantile(q).round() as u64;
    LatencySummary {
        min_ns: histogram.min(),
        p50_ns: quantile(0.5),
        p90_ns: quantile(0.9),
        p99_ns: quantile(0.99),
        max_ns: histogram.max(),
    }
}

/// The timeline as the journal keeps it: pairs of adjacent slices are merged until few enough are
/// left.
pub(crate) fn timeline(timeline: &measure::Timeline, clock: &impl Clock) -> TimelineRecord {
    let mut slices: Vec<[u64; 64]> = timeline.slices().map(|slice| *slice.counts).collect();
    let mut slice_ticks = timeline.slice_ticks();
    while slices.len() > SLICES_MAX {
        let sum = |pair: &[[u64; 64]]| {
            std::array::from_fn(|log2| pair.iter().map(|counts| counts[log2]).sum())
        };
        slices = slices.chunks(2).map(sum).collect();
        slice_ticks *= 2;
    }
    let pairs = |counts: &[u64; 64]| {
        let all = (0u8..).zip(counts.iter().copied());
        all.filter(|(_, count)| *count > 0).collect()
    };
    TimelineRecord {
        slice_ns: clock.nanos(slice_ticks),
        slices: slices.iter().map(pairs).collect(),
    }
}
