//! One thread's loop by itself, for measuring what the engine costs.

use std::sync::atomic::AtomicBool;

use measure::{Clock, Recorder};

use super::run::{LoneHalt, SLICE_NS};
use super::{AnyStep, Plan};
use crate::description::Workload;
use crate::error::{EngineError, WorkloadError};
use crate::file_set::FileSet;
use crate::operation::Subject;
use crate::run_loop::LoopLength;

/// One thread's part of a workload of reads or writes, run by the calling thread in any number of
/// pieces: the loop of [`super::Session::run`] without the threads, the pinning and the stages
/// around it.
#[derive(Debug)]
pub struct ThreadLoop {
    step: AnyStep,
    recorder: Recorder,
    batch: usize,
}

impl ThreadLoop {
    /// Opens what thread number `thread`, counted from 0, works on.
    ///
    /// # Errors
    /// As for [`super::prepare`]; [`WorkloadError::NotATransfer`] if the workload neither reads nor
    /// writes.
    pub fn new<C: Clock>(
        workload: &Workload,
        file_set: &FileSet,
        thread: usize,
        clock: &C,
    ) -> Result<Self, EngineError> {
        workload.check()?;
        match workload.operation.subject() {
            Subject::Data(_) => {}
            Subject::Growing(_) | Subject::Names(..) => {
                return Err(WorkloadError::NotATransfer(workload.operation.name()).into());
            }
        }
        let plan = Plan { workload, file_set, seed: 1, on_device: None };
        let recorder = Recorder::new(clock.ticks(), clock.ticks_of(SLICE_NS));
        Ok(Self { step: plan.step(thread)?, recorder, batch: workload.batch })
    }

    /// Does and records more operations, continuing where the last piece ended, and writes out what
    /// is buffered.
    ///
    /// # Errors
    /// The first operation that failed.
    pub fn run<C: Clock>(&mut self, operations: u64, clock: &C) -> Result<(), EngineError> {
        let length = LoopLength { first: 0, operations, batch: self.batch };
        let halt = LoneHalt { stop: &AtomicBool::new(false) };
        self.step.run(length, clock, &mut self.recorder, &halt)?;
        self.step.end()
    }
}
