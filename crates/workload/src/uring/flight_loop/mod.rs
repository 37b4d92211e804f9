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
use super::transfers::{TransferKind, Transfers};
use crate::choose::Choose;
use crate::fault::Fault;
use crate::run_loop::{Halt, LoopOutcome};

/// A fault and the slot that had it, if it was not the ring's.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlightFailure {
    pub(super) fault: Fault,
    pub(super) slot: Option<u32>,
}

impl FlightFailure {
    fn from_ring_errno(errno: Errno) -> Self {
        Self { fault: Fault::errno("io_uring_enter", errno), slot: None }
    }
}

/// How far a loop has come.
struct FlightState {
    operations: u64,
    /// Operations issued, or abandoned.
    issued: u64,
    /// Operations issued that have neither completed nor failed.
    flying: u32,
    is_stopped: bool,
    failure: Option<FlightFailure>,
    outcome: LoopOutcome,
}

impl FlightState {
    /// Stops issuing.
    fn end(&mut self) {
        self.issued = self.operations;
    }

    fn fail(&mut self, fault: Fault, slot: u32) {
        self.failure.get_or_insert(FlightFailure { fault, slot: Some(slot) });
        self.end();
    }
}

/// The number of completions seen, and a clock reading made after that.
#[derive(Clone, Copy, Default)]
struct CompletionsSeen {
    count: usize,
    at_ticks: u64,
}

/// Does `operations`, as many at once as the queue is deep, unless `halt` ends it early.
#[inline(never)]
pub(super) fn fly<K: TransferKind, C: Choose, Q: Queue, T: Clock>(
    transfers: &mut Transfers<C, Q>,
    operations: u64,
    clock: &T,
    recorder: &mut Recorder,
    halt: &impl Halt,
) -> Result<LoopOutcome, FlightFailure> {
    let (issued, flying, is_stopped, failure) = (0, 0, false, None);
    let outcome = LoopOutcome::default();
    let mut flight = FlightState { operations, issued, flying, is_stopped, failure, outcome };
    loop {
        let seen =
            transfers.fill::<K, _>(&mut flight, clock).map_err(FlightFailure::from_ring_errno)?;
        if flight.flying == 0 {
            break;
        }
        let seen = transfers.look(seen, &flight, clock).map_err(FlightFailure::from_ring_errno)?;
        transfers.land::<K, _>(&mut flight, seen, clock, recorder, halt);
        if halt.at_interval() {
            flight.end();
        }
    }
    flight.outcome.interrupted = flight.is_stopped && flight.outcome.operations < operations;
    match flight.failure {
        Some(failure) => Err(failure),
        None => Ok(flight.outcome),
    }
}

impl<C: Choose, Q: Queue> Transfers<C, Q> {
    /// Fills the queue and submits, `submit_at_most` at a time. Returns what was seen after the
    /// last submission, or nothing if there was none.
    #[inline(always)]
    fn fill<K: TransferKind, T: Clock>(
        &mut self,
        flight: &mut FlightState,
        clock: &T,
    ) -> Result<CompletionsSeen, Errno> {
        let mut seen = CompletionsSeen::default();
        while self.prepare::<K>(flight) {
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
    fn prepare<K: TransferKind>(&mut self, flight: &mut FlightState) -> bool {
        let most = self.task.options.submit_at_most;
        let mut pushed = 0;
        while pushed < most
            && let Some(number) = self.again.pop()
        {
            self.push::<K>(number);
            pushed += 1;
        }
        let room = u64::from((most - pushed).min(self.task.options.queue_depth - flight.flying));
        let end = flight.operations.min(flight.issued + room);
        for index in flight.issued..end {
            self.issue::<K>(index);
            flight.flying += 1;
            pushed += 1;
        }
        flight.issued = end;
        pushed > 0
    }

    /// Waits if fewer completions were seen than must be reaped.
    #[inline(always)]
    fn look<T: Clock>(
        &mut self,
        seen: CompletionsSeen,
        flight: &FlightState,
        clock: &T,
    ) -> Result<CompletionsSeen, Errno> {
        let least = self.task.options.reap_at_least.min(flight.flying) as usize;
        if seen.count >= least {
            return Ok(seen);
        }
        // Completions that arrived since the last look cost no system call.
        let mut count = self.queue.ready();
        while count < least {
            self.queue.wait(least)?;
            count = self.queue.ready();
        }
        Ok(CompletionsSeen { count, at_ticks: clock.end() })
    }

    /// Takes the completions seen: records those that are complete, continues those that are short.
    #[inline(always)]
    fn land<K: TransferKind, T: Clock>(
        &mut self,
        flight: &mut FlightState,
        seen: CompletionsSeen,
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
                    flight.flying -= 1;
                    flight.fail(fault, number);
                }
                continue;
            }
            flight.flying -= 1;
            let slot = self.slots[number as usize];
            let since_ns = clock.nanos(seen.at_ticks.saturating_sub(slot.submitted_ticks));
            self.latency.completion.record(since_ns);
            if recorder.record(slot.issue_ticks, seen.at_ticks, clock) && halt.at_slice() {
                flight.is_stopped = true;
                flight.end();
            }
            flight.outcome.operations += 1;
            flight.outcome.bytes += u64::from(self.task.request_bytes);
            if let Err(fault) = self.settle::<K>(number) {
                flight.fail(fault, number);
            }
        }
        landed.clear();
        self.landed = landed;
        if flight.failure.is_some() {
            // Short requests are not continued.
            flight.flying -= u32::try_from(self.again.len()).unwrap_or(flight.flying);
            self.again.clear();
        }
    }
}

#[cfg(test)]
mod tests;
