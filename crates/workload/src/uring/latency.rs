//! What is known of an asynchronous operation beyond its latency.

use measure::Histogram;

use super::task_work::TaskWork;

/// The two parts of the latencies of operations in flight; [`crate::Outcome::recorder`] holds their
/// sums.
#[derive(Debug, Clone)]
pub struct AsynchronousLatency {
    /// From issue, with the submission queue entry written, until the `io_uring_enter` that
    /// submitted it had returned, in nanoseconds. fio's `slat`.
    pub submission: Histogram,
    /// From then until its completion queue entry was seen, in nanoseconds. fio's `clat`. 0 where
    /// it was seen at the first look after the submission.
    pub completion: Histogram,
    /// How the kernel delivered completions.
    pub task_work: TaskWork,
}

impl AsynchronousLatency {
    /// Of no operation yet.
    pub(crate) fn new(task_work: TaskWork) -> Self {
        Self { submission: Histogram::new(), completion: Histogram::new(), task_work }
    }

    /// Adds what another thread measured. Threads of a session have rings that are set up alike.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.submission.merge(&other.submission);
        self.completion.merge(&other.completion);
    }
}
