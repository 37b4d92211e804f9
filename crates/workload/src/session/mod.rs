//! One replicate: prepared, run, restored.

mod any_step;
mod call_step;
mod course;
mod gate;
mod interleaved;
mod outcome;
mod paths;
mod prepare;
mod processes;
mod restore;
mod rewrite;
mod rounds;
mod run;
mod step_maker;
mod thread_loop;
mod thread_reads;
mod uring;

use std::path::{Path, PathBuf};

use crate::description::Workload;
use crate::error::{EngineError, WorkloadError};
use crate::file_set::FileSet;

pub use course::{Course, Stretch};
pub use interleaved::interleave_by_functions;
pub use outcome::{Outcome, ThreadOutcome};
pub use prepare::{prepare, prepare_on_device};
pub use thread_loop::ThreadLoop;

pub(crate) use any_step::AnyStep;
pub(crate) use call_step::CallStep;
pub(crate) use prepare::Plan;

/// A workload that is ready to run once on a file set.
///
/// While it exists, the file set also contains what the session added. [`Session::restore`] removes
/// that and reports errors; dropping the session does the same without reporting.
#[derive(Debug)]
pub struct Session {
    workload: Workload,
    file_set: FileSet,
    seed: u64,
    touched: Vec<PathBuf>,
    /// One for each thread; empty after the run.
    steps: Vec<AnyStep>,
    is_restored: bool,
}

impl Session {
    /// The files that the operations will touch; for operations on names, the directories.
    #[must_use]
    pub fn touched(&self) -> &[PathBuf] {
        &self.touched
    }

    /// The operations stay within this many bytes from the start of each touched data file. None:
    /// the whole file.
    #[must_use]
    pub fn span_bytes(&self) -> Option<u64> {
        self.workload.span_bytes
    }

    /// The root of the file set.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.file_set.root()
    }

    /// Closes everything, removes what was made, undoes renames, and counts the entries of each
    /// directory touched. Does nothing after an operation that changes none of that.
    ///
    /// # Errors
    /// The first thing that could not be restored, or a directory that does not have the entries of
    /// the file set.
    pub fn restore(mut self) -> Result<(), EngineError> {
        self.put_back()
    }

    /// Closes the directories, so that their file system can be unmounted. What was made to be
    /// removed stays.
    ///
    /// # Errors
    /// [`EngineError::AlreadyRun`] after the run, and [`WorkloadError::NotOnNames`] for operations
    /// on data.
    pub fn close(mut self) -> Result<ClosedSession, EngineError> {
        let operation = self.workload.operation;
        if !operation.is_on_names() {
            return Err(WorkloadError::NotOnNames(operation.name()).into());
        }
        if self.steps.is_empty() {
            return Err(EngineError::AlreadyRun);
        }
        self.steps.clear();
        Ok(ClosedSession(self))
    }

    fn put_back(&mut self) -> Result<(), EngineError> {
        self.is_restored = true;
        self.steps.clear();
        restore::put_back(self.workload.operation, &self.file_set, &self.touched)
    }
}

/// A session on names that has nothing open. Before it is opened again, the file system may be
/// unmounted and mounted, so that not even what the operations will remove is in memory.
///
/// Dropping it removes what was made, as for a [`Session`].
#[derive(Debug)]
pub struct ClosedSession(Session);

impl ClosedSession {
    /// Opens the directories again.
    ///
    /// # Errors
    /// What could not be opened.
    pub fn open(mut self) -> Result<Session, EngineError> {
        let Session { workload, file_set, seed, .. } = &self.0;
        let plan = Plan { workload, file_set, seed: *seed, on_device: None };
        let steps: Result<_, _> = (0..workload.threads).map(|thread| plan.step(thread)).collect();
        self.0.steps = steps?;
        Ok(self.0)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.is_restored {
            // There is nobody to report an error to; the next session on these directories will.
            drop(self.put_back());
        }
    }
}
