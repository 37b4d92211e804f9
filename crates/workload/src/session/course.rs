//! How the duration of operations developed over the course of one replicate.
//!
//! The start is divided where the number of operations doubles (1, 2, 4, ...), because that is how
//! fast it changes. What follows is divided into equal parts, which show whether it was steady.

use crate::run_loop::LoopOutcome;

/// The number of parts into which the steady operations are divided.
pub(super) const STEADY_PARTS: u64 = 8;

/// Consecutive operations, and the time they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// How many.
    pub operations: u64,
    /// The time spent in them, summed over all threads.
    pub busy_ns: u64,
}

/// The operations of one replicate in order, divided into stretches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Course {
    /// The start: 1 operation, 1, 2, 4 and so on, for each thread.
    pub start: Vec<Stretch>,
    /// The rest, in up to eight equal parts: fewer if there are fewer than eight timed intervals,
    /// and none for operations in flight.
    pub steady: Vec<Stretch>,
}

impl Stretch {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            operations: self.operations + other.operations,
            busy_ns: self.busy_ns + other.busy_ns,
        }
    }

    /// The mean duration of its operations; None without operations.
    #[must_use]
    pub fn mean_ns(self) -> Option<f64> {
        (self.operations > 0).then(|| self.busy_ns as f64 / self.operations as f64)
    }
}

impl Course {
    /// The whole start.
    #[must_use]
    pub fn whole_start(&self) -> Stretch {
        self.start.iter().copied().fold(Stretch::default(), Stretch::and)
    }

    /// Adds what another thread did, stretch by stretch.
    pub(super) fn merge(&mut self, other: &Self) {
        add(&mut self.start, &other.start);
        add(&mut self.steady, &other.steady);
    }
}

fn add(all: &mut Vec<Stretch>, more: &[Stretch]) {
    all.resize(all.len().max(more.len()), Stretch::default());
    for (one, other) in all.iter_mut().zip(more) {
        *one = one.and(*other);
    }
}

/// The lengths of the stretches of a start, in whole batches.
pub(super) fn doubling(operations: u64, batch: u64) -> Vec<u64> {
    let mut lengths = Vec::new();
    let mut done = 0;
    while done < operations {
        let length = done.max(batch).min(operations - done);
        lengths.push(length);
        done += length;
    }
    lengths
}

/// The lengths of the stretches of the steady operations, in whole batches.
pub(super) fn equal(operations: u64, batch: u64) -> Vec<u64> {
    let intervals = operations.div_ceil(batch);
    let parts = intervals.min(STEADY_PARTS);
    let end = |part: u64| (intervals * part / parts.max(1) * batch).min(operations);
    (0..parts).map(|part| end(part + 1) - end(part)).collect()
}

/// Adds up the outcomes of the stretches of one phase.
pub(super) fn together(parts: LoopOutcome, more: LoopOutcome) -> LoopOutcome {
    LoopOutcome {
        operations: parts.operations + more.operations,
        bytes: parts.bytes + more.bytes,
        interrupted: parts.interrupted || more.interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_cut_where_it_doubles() {
        assert_eq!(doubling(0, 1), []);
        assert_eq!(doubling(1, 1), [1]);
        assert_eq!(doubling(20, 1), [1, 1, 2, 4, 8, 4]);
        assert_eq!(doubling(40, 8), [8, 8, 16, 8]);
    }

    #[test]
    fn what_is_steady_is_cut_into_equal_parts_of_whole_batches() {
        assert_eq!(equal(80, 1), [10; 8]);
        assert_eq!(equal(3, 1), [1, 1, 1]);
        assert_eq!(equal(64, 16), [16; 4]);
        for (operations, batch) in [(100, 7), (1_000, 3), (9, 1), (17, 16)] {
            let parts = equal(operations, batch);
            assert_eq!(parts.iter().sum::<u64>(), operations);
            let (_, whole) = parts.split_last().expect("there are some");
            assert!(whole.iter().all(|part| part.is_multiple_of(batch)), "{parts:?}");
        }
    }

    #[test]
    fn threads_add_up_stretch_by_stretch() {
        let stretch = |operations, busy_ns| Stretch { operations, busy_ns };
        let mut all = Course { start: vec![stretch(1, 5)], steady: vec![stretch(4, 8)] };
        let other = Course {
            start: vec![stretch(1, 7), stretch(1, 3)],
            steady: vec![stretch(2, 2), stretch(2, 2)],
        };
        all.merge(&other);
        assert_eq!(all.start, [stretch(2, 12), stretch(1, 3)]);
        assert_eq!(all.steady, [stretch(6, 10), stretch(2, 2)]);
        assert_eq!(all.whole_start().mean_ns(), Some(5.0));
        assert_eq!(Stretch::default().mean_ns(), None);
    }
}
