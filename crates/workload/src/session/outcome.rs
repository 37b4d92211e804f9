//! The result of one replicate: those of its threads, added up.

use measure::{Clock, Recorder};

use super::course::Course;
use crate::round::TickSpan;
use crate::run_loop::{LoopOutcome, Tally};
use crate::uring::AsynchronousLatency;

/// The result of one replicate. Except for the course, it is about the operations after the start.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Every operation of every thread.
    pub recorder: Recorder,
    /// How their duration developed, from the first operation of the start on.
    pub course: Course,
    /// Processor time of the threads between their first and their last operation.
    pub processor_ns: u64,
    /// Processor time of the threads from creation to their end.
    pub threads_ns: u64,
    /// How long the threads were runnable but waited for a processor, between their first and their
    /// last operation; None if the kernel does not report it.
    pub waited_ns: Option<u64>,
    /// Bytes read from devices on behalf of the threads, from their creation to their last
    /// operation; None if not counted, or not per thread, as for operations in flight.
    pub read_bytes: Option<u64>,
    /// Bytes read from devices on behalf of the threads before the measured operations; None if not
    /// counted, 0 without a start.
    pub start_read_bytes: Option<u64>,
    /// Bytes moved by timed calls.
    pub bytes: u64,
    /// From the start of the first thread to the end of the last, including untimed work between
    /// operations. With rounds, this is summed over the rounds, without the work around them.
    pub elapsed_ns: u64,
    /// Operations per second. For a single thread, this is based on the time spent in operations,
    /// so untimed work does not count. For several threads, or one with many operations in flight,
    /// it is based on `elapsed_ns`: otherwise threads that wait for each other would seem faster
    /// than they are whenever one does its untimed work while another has what it waits for. 0 if
    /// operations took no time.
    pub rate_per_s: f64,
    /// The share of the time until the first thread ended during which all were running, from 0 to
    /// 1; 1 for a single thread. After that time, each of the others only finishes the operation it
    /// is in.
    pub overlap: f64,
    /// Each thread's part.
    pub threads: Vec<ThreadOutcome>,
    /// Bytes that verification compared and found correct.
    pub checked_bytes: u64,
    /// What else was counted besides operations and bytes, summed over all threads.
    pub tally: Tally,
    /// Whether the stop flag ended it before the last operation.
    pub interrupted: bool,
    /// The parts of the latencies of operations in flight, on an asynchronous I/O path.
    pub asynchronous: Option<AsynchronousLatency>,
}

/// One thread's part of an [`Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadOutcome {
    /// Operations done: fewer than asked for if another thread was done first.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time spent in timed intervals.
    pub busy_ns: u64,
    /// From start to end, including untimed work.
    pub elapsed_ns: u64,
}

/// The result of one thread.
pub(super) struct ThreadResult {
    pub(super) recorder: Recorder,
    pub(super) outcome: LoopOutcome,
    pub(super) course: Course,
    pub(super) processor_ns: u64,
    pub(super) thread_ns: u64,
    pub(super) waited_ns: Option<u64>,
    pub(super) read_bytes: Option<u64>,
    pub(super) start_read_bytes: Option<u64>,
    pub(super) checked_bytes: u64,
    pub(super) tally: Tally,
    pub(super) asynchronous: Option<AsynchronousLatency>,
    /// From its first operation to its last, including untimed work.
    pub(super) whole: TickSpan,
    /// Its timed parts, if it ran in rounds.
    pub(super) rounds: Vec<TickSpan>,
}

impl ThreadResult {
    /// When it ran: once for each round, or once without rounds.
    fn spans(&self) -> &[TickSpan] {
        if self.rounds.is_empty() { std::slice::from_ref(&self.whole) } else { &self.rounds }
    }
}

/// Adds up the results of all threads.
pub(super) fn add_up(mut parts: Vec<ThreadResult>, clock: &impl Clock) -> Outcome {
    let spans = RunSpans::sum(&parts);
    let threads: Vec<_> = parts
        .iter()
        .map(|part| ThreadOutcome {
            operations: part.outcome.operations,
            bytes: part.outcome.bytes,
            busy_ns: part.recorder.busy_ns(),
            elapsed_ns: clock.nanos(part.whole.ticks()),
        })
        .collect();
    let operations: u64 = threads.iter().map(|thread| thread.operations).sum();
    let busy_ns: u64 = threads.iter().map(|thread| thread.busy_ns).sum();
    let elapsed_ns = clock.nanos(spans.all_ticks);
    let asynchronous = merged_latency(&mut parts);
    let is_one_by_one = threads.len() == 1 && asynchronous.is_none();
    let rate_per_s = match busy_ns {
        0 => 0.0,
        _ if is_one_by_one => operations as f64 * 1e9 / busy_ns as f64,
        _ => operations as f64 * 1e9 / elapsed_ns.max(1) as f64,
    };
    let mut tally = Tally::default();
    let mut course = Course::default();
    let processor_ns = parts.iter().map(|part| part.processor_ns).sum();
    let threads_ns = parts.iter().map(|part| part.thread_ns).sum();
    let waited_ns = parts.iter().map(|part| part.waited_ns).sum();
    // Operations in flight are read by the kernel's workers, not by the thread.
    let counted = parts.iter().map(|part| part.read_bytes.filter(|_| part.asynchronous.is_none()));
    let read_bytes = counted.sum();
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
        waited_ns,
        read_bytes,
        start_read_bytes,
        threads,
        asynchronous,
    }
}

/// When threads ran; summed over the rounds if there are several.
#[derive(Default)]
struct RunSpans {
    /// From the first start to the last end.
    all_ticks: u64,
    /// From the last start to the first end; 0 if some thread ended before another began.
    common_ticks: u64,
    /// From the first start to the first end.
    until_end_ticks: u64,
}

impl RunSpans {
    fn sum(parts: &[ThreadResult]) -> Self {
        let rounds = parts.iter().map(|part| part.spans().len()).max().unwrap_or(0);
        let mut sum = Self::default();
        for round in 0..rounds {
            let those = || parts.iter().filter_map(|part| part.spans().get(round));
            let starts = || those().map(|span| span.start_ticks);
            let ends = || those().map(|span| span.end_ticks);
            let between = |start: Option<u64>, end: Option<u64>| {
                end.unwrap_or(0).saturating_sub(start.unwrap_or(0))
            };
            sum.all_ticks += between(starts().min(), ends().max());
            sum.common_ticks += between(starts().max(), ends().min());
            sum.until_end_ticks += between(starts().min(), ends().min());
        }
        sum
    }

    /// The share of the time until the first end during which all were running.
    fn overlap(&self) -> f64 {
        match self.until_end_ticks {
            0 => 1.0,
            ticks => self.common_ticks as f64 / ticks as f64,
        }
    }
}

fn merged_latency(parts: &mut [ThreadResult]) -> Option<AsynchronousLatency> {
    let mut latencies = parts.iter_mut().filter_map(|part| part.asynchronous.take());
    let mut all = latencies.next()?;
    for latency in latencies {
        all.merge(&latency);
    }
    Some(all)
}

fn merged(parts: Vec<ThreadResult>) -> Recorder {
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

    /// A thread with an operation of 6 ns in every 10 ns of its spans.
    fn part(spans: &[(u64, u64)], has_rounds: bool) -> ThreadResult {
        let mut recorder = Recorder::new(0, 1 << 20);
        for &(start_ticks, end_ticks) in spans {
            for start in (start_ticks..end_ticks).step_by(10) {
                recorder.record(start, start + 6, &ManualClock::new());
            }
        }
        let spans: Vec<TickSpan> = spans
            .iter()
            .map(|&(start_ticks, end_ticks)| TickSpan { start_ticks, end_ticks })
            .collect();
        let outcome = LoopOutcome { operations: recorder.operations(), ..LoopOutcome::default() };
        let (first, last) = (spans[0], spans[spans.len() - 1]);
        ThreadResult {
            recorder,
            outcome,
            course: Course::default(),
            processor_ns: 0,
            thread_ns: 0,
            waited_ns: Some(0),
            read_bytes: Some(0),
            start_read_bytes: Some(0),
            checked_bytes: 0,
            tally: Tally::default(),
            asynchronous: None,
            whole: TickSpan { end_ticks: last.end_ticks, ..first },
            rounds: if has_rounds { spans } else { Vec::new() },
        }
    }

    #[test]
    fn of_one_thread_the_rate_is_by_its_own_time() {
        for has_rounds in [false, true] {
            let outcome = add_up(vec![part(&[(1000, 2000)], has_rounds)], &ManualClock::new());
            assert_eq!((outcome.elapsed_ns, outcome.overlap), (1000, 1.0));
            assert!((outcome.rate_per_s * 6e-9 - 1.0).abs() < 1e-9, "{}", outcome.rate_per_s);
        }
    }

    #[test]
    fn of_several_it_is_by_the_time_that_passed() {
        // The unit of the rates is operations per 10 ns: 1 is what a single thread does.
        for (spans, elapsed_ns, rate, overlap) in [
            (&[(1000, 2000), (1000, 2000)][..], 1000, 2.0, 1.0),
            // One after the other, with and without a pause between.
            (&[(1000, 2000), (2000, 3000)], 2000, 1.0, 0.0),
            (&[(3000, 4000), (1000, 2000)], 3000, 2.0 / 3.0, 0.0),
            (&[(1000, 2000), (1500, 2500)], 1500, 4.0 / 3.0, 0.5),
            // The last one began late and ended early.
            (&[(1000, 2000), (1000, 2000), (1200, 1800)], 1000, 2.6, 0.75),
            (&[(1000, 1000), (1000, 1000)], 0, 0.0, 1.0),
        ] {
            let parts = spans.iter().map(|&span| part(&[span], false)).collect();
            let outcome = add_up(parts, &ManualClock::new());
            assert_eq!(outcome.elapsed_ns, elapsed_ns, "{spans:?}");
            assert!((outcome.rate_per_s * 1e-8 - rate).abs() < 1e-9, "{spans:?} {outcome:?}");
            assert!((outcome.overlap - overlap).abs() < 1e-9, "{spans:?} {}", outcome.overlap);
        }
    }

    #[test]
    fn of_rounds_only_what_passed_in_them_counts() {
        let one = part(&[(1000, 2000), (5000, 5500)], true);
        let other = part(&[(1000, 2000), (5250, 5500)], true);
        let outcome = add_up(vec![one, other], &ManualClock::new());
        assert_eq!(outcome.elapsed_ns, 1500);
        assert_eq!(outcome.threads.iter().map(|one| one.elapsed_ns).max(), Some(4500));
        assert!((outcome.rate_per_s * 1e-8 - 275.0 / 150.0).abs() < 1e-9, "{}", outcome.rate_per_s);
        assert!((outcome.overlap - 1250.0 / 1500.0).abs() < 1e-9, "{}", outcome.overlap);
    }
}
