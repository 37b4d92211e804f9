//! Running a session with the program's own code between its operations.

use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::thread;

use measure::SystemClock;

use super::Session;
use crate::error::{EngineError, WorkloadError};
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
        let count = plan.rounds_of_stretch();
        let workload = &self.workload;
        let is_such = workload.threads == 1
            && workload.slots() as u64 >= count
            && workload.operations_per_thread >= count * plan.turns;
        if !is_such {
            return Err(WorkloadError::NotInterleaved.into());
        }
        let mut step = self.steps.pop().ok_or(EngineError::AlreadyRun)?;
        let root = self.root().to_owned();
        let errno = |call, errno| EngineError::from_errno(call, &root, errno);
        let allowed = processors::allowed().map_err(|error| errno("sched_getaffinity", error))?;
        let body = || {
            processors::stay_on(&allowed, 0).map_err(|error| errno("sched_setaffinity", error))?;
            step.make_ready()?;
            step.interleave(plan, clock, stop)
        };
        thread::scope(|scope| {
            let started = thread::Builder::new().spawn_scoped(scope, body);
            let thread = started.map_err(|error| EngineError::from_worker(&error))?;
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }
}
