//! The hot loop of operations in flight: fill the queue, submit, look for completions, record,
//! repeat.
//!
//! Like the synchronous loop (`run_loop`), it is compiled for the clock, the access pattern and the
//! kind of operation. It takes no lock, does no atomic read-modify-write and does not allocate. The
//! parent module documents which clock readings are made, and when.
//!
//! Whatever ends the loop, nothing is in flight when it returns without an error, and everything
//! that was issued counts: a stop, or another thread being done, ends the issuing, not the
//! operations. After a failure, it also waits for the rest, unless the ring itself failed, which
//! then waits when it is dropped.

use measure::{Clock, Recorder};
use rustix::io::Errno;

use super::queue::Queue;
use super::transfers::{Kind, Transfers};
use crate::choose::Choose;
use crate::fault::Fault;
use crate::run_loop::{Halt, LoopOutcome};

/// A fault and the slot that had it, if it was not the ring's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failure {
    pub(super) fault: Fault,
    pub(super) slot: Option<u32>,
}

impl Failure {
    fn of_the_ring(errno: Errno) -> Self {
        Self { fault: Fault::errno("io_uring_enter", errno), slot: None }
    }
}

/// How far a loop has come.
struct Course {
    operations: u64,
    /// Operations issued, or abandoned.
    issued: u64,
    /// Operations issued that have neither completed nor failed.
    flying: u32,
    is_stopped: bool,
    failure: Option<Failure>,
    outcome: LoopOutcome,
}

impl Course {
    /// Stops issuing.
    fn end(&mut self) {
        self.issued = self.operations;
    }

    fn fail(&mut self, fault: Fault, slot: u32) {
        self.failure.get_or_insert(Failure { fault, slot: Some(slot) });
        self.end();
    }
}

/// The number of completions seen, and a clock reading made after that.
#[derive(Clone, Copy, Default)]
struct Seen {
    count: usize,
    at_ticks: u64,
}

/// Does `operations`, as many at once as the queue is deep, unless `halt` ends it early.
#[inline(never)]
pub(super) fn fly<K: Kind, C: Choose, Q: Queue, T: Clock>(
    transfers: &mut Transfers<C, Q>,
    operations: u64,
    clock: &T,
    recorder: &mut Recorder,
    halt: &impl Halt,
) -> Result<LoopOutcome, Failure> {
    let (issued, flying, is_stopped, failure) = (0, 0, false, None);
    let outcome = LoopOutcome::default();
    let mut course = Course { operations, issued, flying, is_stopped, failure, outcome };
    loop {
        let seen = transfers.fill::<K, _>(&mut course, clock).map_err(Failure::of_the_ring)?;
        if course.flying == 0 {
            break;
        }
        let seen = transfers.look(seen, &course, clock).map_err(Failure::of_the_ring)?;
        transfers.land::<K, _>(&mut course, seen, clock, recorder, halt);
        if halt.at_interval() {
            course.end();
        }
    }
    course.outcome.interrupted = course.is_stopped && course.outcome.operations < operations;
    match course.failure {
        Some(failure) => Err(failure),
        None => Ok(course.outcome),
    }
}

impl<C: Choose, Q: Queue> Transfers<C, Q> {
    /// Fills the queue and submits, `submit_at_most` at a time. Returns what was seen after the
    /// last submission, or nothing if there was none.
    #[inline(always)]
    fn fill<K: Kind, T: Clock>(&mut self, course: &mut Course, clock: &T) -> Result<Seen, Errno> {
        let mut seen = Seen::default();
        while self.prepare::<K>(course) {
            let issue_ticks = clock.start();
            self.queue.submit()?;
            seen.count = self.queue.ready();
            // Read after both the return and the look at the completion queue: it serves as the
            // time of both.
            seen.at_ticks = clock.end();
            let submission_ns = clock.nanos(seen.at_ticks.saturating_sub(issue_ticks));
            self.latency.submission.record_n(submission_ns, self.fresh.len() as u64);
            for &number in &self.fresh {
                let slot = &mut self.slots[number as usize];
                slot.issue_ticks = issue_ticks;
                slot.submitted_ticks = seen.at_ticks;
            }
            self.fresh.clear();
        }
        Ok(seen)
    }

    /// Pushes what is submitted next, short requests first. Returns whether there is anything to
    /// submit.
    #[inline(always)]
    fn prepare<K: Kind>(&mut self, course: &mut Course) -> bool {
        let most = self.task.options.submit_at_most;
        let mut pushed = 0;
        while pushed < most
            && let Some(number) = self.again.pop()
        {
            self.push::<K>(number);
            pushed += 1;
        }
        let room = u64::from((most - pushed).min(self.task.options.queue_depth - course.flying));
        let end = course.operations.min(course.issued + room);
        for index in course.issued..end {
            self.issue::<K>(index);
            course.flying += 1;
            pushed += 1;
        }
        course.issued = end;
        pushed > 0
    }

    /// Waits if fewer completions were seen than must be reaped.
    #[inline(always)]
    fn look<T: Clock>(&mut self, seen: Seen, course: &Course, clock: &T) -> Result<Seen, Errno> {
        let least = self.task.options.reap_at_least.min(course.flying) as usize;
        if seen.count >= least {
            return Ok(seen);
        }
        // Completions that arrived since the last look cost no system call.
        let mut count = self.queue.ready();
        while count < least {
            self.queue.wait(least)?;
            count = self.queue.ready();
        }
        Ok(Seen { count, at_ticks: clock.end() })
    }

    /// Takes the completions seen: records those that are complete, continues those that are short.
    #[inline(always)]
    fn land<K: Kind, T: Clock>(
        &mut self,
        course: &mut Course,
        seen: Seen,
        clock: &T,
        recorder: &mut Recorder,
        halt: &impl Halt,
    ) {
        let mut landed = std::mem::take(&mut self.landed);
        self.queue.reap(seen.count, &mut landed);
        for &completion in &landed {
            let number = completion.slot;
            if !self.is_whole(completion) {
                if let Err(fault) = self.go_on::<K>(completion) {
                    course.flying -= 1;
                    course.fail(fault, number);
                }
                continue;
            }
            course.flying -= 1;
            let slot = self.slots[number as usize];
            let since_ns = clock.nanos(seen.at_ticks.saturating_sub(slot.submitted_ticks));
            self.latency.completion.record(since_ns);
            if recorder.record(slot.issue_ticks, seen.at_ticks, clock) && halt.at_slice() {
                course.is_stopped = true;
                course.end();
            }
            course.outcome.operations += 1;
            course.outcome.bytes += u64::from(self.task.request_bytes);
            if let Err(fault) = self.settle::<K>(number) {
                course.fail(fault, number);
            }
        }
        landed.clear();
        self.landed = landed;
        if course.failure.is_some() {
            // Short requests are not continued.
            course.flying -= u32::try_from(self.again.len()).unwrap_or(course.flying);
            self.again.clear();
        }
    }
}

#[cfg(test)]
mod tests;
