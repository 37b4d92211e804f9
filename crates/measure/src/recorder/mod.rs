//! One thread's measurements: written by the hot loop, and merged afterwards.

mod words;

use crate::clock::Clock;
use crate::histogram::Histogram;
use crate::timeline::Timeline;

/// A histogram and a timeline of one thread's operations, and the time they took together.
///
/// There are no locks and nothing is shared: each thread has its own, 91 KiB in size and made by
/// the thread that uses it (so that its memory is local), and [`merge`](Self::merge) adds them up.
#[derive(Debug, Clone)]
pub struct Recorder {
    histogram: Histogram,
    timeline: Timeline,
    /// The time that batches took beyond (or below) the sum of their operations' rounded times.
    batch_rest_ns: i64,
}

/// With many threads, recorders must not evict from the caches what is being measured.
const _: () =
    assert!(size_of::<Recorder>() + Histogram::HEAP_BYTES + Timeline::HEAP_BYTES < 128 * 1024);

impl Recorder {
    /// A recorder whose timeline begins at `origin_ticks`, the same for all threads of one
    /// measurement, with slices of at least `slice_ticks`.
    pub fn new(origin_ticks: u64, slice_ticks: u64) -> Self {
        Self {
            histogram: Histogram::new(),
            timeline: Timeline::new(origin_ticks, slice_ticks),
            batch_rest_ns: 0,
        }
    }

    /// Moves the start of the timeline of an empty recorder, for example to the moment when the
    /// threads are released, which is later than when their recorders are made.
    pub fn begin_at(&mut self, origin_ticks: u64) {
        self.timeline.begin_at(origin_ticks);
    }

    /// Records one operation, given the readings before and after it.
    ///
    /// Returns true once per initial slice width (see [`Timeline::record`]), which is the moment to
    /// check a stop flag or a deadline. If the end is before the start, which happens only with a
    /// broken clock, the operation counts as 0 ns.
    #[inline(always)]
    pub fn record(&mut self, start_ticks: u64, end_ticks: u64, clock: &impl Clock) -> bool {
        let latency_ns = clock.nanos(end_ticks.saturating_sub(start_ticks));
        self.histogram.record(latency_ns);
        self.timeline.record(end_ticks, latency_ns)
    }

    /// Records `operations` that were too short to time one by one: each is counted with the time
    /// of the batch divided by their number. The total, [`busy_ns`](Self::busy_ns), stays exact.
    pub fn record_batch(
        &mut self,
        start_ticks: u64,
        end_ticks: u64,
        operations: u64,
        clock: &impl Clock,
    ) -> bool {
        let batch_ns = clock.nanos(end_ticks.saturating_sub(start_ticks));
        let latency_ns = rounded_quotient(batch_ns, operations.max(1));
        let rest_ns = batch_ns.wrapping_sub(latency_ns.wrapping_mul(operations)).cast_signed();
        self.batch_rest_ns = self.batch_rest_ns.saturating_add(rest_ns);
        self.histogram.record_n(latency_ns, operations);
        self.timeline.record_n(end_ticks, latency_ns, operations)
    }

    /// Adds what another thread measured.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.timeline.merge(&other.timeline);
        self.batch_rest_ns = self.batch_rest_ns.saturating_add(other.batch_rest_ns);
    }

    /// The latencies of all operations, in nanoseconds.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// The latencies over time, placed where operations ended.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// How many operations were recorded.
    pub fn operations(&self) -> u64 {
        self.histogram.count()
    }

    /// The time spent in operations, summed over threads.
    pub fn busy_ns(&self) -> u64 {
        let sum_ns = u64::try_from(self.histogram.sum()).unwrap_or(u64::MAX);
        sum_ns.saturating_add_signed(self.batch_rest_ns)
    }

    /// The mean time of an operation in nanoseconds, exact for batches too; 0 without operations.
    pub fn mean_ns(&self) -> f64 {
        if self.operations() == 0 { 0.0 } else { self.busy_ns() as f64 / self.operations() as f64 }
    }

    /// The histogram and the timeline.
    pub fn into_parts(self) -> (Histogram, Timeline) {
        (self.histogram, self.timeline)
    }
}

fn rounded_quotient(dividend: u64, divisor: u64) -> u64 {
    let remainder = dividend % divisor;
    dividend / divisor + u64::from(remainder >= divisor - remainder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::ManualClock;

    #[test]
    fn an_operation_is_in_histogram_timeline_and_total() {
        let clock = ManualClock::new();
        let mut recorder = Recorder::new(1000, 1 << 10);
        assert!(recorder.record(1000, 1300, &clock), "the first reading opens the first window");
        assert!(!recorder.record(1300, 1310, &clock));
        assert!(recorder.record(1310, 1000 + 1024, &clock), "this one ends in the next slice");
        assert_eq!((recorder.operations(), recorder.busy_ns()), (3, 1024));
        assert_eq!((recorder.histogram().min(), recorder.histogram().max()), (10, 714));
        let per_slice: Vec<u64> = recorder.timeline().slices().map(|s| s.count()).collect();
        assert_eq!(per_slice, [2, 1]);
        let first = recorder.timeline().slices().next().unwrap();
        assert_eq!((first.counts[8], first.counts[3]), (1, 1));
    }

    #[test]
    fn an_end_before_the_start_is_no_time() {
        let mut recorder = Recorder::new(0, 1);
        recorder.record(100, 99, &ManualClock::new());
        assert_eq!((recorder.operations(), recorder.histogram().max()), (1, 0));
    }

    #[test]
    fn a_batch_counts_each_operation_and_keeps_the_total() {
        let clock = ManualClock::new();
        let mut recorder = Recorder::new(0, 1 << 20);
        recorder.record_batch(0, 1004, 8, &clock);
        assert_eq!((recorder.operations(), recorder.busy_ns()), (8, 1004));
        // 125.5 ns each: rounded in the histogram, exact in the mean.
        assert_eq!((recorder.histogram().min(), recorder.histogram().max()), (126, 126));
        assert!((recorder.mean_ns() - 125.5).abs() < 1e-9);
        assert_eq!(recorder.timeline().slices().next().unwrap().counts[6], 8);
        recorder.record_batch(2000, 2500, 0, &clock);
        assert_eq!((recorder.operations(), recorder.busy_ns()), (8, 1504));
    }

    #[test]
    fn quotients_round_to_nearest() {
        let quotients = [(0, 1), (7, 2), (7, 3), (8, 3), (u64::MAX, 2), (u64::MAX, u64::MAX)];
        let rounded = quotients.map(|(dividend, divisor)| rounded_quotient(dividend, divisor));
        assert_eq!(rounded, [0, 4, 2, 3, 1 << 63, 1]);
    }

    #[test]
    fn threads_add_up() {
        let clock = ManualClock::new();
        let measured_by = |thread: u64| {
            let mut recorder = Recorder::new(0, 1 << 12);
            for n in 0..1000 {
                recorder.record(n * 1000, n * 1000 + 1 + thread, &clock);
            }
            recorder
        };
        let mut total = measured_by(0);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (1..4).map(|t| scope.spawn(move || measured_by(t))).collect();
            for thread in threads {
                total.merge(&thread.join().unwrap());
            }
        });
        assert_eq!((total.operations(), total.busy_ns()), (4000, 10_000));
        assert!((total.mean_ns() - 2.5).abs() < 1e-9);
        let (histogram, timeline) = total.into_parts();
        assert_eq!(histogram.buckets().map(|b| b.count).collect::<Vec<_>>(), [1000; 4]);
        assert_eq!(timeline.slices().map(|s| s.count()).sum::<u64>(), 4000);
    }
}
