//! Running a session with the program's own code between its operations.

use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::thread;

use measure::SystemClock;

use super::step_maker::StepMaker;
use super::{Plan, Session};
use crate::calls::Functions;
use crate::description::Workload;
use crate::error::{EngineError, WorkloadError};
use crate::file_set::FileSet;
use crate::interleave::{Interleaved, Interleaving};
use crate::processors;

impl Session {
    /// Does the operations with code between them, in a thread of its own that stays on one
    /// processor. The workload must have one thread, [batches](crate::Workload::batch) as long as a
    /// stretch, and operations for all turns. Returns None if it was told to stop.
    ///
    /// # Errors
    /// The first operation that failed; [`EngineError::AlreadyRun`] the second time;
    /// [`WorkloadError::NotInterleaved`] for another workload.
    pub fn interleave(
        &mut self,
        plan: &Interleaving<'_>,
        clock: &SystemClock,
        stop: &AtomicBool,
    ) -> Result<Option<Interleaved>, EngineError> {
        check(&self.workload, plan)?;
        let mut step = self.steps.pop().ok_or(EngineError::AlreadyRun)?;
        on_one_processor(&self.file_set, || {
            step.make_ready()?;
            step.interleave(plan, clock, stop)
        })
    }
}

/// Does the operations of another process' session with code between them, as
/// [`Session::interleave`] does, but by functions of the C library. Somebody has loaded a library
/// before that one, which serves them. The session has made what operations remove, and will put
/// the files back; the workload, the seed and the file set are its own, but that its root may be
/// seen elsewhere.
///
/// # Errors
/// The first operation that failed; [`WorkloadError::NotInterleaved`] as for sessions.
pub fn interleave_by_functions(
    workload: &Workload,
    file_set: &FileSet,
    seed: u64,
    plan: &Interleaving<'_>,
    clock: &SystemClock,
    stop: &AtomicBool,
) -> Result<Option<Interleaved>, EngineError> {
    check(workload, plan)?;
    let made = Plan { workload, file_set, seed, on_device: None };
    let mut step = StepMaker { plan: made, calls: Functions }.step(0)?;
    on_one_processor(file_set, || step.interleave(plan, clock, stop))
}

fn check(workload: &Workload, plan: &Interleaving<'_>) -> Result<(), WorkloadError> {
    let count = plan.rounds_of_stretch();
    let is_such = workload.threads == 1
        && workload.slots() as u64 >= count
        && workload.operations_per_thread >= count * plan.turns;
    if is_such { Ok(()) } else { Err(WorkloadError::NotInterleaved) }
}

/// Executes it in a thread of its own that stays on one processor.
fn on_one_processor<T: Send>(
    file_set: &FileSet,
    body: impl FnOnce() -> Result<T, EngineError> + Send,
) -> Result<T, EngineError> {
    let errno = |call, errno| EngineError::from_errno(call, file_set.root(), errno);
    let allowed = processors::allowed().map_err(|error| errno("sched_getaffinity", error))?;
    let body = || {
        processors::stay_on(&allowed, 0).map_err(|error| errno("sched_setaffinity", error))?;
        body()
    };
    thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, body);
        let thread = started.map_err(|error| EngineError::from_worker(&error))?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
