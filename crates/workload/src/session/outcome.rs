//! What one replicate was: the parts of its threads, added up.

use measure::{Clock, Recorder};

use super::course::Course;
use crate::run_loop::{LoopOutcome, Tally};
use crate::uring::AsynchronousLatency;

/// What one replicate was. All but its course is of the operations after the start.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Every operation of every thread.
    pub recorder: Recorder,
    /// How their time developed, from the first of the start on.
    pub course: Course,
    /// What the threads used of processors between their first and their last operation.
    pub processor_ns: u64,
    /// What the threads used of processors from their making to their end.
    pub threads_ns: u64,
    /// Bytes that devices read for the threads before the operations that are measured; none where
    /// that is not counted. 0 without a start.
    pub start_read_bytes: Option<u64>,
    /// Bytes moved by timed calls.
    pub bytes: u64,
    /// From the start of the first thread to the end of the last, untimed parts and all.
    pub elapsed_ns: u64,
    /// Operations per second: how many threads ran at once, on average over `elapsed_ns`, divided
    /// by the mean time of an operation (Little's law).
    ///
    /// Untimed parts are left out, so for a single thread this is its operations divided by the
    /// time spent in them. Two threads that are never slowed down by each other reach twice that,
    /// but only as far as they ran at the same time: one after the other, they reach it once. 0 if
    /// no time passed in operations.
    ///
    /// Where each thread has many in flight, the same law gives operations divided by `elapsed_ns`,
    /// untimed parts and all: see [`Outcome::asynchronous`].
    pub rate_per_s: f64,
    /// The share of the time until the first thread ended in which all ran, from 0 to 1; 1 for a
    /// single thread. What another still does then is the one operation that it is in.
    pub overlap: f64,
    /// Each thread's part.
    pub threads: Vec<ThreadOutcome>,
    /// Bytes that verification compared, and found right.
    pub checked_bytes: u64,
    /// What was counted beside operations and bytes, of all threads.
    pub tally: Tally,
    /// Whether the stop flag ended it before the last operation.
    pub interrupted: bool,
    /// Of operations in flight, on an asynchronous I/O path: the parts of their latencies.
    pub asynchronous: Option<AsynchronousLatency>,
}

/// One thread's part of an [`Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadOutcome {
    /// Operations done: fewer than asked for if another thread was the first to have done them.
    pub operations: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// Time spent in timed intervals.
    pub busy_ns: u64,
    /// From start to end, untimed parts and all.
    pub elapsed_ns: u64,
}

/// What one thread brings home.
pub(super) struct Part {
    pub(super) recorder: Recorder,
    pub(super) outcome: LoopOutcome,
    pub(super) course: Course,
    pub(super) processor_ns: u64,
    pub(super) thread_ns: u64,
    pub(super) start_read_bytes: Option<u64>,
    pub(super) checked_bytes: u64,
    pub(super) tally: Tally,
    pub(super) asynchronous: Option<AsynchronousLatency>,
    pub(super) start_ticks: u64,
    pub(super) end_ticks: u64,
}

/// What all threads did together.
pub(super) fn add_up(mut parts: Vec<Part>, clock: &impl Clock) -> Outcome {
    let spans = Spans::of(&parts);
    let threads: Vec<_> = parts
        .iter()
        .map(|part| ThreadOutcome {
            operations: part.outcome.operations,
            bytes: part.outcome.bytes,
            busy_ns: part.recorder.busy_ns(),
            elapsed_ns: clock.nanos(part.end_ticks.saturating_sub(part.start_ticks)),
        })
        .collect();
    let operations: u64 = threads.iter().map(|thread| thread.operations).sum();
    let busy_ns: u64 = threads.iter().map(|thread| thread.busy_ns).sum();
    let elapsed_ns = clock.nanos(spans.all_ticks);
    let asynchronous = merged_latency(&mut parts);
    let rate_per_s = match (busy_ns, &asynchronous) {
        (0, _) => 0.0,
        (_, None) => spans.threads_at_once() * operations as f64 * 1e9 / busy_ns as f64,
        // In flight on average: busy / elapsed. Divided by the mean latency: operations / elapsed.
        (_, Some(_)) => operations as f64 * 1e9 / elapsed_ns.max(1) as f64,
    };
    let mut tally = Tally::default();
    let mut course = Course::default();
    let processor_ns = parts.iter().map(|part| part.processor_ns).sum();
    let threads_ns = parts.iter().map(|part| part.thread_ns).sum();
    let start_read_bytes = parts.iter().map(|part| part.start_read_bytes).sum();
    for part in &parts {
        tally += part.tally;
        course.merge(&part.course);
    }
    Outcome {
        bytes: threads.iter().map(|thread| thread.bytes).sum(),
        elapsed_ns,
        rate_per_s,
        overlap: spans.overlap(),
        checked_bytes: parts.iter().map(|part| part.checked_bytes).sum(),
        tally,
        interrupted: parts.iter().any(|part| part.outcome.interrupted),
        recorder: merged(parts),
        course,
        processor_ns,
        threads_ns,
        start_read_bytes,
        threads,
        asynchronous,
    }
}

/// When threads ran.
struct Spans {
    /// From the first start to the last end.
    all_ticks: u64,
    /// From the last start to the first end; 0 if some thread ended before another began.
    common_ticks: u64,
    /// From the first start to the first end.
    until_end_ticks: u64,
    /// The sum over threads.
    each_ticks: u64,
}

impl Spans {
    fn of(parts: &[Part]) -> Self {
        let starts = || parts.iter().map(|part| part.start_ticks);
        let ends = || parts.iter().map(|part| part.end_ticks);
        let between = |start: Option<u64>, end: Option<u64>| {
            end.unwrap_or(0).saturating_sub(start.unwrap_or(0))
        };
        Self {
            all_ticks: between(starts().min(), ends().max()),
            common_ticks: between(starts().max(), ends().min()),
            until_end_ticks: between(starts().min(), ends().min()),
            each_ticks: starts().zip(ends()).map(|(start, end)| end.saturating_sub(start)).sum(),
        }
    }

    /// How many threads ran at the same time, on average.
    fn threads_at_once(&self) -> f64 {
        if self.all_ticks == 0 { 1.0 } else { self.each_ticks as f64 / self.all_ticks as f64 }
    }

    /// The share of the time until the first end in which all ran.
    fn overlap(&self) -> f64 {
        match self.until_end_ticks {
            0 => 1.0,
            ticks => self.common_ticks as f64 / ticks as f64,
        }
    }
}

fn merged_latency(parts: &mut [Part]) -> Option<AsynchronousLatency> {
    let mut latencies = parts.iter_mut().filter_map(|part| part.asynchronous.take());
    let mut all = latencies.next()?;
    for latency in latencies {
        all.merge(&latency);
    }
    Some(all)
}

fn merged(parts: Vec<Part>) -> Recorder {
    let mut recorders = parts.into_iter().map(|part| part.recorder);
    let mut all = recorders.next().unwrap_or_else(|| Recorder::new(0, 1));
    for recorder in recorders {
        all.merge(&recorder);
    }
    all
}

#[cfg(test)]
mod tests {
    use measure::ManualClock;

    use super::*;

    /// A thread that did an operation of 6 ns in each 10 ns of its span.
    fn part(start_ticks: u64, end_ticks: u64) -> Part {
        let operations = (end_ticks - start_ticks) / 10;
        let mut recorder = Recorder::new(0, 1 << 20);
        for start in (start_ticks..end_ticks).step_by(10) {
            recorder.record(start, start + 6, &ManualClock::new());
        }
        let outcome = LoopOutcome { operations, ..LoopOutcome::default() };
        Part {
            recorder,
            outcome,
            course: Course::default(),
            processor_ns: 0,
            thread_ns: 0,
            start_read_bytes: Some(0),
            checked_bytes: 0,
            tally: Tally::default(),
            asynchronous: None,
            start_ticks,
            end_ticks,
        }
    }

    fn summed(spans: &[(u64, u64)]) -> (u64, f64, f64) {
        let parts = spans.iter().map(|&(start, end)| part(start, end)).collect();
        let outcome = add_up(parts, &ManualClock::new());
        // In operations per 6 ns: 1 is what a single thread reaches.
        (outcome.elapsed_ns, outcome.rate_per_s * 6e-9, outcome.overlap)
    }

    #[test]
    fn threads_count_as_far_as_they_ran_at_the_same_time() {
        for (spans, elapsed_ns, rate, overlap) in [
            (&[(1000, 2000)][..], 1000, 1.0, 1.0),
            (&[(1000, 2000), (1000, 2000)], 1000, 2.0, 1.0),
            // One after the other, with and without a pause.
            (&[(1000, 2000), (2000, 3000)], 2000, 1.0, 0.0),
            (&[(3000, 4000), (1000, 2000)], 3000, 2.0 / 3.0, 0.0),
            (&[(1000, 2000), (1500, 2500)], 1500, 4.0 / 3.0, 0.5),
            // The last one began late and ended early.
            (&[(1000, 2000), (1000, 2000), (1200, 1800)], 1000, 2.6, 0.75),
            (&[(1000, 1000), (1000, 1000)], 0, 0.0, 1.0),
        ] {
            let (found_ns, found_rate, found_overlap) = summed(spans);
            assert_eq!(found_ns, elapsed_ns, "{spans:?}");
            assert!((found_rate - rate).abs() < 1e-9, "{spans:?} {found_rate}");
            assert!((found_overlap - overlap).abs() < 1e-9, "{spans:?} {found_overlap}");
        }
    }
}
