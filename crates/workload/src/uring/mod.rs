//! Reads and writes by io_uring: many in flight at once, from one thread.
//!
//! Each thread has its own ring. It fills the queue up to its depth, hands new entries to the
//! kernel with one `io_uring_enter`, takes all available completions, waiting for one only if there
//! are none, and fills the queue again. Files and buffers are registered, so that the kernel
//! neither looks up a descriptor nor pins a page per operation.
//!
//! # What is timed
//!
//! Three clock readings matter to an operation:
//!
//! - *issue*: its submission queue entry is written, and the `io_uring_enter` that submits it comes
//!   next. Entries that are submitted together share the reading.
//! - *submitted*: that call has returned. Shared in the same way.
//! - *completed*: its completion queue entry has been seen. Entries seen at the same look at the
//!   completion queue share the reading, which is made after the look and before the first of them
//!   is processed. A separate reading for each would add to every operation the time that the
//!   harness takes to process those before it.
//!
//! The latency of an operation, in [`crate::Outcome::recorder`], is from issue to completed. Its
//! submission latency is from issue to submitted, its completion latency from submitted to
//! completed. The two add up to the latency, each rounded to the nanosecond. An operation that is
//! complete when the submitting call returns, such as a read of cached pages, has a completion
//! latency of 0: the return of that call and the look at the completion queue after it share a
//! reading.
//!
//! In fio's terms (HOWTO, "Interpreting the output"), `slat` is our submission latency, `clat` our
//! completion latency and `lat` our latency, with these differences. For fio, an operation begins
//! when it has been prepared, before it is queued, so `slat` and `lat` also include the preparation
//! of the others submitted with it; ours begin with the call that submits them all. fio looks at
//! the completion queue after another reading than the one that ends the submission, so its `clat`
//! of an operation that completed at once is the time it takes to look. Both give the same
//! completion time to all operations reaped together (fio: `init_icd` in `io_u.c`).
//!
//! # What the rate is
//!
//! Operations divided by elapsed time. Little's law gives the same result: the mean number in
//! flight is the sum of all latencies divided by the time, and dividing that by the mean latency
//! gives operations per time. There is no untimed work to subtract, because other operations are in
//! flight while the thread chooses the next offset. Checking content therefore slows a run down.
//!
//! # Flags
//!
//! The ring is set up so that completions are processed when the thread asks for them
//! (`IORING_SETUP_DEFER_TASKRUN` with `IORING_SETUP_SINGLE_ISSUER`, Linux 6.1), else at its next
//! system call (`IORING_SETUP_COOP_TASKRUN`, Linux 5.19), else by interrupting it;
//! [`AsynchronousLatency::task_work`] says which. This affects what a completion costs the thread,
//! but not what is read or written or in which order. fio does the same. Neither kernel-side
//! polling of the submission queue nor polled completion is used.
//!
//! # Memory safety
//!
//! The kernel writes into buffers while we do other things. [`ring`] owns both ring and buffers,
//! never lends out a buffer whose operation is in flight, and waits for all operations before
//! buffers are freed, on every path, including panics.

mod availability;
mod flight_loop;
mod latency;
mod queue;
mod ring;
mod task_work;
mod transfers;

pub use availability::{io_uring_availability, io_uring_buffers};
pub use latency::AsynchronousLatency;
pub use task_work::TaskWork;
pub(crate) use transfers::{AnyTransfers, Task};
