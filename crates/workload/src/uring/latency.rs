//! What is recorded about operations in flight beyond their latency.

use measure::Histogram;

use super::task_work::TaskWork;

/// The two parts of the latencies of operations in flight; [`crate::Outcome::recorder`] has their
/// sums.
#[derive(Debug, Clone)]
pub struct AsynchronousLatency {
    /// From issue, with the submission queue entry written, until the `io_uring_enter` that submits
    /// it has returned, in nanoseconds. fio's `slat`.
    pub submission: Histogram,
    /// From then until its completion queue entry was seen, in nanoseconds. fio's `clat`. 0 if it
    /// was seen at the first look after the submission.
    pub completion: Histogram,
    /// How the kernel delivered completions.
    pub task_work: TaskWork,
}

impl AsynchronousLatency {
    /// No operations yet.
    pub(crate) fn new(task_work: TaskWork) -> Self {
        Self { submission: Histogram::new(), completion: Histogram::new(), task_work }
    }

    /// Adds what another thread measured. All threads of a session set up their rings in the same
    /// way.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.submission.merge(&other.submission);
        self.completion.merge(&other.completion);
    }
}
