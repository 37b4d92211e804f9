//! Running a session: threads start together, share nothing while they run except a flag that says
//! it is over, end together, and are added up afterwards.
//!
//! Each thread does its start first and waits for the others before it goes on, so that the
//! measured part begins at the same moment for all. They end together, when the first one has done
//! its operations, because only while all are running does each compete with the others. What a
//! thread does alone belongs to another benchmark.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use measure::{Clock, Recorder, SystemClock, thread_processor_ns, thread_waited_ns};
use rustix::io::Errno;

use super::course::{self, Course, Stretch};
use super::gate::{Admission, Gate};
use super::outcome::{Outcome, ThreadResult, add_up};
use super::thread_reads::thread_read_bytes;
use super::{AnyStep, Session, processes};
use crate::description::{Pinning, Workers, Workload};
use crate::error::EngineError;
use crate::processors;
use crate::round::TickSpan;
use crate::run_loop::{Halt, LoopLength, LoopOutcome};

/// The initial width of a slice of the timeline, and so the longest time for which short operations
/// can miss a stop.
pub(crate) const SLICE_NS: u64 = 100_000;

impl Session {
    /// Does the operations. With several threads, all end when the first has done its share: the
    /// others finish the interval that they are in. `stop` is checked about every 0.1 ms, or after
    /// each operation if operations take longer.
    ///
    /// The loop is compiled for either clock, and for the quick one once for each operation.
    ///
    /// # Errors
    /// The first operation that failed, in the order of threads; all threads end then.
    /// [`EngineError::AlreadyRun`] the second time.
    pub fn run(&mut self, clock: &SystemClock, stop: &AtomicBool) -> Result<Outcome, EngineError> {
        match clock {
            SystemClock::Tsc(clock) => self.run_with(clock, stop),
            SystemClock::Monotonic(clock) => self.run_with(clock, stop),
        }
    }

    /// Like [`Session::run`], with a clock of any type. Whoever passes another one than the two
    /// above compiles the loops of all operations again.
    ///
    /// # Errors
    /// As for [`Session::run`].
    pub fn run_with<C: Clock>(
        &mut self,
        clock: &C,
        stop: &AtomicBool,
    ) -> Result<Outcome, EngineError> {
        let steps = std::mem::take(&mut self.steps);
        if steps.is_empty() {
            return Err(EngineError::AlreadyRun);
        }
        run_steps(&self.workload, steps, clock, stop).map_err(|trouble| match trouble {
            WorkerError::Engine(error) => error,
            WorkerError::Call(call, errno) => EngineError::from_errno(call, self.root(), errno),
        })
    }
}

/// Runs these steps, each in its own worker.
pub(super) fn run_steps<C: Clock>(
    workload: &Workload,
    steps: Vec<AnyStep>,
    clock: &C,
    stop: &AtomicBool,
) -> Result<Outcome, WorkerError> {
    let allowed =
        processors::allowed().map_err(|errno| WorkerError::Call("sched_getaffinity", errno))?;
    let rendezvous = Rendezvous {
        gate: Gate::new(steps.len(), allowed.len()),
        rounds_over: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
    };
    let processors = match workload.pinning {
        Pinning::Off => Vec::new(),
        Pinning::EachToOneProcessor => allowed,
    };
    let origin_ticks = clock.ticks();
    let (here, shared);
    let rendezvous = match workload.workers {
        Workers::Threads => {
            here = rendezvous;
            &here
        }
        Workers::Processes => {
            let mapped = processes::SharedMapping::new(rendezvous);
            shared =
                mapped.map_err(|error| WorkerError::Engine(EngineError::from_worker(&error)))?;
            &*shared
        }
    };
    let start = SharedRun { clock, stop, workload, processors, origin_ticks, rendezvous };
    let parts = match workload.workers {
        Workers::Threads => start.run_all(steps),
        Workers::Processes => processes::run_all(&start, steps),
    };
    let parts = parts.map_err(|error| match Errno::from_io_error(&error) {
        Some(errno) => WorkerError::Call("clone", errno),
        None => WorkerError::Engine(EngineError::from_worker(&error)),
    })?;
    let parts: Result<Vec<ThreadResult>, WorkerError> = parts.into_iter().collect();
    parts.map(|parts| add_up(parts, clock))
}

/// What threads share. While operations run, all of it is read-only except the flags that a round,
/// or the whole run, is over, which are written at its end.
pub(super) struct SharedRun<'a, C> {
    pub(super) clock: &'a C,
    stop: &'a AtomicBool,
    pub(super) workload: &'a Workload,
    processors: Vec<usize>,
    origin_ticks: u64,
    pub(super) rendezvous: &'a Rendezvous,
}

/// How threads start together and end together.
pub(super) struct Rendezvous {
    /// Where they wait for each other: before the start, after it, and around each round.
    pub(super) gate: Gate,
    /// The number of rounds that some thread has finished.
    pub(super) rounds_over: AtomicU64,
    /// Whether some thread has finished its operations, or failed.
    is_over: AtomicBool,
}

impl Rendezvous {
    /// Releases the threads that wait, and ends those that run.
    pub(super) fn call_off(&self) {
        self.gate.call_off();
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Releases the threads that wait for this one if it panics.
struct CallOffOnPanic<'a>(&'a Rendezvous);

impl Drop for CallOffOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.call_off();
        }
    }
}

/// Why a thread has no result.
#[derive(Debug)]
pub(super) enum WorkerError {
    Engine(EngineError),
    /// A system call for the worker itself failed.
    Call(&'static str, Errno),
}

impl<C: Clock> SharedRun<'_, C> {
    /// Runs each step in its own thread. Fails if a thread cannot be started, in which case none
    /// has run.
    fn run_all(
        &self,
        steps: Vec<AnyStep>,
    ) -> std::io::Result<Vec<Result<ThreadResult, WorkerError>>> {
        thread::scope(|scope| {
            let mut threads = Vec::with_capacity(steps.len());
            for (number, step) in steps.into_iter().enumerate() {
                let body = move || self.run_one(number, step);
                match thread::Builder::new().spawn_scoped(scope, body) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        self.rendezvous.call_off();
                        return Err(error);
                    }
                }
            }
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            Ok(threads.into_iter().map(join).collect())
        })
    }

    /// Runs one step in the calling thread.
    pub(super) fn run_one(
        &self,
        number: usize,
        mut step: AnyStep,
    ) -> Result<ThreadResult, WorkerError> {
        let _frees_the_others = CallOffOnPanic(self.rendezvous);
        let ready = processors::stay_on(&self.processors, number)
            .map_err(|errno| WorkerError::Call("sched_setaffinity", errno))
            .and_then(|()| step.make_ready().map_err(WorkerError::Engine));
        // Made here, so that its memory is near the processor where it is used.
        let recorder = Recorder::new(self.origin_ticks, self.clock.ticks_of(SLICE_NS));
        if ready.is_err() {
            self.rendezvous.is_over.store(true, Ordering::Relaxed);
        }
        let verdict = self.rendezvous.gate.arrive();
        if ready.is_err() {
            // Only after arriving, so that the others get through the gate and see `is_over`.
            self.rendezvous.call_off();
        }
        ready?;
        if verdict == Admission::CalledOff {
            return Err(WorkerError::Call("clone", Errno::CANCELED));
        }
        if self.workload.threads == 1 {
            self.run_phases(step, recorder, &LoneHalt { stop: self.stop })
        } else {
            self.run_phases(step, recorder, &self.halt())
        }
    }

    /// Ends the loops of this thread with those of the others.
    pub(super) fn halt(&self) -> ThreadHalt<'_> {
        ThreadHalt { stop: self.stop, is_over: &self.rendezvous.is_over }
    }

    /// Runs the start, then the measured operations.
    fn run_phases(
        &self,
        mut step: AnyStep,
        mut recorder: Recorder,
        halt: &impl Halt,
    ) -> Result<ThreadResult, WorkerError> {
        let start = self.start(&mut step, halt);
        let is_cut_short = start.as_ref().map_or(true, |start| start.is_cut_short);
        // Read before waiting for the others, because it takes longer than an operation.
        let start_read_bytes = match self.workload.start_operations {
            0 => Some(0),
            _ => thread_read_bytes(),
        };
        let waited_before_ns = thread_waited_ns();
        if is_cut_short {
            self.rendezvous.call_off();
        } else {
            self.rendezvous.gate.arrive();
        }
        let start = start?;
        let processor_before_ns = thread_processor_ns();
        let start_ticks = self.clock.ticks();
        // Time before this does not belong to the recorded operations.
        recorder.begin_at(start_ticks);
        let steady = self.steady(&mut step, &mut recorder, halt, &start);
        // Also if this thread failed: there is nothing left to measure then.
        self.rendezvous.is_over.store(true, Ordering::Relaxed);
        if steady.as_ref().map_or(true, |steady| steady.0.interrupted) {
            // This thread will not reach another round.
            self.rendezvous.gate.call_off();
        }
        let end_ticks = self.clock.ticks();
        let thread_ns = thread_processor_ns();
        let waited_ns = thread_waited_ns().zip(waited_before_ns);
        let read_bytes = thread_read_bytes();
        let (outcome, steady, rounds) = steady.map_err(WorkerError::Engine)?;
        Ok(ThreadResult {
            recorder,
            outcome: LoopOutcome { interrupted: outcome.interrupted || is_cut_short, ..outcome },
            course: Course { start: start.stretches, steady },
            processor_ns: thread_ns.saturating_sub(processor_before_ns),
            thread_ns,
            waited_ns: waited_ns.map(|(now, before)| now.saturating_sub(before)),
            read_bytes,
            start_read_bytes,
            checked_bytes: step.checked_bytes(),
            tally: step.tally(),
            asynchronous: step.into_asynchronous_latency(),
            whole: TickSpan { start_ticks, end_ticks },
            rounds,
        })
    }

    /// Does the operations of the start, in stretches that are each as long as all before it.
    fn start(&self, step: &mut AnyStep, halt: &impl Halt) -> Result<StartOutcome, WorkerError> {
        let Workload { start_operations, batch, .. } = *self.workload;
        let lengths = course::doubling(start_operations, batch as u64);
        if lengths.is_empty() {
            return Ok(StartOutcome::default());
        }
        let mut recorder = Recorder::new(self.origin_ticks, self.clock.ticks_of(SLICE_NS));
        recorder.begin_at(self.clock.ticks());
        let (outcome, stretches) = self
            .in_stretches(step, 0, &lengths, &mut recorder, halt)
            .map_err(WorkerError::Engine)?;
        let is_cut_short = outcome.interrupted || outcome.operations < start_operations;
        Ok(StartOutcome { stretches, is_cut_short })
    }

    /// Does the measured operations, and what the step does at its end.
    fn steady(
        &self,
        step: &mut AnyStep,
        recorder: &mut Recorder,
        halt: &impl Halt,
        start: &StartOutcome,
    ) -> Result<(LoopOutcome, Vec<Stretch>, Vec<TickSpan>), EngineError> {
        let Workload { start_operations, operations_per_thread, batch, .. } = *self.workload;
        if start.is_cut_short {
            return Ok((LoopOutcome::default(), Vec::new(), Vec::new()));
        }
        let lengths = course::equal(operations_per_thread, batch as u64);
        let done = if step.is_in_flight() {
            let length = LoopLength { first: 0, operations: operations_per_thread, batch };
            (step.run(length, self.clock, recorder, halt)?, Vec::new(), Vec::new())
        } else if self.workload.operations_per_round > 1 {
            self.in_rounds(step, start_operations, &lengths, recorder)?
        } else {
            let (outcome, stretches) =
                self.in_stretches(step, start_operations, &lengths, recorder, halt)?;
            (outcome, stretches, Vec::new())
        };
        step.end()?;
        Ok(done)
    }

    /// Runs stretches of these lengths one after the other, until one ends early.
    fn in_stretches(
        &self,
        step: &mut AnyStep,
        mut first: u64,
        lengths: &[u64],
        recorder: &mut Recorder,
        halt: &impl Halt,
    ) -> Result<(LoopOutcome, Vec<Stretch>), EngineError> {
        let mut outcome = LoopOutcome::default();
        let mut stretches = Vec::with_capacity(lengths.len());
        for &operations in lengths {
            let length = LoopLength { first, operations, batch: self.workload.batch };
            let busy_before_ns = recorder.busy_ns();
            let done = step.run(length, self.clock, recorder, halt)?;
            let busy_ns = recorder.busy_ns() - busy_before_ns;
            stretches.push(Stretch { operations: done.operations, busy_ns });
            outcome = course::together(outcome, done);
            first += done.operations;
            if done.operations < operations {
                break;
            }
        }
        Ok((outcome, stretches))
    }
}

/// A start that was completed or cut short.
#[derive(Debug, Default)]
struct StartOutcome {
    stretches: Vec<Stretch>,
    /// Whether the run was stopped, or another thread failed, before the start was done.
    is_cut_short: bool,
}

/// Ends the loop of a single thread.
pub(super) struct LoneHalt<'a> {
    pub(super) stop: &'a AtomicBool,
}

impl Halt for LoneHalt<'_> {
    #[inline(always)]
    fn at_slice(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Ends the loop of one of several threads.
pub(super) struct ThreadHalt<'a> {
    stop: &'a AtomicBool,
    is_over: &'a AtomicBool,
}

impl Halt for ThreadHalt<'_> {
    #[inline(always)]
    fn at_slice(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn at_interval(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_in_company_end_when_it_is_over_and_are_interrupted_when_stopped() {
        let (stop, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let halt = ThreadHalt { stop: &stop, is_over: &is_over };
        assert_eq!((halt.at_slice(), halt.at_interval()), (false, false));
        is_over.store(true, Ordering::Relaxed);
        assert_eq!((halt.at_slice(), halt.at_interval()), (false, true));
        stop.store(true, Ordering::Relaxed);
        assert!(halt.at_slice());
    }
}
