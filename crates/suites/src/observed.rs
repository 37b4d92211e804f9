//! What was observed of a replicate, and what the run keeps of it.

use measure::{Clock, Histogram};
use record::{
    CacheEvidence, CourseRecord, LatencySummary, MetricDefinition, Spent, TimelineRecord, Warning,
};
use runner::Measured;
use workload::{Course, Outcome, Stretch, ThreadOutcome};

use crate::counters::Happened;
use crate::operations::{OTHER_TIME, Operations, PROCESSOR_TIME, Question, START_TIME};
use crate::written::Written;

/// Slices of a replicate's timeline that the journal keeps.
const SLICES_MAX: usize = 32;

/// One execution as it was observed.
pub(crate) struct Observed {
    pub(crate) outcome: Outcome,
    pub(crate) evidence: CacheEvidence,
    pub(crate) happened: Happened,
    /// What others than the caller read of a target that was to be in memory.
    pub(crate) others_read_bytes: Option<u64>,
    /// What was written, where that is asked.
    pub(crate) written: Option<Written>,
    /// Processor time of everything but the threads that operate, per operation; none where it is
    /// not counted.
    pub(crate) other_time_ns: Option<f64>,
    /// Time of everything around the operations.
    pub(crate) overhead_ns: u64,
    /// Where that went.
    pub(crate) spent: Spent,
}

impl Observed {
    /// The replicate as the runner keeps it.
    pub(crate) fn into_measured(self, of: &Operations, clock: &impl Clock) -> Measured {
        let outcome = self.outcome;
        let operations = outcome.recorder.operations();
        let busy_ns = outcome.recorder.busy_ns();
        let time_ns = busy_ns as f64 / operations.max(1) as f64;
        let per_s_elapsed = operations as f64 * 1e9 / outcome.elapsed_ns.max(1) as f64;
        let is_of_threads = matches!(of.question, Question::Throughput | Question::SteadyState);
        let request_bytes = of.workload.request_bytes as f64;
        let written = self.written.unwrap_or_default();
        let page_bytes = rustix::param::page_size() as u64;
        let evidence = self.evidence.clone();
        let value = |metric: &MetricDefinition| match metric.name.as_str() {
            START_TIME => start_ns(&outcome.course).unwrap_or(time_ns),
            PROCESSOR_TIME => processor_ns(&outcome) as f64 / operations.max(1) as f64,
            OTHER_TIME => self.other_time_ns.unwrap_or(0.0),
            "bandwidth" => outcome.rate_per_s * request_bytes,
            // Set against others with more threads, whose rates are by the time that passed.
            "throughput" if is_of_threads => per_s_elapsed,
            "throughput" => outcome.rate_per_s,
            "time_per_kib" => time_ns * 1024.0 / request_bytes,
            "throughput_per_thread" => per_s_elapsed / of.workload.threads as f64,
            "resident" => (evidence.resident_after.unwrap_or(0) * page_bytes) as f64,
            "device_read_per_operation" => {
                evidence.device_read_bytes.unwrap_or(0) as f64 / operations.max(1) as f64
            }
            name => in_flight(&outcome, name).or_else(|| written.metric(name)).unwrap_or(time_ns),
        };
        let mut warnings = Vec::new();
        if let Some(dirty) = self.evidence.dirty_before.filter(|&dirty| dirty > 0) {
            warnings.push(Warning::DirtyCarried { dirty_bytes: dirty * page_bytes });
        }
        if self.happened.throttled_periods > 0 {
            warnings.push(Warning::CpuThrottled { periods: self.happened.throttled_periods });
        }
        let written_bytes = self.evidence.device_written_bytes.unwrap_or(0);
        if written_bytes > 0 && !of.changes_anything() {
            let what = format!("{written_bytes} bytes were written while nothing was changed");
            warnings.push(Warning::BackgroundWork { what });
        }
        if let Some(bytes) = self.others_read_bytes {
            let what = format!("{bytes} bytes were read by others while nothing had to be read");
            warnings.push(Warning::BackgroundWork { what });
        }
        let metrics = of.metrics().iter().map(value).collect();
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
            steal_ns: self.happened.steal_ns,
            warnings,
            observations: Vec::new(),
        }
    }
}

/// What operations took of processors: what their threads used, less the time that passed between
/// operations, in which they do what is not timed. Where several are in flight there is no between.
fn processor_ns(outcome: &Outcome) -> u64 {
    let between = |one: &ThreadOutcome| one.elapsed_ns.saturating_sub(one.busy_ns);
    let between_ns = match outcome.asynchronous {
        Some(_) => 0,
        None => outcome.threads.iter().map(between).sum(),
    };
    outcome.processor_ns.saturating_sub(between_ns)
}

/// The mean time of the operations after a state was made: those of the start; where there is none
/// because all operations are what is measured, the first part of these.
fn start_ns(course: &Course) -> Option<f64> {
    let first = || course.steady.first().copied().and_then(Stretch::mean_ns);
    course.whole_start().mean_ns().or_else(first)
}

/// The course as the journal keeps it.
fn course(course: &Course) -> CourseRecord {
    let pairs = |stretches: &[Stretch]| {
        stretches.iter().map(|stretch| (stretch.operations, stretch.busy_ns)).collect()
    };
    CourseRecord { start: pairs(&course.start), steady: pairs(&course.steady) }
}

/// A metric of operations in flight that has its own meaning there; medians of the latencies'
/// parts.
fn in_flight(outcome: &Outcome, metric: &str) -> Option<f64> {
    let parts = outcome.asynchronous.as_ref()?;
    match metric {
        "time_per_operation" => (outcome.rate_per_s > 0.0).then(|| 1e9 / outcome.rate_per_s),
        "submission_latency" => Some(parts.submission.quantile(0.5)),
        "completion_latency" => Some(parts.completion.quantile(0.5)),
        _ => None,
    }
}

/// A distribution in short.
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

/// The timeline as the journal keeps it: neighbouring slices are added up until few enough are
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
