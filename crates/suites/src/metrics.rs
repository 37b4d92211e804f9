//! The metrics of engine operations: one row each, with its formula.

use record::{CacheEvidence, MetricDefinition, StandardMetric};
use workload::{Course, Outcome, Stretch, ThreadOutcome};

use crate::device_work::WorkPerOperation;

/// A metric that replicates of operations can have.
pub(crate) struct Metric {
    declared: StandardMetric,
    /// Its value in one replicate.
    of: fn(&Values<'_>) -> f64,
}

/// What a replicate's values are computed from.
pub(crate) struct Values<'a> {
    pub(crate) outcome: &'a Outcome,
    pub(crate) evidence: &'a CacheEvidence,
    /// What the device wrote, if that is the question.
    pub(crate) written: WorkPerOperation,
    /// Processor time per operation of everything but the operating threads.
    pub(crate) other_time_ns: Option<f64>,
    /// Bytes moved by one operation.
    pub(crate) request_bytes: f64,
    /// Number of operating threads.
    pub(crate) threads: f64,
}

impl Values<'_> {
    fn operations(&self) -> f64 {
        self.outcome.recorder.operations().max(1) as f64
    }
}

/// Mean time of an operation.
fn time_ns(values: &Values<'_>) -> f64 {
    values.outcome.recorder.busy_ns() as f64 / values.operations()
}

/// Operations per second of elapsed time.
fn per_s_elapsed(values: &Values<'_>) -> f64 {
    let operations = values.outcome.recorder.operations() as f64;
    operations * 1e9 / values.outcome.elapsed_ns.max(1) as f64
}

impl Metric {
    const fn new(declared: StandardMetric, of: fn(&Values<'_>) -> f64) -> Self {
        Self { declared, of }
    }

    /// The metric as a run declares it.
    pub(crate) fn definition(&self) -> MetricDefinition {
        self.declared.definition()
    }

    /// Its value in a replicate.
    pub(crate) fn value(&self, values: &Values<'_>) -> f64 {
        (self.of)(values)
    }
}

/// Mean time of an operation.
pub(crate) const TIME: Metric = Metric::new(StandardMetric::TIME_PER_OPERATION, time_ns);

/// Mean time per KiB moved.
pub(crate) const TIME_PER_KIB: Metric = Metric::new(StandardMetric::TIME_PER_KIB, |values| {
    time_ns(values) * 1024.0 / values.request_bytes
});

/// The time from one operation to the next, for operations in flight.
pub(crate) const TIME_BETWEEN: Metric = Metric::new(StandardMetric::TIME_PER_OPERATION, |values| {
    let rate_per_s = values.outcome.rate_per_s;
    if rate_per_s > 0.0 { 1e9 / rate_per_s } else { time_ns(values) }
});

/// Operations per second: of the time spent in them if one thread does one after the other,
/// otherwise of elapsed time.
pub(crate) const THROUGHPUT: Metric =
    Metric::new(StandardMetric::THROUGHPUT, |values| values.outcome.rate_per_s);

/// Operations per second of elapsed time, comparable with benchmarks of more threads.
pub(crate) const THROUGHPUT_ELAPSED: Metric =
    Metric::new(StandardMetric::THROUGHPUT, per_s_elapsed);

/// The same, divided by the number of threads.
pub(crate) const THROUGHPUT_PER_THREAD: Metric =
    Metric::new(StandardMetric::THROUGHPUT_PER_THREAD, |values| {
        per_s_elapsed(values) / values.threads
    });

/// Bytes moved per second.
pub(crate) const BANDWIDTH: Metric = Metric::new(StandardMetric::BANDWIDTH, |values| {
    values.outcome.rate_per_s * values.request_bytes
});

/// Mean time of the first operations after the cache state was made.
pub(crate) const START_TIME: Metric = Metric::new(StandardMetric::START_TIME, |values| {
    start_ns(&values.outcome.course).unwrap_or_else(|| time_ns(values))
});

/// Processor time that an operation takes from the thread that executes it.
pub(crate) const PROCESSOR_TIME: Metric = Metric::new(StandardMetric::PROCESSOR_TIME, |values| {
    processor_ns(values.outcome) as f64 / values.operations()
});

/// Processor time per operation of kernel threads and file system servers, until all changes are
/// written back.
pub(crate) const OTHER_TIME: Metric =
    Metric::new(StandardMetric::OTHER_TIME, |values| values.other_time_ns.unwrap_or(0.0));

/// Bytes of the working set in memory after the last operation.
pub(crate) const RESIDENT: Metric = Metric::new(StandardMetric::RESIDENT, |values| {
    let page_bytes = rustix::param::page_size() as u64;
    (values.evidence.resident_after.unwrap_or(0) * page_bytes) as f64
});

/// Bytes read by the device, per operation.
pub(crate) const DEVICE_READ: Metric = Metric::new(StandardMetric::DEVICE_READ, |values| {
    values.evidence.device_read_bytes.unwrap_or(0) as f64 / values.operations()
});

/// Time of an operation plus its share of the final sync.
pub(crate) const SYNCED_TIME: Metric =
    Metric::new(StandardMetric::SYNCED_TIME, |values| values.written.synced_time_ns);

/// Bytes written by the device, per operation.
pub(crate) const DEVICE_BYTES: Metric =
    Metric::new(StandardMetric::DEVICE_BYTES, |values| values.written.bytes);

/// Write requests of the device, per operation.
pub(crate) const DEVICE_WRITES: Metric =
    Metric::new(StandardMetric::DEVICE_WRITES, |values| values.written.writes);

/// Mean time from submission to completion, for operations in flight.
pub(crate) const LATENCY: Metric = Metric::new(StandardMetric::LATENCY, time_ns);

/// Median time of submission, the first part of that.
pub(crate) const SUBMISSION_LATENCY: Metric =
    Metric::new(StandardMetric::SUBMISSION_LATENCY, |values| {
        let parts = values.outcome.asynchronous.as_ref();
        parts.map_or_else(|| time_ns(values), |parts| parts.submission.quantile(0.5))
    });

/// Median time of completion, the second part.
pub(crate) const COMPLETION_LATENCY: Metric =
    Metric::new(StandardMetric::COMPLETION_LATENCY, |values| {
        let parts = values.outcome.asynchronous.as_ref();
        parts.map_or_else(|| time_ns(values), |parts| parts.completion.quantile(0.5))
    });

/// Processor time of the operations: what their threads used, less the time between operations,
/// which they spend on untimed work. With several in flight there is no such time.
fn processor_ns(outcome: &Outcome) -> u64 {
    let between = |one: &ThreadOutcome| one.elapsed_ns.saturating_sub(one.busy_ns);
    let between_ns = match outcome.asynchronous {
        Some(_) => 0,
        None => outcome.threads.iter().map(between).sum(),
    };
    outcome.processor_ns.saturating_sub(between_ns)
}

/// Mean time of the first operations after the cache state was made: those of the start or, if all
/// operations are measured and there is no start, the first stretch of them.
fn start_ns(course: &Course) -> Option<f64> {
    let first = || course.steady.first().copied().and_then(Stretch::mean_ns);
    course.whole_start().mean_ns().or_else(first)
}

#[cfg(test)]
mod tests {
    use measure::{Histogram, ManualClock, Recorder};
    use workload::{AsynchronousLatency, TaskWork};

    use super::*;

    /// Four operations of 1,000 ns each, executed by two threads in 8,000 ns.
    fn outcome() -> Outcome {
        let clock = ManualClock::new();
        let mut recorder = Recorder::new(0, 1 << 30);
        for start in 0..4 {
            recorder.record(start * 1000, (start + 1) * 1000, &clock);
        }
        let thread = ThreadOutcome { operations: 2, bytes: 0, busy_ns: 2000, elapsed_ns: 2500 };
        Outcome {
            recorder,
            course: Course {
                start: vec![Stretch { operations: 2, busy_ns: 6000 }],
                steady: vec![Stretch { operations: 4, busy_ns: 4000 }],
            },
            processor_ns: 3800,
            threads_ns: 9000,
            waited_ns: None,
            read_bytes: None,
            start_read_bytes: None,
            bytes: 0,
            elapsed_ns: 8000,
            rate_per_s: 1e6,
            overlap: 1.0,
            threads: vec![thread; 2],
            checked_bytes: 0,
            tally: workload::Tally::default(),
            interrupted: false,
            asynchronous: None,
        }
    }

    #[test]
    fn each_metric_has_its_own_value() {
        let outcome = outcome();
        let evidence = CacheEvidence {
            resident_after: Some(3),
            device_read_bytes: Some(16_384),
            ..CacheEvidence::default()
        };
        let written = WorkPerOperation { synced_time_ns: 7.0, bytes: 5.0, writes: 3.0 };
        let values = Values {
            outcome: &outcome,
            evidence: &evidence,
            written,
            other_time_ns: Some(11.0),
            request_bytes: 4096.0,
            threads: 2.0,
        };
        let page_bytes = rustix::param::page_size() as f64;
        for (metric, value) in [
            (TIME, 1000.0),
            (TIME_PER_KIB, 250.0),
            (TIME_BETWEEN, 1000.0),
            (THROUGHPUT, 1e6),
            (THROUGHPUT_ELAPSED, 5e5),
            (THROUGHPUT_PER_THREAD, 2.5e5),
            (BANDWIDTH, 4.096e9),
            (START_TIME, 3000.0),
            // 3,800 ns, less 500 ns that each thread spends between its operations.
            (PROCESSOR_TIME, 700.0),
            (OTHER_TIME, 11.0),
            (RESIDENT, 3.0 * page_bytes),
            (DEVICE_READ, 4096.0),
            (SYNCED_TIME, 7.0),
            (DEVICE_BYTES, 5.0),
            (DEVICE_WRITES, 3.0),
            (LATENCY, 1000.0),
        ] {
            let found = metric.value(&values);
            assert!((found - value).abs() < 1e-6 * value, "{}: {found}", metric.declared.name);
        }
    }

    #[test]
    fn operations_in_flight_have_parts_and_nothing_between() {
        let of = |value| {
            let mut histogram = Histogram::new();
            histogram.record(value);
            histogram
        };
        let asynchronous = AsynchronousLatency {
            submission: of(200),
            completion: of(800),
            task_work: TaskWork::Interrupting,
        };
        let outcome =
            Outcome { asynchronous: Some(asynchronous), rate_per_s: 4e6, ..self::outcome() };
        let values = Values {
            outcome: &outcome,
            evidence: &CacheEvidence::default(),
            written: WorkPerOperation { synced_time_ns: 0.0, bytes: 0.0, writes: 0.0 },
            other_time_ns: None,
            request_bytes: 4096.0,
            threads: 1.0,
        };
        for (metric, low, high) in [
            (SUBMISSION_LATENCY, 198.0, 202.0),
            (COMPLETION_LATENCY, 792.0, 808.0),
            (TIME_BETWEEN, 249.9, 250.1),
            (PROCESSOR_TIME, 949.9, 950.1),
        ] {
            let found = metric.value(&values);
            assert!((low..high).contains(&found), "{}: {found}", metric.declared.name);
        }
    }

    #[test]
    fn without_a_start_the_first_part_stands_for_it() {
        let stretch = |busy_ns| Stretch { operations: 2, busy_ns };
        let course = Course { start: Vec::new(), steady: vec![stretch(4000), stretch(2000)] };
        assert_eq!(start_ns(&course), Some(2000.0));
        assert_eq!(start_ns(&Course::default()), None);
    }
}
