//! Running a session: threads that start together, share nothing while they run, and are added up
//! afterwards.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use measure::{Clock, Recorder};
use rustix::io::Errno;

use super::gate::{Gate, Verdict};
use super::{AnyStep, Session, pin};
use crate::description::{Pinning, Workload};
use crate::error::EngineError;
use crate::run_loop::{LoopLength, LoopOutcome};

/// The width of a slice of the timeline at first; also how long a stop can go unseen by short
/// operations.
pub(crate) const SLICE_NS: u64 = 100_000;

/// What one replicate was.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Every operation of every thread.
    pub recorder: Recorder,
    /// Bytes moved by timed calls.
    pub bytes: u64,
    /// From the start of the first thread to the end of the last.
    pub elapsed_ns: u64,
    /// The sum over threads of operations per second of time spent in operations. 0 if no time
    /// passed in them.
    pub rate_per_s: f64,
    /// Each thread's part.
    pub threads: Vec<ThreadOutcome>,
    /// Bytes that verification compared, and found right.
    pub checked_bytes: u64,
    /// Whether the stop flag ended it before the last operation.
    pub interrupted: bool,
}

/// One thread's part of an [`Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadOutcome {
    /// Operations done.
    pub operations: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// Time spent in timed intervals.
    pub busy_ns: u64,
    /// From start to end, untimed parts and all.
    pub elapsed_ns: u64,
}

impl Session {
    /// Does the operations. `stop` is looked at about every 0.1 ms, and after every operation that
    /// takes longer.
    ///
    /// For the shortest loop, call it with one of the clocks that [`measure::SystemClock`] chooses
    /// between.
    ///
    /// # Errors
    /// The first operation that failed, in the order of threads; all threads end then.
    /// [`EngineError::AlreadyRun`] the second time.
    pub fn run<C: Clock>(&mut self, clock: &C, stop: &AtomicBool) -> Result<Outcome, EngineError> {
        let steps = std::mem::take(&mut self.steps);
        if steps.is_empty() {
            return Err(EngineError::AlreadyRun);
        }
        let failed_to = |operation, errno| EngineError::from_errno(operation, self.root(), errno);
        let processors = match self.workload.pinning {
            Pinning::Off => Vec::new(),
            Pinning::EachToOneProcessor => {
                pin::allowed_processors().map_err(|errno| failed_to("sched_getaffinity", errno))?
            }
        };
        let start = Start {
            clock,
            stop,
            workload: &self.workload,
            processors,
            origin_ticks: clock.ticks(),
            gate: Gate::default(),
            has_failed: AtomicBool::new(false),
        };
        let parts = start.run_all(steps).map_err(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
            failed_to("clone", errno)
        })?;
        let parts: Result<Vec<Part>, Trouble> = parts.into_iter().collect();
        match parts {
            Ok(parts) => Ok(add_up(parts, clock)),
            Err(Trouble::Engine(error)) => Err(error),
            Err(Trouble::Pinning(errno)) => Err(failed_to("sched_setaffinity", errno)),
        }
    }
}

/// What threads have in common: all of it read-only but for the failure, which is written once.
struct Start<'a, C> {
    clock: &'a C,
    stop: &'a AtomicBool,
    workload: &'a Workload,
    processors: Vec<usize>,
    origin_ticks: u64,
    gate: Gate,
    has_failed: AtomicBool,
}

/// What one thread brings home.
struct Part {
    recorder: Recorder,
    outcome: LoopOutcome,
    checked_bytes: u64,
    start_ticks: u64,
    end_ticks: u64,
}

/// Why a thread brings nothing home.
enum Trouble {
    Engine(EngineError),
    Pinning(Errno),
}

impl<C: Clock> Start<'_, C> {
    /// Runs each step in a thread of its own. Fails if a thread cannot be started; none has run
    /// then.
    fn run_all(&self, steps: Vec<AnyStep>) -> std::io::Result<Vec<Result<Part, Trouble>>> {
        thread::scope(|scope| {
            let mut threads = Vec::with_capacity(steps.len());
            for (number, step) in steps.into_iter().enumerate() {
                let body = move || self.run_one(number, step);
                match thread::Builder::new().spawn_scoped(scope, body) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        self.gate.call_off();
                        return Err(error);
                    }
                }
            }
            self.gate.open(threads.len());
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            Ok(threads.into_iter().map(join).collect())
        })
    }

    fn run_one(&self, number: usize, mut step: AnyStep) -> Result<Part, Trouble> {
        let pinned = pin::stay_on(&self.processors, number).map_err(Trouble::Pinning);
        // Made here, so that it lies near the processor it is used on.
        let slice_ticks = self.clock.ticks_of(SLICE_NS);
        let mut recorder = Recorder::new(self.origin_ticks, slice_ticks);
        let length = LoopLength {
            operations: self.workload.operations_per_thread,
            batch: self.workload.batch,
        };
        let verdict = self.gate.arrive();
        pinned?;
        if verdict == Verdict::CalledOff {
            return Err(Trouble::Pinning(Errno::CANCELED));
        }
        let start_ticks = self.clock.ticks();
        // Time before this is the gate's, not the operations'.
        recorder.begin_at(start_ticks);
        let ended = step.run(length, self.clock, &mut recorder, || self.is_halted());
        let end_ticks = self.clock.ticks();
        if ended.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        let outcome = ended.map_err(Trouble::Engine)?;
        let checked_bytes = step.checked_bytes();
        Ok(Part { recorder, outcome, checked_bytes, start_ticks, end_ticks })
    }

    fn is_halted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.has_failed.load(Ordering::Relaxed)
    }
}

fn add_up(parts: Vec<Part>, clock: &impl Clock) -> Outcome {
    let first_start = parts.iter().map(|part| part.start_ticks).min().unwrap_or(0);
    let last_end = parts.iter().map(|part| part.end_ticks).max().unwrap_or(0);
    let threads: Vec<_> = parts
        .iter()
        .map(|part| ThreadOutcome {
            operations: part.outcome.operations,
            bytes: part.outcome.bytes,
            busy_ns: part.recorder.busy_ns(),
            elapsed_ns: clock.nanos(part.end_ticks.saturating_sub(part.start_ticks)),
        })
        .collect();
    let rate = |thread: &ThreadOutcome| match thread.busy_ns {
        0 => 0.0,
        busy_ns => thread.operations as f64 * 1e9 / busy_ns as f64,
    };
    Outcome {
        bytes: threads.iter().map(|thread| thread.bytes).sum(),
        elapsed_ns: clock.nanos(last_end.saturating_sub(first_start)),
        rate_per_s: threads.iter().map(rate).sum(),
        checked_bytes: parts.iter().map(|part| part.checked_bytes).sum(),
        interrupted: parts.iter().any(|part| part.outcome.interrupted),
        recorder: merged(parts),
        threads,
    }
}

fn merged(parts: Vec<Part>) -> Recorder {
    let mut recorders = parts.into_iter().map(|part| part.recorder);
    let mut all = recorders.next().unwrap_or_else(|| Recorder::new(0, 1));
    for recorder in recorders {
        all.merge(&recorder);
    }
    all
}
