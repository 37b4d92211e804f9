//! What has to be said about a workload that travels by io_uring, and what cannot be.

use crate::description::Workload;
use crate::error::WorkloadError;

/// The most operations that one thread may have in flight.
const QUEUE_DEPTH_MAX: u32 = 4096;

/// The most bytes that the buffers of one thread may have together: what io_uring takes for one
/// buffer at most (`io_buffer_validate` in the kernel's `io_uring/rsrc.c`), here for all.
const BUFFER_BYTES_MAX: u64 = 1 << 30;

/// Whether the page cache stands between a request and the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Buffering {
    /// Requests go through the page cache.
    PageCache,
    /// `O_DIRECT`: requests go past the page cache.
    Direct,
}

/// How reads and writes travel by io_uring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UringOptions {
    /// Operations that each thread keeps in flight: 1 to 4096. fio's `iodepth`. Fewer are in
    /// flight only while a run ends.
    pub queue_depth: u32,
    /// Whether they go through the page cache.
    pub buffering: Buffering,
    /// Operations that one `io_uring_enter` submits at most: 1 to the queue depth. fio's
    /// `iodepth_batch_submit`.
    pub submit_at_most: u32,
    /// Completions that have to be there before the queue is filled again: 1 to the queue depth.
    /// All that are there are taken, then. fio's `iodepth_batch_complete_min`, where its
    /// `iodepth_batch_complete_max` is the queue depth.
    pub reap_at_least: u32,
}

impl UringOptions {
    /// So many in flight, submitted and reaped as many at a time as there are: what keeps the
    /// queue as full as one thread can, with the fewest system calls.
    #[must_use]
    pub fn new(queue_depth: u32, buffering: Buffering) -> Self {
        Self { queue_depth, buffering, submit_at_most: queue_depth, reap_at_least: 1 }
    }

    /// Checks what can be checked without a kernel.
    pub(crate) fn check(&self, workload: &Workload) -> Result<(), WorkloadError> {
        if !(1..=QUEUE_DEPTH_MAX).contains(&self.queue_depth) {
            return Err(WorkloadError::QueueDepth(self.queue_depth));
        }
        let most = u64::from(self.queue_depth);
        for (what, value) in [
            ("the number of operations submitted at once", u64::from(self.submit_at_most)),
            ("the number of completions waited for", u64::from(self.reap_at_least)),
        ] {
            if value == 0 {
                return Err(WorkloadError::Zero(what));
            }
            if value > most {
                return Err(WorkloadError::TooLarge { what, value, most });
            }
        }
        if workload.batch > 1 {
            return Err(WorkloadError::BatchInFlight);
        }
        let value = most.saturating_mul(workload.request_bytes as u64);
        if value > BUFFER_BYTES_MAX {
            let what = "the queue depth times the request size, in bytes,";
            return Err(WorkloadError::TooLarge { what, value, most: BUFFER_BYTES_MAX });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::IoPath;
    use crate::operation::Operation;

    fn refused(options: UringOptions, change: fn(&mut Workload)) -> Option<WorkloadError> {
        let io_path = IoPath::IoUring(options);
        let mut workload = Workload { io_path, ..Workload::new(Operation::Read) };
        change(&mut workload);
        workload.check().err()
    }

    #[test]
    fn depths_and_batches_out_of_range_are_refused_by_name() {
        let of = |queue_depth| UringOptions::new(queue_depth, Buffering::Direct);
        for depth in [1, 2, 64, 4096] {
            assert_eq!(refused(of(depth), |_| ()), None);
        }
        for depth in [0, 4097, u32::MAX] {
            assert_eq!(refused(of(depth), |_| ()), Some(WorkloadError::QueueDepth(depth)));
        }
        for (submit_at_most, reap_at_least) in [(0, 1), (1, 0)] {
            let options = UringOptions { submit_at_most, reap_at_least, ..of(8) };
            assert!(matches!(refused(options, |_| ()), Some(WorkloadError::Zero(_))));
        }
        for (submit_at_most, reap_at_least) in [(9, 1), (1, 9)] {
            let options = UringOptions { submit_at_most, reap_at_least, ..of(8) };
            let refusal = refused(options, |_| ());
            assert!(matches!(refusal, Some(WorkloadError::TooLarge { value: 9, most: 8, .. })));
        }
        let large = refused(of(4096), |workload| workload.request_bytes = 1 << 20);
        assert!(matches!(large, Some(WorkloadError::TooLarge { .. })), "{large:?}");
    }

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
    fn what_the_path_cannot_do_is_refused_by_name() {
        let direct = UringOptions::new(8, Buffering::Direct);
        let buffered = UringOptions::new(8, Buffering::PageCache);
        for operation in Operation::ALL {
            let io_path = IoPath::IoUring(buffered);
            let refusal = Workload { io_path, ..Workload::new(operation) }.check().err();
            let expected = match operation {
                Operation::Read | Operation::Write => None,
                other => {
                    let (io_path, operation) = ("io_uring", other.name());
                    Some(WorkloadError::NoSuchPath { io_path, operation })
                }
            };
            assert_eq!(refusal, expected);
        }
        let batch = refused(direct, |workload| workload.batch = 2);
        assert_eq!(batch, Some(WorkloadError::BatchInFlight));
    }
}
