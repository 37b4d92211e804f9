//! Reads and writes by io_uring: many in flight at once, from one thread.
//!
//! A thread has a ring of its own. It fills the queue up to its depth, hands what is new to the
//! kernel with one `io_uring_enter`, takes all completions that there are, waiting for one only
//! where there is none, and fills the queue again. Files and buffers are registered, so that the
//! kernel neither looks up a descriptor nor pins a page per operation.
//!
//! # What is timed
//!
//! Three readings of the clock matter to an operation:
//!
//! - *issue*: its submission queue entry is written, and the `io_uring_enter` that submits it comes
//!   next. Entries that are submitted together share the reading.
//! - *submitted*: that call has returned. Shared likewise.
//! - *completed*: its completion queue entry has been seen. Those that were seen at one look at the
//!   completion queue share the reading, which is made after the look and before the first of them
//!   is worked on. One reading for each would add to every operation what the harness does with
//!   those in front of it.
//!
//! The latency of an operation, in [`crate::Outcome::recorder`], is from issue to completed; its
//! submission latency is from issue to submitted, its completion latency from submitted to
//! completed. The two add up to the latency, each rounded to the nanosecond. An operation that is
//! complete when the submitting call returns, as reads of cached pages are, has a completion
//! latency of 0: the look at the completion queue after that call and its return share a reading.
//!
//! Of fio's words (HOWTO, "Interpreting the output"), `slat` is our submission latency, `clat` our
//! completion latency and `lat` our latency, with these differences. fio begins an operation when
//! it has been prepared, before it is queued, so that its `slat` and `lat` hold the preparation of
//! those that are submitted with it as well; ours begin with the call that submits all of them.
//! fio looks at the completion queue after another reading than the one that ends the submission,
//! so its `clat` of what was complete at once is how long it takes to look. Both share one
//! completion time among those that were reaped together (fio: `init_icd` in `io_u.c`).
//!
//! # What the rate is
//!
//! Operations divided by the time that elapsed. Little's law says the same: the mean number in
//! flight is the sum of all latencies divided by the time, and that divided by the mean latency
//! gives operations per time. There are no untimed parts to leave out, for while the thread chooses
//! the next offset others are in flight. Checking content slows a run down, therefore.
//!
//! # Flags
//!
//! The ring is set up so that completions are worked on where the thread asks for them
//! (`IORING_SETUP_DEFER_TASKRUN` with `IORING_SETUP_SINGLE_ISSUER`, Linux 6.1), else at its next
//! system call (`IORING_SETUP_COOP_TASKRUN`, Linux 5.19), else by interrupting it;
//! [`AsynchronousLatency::task_work`] says which. That decides what a completion costs the thread,
//! not what is read or written or in which order. fio does the same. Neither kernel-side polling of
//! the submission queue nor polled completion is asked for.
//!
//! # What keeps memory safe
//!
//! The kernel writes into buffers while we do other things. [`ring`] owns both ring and buffers,
//! gives nobody a buffer whose operation is in flight, and waits for all operations before buffers
//! are freed, on every path, a panic included.

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
