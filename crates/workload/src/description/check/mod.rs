//! Which workloads can be executed: checked before anything is made.

use super::{DirectorySync, Workers, Workload};
use crate::choose::Access;
use crate::error::WorkloadError;
use crate::io_path::{Caching, CallFlag, IoPath, Preadv2Options, UringOptions};
use crate::names::{NUMBERS, NUMBERS_PER_THREAD};
use crate::operation::{DataOperation, Operation, Subject};

/// The most operations that one thread may keep in flight.
const QUEUE_DEPTH_MAX: u32 = 4096;

/// The most bytes for all buffers of one thread: io_uring's limit for a single buffer
/// (`io_buffer_validate` in the kernel's `io_uring/rsrc.c`), applied to their sum.
const BUFFER_BYTES_MAX: u64 = 1 << 30;

impl Workload {
    /// Checks what can be checked without a file set.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), WorkloadError> {
        self.check_counts()?;
        if let Access::Zipf { exponent } = self.access
            && !(exponent.is_finite() && exponent >= 0.0)
        {
            return Err(WorkloadError::ZipfExponent(exponent));
        }
        self.check_shares()?;
        check_io_path(self)?;
        if self.slots() > 1 && !self.operation.can_batch() {
            return Err(WorkloadError::NoBatch(self.operation.name()));
        }
        let is_in_flight = matches!(self.io_path, IoPath::IoUring(_));
        // Operations that a round prepared but did not reach are prepared again in the next round.
        let cannot_be_prepared_twice =
            self.operation.removes_names() || self.operation == Operation::Rename;
        let has_no_rounds = self.batch > 1 || is_in_flight || cannot_be_prepared_twice;
        if self.operations_per_round > 1 && has_no_rounds {
            return Err(WorkloadError::NoRounds);
        }
        let is_psync = matches!(self.io_path, IoPath::PsyncBuffered | IoPath::PsyncDirect);
        if self.workers == Workers::Processes && !is_psync {
            return Err(WorkloadError::NotInProcesses);
        }
        let syncs = self.directory_sync == DirectorySync::EachOperation;
        if syncs && !self.operation.changes_directories() {
            return Err(WorkloadError::NothingToSync(self.operation.name()));
        }
        match self.io_path {
            IoPath::IoUring(_) if self.start_operations > 0 => Err(WorkloadError::NoStart),
            IoPath::IoUring(options) => check_uring(self, options),
            IoPath::PsyncBuffered
            | IoPath::PsyncDirect
            | IoPath::Mmap(_)
            | IoPath::Preadv2(_)
            | IoPath::Stdio(_) => Ok(()),
        }
    }

    fn check_shares(&self) -> Result<(), WorkloadError> {
        let read_percent = match self.operation.subject() {
            Subject::Data(DataOperation::Mixed { read_percent }) => read_percent,
            Subject::Data(_) | Subject::Growing(_) | Subject::Names(..) => 0,
        };
        let sequential_percent = if let Access::Mixed { sequential_percent } = self.access {
            sequential_percent
        } else {
            0
        };
        let shares = [
            ("the percentage of reads", read_percent),
            ("the percentage of sequential accesses", sequential_percent),
        ];
        match shares.into_iter().find(|(_, percent)| *percent > 100) {
            Some((what, percent)) => {
                Err(WorkloadError::TooLarge { what, value: u64::from(percent), most: 100 })
            }
            None => Ok(()),
        }
    }

    fn check_counts(&self) -> Result<(), WorkloadError> {
        let counts = [
            ("the request size", self.request_bytes as u64, 1 << 30),
            ("the number of threads", self.threads as u64, NUMBERS / NUMBERS_PER_THREAD),
            ("the number of operations", self.operations_per_thread, NUMBERS_PER_THREAD),
            ("the batch", self.batch as u64, 1 << 20),
            ("the round", self.operations_per_round as u64, 1 << 10),
        ];
        for (what, value, most) in counts {
            if value == 0 {
                return Err(WorkloadError::Zero(what));
            }
            if value > most {
                return Err(WorkloadError::TooLarge { what, value, most });
            }
        }
        let (value, most) = (self.all_operations(), NUMBERS_PER_THREAD);
        if value > most {
            let what = "the number of operations";
            return Err(WorkloadError::TooLarge { what, value, most });
        }
        Ok(())
    }
}

/// Checks that the I/O path can carry the operation, and the options of `preadv2`.
fn check_io_path(workload: &Workload) -> Result<(), WorkloadError> {
    let Workload { operation, io_path, .. } = *workload;
    let is_transfer = operation.moves_data_in_place();
    let is_flagged_append = operation == Operation::Append && matches!(io_path, IoPath::Preadv2(_));
    if !(io_path.is_psync() || is_transfer || is_flagged_append) {
        let (io_path, operation) = (io_path.name(), operation.name());
        return Err(WorkloadError::NoSuchPath { io_path, operation });
    }
    if let IoPath::Preadv2(options) = io_path { check_preadv2(workload, options) } else { Ok(()) }
}

fn check_preadv2(workload: &Workload, options: Preadv2Options) -> Result<(), WorkloadError> {
    let Preadv2Options { flags, segments, caching } = options;
    let operation = workload.operation;
    if segments == 0 {
        return Err(WorkloadError::Zero("the number of segments"));
    }
    let (value, most) = (segments as u64, Preadv2Options::SEGMENTS as u64);
    if value > most {
        return Err(WorkloadError::TooLarge { what: "the number of segments", value, most });
    }
    let is_append = operation == Operation::Append;
    let contradictions = [
        (!workload.request_bytes.is_multiple_of(segments), "segments that divide the request size"),
        (
            flags.contains(CallFlag::Hipri) && caching == Caching::Buffered,
            "direct I/O with RWF_HIPRI",
        ),
        (
            flags.contains(CallFlag::DontCache) && caching == Caching::Direct,
            "the page cache with RWF_DONTCACHE",
        ),
        (
            operation == Operation::Read && flags != flags.for_reads(),
            "no RWF_DSYNC, RWF_SYNC or RWF_APPEND, which apply only to writes",
        ),
        (
            flags.contains(CallFlag::Append) != is_append,
            "RWF_APPEND for the operation append, and for no other",
        ),
    ];
    match contradictions.into_iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, wanted)) => Err(WorkloadError::Preadv2 { wanted }),
        None => Ok(()),
    }
}

/// Checks the options of io_uring, as far as that is possible without a kernel.
fn check_uring(workload: &Workload, options: UringOptions) -> Result<(), WorkloadError> {
    if !(1..=QUEUE_DEPTH_MAX).contains(&options.queue_depth) {
        return Err(WorkloadError::QueueDepth(options.queue_depth));
    }
    let most = u64::from(options.queue_depth);
    for (what, value) in [
        ("the number of operations submitted at once", u64::from(options.submit_at_most)),
        ("the number of completions waited for", u64::from(options.reap_at_least)),
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

#[cfg(test)]
mod tests;
